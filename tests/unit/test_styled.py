"""Lines of styled pieces: never too wide, complete except for what an ellipsis replaces, every letter in its style."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from donna_tui.tui.lib.styled import Line, cells, cut, plain, width_of, wrapped

LETTERS = "ab é…漢字👍ｗ"
lines = st.lists(st.tuples(st.text(LETTERS, max_size=12), st.sampled_from(["one", "two"])), max_size=6)
words = st.lists(st.text(LETTERS.replace(" ", ""), min_size=1, max_size=9), min_size=1, max_size=12)


@given(st.one_of(st.text(), st.text(st.characters(max_codepoint=0x2600))))
def test_a_text_is_as_wide_as_rich_says(text: str) -> None:
    assert width_of(text) == cell_len(text)


def styled(line: Line) -> list[tuple[str, str]]:
    return [(letter, style) for text, style in line for letter in text]


@given(lines, st.integers(2, 30))
def test_a_cut_line_has_room_and_says_that_it_is_cut(line: Line, width: int) -> None:
    short = cut(line, width)
    assert cells(short) <= width
    if cells(line) <= width:
        assert short == line
    else:
        assert plain(short).endswith("…")
        kept = styled(short)[:-1]
        kept = kept[:-1] if kept and kept[-1][0] == " " else kept  # half of a wide letter is a space
        assert styled(line)[: len(kept)] == kept


@given(words, st.integers(2, 24))
def test_all_rows_of_a_line_hold_all_its_letters(some: list[str], width: int) -> None:
    line = [(f"{word} ", "two" if number % 2 else "one") for number, word in enumerate(some)]
    rows = wrapped(line, width, 1_000)
    assert all(cells(row) <= width for row in rows)
    letters = [each for row in rows for each in styled(row) if each[0] != " "]
    assert letters == [each for each in styled(line) if each[0] != " "]


@given(words, st.integers(4, 24), st.integers(1, 3))
def test_the_last_of_few_rows_says_that_there_is_more(some: list[str], width: int, most: int) -> None:
    line = [(" ".join(some), "one")]
    rows, whole = wrapped(line, width, most), wrapped(line, width, 1_000)
    assert all(cells(row) <= width for row in rows)
    if len(whole) <= most:
        assert rows == whole
    else:
        assert len(rows) == most
        assert rows[:-1] == whole[: most - 1]
        assert plain(rows[-1]).endswith(" …")


def test_words_stay_whole_where_there_is_room_for_them() -> None:
    rows = [plain(row) for row in wrapped([("one two three four", "one")], 9, 9)]
    assert rows == ["one two", "three", "four"]
    assert [plain(row) for row in wrapped([("one two three four", "one")], 9, 2)] == ["one two", "three …"]


def test_a_word_that_is_wider_than_a_row_is_broken() -> None:
    assert [plain(row) for row in wrapped([("abcdefg 漢字漢字", "one")], 4, 9)] == ["abcd", "efg", "漢字", "漢字"]


def test_wrapping_to_zero_rows_or_empty_text_returns_nothing() -> None:
    assert wrapped([("text", "one")], 9, 0) == []
    assert wrapped([("", "one")], 9, 3) == []
    assert cell_len(plain(cut([], 3))) == 0
