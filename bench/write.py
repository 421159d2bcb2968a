"""Measure writes, undos, redos and deletions in a large vault, with their commits, compared with `git commit`."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from functools import partial
from pathlib import Path

from bench.program import new_home
from bench.report import Report, arguments, finish, percentile, stopwatch
from bench.vaults import write_vault
from donna_tui.config.models import MemoryConfig
from donna_tui.platform.spaces import Space
from donna_tui.vault.open import open_writer
from donna_tui.vault.write.writer import VaultWriter

NOTES, SMALL_NOTES = 10_000, 300
ROUNDS, SMALL_ROUNDS = 100, 10
BUDGET_MS = 150.0
GIT = ("git", "-c", "user.name=Bench", "-c", "user.email=bench@example.org")


def measure(*, small: bool = False) -> Report:
    number, rounds = (SMALL_NOTES, SMALL_ROUNDS) if small else (NOTES, ROUNDS)
    report = Report(f"Writing, {number:,} notes", peer="git add + commit")
    with new_home() as home:
        vault = write_vault(home.folder / "vault", number)
        writer = _writer(vault, home.folder / "state")
        with stopwatch() as elapsed:
            writer.init_if_missing()
        report.add("first commit of all notes", elapsed(), "s")
        plain = [_timed(partial(_plain_commit, vault), turn) for turn in range(rounds // 2)]
        for what, step in _steps(writer).items():
            times = [_timed(step, turn) for turn in range(rounds)]
            report.add(f"{what}, p50", percentile(times, 50), "ms", peer=percentile(plain, 50))
            report.add(f"{what}, p95", percentile(times, 95), "ms", BUDGET_MS, peer=percentile(plain, 95))
    return report


def _writer(vault: Path, state: Path) -> VaultWriter:
    config = MemoryConfig.model_validate({"safety": {"path_allowlist": ["*"]}})
    return open_writer(config, Space("bench", vault, state))


def _steps(writer: VaultWriter) -> dict[str, Callable[[int], object]]:
    """Return the steps to measure, each called with its turn; each leaves something for the next to change."""
    return {
        "write": lambda turn: writer.write("Inbox/bench.md", f"# Bench\n\nTurn {turn}.\n"),
        "undo": lambda _: writer.undo_last(),
        "redo": lambda _: writer.redo(),
        "delete and write": lambda turn: (
            writer.delete("Inbox/bench.md") if turn % 2 == 0 else writer.write("Inbox/bench.md", f"{turn}\n")
        ),
    }


def _plain_commit(vault: Path, turn: int) -> None:
    (vault / "plain.md").write_text(f"{turn}\n", encoding="utf-8")
    for words in (("add", "plain.md"), ("commit", "-qm", "plain")):
        subprocess.run([*GIT, *words], cwd=vault, check=True, capture_output=True)


def _timed(step: Callable[[int], object], turn: int) -> float:
    with stopwatch() as elapsed:
        step(turn)
    return elapsed() * 1000


if __name__ == "__main__":
    finish(measure, arguments(__doc__))
