"""Score the importance of memories: salience when they are stored, novelty when they are embedded.

Salience is the sum of weighted signals, which are rules rather than a model: a library for named-entity recognition
needs its own model, is larger than all of Donna, and does no better on short chat messages. docs/memory.md has the
reasons and the limits.

Novelty is the cosine distance of a memory from the centroid of the earlier ones. Private memories are not part of the
centroid, so that what an agent recalls does not depend on them. The centroid is kept as a sum of integers, so that
adding and removing a vector in any order restores it exactly.

Example, with three memories of two dimensions, one after the other:

    (1, 0)       no centroid yet              novelty 1
    (0.6, 0.8)   sum (1, 0),     cosine 0.6   novelty 0.4
    (0.6, 0.8)   sum (1.6, 0.8), cosine 0.89  novelty 0.11

The third repeats the second, but is also compared with the first, so its novelty is not 0.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.index.vectors import HAS_VECTOR, Vector, unpacked
from donna_tui.memory.preferences import preferences_in
from donna_tui.platform.lazy import np
from donna_tui.text.dates import MONTHS, WEEKDAYS
from donna_tui.text.tokens import TokenCounter
from donna_tui.text.words import STOP_WORDS
from donna_tui.types.memory import Importance, Signal

if TYPE_CHECKING:
    from numpy.typing import NDArray


WEIGHTS = {Signal.ENTITY: 0.3, Signal.NUMBER: 0.2, Signal.PREFERENCE: 0.4, Signal.RARE: 0.1}
"""The weight of each signal; their sum is 1.0."""

RARE_AVERAGE = 0.15
"""Minimum average from which the words of a text count as rare. A word counts 1 if the tokenizer, whose vocabulary is
the most frequent pieces of English, splits it into three pieces or more.
"""

RARE_PIECES = 3
SCORED_CHARS = 4_000
"""Characters of a text that are examined."""

_NUMBER = re.compile(
    rf"\d|\b(?:{'|'.join((*WEEKDAYS, *(name for name in MONTHS if name not in ('March', 'May'))))})\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…]|\n)[\s\"'“”‘’(\[*_>#•-]*\Z")
_CALENDAR = frozenset(word for name in (*WEEKDAYS, *MONTHS) for word in (name.lower(), name[:3].lower()))
_NO_NAMES = frozenset("i i'm i'll i've i'd i’m i’ll i’ve i’d ok okay mr mrs ms dr prof".split())
_TITLES = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sir|Dame)\.? [^\W\d_a-z]")
_MIXED = re.compile(r"\b(?:[a-z]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*|[A-Z]{2,6})\b")
"""Products and companies: GitHub, iPhone, AWS."""


def salience(text: str, counter: TokenCounter) -> Importance:
    """Return the signals in a text and the sum of their weights, from 0 to 1."""
    head = text[:SCORED_CHARS]
    stated = {
        Signal.ENTITY: names_something(head),
        Signal.NUMBER: _NUMBER.search(head),
        Signal.PREFERENCE: any(preferences_in(head)),
        Signal.RARE: rarity(head, counter) >= RARE_AVERAGE,
    }
    signals = tuple(signal for signal, present in stated.items() if present)
    return Importance(round(sum((WEIGHTS[signal] for signal in signals), 0.0), 10), signals)


def names_something(text: str) -> bool:
    """Return whether a text contains the name of a person, an organisation, a place or a product.

    A capitalised word is a name inside a sentence, or at its start if another one follows. Days and months are not
    names.
    """
    if _TITLES.search(text) or any(not _is_ordinary(found.group()) for found in _MIXED.finditer(text)):
        return True
    words = list(_WORD.finditer(text))
    for number, found in enumerate(words):
        if not _could_be_name(found.group()):
            continue
        if not _SENTENCE_START.search(text, max(0, found.start() - 12), found.start()) and found.start() > 0:
            return True
        following = words[number + 1] if number + 1 < len(words) else None
        if following and following.start() == found.end() + 1 and _could_be_name(following.group()):
            return True
    return False


def rarity(text: str, counter: TokenCounter) -> float:
    """Return the share of rare words among those that carry meaning, from 0 to 1."""
    words = [word for word in (match.group() for match in _WORD.finditer(text)) if word.lower() not in STOP_WORDS]
    if not words:
        return 0.0
    return sum(len(counter.spans(word)) >= RARE_PIECES for word in words) / len(words)


def _could_be_name(word: str) -> bool:
    return word[0].isupper() and not _is_ordinary(word) and len(word) > 1


def _is_ordinary(word: str) -> bool:
    folded = word.lower()
    return folded in STOP_WORDS or folded in _NO_NAMES or folded in _CALENDAR


STEPS = 2**24
"""Fixed-point scale: a half-precision number, as vectors are stored, is an integer multiple of 2⁻²⁴ (IEEE 754)."""

AT_ONCE = 50
"""Conversations, or moments, whose scores are stored in one transaction."""

Total: TypeAlias = "NDArray[np.int64]"


def store_scores(database: Database, document_id: str, document: Document, counter: TokenCounter) -> None:
    """Store the salience of a document's passages that have none yet; novelty is added after embedding."""
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
    """The sum of a user's memory vectors, in steps of 2⁻²⁴, and their number."""

    total: Total
    count: int

    def novelty(self, vector: Vector) -> float:
        """Return the cosine distance of a vector from the centroid, from 0 to 1; 1 if there is no centroid."""
        length = float(np.linalg.norm(self.total.astype(np.float64)))
        if not self.count or not length:
            return 1.0
        cosine = float(np.dot(self.total.astype(np.float64), vector.astype(np.float64))) / length
        return max(0.0, min(1.0, 1.0 - cosine))

    def add(self, vector: Vector) -> None:
        self.total += in_steps(vector)
        self.count += 1

    def subtract(self, vector: Vector) -> None:
        self.total -= in_steps(vector)
        self.count -= 1


def in_steps(vector: Vector) -> Total:
    steps: Total = np.rint(vector.astype(np.float64) * STEPS).astype(np.int64)
    return steps


def score_waiting(database: Database) -> Iterator[int]:
    """Score the novelty of all embedded memories, the oldest first; yield the number scored after each transaction.

    The order of time makes novelty independent of the order of import and embedding. Memories of one moment, and the
    turns of one conversation, are compared only with what came before all of them.
    """
    finish_deletions(database)
    rows = database.rows(
        "SELECT s.chunk, s.user_id, d.source_type = 'chat', d.source_id, d.modified_at FROM memory_scores s"  # noqa: S608
        " JOIN memory_chunks c ON c.id = s.chunk JOIN memory_documents d ON d.id = c.document_id"
        f" WHERE s.novelty IS NULL AND c.{HAS_VECTOR}"
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
    _subtract_deleted(database)
    centroids: dict[str, Centroid] = {}
    scored = 0
    for user, chunks in groups:
        vectors = _vectors(database, chunks)
        if user not in centroids and vectors:
            centroids[user] = read_centroid(database, user, len(next(iter(vectors.values()))))
        for chunk, vector in vectors.items():
            novelty = centroids[user].novelty(vector)
            database.run("UPDATE memory_scores SET novelty = ? WHERE chunk = ?", (novelty, chunk))
        counted = "SELECT chunk FROM memory_scores WHERE counted AND chunk IN (SELECT value FROM json_each(?))"
        for chunk in database.column(counted, (json.dumps(list(vectors)),)):
            centroids[user].add(vectors[chunk])
        scored += len(vectors)
    for user, centroid in centroids.items():
        _save(database, user, centroid)
    return scored


def _vectors(database: Database, chunks: Sequence[int]) -> dict[int, Vector]:
    """Read the vectors of passages that have no novelty yet; those deleted meanwhile are left out."""
    rows = database.rows(
        "SELECT s.chunk, e.vector FROM memory_scores s JOIN embeddings e ON e.embed_hash = s.embed_hash"
        " WHERE s.novelty IS NULL AND s.chunk IN (SELECT value FROM json_each(?)) ORDER BY s.chunk",
        (json.dumps(chunks),),
    )
    return {chunk: unpacked(vector) for chunk, vector in rows}


def read_centroid(database: Database, user_id: str, dim: int) -> Centroid:
    rows = database.rows("SELECT count, total FROM memory_centroids WHERE user_id = ?", (user_id,))
    if rows and len(rows[0][1]) == dim * 8:
        return Centroid(np.frombuffer(rows[0][1], dtype="<i8").copy(), rows[0][0])
    return Centroid(np.zeros(dim, dtype=np.int64), 0)


def _save(database: Database, user_id: str, centroid: Centroid) -> None:
    total = centroid.total.astype("<i8").tobytes()
    database.run("INSERT OR REPLACE INTO memory_centroids VALUES (?, ?, ?)", (user_id, centroid.count, total))


def finish_deletions(database: Database) -> None:
    with database.transaction():
        _subtract_deleted(database)


def _subtract_deleted(database: Database) -> None:
    rows = database.rows("SELECT user_id, vector FROM memory_departed")
    for user in {user for user, _ in rows}:
        removed = [vector for owner, vector in rows if owner == user]
        if any(vector is None for vector in removed):
            _recount(database, user)
            continue
        vectors = [unpacked(vector) for vector in removed]
        centroid = read_centroid(database, user, len(vectors[0]))
        for vector in vectors:
            centroid.subtract(vector)
        _save(database, user, centroid)
    if rows:
        database.run("DELETE FROM memory_departed")


def _recount(database: Database, user_id: str) -> None:
    """Recompute the centroid, if a vector was deleted before its memory."""
    database.run("DELETE FROM memory_centroids WHERE user_id = ?", (user_id,))
    vectors = database.column(
        "SELECT e.vector FROM memory_scores s JOIN embeddings e ON e.embed_hash = s.embed_hash"
        " WHERE s.user_id = ? AND s.novelty IS NOT NULL AND s.counted",
        (user_id,),
    )
    if vectors:
        centroid = read_centroid(database, user_id, len(unpacked(vectors[0])))
        for vector in vectors:
            centroid.add(unpacked(vector))
        _save(database, user_id, centroid)


def importance_of(database: Database, chunk_ids: Sequence[str]) -> dict[str, Importance]:
    """Return the importance of passages, by their public ids; passages of notes have none."""
    rows = database.rows(
        "SELECT c.chunk_id, s.salience, s.signals, s.novelty FROM json_each(?) asked"
        " CROSS JOIN memory_chunks c ON c.chunk_id = asked.value JOIN memory_scores s ON s.chunk = c.id",
        (json.dumps(chunk_ids),),
    )
    return {
        each: Importance(salient, tuple(Signal(signal) for signal in json.loads(signals)), novelty)
        for each, salient, signals, novelty in rows
    }
