"""Derive the documents of the memory from the rows of `memory.db`."""

from __future__ import annotations

from collections.abc import Iterator

from donna_tui.config.models import SourcesConfig
from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.memory.chat import ChatSource, title_of
from donna_tui.memory.conversations import find_conversation, read_conversation, read_turns, speakers_of
from donna_tui.memory.facts import correction_document, fact_document, read_correction, read_fact
from donna_tui.memory.splitter import TextSplitter
from donna_tui.text.chunker import Chunk
from donna_tui.types.search import ME

Made = Iterator[tuple[Document, list[Chunk]]]

TABLES = {"chat": "sessions", "memory": "memories", "correction": "corrections"}
"""The table of each source."""


class Deriver:
    def __init__(self, sources: SourcesConfig, splitter: TextSplitter) -> None:
        self._sources, self._splitter = sources, splitter
        self._chat = ChatSource(sources.chat, splitter)

    def documents(self, db: Database, index: Database, source: str, item: str) -> tuple[str, str, Made]:
        """Return the user of an item, the prefix of its documents' source ids, and its current documents."""
        user = str(
            db.value(f"SELECT user_id FROM {TABLES[source]} WHERE id = ?", (item,))  # noqa: S608
            or index.value(
                "SELECT user_id FROM memory_documents WHERE source_type = ? AND source_id = ?", (source, item)
            )
            or ME
        )
        if source == "chat":
            name = db.value("SELECT name FROM sessions WHERE id = ?", (item,))
            return user, f"{name}:", self._made(db, source, item, user)
        return user, item, self._made(db, source, item, user)

    def _made(self, db: Database, source: str, item: str, user: str) -> Made:
        if source == "memory" and (fact := read_fact(db, item)):
            yield fact_document(fact, self._splitter)
        if source == "correction" and self._sources.corrections.enabled and (found := read_correction(db, item)):
            yield correction_document(found, self._splitter)
        if source == "chat" and self._sources.chat.enabled and (conversation := read_conversation(db, int(item))):
            title = title_of(conversation, speakers_of(db, int(item)))
            numbers = db.column("SELECT number FROM turns WHERE session = ? ORDER BY number", (item,))
            yield from self._chat.documents(conversation, title, read_turns(db, int(item)), numbers, user)

    @staticmethod
    def existing(index: Database, source: str, prefix: str, user: str) -> set[str]:
        """Return the source ids that an index has of an item. `;` is the character after `:`."""
        is_chat = source == "chat"
        wanted = "source_id >= ? AND source_id < ?" if is_chat else "source_id = ?"
        known = index.column(
            f"SELECT source_id FROM memory_documents WHERE user_id = ? AND source_type = ? AND {wanted}",  # noqa: S608
            (user, source, prefix, *([f"{prefix[:-1]};"] if is_chat else [])),
        )
        return {each for each in known if not is_chat or ":" not in each[len(prefix) :]}

    @staticmethod
    def items(db: Database, source: str) -> list[str]:
        return list(map(str, db.column(f"SELECT id FROM {TABLES[source]} ORDER BY id")))  # noqa: S608

    @staticmethod
    def holds(db: Database, source: str, source_id: str, user: str) -> bool:
        if source == "chat":
            return find_conversation(db, source_id.rpartition(":")[0], user) is not None
        return bool(db.value(f"SELECT 1 FROM {TABLES[source]} WHERE id = ?", (source_id,)))  # noqa: S608
