"""Protocols for sources other than notes in the pipeline of an index."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Protocol

from donna_tui.vault.client import VaultNote


class NoteObserver(Protocol):
    """An observer of notes, called on the writer's thread once they are stored. It never raises."""

    def stored(self, note: VaultNote) -> None:
        """Handle a note that was stored, or stored again."""

    def removed(self, path: str) -> None:
        """Handle a note that was removed."""


class Unobserved:
    """A null observer."""

    def stored(self, note: VaultNote) -> None:
        """Do nothing."""

    def removed(self, path: str) -> None:
        """Do nothing."""


class ExtraSource(NoteObserver, Protocol):
    """Keep the documents of other sources in an index consistent, in a separate task."""

    @property
    def waiting(self) -> bool:
        """Return whether there is anything to index, or to score once it is embedded."""
        ...

    def lacks_scores(self) -> bool:
        """Return whether an embedded document has no score yet; call it on the writer's thread."""
        ...

    def request_check(self) -> None:
        """Request a check for changes; `waiting` is True until it is done."""

    async def run(self) -> None:
        """Follow changes until cancelled."""

    def backfill(self, source: str) -> Iterator[int]:
        """Reindex a source in short steps on the writer's thread, yielding the number of documents so far.

        Raises DonnaError.
        """
        ...

    def close(self) -> None:
        """Close all open resources; call it on the writer's thread."""
