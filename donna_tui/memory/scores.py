"""Importance of the memories of one index: salience when they are stored, novelty once they have a vector.

The novelty of a memory is its cosine distance from the centroid of those that were there before it (seed 002 §1.5).
Private memories are not part of the centroid: what an agent recalls must not depend on them. The centroid is kept as a
sum of whole numbers: what is added and taken away again leaves no trace, in whatever order.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, TypeAlias

from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.index.packing import Vector, unpacked
from donna_tui.memories import Importance, Signal
from donna_tui.memory.salience import salience
from donna_tui.numeric import np
from donna_tui.records import dataclass
from donna_tui.text.tokens import TokenCounter

if TYPE_CHECKING:
    from numpy.typing import NDArray

STEPS = 2**24
"""A number in half precision, as vectors are stored, is a whole multiple of 2⁻²⁴ (IEEE 754)."""

AT_ONCE = 50
"""Sessions, or moments, whose scores are stored in one transaction."""

Total: TypeAlias = "NDArray[np.int64]"


def keep_scores(database: Database, document_id: str, document: Document, counter: TokenCounter) -> None:
    """Note the salience of a document's passages, where it is not known yet; novelty comes with the vectors."""
    rows = database.rows(
        "SELECT id, content, embed_hash FROM memory_chunks c WHERE document_id = ?"
        " AND NOT EXISTS (SELECT 1 FROM memory_scores WHERE chunk = c.id)",
        (document_id,),
    )
    scored = [(each, hashed, salience(content, counter)) for each, content, hashed in rows]
    database.run_many(
        "INSERT INTO memory_scores (chunk, user_id, embed_hash, salience, signals, counted) VALUES (?, ?, ?, ?, ?, ?)",
        [
            (each, document.user_id, hashed, found.salience, json.dumps(found.signals), not document.sensitive)
            for each, hashed, found in scored
        ],
    )


@dataclass(slots=True)
class Centroid:
    """The sum of a user's memory vectors, in steps of 2⁻²⁴, and how many they are."""

    total: Total
    count: int

    def novelty(self, vector: Vector) -> float:
        """Cosine distance from the centroid, from 0 to 1; 1 where there is none."""
        length = float(np.linalg.norm(self.total.astype(np.float64)))
        if not self.count or not length:
            return 1.0
        cosine = float(np.dot(self.total.astype(np.float64), vector.astype(np.float64))) / length
        return max(0.0, min(1.0, 1.0 - cosine))

    def add(self, vector: Vector) -> None:
        """One memory more."""
        self.total += in_steps(vector)
        self.count += 1

    def take(self, vector: Vector) -> None:
        """One memory less."""
        self.total -= in_steps(vector)
        self.count -= 1


def in_steps(vector: Vector) -> Total:
    """A stored vector as whole numbers."""
    steps: Total = np.rint(vector.astype(np.float64) * STEPS).astype(np.int64)
    return steps


def waiting(database: Database) -> bool:
    """Whether there is a memory whose vector is in and whose novelty is not known."""
    return bool(
        database.value(
            "SELECT 1 FROM memory_scores s JOIN memory_chunks c ON c.id = s.chunk"
            " WHERE s.novelty IS NULL AND c.embedding_version NOT IN ('', 'failed') LIMIT 1"
        )
    )


def score_waiting(database: Database) -> Iterator[int]:
    """Score all memories whose vectors are in, the oldest first, some at each step; how many each step scored.

    In the order of time a memory is as new as when it was said, whatever order it was imported or embedded in. What
    came in together is compared with what was there before all of it: the turns of a session, and what else has one
    time.
    """
    settle_departed(database)
    rows = database.rows(
        "SELECT s.chunk, s.user_id, d.source_type = 'chat', d.source_id, d.modified_at FROM memory_scores s"
        " JOIN memory_chunks c ON c.id = s.chunk JOIN memory_documents d ON d.id = c.document_id"
        " WHERE s.novelty IS NULL AND c.embedding_version NOT IN ('', 'failed')"
        " ORDER BY d.modified_at, d.source_type, d.source_id, c.chunk_index"
    )
    groups: dict[tuple[str, object], list[int]] = {}
    for chunk, user, is_chat, source_id, at in rows:
        together = source_id.rpartition(":")[0] if is_chat else at
        groups.setdefault((user, together), []).append(chunk)
    waiting_groups = [(user, chunks) for (user, _), chunks in groups.items()]
    for start in range(0, len(waiting_groups), AT_ONCE):
        with database.transaction():
            scored = _score(database, waiting_groups[start : start + AT_ONCE])
        yield scored


def _score(database: Database, groups: Sequence[tuple[str, list[int]]]) -> int:
    _settle(database)
    centroids: dict[str, Centroid] = {}
    scored = 0
    for user, chunks in groups:
        vectors = _vectors(database, chunks)
        if user not in centroids and vectors:
            centroids[user] = read_centroid(database, user, len(next(iter(vectors.values()))))
        for chunk, vector in vectors.items():
            novelty = centroids[user].novelty(vector)
            database.run("UPDATE memory_scores SET novelty = ? WHERE chunk = ?", (novelty, chunk))
        for vector in _counted(database, vectors):
            centroids[user].add(vector)
        scored += len(vectors)
    for user, centroid in centroids.items():
        _save(database, user, centroid)
    return scored


def _vectors(database: Database, chunks: Sequence[int]) -> dict[int, Vector]:
    """Of those that wait still; what was deleted since is left out."""
    rows = database.rows(
        "SELECT s.chunk, e.vector FROM memory_scores s JOIN embeddings e ON e.embed_hash = s.embed_hash"
        " WHERE s.novelty IS NULL AND s.chunk IN (SELECT value FROM json_each(?)) ORDER BY s.chunk",
        (json.dumps(chunks),),
    )
    return {chunk: unpacked(vector) for chunk, vector in rows}


def _counted(database: Database, vectors: Mapping[int, Vector]) -> list[Vector]:
    """Select the vectors that belong into the centroid, by their chunks."""
    rows = database.rows(
        "SELECT chunk FROM memory_scores WHERE counted AND chunk IN (SELECT value FROM json_each(?))",
        (json.dumps(list(vectors)),),
    )
    return [vectors[chunk] for (chunk,) in rows]


def read_centroid(database: Database, user_id: str, dim: int) -> Centroid:
    """The centroid of a user's memories as it is stored."""
    rows = database.rows("SELECT count, total FROM memory_centroids WHERE user_id = ?", (user_id,))
    if rows and len(rows[0][1]) == dim * 8:
        return Centroid(np.frombuffer(rows[0][1], dtype="<i8").copy(), rows[0][0])
    return Centroid(np.zeros(dim, dtype=np.int64), 0)


def _save(database: Database, user_id: str, centroid: Centroid) -> None:
    database.run(
        "INSERT OR REPLACE INTO memory_centroids VALUES (?, ?, ?)",
        (user_id, centroid.count, centroid.total.astype("<i8").tobytes()),
    )


def settle_departed(database: Database) -> None:
    """Take the memories that were deleted out of their centroids."""
    if database.value("SELECT 1 FROM memory_departed LIMIT 1"):
        with database.transaction():
            _settle(database)


def _settle(database: Database) -> None:
    rows = database.rows("SELECT user_id, vector FROM memory_departed")
    for user in {user for user, _ in rows}:
        gone = [vector for owner, vector in rows if owner == user]
        if any(vector is None for vector in gone):
            _recount(database, user)
            continue
        vectors = [unpacked(vector) for vector in gone]
        centroid = read_centroid(database, user, len(vectors[0]))
        for vector in vectors:
            centroid.take(vector)
        _save(database, user, centroid)
    if rows:
        database.run("DELETE FROM memory_departed")


def _recount(database: Database, user_id: str) -> None:
    """Add everything up anew, where a vector was gone before its memory."""
    centroid: Centroid | None = None
    for (stored,) in database.rows(
        "SELECT e.vector FROM memory_scores s JOIN embeddings e ON e.embed_hash = s.embed_hash"
        " WHERE s.user_id = ? AND s.novelty IS NOT NULL AND s.counted",
        (user_id,),
    ):
        vector = unpacked(stored)
        centroid = centroid or Centroid(np.zeros(len(vector), dtype=np.int64), 0)
        centroid.add(vector)
    if centroid:
        _save(database, user_id, centroid)
    else:
        database.run("DELETE FROM memory_centroids WHERE user_id = ?", (user_id,))


def importance_of(database: Database, chunk_ids: Sequence[str]) -> dict[str, Importance]:
    """The importance of passages, by their public ids; notes have none."""
    rows = database.rows(
        "SELECT c.chunk_id, s.salience, s.signals, s.novelty FROM json_each(?) asked"
        " CROSS JOIN memory_chunks c ON c.chunk_id = asked.value JOIN memory_scores s ON s.chunk = c.id",
        (json.dumps(chunk_ids),),
    )
    return {
        each: Importance(salient, tuple(Signal(signal) for signal in json.loads(signals)), novelty)
        for each, salient, signals, novelty in rows
    }
