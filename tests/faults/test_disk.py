"""A full disk and unreadable files are reported, survived, and recovered from."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.ingest import index_maintainer as maintainer
from donna_tui.ingest import source
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.events import NoteFailed, NoteIndexed
from tests.engine.helpers import Sandbox, eventually, hide_model, index_once, integrity, new_sandbox, open_engine
from tests.faults.writes import small_file_system

SPACE = "6m"
PARAGRAPHS = 120


def body(number: int) -> str:
    text = "".join(
        f"\n## Part {part}\n\n" + f"lorem ipsum {number} {part} dolor sit amet " * 8 for part in range(PARAGRAPHS)
    )
    return f"# Note {number}\n\nmarmot{number:03}\n{text}"


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Sandbox:
    hide_model(monkeypatch)
    monkeypatch.setattr("donna_tui.ingest.worker.PAUSE_SECONDS", 0.2)
    return new_sandbox(tmp_path)


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """Return a file system of a few megabytes."""
    yield from small_file_system(tmp_path / "disk", SPACE)


@pytest.mark.slow
async def test_a_full_disk_is_a_problem_that_passes(sandbox: Sandbox, small_disk: Path) -> None:
    sandbox = replace(sandbox, paths=replace(sandbox.paths, state=small_disk / "state", log=small_disk / "logs"))
    sandbox.write("early.md", "# Early\n\nmarmot000\n")
    ballast = small_disk / "ballast"
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed(vectors=False)
        ballast.write_bytes(b"x" * 4_500_000)
        for number in range(1, 80):
            sandbox.write(f"{number:02}.md", body(number))
        await eventually(lambda: Reason.DISK_FULL in running.problems(), "the full disk is a problem")
        assert await running.found("marmot000") == ["early.md"]
        assert not running.events_of(NoteFailed)
        with pytest.raises(DonnaError) as refused:
            await running.engine.sync()
        assert refused.value.reason is Reason.DISK_FULL
        ballast.unlink()
        subprocess.run(["mount", "-o", "remount,size=200m", str(small_disk)], check=True)
        await running.until_found("marmot079", "79.md")
        await eventually(lambda: Reason.DISK_FULL not in running.problems(), "the problem is over")
        await eventually(lambda: running.engine.status().coverage.text == 80, "everything is in")
    assert integrity(sandbox.database) == "ok"


async def test_a_start_on_a_full_disk_is_refused_in_words(sandbox: Sandbox, small_disk: Path) -> None:
    sandbox = replace(sandbox, paths=replace(sandbox.paths, state=small_disk / "state", log=small_disk / "logs"))
    sandbox.paths.make()
    with (small_disk / "ballast").open("wb") as ballast, pytest.raises(OSError):  # noqa: PT012
        while True:
            ballast.write(b"x" * 100_000)
            ballast.flush()
    sandbox.write("early.md", "# Early\n\nmarmot000\n")
    with pytest.raises(DonnaError) as refused:
        await index_once(sandbox)
    assert refused.value.reason is Reason.DISK_FULL
    assert refused.value.hint


async def test_a_folder_and_a_pipe_named_like_notes_are_passed_over(sandbox: Sandbox) -> None:
    sandbox.write("good.md", "# Good\n\nokapi\n")
    sandbox.write("folder.md/inside.md", "# Inside\n\ntapir\n")
    os.mkfifo(sandbox.root / "pipe.md")
    running = await index_once(sandbox)
    assert sandbox.rows("SELECT source_id FROM memory_documents ORDER BY 1") == [("folder.md/inside.md",), ("good.md",)]
    assert [(p.path, p.reason) for p in running.engine.status().problems if p.path] == []
    assert sandbox.rows("SELECT reason FROM file_states WHERE path = 'pipe.md'") == [(Reason.NOT_REGULAR,)]


def deny(monkeypatch: pytest.MonkeyPatch, names: set[str]) -> None:
    """Deny opening files while their names are among `names`."""
    real = os.open

    def guarded(path: str | bytes | int, *rest: object, **options: object) -> int:
        if os.path.basename(str(path)) in names:
            raise PermissionError(13, "Permission denied", path)
        return real(path, *rest, **options)  # type: ignore[arg-type]  # passed on as they came

    monkeypatch.setattr(os, "open", guarded)


async def test_an_unreadable_note_leads_to_no_further_comparisons(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each comparison led to another one, without end."""
    deny(monkeypatch, {"locked.md"})
    sandbox.write("locked.md", "# Locked")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        await eventually(lambda: running.events_of(NoteFailed), "it is tried")
        assert not await running.engine.context.maintainer.indexes.active.reconcile("again")


@pytest.mark.slow
async def test_an_unreadable_note_is_named_and_tried_again(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source, "FIRST_RETRY_SECONDS", 0.2)
    monkeypatch.setattr(maintainer, "ROUND_SECONDS", 0.2)
    denied = {"locked.md"}
    deny(monkeypatch, denied)
    sandbox.write("locked.md", "# Locked\n\nkakapo\n")
    sandbox.write("good.md", "# Good\n\nokapi\n")
    async with open_engine(sandbox) as running:
        await running.until_found("okapi", "good.md")
        await eventually(lambda: len(running.events_of(NoteFailed)) > 1, "a second try")
        [problem] = [each for each in running.engine.status().problems if each.path]
        assert (problem.path, problem.reason) == ("locked.md", Reason.UNREADABLE)
        assert problem.message
        assert problem.next_try
        denied.clear()
        await running.until_found("kakapo", "locked.md")
        await eventually(lambda: not [each for each in running.engine.status().problems if each.path])
        assert {event.path for event in running.events_of(NoteIndexed)} == {"good.md", "locked.md"}
