"""Sections tile any text, and headings are those that a full CommonMark parser finds."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from donna_tui.text import markdown
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import headings, opening_heading, split_sections
from tests.examples import examples

LINES = st.sampled_from(
    [
        "", " ", "\t", "words", "  words", "    code", "\tcode", "more words #", "\\# escaped",
        "# A", "## B ##", "   ### C #", "#", "# #", "####### seven", "#tag", "#\ttab", "    # code",
        "===", "---", " --- ", "    ---", "=", "-", "- - -", "***", "___", "* * *", "--- x",
        "```", "````", "~~~", "``` info", "``` a`b", "   ```", "    ```", "~~~ x ~~~", "``` ", "`code`",
        "<!-- a", "b -->", "<!-- one -->", "<script>", "a </script>", "<pre>x</pre>", "<div>", "</div>",
        "<details open>",
        "<?a", "?>", "<!DOCTYPE", ">", "<![CDATA[", "]]>", "<style", "text <div>",
    ]
)  # fmt: skip
CONTAINERS = st.sampled_from(
    [
        "- item", "* item", "+ item", "1. one", "2) two", "- # in item", "  # in item", "   text", "> quote", "-", "1.",
        "> # in quote", "10. ten", "-     code", ">> > deep",
    ]
)  # fmt: skip
PLAIN_LINES = LINES.filter(lambda line: not line.startswith("    ") and "`" not in line and "~" not in line)
ODD = st.sampled_from(
    [
        "%%",
        "%% a",
        "%%a%%",
        "$$",
        "$$x$$",
        "<<<<<<< HEAD",
        "=======",
        ">>>>>>> b",
        "> ```",
        "- ```",
        "  ```",
        "\u2028# no",
    ]
)
BREAKS = st.sampled_from(["\n", "\r\n"])


def document(lines: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(lines, BREAKS), max_size=14).map(lambda pairs: "".join(line + end for line, end in pairs))


def found(text: str) -> list[tuple[int, int, str]]:
    """Return line, level and text of each heading."""
    starts = line_starts(text)
    return [(line_of(starts, each.start), each.level, each.text) for each in headings(text)]


def expected(text: str) -> list[tuple[int, int, str]]:
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (token.map[0] + 1, int(token.tag[1]), " ".join(line.strip() for line in inline.content.split("\n")))
        for token, inline in zip(tokens, tokens[1:] + tokens[:1], strict=True)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


@pytest.mark.slow
@examples(300)
@given(document(LINES))
def test_headings_are_those_of_commonmark(text: str) -> None:
    assert found(text) == expected(text)


@pytest.mark.slow
@examples(300)
@given(document(PLAIN_LINES | CONTAINERS))
def test_quotes_and_lists_end_where_commonmark_ends_them(text: str) -> None:
    assert found(text) == expected(text)


@examples(200)
@given(document(LINES | CONTAINERS | ODD) | st.text(), st.integers(0, 3))
def test_sections_cover_any_text_without_gaps_or_overlap(text: str, skipped: int) -> None:
    starts = line_starts(text)
    start = starts[min(skipped, len(starts) - 1)]
    sections = split_sections(text, start)
    assert "".join(text[each.start : each.end] for each in sections) == text[start:]
    for section in sections:
        assert section.start <= section.body_start <= section.end
        assert section.start in starts
        assert (section.start_line, section.end_line) == (
            line_of(starts, section.start),
            line_of(starts, section.end - 1),
        )
        assert len(section.heading_path) <= max(section.level, 0)
        assert (section.level == 0) == (section.start == start and section.body_start == start)


@examples(200)
@given(document(LINES | CONTAINERS | ODD) | st.text())
def test_the_opening_heading_is_the_first_of_all_headings(text: str) -> None:
    first = next(iter(headings(text)), None)
    assert opening_heading(text) == (first if first and first.start == 0 else None)


@given(st.text(alphabet="ab 1\n\t>`~<%!|-*_=#[]^()+.:/\\,", max_size=60))
def test_rules_of_plain_text_change_nothing_without_their_characters(text: str) -> None:
    skipped = [pattern for needed, pattern, _ in markdown._RULES if needed and needed.isdisjoint(text)]
    assert [pattern.pattern for pattern in skipped if pattern.search(text)] == []
