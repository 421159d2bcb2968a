"""Frontmatter written from data is read back as the same values."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.drafts.text import frontmatter_block, whole_note
from donna_tui.vault.note.read import parse_frontmatter

ODD = st.sampled_from(
    [
        "---", "...", "a\n---\nb", "\n---\n", "a: b # c", "# c", "{{ x }}", "{% x %}", "<% x %>", "\\<% \\", "no",
        "yes", "on", "null", "~", "007", "0x1f", "1_000", "1e3", "12:30:00", "2024-01-17", "2024-01-17T10:00:00Z", "",
        " ", " a", "a ", "'", '"', "it's", "- x", "? x", "| x", "> x", "&a", "*a", "!x", "%x", "@x", "`x", "[x]",
        "[[Ana]]", "{a: b}", "a\u2028b", "a\u2029b", "a\x85b", "a\r\nb", "a\rb", "\t", "a\tb", "\ufeffa", "👍🏽", "日本語",
        "\u202e", "\x7f", "\x1b", "=", "<<", "a" * 3000, "word " * 400, ".inf", ".nan", "0o7", "+1", "-",
    ]
)  # fmt: skip
TEXTS = st.one_of(ODD, st.lists(ODD, min_size=2, max_size=3).map("".join), st.text(max_size=30).filter(str.isprintable))
VALUES = st.recursive(
    st.one_of(TEXTS, st.integers(-(10**9), 10**9), st.booleans(), st.none()),
    lambda inner: st.one_of(st.lists(inner, max_size=4), st.dictionaries(TEXTS, inner, max_size=3)),
    max_leaves=12,
)
KEYS = st.one_of(
    st.sampled_from(["type", "date", "donna", "attendees", "no", "1"]), TEXTS.filter(lambda key: len(key) < 100)
)


@pytest.mark.slow
@given(st.dictionaries(KEYS.filter(bool), VALUES, max_size=6))
def test_written_frontmatter_is_read_back(data: dict[str, Any]) -> None:
    found = parse_frontmatter(whole_note(data, "# Title\n\nfirst line\n"))
    assert found.problem == ""
    assert found.data == data


@pytest.mark.slow
@given(st.dictionaries(KEYS.filter(bool), VALUES, max_size=6))
def test_the_body_is_never_part_of_it(data: dict[str, Any]) -> None:
    note = whole_note(data, "# Title\n\nfirst line\n")
    assert note[parse_frontmatter(note).body_start :] == "# Title\n\nfirst line\n"


@given(st.dictionaries(KEYS.filter(bool), VALUES, max_size=6))
def test_it_contains_no_command_of_a_plugin(data: dict[str, Any]) -> None:
    assert "<%" not in frontmatter_block(data)


@pytest.mark.parametrize("text", ["no", "007", "2024-01-17", "1e3", "~"])
def test_a_text_that_looks_like_something_else_stays_a_text(text: str) -> None:
    assert parse_frontmatter(frontmatter_block({"x": text})).data == {"x": text}


def test_a_list_is_set_in_from_its_key() -> None:
    assert frontmatter_block({"attendees": ["[[Ana]]", "Bo"]}) == "---\nattendees:\n  - '[[Ana]]'\n  - Bo\n---\n"


def test_a_note_ends_with_one_line_end() -> None:
    assert whole_note({"a": 1}, "\n\nbody\n\n\n") == "---\na: 1\n---\nbody\n"
