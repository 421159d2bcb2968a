"""Sessions and their turns in `memory.db`: added without duplicates, read in order, forgotten and brought back."""

from __future__ import annotations

import hashlib
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from donna_tui.index.database import Database
from donna_tui.memory.database import MemoryDb
from donna_tui.memory.suggestions import suggest
from donna_tui.types.memory import ME, SessionRow, Turn

PAGE = 1_000
"""Turns that are read at once: a session of any length takes bounded memory."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NewTurn:
    """A message as it came in. `turn` is the place that its source gives it; `mark` is the source's own id of it."""

    session: str
    role: str
    speaker: str
    text: str
    at: float | None = None
    turn: int | None = None
    mark: str = ""
    origin: str = ""
    title: str = ""


@dataclass(slots=True)
class Recorder:
    """Adds turns to sessions, some at a time. The counts are those of the sessions and turns seen so far.

    A turn belongs to the user that its source names (`origin`), unless `one_user` says that all are `user_id`'s.
    """

    db: MemoryDb
    user_id: str = ME
    sensitive: bool = False
    one_user: bool = False
    added: int = 0
    known: int = 0
    sessions: set[int] = field(default_factory=set)
    _unmarked: Counter[tuple[int, bytes]] = field(default_factory=Counter)

    def add(self, turns: Sequence[NewTurn]) -> None:
        """Add turns that are not known yet, all or none of them. When it returns they are on the disk."""
        with self.db.change():
            touched = {session for session in map(self._add, turns) if session is not None}
            for session in touched:
                self.db.database.run("UPDATE sessions SET closed = 0 WHERE id = ?", (session,))
                self.db.changed("chat", session)

    def close_sessions(self) -> None:
        """The sessions of these turns are complete: what is still in their buffers becomes a memory."""
        with self.db.change():
            for session in sorted(self.sessions):
                close_session(self.db, session)

    def _add(self, turn: NewTurn) -> int | None:
        """The session, if the turn is new or tells a title."""
        session, titled = self._session(turn)
        self.sessions.add(session)
        identity = self._identity(session, turn)
        database = self.db.database
        if database.value("SELECT 1 FROM turns WHERE session = ? AND identity = ?", (session, identity)):
            self.known += 1
            return session if titled else None
        number = _free_number(database, session, turn.turn)
        place = float(number if turn.turn is None else turn.turn)
        database.run(
            "INSERT INTO turns (session, identity, number, place, role, speaker, text, at)"
            " VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
            (session, identity, number, place, turn.role, turn.speaker, turn.text, turn.at),
        )
        self.added += 1
        suggest(self.db, database.connection.last_insert_rowid(), turn.role, turn.speaker, turn.text)
        return session

    def _session(self, turn: NewTurn) -> tuple[int, bool]:
        """The id of a turn's session, which is made if need be, and whether its title is news.

        Of one user, sessions of one name from two origins are told apart: the later one is kept as `origin/name`. What
        was stored under another user already stays there.
        """
        user = self.user_id if self.one_user or not turn.origin else turn.origin
        for owner, name in dict.fromkeys(
            ((self.user_id, turn.session), (user, turn.session), (user, f"{turn.origin}/{turn.session}"))
        ):
            rows = self.db.database.rows(
                "SELECT id, origin, title FROM sessions WHERE user_id = ? AND name = ?", (owner, name)
            )
            if rows and rows[0][1] == turn.origin:
                break
            if not rows and owner == user:
                return self._new_session(user, name, turn), True
        session, _, title = rows[0]
        news = bool(turn.title) and turn.title != title
        if news:
            self.db.database.run("UPDATE sessions SET title = ? WHERE id = ?", (turn.title, session))
        return session, news

    def _new_session(self, user: str, name: str, turn: NewTurn) -> int:
        database = self.db.database
        database.run(
            "INSERT INTO sessions (user_id, name, origin, title, sensitive) VALUES (?, ?, ?, ?, ?)",
            (user, name, turn.origin, turn.title, int(self.sensitive)),
        )
        return database.connection.last_insert_rowid()

    def _identity(self, session: int, turn: NewTurn) -> bytes:
        """What makes a turn the same one when it comes again: its source's own id of it, else all that it says.

        The hash is keyed, since a plain one of a short text that was erased could be guessed. Only turns without a
        number, an id or a time are counted: saying “yes” twice is two turns.
        """
        if turn.mark:
            return self._hash("mark", turn.mark)
        said = self._hash("said", str(turn.turn), turn.speaker, turn.text, repr(turn.at))
        if turn.turn is not None or turn.at is not None:
            return said
        self._unmarked[session, said] += 1
        return said + self._unmarked[session, said].to_bytes(4, "big")

    def _hash(self, *parts: str) -> bytes:
        data = "\0".join(parts).encode("utf-8", "replace")
        return hashlib.blake2b(data, digest_size=16, key=self.db.key).digest()


def _free_number(database: Database, session: int, wanted: int | None) -> int:
    taken = "SELECT 1 FROM turns WHERE session = ? AND number = ?"
    if wanted is not None and wanted >= 0 and not database.value(taken, (session, wanted)):
        return wanted
    return int(database.value("SELECT coalesce(max(number), 0) + 1 FROM turns WHERE session = ?", (session,)))


def close_session(db: MemoryDb, session: int) -> None:
    """Within a transaction: nothing more is expected of a session now."""
    if not db.database.value("SELECT closed FROM sessions WHERE id = ?", (session,)):
        db.database.run("UPDATE sessions SET closed = 1 WHERE id = ?", (session,))
        db.changed("chat", session)


def expire_sessions(db: MemoryDb, before: float) -> int:
    """Close the open sessions in which nobody has said anything since `before` (Unix time). Returns how many."""
    rows = db.database.rows(
        "SELECT id FROM sessions s WHERE closed = 0 AND coalesce("
        "(SELECT max(at) FROM turns WHERE session = s.id), 0) < ?",
        (before,),
    )
    if rows:
        with db.change():
            for (session,) in rows:
                close_session(db, session)
    return len(rows)


def read_session(database: Database, session: int) -> SessionRow | None:
    """One session by its key, or None."""
    rows = _sessions(database, "WHERE s.id = ?", (session,))
    return rows[0] if rows else None


def list_sessions(database: Database, user_id: str | None = ME) -> list[SessionRow]:
    """All sessions of a user, or with None of everybody, those that began first at the beginning."""
    if user_id is None:
        return _sessions(database, "ORDER BY 4, s.id", ())
    return _sessions(database, "WHERE s.user_id = ? ORDER BY 4, s.id", (user_id,))


def users_of(database: Database) -> list[str]:
    """The users who have sessions."""
    return [
        user for (user,) in database.rows("SELECT DISTINCT user_id FROM sessions ORDER BY user_id = ? DESC, 1", (ME,))
    ]


def _sessions(database: Database, where: str, parameters: tuple[object, ...]) -> list[SessionRow]:
    rows = database.rows(
        "SELECT s.name, s.title, (SELECT count(*) FROM turns WHERE session = s.id AND forgotten_at IS NULL),"  # noqa: S608
        " (SELECT min(at) FROM turns WHERE session = s.id), (SELECT max(at) FROM turns WHERE session = s.id),"
        f" s.closed, s.sensitive, s.summary, s.user_id FROM sessions s {where}",
        parameters,
    )
    return [
        SessionRow(
            name=name, title=title, turns=turns, started_at=started, last_at=last, closed=bool(closed),
            sensitive=bool(sensitive), summary=summary, user_id=user,
        )
        for name, title, turns, started, last, closed, sensitive, summary, user in rows
    ]  # fmt: skip


def find_session(database: Database, name: str, user_id: str = ME) -> int | None:
    """The key of a session, or None."""
    found: int | None = database.value("SELECT id FROM sessions WHERE user_id = ? AND name = ?", (user_id, name))
    return found


def find_anyones_session(database: Database, name: str, user_id: str = ME) -> int | None:
    """The key of a session of this name: this user's if there is one, else another user's."""
    sql = "SELECT id FROM sessions WHERE name = ? ORDER BY user_id = ? DESC, id LIMIT 1"
    found: int | None = database.value(sql, (name, user_id))
    return found


def speakers_of(database: Database, session: int) -> list[str]:
    """Who speaks in a session, in the order of their first words."""
    rows = database.rows(
        "SELECT speaker FROM turns WHERE session = ? AND text <> '' GROUP BY speaker ORDER BY min(place), min(number)",
        (session,),
    )
    return [speaker for (speaker,) in rows]


def read_turns(database: Database, session: int) -> Iterator[Turn]:
    """The turns of a session that are not forgotten, in order."""
    after = (float("-inf"), -1)
    while True:
        rows = database.rows(
            "SELECT place, number, role, speaker, text, at, pinned FROM turns WHERE session = ?"
            " AND (place, number) > (?, ?) AND forgotten_at IS NULL ORDER BY place, number LIMIT ?",
            (session, *after, PAGE),
        )
        for _, number, role, speaker, text, at, pinned in rows:
            yield Turn(number=number, role=role, speaker=speaker, text=text, at=at, pinned=bool(pinned))
        if len(rows) < PAGE:
            return
        after = rows[-1][:2]


def mark_turns(db: MemoryDb, session: int, first: int, last: int, *, forgotten_at: float | None) -> int:
    """Within a transaction: forget turns, or bring them back with None. Returns how many changed."""
    return _update(db, session, first, last, "forgotten_at", forgotten_at, erased_too=False)


def pin_turns(db: MemoryDb, session: int, first: int, last: int, *, pinned: bool) -> int:
    """Within a transaction: pin turns, or unpin them."""
    return _update(db, session, first, last, "pinned", int(pinned), erased_too=True)


def _update(db: MemoryDb, session: int, first: int, last: int, column: str, value: object, *, erased_too: bool) -> int:
    only = "" if erased_too else " AND text <> ''"
    db.database.run(
        f"UPDATE turns SET {column} = ? WHERE session = ? AND number BETWEEN ? AND ?{only}",  # noqa: S608
        (value, session, first, last),
    )
    changed = db.database.connection.changes()
    if changed:
        db.changed("chat", session)
    return changed


def erase_turns(db: MemoryDb, session: int, first: int, last: int, now: float) -> int:
    """Within a transaction: take the words of turns away for good. What remains keeps an import from bringing them
    back.
    """
    db.database.run(
        "UPDATE turns SET text = '', speaker = '', pinned = 0, forgotten_at = ?"
        " WHERE session = ? AND number BETWEEN ? AND ?",
        (now, session, first, last),
    )
    changed = db.database.connection.changes()
    if changed:
        db.changed("chat", session)
    return changed


def all_sessions(database: Database) -> Iterable[int]:
    """The keys of all sessions."""
    return [each for (each,) in database.rows("SELECT id FROM sessions ORDER BY id")]
