"""Meetings and drafts, as frozen values."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from enum import StrEnum

from donna_tui.types.search import cited_path, note_containing

OFF_FOR_SERIES = "Notes are turned off for this series."
OFF_FOR_MEETING = "Notes are turned off for this meeting."
"""The values of `MeetingRow.unwanted` that the user chose, and can change."""


@dataclass(frozen=True, slots=True)
class Attendee:
    """An invited person. `email` is empty if the calendar has none; `declined` is set if they declined."""

    name: str
    email: str = ""
    declined: bool = False

    @property
    def label(self) -> str:
        """Return the name, or the mail address of somebody who has no name but its local part."""
        return self.email if self.email and self.name in ("", self.email.partition("@")[0]) else self.name


@dataclass(frozen=True, slots=True, kw_only=True)
class Meeting:
    """One occurrence of a calendar entry. All text is raw and untrusted.

    `event_id` names the occurrence for ever, even after it has moved; `series_id` is the same for all of a series and
    empty for a single entry. Times are aware, in UTC; an all-day entry lasts from midnight to midnight of the local
    zone. `day` is the local day on which it begins.
    """

    event_id: str
    calendar: str
    title: str
    start: datetime.datetime
    end: datetime.datetime
    day: datetime.date
    all_day: bool = False
    series_id: str = ""
    location: str = ""
    description: str = ""
    attendees: tuple[Attendee, ...] = ()
    cancelled: bool = False


class MeetingState(StrEnum):
    COMING = "coming"
    NOW = "now"
    ENDED = "ended"
    """Over, and without a note: an all-day entry, or one that ended before Donna was started."""
    DUE = "due"
    """Over, and its draft is on the way."""
    DRAFTED = "drafted"
    WRITTEN = "written"
    """Approved, or written where nobody has to approve it."""
    REJECTED = "rejected"
    FAILED = "failed"
    CANCELLED = "cancelled"


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingRow:
    """A meeting with the state of its note. `detail` says in plain words why it failed and when it is tried again.

    `draft` is the id of its draft and `path` the path of its note, each empty if there is none. `unwanted` says why no
    draft is written automatically.
    """

    meeting: Meeting
    state: MeetingState
    detail: str = ""
    draft: str = ""
    path: str = ""
    unwanted: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CalendarRow:
    """A calendar that is followed. `fetched_at` is Unix time, None if it was never read; `problem` is a sentence."""

    name: str
    kind: str
    meetings: int = 0
    fetched_at: float | None = None
    problem: str = ""


class DraftState(StrEnum):
    WAITING = "waiting"
    """It is in the vault, and not approved yet."""
    APPROVED = "approved"
    REJECTED = "rejected"
    FAILED = "failed"
    """It could not be written; it is tried again at `next_try`, or never where that is None."""
    GONE = "gone"
    """Its note was deleted or moved by somebody else."""


OTHER_DEVICE = "another device"
"""The `drafter` of a draft that was written on another device, whose sources and original text are not known here."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftRow:
    """A draft in the queue. Times are Unix times in seconds.

    `path` is the current path of its note, `target` the path after approval; they are the same unless it waits in the
    Inbox. `skill` is the template's name, such as `meeting_note`. `drafter` is the model that composed it,
    `extractive`, or OTHER_DEVICE. `cost` is in US dollars. `detail` says in plain words why it failed. `meeting_at` is
    the start of its meeting, if it has one.
    """

    id: str
    skill: str
    title: str
    state: DraftState
    target: str
    path: str
    created_at: float
    drafter: str = "extractive"
    cost: float = 0.0
    detail: str = ""
    reason: str = ""
    attempts: int = 0
    next_try: float | None = None
    meeting_at: float | None = None
    meeting_cancelled: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Evidence:
    """A passage that is cited as a source of a draft, by its `number` (from 1). Lines are those of the source.

    `Engine.passage` opens `path`, as that of a hit. All text is raw.
    """

    number: int
    source_type: str
    path: str
    title: str
    heading_path: tuple[str, ...]
    start_line: int
    end_line: int
    text: str
    score: float | None = None

    @property
    def cited_path(self) -> str:
        return cited_path(self.source_type, self.path)

    @property
    def note(self) -> str:
        """Return the note that contains this passage; empty if none does."""
        return note_containing(self.source_type, self.path)


@dataclass(frozen=True, slots=True)
class Claim:
    """Lines of a draft (1-based, inclusive) and the numbers of their sources."""

    start_line: int
    end_line: int
    evidence: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class DraftHunk:
    """A list item or paragraph of a draft, which can be excluded: whole lines (1-based, inclusive) of its text."""

    number: int
    start_line: int
    end_line: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A draft to read. `text` is its note as on disk, `etag` its version.

    `before` is the note that approving would replace, None for a new one. `remarks` are plain sentences about what was
    left out, such as links to notes that do not exist.
    """

    row: DraftRow
    text: str
    etag: str
    before: str | None = None
    evidence: tuple[Evidence, ...] = ()
    claims: tuple[Claim, ...] = ()
    hunks: tuple[DraftHunk, ...] = ()
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingPreview:
    """The note of a meeting as it would be written now. Nothing is on disk."""

    target: str
    text: str
    evidence: tuple[Evidence, ...] = ()
    claims: tuple[Claim, ...] = ()
    remarks: tuple[str, ...] = ()
