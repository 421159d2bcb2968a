"""Notes whose file is gone. They may have moved, or a disk may be unmounted: nothing is deleted in haste."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable

from donna_tui.types.errors import Reason
from donna_tui.types.events import EventHub, ProblemCleared, ProblemRaised

LOOK_SECONDS = 0.25

PATIENCE_SECONDS = 10.0
"""How long a missing note waits at the most for others that go after it."""

MANY = 20
"""Fewer missing notes than this are never suspicious, unless they are all there were."""

FEW = 3
"""An index of at least this many notes whose vault is empty is suspicious."""

SHARE = 0.3
"""More than this share of the notes gone at once is suspicious; after the folder marker of Syncthing."""


def suspicious(gone: int, known: int) -> bool:
    """Whether so much is missing that an unmounted disk is likelier than a decision."""
    return (gone >= known and gone >= FEW) or (gone >= MANY and gone > SHARE * known)


class PendingDeletions:
    """Holds each missing path for the rename window, then removes it, unless far too many are missing.

    `remove` deletes one path from the index if its file is still missing; `busy` says whether notes wait to be read,
    which may be where a missing one went; `known` counts the notes of the index.
    """

    def __init__(
        self,
        hub: EventHub,
        window: float,
        remove: Callable[[str], Awaitable[None]],
        busy: Callable[[], bool],
        known: Callable[[], Awaitable[int]],
    ) -> None:
        self._hub, self._window, self._remove, self._busy, self._known = hub, window, remove, busy, known
        self._leaving: dict[str, float] = {}
        self._held: frozenset[str] = frozenset()
        self._some = asyncio.Event()
        self._accepted: set[str] = set()

    @property
    def waiting(self) -> bool:
        """Whether any path is within its window."""
        return bool(self._leaving)

    @property
    def held(self) -> int:
        """How many missing notes wait for the user's word."""
        return len(self._held)

    def expect(self, paths: Iterable[str], *, accept: bool = False) -> None:
        """These paths are missing. `accept` says that the user knows."""
        deadline = time.monotonic() + self._window
        fresh = set(paths) - (set() if accept else self._held)
        for path in fresh:
            self._leaving.setdefault(path, deadline)
        if accept:
            self._accepted |= fresh
        if self._leaving:
            self._some.set()

    def complete(self, gone: Collection[str]) -> None:
        """A comparison of the whole vault found exactly these missing; what was held back may be there again."""
        still_gone = self._held & set(gone)
        if self._held and not still_gone:
            self._release()
        self._held = still_gone

    def accept(self) -> None:
        """What was held back is really gone."""
        held = self._held
        self._release()
        self.expect(held, accept=True)

    def _release(self) -> None:
        self._held = frozenset()
        self._hub.post(ProblemCleared(reason=Reason.MASS_DISAPPEARANCE))

    async def run(self) -> None:
        """Remove what is due, until cancelled."""
        while True:
            await self._some.wait()
            while self._leaving:
                await self._remove_due()
                if self._leaving:
                    await asyncio.sleep(LOOK_SECONDS)
            self._some.clear()

    async def _remove_due(self) -> None:
        due = self._due(time.monotonic())
        if self._busy() or not due:
            return
        doubtful = self._leaving.keys() - self._accepted
        if doubtful and suspicious(len(doubtful | self._held), await self._known()):
            self._hold(doubtful)
        for path in due:
            if path in self._leaving:
                await self._remove(path)
                self._leaving.pop(path, None)
                self._accepted.discard(path)

    def _due(self, now: float) -> list[str]:
        """What to remove now. Nothing while more notes go: only then it shows how many went at once."""
        first, last = min(self._leaving.values()), max(self._leaving.values())
        if now < last and now < first + PATIENCE_SECONDS:
            return []
        return [path for path, deadline in self._leaving.items() if deadline <= now]

    def _hold(self, paths: Collection[str]) -> None:
        for path in paths:
            del self._leaving[path]
        self._held |= set(paths)
        self._hub.post(
            ProblemRaised(
                reason=Reason.MASS_DISAPPEARANCE,
                message=f"{len(self._held)} notes are missing at once; they stay searchable until you say so",
                hint="Is a disk not mounted, a sync unfinished? If they are really gone: resume, or donna index --full",
            )
        )
