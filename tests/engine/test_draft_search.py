"""Drafts are found only when they are asked for, and originals rank before what quotes them."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.types.memory import MemoryType
from donna_tui.types.search import Filters, Mode, SearchRequest
from tests.engine.helpers import Running, index_once, new_sandbox, open_engine

pytestmark = pytest.mark.usefixtures("alone")

ORIGINAL = "# Store\n\nWe keep the gateway sessions in one SQLite file from March on.\n"
QUOTE = """---
autowritten_by: donna
{}---
# Gateway rollout

## Last time

- We keep the gateway sessions in one SQLite file from March on. ([[store]])
"""
DRAFT, APPROVED = QUOTE.format("donna_draft: true\n"), QUOTE.format("")
QUESTION = "gateway sessions SQLite file"


async def found(running: Running, text: str, mode: Mode = "hybrid", **filters: object) -> list[tuple[str, bool]]:
    """Paths with their draft marks, best first; the vectors of these tests mean nothing, so near misses count."""
    asked = Filters(**filters)  # type: ignore[arg-type]
    outcome = await running.engine.search(SearchRequest(text=text, mode=mode, k=20, filters=asked, near_misses=True))
    return list(dict.fromkeys((hit.path, hit.draft) for hit in (*outcome.hits, *outcome.near_misses)))


@pytest.mark.parametrize("mode", ["hybrid", "keyword", "semantic"])
async def test_a_draft_is_found_only_when_it_is_asked_for(tmp_path: Path, mode: Mode) -> None:
    sandbox = new_sandbox(tmp_path)
    sandbox.write("store.md", ORIGINAL)
    sandbox.write("Inbox/rollout.md", DRAFT)
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        await running.wait_until_indexed()
        assert await found(running, QUESTION, mode) == [("store.md", False)]
        assert await found(running, QUESTION, mode, path_prefix="Inbox") == []
        assert await found(running, f"{QUESTION} in:vault", mode) == [("store.md", False)]
        assert await found(running, f"{QUESTION} in:draft", mode) == [("Inbox/rollout.md", True)]
        both = await found(running, f"{QUESTION} in:draft in:vault", mode)
        assert sorted(both) == [("Inbox/rollout.md", True), ("store.md", False)]
        assert await running.engine.sources() == ("draft", "vault")
        recalled = await running.engine.memory.recall(QUESTION, memory_types=(MemoryType.SEMANTIC,))
        assert {each.source_id for each in recalled.memories} == {"store.md"}
        told = await running.engine.why_not("Inbox/rollout.md", SearchRequest(text=QUESTION, mode=mode))
        assert told.cause == "draft"


async def test_approved_note_ranks_below_the_note_it_quotes(tmp_path: Path) -> None:
    """The quote has a word of the question in its title and headings as well."""
    sandbox = new_sandbox(tmp_path)
    sandbox.write("store.md", ORIGINAL)
    sandbox.write("Inbox/rollout.md", DRAFT)
    await index_once(sandbox)
    (sandbox.root / "Inbox/rollout.md").unlink()
    sandbox.write("Meetings/Gateway rollout.md", APPROVED)
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        paths = [path for path, _ in await found(running, QUESTION, "keyword")]
        assert paths == ["store.md", "Meetings/Gateway rollout.md"]
        outcome = await running.search(QUESTION)
        scores = [hit.rank_score for hit in outcome.hits]
        assert scores == sorted(scores, reverse=True)


async def test_note_with_own_content_is_not_ranked_below_its_quoted_source(tmp_path: Path) -> None:
    sandbox = new_sandbox(tmp_path)
    sandbox.write("store.md", ORIGINAL)
    sandbox.write("rollout.md", APPROVED.replace("([[store]])", "Jonas rolls it out in stages ([[store]])."))
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        await running.engine.sync()
        paths = [path for path, _ in await found(running, "who rolls out the gateway sessions in stages", "keyword")]
        assert paths == ["rollout.md", "store.md"]
