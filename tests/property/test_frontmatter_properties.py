"""Frontmatter never raises, never loses body text, and yields data that JSON and SQLite can store."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.safety.classify import Sensitivity, classify
from donna_tui.vault.note.read import aliases_of, note_type_of, parse_frontmatter, tags_of, title_of
from tests.examples import examples

FRAGMENTS = st.sampled_from(
    [
        "---", "...", "---  ", "\n", "\r\n", "\r", "title: ", "tags: ", "a: ", "[", "]", "{", "}", "&a ", "*a", "<<: ",
        "- ", "? ", ": ", "|\n", ">\n", "\t", "  ", "!!set ", "!!binary ",
        "!x ", '"', "'", "#", "x", "1", "\x00", "\x85",
    ]
)  # fmt: skip
BLOCKS = st.lists(FRAGMENTS, max_size=25).map("".join) | st.text(max_size=60)
LEAVES = (
    st.none() | st.booleans() | st.integers() | st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=12)
)
VALUES = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text("abc"), inner, max_size=3)
)
NAMES = st.text("abcdefgh", min_size=1, max_size=8)


def is_storable(value: Any) -> bool:
    if isinstance(value, dict):
        return all(isinstance(key, str) and is_storable(key) and is_storable(item) for key, item in value.items())
    if isinstance(value, list):
        return all(map(is_storable, value))
    if isinstance(value, str):
        return "\0" not in value and not any("\ud800" <= char <= "\udfff" for char in value)
    return value is None or isinstance(value, bool) or (isinstance(value, int) and -(2**63) <= value < 2**63)


@pytest.mark.slow
@examples(800)
@given(BLOCKS | BLOCKS.map(lambda block: f"---\n{block}\n---\nbody"))
def test_any_text_is_read(text: str) -> None:
    found = parse_frontmatter(text)
    assert 0 <= found.body_start <= len(text)
    assert is_storable(found.data)
    json.dumps(found.data, allow_nan=False)
    assert found.present or (found.data, found.body_start, found.problem) == ({}, 0, "")
    for shown in (title_of(found.data, "note.md"), note_type_of(found.data), *aliases_of(found.data)):
        assert len(shown.splitlines()) <= 1
    assert all(tag.strip() and not tag.startswith("#") for tag in tags_of(found.data, text))


@pytest.mark.slow
@examples(300)
@given(st.dictionaries(NAMES, VALUES, max_size=5), st.text(max_size=40), st.sampled_from(["\n", "\r\n"]))
def test_frontmatter_written_by_yaml_is_read_back(data: dict[str, Any], body: str, line_end: str) -> None:
    block = yaml.safe_dump(data, allow_unicode=True) if data else ""
    text = f"---\n{block}---\n".replace("\n", line_end) + body
    found = parse_frontmatter(text)
    assert found.present
    assert not found.problem
    assert text[found.body_start :] == body
    assert set(found.data) == set(data)
    for name, value in data.items():
        if isinstance(value, str | bool | None) or (isinstance(value, int) and abs(value) < 2**63):
            assert found.data[name] == value


@examples(400)
@given(
    BLOCKS,
    st.sampled_from(["donna: local-only", "donna_sensitive: true", "'donna': \"local-only\"", "Donna: Local_Only"]),
)
def test_privacy_flag_is_detected_among_arbitrary_frontmatter_lines(block: str, flag: str) -> None:
    if any(line.rstrip() in ("---", "...") for line in block.splitlines()):
        return
    text = f"---\n{flag}\n{block}\n---\nbody"
    found = parse_frontmatter(text)
    judged = classify(found.data if found.present else None, text, broken=bool(found.problem))
    assert judged is not Sensitivity.PUBLIC
