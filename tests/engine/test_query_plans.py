"""Queries for a single note cost the same however many notes there are: they read no whole table.

At the start and for a search some tables are counted, but never by reading the text of all notes.
"""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from donna_tui.index.database import Database
from donna_tui.index.store import MemoryStore
from donna_tui.ingest.source import VaultSource
from tests.engine.helpers import index_once, new_sandbox, open_engine

pytestmark = pytest.mark.model

FOR_ONE_NOTE: dict[type, tuple[str, ...]] = {
    VaultSource: ("ingest", "remove"),
    MemoryStore: ("pending", "attach_cached", "store_vectors", "waiting", "has_pending"),
}
PLANNED = ("SELECT", "INSERT", "UPDATE", "DELETE")


class Plans:
    """Records SQLite's plan of each statement that is run inside the named methods, or inside any."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, inside: dict[type, tuple[str, ...]] | None = None) -> None:
        self.steps: dict[str, list[str]] = {}
        self._everywhere = inside is None
        self._at_work = threading.local()
        for owner, names in (inside or {}).items():
            for name in names:
                monkeypatch.setattr(owner, name, self._watched(getattr(owner, name)))
        for name in ("rows", "value", "run", "run_many"):
            monkeypatch.setattr(Database, name, self._explained(getattr(Database, name)))

    def _watched(self, work: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(work)
        def watched(*args: Any, **named: Any) -> Any:
            self._at_work.on = True
            try:
                return work(*args, **named)
            finally:
                self._at_work.on = False

        return watched

    def _explained(self, ask: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(ask)
        def explained(database: Database, sql: str, parameters: Any = ()) -> Any:
            at_work = self._everywhere or getattr(self._at_work, "on", False)
            if at_work and sql.startswith(PLANNED) and sql not in self.steps:
                asked = "EXPLAIN QUERY PLAN " + sql
                bound = parameters if ask.__name__ != "run_many" else parameters[0] if parameters else None
                if bound is not None:
                    self.steps[sql] = [str(row[-1]) for row in database.connection.execute(asked, bound)]
            return ask(database, sql, parameters)

        return explained

    def whole_tables(self) -> dict[str, list[str]]:
        """Return the statements that read a whole table, or a whole index of one."""
        return {
            sql: read
            for sql, steps in self.steps.items()
            if (read := [step for step in steps if step.startswith("SCAN") and not _is_small(step)])
        }


def _is_small(step: str) -> bool:
    """Return whether a step reads only the schema, parameters, a virtual table (words, vectors) or the queue."""
    small = ("sqlite_master", "CONSTANT ROW", "json_each", "VIRTUAL TABLE INDEX", "ix_memory_chunks_pending")
    return any(each in step for each in small)


@pytest.mark.slow
async def test_nothing_that_is_done_for_a_note_reads_a_whole_table(
    tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = new_sandbox(tmp_path, model_cache)
    for number in range(12):
        sandbox.write(
            f"{number}.md", f"# Note {number}\n\nserval{number} walks, see [[{number + 1}]]\n\n- [ ] feed it\n"
        )
    plans = Plans(monkeypatch, FOR_ONE_NOTE)
    await index_once(sandbox)
    sandbox.write("0.md", "# Note 0\n\nserval0 sleeps\n\n- [x] feed it\n")
    (sandbox.root / "1.md").rename(sandbox.root / "moved.md")
    (sandbox.root / "2.md").unlink()
    (sandbox.root / "3.md").touch()
    await index_once(sandbox)
    statements = " ".join(plans.steps)
    for table in ("memory_documents", "memory_chunks", "file_states", "links", "embeddings", "memory_fts"):
        assert table in statements
    assert plans.whole_tables() == {}


async def test_neither_a_start_nor_a_search_reads_the_text_of_all_notes(
    tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    sandbox = new_sandbox(tmp_path, model_cache)
    for number in range(12):
        sandbox.write(f"{number}.md", f"# Note {number}\n\nserval{number} walks\n")
    await index_once(sandbox)
    plans = Plans(monkeypatch)
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        for mode in ("hybrid", "keyword", "semantic"):
            assert await running.found("serval3 walks", mode)
    assert len([sql for sql in plans.steps if "memory_chunks" in sql]) > 5
    assert {sql: steps for sql, steps in plans.whole_tables().items() if any(map(_reads_chunks, steps))} == {}


async def test_example_question_avoids_a_full_scan_of_note_names(
    tmp_path: Path, model_cache: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It kept two processors busy for minutes in a vault of 10,000 notes."""
    sandbox = new_sandbox(tmp_path, model_cache)
    sandbox.write("Garden.md", "# Garden\n\n## How to water the tomatoes\n\nIn the morning.\n")
    await index_once(sandbox)
    plans = Plans(monkeypatch)
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        plans.steps.clear()
        assert await running.engine.example_question() == "how to water the tomatoes"
    (names,) = (steps for sql, steps in plans.steps.items() if "JOIN note_names" in sql)
    assert not [step for step in names if step.startswith("SCAN") and "(subquery" not in step and step != "SCAN d"]


def _reads_chunks(step: str) -> bool:
    """Return whether a plan reads the chunks themselves, rather than an index of them, which has no text."""
    return step in ("SCAN memory_chunks", "SCAN c")
