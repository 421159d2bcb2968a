"""Conversations and their turns in `memory.db`: add without duplicates, read, forget, restore, pin and erase."""

from __future__ import annotations

import hashlib
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from donna_tui.index.database import Database
from donna_tui.memory.database import MemoryDb, undone
from donna_tui.memory.facts import mark_forgotten, set_column
from donna_tui.memory.suggestions import suggest
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import ConversationRow, Turn
from donna_tui.types.search import ME

PAGE = 1_000
"""Turns read per page, so that a conversation of any length takes bounded memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A message as received. `turn` is its number in the source; `mark` is the source's own id of it.

    A `counted` one has no such id: its mark is its words, and a counter distinguishes equal messages of a conversation.
    """

    conversation: str
    role: str
    speaker: str
    text: str
    at: float | None = None
    turn: int | None = None
    mark: str = ""
    counted: bool = False
    origin: str = ""
    title: str = ""


@dataclass(slots=True)
class Recorder:
    """Add turns to conversations in batches. The counts cover the conversations and turns seen so far.

    A turn belongs to the user that its source names (`origin`), unless `one_user` assigns all turns to `user_id`.
    """

    db: MemoryDb
    user_id: str = ME
    sensitive: bool = False
    one_user: bool = False
    added_by: str = ""
    """The session of the agent that stores the turns."""
    me: tuple[str, ...] = ()
    """The names of the owner, in chats with the names of their speakers."""
    added: int = 0
    known: int = 0
    conversations: set[int] = field(default_factory=set)
    _grown: set[int] = field(default_factory=set)
    _unmarked: Counter[tuple[int, bytes]] = field(default_factory=Counter)
    _counted: Counter[tuple[int, str]] = field(default_factory=Counter)

    def add(self, turns: Sequence[NewTurn]) -> None:
        """Add the turns that are not known yet, in one transaction that is durable when the method returns.

        The summary of a conversation that grows is forgotten, since it does not cover the new turns.
        """
        with self.db.change():
            touched = {conversation for conversation in map(self._add, turns) if conversation is not None}
            for conversation in touched:
                if conversation in self._grown:
                    drop_summary(self.db, conversation, time.time())
                self.db.database.run("UPDATE sessions SET closed = 0 WHERE id = ?", (conversation,))
                self.db.changed("chat", conversation)

    def known_turns(self, name: str, marks: Sequence[str]) -> tuple[int, list[int]]:
        """Return the key of a conversation (0 if there is none) and the numbers of its turns with these ids of the
        source, without forgotten ones.
        """
        conversation = find_conversation(self.db.database, name, self.user_id) or 0
        sql = "SELECT number FROM turns WHERE session = ? AND identity = ? AND forgotten_at IS NULL"
        found = (self.db.database.value(sql, (conversation, self._hash("mark", mark))) for mark in marks)
        return conversation, [number for number in found if number is not None]

    def close_conversations(self) -> None:
        """Close the conversations of these turns, so that the turns still buffered become memories."""
        with self.db.change():
            for conversation in sorted(self.conversations):
                close_conversation(self.db, conversation)

    def _add(self, turn: NewTurn) -> int | None:
        """Return the conversation if the turn is new or changes its title."""
        conversation, titled = self._conversation(turn)
        self.conversations.add(conversation)
        identity = self._identity(conversation, turn)
        database = self.db.database
        if self._has(conversation, identity):
            self.known += 1
            return conversation if titled else None
        self._grown.add(conversation)
        number = turn.turn
        taken = "SELECT 1 FROM turns WHERE session = ? AND number = ?"
        if number is None or number < 0 or database.value(taken, (conversation, number)):
            free = "SELECT coalesce(max(number), 0) + 1 FROM turns WHERE session = ?"
            number = int(database.value(free, (conversation,)))
        place = float(number if turn.turn is None else turn.turn)
        database.run(
            "INSERT INTO turns (session, identity, number, place, role, speaker, text, at, added_by)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (conversation, identity, number, place, turn.role, turn.speaker, turn.text, turn.at, self.added_by),
        )
        self.added += 1
        suggest(self.db, database.connection.last_insert_rowid(), turn.role, turn.speaker, turn.text, self.me)
        return conversation

    def _conversation(self, turn: NewTurn) -> tuple[int, bool]:
        """Return the id of a turn's conversation, created if needed, and whether its title or privacy changed.

        A private turn makes the whole conversation private, with its summaries. Two of one user with the same name but
        different origins are kept apart: the later one is stored as `origin/name`. One already stored under another
        user stays there.
        """
        user = self.user_id if self.one_user or not turn.origin else turn.origin
        for owner, name in dict.fromkeys(
            ((self.user_id, turn.conversation), (user, turn.conversation), (user, f"{turn.origin}/{turn.conversation}"))
        ):
            rows = self._stored(owner, name)
            if rows and rows[0][1] == turn.origin:
                break
            if not rows and owner == user:
                self.db.database.run(
                    "INSERT INTO sessions (user_id, name, origin, title, sensitive) VALUES (?, ?, ?, ?, ?)",
                    (user, name, turn.origin, turn.title, int(self.sensitive)),
                )
                return self.db.database.connection.last_insert_rowid(), True
        conversation, _, title, sensitive = rows[0]
        retitled = turn.title not in ("", title) and not _is_erased(self.db.database, conversation)
        now = turn.title if retitled else title, int(self.sensitive or sensitive)
        if now == (title, sensitive):
            return conversation, False
        self.db.database.run("UPDATE sessions SET title = ?, sensitive = ? WHERE id = ?", (*now, conversation))
        for summary in summaries_of(self.db.database, conversation) if self.sensitive else ():
            set_column(self.db, "memory", summary, "sensitive", 1)
        return conversation, True

    def _stored(self, owner: str, name: str) -> list[tuple[Any, ...]]:
        """Return the row of a conversation, as a list of at most one.

        An imported private one, `agent/…`, may be stored as `private/…` (`PRIVATE_SESSIONS`): an import finds it by the
        old name, an agent does not. One that has only turns of agents is another conversation.
        """
        sql = "SELECT id, origin, title, sensitive FROM sessions WHERE user_id = ? AND name = ?"
        rows = self.db.database.rows(sql, (owner, name))
        if not rows and not self.added_by and name.startswith("agent/"):
            sql += " AND sensitive AND EXISTS (SELECT 1 FROM turns WHERE session = sessions.id AND added_by = '')"
            rows = self.db.database.rows(sql, (owner, f"private/{name.removeprefix('agent/')}"))
        return rows

    def _identity(self, conversation: int, turn: NewTurn) -> bytes:
        """Return the identity by which duplicates are detected: the source's own id, else a hash of the whole turn.

        The hash is keyed, because a plain hash of a short erased text could be guessed. Turns without a number, an id
        or a time are also counted, so that saying “yes” twice is two turns.
        """
        if turn.counted:
            return self._counted_identity(conversation, turn.mark)
        if turn.mark:
            return self._hash("mark", turn.mark)
        fingerprint = self._hash("said", str(turn.turn), turn.speaker, turn.text, repr(turn.at))
        if turn.turn is not None or turn.at is not None:
            return fingerprint
        self._unmarked[conversation, fingerprint] += 1
        return fingerprint + self._unmarked[conversation, fingerprint].to_bytes(4, "big")

    def _counted_identity(self, conversation: int, words: str) -> bytes:
        """Return the identity of the next message with these words; after a new message, that of one that is not
        stored, since messages arrive in order.
        """
        while True:
            self._counted[conversation, words] += 1
            number = self._counted[conversation, words]
            identity = self._hash("mark", f"{words}\0{number}" if number > 1 else words)
            if conversation not in self._grown or not self._has(conversation, identity):
                return identity

    def _has(self, conversation: int, identity: bytes) -> bool:
        sql = "SELECT 1 FROM turns WHERE session = ? AND identity = ?"
        return bool(self.db.database.value(sql, (conversation, identity)))

    def _hash(self, *parts: str) -> bytes:
        data = "\0".join(parts).encode("utf-8", "replace")
        return hashlib.blake2b(data, digest_size=16, key=self.db.key).digest()


def close_conversation(db: MemoryDb, conversation: int) -> None:
    """Close a conversation. Call within a transaction."""
    if not db.database.value("SELECT closed FROM sessions WHERE id = ?", (conversation,)):
        db.database.run("UPDATE sessions SET closed = 1 WHERE id = ?", (conversation,))
        db.changed("chat", conversation)


def expire_conversations(db: MemoryDb, before: float) -> int:
    """Close the open conversations without a turn since `before` (Unix time). Return how many."""
    expired = db.database.column(
        "SELECT id FROM sessions s WHERE closed = 0 AND coalesce("
        "(SELECT max(at) FROM turns WHERE session = s.id), 0) < ?",
        (before,),
    )
    if expired:
        with db.change():
            for conversation in expired:
                close_conversation(db, conversation)
    return len(expired)


def read_conversation(database: Database, conversation: int) -> ConversationRow | None:
    rows = _conversations(database, "WHERE s.id = ?", (conversation,))
    return rows[0] if rows else None


def list_conversations(database: Database, user_id: str | None = ME) -> list[ConversationRow]:
    """Return all conversations of a user, or of everybody with None, the earliest first."""
    if user_id is None:
        return _conversations(database, "ORDER BY 4, s.id", ())
    return _conversations(database, "WHERE s.user_id = ? ORDER BY 4, s.id", (user_id,))


def users_of(database: Database) -> list[str]:
    return database.column("SELECT DISTINCT user_id FROM sessions ORDER BY user_id = ? DESC, 1", (ME,))


def _conversations(database: Database, where: str, parameters: tuple[object, ...]) -> list[ConversationRow]:
    rows = database.rows(
        "SELECT s.name, s.title, (SELECT count(*) FROM turns WHERE session = s.id AND forgotten_at IS NULL),"  # noqa: S608
        " (SELECT min(at) FROM turns WHERE session = s.id), (SELECT max(at) FROM turns WHERE session = s.id),"
        f" s.closed, s.sensitive, s.summary, s.user_id FROM sessions s {where}",
        parameters,
    )
    return [
        ConversationRow(
            name=name, title=title, turns=turns, started_at=started, last_at=last, closed=bool(closed),
            sensitive=bool(sensitive), summary=summary, user_id=user,
        )
        for name, title, turns, started, last, closed, sensitive, summary, user in rows
    ]  # fmt: skip


def find_conversation(database: Database, name: str, user_id: str = ME) -> int | None:
    found: int | None = database.value("SELECT id FROM sessions WHERE user_id = ? AND name = ?", (user_id, name))
    return found


def find_anyones_conversation(database: Database, name: str, user_id: str = ME) -> int | None:
    """Return the key of a conversation by its name, preferring this user's over another user's.

    Raises DonnaError (`usage`) if it is of several others.
    """
    rows = database.rows("SELECT id, user_id FROM sessions WHERE name = ? ORDER BY user_id", (name,))
    own = [key for key, user in rows if user == user_id]
    if len(rows) > 1 and not own:
        users = " or ".join(f"--user {user}" for _, user in rows)
        raise DonnaError(Reason.USAGE, f"several people have a conversation {name}", hint=f"say whose: {users}")
    found: int | None = next(iter(own or [key for key, _ in rows]), None)
    return found


def summaries_of(database: Database, conversation: int, *, forgotten: bool = True) -> list[str]:
    """Return the ids of all summaries that a conversation has or, with `forgotten`, had."""
    return database.column(
        "SELECT m.id FROM sessions s JOIN memories m ON m.user_id = s.user_id AND m.source_session_id = s.name"
        " WHERE s.id = ? AND m.compression_source AND (? OR m.forgotten_at IS NULL)",
        (conversation, forgotten),
    )


def drop_summary(db: MemoryDb, conversation: int, now: float, by: str = "") -> bool:
    """Forget every summary of a conversation. Call within a transaction. Return False if there is none."""
    summaries = summaries_of(db.database, conversation, forgotten=False)
    for summary in summaries:
        release(db, summary)
        mark_forgotten(db, "memory", summary, now, by)
    return bool(summaries)


def release(db: MemoryDb, summary: str) -> None:
    """Unlink a summary from its conversations. Call within a transaction."""
    for key in db.database.column("SELECT id FROM sessions WHERE summary = ?", (summary,)):
        db.database.run("UPDATE sessions SET summary = '' WHERE id = ?", (key,))
        db.changed("chat", key)


def link(db: MemoryDb, summary: str) -> None:
    """Link a restored summary to its conversation again, unless that has another one. Call within a transaction."""
    conversations = (
        "SELECT s.id FROM sessions s JOIN memories m ON s.user_id = m.user_id AND s.name = m.source_session_id"
        " WHERE m.id = ? AND m.compression_source AND s.summary = ''"
    )
    for key in db.database.column(conversations, (summary,)):
        db.database.run("UPDATE sessions SET summary = ? WHERE id = ?", (summary, key))
        db.changed("chat", key)


def speakers_of(database: Database, conversation: int) -> list[str]:
    return database.column(
        "SELECT speaker FROM turns WHERE session = ? AND text <> '' GROUP BY speaker ORDER BY min(place), min(number)",
        (conversation,),
    )


def read_turns(database: Database, conversation: int) -> Iterator[Turn]:
    """Iterate over the turns of a conversation that are not forgotten, in order."""
    after = (float("-inf"), -1)
    while True:
        rows = database.rows(
            "SELECT place, number, role, speaker, text, at, pinned FROM turns WHERE session = ?"
            " AND (place, number) > (?, ?) AND forgotten_at IS NULL ORDER BY place, number LIMIT ?",
            (conversation, *after, PAGE),
        )
        for _, number, role, speaker, text, at, pinned in rows:
            yield Turn(number=number, role=role, speaker=speaker, text=text, at=at, pinned=bool(pinned))
        if len(rows) < PAGE:
            return
        after = rows[-1][:2]


def mark_turns(
    db: MemoryDb, conversation: int, first: int, last: int, *, forgotten_at: float | None, by: str = ""
) -> int:
    """Forget turns, or restore them with None. Call within a transaction. Return how many changed.

    `by` is the session of an agent, which changes nothing that is forgotten already.
    """
    db.database.run(
        "UPDATE turns SET forgotten_at = iif(?1 IS NULL, NULL, coalesce(forgotten_at, ?1)), forgotten_by = ?2"
        " WHERE session = ?3 AND number BETWEEN ?4 AND ?5"
        " AND text <> '' AND (?2 = '' OR forgotten_at IS NULL)"
        " AND ((forgotten_at IS NULL) <> (?1 IS NULL) OR forgotten_by <> ?2)",
        (forgotten_at, by, conversation, first, last),
    )
    return db.changed_rows("chat", conversation)


_FORGOTTEN = "forgotten_by = :agent AND forgotten_at IS NOT NULL AND added_by <> :agent AND text <> ''"
_RESTORED = "forgotten_by = :agent AND forgotten_at IS NULL"
_ADDED = "added_by = :agent AND forgotten_at IS NULL"
_REMOVED = "forgotten_by = :undone AND text <> ''"


def undo_turns_of(db: MemoryDb, agent: str, now: float) -> tuple[int, dict[int, int]]:
    """Restore the turns that a session of an agent forgot, and forget those that it added. Call within a transaction.

    Return the number of restored ones, and of forgotten ones by conversation.
    """
    restored = _mark_where(db, _FORGOTTEN, agent, None, agent)
    return sum(restored.values()), _mark_where(db, _ADDED, agent, now, undone(agent))


def redo_turns_of(db: MemoryDb, agent: str, now: float) -> tuple[dict[int, int], dict[int, int]]:
    """Undo `undo_turns_of`. Call within a transaction.

    Return the numbers of forgotten ones and of restored ones by conversation.
    """
    return _mark_where(db, _RESTORED, agent, now, agent), _mark_where(db, _REMOVED, agent, None, "")


def _mark_where(db: MemoryDb, where: str, agent: str, at: float | None, by: str) -> dict[int, int]:
    values = {"agent": agent, "undone": undone(agent), "at": at, "by": by}
    rows = db.database.rows(f"SELECT session, count(*) FROM turns WHERE {where} GROUP BY session", values)  # noqa: S608
    db.database.run(f"UPDATE turns SET forgotten_at = :at, forgotten_by = :by WHERE {where}", values)  # noqa: S608
    for conversation, _ in rows:
        db.changed("chat", conversation)
    return dict(rows)


def pin_turns(db: MemoryDb, conversation: int, first: int, last: int, *, pinned: bool) -> int:
    """Pin or unpin turns. Call within a transaction. Return how many changed."""
    db.database.run(
        "UPDATE turns SET pinned = ? WHERE session = ? AND number BETWEEN ? AND ?",
        (int(pinned), conversation, first, last),
    )
    return db.changed_rows("chat", conversation)


def erase_turns(db: MemoryDb, conversation: int, first: int, last: int, now: float) -> int:
    """Erase the words of turns permanently, and the title of a conversation without others. Call within a transaction.

    The empty rows prevent a later import from adding the turns again.
    """
    db.database.run(
        "UPDATE turns SET text = '', speaker = '', pinned = 0, forgotten_at = ?"
        " WHERE session = ? AND number BETWEEN ? AND ?",
        (now, conversation, first, last),
    )
    erased = db.changed_rows("chat", conversation)
    if _is_erased(db.database, conversation):
        db.database.run("UPDATE sessions SET title = '' WHERE id = ?", (conversation,))
    return erased


def _is_erased(database: Database, conversation: int) -> bool:
    """Return whether a conversation has turns, none of which has words."""
    return bool(database.value("SELECT min(text = '') FROM turns WHERE session = ?", (conversation,)))
