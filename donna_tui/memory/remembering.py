"""`ingest`: a text that is told becomes memories (seed 002 §1)."""

from __future__ import annotations

from dataclasses import replace

from donna_tui.errors import DonnaError, Reason
from donna_tui.memories import ME, MemoryType
from donna_tui.memory.book import Book
from donna_tui.memory.cleaning import clean_text
from donna_tui.memory.facts import Fact, add_facts, held_preference, new_id, read_fact, same_fact
from donna_tui.memory.passages import Cut
from donna_tui.memory.routing import route
from donna_tui.records import dataclass

LONGEST_TEXT = 2_000_000


@dataclass(frozen=True, slots=True)
class Told:
    """What somebody wants remembered, and all they said about it."""

    text: str
    user_id: str = ME
    session_id: str = ""
    hint: MemoryType | None = None
    sensitive: bool = False
    pinned: bool = False


def remember(book: Book, told: Told, cut: Cut, now: float) -> list[Fact]:
    """Clean a text, cut it where its meaning does, find the type of each piece, and store them; the memories.

    What is remembered already is not stored twice. Embedding and scoring follow in the index. Raises DonnaError for a
    text without anything in it.
    """
    pieces = pieces_of(told.text, cut)
    known: list[Fact] = []
    fresh: list[Fact] = []
    for piece in pieces:
        kind = route(piece, told.hint)
        held = same_fact(book.database, told.user_id, piece, kind)
        fact = read_fact(book.database, held) if held else None
        if fact:
            known.append(fact)
        elif piece not in {each.content for each in fresh}:
            fresh.append(_fact(piece, kind, told, now))
    with book.change():
        add_facts(book, fresh)
    return [*known, *fresh]


def would_replace(book: Book, told: Told, cut: Cut) -> list[tuple[Fact, str]]:
    """The preferences that `remember` would replace, each with the text that would take its place."""
    found = []
    for piece in pieces_of(told.text, cut):
        if route(piece, told.hint) is MemoryType.PROCEDURAL:
            held = held_preference(book.database, told.user_id, piece, sensitive=told.sensitive)
            if held and held.content != piece:
                found.append((held, piece))
    return found


def pieces_of(text: str, cut: Cut) -> list[str]:
    """The pieces that a text is remembered in. Raises DonnaError for none, or too much."""
    if len(text) > LONGEST_TEXT:
        raise DonnaError(Reason.TOO_LARGE, f"the text has more than {LONGEST_TEXT:,} characters", hint="write a note")
    cleaned = clean_text(text)
    if not cleaned:
        raise DonnaError(Reason.USAGE, "there is nothing to remember")
    return [cleaned[low:high] for low, high in cut.spans(cleaned)]


def replace_fact(book: Book, identity: str, wrong: str, right: str, cut: Cut, now: float) -> list[Fact]:
    """Let a remembered fact say something else; what it said stays, superseded.

    What a person put right is theirs from then on: it is of no session, and goes with none that is taken back.
    Only `wrong` is replaced, or all of the fact if that is empty; where `wrong` is not in it, nothing is. Raises
    DonnaError (`missing`).
    """
    old = read_fact(book.database, identity)
    if old is None:
        raise DonnaError(Reason.MISSING, f"there is no memory {identity}")
    content = old.content.replace(wrong, right, 1) if wrong else right
    if content == old.content:
        return [old]
    pieces = pieces_of(content, cut)
    fresh = [replace(old, id=new_id(), content=piece, created_at=now, session_id="") for piece in pieces]
    with book.change():
        book.database.run("UPDATE memories SET superseded_by = ? WHERE id = ?", (fresh[0].id, old.id))
        book.database.run("DELETE FROM procedural WHERE memory = ?", (old.id,))
        book.changed("memory", old.id)
        add_facts(book, fresh)
    return fresh


def _fact(content: str, kind: MemoryType, told: Told, now: float) -> Fact:
    return Fact(
        id=new_id(),
        type=kind,
        content=content,
        created_at=now,
        user_id=told.user_id,
        session_id=told.session_id,
        sensitive=told.sensitive,
        pinned=told.pinned,
    )
