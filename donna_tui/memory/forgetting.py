"""Forget, restore, pin and erase memories by their ids, whatever source they are of."""

from __future__ import annotations

import re
from dataclasses import dataclass

from donna_tui.index.database import Database
from donna_tui.memory.compression import drop_summary, release
from donna_tui.memory.conversations import (
    erase_turns,
    find_anyones_session,
    forget_turns_added_by,
    mark_turns,
    pin_turns,
    restore_turns_forgotten_by,
)
from donna_tui.memory.database import MemoryDb, erasure_mark, finish_erasures
from donna_tui.memory.facts import erase, forget_session, forgotten_by, mark, mark_forgotten, read_fact
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import SessionUndone
from donna_tui.types.search import ME, MemorySource

LAST = 2**62
"""An upper bound of turn numbers."""

_RUN = re.compile(r"(.+):(\d+)-(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """The item that an id refers to: a memory, a correction, or turns `first` to `last` of a session."""

    source: MemorySource
    item: str
    session: int = 0
    first: int = 0
    last: int = LAST


def find_target(database: Database, identity: str, user_id: str = ME) -> Target:
    """Resolve an id such as `memory:4f1c…`, `correction:…`, `chat:session:3-4` or `chat:session`.

    The source may be omitted. Raises DonnaError if there is no such item, or it belongs to a note.
    """
    source, _, item = identity.partition(":")
    if source in (MemorySource.VAULT, MemorySource.TASK):
        raise DonnaError(Reason.IGNORED, "this is part of a note", hint="change or delete the note instead")
    known = source in (MemorySource.CHAT, MemorySource.MEMORY, MemorySource.CORRECTION)
    found = _find(database, source if known else "", item if known else identity, user_id)
    if found is None:
        raise DonnaError(Reason.MISSING, f"there is no memory {identity}", hint="donna recall --json shows the ids")
    return found


def _find(database: Database, source: str, item: str, user_id: str) -> Target | None:
    for kind, table in ((MemorySource.MEMORY, "memories"), (MemorySource.CORRECTION, "corrections")):
        sql = f"SELECT 1 FROM {table} WHERE id = ? AND user_id = ?"  # noqa: S608
        if source in ("", kind) and database.value(sql, (item, user_id)):
            return Target(kind, item)
    if source not in ("", MemorySource.CHAT):
        return None
    run = _RUN.fullmatch(item)
    if run and (session := find_anyones_session(database, run[1], user_id)):
        return Target(MemorySource.CHAT, item, session, int(run[2]), int(run[3]))
    session = find_anyones_session(database, item, user_id)
    return Target(MemorySource.CHAT, item, session) if session else None


def forget(db: MemoryDb, target: Target, now: float | None, by: str = "") -> bool:
    """Forget an item at a Unix time, or restore it with None. Return whether anything changed.

    `by` is the session of the agent that forgets it, which `undo_session` restores.
    """
    with db.change():
        if target.source is MemorySource.CHAT:
            return mark_turns(db, target.session, target.first, target.last, forgotten_at=now, by=by) > 0
        if now is not None:
            release(db, target.item)
        return mark_forgotten(db, target.source, target.item, now, by)


def undo_session(db: MemoryDb, session: str, now: float) -> SessionUndone:
    """Restore what a session of an agent forgot, and forget what it remembered and the messages that it stored.

    What it remembered and forgot again stays forgotten. Summaries of the messages are forgotten with them.
    """
    with db.change():
        facts, corrections = (forgotten_by(db.database, source, session) for source in ("memory", "correction"))
        for source, items in (("memory", facts), ("correction", corrections)):
            for item in items:
                mark_forgotten(db, source, item, None)
        turns = restore_turns_forgotten_by(db, session)
        forgotten = forget_session(db, session, now)
        messages = forget_turns_added_by(db, session, now)
        for chat in messages:
            drop_summary(db, chat, now)
        back = sum(read_fact(db.database, each) is not None for each in facts)
        forgotten -= len(facts) - back
    return SessionUndone(forgotten, back + len(corrections) + turns, sum(messages.values()))


def forget_for_good(db: MemoryDb, target: Target, now: float) -> bool:
    """Erase the words from `memory.db` and its log. Return whether anything was there.

    If another process is reading, the log is truncated by the next process that opens the memory (see
    `finish_erasures`). Deleting the backups is the caller's responsibility.
    """
    erasure_mark(db.database.path).touch(mode=0o600)
    with db.change():
        if target.source is MemorySource.CHAT:
            erased = erase_turns(db, target.session, target.first, target.last, now) > 0
            _erase_summaries(db, target.session)
        else:
            release(db, target.item)
            erased = erase(db, target.source, target.item)
    finish_erasures(db.database)
    return erased


def _erase_summaries(db: MemoryDb, session: int) -> None:
    """Erase the summaries of a session, undone ones included, because they quote it."""
    rows = db.database.rows(
        "SELECT m.id FROM sessions s JOIN memories m ON m.user_id = s.user_id AND m.source_session_id = s.name"
        " WHERE s.id = ? AND m.compression_source",
        (session,),
    )
    for (summary,) in rows:
        release(db, summary)
        erase(db, MemorySource.MEMORY, summary)


def pin(db: MemoryDb, target: Target, *, pinned: bool) -> bool:
    """Pin a memory, so that it is recalled whatever its importance, or unpin it. Return whether it exists."""
    with db.change():
        if target.source is MemorySource.CHAT:
            return pin_turns(db, target.session, target.first, target.last, pinned=pinned) > 0
        return mark(db, target.source, target.item, "pinned", int(pinned))
