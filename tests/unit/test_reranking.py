"""Hits reranked by a cross-encoder: the same hits, with an order and scores that agree."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from donna_tui.config.models import MemoryConfig
from donna_tui.index.generations import index_path
from donna_tui.index.invocations import InputHash
from donna_tui.index.readers import Readers
from donna_tui.search.hybrid import Settings
from donna_tui.search.reranking import RERANKED
from donna_tui.search.service import SearchService
from donna_tui.types.errors import ModelError, Reason
from donna_tui.types.events import EventHub
from donna_tui.types.search import SearchRequest
from tests.unit.index_parts import note, open_store

MANY = RERANKED + 8


@pytest.fixture
def readers(tmp_path: Path) -> Iterator[Readers]:
    store = open_store(index_path(tmp_path, 1))
    for number in range(MANY):
        store.upsert(note(f"{number:02}.md", f"the heron of pond {number:02}{' river' * (number % 7)}"))
    store.upsert(note("heron.md", "nothing about birds"))
    readers = Readers(index_path(tmp_path, 1), long_running=True)
    yield readers
    readers.close()
    store.database.close()


def search_service(readers: Readers, scorer: object) -> SearchService:
    return SearchService(lambda: readers, Settings(0.25, 8), EventHub(), InputHash(b"key"), scorer)  # type: ignore[arg-type]


def by_number(query: str, texts: Sequence[str]) -> list[float]:
    assert query == "heron pond"
    return [int(text.split("pond ")[1][:2]) / 100 if "pond " in text else 0.0 for text in texts]


async def test_the_best_hits_are_ranked_again_and_their_values_agree_with_the_order(readers: Readers) -> None:
    before = await search_service(readers, None).search(SearchRequest(text="heron pond", k=8))
    after = await search_service(readers, by_number).search(SearchRequest(text="heron pond", k=8))
    assert [hit.path for hit in before.hits] != [hit.path for hit in after.hits]
    assert [hit.path for hit in after.hits] == sorted((hit.path for hit in after.hits), reverse=True)
    assert len(after.hits) == 8
    assert (after.total, after.request) == (before.total, before.request)
    every = (
        await search_service(readers, by_number).search(SearchRequest(text="heron pond", k=100, uncapped=True))
    ).hits
    assert len(every) == MANY + 1
    values = [hit.rank_score for hit in every]
    assert values == sorted(values, reverse=True)
    assert {hit.path for hit in after.hits} <= {hit.path for hit in every[:RERANKED]}


async def test_the_note_that_the_question_names_stays_first_and_words_alone_are_left_as_they_are(
    readers: Readers,
) -> None:
    def least(query: str, texts: Sequence[str]) -> list[float]:
        assert not any("nothing about birds" in text for text in texts)
        return [0.5 for _ in texts]

    found = await search_service(readers, least).search(SearchRequest(text="heron", k=8))
    assert found.hits[0].path == "heron.md"
    words = SearchRequest(text="heron pond", k=8, mode="keyword")
    assert (await search_service(readers, by_number).search(words)).hits == (
        await search_service(readers, None).search(words)
    ).hits
    few = SearchRequest(text="heron pond", k=8)
    assert len((await search_service(readers, by_number).search(few, max_k=3)).hits) == 3


async def test_a_cross_encoder_that_fails_leaves_the_order_and_says_so(readers: Readers) -> None:
    def fails(query: str, texts: Sequence[str]) -> list[float]:
        raise ModelError(Reason.MODEL_MISSING, "there is no cross-encoder in /models/x")

    found = await search_service(readers, fails).search(SearchRequest(text="heron pond", k=8))
    before = await search_service(readers, None).search(SearchRequest(text="heron pond", k=8))
    assert [hit.path for hit in found.hits] == [hit.path for hit in before.hits]
    assert "not ranked again: there is no cross-encoder in /models/x" in found.note


def test_the_switch_is_off_and_may_be_set_beside_the_one_of_recall() -> None:
    assert not MemoryConfig().retrieval.reranker_enabled
    chosen = MemoryConfig.model_validate({"retrieval": {"reranker_enabled": True, "reranker_model": "/models/x"}})
    assert chosen.retrieval.reranker_model == Path("/models/x")
    assert chosen.recall.reranker_model is None
