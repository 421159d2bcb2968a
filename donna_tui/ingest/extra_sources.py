"""Define how sources other than notes take part in the pipeline of an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from donna_tui.vault.client import VaultNote


class NoteObserver(Protocol):
    """Hears of notes on the writer's thread, once they are stored. It never raises."""

    def stored(self, note: VaultNote) -> None:
        """A note was stored, or stored again."""

    def removed(self, path: str) -> None:
        """A note is gone."""


class Unobserved:
    """Nobody listens."""

    def stored(self, note: VaultNote) -> None:
        """Nothing to do."""

    def removed(self, path: str) -> None:
        """Nothing to do."""


class Beside(NoteObserver, Protocol):
    """Documents of other sources in one index, kept true by a task of its own."""

    @property
    def waiting(self) -> bool:
        """Whether there is anything to bring in, or to score once it is embedded."""
        ...

    def lacks_scores(self) -> bool:
        """Whether something that is embedded waits for its score; on the writer's thread."""
        ...

    def look(self) -> None:
        """Something may have changed: `waiting` holds until that was looked into."""

    async def run(self) -> None:
        """Follow what changes, until cancelled."""

    def backfill(self, source: str) -> Iterator[int]:
        """Bring in a source anew, a short piece of work at each step on the writer's thread; documents so far.

        Raises DonnaError.
        """
        ...

    def close(self) -> None:
        """Close what it has open, on the writer's thread."""
