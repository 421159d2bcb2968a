"""Segments of scripts without spaces."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.text.words import segments


@pytest.mark.parametrize(
    ("text", "pairs"),
    [
        ("plain words, café, مذكرة", []),
        ("設定フォルダ", ["設定", "定フ", "フォ", "ォル", "ルダ"]),
        ("a 日 b", ["日"]),
        ("日本 and 中文", ["日本", "中文"]),
        ("노트를", ["노트", "트를"]),
    ],
)
def test_each_stretch_becomes_overlapping_pairs(text: str, pairs: list[str]) -> None:
    assert segments(text) == pairs


@given(st.text())
def test_segments_are_parts_of_the_text(text: str) -> None:
    pairs = [pair for pair in segments(text) if not pair.startswith("emoji")]
    assert all(pair in text and 1 <= len(pair) <= 2 for pair in pairs)


@given(st.text(alphabet="a日🎉☕"))
def test_each_emoji_is_a_word_of_its_own(text: str) -> None:
    words = [segment for segment in segments(text) if segment.startswith("emoji")]
    assert words == [f"emoji{ord(char):x}" for char in text if char in "🎉☕"]
