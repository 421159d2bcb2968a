"""Measure the import and recall of many chat turns, and compare the import with that of notes."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from bench.engines import opened
from bench.program import Home, Ran, needed_model, new_home
from bench.report import Report, arguments, eval_folder, eval_questions, finish, milliseconds, percentile

TURNS, SMALL_TURNS = 100_000, 2_000
QUESTIONS, WARM_UP = 110, 10
BUDGET_MS, BUDGET_MB = 60.0, 300.0


def measure(*, small: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data or a model."""
    chats, notes = eval_folder("locomo") / "turns.jsonl", eval_folder("vault_tasks") / "vault"
    needed_model()
    turns = SMALL_TURNS if small else TURNS
    report = Report(f"Memory, {turns:,} turns", peer="notes of a vault")
    with new_home() as home:
        vault = home.folder / "vault"
        vault.mkdir()
        _import(report, home, vault, write_turns(chats, home.folder / "turns.jsonl", turns), notes)
        times = asyncio.run(_recall_ms(home, vault))
        report.add("recall, p50", percentile(times, 50), "ms")
        report.add("recall, p95", percentile(times, 95), "ms", BUDGET_MS)
    return report


def write_turns(source: Path, target: Path, number: int) -> Path:
    """Write `number` turns: real ones, repeated as other conversations with distinct texts."""
    real = [json.loads(line) for line in source.read_text(encoding="utf-8").splitlines()]
    with target.open("w", encoding="utf-8") as file:
        for index in range(number):
            turn, again = real[index % len(real)], index // len(real)
            session = f"{turn['session_id']}/{again}"
            text = f"{turn['text']} (said the {again}. time)" if again else turn["text"]
            file.write(json.dumps({**turn, "session_id": session, "dia_id": f"{turn['dia_id']}/{again}", "text": text}))
            file.write("\n")
    return target


def _import(report: Report, home: Home, vault: Path, turns: Path, notes: Path) -> None:
    peer = home.donna("index", "--space", notes, "--json")
    rate_of_notes = _passages(home, notes) / peer.seconds
    runs = [home.donna("chat", "import", turns, "--space", vault, "--json"), home.donna("index", "--space", vault)]
    report.add("import, until everything is stored", runs[0].seconds, "s")
    report.add("passages per second, with embedding", _rate(home, vault, runs), "1/s", peer=rate_of_notes)
    report.add("peak memory", max(ran.peak_mb for ran in runs), "MB", BUDGET_MB)
    again = home.donna("chat", "import", turns, "--space", vault, "--json")
    report.add("imported again: new turns", again.json["turns"], "", 0.0)


def _rate(home: Home, space: Path, runs: list[Ran]) -> float:
    return _passages(home, space) / sum(ran.seconds for ran in runs)


def _passages(home: Home, space: Path) -> float:
    return float(home.donna("status", "--space", space, "--json").json["coverage"]["chunks"])


async def _recall_ms(home: Home, vault: Path) -> list[float]:
    questions = eval_questions("locomo")[:QUESTIONS]
    async with opened(home, vault, long_running=True) as engine:
        times = [await milliseconds(engine.memory.recall(question)) for question in questions]
        return times[WARM_UP:]


if __name__ == "__main__":
    finish(measure, arguments(__doc__))
