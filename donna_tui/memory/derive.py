"""The documents that the rows of `memory.db` stand for in an index."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator

from donna_tui.config.models import SourcesConfig
from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.memories import ME
from donna_tui.memory.chat import ChatSource, title_of
from donna_tui.memory.conversations import find_session, read_session, read_turns, speakers_of
from donna_tui.memory.facts import read_correction, read_fact
from donna_tui.memory.passages import Cut
from donna_tui.memory.told import correction_document, fact_document
from donna_tui.text.chunker import Chunk

VERSION = "3"
"""Changes whenever the documents would be others than before."""

Made = Iterator[tuple[Document, list[Chunk]]]

_TABLES = {"chat": "sessions", "memory": "memories", "correction": "corrections"}


class Deriver:
    """Makes documents; keeps nothing."""

    def __init__(self, sources: SourcesConfig, cut: Cut) -> None:
        self._sources, self._cut = sources, cut
        self._chat = ChatSource(sources.chat, cut)

    @property
    def version(self) -> str:
        """What decides how rows become documents: other settings make other documents."""
        told = f"{self._sources.chat!r}{self._sources.corrections!r}{self._cut.counter.name}{self._cut.window}"
        return f"{VERSION}:{hashlib.sha256(told.encode()).hexdigest()[:16]}"

    def documents(self, book: Database, index: Database, source: str, item: str) -> tuple[str, str, Made]:
        """The user of an item, what the source ids of its documents begin with, and the documents it has now."""
        user = str(
            book.value(f"SELECT user_id FROM {_TABLES[source]} WHERE id = ?", (item,))  # noqa: S608
            or index.value(
                "SELECT user_id FROM memory_documents WHERE source_type = ? AND source_id = ?", (source, item)
            )
            or ME
        )
        if source == "chat":
            name = book.value("SELECT name FROM sessions WHERE id = ?", (item,))
            return user, f"{name}:", self._session(book, int(item), user)
        return user, item, self._told(book, source, item)

    def _session(self, book: Database, key: int, user: str) -> Made:
        session = read_session(book, key)
        if session and self._sources.chat.enabled:
            title = title_of(session, speakers_of(book, key))
            yield from self._chat.documents(session, title, read_turns(book, key), user)

    def _told(self, book: Database, source: str, item: str) -> Made:
        if source == "memory" and (fact := read_fact(book, item)):
            yield fact_document(fact, self._cut)
        if source == "correction" and self._sources.corrections.enabled and (found := read_correction(book, item)):
            yield correction_document(found, self._cut)

    @staticmethod
    def existing(index: Database, source: str, prefix: str, user: str) -> set[str]:
        """The source ids that an index has of an item. `;` is the character after `:`."""
        if source != "chat":
            wanted = "source_id = ?"
            parameters: tuple[str, ...] = (prefix,)
        else:
            wanted, parameters = "source_id >= ? AND source_id < ?", (prefix, f"{prefix[:-1]};")
        rows = index.rows(
            f"SELECT source_id FROM memory_documents WHERE user_id = ? AND source_type = ? AND {wanted}",  # noqa: S608
            (user, source, *parameters),
        )
        return {each for (each,) in rows if source != "chat" or ":" not in each[len(prefix) :]}

    @staticmethod
    def items(book: Database, source: str) -> list[str]:
        """All items of a source."""
        return [str(each) for (each,) in book.rows(f"SELECT id FROM {_TABLES[source]} ORDER BY id")]  # noqa: S608

    @staticmethod
    def holds(book: Database, source: str, source_id: str, user: str) -> bool:
        """Whether the item of a document is in this memory."""
        if source == "chat":
            return find_session(book, source_id.rpartition(":")[0], user) is not None
        return bool(book.value(f"SELECT 1 FROM {_TABLES[source]} WHERE id = ?", (source_id,)))  # noqa: S608
