"""Queue drafts by idempotency key in `memory.db`, find the note of a key, and show meetings with their draft.

A row is `composing` before a model is called, stores the answer as soon as there is one, and is `ready` with the whole
text before the note is written. An answer that was paid for is never requested again.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, fields, replace
from typing import Any

from donna_tui.index.database import Database
from donna_tui.memory.database import MemoryDb
from donna_tui.types.drafts import (
    OTHER_DEVICE,
    DraftRow,
    DraftState,
    Evidence,
    Meeting,
    MeetingRow,
    MeetingState,
)
from donna_tui.types.search import ME
from donna_tui.vault.note.read import DRAFT_KEY

COMPOSING, READY = "composing", "ready"
DECIDED = (DraftState.APPROVED, DraftState.REJECTED)
FINISHED = (DraftState.WAITING, *DECIDED)

BACK_OFF = (60.0, 300.0, 1_800.0, 7_200.0, 43_200.0, 86_400.0)
"""Seconds until a failed draft is retried, by the number of failures; after the last it is not retried."""


@dataclass(frozen=True, slots=True)
class DraftSources:
    """The sources of a draft: its passages, and each statement with the numbers that it cites.

    `remarks` are plain sentences about omissions.
    """

    passages: tuple[Evidence, ...] = ()
    statements: tuple[tuple[str, tuple[int, ...]], ...] = ()
    remarks: tuple[str, ...] = ()

    def dumped(self) -> str:
        return json.dumps(asdict(self))

    @classmethod
    def loaded(cls, text: str) -> DraftSources:
        if not text:
            return cls()
        known: dict[str, Any] = json.loads(text)
        passages = tuple(
            Evidence(**{**passage, "heading_path": tuple(passage["heading_path"])}) for passage in known["passages"]
        )
        statements = tuple((statement, tuple(numbers)) for statement, numbers in known["statements"])
        return cls(passages, statements, tuple(known.get("remarks", ())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of the queue. `state` is a DraftState, or before that `composing` or `ready`.

    `key` is that of the occasion, `path` the draft, `target` the note once it is approved; `original` is the text as
    Donna wrote it, empty if another device did, `answer` the answer of a model as JSON.
    """

    id: str
    skill: str
    key: str
    title: str
    state: str
    target: str
    created_at: float
    user_id: str = ME
    path: str = ""
    original: str = ""
    answer: str = ""
    evidence: str = ""
    drafter: str = ""
    cost: float = 0.0
    sensitive: bool = False
    decided_at: float | None = None
    reason: str = ""
    detail: str = ""
    attempts: int = 0
    next_try: float | None = None

    @property
    def sources(self) -> DraftSources:
        return DraftSources.loaded(self.evidence)

    @property
    def is_under_way(self) -> bool:
        """Return whether it is being written, or its writing was interrupted."""
        return self.state in (COMPOSING, READY)

    @property
    def is_finished(self) -> bool:
        """Return whether its note was written or decided."""
        return self.state in FINISHED

    @property
    def is_of_other_device(self) -> bool:
        """Return whether another device wrote it, so that its original text and sources are not known here."""
        return self.is_finished and not self.original

    def row(self) -> DraftRow:
        """Return the row for the screens. An interrupted draft counts as failed."""
        known = not self.is_under_way
        return DraftRow(
            id=self.id,
            skill=self.skill,
            title=self.title,
            state=DraftState(self.state) if known else DraftState.FAILED,
            target=self.target,
            path=self.target if self.state == DraftState.APPROVED else self.path,
            created_at=self.created_at,
            drafter=self.drafter or (OTHER_DEVICE if self.is_of_other_device else "extractive"),
            cost=self.cost,
            detail=self.detail if known else "Donna was stopped while writing it.",
            reason=self.reason,
            attempts=self.attempts,
            next_try=self.next_try if known else self.created_at,
        )


_NAMES = tuple(field.name for field in fields(Entry))
_COLUMNS = ", ".join(_NAMES)


def begin(db: MemoryDb, entry: Entry) -> Entry:
    with db.change():
        db.database.insert("drafts", entry, otherwise="IGNORE")
    place = (entry.user_id, entry.skill, entry.key)
    (known,) = _entries(db.database, "user_id = ? AND skill = ? AND key = ?", place)
    return known


def save(db: MemoryDb, entry: Entry) -> Entry:
    with db.change():
        db.database.insert("drafts", entry, otherwise="REPLACE")
    return entry


def drop(db: MemoryDb, identity: str) -> None:
    with db.change():
        db.database.run("DELETE FROM drafts WHERE id = ?", (identity,))


def fail(db: MemoryDb, entry: Entry, reason: str, detail: str, now: float) -> Entry:
    """Mark a row as failed, and schedule its retry."""
    again = now + BACK_OFF[entry.attempts] if entry.attempts < len(BACK_OFF) else None
    failed = replace(
        entry, state=DraftState.FAILED.value, reason=reason, detail=detail, attempts=entry.attempts + 1, next_try=again
    )
    return save(db, failed)


def adopt(db: MemoryDb, entry: Entry) -> Entry:
    """Add the draft of another device. A failed or rejected one of the same occasion waits again, as this note."""
    known = begin(db, entry)
    if known.state == DraftState.FAILED:
        return save(db, replace(entry, id=known.id))
    if known.state == DraftState.REJECTED:
        return save(db, replace(known, state=entry.state, path=entry.path, target=entry.target, decided_at=None))
    return known


def of_id(database: Database, identity: str) -> Entry | None:
    return next(iter(_entries(database, "id = ?", (identity,))), None)


def entries(database: Database) -> list[Entry]:
    """Return the newest 200 undecided rows, and the 200 that were decided last, newest first."""
    newest = "SELECT id FROM drafts WHERE user_id = ? AND state {} IN (?, ?) ORDER BY {} DESC LIMIT 200"
    open_ones, decided = newest.format("NOT", "created_at"), newest.format("", "coalesce(decided_at, created_at)")
    chosen = f"id IN ({open_ones}) OR id IN ({decided}) ORDER BY created_at DESC, id"
    return _entries(database, chosen, (ME, *DECIDED) * 2)


def due_again(database: Database, now: float, cut_short_before: float) -> list[Entry]:
    """Return failed drafts whose retry is due, and those that were begun before a given time and never finished."""
    return _entries(
        database,
        "(state = ? AND next_try <= ?) OR (state IN (?, ?) AND created_at < ?) ORDER BY created_at",
        (DraftState.FAILED.value, now, COMPOSING, READY, cut_short_before),
    )


def paths_of_waiting(database: Database) -> set[str]:
    return set(database.column("SELECT path FROM drafts WHERE user_id = ? AND state = ?", (ME, DraftState.WAITING)))


def keys_of(database: Database, skill: str) -> dict[str, Entry]:
    return {entry.key: entry for entry in _entries(database, "user_id = ? AND skill = ?", (ME, skill))}


def _entries(database: Database, where: str, parameters: Sequence[object]) -> list[Entry]:
    rows = database.rows(f"SELECT {_COLUMNS} FROM drafts WHERE {where}", parameters)  # noqa: S608
    named = (dict(zip(_NAMES, row, strict=True)) for row in rows)
    return [Entry(**{**each, "sensitive": bool(each["sensitive"])}) for each in named]


ID_KEY = "donna_id"
"""The frontmatter key of the occasion in an approved note, its only machine key."""

MACHINE_KEYS = ("idempotency_key", "autowritten_by", "autowritten_at")
"""The frontmatter keys of a draft that are removed by its approval."""

_SKILLS = {
    "meeting": "meeting_note",
    "reflection": "daily_reflection",
    "commitments": "commitment_log",
    "weekly_review": "weekly_review",
    "person": "person_profile",
}
"""The skill of each note type."""


def is_of(front: Mapping[str, Any], skill: str, key: str) -> bool:
    """Check whether a note with this frontmatter was written for the occasion `key` of a skill.

    The key alone is ambiguous: the reflection and the commitments of a day share it. A type that no skill has was set
    by the user, and is ignored.
    """
    note_type = front.get("type")
    known = _SKILLS.get(note_type, skill) if isinstance(note_type, str) else skill
    return key in (front.get("idempotency_key"), front.get(ID_KEY)) and known == skill


def occasion_of(front: Mapping[str, Any]) -> tuple[str, str] | None:
    """Return the skill and the key of the occasion of an unapproved draft; None for other frontmatter."""
    note_type, key = front.get("type"), front.get("idempotency_key")
    if not front.get(DRAFT_KEY) or not isinstance(note_type, str) or not isinstance(key, str) or not key:
        return None
    return (_SKILLS[note_type], key) if note_type in _SKILLS else None


SOON_SECONDS = 180.0
"""Seconds after its end in which a meeting counts as due."""

_STATES = {
    DraftState.WAITING.value: MeetingState.DRAFTED,
    DraftState.APPROVED.value: MeetingState.WRITTEN,
    DraftState.REJECTED.value: MeetingState.REJECTED,
    DraftState.FAILED.value: MeetingState.FAILED,
    DraftState.GONE.value: MeetingState.REJECTED,
    COMPOSING: MeetingState.DUE,
    READY: MeetingState.DUE,
}


def meeting_row(meeting: Meeting, entry: Entry | None, note: str, now: datetime.datetime) -> MeetingRow:
    """Return the row of a meeting; `note` is the path of a note that is not in the queue, or empty."""
    if entry is not None:
        row = entry.row()
        return MeetingRow(meeting=meeting, state=_STATES[entry.state], detail=row.detail, draft=entry.id, path=row.path)
    if note:
        return MeetingRow(meeting=meeting, state=MeetingState.WRITTEN, path=note)
    return MeetingRow(meeting=meeting, state=_state(meeting, now))


def _state(meeting: Meeting, now: datetime.datetime) -> MeetingState:
    if meeting.cancelled:
        return MeetingState.CANCELLED
    if now < meeting.start:
        return MeetingState.COMING
    if now < meeting.end:
        return MeetingState.NOW
    just_over = (now - meeting.end).total_seconds() < SOON_SECONDS
    return MeetingState.DUE if just_over and not meeting.all_day else MeetingState.ENDED
