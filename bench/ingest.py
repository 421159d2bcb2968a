"""Measure ingest: embedding compared with sentence-transformers, and the indexing of Obsidian's help."""

from __future__ import annotations

import asyncio
import json
import shutil
import sys
import time
from pathlib import Path

from bench.engines import opened, search_ms
from bench.models import engines_get, no_model
from bench.program import Home, needed_model, new_home, run
from bench.report import Report, arguments, eval_folder, eval_questions, finish, median, percentile
from donna_tui.index.database import open_database
from donna_tui.index.store import MemoryStore
from donna_tui.types.events import EngineEvent, ModelStateChanged
from donna_tui.types.status import ModelPhase

HELP = "vault_help"
COMPARED_NOTES = 150
TURNS = 3
SMALL_NOTES = 40
QUESTION = "how do I keep two devices in step"
SHELL_RUNS = 5
SHELL_SECONDS = 0.6
MEGABYTE = 1e6


def measure(*, small: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data or the model."""
    vault = eval_folder(HELP) / "vault"
    needed_model()
    report = Report("Ingest, on vault_help", peer="sentence-transformers")
    compare_embedding(report, vault, SMALL_NOTES if small else COMPARED_NOTES)
    with new_home() as home:
        index_help(report, home, sample(vault, home.folder / "sample", SMALL_NOTES) if small else vault)
    return report


def sample(vault: Path, folder: Path, number: int, first: int = 0) -> Path:
    """Copy `number` notes of a vault, evenly spaced from the `first` on. Return `folder`."""
    notes = sorted(vault.rglob("*.md"))
    for note in notes[first :: max(1, len(notes) // number)][:number]:
        copy = folder / note.relative_to(vault)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(note, copy)
    return folder


def compare_embedding(report: Report, vault: Path, notes: int) -> None:
    """Compare the chunks per second of the engine and of the plain loop, in turns, so that both get the same load."""
    turns = [_one_turn(vault, notes // TURNS, turn) for turn in range(TURNS)]
    chunks, ours, plain = (sum(column) for column in zip(*turns, strict=True))
    report.add("embedding and storing", chunks / ours, "chunks/s", peer=chunks / plain)
    report.add("embedding, against the plain loop", plain / ours, "×", 4.0, at_least=True)
    report.remarks.append(
        f"Embedding: {chunks} passages in {TURNS} turns. Ours is measured from the loaded model to the last stored"
        " vector, in a running engine; the peer only encodes (`SentenceTransformer.encode`, default settings)."
    )


def _one_turn(vault: Path, notes: int, turn: int) -> tuple[int, float, float]:
    """Return the number of passages, and the seconds that the engine and the plain loop take to embed them."""
    with new_home() as home:
        part = sample(vault, home.folder / "part", notes, first=turn)
        texts = asyncio.run(_waiting_texts(home, part))
        ours = asyncio.run(_embed_seconds(home, part))
        file = home.folder / "texts.json"
        file.write_text(json.dumps(texts), encoding="utf-8")
        plain = run([sys.executable, "-m", "bench.baseline", str(file)], home.environ)
        return len(texts), ours, float(plain.out.split()[-1])


async def _waiting_texts(home: Home, vault: Path) -> list[str]:
    """Index a vault without a model. Return the texts to embed, as the model will get them."""
    with engines_get(no_model):
        async with opened(home, vault) as engine:
            await engine.sync()
            path = engine.database
    database = open_database(path, read_only=True)
    try:
        return [chunk.text for chunk in MemoryStore(database, lambda document: []).pending(limit=1_000_000)]
    finally:
        database.close()


async def _embed_seconds(home: Home, vault: Path) -> float:
    """Return the seconds from the loaded model to the last stored vector."""
    ready: list[float] = []

    def listen(event: EngineEvent) -> None:
        if isinstance(event, ModelStateChanged) and event.phase is ModelPhase.READY:
            ready.append(time.perf_counter())

    async with opened(home, vault, listen) as engine:
        await engine.sync()
        return time.perf_counter() - ready[0]


def index_help(report: Report, home: Home, vault: Path) -> None:
    """Measure from an empty home to the first searches, with the installed program."""
    cold = home.donna("index", "--space", vault, "--json")
    report.add("cold index, process included", cold.seconds, "s", 25.0)
    report.add("peak memory", cold.peak_mb, "MB", 300.0)
    status = home.donna("status", "--space", vault, "--json").json
    report.add("size of the index", status["database_bytes"] / MEGABYTE, "MB", 12.0)
    _add_shell(report, home, "index again, nothing changed", "index", "--space", vault)
    _add_shell(report, home, "one search from the shell", "search", QUESTION, "--space", vault)
    times = asyncio.run(search_ms(home, vault, eval_questions(HELP)))
    report.add("search in a running engine, p50", percentile(times, 50), "ms")
    report.add("search in a running engine, p95", percentile(times, 95), "ms", 15.0)
    report.remarks.append(f"{status['coverage']['notes']} notes, {status['coverage']['chunks']} chunks.")


def _add_shell(report: Report, home: Home, what: str, *args: str | Path) -> None:
    """Add the median seconds of several runs of a command."""
    runs = [home.donna(*args) for _ in range(SHELL_RUNS)]
    report.add(what, median([ran.seconds for ran in runs]), "s", SHELL_SECONDS)
    report.add(f"{what}: CPU time", median([ran.cpu_seconds for ran in runs]), "s")


if __name__ == "__main__":
    finish(measure, arguments(__doc__))
