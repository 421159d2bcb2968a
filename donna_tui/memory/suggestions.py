"""Preferences stated in chats ("I prefer dark roast"), offered to be remembered, and never stored automatically.

A suggestion is a range of characters in a turn, so that it disappears with the words of the turn.
"""

from __future__ import annotations

from collections.abc import Iterable

from donna_tui.index.database import Database
from donna_tui.memory.database import MemoryDb
from donna_tui.memory.facts import same_fact
from donna_tui.memory.preferences import preferences_in
from donna_tui.types.memory import MemoryType, Suggestion
from donna_tui.types.search import ME

OWNER = "user"
"""The role of the owner's turns, and the speaker of those without a name."""

OPEN, ACCEPTED, DISMISSED = "open", "accepted", "dismissed"


def suggest(db: MemoryDb, turn: int, role: str, speaker: str, text: str, me: Iterable[str] = ()) -> None:
    """Store the preferences in a new turn of the owner (`me` are the names) as suggestions. What other people prefer is
    not the owner's preference. Call within a transaction.
    """
    names = {part.casefold() for name in me for part in (name, *name.split()[:1])}
    if role != OWNER or speaker.casefold() not in {OWNER, *names}:
        return
    for start, end in preferences_in(text):
        db.database.run(
            "INSERT OR IGNORE INTO suggestions (turn, start, end, state) VALUES (?, ?, ?, ?)", (turn, start, end, OPEN)
        )


def list_suggestions(database: Database, limit: int) -> list[Suggestion]:
    """List the latest open suggestions. Those already remembered in the same words are left out."""
    rows = database.rows(
        "SELECT g.id, substr(t.text, g.start + 1, g.end - g.start), s.name, t.number, t.at, s.sensitive"
        " FROM suggestions g JOIN turns t ON t.id = g.turn JOIN sessions s ON s.id = t.session"
        " WHERE g.state = ? AND s.user_id = ? AND t.forgotten_at IS NULL AND t.text <> ''"
        " ORDER BY t.at DESC, g.id DESC",
        (OPEN, ME),
    )
    found: dict[str, Suggestion] = {}
    for identity, text, conversation, number, at, sensitive in rows:
        private = bool(sensitive)
        known = same_fact(database, ME, text, MemoryType.PROCEDURAL, sensitive=private)
        if len(found) < limit and not known:
            new = Suggestion(id=str(identity), text=text, session=conversation, turn=number, at=at, sensitive=private)
            found.setdefault(text, new)
    return list(found.values())


def answer_suggestion(db: MemoryDb, identity: str, state: str) -> Suggestion | None:
    """Mark a suggestion and its repetitions as accepted or dismissed. Call within a transaction.

    Return None if there is no such suggestion.
    """
    found = next((each for each in list_suggestions(db.database, 1_000) if each.id == identity), None)
    if found is None:
        return None
    db.database.run(
        "UPDATE suggestions SET state = ?1 WHERE state = ?2 AND EXISTS (SELECT 1 FROM turns t JOIN sessions s"
        " ON s.id = t.session WHERE t.id = turn AND s.user_id = ?3 AND substr(t.text, start + 1, end - start) = ?4)",
        (state, OPEN, ME, found.text),
    )
    return found
