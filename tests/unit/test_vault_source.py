"""Index, move, skip and remove notes: a crash at any statement is completed by the next comparison."""

from __future__ import annotations

import contextlib
import itertools
import math
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import pytest

from donna_tui.config.models import TaskSourceConfig
from donna_tui.index.database import Database
from donna_tui.ingest.queue import Job
from donna_tui.ingest.reconcile import compare
from donna_tui.ingest.source import VaultSource
from donna_tui.memory.splitter import TextSplitter
from donna_tui.memory.tasks import TaskSource, list_tasks
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.events import EventHub
from donna_tui.vault.client import VaultClient
from tests.git_vaults import write
from tests.unit.index_parts import cut, open_store


class Killed(BaseException):
    """The process ended."""


class Kill:
    """Ends the process, in effect, before the statement with some number that writes to the database."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.left: float = math.inf
        for name in ("run", "run_many"):
            monkeypatch.setattr(Database, name, self._counting(getattr(Database, name)))

    def _counting(self, work: Callable[..., Any]) -> Callable[..., Any]:
        def counting(*args: Any, **named: Any) -> Any:
            if self.left <= 0:
                raise Killed
            self.left -= 1
            return work(*args, **named)

        return counting


def run(root: Path, index: Path) -> tuple[set[str], set[tuple[str, str]]]:
    """Update an index of notes and tasks, as after a start, and return both."""
    client, store = VaultClient(root, ignore=(), max_bytes=1_000), open_store(index, vec=False, version="")
    try:
        tasks = TaskSource(TaskSourceConfig(), store, TextSplitter(EstimatedTokens(), 64), EventHub())
        source = VaultSource(client, store, cut, cast(Any, tasks))
        found = compare(client, store.database)
        for path in (*found.new, *found.changed):
            source.ingest(Job(path, "changed"))
        for entry in found.skipped:
            source.skip(entry)
        for path in found.missing:
            source.remove(path)
        notes = store.database.column("SELECT source_id FROM memory_documents WHERE source_type = 'vault'")
        return set(notes), {(task.note, task.title) for task in list_tasks(store.database)}
    finally:
        store.database.close()


def edit(root: Path) -> None:
    write(root, "a.md", "# A\n\n- [ ] call Ann\n")


def rename(root: Path) -> None:
    (root / "a.md").rename(root / "b.md")


def remove(root: Path) -> None:
    (root / "a.md").unlink()


def spoil(root: Path) -> None:
    write(root, "a.md", "x" * 2_000)


def add(root: Path) -> None:
    write(root, "b.md", "# B\n\n- [ ] call Eve\n")


def nothing(root: Path) -> None:
    pass


def remove_all(root: Path) -> None:
    for note in root.glob("*.md"):
        note.unlink()


@pytest.mark.parametrize("change", [edit, rename, remove, spoil, add])
@pytest.mark.parametrize("then", [nothing, remove_all])
def test_a_crash_at_any_statement_is_completed_by_the_next_comparison(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, change: Callable[[Path], None], then: Callable[[Path], None]
) -> None:
    root, index = tmp_path / "vault", tmp_path / "index.db"
    write(root, "a.md", "# A\n\n- [ ] call Ben\n")
    run(root, index)
    kill = Kill(monkeypatch)
    for statements in itertools.count():
        copy = tmp_path / str(statements)
        shutil.copytree(root, copy)
        shutil.copyfile(index, tmp_path / f"{statements}.db")
        change(copy)
        kill.left = statements
        with contextlib.suppress(Killed):
            run(copy, tmp_path / f"{statements}.db")
        is_complete, kill.left = kill.left > 0, math.inf
        then(copy)
        content = run(copy, tmp_path / f"{statements}.db")
        if statements == 0:
            expected = run(copy, tmp_path / "fresh.db")
        assert content == expected, f"killed before statement {statements}"
        if is_complete:
            assert statements > 3
            return
