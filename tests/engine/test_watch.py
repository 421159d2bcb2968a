"""Changes by other programs, while Donna watches or before it starts, are found by keyword and by meaning."""

from __future__ import annotations

import asyncio
import os
import shutil
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from donna_tui.ingest import watcher
from donna_tui.types.events import NoteDeleted, NoteEmbedded, NoteIndexed, NoteRenamed, WatchEvent
from tests.engine.helpers import Sandbox, eventually, everything_below, index_once, new_sandbox, open_engine

pytestmark = pytest.mark.model

LIGHTHOUSE = "# Harbour\n\nThe keeper of the lighthouse lit the lamp every evening so that ships found the coast.\n"
BAKERY = "# Bread\n\nSourdough needs flour, water, salt and a warm place to rise overnight before baking.\n"
MEANS_LIGHTHOUSE = "a beacon that guides sailors home"
MEANS_BAKERY = "how to make a loaf at home"


def document_id(sandbox: Sandbox, path: str) -> str:
    [(found,)] = sandbox.rows("SELECT id FROM memory_documents WHERE source_id = ?", path)
    return str(found)


def save_like_vim(sandbox: Sandbox, path: str, text: str) -> None:
    """Move the old file to a backup, write a new one in its place, remove the backup."""
    file = sandbox.root / path
    backup = file.with_name(file.name + "~")
    file.rename(backup)
    file.write_text(text)
    backup.unlink()


def save_atomically(sandbox: Sandbox, path: str, text: str) -> None:
    """Write a hidden file beside the note and move it over the note."""
    file = sandbox.root / path
    pending = file.with_name(f".{file.name}.swp")
    pending.write_text(text)
    pending.replace(file)


def save_plainly(sandbox: Sandbox, path: str, text: str) -> None:
    (sandbox.root / path).write_text(text)


@pytest.mark.slow
@pytest.mark.parametrize("save", [save_plainly, save_like_vim, save_atomically])
async def test_a_saved_edit_is_found_by_keyword_and_by_meaning(vault: Sandbox, save: object) -> None:
    assert callable(save)
    path = "Queries/Presets.md"
    async with open_engine(vault) as running:
        await running.wait_until_indexed()
        same = document_id(vault, path)
        save(vault, path, LIGHTHOUSE)
        await running.until_found("lighthouse keeper", path)
        assert running.events_of(WatchEvent)
        await running.until_found(MEANS_LIGHTHOUSE, path, "semantic", k=3)
        assert document_id(vault, path) == same
        assert not running.events_of(NoteDeleted)


@pytest.mark.slow
async def test_the_time_from_save_to_search_is_measured(vault: Sandbox, capsys: pytest.CaptureFixture[str]) -> None:
    async with open_engine(vault) as running:
        await running.wait_until_indexed()
        for number in range(10, 34):  # a note that a comparison indexes before its event is not measured
            path = f"Notes/{number}.md"
            vault.write(path, LIGHTHOUSE + f"\nshipping forecast {number}{number}\n")
            await running.until_found(f"{number}{number}", path)
            await eventually(lambda at=path: at in {each.path for each in running.events_of(NoteEmbedded)})  # type: ignore[misc]
            if running.engine.status().semantic_after_save.samples >= 8:
                break
        keyword, meaning = running.engine.status().keyword_after_save, running.engine.status().semantic_after_save
        assert min(keyword.samples, meaning.samples) >= 8
        assert keyword.p50 is not None
        assert meaning.p50 is not None
        assert 0 < keyword.p50 <= meaning.p50
    with capsys.disabled():
        print(
            f"\nsave to keyword p50 {keyword.p50:.0f} ms, p95 {keyword.p95:.0f} ms;"
            f" to meaning p50 {meaning.p50:.0f} ms, p95 {meaning.p95:.0f} ms"
        )


@pytest.mark.slow
async def test_renames_keep_the_document_and_cost_no_embedding(vault: Sandbox) -> None:
    async with open_engine(vault) as running:
        await running.wait_until_indexed()
        kept = document_id(vault, "Queries/Presets.md")
        (vault.root / "Queries/Presets.md").rename(vault.root / "Queries/Appearance.md")
        await running.until_renamed("Queries/Presets.md", "Queries/Appearance.md")
        (vault.root / "Queries/Appearance.md").rename(vault.root / "Editing/Appearance.md")
        await running.until_renamed("Queries/Appearance.md", "Editing/Appearance.md")
        await eventually(lambda: vault.rows("SELECT 1 FROM memory_documents WHERE source_id = 'Editing/Appearance.md'"))
        assert document_id(vault, "Editing/Appearance.md") == kept
        assert running.engine.status().embedded_this_run == 0
        assert not running.events_of(NoteDeleted)
        assert not running.events_of(NoteIndexed)
        hits = await running.found("a preset that contains instructions of a query", "semantic")
        assert "Queries/Presets.md" not in hits


async def test_a_renamed_folder_keeps_every_document_and_costs_no_embedding(vault: Sandbox) -> None:
    sql = "SELECT id, replace(source_id, 'Queries/', '') FROM memory_documents WHERE source_id LIKE ?"
    before = set(vault.rows(sql, "Queries/%"))
    async with open_engine(vault) as running:
        await running.wait_until_indexed()
        (vault.root / "Queries").rename(vault.root / "Questions")
        await eventually(lambda: len(running.events_of(NoteRenamed)) == len(before), "every note moved")
        assert running.engine.status().embedded_this_run == 0
        assert not running.events_of(NoteDeleted)
    after = {(each, path.replace("Questions/", "")) for each, path in vault.rows(sql, "Questions/%")}
    assert after == before
    assert not vault.rows(sql, "Queries/%")


async def test_a_rename_while_donna_is_away_costs_no_embedding(vault: Sandbox) -> None:
    kept = document_id(vault, "Queries/Presets.md")
    (vault.root / "Queries/Presets.md").rename(vault.root / "Presets moved.md")
    (vault.root / "Editing").rename(vault.root / "Changing")
    running = await index_once(vault)
    assert document_id(vault, "Presets moved.md") == kept
    assert running.engine.status().embedded_this_run == 0
    assert not running.events_of(NoteDeleted)


@pytest.mark.slow
async def test_a_deleted_note_leaves_no_trace(vault: Sandbox) -> None:
    vault.write("Secret plan.md", "# Plan\n\nxylophonecanary goes nowhere\n")
    async with open_engine(vault) as running:
        await running.wait_until_indexed()
        await running.until_found("xylophonecanary", "Secret plan.md")
        (vault.root / "Secret plan.md").unlink()
        await running.until_lost("xylophonecanary", "Secret plan.md")
        await eventually(lambda: running.events_of(NoteDeleted))
        assert "Secret plan.md" not in await running.found("a plan that goes nowhere", "semantic")
    assert not [data for data in everything_below(vault.paths.state) if b"xylophonecanary" in data]


async def test_a_conflict_copy_is_a_problem_until_it_is_deleted(sandbox: Sandbox) -> None:
    copy = "Bread.sync-conflict-20261120-101010-ABCDEFG.md"
    sandbox.write("Bread.md", BAKERY)
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed()
        sandbox.write(copy, BAKERY)
        await eventually(lambda: "conflict_copy" in running.problems(), "the copy is a problem")
        (sandbox.root / copy).unlink()
        await eventually(lambda: "conflict_copy" not in running.problems(), "it is none")
        assert not sandbox.rows("SELECT 1 FROM file_states WHERE path = ?", copy)


async def test_an_unchanged_vault_embeds_nothing(vault: Sandbox) -> None:
    await index_once(vault)
    async with open_engine(vault) as running:
        await running.wait_until_indexed()
        status = running.engine.status()
        assert status.embedded_this_run == 0
        assert not running.events_of(NoteIndexed)
        assert status.coverage.vectors == status.coverage.notes > 20


@pytest.mark.slow
async def test_a_new_tree_of_notes_is_found_completely(sandbox: Sandbox) -> None:
    sandbox.write("first.md", "# First\n\nhello\n")
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed()
        for number in range(200):
            folder = "/".join(f"level{depth}" for depth in range(number % 8))
            sandbox.write(f"tree/{number % 5}/{folder}/note {number}.md", f"# Note {number}\n\nstoat{number:03}\n")
        await eventually(lambda: running.engine.status().coverage.text == 201, "200 notes by word")
        await eventually(lambda: running.engine.status().coverage.vectors == 201, "200 notes by meaning")
        for number in (0, 99, 199):
            assert len(await running.found(f"stoat{number:03}")) == 1


@pytest.mark.slow
async def test_non_utf8_file_names_do_not_stop_indexing(sandbox: Sandbox) -> None:
    sandbox.write("first.md", LIGHTHOUSE)
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed()
        odd = os.fsencode(sandbox.root) + b"/caf\xe9 \xff.md"
        try:
            Path(os.fsdecode(odd)).write_text("# Odd\n\nokapi\n")
        except OSError:
            pytest.skip("this file system takes no such names")
        sandbox.write("second.md", "# Second\n\nnarwhal\n")
        await running.until_found("narwhal", "second.md")
        Path(os.fsdecode(odd)).write_text("# Odd\n\nokapi again\n")
        sandbox.write("third.md", "# Third\n\nibex\n")
        await running.until_found("ibex", "third.md")
        await eventually(lambda: running.engine.status().watcher == "native", "native events again")


@pytest.mark.slow
async def test_deleting_one_of_two_identical_notes_keeps_the_other(sandbox: Sandbox) -> None:
    sandbox.write("one.md", LIGHTHOUSE)
    sandbox.write("two.md", LIGHTHOUSE)
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed()
        kept = document_id(sandbox, "two.md")
        (sandbox.root / "one.md").unlink()
        await running.until_lost("lighthouse", "one.md")
        assert await running.found("lighthouse") == ["two.md"]
        await running.until_found(MEANS_LIGHTHOUSE, "two.md", "semantic")
        assert document_id(sandbox, "two.md") == kept
        assert not running.events_of(NoteRenamed)


async def test_swapped_names_are_distinguished(sandbox: Sandbox) -> None:
    sandbox.write("a.md", LIGHTHOUSE)
    sandbox.write("b.md", BAKERY)
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed()
        (sandbox.root / "a.md").rename(sandbox.root / "t.md")
        (sandbox.root / "b.md").rename(sandbox.root / "a.md")
        (sandbox.root / "t.md").rename(sandbox.root / "b.md")
        await running.until_found("lighthouse", "b.md")
        await running.until_found("sourdough", "a.md")
        await running.until_lost("lighthouse", "a.md")
        await running.until_lost("sourdough", "b.md")
        await running.until_found(MEANS_BAKERY, "a.md", "semantic", k=1)
        await running.until_found(MEANS_LIGHTHOUSE, "b.md", "semantic", k=1)


def restore_older(note: Path) -> None:
    backup = note.parent.with_name("backup.md")
    backup.write_text(BAKERY)
    os.utime(backup, ns=(10**18, 10**18))
    shutil.copy2(backup, note)


def keep_size_and_time(note: Path) -> None:
    before = note.stat()
    note.write_text(LIGHTHOUSE.replace("lamp", "fire"))
    os.utime(note, ns=(before.st_atime_ns, before.st_mtime_ns))
    assert (note.stat().st_size, note.stat().st_mtime_ns) == (before.st_size, before.st_mtime_ns)


@pytest.mark.parametrize(
    ("edit", "word"),
    [(lambda note: note.write_text(BAKERY), "Sourdough"), (restore_older, "Sourdough"), (keep_size_and_time, "fire")],
)
async def test_an_edit_while_away_is_found_at_the_next_start(
    sandbox: Sandbox, edit: Callable[[Path], object], word: str
) -> None:
    note = sandbox.write("note.md", LIGHTHOUSE)
    old = sandbox.root.stat().st_mtime_ns - 3_600 * 10**9
    os.utime(note, ns=(old, old))
    await index_once(sandbox)
    edit(note)
    await index_once(sandbox)
    assert {word in text for _, text in sandbox.texts()} == {True}


async def test_a_deletion_while_away_is_found_at_the_next_start(vault: Sandbox) -> None:
    (vault.root / "Queries/Presets.md").unlink()
    running = await index_once(vault)
    assert [event.path for event in running.events_of(NoteDeleted)] == ["Queries/Presets.md"]
    assert not vault.rows("SELECT 1 FROM file_states WHERE path = 'Queries/Presets.md'")


@pytest.fixture
def sandbox(tmp_path: Path, model_cache: Path) -> Sandbox:
    return new_sandbox(tmp_path, model_cache)


async def test_what_is_saved_before_the_watch_has_started_is_found(
    vault: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Otherwise only the next comparison would find it, ten minutes later."""
    late, load = threading.Event(), watcher._awatch  # pyright: ignore[reportPrivateUsage]
    monkeypatch.setattr(watcher, "_awatch", lambda: (late.wait(10), load())[1])
    async with open_engine(vault) as running:
        await asyncio.sleep(0.5)  # long enough for a comparison that does not wait
        vault.write("Before.md", LIGHTHOUSE)
        late.set()
        await running.until_found("lighthouse keeper", "Before.md")
