"""Killed at any moment during an import, Donna has lost no turn that she reported, and a second import completes it."""

from __future__ import annotations

import os
import random
import subprocess
import sys
from pathlib import Path

import pytest

from donna_tui.memory.conversations import list_conversations, read_turns
from donna_tui.memory.database import open_db
from tests.unit.memory_parts import Sandbox, chat_rows, import_file, jsonl

SEED = 20_260_101
ROUNDS = 4
REPOSITORY = Path(__file__).parent.parent.parent
SESSIONS = 20
TURNS = 40

CHILD = """
import sys
from pathlib import Path
from donna_tui.memory import importers as importing
from donna_tui.memory.database import open_db
from donna_tui.memory.conversations import Recorder
importing.BATCH = 50
steps = importing.Import(Recorder(open_db(Path(sys.argv[1])))).run(Path(sys.argv[2]))
for _, turns in steps:
    print(turns, flush=True)
    if sys.stdin.readline() == "":
        break
print("done", flush=True)
"""


def rows() -> list[object]:
    return [
        row
        for number in range(SESSIONS)
        for row in chat_rows(
            f"s{number:03}", *(f"turn {n} of {number}: kestrels and voles" for n in range(1, TURNS + 1))
        )
    ]


def child(state: Path, file: Path) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, str(state), str(file)],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, cwd=REPOSITORY,
        env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
    )  # fmt: skip


def everything(state: Path) -> list[tuple[str, list[tuple[int, str]]]]:
    db = open_db(state)
    try:
        names = sorted(each.name for each in list_conversations(db.database))
        keys = dict(db.database.rows("SELECT name, id FROM sessions"))
        return [(name, [(t.number, t.text) for t in read_turns(db.database, keys[name])]) for name in names]
    finally:
        db.close()


@pytest.mark.slow
def test_no_reported_turn_is_lost_and_a_second_run_completes_the_first(tmp_path: Path) -> None:
    file = jsonl(tmp_path / "t.jsonl", rows())
    (tmp_path / "clean").mkdir()
    clean = Sandbox(tmp_path / "clean")
    import_file(clean.db, file)
    clean.follow()
    expected_documents = clean.sources()
    clean.close()
    expected = everything(clean.folder)
    chance = random.Random(SEED)
    for number in range(ROUNDS):
        base = tmp_path / f"round{number}"
        base.mkdir()
        sandbox = Sandbox(base)
        process = child(sandbox.folder, file)
        assert process.stdin is not None
        assert process.stdout is not None
        told = 0
        for _ in range(chance.randrange(1, 12)):
            told = int(process.stdout.readline())
            process.stdin.write("on\n")
            process.stdin.flush()
        process.kill()
        process.communicate()
        stored = sum(len(turns) for _, turns in everything(sandbox.folder))
        assert stored >= told > 0
        sandbox.follow()
        report = import_file(sandbox.db, file)
        assert report.turns + stored == SESSIONS * TURNS
        sandbox.follow()
        assert everything(sandbox.folder) == expected
        assert sandbox.sources() == expected_documents
        sandbox.close()
