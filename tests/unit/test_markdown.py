"""Sections begin at headings, as Markdown and Obsidian define them."""

from __future__ import annotations

import pytest

from donna_tui.text.markdown import HEADING_CHARS, UNDERLINED_CHARS, headings, opening_heading, shorten, split_sections


def found(text: str) -> list[tuple[int, str]]:
    return [(heading.level, heading.text) for heading in headings(text)]


@pytest.mark.parametrize(
    ("line", "heading"),
    [
        ("# One", (1, "One")),
        ("###### Six", (6, "Six")),
        ("   ## Three spaces", (2, "Three spaces")),
        ("#\tTab", (1, "Tab")),
        ("## Closed ##", (2, "Closed")),
        ("## Closed #######   ", (2, "Closed")),
        ("### A#b #", (3, "A#b")),
        ("# C#", (1, "C#")),
        ("#", (1, "")),
        ("## ##", (2, "")),
        ("# **Bold** [[Note|alias]] ^id", (1, "**Bold** [[Note|alias]] ^id")),
        ("# One\u2028# no", (1, "One\u2028# no")),
    ],
)
def test_heading_lines(line: str, heading: tuple[int, str]) -> None:
    assert found(line) == [heading]
    assert found(f"before\n{line}\r\nafter") == [heading]


@pytest.mark.parametrize(
    "text",
    [
        "#no space",
        "#tag/inside #other",
        "####### seven",
        "\\# escaped",
        "    # code",
        "\t# code",
        "words\n    # lazy",
        "> # quoted",
        "- # in a list",
        "- item\n  # in the item",
        "1. item\n\n   # in the item",
    ],
)
def test_lines_that_are_no_heading(text: str) -> None:
    assert found(text) == []


@pytest.mark.parametrize(
    "block",
    [
        "```\n# x\n```",
        "~~~\n# x\n```\n# y\n~~~",
        "````md\n# x\n```\n# y\n```\n````",
        "```py title=x\n# x\n``` not the end\n# y\n```",
        "   ```\n# x\n   ```",
        "- item\n  ```\n  # x\n  ```",
        "> ```\n> # x",
        "<!--\n# x\n\n# y\n-->",
        "<script>\n# x\n\n# y\n</script>",
        "<pre>\n# x\n\n</pre>",
        "<STYLE type='a'>\n# x\n\n</style>",
        "<?php\n# x\n\n?>",
        "<![CDATA[\n# x\n\n]]>",
        "<div>\n# x\n",
        "%%\n# x\n\n# y\n%%",
        "%% words\n# x\nwords %%",
        "$$\n# x\n\n# y\n$$",
    ],
)
def test_blocks_that_hide_headings_until_they_end(block: str) -> None:
    assert found(f"# A\n\n{block}\n\n# B\n") == [(1, "A"), (1, "B")]


@pytest.mark.parametrize("opening", ["```", "~~~~ info", "<!--", "<script>", "%% never ends"])
def test_blocks_without_an_end_run_to_the_end(opening: str) -> None:
    assert found(f"# A\n\n{opening}\n# x\n\n# y\n") == [(1, "A")]


@pytest.mark.parametrize(
    "line",
    [
        "``` not`a fence",
        "```code``` inline",
        "``",
        "<!-- one line -->",
        "<br>",
        "%%one line%%",
        "a %%inline%% b",
        "$$x$$",
        "$$ is no formula without an end",
        "50 %",
        "<script>x</script>",
        "<% tp.file.title %>",
    ],
)
def test_lines_that_hide_nothing(line: str) -> None:
    assert found(f"{line}\n# B\n") == [(1, "B")]


def test_a_fence_ends_with_the_list_item_that_contains_it() -> None:
    assert found("- item\n  ```\n  code\n# B\n") == [(1, "B")]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Top\n===", [(1, "Top")]),
        ("Sub\n   ---  ", [(2, "Sub")]),
        ("two\n lines\n---", [(2, "two lines")]),
        ("not a heading\n\n---", []),
        ("---\n---", []),
        ("- item\n---", []),
        ("- item\nlazy\n===", []),
        ("- ...\nlazy\n===", []),
        ("> !!!\nlazy\n===", []),
        ("+++\n111\n===", [(1, "+++ 111")]),
        ("> quote\n===", []),
        ("> quote\n---", []),
        ("# A\n---", [(1, "A")]),
        ("```\nx\n```\n---", []),
        ("x\n= =", []),
        ("- item\n\nTop\n===", [(1, "Top")]),
        ("x" * (UNDERLINED_CHARS + 1) + "\n---", []),
        ("%%hidden%%\n---", []),
    ],
)
def test_underlined_headings(text: str, expected: list[tuple[int, str]]) -> None:
    assert found(text) == expected


def test_conflict_markers_of_git_are_no_headings() -> None:
    text = "<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> branch\n\nTop\n=======\n"
    assert found(text) == [(1, "Top")]


def test_sections_tile_the_text_and_know_their_lines() -> None:
    text = "before\r\n\r\n# One\r\n\r\na\r\n\r\nTwo\r\n---\r\nb"
    sections = split_sections(text)
    assert "".join(text[each.start : each.end] for each in sections) == text
    assert [(each.level, each.heading_path) for each in sections] == [(0, ()), (1, ("One",)), (2, ("One", "Two"))]
    assert [(each.start_line, each.end_line) for each in sections] == [(1, 2), (3, 6), (7, 9)]
    assert [text[each.body_start : each.end] for each in sections] == ["before\r\n\r\n", "\r\na\r\n\r\n", "b"]


def test_sections_begin_where_the_frontmatter_ends() -> None:
    text = "---\ntitle: x\n---\n# One\n"
    (section,) = split_sections(text, start=17)
    assert (section.start, section.start_line, section.heading_path) == (17, 4, ("One",))
    assert split_sections(text, start=len(text)) == []


def test_a_heading_replaces_those_of_its_level_and_deeper() -> None:
    text = "### Three\n# One\n#### Four\n## Two\n#\n## Under nothing\n"
    assert [each.heading_path for each in split_sections(text)] == [
        ("Three",),
        ("One",),
        ("One", "Four"),
        ("One", "Two"),
        (),
        ("Under nothing",),
    ]


def test_an_endless_heading_is_shortened_in_the_path_only() -> None:
    text = "# " + "very " * 2000 + "long\n\nbody\n"
    (section,) = split_sections(text)
    assert len(section.heading_path[0]) <= HEADING_CHARS
    assert section.heading_path[0].endswith("very…")
    assert text[section.body_start :] == "\nbody\n"


def test_shortening_keeps_whole_words_where_it_can() -> None:
    assert shorten("one two", 7) == "one two"
    assert shorten("one two three", 8) == "one two…"
    assert shorten("one two three", 9) == "one two…"
    assert shorten("one two three", 10) == "one two…"
    assert shorten("x" * 20, 5) == "xxxx…"


@pytest.mark.parametrize(
    ("text", "expected"),
    [("# A\nx", "A"), ("Top\n===\nx", "Top"), ("x\n# A", None), ("x\n\nTop\n===", None), ("", None), ("- # A", None)],
)
def test_the_heading_that_a_text_begins_with(text: str, expected: str | None) -> None:
    heading = opening_heading(text)
    assert (heading.text if heading else None) == expected
