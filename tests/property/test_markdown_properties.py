"""Sections tile any text, and headings are those that a full CommonMark parser finds."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import split_sections
from donna_tui.text.outline import headings

LINES = st.sampled_from(
    [
        "", " ", "\t", "words", "  words", "    code", "\tcode", "more words #", "\\# escaped",
        "# A", "## B ##", "   ### C #", "#", "# #", "####### seven", "#tag", "#\ttab", "    # code",
        "===", "---", " --- ", "    ---", "=", "-", "- - -", "***", "___", "* * *", "--- x",
        "```", "````", "~~~", "``` info", "``` a`b", "   ```", "    ```", "~~~ x ~~~", "``` ", "`code`",
        "<!-- a", "b -->", "<!-- one -->", "<script>", "a </script>", "<pre>x</pre>", "<div>", "</div>", "<details open>",
        "<?a", "?>", "<!DOCTYPE", ">", "<![CDATA[", "]]>", "<style", "text <div>",
    ]
)  # fmt: skip
CONTAINERS = st.sampled_from(
    ["- item", "* item", "+ item", "1. one", "2) two", "- # in item", "  # in item", "   text", "> quote", "> # in quote",
     "10. ten", "-     code", "-", "1.", "> ```", "- ```", "  ```", ">> > deep"]
)  # fmt: skip
BREAKS = st.sampled_from(["\n", "\r\n"])


def document(lines: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(st.tuples(lines, BREAKS), max_size=14).map(lambda pairs: "".join(line + end for line, end in pairs))


def found(text: str) -> list[tuple[int, int, str]]:
    """Line, level and text of each heading."""
    starts = line_starts(text)
    return [(line_of(starts, each.start), each.level, each.text) for each in headings(text)]


def expected(text: str) -> list[tuple[int, int, str]]:
    tokens = MarkdownIt("commonmark").parse(text)
    return [
        (token.map[0] + 1, int(token.tag[1]), " ".join(line.strip() for line in inline.content.split("\n")))
        for token, inline in zip(tokens, tokens[1:] + tokens[:1], strict=True)
        if token.type == "heading_open" and token.level == 0 and token.map
    ]


@settings(deadline=None, database=None, max_examples=20000)
@given(document(LINES))
def test_headings_are_those_of_commonmark(text: str) -> None:
    assert found(text) == expected(text)


@settings(deadline=None, database=None, max_examples=20000)
@given(document(LINES | CONTAINERS))
def test_headings2(text: str) -> None:
    assert found(text) == expected(text)
