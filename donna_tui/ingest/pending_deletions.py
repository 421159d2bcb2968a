"""Delay the deletion of notes whose file is missing: they may have moved, or a disk may be unmounted."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Collection, Iterable

from donna_tui.text.plural import first_of
from donna_tui.types.errors import Reason
from donna_tui.types.events import EventHub, ProblemCleared, ProblemRaised

POLL_SECONDS = 0.25

PATIENCE_SECONDS = 10.0
"""Maximum number of seconds that a missing note is held because further notes disappear."""

MANY = 20
"""Fewer missing notes than this are not suspicious, unless they are all notes of the index."""

FEW = 3
"""An empty vault is suspicious if its index has at least this many notes."""

SHARE = 0.3
"""A larger share of notes missing at once is suspicious; inspired by the folder marker of Syncthing."""

NAMED = 8
"""Number of missing notes that are named."""


def suspicious(missing: int, known: int) -> bool:
    """Return whether so many notes are missing that an unmounted disk is likelier than deletion."""
    return (missing >= known and missing >= FEW) or (missing >= MANY and missing > SHARE * known)


class PendingDeletions:
    """Hold each missing path for the rename window, then remove it, unless suspiciously many are missing.

    `remove` deletes a path from the index if its file is still missing; `busy` returns whether notes are still to be
    read, among which a moved one may be; `counted` returns which of some paths the index has and Donna did not delete,
    and the number of notes in the index.
    """

    def __init__(
        self,
        hub: EventHub,
        window: float,
        remove: Callable[[str], Awaitable[None]],
        busy: Callable[[], bool],
        counted: Callable[[Collection[str]], Awaitable[tuple[set[str], int]]],
    ) -> None:
        self._hub, self._window, self._remove, self._busy = hub, window, remove, busy
        self._counted = counted
        self._pending: dict[str, float] = {}
        self._held: frozenset[str] = frozenset()
        self._some = asyncio.Event()
        self._accepted: set[str] = set()

    @property
    def waiting(self) -> bool:
        return bool(self._pending)

    @property
    def missing(self) -> set[str]:
        return set(self._pending)

    @property
    def held(self) -> int:
        """Return the number of missing notes that need the user's confirmation."""
        return len(self._held)

    def expect(self, paths: Iterable[str], *, accept: bool = False) -> None:
        """Add missing paths. With `accept`, the user has confirmed their deletion."""
        deadline = time.monotonic() + self._window
        fresh = set(paths) - (set() if accept else self._held)
        for path in fresh:
            self._pending.setdefault(path, deadline)
        if accept:
            self._accepted |= fresh
        if self._pending:
            self._some.set()

    def complete(self, missing: Collection[str]) -> None:
        """Update the held paths, of which some may be back: a comparison of the whole vault found these missing."""
        still_missing = self._held & set(missing)
        if self._held and not still_missing:
            self._release()
        self._held = still_missing

    def accept(self) -> None:
        """Delete the held notes: the user has confirmed it."""
        held = self._held
        self._release()
        self.expect(held, accept=True)

    def _release(self) -> None:
        self._held = frozenset()
        self._hub.post(ProblemCleared(reason=Reason.MASS_DISAPPEARANCE))

    async def run(self) -> None:
        while True:
            await self._some.wait()
            while self._pending:
                await self._remove_due()
                if self._pending:
                    await asyncio.sleep(POLL_SECONDS)
            self._some.clear()

    async def _remove_due(self) -> None:
        """Remove the due paths. None is due while more notes disappear, to count all together."""
        now, first, last = time.monotonic(), min(self._pending.values()), max(self._pending.values())
        due = [path for path, deadline in self._pending.items() if deadline <= now]
        if self._busy() or not due or (now < last and now < first + PATIENCE_SECONDS):
            return
        # the index has a moved note elsewhere
        doubtful, known = await self._counted(self._pending.keys() - self._accepted)
        if doubtful and suspicious(len(doubtful | self._held), known):
            for path in doubtful:
                del self._pending[path]
            self._held |= doubtful
            named = first_of(sorted(self._held), NAMED)
            message = f"{len(self._held):,} notes are missing at once; they stay searchable until you confirm: {named}"
            hint = (
                "Check that the disk is mounted and that syncing has finished. If the notes were deleted, press c in"
                " Activity, or run donna index --full"
            )
            self._hub.post(ProblemRaised(reason=Reason.MASS_DISAPPEARANCE, message=message, hint=hint))
        for path in due:
            if path in self._pending:
                await self._remove(path)
                self._pending.pop(path, None)
                self._accepted.discard(path)
