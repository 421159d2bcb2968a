"""Passages cover any text, split no word that fits, and fit the window of any tokenizer."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from donna_tui.text.chunker import CHARS_PER_TOKEN, Chunk, chunk_markdown, embedding_text
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import HEADING_CHARS, Section, split_sections
from donna_tui.text.tokens import EstimatedTokens, TokenCounter
from donna_tui.text.words import EMOJI
from tests.examples import examples

ESTIMATE = EstimatedTokens()
PIECES = st.sampled_from(
    [
        "word ", "two words. ", "A sentence ends here. Another one begins! ", "\n", "\r\n", "\r", "\n\n", " \t ",
        "# Head\n", "## A longer heading of several words ##\n", "Under\n---\n", "- item of a list\n",
        "```\n# code\n```\n", "| a | b |\n", "| --- | :--: |\n", "x" * 130, "qzxj" * 40, "0123456789" * 9,
        "https://example.org/a-b_c?d=e%20f&g ", "明日の会議は十時から。", "預算、審批，", "한국어 회의 ", "اجتماع ",
        "👩‍👩‍👧‍👦", "e\u0301\u0323", "\u2028", "\u200b", "\x00", "[SEP]", "…", "ﬃ", "naïve ",
    ]
)  # fmt: skip
TEXTS = st.lists(st.tuples(PIECES, st.integers(1, 30)), max_size=12).map(
    lambda runs: "".join(piece * count for piece, count in runs)
)
WINDOWS = st.sampled_from([(32, 0), (32, 16), (48, 8), (64, 64), (256, 32)])


def check(text: str, title: str, counter: TokenCounter, max_tokens: int, overlap: int, start: int = 0) -> list[Chunk]:
    """Check the guarantees for all passages of `text`, and return them."""
    chunks = chunk_markdown(text, start=start, title=title, counter=counter, max_tokens=max_tokens, overlap=overlap)
    lines = line_starts(text)
    covered = start
    if not has_words(text, start, len(text), start):
        assert [chunk.text for chunk in chunks] == [""]
        assert chunks[0].token_count <= max_tokens - 2
        return []
    for index, chunk in enumerate(chunks):
        assert chunk.index == index
        assert chunk.text == text[chunk.start : chunk.end] == chunk.text.strip() != ""
        assert (chunk.start_line, chunk.end_line) == (line_of(lines, chunk.start), line_of(lines, chunk.end - 1))
        assert len(chunk.text) <= CHARS_PER_TOKEN * max_tokens
        embedded = embedding_text(title, chunk.heading_path, chunk.text, max_tokens=max_tokens)
        assert len(counter.spans(embedded)) == chunk.token_count <= max_tokens - 2
        assert not has_words(text, covered, chunk.start, start)
        assert has_words(text, chunk.start, chunk.end, start)
        assert chunk.end > covered
        covered = chunk.end
    assert not has_words(text, covered, len(text), start)
    assert all(before.start < after.start for before, after in pairwise(chunks))
    return chunks


def body_start(section: Section) -> int:
    """Return where the text of a section begins; a heading that fits no heading path counts as text."""
    return section.start if section.body_start - section.start > HEADING_CHARS else section.body_start


def has_words(text: str, start: int, end: int, first: int) -> bool:
    """Return whether a stretch of a note has letters, digits or emoji outside of headings."""
    return any(
        re.search(rf"[^\W_]|[{EMOJI}]", text[max(start, body_start(each)) : min(end, each.end)])
        for each in split_sections(text, first)
    )


@pytest.mark.slow
@examples(600)
@example("word ", "0:0:각", (32, 0), 0)
@given(TEXTS | st.text(max_size=400), st.text(max_size=80), WINDOWS, st.integers(0, 40))
def test_chunk_invariants_hold_for_estimated_tokens(
    text: str, title: str, window: tuple[int, int], skipped: int
) -> None:
    starts = line_starts(text)
    check(text, title, ESTIMATE, *window, start=min(starts[min(skipped, len(starts) - 1)], len(text)))


@pytest.mark.slow
@pytest.mark.model
@examples(400)
@given(text=TEXTS | st.text(max_size=400), title=TEXTS.map(lambda text: text[:300]), window=WINDOWS)
def test_chunk_invariants_hold_for_the_real_tokenizer(
    real_tokens: TokenCounter, text: str, title: str, window: tuple[int, int]
) -> None:
    check(text, title, real_tokens, *window)


@examples(150)
@given(
    st.lists(st.text("abc.,-é日", min_size=1, max_size=25).map("a".__add__), min_size=1, max_size=120),
    st.integers(0, 16),
)
def test_words_that_fit_are_never_cut(words: list[str], overlap: int) -> None:
    chunks = check(" ".join(words), "", ESTIMATE, 64, overlap)
    assert {word for chunk in chunks for word in chunk.text.split()} == set(words)


@examples(150)
@given(st.lists(PIECES, max_size=40).map("".join))
def test_a_passage_lies_in_the_section_whose_path_it_has(text: str) -> None:
    sections = split_sections(text)
    for chunk in check(text, "", ESTIMATE, 64, 16):
        (home,) = [each for each in sections if each.start < chunk.end <= each.end]
        assert chunk.heading_path == home.heading_path


@pytest.mark.model
@examples(200)
@given(st.text(max_size=200) | TEXTS)
def test_no_text_has_more_than_four_real_tokens_for_an_estimated_one(real_tokens: TokenCounter, text: str) -> None:
    assert len(real_tokens.spans(text)) <= 4 * len(ESTIMATE.spans(text))


@examples(200)
@given(st.text(max_size=200) | TEXTS)
def test_estimated_spans_cover_every_word_in_order(text: str) -> None:
    spans = ESTIMATE.spans(text)
    assert spans == sorted(spans)
    covered = {offset for start, end in spans for offset in range(start, end)}
    assert covered == {offset for offset, char in enumerate(text) if not char.isspace()}
