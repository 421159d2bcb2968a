"""The displayed scores agree with the order, for questions about real documentation."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from donna_tui.search.hybrid import MAX_HITS
from donna_tui.tui.lib.styled import plain
from donna_tui.tui.search.results import row_lines
from donna_tui.tui.search.wording import rows_of
from donna_tui.types.search import SearchRequest
from tests.engine.helpers import EVAL_VAULT, Sandbox, open_engine


@pytest.mark.slow
@pytest.mark.parametrize("questions", [25, pytest.param(100, marks=pytest.mark.stress)])
async def test_shown_scores_never_increase_down_the_list(vault: Sandbox, questions: int) -> None:
    """The number drawn beside each row is no larger than that of the row above."""
    lines = (EVAL_VAULT.parent / "queries.dev.jsonl").read_text().splitlines()
    texts = [json.loads(line)["query"] for line in lines]
    asked = [*texts, *(f"how do I use {text}" for text in texts)][:: 100 // questions][:questions]
    assert len(asked) == questions
    shown = 0
    async with open_engine(vault, watch=False) as running:
        await running.engine.sync()
        await running.wait_until_indexed()
        for text in asked:
            outcome = await running.engine.search(SearchRequest(text=text, k=50, uncapped=True))
            rows = [row for row in rows_of(outcome, near_misses=False) if not row.near]
            numbers = [float(plain(row_lines(row, 100, 1)[0]).rsplit(" ", 1)[-1]) for row in rows]
            assert numbers == sorted(numbers, reverse=True), text
            assert [hit.rank_score for hit in outcome.hits] == sorted(
                (h.rank_score for h in outcome.hits), reverse=True
            )
            assert outcome.total_notes <= outcome.total
            assert len(outcome.hits) == min(50, outcome.total)
            assert len(rows) == len({hit.document_id for hit in outcome.hits})
            shown += len(rows)
    assert shown > questions


@pytest.mark.slow
async def test_uncapped_search_returns_more_hits_than_the_default_cap(vault: Sandbox) -> None:
    request = SearchRequest(text="tasks query", k=200)
    async with open_engine(vault, watch=False, semantic=False) as running:
        assert len((await running.engine.search(request)).hits) == 32
        people = await running.engine.search(replace(request, uncapped=True))
        assert 32 < len(people.hits) == min(200, people.total)
        most = await running.engine.search(replace(request, k=10 * MAX_HITS, uncapped=True))
        counted = {}
        for hit in most.hits:
            counted[hit.document_id] = counted.get(hit.document_id, 0) + 1
        assert most.total == len(most.hits)
        assert all(hit.in_note == counted[hit.document_id] for hit in most.hits)
