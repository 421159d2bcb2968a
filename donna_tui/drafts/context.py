"""What a skill reads before a draft is composed: earlier meetings, chats and open tasks, each up to its limit."""

from __future__ import annotations

import datetime
import re
from collections.abc import Awaitable, Callable, Sequence
from typing import Any

from donna_tui.drafting import Evidence, Meeting
from donna_tui.drafts.passages import IndexedNote, Passages, is_draft, note_passages, notes_like
from donna_tui.drafts.plain import words_only
from donna_tui.drafts.sentences import stems_of
from donna_tui.index.database import Database
from donna_tui.memories import ME, MemorySource
from donna_tui.records import dataclass
from donna_tui.results import Filters, Hit, SearchOutcome, SearchRequest
from donna_tui.search.query import STOP_WORDS

Search = Callable[[SearchRequest, int], Awaitable[SearchOutcome]]
Read = Callable[[Callable[[Database], Any]], Awaitable[Any]]

LAST_TIME_PASSAGES = 16
"""Passages of the latest earlier meeting that are read."""

CLOSED = ("done", "cancelled")

SHARED_WORDS, CLOSE = 2, 0.5
"""Words that a task and an occasion have in common, or else their cosine, from which they belong together."""

_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)")
_WORD = re.compile(r"\w+")
_NO_CONTENT = re.compile(
    r"^(?:present|attend(?:ees|ance|ing)|participants|links|roll ?call|logistics|invited)\b", re.IGNORECASE
)
_EVERY_MEETING = frozenset({"meeting", "call", "sync", "weekly", "daily", "monthly", "biweekly"})
"""Words that titles of entries have and their notes may leave out."""


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier meeting: its note and the day on which it was held."""

    note: IndexedNote
    day: datetime.date


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatherer:
    """Searches for a draft. `remote` says that a model elsewhere will read it: nothing private is even looked at."""

    search: Search
    read: Read
    user_id: str = ME
    remote: bool = False

    async def hits(
        self, about: str, source: MemorySource, most: int, *, note_type: str = "", within: Sequence[str] = ()
    ) -> list[Hit]:
        """The best passages of one source, without those of drafts."""
        if most < 1 or not about.strip():
            return []
        filters = Filters(
            user_id=self.user_id,
            sources=(source.value,),
            note_type=note_type,
            within=tuple(within),
            sensitive=False if self.remote else None,
        )
        outcome = await self.search(SearchRequest(text=as_words(about), filters=filters), 2 * most)
        return [hit for hit in outcome.hits if not is_draft(hit.metadata)][:most]

    async def open_tasks(self, about: str, most: int) -> list[Hit]:
        """Open check boxes that have to do with it."""
        hits = await self.hits(about, MemorySource.TASK, 4 * most)
        wanted = stems_of(about)
        return [hit for hit in hits if hit.metadata.get("status") not in CLOSED and _belongs(hit, wanted)][:most]

    async def earlier_meetings(self, meeting: Meeting, most: int) -> list[Earlier]:
        """Notes of meetings of the same series, the latest first, and then of others about the same."""
        same: list[IndexedNote] = await self.read(lambda index: _of_series(index, meeting, self.user_id))
        known = _dated(same, meeting.day)
        if len(known) < most:
            hits = await self.hits(meeting.title, MemorySource.VAULT, most, note_type="meeting")
            paths = {earlier.note.path for earlier in known}
            others = {hit.path: _as_note(hit) for hit in hits if hit.path not in paths}
            known += _dated(list(others.values()), meeting.day)
        allowed = [earlier for earlier in known if not (self.remote and earlier.note.sensitive)]
        return allowed[:most]

    async def last_time(self, earlier: Earlier, passages: Passages) -> list[Evidence]:
        """What the note of an earlier meeting says, without the lists of who was there."""
        found: list[tuple[Evidence, bool]] = await self.read(
            lambda index: note_passages(index, earlier.note.path, LAST_TIME_PASSAGES, self.user_id)
        )
        telling = [each for each in found if not _is_roll_call(each[0])]
        return [passages.add(passage, sensitive=sensitive) for passage, sensitive in telling]


def as_words(text: str) -> str:
    """A text from outside as a question: its words, and none of the query language."""
    return " ".join(_WORD.findall(words_only(text, 300)))


def day_in(path: str, front: dict[str, Any]) -> datetime.date | None:
    """The day that a note is about, by its frontmatter or its name."""
    for text in (front.get("date"), front.get("event_start"), path.rsplit("/", 1)[-1], path):
        found = _DAY.search(str(text or ""))
        if found:
            try:
                return datetime.date(*map(int, found.groups()))
            except ValueError:
                continue
    return None


def series_words(title: str) -> list[str]:
    """The words by which the notes of a series are known."""
    words = [word for word in _WORD.findall(words_only(title).lower()) if word not in STOP_WORDS]
    telling = [word for word in words if word not in _EVERY_MEETING and not word.isdigit()]
    return telling or words


def _belongs(hit: Hit, wanted: frozenset[str]) -> bool:
    """Whether a task has really to do with something, and is not just the nearest that there is."""
    place = stems_of(f"{hit.metadata.get('note', '')} {hit.metadata.get('title', '')}".replace("/", " "))
    return len(place & wanted) >= SHARED_WORDS or (hit.score or 0.0) >= CLOSE


def _of_series(index: Database, meeting: Meeting, user_id: str) -> list[IndexedNote]:
    words = series_words(meeting.title)
    if not words:
        return []
    return [
        note for note in notes_like(index, words, user_id) if note.front.get("calendar_event_id") != meeting.event_id
    ]


def _dated(notes: Sequence[IndexedNote], before: datetime.date) -> list[Earlier]:
    """Those that tell a day before this one, the latest first."""
    days = ((note, day_in(note.path, note.front)) for note in notes)
    held = [Earlier(note, day) for note, day in days if day and day < before]
    return sorted(held, key=lambda earlier: (earlier.day, earlier.note.path), reverse=True)


def _as_note(hit: Hit) -> IndexedNote:
    front = hit.metadata.get("frontmatter")
    return IndexedNote(hit.path, hit.title, 0.0, front if isinstance(front, dict) else {}, hit.sensitive)


def _is_roll_call(passage: Evidence) -> bool:
    return bool(passage.heading_path) and bool(_NO_CONTENT.match(passage.heading_path[-1].strip()))
