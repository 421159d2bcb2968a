"""A real index in a temporary file, with vectors that a test can predict."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from donna_tui.index.database import Database, open_database
from donna_tui.index.documents import Document
from donna_tui.index.migrations import migrate
from donna_tui.index.store import MemoryStore
from donna_tui.index.vectors import Vector
from donna_tui.text.chunker import Chunk, chunk_markdown
from donna_tui.text.tokens import EstimatedTokens

DIM = 8
VERSION = "test@1"

Chunker = Callable[[Document], list[Chunk]]


def cut(document: Document) -> list[Chunk]:
    """Chunk a text without a model's tokenizer."""
    return chunk_markdown(
        document.text,
        start=document.body_start,
        title=document.title,
        counter=EstimatedTokens(),
        max_tokens=64,
        overlap=0,
    )


def note(path: str, text: str, **others: Any) -> Document:
    """Return a note as a document; its title is the name of its file."""
    values: dict[str, Any] = {"title": Path(path).stem, "uri": f"vault:{path}", **others}
    return Document(source_type=values.pop("source_type", "vault"), source_id=path, text=text, **values)


def vector_of(text: str) -> Vector:
    """Return a unit vector that only this text has."""
    seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
    return unit(np.random.default_rng(seed).normal(size=DIM))


def unit(values: Any) -> Vector:
    """Return the unit vector in this direction."""
    vector = np.asarray(values, dtype=np.float32)
    return vector / np.linalg.norm(vector)


QUESTION: Vector = unit(np.eye(DIM)[0])


def leaning(cosine: float, axis: int = 1) -> Vector:
    """Return a unit vector with the given cosine to the question."""
    return unit(cosine * np.eye(DIM)[0] + np.sqrt(1 - cosine**2) * np.eye(DIM)[axis])


def add(store: MemoryStore, path: str, text: str, vector: Vector | None = None) -> None:
    store.upsert(note(path, text))
    if vector is not None:
        store.store_vectors([(chunk.id, chunk.embed_hash, vector) for chunk in store.pending(50) if chunk.path == path])


def open_store(path: Path, chunk: Chunker = cut, *, vec: bool = True, version: str = VERSION) -> MemoryStore:
    """Open a store on the database at `path`; with `vec` False as on a machine on which sqlite-vec does not load."""
    database = open_database(path)
    if not vec:
        database = Database(database.connection, database.path, vec_available=False)
    migrate(database)
    store = MemoryStore(database, chunk)
    if version:
        store.use_embeddings(version, DIM)
    return store


def embed_all(store: MemoryStore) -> int:
    """Give every pending chunk its vector, as the embedding queue does. Return how many were computed."""
    computed = 0
    while batch := store.pending(100):
        fresh = store.attach_cached(batch)
        store.store_vectors([(chunk.id, chunk.embed_hash, vector_of(chunk.text)) for chunk in fresh])
        computed += len(fresh)
    return computed


def bytes_on_disk(folder: Path) -> bytes:
    """Return the bytes of all files below a folder."""
    return b"".join(path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file())
