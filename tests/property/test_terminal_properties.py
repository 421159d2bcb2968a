"""Sanitised text has no control or hidden characters, and sanitising it again changes nothing."""

from __future__ import annotations

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.safety.terminal import clean, clean_line
from tests.examples import examples

HOSTILE = st.sampled_from(
    [
        "\x1b]0;x\x07", "\x9b31m", "\x90q\x9c", "\r\n", "\r", "\n", "\t", "\u202e", "\u200d", "\u200c", "\ud800", "👩",
        "💻", "\ufe0f", "ا", "e\u0301\u0301\u0301\u0301\u0301\u0301", "\u2028", "\x85", "\U000e0041", "word",
    ]
)  # fmt: skip
TEXTS = st.lists(HOSTILE, max_size=20).map("".join) | st.text(st.characters(codec=None), max_size=60)


@pytest.mark.slow
@examples(800)
@given(TEXTS)
def test_clean_removes_control_and_bidi_characters(text: str) -> None:
    block, line = clean(text), clean_line(text)
    assert not [char for char in block if unicodedata.category(char) in ("Cc", "Cs") and char != "\n"]
    assert not [char for char in line if unicodedata.category(char) in ("Cc", "Cs", "Zl", "Zp")]
    assert not set("\u200e\u200f\u202a\u202b\u202c\u202d\u202e\u2066\u2067\u2068\u2069\u061c") & set(block + line)
    block.encode()


@pytest.mark.slow
@examples(800)
@given(TEXTS)
def test_clean_is_idempotent(text: str) -> None:
    assert clean(clean(text)) == clean(text)
    assert clean_line(clean_line(text)) == clean_line(text)


@pytest.mark.slow
@examples(800)
@given(TEXTS)
def test_clean_line_returns_one_line_and_clean_keeps_line_breaks(text: str) -> None:
    assert len(clean_line(text).splitlines()) <= 1
    assert clean(text).count("\n") == text.replace("\r\n", "\n").replace("\r", "\n").count("\n")


@examples(300)
@given(
    st.text(
        st.characters(categories=["L", "N", "P", "S", "Zs"], max_codepoint=0x2FFF, exclude_characters="\u115f\u1160")
    )
)
def test_letters_and_signs_are_left_alone(text: str) -> None:
    assert clean(text) == text
