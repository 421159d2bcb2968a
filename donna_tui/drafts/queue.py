"""Queue drafts by idempotency key in `memory.db`, find the note of a key, and show meetings with their draft.

A row is `composing` before anything is asked, holds the answer as soon as there is one, and is `ready` with the whole
text before anything is written. What was paid for is kept and never asked again.
"""

from __future__ import annotations

import datetime
import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any, Literal

from donna_tui.drafts import queue
from donna_tui.index.database import Database
from donna_tui.memory.database import MemoryDb
from donna_tui.types.drafts import DraftRow, DraftState, Evidence, Meeting, MeetingRow, MeetingState
from donna_tui.types.memory import ME

COMPOSING, READY = "composing", "ready"
DECIDED = (DraftState.APPROVED, DraftState.REJECTED)
SETTLED = (DraftState.WAITING, *DECIDED)

BACK_OFF = (60.0, 300.0, 1_800.0, 7_200.0, 43_200.0, 86_400.0)
"""Seconds until a failed draft is tried again, by how often it has failed; after the last it is not."""

_COLUMNS = (
    "id, user_id, skill, key, title, state, target, path, original, answer, evidence, drafter, cost, sensitive,"
    " created_at, decided_at, reason, detail, attempts, next_try"
)


@dataclass(frozen=True, slots=True)
class Rest:
    """What a draft rests on: its passages, and each statement with the numbers of those that it names; `remarks` are
    plain sentences about what was left out.
    """

    passages: tuple[Evidence, ...] = ()
    statements: tuple[tuple[str, tuple[int, ...]], ...] = ()
    remarks: tuple[str, ...] = ()

    def dumped(self) -> str:
        """As JSON."""
        return json.dumps(asdict(self))

    @classmethod
    def loaded(cls, text: str) -> Rest:
        """From JSON."""
        if not text:
            return cls()
        known: dict[str, Any] = json.loads(text)
        passages = tuple(
            Evidence(**{**each, "heading_path": tuple(each["heading_path"])}) for each in known["passages"]
        )
        statements = tuple((said, tuple(numbers)) for said, numbers in known["statements"])
        return cls(passages, statements, tuple(known.get("remarks", ())))


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of the queue. `state` is one of DraftState, or `composing` or `ready` on the way there.

    `key` is that of the occasion, `path` where the draft waits, `target` where its note is once it is approved;
    `original` is the text as Donna wrote it, `answer` the answer of a model as JSON.
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
    def rest(self) -> Rest:
        """What it rests on."""
        return Rest.loaded(self.evidence)

    @property
    def is_under_way(self) -> bool:
        """Whether it is being written, unless the program that began it was stopped."""
        return self.state in (COMPOSING, READY)

    @property
    def is_settled(self) -> bool:
        """Whether its note was written, or was decided on."""
        return self.state in SETTLED

    def row(self) -> DraftRow:
        """As the screens show it. One that was begun and never finished counts as failed."""
        known = not self.is_under_way
        return DraftRow(
            id=self.id,
            skill=self.skill,
            title=self.title,
            state=DraftState(self.state) if known else DraftState.FAILED,
            target=self.target,
            path=self.target if self.state == DraftState.APPROVED else self.path,
            created_at=self.created_at,
            drafter=self.drafter or "extractive",
            cost=self.cost,
            detail=self.detail if known else "Donna was stopped while writing it.",
            reason=self.reason,
            attempts=self.attempts,
            next_try=self.next_try if known else self.created_at,
        )


def begin(db: MemoryDb, entry: Entry) -> Entry:
    """The row of an occasion; the first time it is made."""
    _insert(db, entry, otherwise="IGNORE")
    known = of_key(db.database, entry.skill, entry.key, entry.user_id)
    assert known is not None
    return known


def save(db: MemoryDb, entry: Entry) -> Entry:
    """Store a row as it is now."""
    _insert(db, entry, otherwise="REPLACE")
    return entry


def drop(db: MemoryDb, identity: str) -> None:
    """Take a row away for which there was nothing to write."""
    with db.change():
        db.database.run("DELETE FROM drafts WHERE id = ?", (identity,))


def fail(db: MemoryDb, entry: Entry, reason: str, detail: str, now: float) -> Entry:
    """Note that it could not be written, and when it is tried again."""
    again = now + BACK_OFF[entry.attempts] if entry.attempts < len(BACK_OFF) else None
    failed = replace(
        entry, state=DraftState.FAILED.value, reason=reason, detail=detail, attempts=entry.attempts + 1, next_try=again
    )
    return save(db, failed)


def of_key(database: Database, skill: str, key: str, user_id: str = ME) -> Entry | None:
    """The row of an occasion."""
    return _one(database, "user_id = ? AND skill = ? AND key = ?", (user_id, skill, key))


def of_id(database: Database, identity: str) -> Entry | None:
    """The row with this id."""
    return _one(database, "id = ?", (identity,))


def entries(database: Database, user_id: str = ME) -> list[Entry]:
    """The newest 200 of the queue, decided ones as well."""
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM drafts WHERE user_id = ? ORDER BY created_at DESC, id LIMIT 200",  # noqa: S608
        (user_id,),
    )
    return [_entry(row) for row in rows]


def due_again(database: Database, now: float, cut_short_before: float) -> list[Entry]:
    """Failed drafts whose time has come, and those that were begun before some moment and never finished."""
    rows = database.rows(
        f"SELECT {_COLUMNS} FROM drafts WHERE (state = ? AND next_try <= ?)"  # noqa: S608
        " OR (state IN (?, ?) AND created_at < ?) ORDER BY created_at",
        (DraftState.FAILED.value, now, COMPOSING, READY, cut_short_before),
    )
    return [_entry(row) for row in rows]


def keys_of(database: Database, skill: str, user_id: str = ME) -> dict[str, Entry]:
    """The rows of a skill by their keys."""
    rows = database.rows(f"SELECT {_COLUMNS} FROM drafts WHERE user_id = ? AND skill = ?", (user_id, skill))  # noqa: S608
    found = [_entry(row) for row in rows]
    return {entry.key: entry for entry in found}


def _one(database: Database, where: str, parameters: Sequence[object]) -> Entry | None:
    rows = database.rows(f"SELECT {_COLUMNS} FROM drafts WHERE {where}", parameters)  # noqa: S608
    return _entry(rows[0]) if rows else None


def _entry(row: Sequence[Any]) -> Entry:
    named = dict(zip(_COLUMNS.replace(" ", "").split(","), row, strict=True))
    return Entry(**{**named, "sensitive": bool(named["sensitive"])})


def _insert(db: MemoryDb, entry: Entry, *, otherwise: Literal["IGNORE", "REPLACE"]) -> None:
    values = [getattr(entry, name) for name in _COLUMNS.replace(" ", "").split(",")]
    places = ", ".join("?" * len(values))
    with db.change():
        db.database.run(f"INSERT OR {otherwise} INTO drafts ({_COLUMNS}) VALUES ({places})", values)  # noqa: S608


ID_KEY = "donna_id"
"""The key of its occasion in an approved note, in which it is the only key of the machine."""

MACHINE_KEYS = ("idempotency_key", "autowritten_by", "autowritten_at")
"""The keys of a draft that are removed when it is approved."""

_SKILLS = {
    "meeting": "meeting_note",
    "reflection": "daily_reflection",
    "commitments": "commitment_log",
    "weekly_review": "weekly_review",
    "person": "person_profile",
}
"""The skill whose notes have a type."""


def is_of(front: Mapping[str, Any], skill: str, key: str) -> bool:
    """Whether a note with this frontmatter was written for the occasion `key` of a skill.

    A key alone does not tell: the reflection and the commitments of a day have the same. A type that no skill has was
    given by the user, and says nothing.
    """
    note_type = front.get("type")
    known = _SKILLS.get(note_type, skill) if isinstance(note_type, str) else skill
    return key in (front.get("idempotency_key"), front.get(ID_KEY)) and known == skill


SOON_SECONDS = 180.0
"""A meeting that has ended since is looked at in a moment."""

_STATES = {
    DraftState.WAITING.value: MeetingState.DRAFTED,
    DraftState.APPROVED.value: MeetingState.WRITTEN,
    DraftState.REJECTED.value: MeetingState.REJECTED,
    DraftState.FAILED.value: MeetingState.FAILED,
    DraftState.GONE.value: MeetingState.REJECTED,
    queue.COMPOSING: MeetingState.DUE,
    queue.READY: MeetingState.DUE,
}


def meeting_row(meeting: Meeting, entry: Entry | None, note: str, now: datetime.datetime) -> MeetingRow:
    """The row; `note` is the path of a note of the meeting that the queue does not know, or empty."""
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
