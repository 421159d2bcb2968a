"""A memory and an index in temporary files, without an engine."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from donna_tui.config.models import ChatSourceConfig, MemoryConfig, SourcesConfig
from donna_tui.index.invocations import InputHash
from donna_tui.index.store import MemoryStore
from donna_tui.ingest.pipeline import IngestContext
from donna_tui.ingest.source import NoteChunker
from donna_tui.memory.changes import ChangeFollower
from donna_tui.memory.conversations import Recorder
from donna_tui.memory.database import MemoryDb, open_db
from donna_tui.memory.importers import Import
from donna_tui.memory.indexer import MemoryIndexer
from donna_tui.memory.splitter import TextSplitter
from donna_tui.platform.spaces import Space
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.events import EngineEvent, EventHub
from donna_tui.types.memory import ConversationRow, ImportReport, MemoryChunk, MemoryType, Turn
from donna_tui.types.search import MemorySource
from donna_tui.vault.client import VaultClient
from tests.git_vaults import write
from tests.unit.index_parts import open_store

CUT = TextSplitter(EstimatedTokens(), 256)
DAY = 86_400.0
START = 1_700_000_000.0


class Words:
    """Counts words as tokens, so that a test can count by hand."""

    name = "words"

    def count(self, text: str) -> int:
        return len(text.split())


def turn(number: int, text: str, role: str = "user", at: float | None = None, **others: Any) -> Turn:
    return Turn(number=number, role=role, speaker=others.pop("speaker", role), text=text, at=at, **others)


def conversation(name: str = "s1", **others: Any) -> ConversationRow:
    values: dict[str, Any] = {
        "title": "", "turns": 2, "started_at": START, "last_at": START, "closed": True, "sensitive": False, **others,
    }  # fmt: skip
    return ConversationRow(name=name, **values)


def memory(
    name: str, content: str, kind: MemoryType = MemoryType.EPISODIC, score: float = 0.0, **others: Any
) -> MemoryChunk:
    return MemoryChunk(
        id=f"memory:{name}", source=MemorySource.MEMORY, source_id=name, memory_type=kind, content=content, score=score,
        **others,
    )  # fmt: skip


def jsonl(path: Path, rows: Iterable[object]) -> Path:
    """Write a file with one JSON value on each line; bytes are written unchanged."""
    lines = (row if isinstance(row, bytes) else json.dumps(row).encode() for row in rows)
    path.write_bytes(b"".join(line + b"\n" for line in lines))
    return path


def chat_rows(session_id: str, *texts: str, **others: Any) -> list[dict[str, Any]]:
    """Return turns of a conversation between alternating speakers."""
    return [
        {"session_id": session_id, "turn": number, "role": ("assistant", "user")[number % 2], "text": text, **others}
        for number, text in enumerate(texts, 1)
    ]


def import_file(db: MemoryDb, path: Path, **recorder: Any) -> ImportReport:
    importing = Import(Recorder(db, **recorder))
    for _ in importing.run(path):
        continue
    return importing.report


def ingest_context(vault: Path, state: Path, hub: EventHub, **sources: Any) -> IngestContext:
    return IngestContext(
        space=Space("sandbox", vault, state),
        config=MemoryConfig(sources=SourcesConfig(**sources)),
        client=VaultClient(vault),
        chunker=NoteChunker(CUT.counter, CUT.window, overlap=0),
        hub=hub,
        input_hash=InputHash(b"key"),
        long_running=True,
        memory_indexer=MemoryIndexer,
    )


class Sandbox:
    """A state folder with a memory, an index and the follower between them."""

    def __init__(self, folder: Path, **sources: Any) -> None:
        self.folder, self.vault = folder / "state", folder / "vault"
        self.folder.mkdir(exist_ok=True)
        self.vault.mkdir(exist_ok=True)
        self.db = open_db(self.folder)
        self.store: MemoryStore = open_store(self.folder / "index-1.db")
        self.events: list[EngineEvent] = []
        hub = EventHub()
        hub.subscribe(self.events.append)
        self.client = VaultClient(self.vault)
        self.follower = ChangeFollower(ingest_context(self.vault, self.folder, hub, **sources), self.store)

    def follow(self) -> int:
        """Index all changes. Return the number of documents that were added or changed."""
        return sum(self.follower.follow())

    def sources(self) -> list[tuple[str, str]]:
        sql = "SELECT source_type, source_id FROM memory_documents ORDER BY source_type, source_id"
        return [(kind, source_id) for kind, source_id in self.store.database.rows(sql)]

    def ids(self, kind: str) -> list[str]:
        return [source_id for found, source_id in self.sources() if found == kind]

    def note(self, path: str, text: str) -> None:
        write(self.vault, path, text)

    def close(self) -> None:
        self.follower.close()
        self.store.database.close()
        self.db.close()


def sandboxes(folder: Path) -> Iterator[Sandbox]:
    sandbox = Sandbox(folder)
    yield sandbox
    sandbox.close()


def chat_config(**values: Any) -> ChatSourceConfig:
    return ChatSourceConfig(**values)
