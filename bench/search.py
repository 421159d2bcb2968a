"""Measure searches in large indexes of real texts and vectors, repeated with noise, with and without filters."""

from __future__ import annotations

import asyncio
import os
import random
import tempfile
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.program import needed_model, peak_mb
from bench.report import (
    Report,
    arguments,
    eval_folder,
    eval_questions,
    finish,
    median,
    milliseconds,
    percentile,
    stopwatch,
)
from donna_tui.config.models import EmbeddingConfig
from donna_tui.embedding.build import build_embedding_service
from donna_tui.embedding.provider import Matrix
from donna_tui.embedding.service import EmbeddingService
from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.index.exact_scan import ExactScan
from donna_tui.index.filters import FTS_TABLE, Scope, all_in_scope
from donna_tui.index.generations import Recipe, index_path, open_generation
from donna_tui.index.invocations import InputHash
from donna_tui.index.keyword import rank_all, rank_scope, search_words
from donna_tui.index.readers import Readers
from donna_tui.index.store import MemoryStore
from donna_tui.index.vector_backend import SCAN_FROM, SCAN_TO
from donna_tui.index.vectors import VecTable, Vector, VectorIndex, log_bounds, unpacked_rows
from donna_tui.search.hybrid import Settings
from donna_tui.search.legs import candidates_for
from donna_tui.search.query import parse_query
from donna_tui.search.service import SearchService
from donna_tui.text.chunker import Chunk, chunk_markdown
from donna_tui.text.tokens import TokenCounter
from donna_tui.types.events import EventHub
from donna_tui.types.search import Filters, SearchRequest
from donna_tui.vault.client import VaultClient

Sizes = tuple[tuple[int, float], ...]

SIZES: Sizes = ((10_000, 30.0), (100_000, 60.0))
SMALL_SIZES: Sizes = ((2_000, 30.0),)
MILLION: Sizes = ((1_000_000, 150.0),)
"""Pairs of a number of passages and the p95 budget of a search, in milliseconds. A million take 15 minutes to build."""

QUESTIONS, WARM_UP, HITS = 110, 10, 32
CHUNKS_A_NOTE = 8
SECONDS_A_PASSAGE = 1e4
BLOCK = 20_000
EMPTIED_BELOW = 50_000
NEARLY = 1e-3
"""A difference in BM25 caused by words that are in nearly all passages."""
NOISE = 0.0125
"""The standard deviation of the noise added to each number of a real vector, which leaves a cosine of about 0.97."""


def filters_for(size: int) -> dict[str, Filters]:
    """Return the filters by label: none, a seventh of all passages, and the newer half."""
    return {
        "": Filters(),
        ", in a folder": Filters(path_prefix="3"),
        ", by date": Filters(after=size / 2 * SECONDS_A_PASSAGE),
    }


def measure(*, small: bool = False, million: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data or a model."""
    vault, cache = eval_folder("vault_help") / "vault", needed_model()
    report = Report(f"Search, hybrid, {HITS} hits, embedding of the question included")
    for size, budget in MILLION if million else SMALL_SIZES if small else SIZES:
        asyncio.run(_measure_size(report, vault, cache, size, budget))
    return report


async def _measure_size(report: Report, vault: Path, cache: Path, size: int, budget: float) -> None:
    service = build_embedding_service(EmbeddingConfig(), cache, lambda *_: None)
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = await _build(Path(folder), vault, size, service)
            readers = Readers(file, long_running=True)
            try:
                await _measure_index(report, readers, service, size, budget)
            finally:
                readers.close()
            report.add(f"{size:,} passages: index file", _megabytes(file), "MB")
            if size < EMPTIED_BELOW:
                _delete_half(Path(folder), size, service)
                report.add(f"{size:,} passages: index file after deleting every second note", _megabytes(file), "MB")
    finally:
        await service.close()


async def _measure_index(report: Report, readers: Readers, service: EmbeddingService, size: int, budget: float) -> None:
    await _load_vectors(report, readers, size)
    search_service = SearchService(lambda: readers, Settings(0.25, HITS), EventHub(), InputHash(b"bench"))
    search_service.use(service)
    questions = eval_questions("vault_help")[:QUESTIONS]
    for name, filters in filters_for(size).items():
        requests = [SearchRequest(text=question, k=HITS, filters=filters) for question in questions]
        times = [await milliseconds(search_service.search(request)) for request in requests][WARM_UP:]
        report.add(f"{size:,} passages{name}: p50", median(times), "ms")
        report.add(f"{size:,} passages{name}: p95", percentile(times, 95), "ms", budget)
    vectors = [await service.embed_query(question) for question in questions[:50]]
    for name, filters in filters_for(size).items():
        recall = await _recall(readers, vectors, Scope(filters))
        label = f"{size:,} passages{name}: recall@10 of the vectors, against all cosines"
        report.add(label, recall, "", 0.99, at_least=True)
        recall = await _recall_of_words(readers, questions, Scope(filters))
        label = f"{size:,} passages{name}: recall@10 of the words, against ranking all"
        report.add(label, recall, "", 0.99, at_least=True)


async def _load_vectors(report: Report, readers: Readers, size: int) -> None:
    """Wait until the vectors are in memory, if the index is large enough for that."""
    before = peak_mb(os.getpid(), "VmRSS")
    with stopwatch() as seconds:
        while await readers.run(_is_behind):
            await asyncio.sleep(0.05)
    report.add(f"{size:,} passages: time to load the vectors", seconds(), "s")
    report.add(f"{size:,} passages: memory added by loading them", peak_mb(os.getpid(), "VmRSS") - before, "MB")


def _is_behind(database: Database, vectors: VectorIndex) -> bool:
    """Return whether the backend that suits the size of the index is not serving yet."""
    before, newest = log_bounds(database)
    vectors.search(database, np.eye(1, 384, dtype=np.float32)[0], Scope(Filters()), 1)
    return vectors.name != (ExactScan if SCAN_FROM <= newest - before < SCAN_TO else VecTable).name


def _delete_half(folder: Path, size: int, service: EmbeddingService) -> None:
    store = _open(folder, service)
    for number in range(0, size, 2 * CHUNKS_A_NOTE):
        store.delete("vault", _path_of(number))
    store.tidy()
    store.database.run("PRAGMA wal_checkpoint(TRUNCATE)")
    store.database.close()


def _open(folder: Path, service: EmbeddingService) -> MemoryStore:
    store = MemoryStore(open_generation(folder, 1, Recipe("bench")), lambda document: [])
    store.use_embeddings(service.version_tag, service.provider.dim)
    return store


def _path_of(number: int) -> str:
    return f"{number % 7}/{number}.md"


def _megabytes(file: Path) -> float:
    return file.stat().st_size / 1e6


async def _recall_of_words(readers: Readers, questions: Sequence[str], scope: Scope) -> float:
    """Return the share of the ten best that score as they should. Scores are compared, since repeated passages tie."""

    def found(database: Database, _: VectorIndex) -> float:
        right = expected = 0
        for text in questions:
            terms = parse_query(text).literals
            best = _best_of_all(database, terms, scope)
            matches = search_words(database, terms, scope, candidates_for(HITS))
            right += sum(match.score >= score - NEARLY for match, score in zip(matches, best, strict=False))
            expected += len(best)
        return right / expected

    return await readers.run(found)


def _best_of_all(database: Database, terms: Sequence[str], scope: Scope) -> list[float]:
    """Return the scores of the ten best of all matches."""
    everything = scope == Scope(Filters())
    best = rank_all(database, terms, 10, FTS_TABLE) if everything else rank_scope(database, terms, scope, 10)
    return [match.score for match in best]


async def _recall(readers: Readers, queries: Sequence[Vector], scope: Scope) -> float:
    def found(database: Database, vectors: VectorIndex) -> float:
        best = _nearest_of_all(database, np.stack(queries), scope)
        matches = [vectors.search(database, query, scope, 10) for query in queries]
        right = sum(len(exact & {match.id for match in hits}) for exact, hits in zip(best, matches, strict=True))
        return right / (10 * len(queries))

    return await readers.run(found)


def _nearest_of_all(database: Database, queries: Matrix, scope: Scope) -> list[set[int]]:
    """Return the keys of the ten chunks of a scope nearest to each query, by all cosines."""
    inside = set(all_in_scope(database, scope))
    best: list[list[tuple[float, int]]] = [[] for _ in queries]
    last = database.value("SELECT max(id) FROM memory_chunks")
    for start in range(1, last + 1, BLOCK):
        rows = database.rows(
            "SELECT c.id, e.vector FROM memory_chunks c JOIN embeddings e ON e.embed_hash = c.embed_hash"
            " WHERE c.id BETWEEN ? AND ?",
            (start, start + BLOCK - 1),
        )
        rows = [row for row in rows if row[0] in inside]
        if not rows:
            continue
        cosines = unpacked_rows([vector for _, vector in rows]) @ queries.T
        for number, column in enumerate(cosines.T):
            nearest = np.argsort(-column)[:10]
            best[number] = sorted([*best[number], *((float(column[row]), rows[row][0]) for row in nearest)])[-10:]
    return [{key for _, key in ten} for ten in best]


async def _build(folder: Path, vault: Path, size: int, service: EmbeddingService) -> Path:
    """Build an index file of `size` passages."""
    client = VaultClient(vault)
    passages = [passage for path in client.list() for passage in _passages(client, path, service.provider.counter)]
    real = await service.embed_documents([chunk.text for _, chunk in passages[:size]])
    chance, noise = random.Random(1), np.random.default_rng(1)
    store = _open(folder, service)
    for number in range(0, size, CHUNKS_A_NOTE):
        rows = [chance.randrange(len(real)) for _ in range(min(CHUNKS_A_NOTE, size - number))]
        _add(
            store,
            number,
            [passages[row] for row in rows],
            (real[rows] + noise.normal(0.0, NOISE, real[rows].shape)).astype(np.float32),
        )
    store.database.close()
    return index_path(folder, 1)


def _passages(client: VaultClient, path: str, counter: TokenCounter) -> list[tuple[str, Chunk]]:
    """Return the passages of a note, each with the title of the note."""
    note = client.read(path)
    chunks = chunk_markdown(
        note.text, start=note.body_start, title=note.title, counter=counter, max_tokens=200, overlap=0
    )
    return [(note.title, chunk) for chunk in chunks]


def _add(store: MemoryStore, number: int, passages: Sequence[tuple[str, Chunk]], vectors: Matrix) -> None:
    path, title = _path_of(number), f"{passages[0][0]} {number}"
    document = Document(
        source_type="vault", source_id=path, title=title, text=path, modified_at=number * SECONDS_A_PASSAGE
    )
    chunks = [
        replace(chunk, index=index, text=f"{chunk.text}\n{number}-{index}") for index, (_, chunk) in enumerate(passages)
    ]
    store.upsert(document, chunks)
    pending = {chunk.id: chunk for chunk in store.pending(len(passages)) if chunk.path == path}
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    store.store_vectors([(key, pending[key].embed_hash, row) for key, row in zip(sorted(pending), unit, strict=True)])


if __name__ == "__main__":
    parser = arguments(__doc__)
    parser.add_argument("--million", action="store_true", help="measure only a million passages")
    finish(measure, parser)
