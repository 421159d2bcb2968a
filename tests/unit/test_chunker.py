"""Passages are exact slices of the note, cut at good places, and never longer than the window."""

from __future__ import annotations

import re
from itertools import pairwise

import pytest

from donna_tui.text.chunker import Chunk, chunk_markdown, context_of, embedding_text
from donna_tui.text.markdown import split_sections
from donna_tui.text.tokens import EstimatedTokens, TokenCounter

ESTIMATE = EstimatedTokens()
SENTENCE = "The garden shed roof needs repair before winter. "
PARAGRAPH = SENTENCE * 4 + "\n\n"


def chunks_of(
    text: str,
    *,
    counter: TokenCounter = ESTIMATE,
    max_tokens: int = 64,
    overlap: int = 0,
    title: str = "",
    start: int = 0,
) -> list[Chunk]:
    return chunk_markdown(text, start=start, title=title, counter=counter, max_tokens=max_tokens, overlap=overlap)


def test_a_short_section_is_one_passage_without_the_space_around_it() -> None:
    text = "\n\n# One\n\nwords\n\n\n## Two\n\n  more \n"
    chunks = chunks_of(text)
    assert [chunk.text for chunk in chunks] == ["# One\n\nwords", "## Two\n\n  more"]
    assert [(chunk.start_line, chunk.end_line) for chunk in chunks] == [(3, 5), (8, 10)]
    assert [chunk.index for chunk in chunks] == [0, 1]
    assert all(text[chunk.start : chunk.end] == chunk.text for chunk in chunks)


@pytest.mark.parametrize("text", ["\n \n# A\n\n# B\n\n---\n- [ ] \n", " \n\t\n", ""])
def test_a_note_without_text_is_one_empty_passage(text: str) -> None:
    (chunk,) = chunks_of(text)
    assert (chunk.text, chunk.heading_path, chunk.start_line, chunk.end_line) == ("", (), 1, 1)


@pytest.mark.parametrize(
    ("line", "is_text"),
    [
        ("<< [[2025-11-04]] | [[2025-11-06]] >>", False),
        ("[[2025-11-04]] 12.50", True),
        ("[[Ana]] | [[2025-11-06]]", True),
        ("[[2025-11-04|Budget]]", True),
    ],
)
def test_links_to_days_alone_are_no_passage(line: str, is_text: bool) -> None:
    chunks = chunks_of(f"# 2025-11-05\n{line}\n## Log\nred bikes")
    assert [line in chunk.text for chunk in chunks] == ([True, False] if is_text else [False])


def test_text_after_many_brackets_is_found_in_linear_time() -> None:
    """A pattern that tried each bracket again, or each passage from the first one, would take minutes."""
    assert chunks_of("[[ . " * 40_000 + "red")[0].text.endswith("red")
    assert [chunk.text for chunk in chunks_of("[" * 200_000)] == [""]


def test_headings_without_text_go_with_the_first_passage_below_them() -> None:
    text = "# Day\n\n## Plans\n\n## Notes\n\nred bikes\n\n## Evening\n"
    (chunk,) = chunks_of(text)
    assert (chunk.heading_path, chunk.start_line, chunk.end_line) == (("Day", "Notes"), 3, 7)
    assert chunk.text == "## Plans\n\n## Notes\n\nred bikes"


def test_no_passage_is_headings_only_however_many_there_are() -> None:
    text = "".join(f"## Heading number {number}\n\n" for number in range(200)) + "words\n"
    assert [chunk.text[-5:] for chunk in chunks_of(text)] == ["words"]


def test_the_delimiter_row_of_a_wide_table_is_no_passage() -> None:
    delimiters = "|".join(["-" * 300] * 3)
    chunks = chunks_of(f"# Keys\n| a | b | c |\n{delimiters}\n| one | two | three |\n", max_tokens=32)
    assert chunks[0].text.startswith("# Keys\n| a | b | c |")
    assert chunks[-1].text.endswith("| one | two | three |")
    assert all(re.search("[a-z]", each.text) for each in chunks)


def test_no_passage_only_repeats_the_header_of_an_aligned_table() -> None:
    table = f"| Supplier | Terms |\n| {'-' * 10} | {'-' * 11} |\n| Umbrella Corporation | thirty days |\n"
    chunks = chunks_of(f"## Overview\n\n{table}", max_tokens=32, overlap=8)
    assert ["Supplier" in each.text for each in chunks] == [True, False]


def test_the_body_begins_after_the_frontmatter() -> None:
    text = "---\na: 1\n---\nwords\n"
    (chunk,) = chunks_of(text, start=13)
    assert (chunk.text, chunk.start, chunk.start_line) == ("words", 13, 4)


def test_blank_lines_are_the_best_places_to_cut() -> None:
    chunks = chunks_of(PARAGRAPH * 4, max_tokens=160)
    assert all(chunk.text.endswith("winter.") and chunk.text.startswith("The garden") for chunk in chunks)
    assert len(chunks) == 2


def test_chunker_prefers_line_breaks_after_blank_lines() -> None:
    chunks = chunks_of("- an item of the list\n" * 40)
    assert len(chunks) > 1
    assert all(chunk.text.startswith("- an") and chunk.text.endswith("list") for chunk in chunks)


def test_sentences_come_before_words() -> None:
    chunks = chunks_of(SENTENCE * 20)
    assert all(chunk.text.endswith("winter.") for chunk in chunks)


def test_words_are_kept_whole() -> None:
    words = [f"word{number}" for number in range(300)]
    chunks = chunks_of(" ".join(words))
    assert [word for chunk in chunks for word in chunk.text.split()] == words


def test_a_word_longer_than_the_window_is_cut() -> None:
    word = "x" * 3000
    chunks = chunks_of(f"short {word} short")
    assert chunks[0].text == "short"
    assert "".join("".join(chunk.text.split()) for chunk in chunks) == f"short{word}short"


def test_text_without_spaces_is_cut_after_its_own_marks() -> None:
    chunks = chunks_of("明日の会議は十時から東京で行います、" * 30)
    assert len(chunks) > 5
    assert all(chunk.text.endswith("、") for chunk in chunks)


def test_overlap_of_chunks_starts_at_a_sentence() -> None:
    text = " ".join(f"Sentence number {number} is here." for number in range(60))
    chunks = chunks_of(text, overlap=16)
    for before, after in pairwise(chunks):
        assert before.start < after.start < before.end < after.end
        assert after.text.startswith("Sentence")
        assert len(ESTIMATE.spans(text[after.start : before.end])) <= 16


def test_chunks_of_different_sections_do_not_overlap() -> None:
    chunks = chunks_of(f"# A\n\n{PARAGRAPH}# B\n\n{PARAGRAPH}", overlap=30)
    assert all(before.end <= after.start for before, after in pairwise(chunks) if after.text[0] == "#")


BOMBS = {
    "one word": "x" * 20_000,
    "short words": "x " * 10_000,
    "spaces": "x" + " " * 20_000 + "y",
    "heading": "# " + "very " * 2_000 + "long\n\nbody",
    "backticks": "`" * 10_000,
    "syllables": "한글" * 5_000,
    "table": "| a | b |\n" * 500,
    "accents": "e\u0301" * 5_000,
}


@pytest.mark.cases(1)
@pytest.mark.parametrize("overlap", [0, pytest.param(16, marks=pytest.mark.stress), 1000])
@pytest.mark.parametrize("text", BOMBS.values(), ids=BOMBS.keys())
def test_chunks_cover_any_text_within_the_token_limit(text: str, overlap: int) -> None:
    if overlap == 16:
        text *= 5
    chunks = [chunk for chunk in chunks_of(text, overlap=overlap) if chunk.text]
    assert all(chunk.token_count <= 62 for chunk in chunks)
    covered = 0
    for chunk in chunks:
        assert not words_outside_headings(text, covered, chunk.start)
        assert chunk.end > covered
        covered = chunk.end
    assert not words_outside_headings(text, covered, len(text))


def words_outside_headings(text: str, start: int, end: int) -> list[str]:
    """Return the lines of a stretch that are not headings and contain letters or digits."""
    inside = [text[max(start, each.body_start) : min(end, each.end)] for each in split_sections(text)]
    return [part for part in inside if re.search(r"[^\W_]", part)]


def test_a_window_too_small_for_any_context_is_refused() -> None:
    with pytest.raises(ValueError, match="at least 32"):
        chunks_of("words", max_tokens=31)


@pytest.mark.parametrize(
    ("title", "headings", "text", "embedded"),
    [
        ("Trip", ("Plan", "Food"), "bread", "Trip › Plan › Food\nbread"),
        ("", (), "bread", "bread"),
        ("Trip", (), "bread", "Trip\nbread"),
        ("Trip", ("trip", "Food"), "bread", "trip › Food\nbread"),
        ("Trip", ("Plan", "Food"), "## Food\n\nbread", "Trip › Plan › Food\nbread"),
        ("Trip", ("Plan", "Food"), "Food\n----\nbread", "Trip › Plan › Food\nbread"),
        ("Trip", ("Plan",), "# Plan", "Trip › Plan"),
    ],
)
def test_the_context_is_before_the_passage_and_repeats_nothing(
    title: str, headings: tuple[str, ...], text: str, embedded: str
) -> None:
    assert embedding_text(title, headings, text) == embedded


def test_a_long_context_loses_its_middle_first() -> None:
    path = ("First of all things", *(f"Middle heading number {number}" for number in range(4)), "The last")
    line = context_of("Title of the note", path, 128).line
    assert line.startswith("Title of the note › … › ")
    assert line.endswith(" › The last")
    assert len(ESTIMATE.spans(line)) <= 128 // 5


def test_a_shortened_context_leaves_the_heading_in_the_passage() -> None:
    heading = "words of a heading that goes on and on " * 3
    text = f"# {heading}\n\nbread"
    assert embedding_text("Trip", (heading.strip(),), text, max_tokens=64).endswith(text)


DENSE = {
    "prose": PARAGRAPH * 30,
    "rare words": "qzx017nasty ZXQJ " * 400,
    "links": "https://example.org/a?b=c&d=%20 " * 200,
    "syllables": "한국어 회의 메모입니다 " * 300,
    "endless words": "x" * 101 + "-" + "y" * 4000,
    "dense heading": "# " + "qzxj " * 500 + "\n\n" + "qzxj " * 500,
    "special tokens": "[SEP] [CLS] [UNK] " * 300,
}


@pytest.mark.model
@pytest.mark.parametrize("max_tokens", [32, 64, 256])
@pytest.mark.parametrize("text", DENSE.values(), ids=DENSE.keys())
def test_nothing_is_truncated_by_the_real_model(real_tokens: TokenCounter, text: str, max_tokens: int) -> None:
    title = "Titel über Größe 한국어 회의"
    chunks = chunks_of(text, counter=real_tokens, max_tokens=max_tokens, overlap=max_tokens // 4, title=title)
    for chunk in chunks:
        embedded = embedding_text(title, chunk.heading_path, chunk.text, max_tokens=max_tokens)
        assert len(real_tokens.spans(embedded)) == chunk.token_count <= max_tokens - 2
    assert "".join(text.split()) in "".join(_without_repeats(text, chunks).split())


def _without_repeats(text: str, chunks: list[Chunk]) -> str:
    covered, parts = 0, []
    for chunk in chunks:
        parts.append(text[max(covered, chunk.start) : chunk.end])
        covered = chunk.end
    return "".join(parts)
