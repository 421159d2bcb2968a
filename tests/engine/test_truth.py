"""The index soon equals the vault, whatever happens to many files at once."""

from __future__ import annotations

import asyncio
import itertools
import os
import subprocess
import time
from pathlib import Path

import pytest

from donna_tui.engine import status_reporter
from donna_tui.types.errors import Reason
from donna_tui.types.events import IndexProgress
from donna_tui.types.notes import NoteState
from tests.engine.helpers import (
    Running,
    Sandbox,
    eventually,
    hide_model,
    index_once,
    new_sandbox,
    open_engine,
    quick_config,
)

SIZES = [150, pytest.param(10_000, marks=pytest.mark.stress)]
PATIENCE_SECONDS = 180.0
LONGEST_PAUSE_SECONDS = 5.0
"""The longest pause while 10,000 notes are compared, in seconds."""


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    hide_model(monkeypatch)
    return new_sandbox(tmp_path)


def body(name: object) -> str:
    return f"---\ntitle: A note\n---\n# Note\n\ntamarin {name}\n"


def on_disk(sandbox: Sandbox) -> dict[str, str]:
    """Return the text of every note by its path."""
    return {str(file.relative_to(sandbox.root)): file.read_text() for file in sandbox.root.rglob("*.md")}


def indexed(sandbox: Sandbox) -> dict[str, str]:
    """Return the indexed text of every note, from its only passage and its frontmatter."""
    rows = sandbox.rows(
        "SELECT d.source_id, c.content FROM memory_documents d JOIN memory_chunks c ON c.document_id = d.id"
    )
    return {path: content.strip() for path, content in rows}


async def until_true(sandbox: Sandbox, running: Running) -> None:
    """Wait until the index equals the vault. Fail with the differences."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    for turn in itertools.count(1):
        wanted = {path: text.split("---\n", 2)[2].strip() for path, text in on_disk(sandbox).items()}
        found = await asyncio.to_thread(indexed, sandbox) if sandbox.database.exists() else {}
        if found == wanted:
            break
        if time.monotonic() > deadline:
            missing, stale = wanted.keys() - found.keys(), found.keys() - wanted.keys()
            pytest.fail(f"missing {len(missing)} {sorted(missing)[:5]}, stale {len(stale)} {sorted(stale)[:5]}")
        await asyncio.sleep(min(0.2 * turn, LONGEST_PAUSE_SECONDS))
    assert len(await running.found("tamarin", k=32)) == min(32, len(wanted))


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
@pytest.mark.parametrize("nested", [False, True])
async def test_index_follows_many_files_created_at_once(sandbox: Sandbox, size: int, *, nested: bool) -> None:
    sandbox.write("first.md", body("first"))
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        for number in range(size):
            folder = f"{number % 10}/{number % 97}/{number % 7}" if nested else "flat"
            sandbox.write(f"{folder}/{number}.md", body(number))
        await until_true(sandbox, running)


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_index_follows_many_renames(sandbox: Sandbox, size: int) -> None:
    for number in range(size):
        sandbox.write(f"old/{number}.md", body(number))
    async with open_engine(sandbox) as running:
        await until_true(sandbox, running)
        for number in range(size):
            (sandbox.root / f"old/{number}.md").rename(sandbox.root / f"old/renamed {number}.md")
        await until_true(sandbox, running)
        (sandbox.root / "old").rename(sandbox.root / "new")
        await until_true(sandbox, running)
        (sandbox.root / "new" / "renamed 0.md").unlink()
        await until_true(sandbox, running)
        assert Reason.MASS_DISAPPEARANCE not in running.problems(), "a note of a moved folder is missing"


@pytest.mark.slow
async def test_no_count_exceeds_the_notes_there_are(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(status_reporter, "INTERVAL_SECONDS", 0.005)
    monkeypatch.setattr(status_reporter, "MIN_REST", 0)
    async with open_engine(sandbox) as running:
        for number in range(400):
            sandbox.write(f"old/{number}.md", body(number))
        await until_true(sandbox, running)
        (sandbox.root / "old").rename(sandbox.root / "new")
        await until_true(sandbox, running)
        for number in range(400):
            (sandbox.root / f"new/{number}.md").rename(sandbox.root / f"new/renamed {number}.md")
        await until_true(sandbox, running)
        for number in range(80):
            (sandbox.root / f"new/renamed {number}.md").unlink()
        await until_true(sandbox, running)
    counts = [event.notes for event in running.events if isinstance(event, IndexProgress)]
    assert len(counts) > 50
    assert max(counts) == 400, counts


@pytest.mark.slow
@pytest.mark.parametrize("size", SIZES)
async def test_index_follows_a_git_checkout(sandbox: Sandbox, size: int) -> None:
    def git(*arguments: str) -> None:
        settings = ["user.name=A", "user.email=a@example.org", "commit.gpgsign=false", "gc.auto=0"]
        options = [word for each in settings for word in ("-c", each)]
        subprocess.run(["git", "-C", str(sandbox.root), *options, *arguments], check=True, capture_output=True)

    git("init", "-b", "main")
    for number in range(size):
        sandbox.write(f"{number % 13}/{number}.md", body(number))
    git("add", ".")
    git("commit", "-m", "one")
    git("checkout", "-b", "other")
    for number in range(0, size, 2):
        sandbox.write(f"{number % 13}/{number}.md", body(f"{number} other"))
    for number in range(1, size, 20):
        (sandbox.root / f"{number % 13}/{number}.md").unlink()
    git("add", "-A")
    git("commit", "-m", "two")
    async with open_engine(sandbox) as running:
        await until_true(sandbox, running)
        git("checkout", "main")
        await until_true(sandbox, running)
        git("checkout", "other")
        await until_true(sandbox, running)


def shifted(file: Path, seconds: float) -> None:
    """Set the times of a file to `seconds` from now."""
    os.utime(file, (time.time() + seconds, time.time() + seconds))


def same_size_same_time(file: Path) -> None:
    before = file.stat()
    file.write_text(file.read_text().replace("first", "tsrif"))
    os.utime(file, ns=(before.st_atime_ns, before.st_mtime_ns))


def restored_with_an_old_time(file: Path) -> None:
    file.write_text(body("restored"))
    shifted(file, -400 * 86_400)


def copied_over_with_its_time(file: Path) -> None:
    other = file.with_name("other.tmp")
    other.write_text(body("copied"))
    os.utime(other, ns=(file.stat().st_atime_ns, file.stat().st_mtime_ns))
    other.replace(file)


def saved_in_the_future(file: Path) -> None:
    file.write_text(body("future"))
    shifted(file, 3 * 86_400)


def saved_before_the_epoch(file: Path) -> None:
    file.write_text(body("ancient"))
    os.utime(file, (-1000, -1000))


def saved_by_whole_seconds(file: Path) -> None:
    file.write_text(body("coarse"))
    os.utime(file, (int(time.time()) // 2 * 2,) * 2)


def deleted_and_made_again(file: Path) -> None:
    file.unlink()
    file.write_text(body("again"))


def swapped_with_another(file: Path) -> None:
    other = file.with_name("second.md")
    middle = file.with_name("swap.tmp")
    file.rename(middle)
    other.rename(file)
    middle.rename(other)


def made_a_twin(file: Path) -> None:
    file.with_name("twin.md").write_bytes(file.read_bytes())


def moved_onto_another(file: Path) -> None:
    file.replace(file.with_name("second.md"))


def deleted(file: Path) -> None:
    file.unlink()


def only_touched(file: Path) -> None:
    shifted(file, -50)


@pytest.mark.cases(7)
@pytest.mark.parametrize("watch", [True, False], ids=["watching", "offline"])
@pytest.mark.parametrize(
    "change",
    [
        same_size_same_time, restored_with_an_old_time, copied_over_with_its_time, saved_in_the_future,
        saved_before_the_epoch, saved_by_whole_seconds, deleted_and_made_again, swapped_with_another, made_a_twin,
        moved_onto_another, deleted, only_touched,
    ],
)  # fmt: skip
async def test_changes_with_misleading_mtimes_are_indexed(sandbox: Sandbox, change: object, watch: bool) -> None:
    assert callable(change)
    for name in ("first", "second", "third"):
        shifted(sandbox.write(f"{name}.md", body(name)), -3600)
    async with open_engine(sandbox, watch=watch) as running:
        if not watch:
            await running.engine.sync()
        await until_true(sandbox, running)
        if watch:
            change(sandbox.root / "first.md")
            await until_true(sandbox, running)
    if not watch:
        change(sandbox.root / "first.md")
        async with open_engine(sandbox, watch=False) as running:
            await running.engine.sync()
            await until_true(sandbox, running)


async def test_another_key_for_private_notes_counts_for_notes_that_were_indexed_before(sandbox: Sandbox) -> None:
    sandbox.write("Diary.md", "---\ngeheim: true\n---\nquiet words\n")
    sandbox.write("Plan.md", "---\ndonna_sensitive: true\n---\nquiet words\n")
    await index_once(sandbox)
    private = "SELECT source_id FROM memory_documents WHERE sensitive"
    assert sandbox.rows(private) == [("Plan.md",)]
    config = quick_config(safety={"sensitive_frontmatter_key": "geheim"})
    async with open_engine(sandbox, config=config, semantic=False) as running:
        await eventually(lambda: sandbox.rows(private) == [("Diary.md",)], "the notes are judged again")
        states = {row.path: row.states for row in await running.engine.notes.vault_rows()}
        assert NoteState.SENSITIVE in states["Diary.md"]
        assert not states["Plan.md"] & {NoteState.SENSITIVE, NoteState.LOCAL_ONLY}


async def test_notes_that_are_never_committed_are_not_called_edited_outside(sandbox: Sandbox) -> None:
    sandbox.write(".gitignore", "Ignored.md\n")
    for path in ("Ignored.md", "Secret.md", "Templates/Secret.md", "Templates/Open.md", "New.md"):
        sandbox.write(path, "---\ndonna: local-only\n---\nx\n" if "Secret" in path else "x\n")
    await index_once(sandbox)
    identity = ("-c", "user.name=Ana", "-c", "user.email=ana@example.org")
    async with open_engine(sandbox, semantic=False) as running:
        for first in (["init", "--quiet"], [*identity, "commit", "--quiet", "--allow-empty", "--message", "first"]):
            subprocess.run(["git", *first], cwd=sandbox.root, check=True)
            rows = await running.engine.notes.vault_rows()
            assert {row.path for row in rows if NoteState.OUTSIDE in row.states} == {"New.md", "Templates/Open.md"}


async def test_a_file_that_is_no_text_is_left_out_rather_than_waiting_for_the_index(sandbox: Sandbox) -> None:
    (sandbox.root / "Picture.md").write_bytes(b"\x89PNG\r\n\x1a\n\x00\x00\x00")
    await index_once(sandbox)
    async with open_engine(sandbox, semantic=False) as running:
        states = {row.path: row.states for row in await running.engine.notes.vault_rows()}
        assert states["Picture.md"] >= {NoteState.NOT_INDEXED}
        assert NoteState.PENDING not in states["Picture.md"]
