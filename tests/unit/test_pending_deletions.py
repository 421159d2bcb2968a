"""Missing notes are retained for the rename window, then removed, except if far too many disappear at once."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import AsyncIterator, Collection

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.ingest import pending_deletions as pending_deletions_module
from donna_tui.ingest.pending_deletions import FEW, MANY, SHARE, PendingDeletions, suspicious
from donna_tui.types.errors import Reason
from donna_tui.types.events import EngineEvent, EventHub, ProblemCleared, ProblemRaised

WINDOW = 2.0


class Clock:
    """A monotonic clock that a test moves."""

    def __init__(self) -> None:
        self.now = 100.0

    def monotonic(self) -> float:
        return self.now

    async def advance(self, seconds: float) -> None:
        """Move the clock, and let the task notice."""
        self.now += seconds
        await let_it_run()


class Vault:
    """The notes of an index, whether reading is paused, and what was removed."""

    def __init__(self, known: int) -> None:
        self.known, self.reading, self.removed, self.moved = known, False, list[str](), set[str]()
        self.events: list[EngineEvent] = []
        hub = EventHub()
        hub.subscribe(self.events.append)
        self.deletions = PendingDeletions(hub, WINDOW, self.remove, lambda: self.reading, self.counted)

    async def remove(self, path: str) -> None:
        self.removed.append(path)
        self.known -= 1

    async def counted(self, paths: Collection[str]) -> tuple[set[str], int]:
        return set(paths) - self.moved, self.known

    @property
    def problems(self) -> list[str]:
        return [type(each).__name__ for each in self.events if isinstance(each, ProblemRaised | ProblemCleared)]


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    made = Clock()
    monkeypatch.setattr(pending_deletions_module, "time", made)
    monkeypatch.setattr(pending_deletions_module, "POLL_SECONDS", 0.0)
    return made


@contextlib.asynccontextmanager
async def watched(vault: Vault) -> AsyncIterator[None]:
    task = asyncio.create_task(vault.deletions.run())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def let_it_run() -> None:
    for _ in range(50):
        await asyncio.sleep(0)


def some(count: int) -> list[str]:
    return [f"{number}.md" for number in range(count)]


async def test_a_missing_note_stays_for_the_rename_window(clock: Clock) -> None:
    vault = Vault(100)
    async with watched(vault):
        vault.deletions.expect(["a.md"])
        await clock.advance(WINDOW - 0.1)
        assert vault.removed == []
        assert vault.deletions.waiting
        await clock.advance(0.1)
    assert vault.removed == ["a.md"]
    assert not vault.deletions.waiting


async def test_expecting_a_deletion_again_does_not_restart_its_window(clock: Clock) -> None:
    vault = Vault(100)
    async with watched(vault):
        vault.deletions.expect(["a.md"])
        clock.now += WINDOW / 2
        vault.deletions.expect(["a.md"])
        await clock.advance(WINDOW / 2)
    assert vault.removed == ["a.md"]


async def test_nothing_is_removed_while_notes_are_read(clock: Clock) -> None:
    vault = Vault(100)
    vault.reading = True
    async with watched(vault):
        vault.deletions.expect(["a.md"])
        await clock.advance(10 * WINDOW)
        assert vault.removed == []
        vault.reading = False
        await let_it_run()
    assert vault.removed == ["a.md"]


async def test_far_too_many_at_once_are_held_and_reported_once(clock: Clock) -> None:
    vault = Vault(100)
    gone = some(60)
    async with watched(vault):
        vault.deletions.expect(gone)
        await clock.advance(WINDOW)
        assert (vault.removed, vault.deletions.held, vault.deletions.waiting) == ([], 60, False)
        vault.deletions.expect(gone)
        await clock.advance(10 * WINDOW)
    assert vault.removed == []
    assert vault.problems == ["ProblemRaised"]
    raised = vault.events[0]
    assert isinstance(raised, ProblemRaised)
    assert raised.reason is Reason.MASS_DISAPPEARANCE
    assert raised.message.startswith("60 notes are missing at once")
    assert raised.message.endswith("0.md, 1.md, 10.md, 11.md, 12.md, 13.md, 14.md, 15.md and 52 more")


async def test_notes_that_were_moved_meanwhile_are_not_missing(clock: Clock) -> None:
    vault = Vault(100)
    vault.moved = set(some(60))
    async with watched(vault):
        vault.deletions.expect([*some(60), "gone.md"])
        await clock.advance(WINDOW)
    assert "gone.md" in vault.removed
    assert (vault.deletions.held, vault.problems) == (0, [])


async def test_held_notes_are_removed_once_the_user_confirms(clock: Clock) -> None:
    vault = Vault(100)
    async with watched(vault):
        vault.deletions.expect(some(60))
        await clock.advance(WINDOW)
        vault.deletions.accept()
        await clock.advance(WINDOW)
    assert len(vault.removed) == 60
    assert vault.deletions.held == 0
    assert vault.problems == ["ProblemRaised", "ProblemCleared"]


async def test_accept_does_not_cover_later_mass_deletions(clock: Clock) -> None:
    vault = Vault(200)
    async with watched(vault):
        vault.deletions.accept()
        vault.deletions.expect(["known.md"], accept=True)
        vault.deletions.expect(some(150))
        await clock.advance(WINDOW)
    assert vault.removed == ["known.md"]
    assert vault.deletions.held == 150


async def test_accepted_mass_deletion_needs_no_further_confirmation(clock: Clock) -> None:
    vault = Vault(100)
    async with watched(vault):
        vault.deletions.expect(some(100), accept=True)
        await clock.advance(WINDOW)
    assert len(vault.removed) == 100


async def test_held_deletions_are_dropped_when_the_notes_are_back(clock: Clock) -> None:
    vault = Vault(100)
    async with watched(vault):
        vault.deletions.expect(some(60))
        await clock.advance(WINDOW)
        vault.deletions.complete(["0.md", "another.md"])
        assert vault.deletions.held
        vault.deletions.complete(["another.md"])
        assert vault.deletions.held == 0
    assert vault.problems == ["ProblemRaised", "ProblemCleared"]


async def test_a_complete_comparison_without_anything_held_says_nothing(clock: Clock) -> None:
    vault = Vault(100)
    vault.deletions.complete([])
    assert vault.events == []


@pytest.mark.parametrize(
    ("gone", "known", "expected"),
    [
        (0, 0, False),
        (1, 1, False),
        (2, 2, False),
        (FEW, FEW, True),
        (MANY - 1, 1_000, False),
        (MANY, 1_000, False),
        (MANY, MANY * 3, True),
        (30, 100, False),
        (31, 100, True),
        (19, 20, False),
        (20, 20, True),
    ],
)
def test_suspicious_detects_mass_deletions(gone: int, known: int, expected: bool) -> None:
    assert suspicious(gone, known) is expected


@pytest.mark.slow
@given(st.integers(0, 5_000), st.integers(0, 5_000))
def test_suspicious_is_monotonic_in_missing_notes(gone: int, known: int) -> None:
    if suspicious(gone, known):
        assert suspicious(gone + 1, known)
        assert gone > SHARE * known
