"""Forget, restore, pin and erase memories by their ids, whatever source they are of."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from donna_tui.index.database import Database
from donna_tui.memory import conversations, facts
from donna_tui.memory.database import MemoryDb, erasure_mark, finish_erasures, undone
from donna_tui.types.drafts import DraftState
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import SessionChange
from donna_tui.types.search import ME, MemorySource

LAST = 2**62
"""An upper bound of turn numbers."""

_REDONE = "redone "
"""The beginning of the key of `meta` with the operations on notes with which a session was redone."""

_RUN = re.compile(r"(.+):(\d+)-(\d+)", re.DOTALL)


@dataclass(frozen=True, slots=True)
class Target:
    """The item that an id refers to: a memory, a correction, or turns `first` to `last` of a conversation."""

    source: MemorySource
    item: str
    conversation: int = 0
    first: int = 0
    last: int = LAST


def find_target(database: Database, identity: str, user_id: str = ME) -> Target:
    """Resolve an id such as `memory:4f1c…`, `correction:…`, `chat:session:3-4` or `chat:session`.

    The source may be omitted. For the owner, a conversation of another user is found too if none of the owner's has
    this name. Raises DonnaError if there is no such item, or it belongs to a note.
    """
    source, _, item = identity.partition(":")
    if source in (MemorySource.VAULT, MemorySource.TASK):
        raise DonnaError(Reason.IGNORED, "this is part of a note", hint="change or delete the note instead")
    known = source in (MemorySource.CHAT, MemorySource.MEMORY, MemorySource.CORRECTION)
    found = _find(database, source if known else "", item if known else identity, user_id)
    if found is None:
        raise DonnaError(Reason.MISSING, f"there is no memory {identity}", hint="donna memories --json shows the ids")
    return found


def _find(database: Database, source: str, item: str, user_id: str) -> Target | None:
    for kind, table in ((MemorySource.MEMORY, "memories"), (MemorySource.CORRECTION, "corrections")):
        sql = f"SELECT 1 FROM {table} WHERE id = ? AND user_id = ?"  # noqa: S608
        if source in ("", kind) and database.value(sql, (item, user_id)):
            return Target(kind, item)
    if source not in ("", MemorySource.CHAT):
        return None
    find = conversations.find_anyones_conversation if user_id == ME else conversations.find_conversation
    run = _RUN.fullmatch(item)
    if run and (conversation := find(database, run[1], user_id)):
        return Target(MemorySource.CHAT, item, conversation, int(run[2]), int(run[3]))
    conversation = find(database, item, user_id)
    return Target(MemorySource.CHAT, item, conversation) if conversation else None


def forget(db: MemoryDb, target: Target, now: float | None, by: str = "") -> bool:
    """Forget an item at a Unix time with the corrections that quote it, or restore them with None. Return whether
    anything changed.

    `by` is the session of the agent that forgets it, which `undo_session` restores. Raises DonnaError (`conflict`) if a
    memory cannot be restored since another one has replaced it.
    """
    with db.change():
        corrections = _corrections_of(db.database, target)
        if now is None:
            corrections = _forgotten_together(db.database, target, corrections)
        if target.source is MemorySource.CHAT:
            changed = _forget_turns(db, target, now, by)
        elif now is None:
            changed = _restore(db, target)
        else:
            conversations.release(db, target.item)
            changed = facts.mark_forgotten(db, target.source, target.item, now, by)
        for identity in corrections if changed else ():
            facts.mark_forgotten(db, MemorySource.CORRECTION, identity, now, by)
        return changed


def _restore(db: MemoryDb, target: Target) -> bool:
    """Restore a memory or a correction. Call within a transaction.

    Return False if nothing changed, as for a memory that was remembered again meanwhile.
    """
    if not facts.may_return(db.database, target.item):
        return False
    if target.source is MemorySource.MEMORY:
        if newer := db.database.value("SELECT superseded_by FROM memories WHERE id = ?", (target.item,)):
            raise DonnaError(Reason.CONFLICT, f"memory:{newer} has replaced it", hint="remember it again if it is true")
        again = (
            "SELECT 1 FROM memories m JOIN memories o ON o.user_id = m.user_id AND o.content = m.content"
            " AND o.type = m.type AND o.id <> m.id AND o.forgotten_at IS NULL AND o.superseded_by = ''"
            " AND o.sensitive >= m.sensitive WHERE m.id = ?"
        )
        if db.database.value(again, (target.item,)):
            return False
    changed = facts.mark_forgotten(db, target.source, target.item, None)
    conversations.link(db, target.item)
    return changed


def _corrections_of(database: Database, target: Target) -> list[str]:
    """Return the ids of the corrections that quote a memory or turns, forgotten ones included."""
    if target.source is MemorySource.MEMORY:
        return facts.corrections_of_fact(database, target.item)
    if target.source is not MemorySource.CHAT:
        return []
    ((name, user),) = database.rows("SELECT name, user_id FROM sessions WHERE id = ?", (target.conversation,))
    items = database.rows("SELECT id, item FROM corrections WHERE user_id = ? AND item <> ''", (user,))
    return [identity for identity, item in items if _overlaps(target, name, item.removeprefix("chat:"))]


def _overlaps(target: Target, conversation: str, turns: str) -> bool:
    run = _RUN.fullmatch(turns)
    return bool(run and run[1] == conversation and int(run[2]) <= target.last and int(run[3]) >= target.first)


def _erase_in_drafts(db: MemoryDb, target: Target) -> None:
    """Erase the stored text and sources of drafts that quote a memory or turns. Their notes are left to the user.

    A draft that is not written yet is composed again. Of the text of others an empty line remains, since a draft
    without any is one of another device.
    """
    conversation = db.database.value("SELECT name FROM sessions WHERE id = ?", (target.conversation,))
    sql = (
        "SELECT d.id, p.value ->> 'path' FROM drafts d, json_each(iif(evidence = '', '{}', evidence), '$.passages') p"
        " WHERE p.value ->> 'source_type' = ?"
    )
    left = f"iif(state IN ('{DraftState.WAITING}', '{DraftState.APPROVED}', '{DraftState.REJECTED}'), char(10), '')"
    erased = f"UPDATE drafts SET original = {left}, answer = '', evidence = '' WHERE id = ?"  # noqa: S608
    for identity, path in db.database.rows(sql, (target.source,)):
        if path == target.item or _overlaps(target, conversation, path):
            db.database.run(erased, (identity,))


def _forgotten_together(database: Database, target: Target, corrections: Sequence[str]) -> list[str]:
    """Return those of some corrections that were forgotten at the same time as the memory or turns."""
    if target.source is MemorySource.CHAT:
        sql = "SELECT forgotten_at FROM turns WHERE session = ? AND number BETWEEN ? AND ?"
        times = database.column(sql, (target.conversation, target.first, target.last))
    else:
        times = database.column("SELECT forgotten_at FROM memories WHERE id = ?", (target.item,))
    known = set(times) - {None}
    at = "SELECT forgotten_at FROM corrections WHERE id = ?"
    return [identity for identity in corrections if database.value(at, (identity,)) in known]


def _forget_turns(db: MemoryDb, target: Target, now: float | None, by: str) -> bool:
    """Forget turns with the summary that quotes them, or restore both. Call within a transaction."""
    summary = _forgotten_with(db, target) if now is None else ""
    changed = conversations.mark_turns(db, target.conversation, target.first, target.last, forgotten_at=now, by=by) > 0
    if changed and now is not None:
        conversations.drop_summary(db, target.conversation, now, by)
    if summary and facts.may_return(db.database, summary):
        facts.mark_forgotten(db, MemorySource.MEMORY, summary, None)
        conversations.link(db, summary)
    elif summary:
        # Forget it with the next forgotten turn instead, so that it returns with the last.
        db.database.run(
            "UPDATE memories SET forgotten_at = coalesce((SELECT min(forgotten_at) FROM turns WHERE session = ?"
            " AND text <> '' AND forgotten_at >= memories.forgotten_at), forgotten_at) WHERE id = ?",
            (target.conversation, summary),
        )
    return changed


def _forgotten_with(db: MemoryDb, target: Target) -> str:
    """Return the latest summary that was forgotten with these turns, or an empty string."""
    found = db.database.value(
        "SELECT m.id FROM sessions s JOIN memories m ON m.user_id = s.user_id AND m.source_session_id = s.name"
        " JOIN turns t ON t.session = s.id AND t.forgotten_at = m.forgotten_at AND t.number BETWEEN ?2 AND ?3"
        " WHERE s.id = ?1 AND m.compression_source AND m.superseded_by = '' ORDER BY m.rowid DESC LIMIT 1",
        (target.conversation, target.first, target.last),
    )
    return str(found or "")


def has_session(database: Database, session: str) -> bool:
    """Check whether a session of an agent remembered, forgot or stored anything."""
    sql = (
        "SELECT 1 FROM memories WHERE ?1 IN (session_id, forgotten_by)"
        " UNION ALL SELECT 1 FROM corrections WHERE forgotten_by = ?1"
        " UNION ALL SELECT 1 FROM turns WHERE ?1 IN (added_by, forgotten_by) LIMIT 1"
    )
    return bool(database.value(sql, (session,)))


def undo_session(db: MemoryDb, session: str, now: float) -> SessionChange:
    """Restore what a session of an agent forgot, and forget what it remembered and the messages that it stored.

    What it remembered and forgot again stays forgotten. Summaries of the messages are forgotten with them.
    """
    with db.change():
        db.database.run("DELETE FROM meta WHERE key = ?", (_REDONE + session,))
        turns, messages = conversations.undo_turns_of(db, session, now)
        memories, corrections = (facts.forgotten_by(db.database, each, session) for each in ("memory", "correction"))
        for source, items in (("memory", memories), ("correction", corrections)):
            for item in filter(partial(facts.may_return, db.database), items):
                facts.set_column(db, source, item, "forgotten_at", None)
                conversations.link(db, item)
        forgotten = facts.forget_session(db, session, now)
        for chat in messages:
            conversations.drop_summary(db, chat, now, undone(session))
        restored = _recallable(db, memories) + len(corrections) + turns
    return SessionChange(forgotten, restored, sum(messages.values()))


def redo_session(db: MemoryDb, session: str, now: float, operations: Sequence[str] = ()) -> SessionChange:
    """Undo `undo_session`. What a person changed since stays as it is.

    `operations` are the ids of those on notes that were redone with it, for `undo_redone`.
    """
    with db.change():
        turns, messages = conversations.redo_turns_of(db, session, now)
        for chat in turns:
            conversations.drop_summary(db, chat, now, session)
        remembered = facts.remember_session(db, session)
        for item in remembered:
            conversations.link(db, item)
        forgotten = sum(turns.values())
        for source in ("memory", "correction"):
            for item in facts.forgotten_by(db.database, source, session, restored=True):
                conversations.release(db, item)
                forgotten += facts.set_column(db, source, item, "forgotten_at", now)
        change = SessionChange(forgotten, _recallable(db, remembered), sum(messages.values()))
        if operations and change != SessionChange():
            db.database.run("INSERT OR REPLACE INTO meta VALUES (?, ?)", (_REDONE + session, " ".join(operations)))
    return change


def undo_redone(db: MemoryDb, operations: Sequence[str], now: float) -> bool:
    """Undo the sessions that were redone with any of these operations. Return whether there were any."""
    rows = db.database.rows("SELECT key, value FROM meta WHERE key LIKE ?", (f"{_REDONE}%",))
    sessions = [key.removeprefix(_REDONE) for key, value in rows if not {*value.split()}.isdisjoint(operations)]
    for session in sessions:
        undo_session(db, session, now)
    return bool(sessions)


def _recallable(db: MemoryDb, memories: Sequence[str]) -> int:
    found = (facts.read_fact(db.database, fact) for fact in memories)
    return sum(fact is not None and not fact.compression_source for fact in found)


def forget_for_good(db: MemoryDb, target: Target, now: float) -> bool:
    """Erase the words from `memory.db` and its log, with the summaries of their conversation, and from the corrections
    and drafts that quote them. Return whether any were there.

    If another process is reading, the log is truncated by the next process that opens the memory (see
    `finish_erasures`). Deleting the backups is the caller's responsibility.
    """
    erasure_mark(db.database.path).touch(mode=0o600)
    with db.change():
        corrections = _corrections_of(db.database, target)
        _erase_in_drafts(db, target)
        if target.source is MemorySource.CHAT:
            erased = conversations.erase_turns(db, target.conversation, target.first, target.last, now) > 0
            for summary in conversations.summaries_of(db.database, target.conversation):
                _erase_in_drafts(db, Target(MemorySource.MEMORY, summary))
                conversations.release(db, summary)
                facts.erase(db, MemorySource.MEMORY, summary)
        else:
            conversations.release(db, target.item)
            erased = facts.erase(db, target.source, target.item)
        for identity in corrections:
            facts.erase(db, MemorySource.CORRECTION, identity)
    finish_erasures(db.database)
    return erased


def pin(db: MemoryDb, target: Target, *, pinned: bool) -> bool:
    """Pin a memory, so that it is recalled whatever its importance, or unpin it. Return whether it exists."""
    with db.change():
        if target.source is MemorySource.CHAT:
            return conversations.pin_turns(db, target.conversation, target.first, target.last, pinned=pinned) > 0
        return facts.set_column(db, target.source, target.item, "pinned", int(pinned))
