"""No input makes the query parser or SQLite raise."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest
from hypothesis import HealthCheck, example, given
from hypothesis import strategies as st

from donna_tui.index.exact_scan import ExactScan
from donna_tui.index.store import MemoryStore
from donna_tui.index.vectors import VecTable
from donna_tui.search.hybrid import Settings, search
from donna_tui.search.legs import ask
from donna_tui.search.query import parse_query
from donna_tui.search.snippets import WIDTH, LazySnippet
from donna_tui.types.search import SearchRequest
from tests.examples import examples
from tests.unit.index_parts import embed_all, note, open_store, vector_of

PIECES = (
    *'"-*:^()+{}[],\\/|&~\'`#%_ ', "AND", "OR", "NOT", "NEAR", "NEAR(", "title:", "path:", "tag:", "before:", "in:",
    "redis", "café", "cafe\u0301", "\x00", "\ud800", "\u200b", "\u202e", "日本", "٣", "_", "²", "7d", "2026-03", "\n", "\t",
)  # fmt: skip
typed = st.one_of(
    st.text(max_size=60),
    st.text(st.characters(exclude_categories=()), max_size=30),
    st.lists(st.sampled_from(PIECES), max_size=25).map("".join),
    st.lists(st.sampled_from(PIECES), max_size=25).map(" ".join),
)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Iterator[MemoryStore]:
    made = open_store(tmp_path_factory.mktemp("query") / "index.db")
    made.upsert(note("Projects/a.md", "redis cache café 日本 and _ more"))
    made.upsert(note("b.md", "nothing of it"))
    embed_all(made)
    yield made
    made.database.close()


@pytest.mark.slow
@examples(400, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(text=typed, typing=st.booleans())
@example(text="word " * 2_000, typing=True)
@example(text='"' + "phrase " * 2_000 + '"', typing=False)
@example(text="-no " * 2_000 + "x", typing=False)
@example(text='"a b" ' * 2_000, typing=False)
@example(text="".join(f"tag:t{number} " for number in range(2_000)), typing=False)
@example(text="in:vault " * 2_000, typing=False)
@example(text="x" * 100_000, typing=True)
def test_any_text_can_be_asked(store: MemoryStore, text: str, typing: bool) -> None:
    question = replace(ask(SearchRequest(text=text, typing=typing)), vector=vector_of("q"))
    for engine in (VecTable(), ExactScan()):
        search(store.database, engine, question, Settings(0.3, 20))


@given(text=typed)
def test_what_is_embedded_can_be_encoded(text: str) -> None:
    query = parse_query(text)
    query.text.encode()
    "".join(query.literals).encode()


@given(words=st.lists(st.from_regex(r"[a-z]{3,9}", fullmatch=True), min_size=1, max_size=8))
def test_plain_words_are_taken_as_they_are(words: list[str]) -> None:
    query = parse_query(" ".join(words))
    assert query.words == tuple(words)
    assert query.phrases == query.without == ()


@given(content=st.text(max_size=600), query=typed, prefix=typed)
def test_marks_lie_inside_the_snippet(content: str, query: str, prefix: str) -> None:
    snippet = LazySnippet(content, parse_query(query).terms, prefix)
    assert len(snippet.text) <= WIDTH + 2
    assert "\n" not in snippet.text
    last = 0
    for low, high in snippet.marks:
        assert last <= low < high <= len(snippet.text)
        last = high
