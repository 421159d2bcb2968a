"""Gather the context of a draft: earlier notes of a meeting, its background, searches and tasks."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from donna_tui.drafts.passages import IndexedNote, is_draft
from donna_tui.drafts.series import Earlier, Invited, background_notes, earlier_notes
from donna_tui.drafts.text import words_only
from donna_tui.index.database import Database
from donna_tui.types.drafts import Meeting
from donna_tui.types.search import ME, Filters, Hit, MemorySource, SearchOutcome, SearchRequest

Search = Callable[[SearchRequest, int], Awaitable[SearchOutcome]]
Read = Callable[[Callable[[Database], Any]], Awaitable[Any]]

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatherer:
    """Read the index for a draft. With `remote` the reader is a remote model, so nothing private is read.

    `me` are the names and addresses of the user.
    """

    search: Search
    read: Read
    remote: bool = False
    me: tuple[str, ...] = ()

    async def hits(
        self, about: str, source: MemorySource, most: int, *, note_type: str = "", within: Sequence[str] = ()
    ) -> list[Hit]:
        """Return the best passages of one source, without drafts."""
        if most < 1 or not about.strip():
            return []
        filters = Filters(
            user_id=ME,
            sources=(source.value,),
            note_type=note_type,
            within=tuple(within),
            sensitive=False if self.remote else None,
        )
        outcome = await self.search(SearchRequest(text=as_words(about), filters=filters), 2 * most)
        return [hit for hit in outcome.hits if not is_draft(hit.metadata)][:most]

    async def own_chats(self, about: str, most: int) -> list[Hit]:
        """Return the user's own turns about a subject in chats."""
        hits = await self.hits(about, MemorySource.CHAT, 3 * most)
        return [hit for hit in hits if hit.metadata.get("role", "user") == "user"][:most]

    def invited(self, meeting: Meeting) -> Invited:
        """Return the features of a meeting that are compared with notes."""
        return Invited.to(meeting, self.me)

    async def earlier(self, meeting: Meeting) -> list[Earlier]:
        """Return the notes of the earlier meetings, latest first."""
        invited = self.invited(meeting)
        found: list[Earlier] = await self.read(lambda index: earlier_notes(index, invited))
        if found and self.remote and found[0].note.sensitive:
            return []
        return [each for each in found if not (self.remote and each.note.sensitive)]

    async def background(self, meeting: Meeting) -> list[IndexedNote]:
        """Return project notes that are named in the title of a meeting."""
        invited = self.invited(meeting)
        found: list[IndexedNote] = await self.read(lambda index: background_notes(index, invited))
        return [each for each in found if not (self.remote and each.sensitive)]


def as_words(text: str) -> str:
    """Turn an untrusted text into a query of plain words, without query syntax."""
    return " ".join(_WORD.findall(words_only(text, 300)))
