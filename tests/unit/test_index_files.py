"""File states: when a file counts as unchanged without being read, and which generation is in use."""

from __future__ import annotations

import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.index.database import Database, check_integrity, open_database
from donna_tui.index.files import FileState, file_state, file_states, forget_state, save_state, with_etag
from donna_tui.index.generations import (
    Recipe,
    current_generation,
    delete_older,
    index_path,
    make_current,
    open_generation,
    recipe_of,
    set_aside,
)
from donna_tui.index.migrations import migrate, set_meta
from donna_tui.types.errors import DatabaseError, Reason

LONG_AGO = 1_000_000_000_000_000_000


@pytest.fixture
def database(tmp_path: Path) -> Iterator[Database]:
    opened = open_database(tmp_path / "i.db")
    migrate(opened)
    yield opened
    opened.close()


def state(path: str, **others: object) -> FileState:
    values = {"state": "indexed", "size": 3, "mtime_ns": LONG_AGO, "ctime_ns": LONG_AGO, "inode": 7, **others}
    return FileState(path=path, **values)  # type: ignore[arg-type]  # the values are those of the fields


def test_a_state_is_loaded_as_it_was_saved(database: Database) -> None:
    saved = state("a.md", etag="e", reason="r", message="m", checked_at=5.0, attempts=2, next_try=9.0)
    save_state(database, saved)
    assert file_state(database, "a.md") == saved
    forget_state(database, "a.md")
    assert file_state(database, "a.md") is None


def test_save_state_records_the_check_time(database: Database) -> None:
    before = time.time()
    save_state(database, state("a.md"))
    checked = file_state(database, "a.md")
    assert checked is not None
    assert checked.checked_at >= before


def test_states_below_a_folder_are_those_of_whole_components(database: Database) -> None:
    for path in ("P", "P/a.md", "P/Q/b.md", "P-old/c.md", "P.md", "P0.md", "p/d.md"):
        save_state(database, state(path))
    assert set(file_states(database, "P")) == {"P", "P/a.md", "P/Q/b.md"}
    assert len(file_states(database)) == 7


def test_only_indexed_files_are_found_by_their_bytes(database: Database) -> None:
    save_state(database, state("a.md", etag="x"))
    save_state(database, state("b.md", etag="x", state="failed"))
    save_state(database, state("c.md", etag="y"))
    assert [each.path for each in with_etag(database, "x")] == ["a.md"]


@pytest.mark.parametrize("field", ["mtime_ns", "ctime_ns"])
@pytest.mark.parametrize(("seconds_before", "same"), [(1.9, False), (2.1, True), (-5, False)])
def test_a_file_checked_right_after_its_change_may_have_changed_again(
    field: str, seconds_before: float, same: bool
) -> None:
    moment = LONG_AGO + 10_000_000_000
    times = {"mtime_ns": LONG_AGO, "ctime_ns": LONG_AGO, field: moment}
    known = state("a.md", checked_at=moment / 1e9 + seconds_before, **times)
    assert known.same_stat(3, times["mtime_ns"], times["ctime_ns"], 7) is same


def test_the_newest_generation_is_current_and_the_older_are_deleted(tmp_path: Path) -> None:
    assert current_generation(tmp_path) is None
    for number in (1, 2, 3):
        open_generation(tmp_path, number, Recipe("cut")).close()
    assert current_generation(tmp_path) == 1
    make_current(tmp_path, 2)
    assert current_generation(tmp_path) == 2
    delete_older(tmp_path, 2)
    assert not index_path(tmp_path, 1).exists()
    assert index_path(tmp_path, 3).exists()


def test_a_damaged_file_is_set_aside_and_never_taken_for_an_index(tmp_path: Path) -> None:
    open_generation(tmp_path, 1, Recipe("cut")).close()
    first = set_aside(index_path(tmp_path, 1))
    open_generation(tmp_path, 1, Recipe("cut")).close()
    second = set_aside(index_path(tmp_path, 1))
    assert first != second
    assert first.exists()
    assert second.exists()
    assert current_generation(tmp_path) is None
    delete_older(tmp_path, 2)
    assert first.exists()


def test_an_index_remembers_its_recipe(tmp_path: Path) -> None:
    database = open_generation(tmp_path, 1, Recipe("cut-1"))
    set_meta(database, "embedding_version", "model@1")
    database.close()
    again = open_generation(tmp_path, 1, Recipe("cut-2"))
    assert recipe_of(again) == Recipe("cut-1", "model@1")
    again.close()


@pytest.mark.parametrize(
    ("wanted", "built", "fits"),
    [
        (Recipe("a"), Recipe("a"), True),
        (Recipe("a"), Recipe("b"), False),
        (Recipe("a", "m"), Recipe("a"), True),
        (Recipe("a"), Recipe("a", "m"), True),
        (Recipe("a", "m"), Recipe("a", "n"), False),
        (Recipe("b", "m"), Recipe("a", "m"), False),
    ],
)
def test_a_recipe_fits_an_index_with_the_same_chunks_and_no_other_model(
    wanted: Recipe, built: Recipe, fits: bool
) -> None:
    assert wanted.fits(built) is fits


def test_damage_is_found_by_the_integrity_check(tmp_path: Path) -> None:
    database = open_generation(tmp_path, 1, Recipe("cut"))
    database.run("CREATE TABLE filler AS WITH n(i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 5000)"
                 " SELECT i, hex(randomblob(50)) AS x FROM n")  # fmt: skip
    database.run("CREATE INDEX filler_x ON filler (x)")
    check_integrity(database)
    database.close()
    path = index_path(tmp_path, 1)
    content = bytearray(path.read_bytes())
    middle = len(content) // 2 // 4096 * 4096
    content[middle : middle + 40_960] = b"\xff" * 40_960
    path.write_bytes(content)
    damaged = open_database(path)
    with pytest.raises(DatabaseError) as caught:
        check_integrity(damaged)
    assert caught.value.reason is Reason.DATABASE_CORRUPT
    damaged.close()


def test_index_files_do_not_depend_on_the_umask_of_their_folder(tmp_path: Path) -> None:
    folder = tmp_path / "state"
    folder.mkdir(mode=0o700)
    open_generation(folder, 1, Recipe("cut")).close()
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700
