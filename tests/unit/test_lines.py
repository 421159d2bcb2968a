"""Lines are counted as Markdown and editors count them."""

from __future__ import annotations

import pytest

from donna_tui.text.lines import each_line, line_of, line_starts


@pytest.mark.parametrize(
    ("text", "starts"),
    [
        ("", [0]),
        ("one", [0]),
        ("one\n", [0]),
        ("one\ntwo", [0, 4]),
        ("one\r\ntwo\rthree\n\nfive", [0, 5, 9, 15, 16]),
        ("\n\n", [0, 1]),
        ("a\u2028b\u2029c\x0bd\x0ce\x85f", [0]),
    ],
)
def test_lines_start_after_lf_crlf_and_cr_only(text: str, starts: list[int]) -> None:
    assert line_starts(text) == starts


def test_an_offset_belongs_to_the_line_that_contains_it() -> None:
    starts = line_starts("one\r\ntwo\nthree")
    assert [line_of(starts, offset) for offset in (0, 2, 4, 5, 8, 9, 14)] == [1, 1, 1, 2, 2, 3, 3]


def test_lines_are_given_without_their_breaks() -> None:
    text = "skip\none\r\n\rlast"
    assert [text[start:end] for start, end, _ in each_line(text, 5)] == ["one", "", "last"]
    assert [after for _, _, after in each_line(text, 5)] == [10, 11, 15]
