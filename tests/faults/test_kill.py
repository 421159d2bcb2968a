"""Killed at any moment while it indexes, Donna leaves an intact index, which the next run completes."""

from __future__ import annotations

import os
import random
import subprocess
import time
from pathlib import Path

import pytest

from tests.engine.helpers import Sandbox, donna, hide_model, index_once, integrity, new_sandbox, open_engine

SEED = 20_260_101
LONGEST_SECONDS = 1.6
TITLE = "---\ntitle: A note\n---\n"
"""A title in the frontmatter: the length of the title affects how a note is cut, and a rename does not cut again."""


def fill(sandbox: Sandbox, chance: random.Random) -> None:
    for number in range(120):
        sections = "".join(
            f"\n## Part {part}\n\nvole{number} {'word ' * 60}\n" for part in range(chance.randint(1, 12))
        )
        sandbox.write(f"{number % 9}/{number}.md", f"{TITLE}# Note {number}\n{sections}")


def change(sandbox: Sandbox, chance: random.Random) -> None:
    """Edit, delete, move and add some notes."""
    notes = sorted(sandbox.root.rglob("*.md"))
    for note in chance.sample(notes, 20):
        note.write_text(f"{TITLE}# Changed\n\nshrew{chance.randint(0, 10**6)} {'text ' * chance.randint(1, 400)}\n")
    for note in chance.sample(notes, 6):
        note.unlink()
    for note in chance.sample(sorted(sandbox.root.rglob("*.md")), 6):
        note.rename(note.with_name(f"moved {chance.randint(0, 10**9)}.md"))
    for number in range(8):
        sandbox.write(f"new/{chance.randint(0, 10**9)}.md", f"{TITLE}# New {number}\n\ndormouse\n")


def start_and_kill(sandbox: Sandbox, seconds: float) -> None:
    environment = {**os.environ, "DONNA_HOME": str(sandbox.paths.state.parent), "DONNA_VAULT": str(sandbox.root)}
    code = "from donna_tui.embedding import files; files.find_weights = lambda: None; from donna_tui.__main__ import main; main()"
    process = subprocess.Popen(
        [donna()[0], "-c", code, "index"], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    time.sleep(seconds)
    process.kill()
    process.wait()


@pytest.mark.slow
@pytest.mark.parametrize("rounds", [4, pytest.param(300, marks=pytest.mark.stress)])
async def test_killed_indexing_run_is_completed_by_the_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rounds: int
) -> None:
    hide_model(monkeypatch)
    chance = random.Random(SEED)
    sandbox = new_sandbox(tmp_path)
    fill(sandbox, chance)
    for each in range(rounds):
        start_and_kill(sandbox, 0.25 + chance.random() * LONGEST_SECONDS)
        if sandbox.database.exists():
            assert integrity(sandbox.database) == "ok", f"round {each}"
        change(sandbox, chance)
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync(full=True)  # so many notes are missing that she would ask first
    fresh = Sandbox(sandbox.root, new_sandbox(tmp_path / "fresh").paths)
    await index_once(fresh)
    assert integrity(sandbox.database) == "ok"
    assert sandbox.texts() == fresh.texts()
    sql = "SELECT path, state, reason, etag FROM file_states ORDER BY path"
    assert sandbox.rows(sql) == fresh.rows(sql)
    words = "SELECT rowid FROM memory_fts WHERE memory_fts MATCH 'dormouse'"
    assert len(sandbox.rows(words)) == len(fresh.rows(words))
