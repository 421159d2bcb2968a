"""A result as lines of text: its rank, its path with the lines, and the words that matched."""

from __future__ import annotations

import pytest

from donna_tui.search.snippets import LazySnippet
from donna_tui.tui.lib.styled import cells, plain
from donna_tui.tui.search.preview import heading
from donna_tui.tui.search.results import ResultRow, place, row_lines, score_bar, trail
from tests.tui.driving import hit

DEEP = "Projects/gateway/2026/decisions and their reasons/why the gateway keeps its sessions.md"


@pytest.mark.parametrize("width", range(8, 120, 3))
def test_line_numbers_are_never_cut(width: int) -> None:
    one = hit("one", path=DEEP, start_line=1041, end_line=1058, vector_rank=3, keyword_rank=12)
    lines = row_lines(ResultRow(one), max(width, 12), 1)
    assert ":1041–1058" in plain(lines[1])
    assert all(cells(line) <= max(width, 12) for line in lines)


def test_a_path_is_shortened_in_the_middle() -> None:
    one = hit("one", path=DEEP, start_line=1, end_line=2)
    assert place(one, 200) == f"{DEEP}:1–2"
    assert place(one, 70) == "Projects/…/why the gateway keeps its sessions.md:1–2"
    assert place(one, 46) == "…/why the gateway keeps its sessions.md:1–2"
    assert place(one, 24).endswith(":1–2")
    assert "…" in place(one, 24)


def test_the_bar_shows_the_value_that_the_hit_was_ranked_by() -> None:
    strong, weak = hit("a", score=0.1, rank_score=0.98), hit("b", score=0.9, rank_score=0.12)
    assert "0.98" in plain(row_lines(ResultRow(strong), 80, 1)[0])
    assert "0.12" in plain(row_lines(ResultRow(weak), 80, 1)[0])
    assert plain(score_bar(0.98, with_bar=True)).count("━") > plain(score_bar(0.12, with_bar=True)).count("━")


@pytest.mark.parametrize(("width", "lines"), [(30, 1), (46, 1), (46, 2), (100, 2)])
def test_the_match_is_visible_at_the_drawn_width(width: int, lines: int) -> None:
    text = f"{'Some words before it. ' * 9}Then the walrus certificate was renewed. {'And words after it. ' * 9}"
    one = hit("a", snippet=LazySnippet(text, ("walrus certificate",)))
    shown = row_lines(ResultRow(one), width, lines)[2:]
    assert {piece for line in shown for piece, style in line if style == "match"} >= {"walrus", "certificate"}


def test_headings_are_plain_text() -> None:
    headings = ("**Plan**", "[[Layout|The layout]] of `x`")
    assert trail(hit("a", heading_path=headings)) == " › Plan › The layout of x"
    assert heading(headings, 80, sensitive=False).plain == "Plan › The layout of x"


def test_a_near_miss_has_no_number() -> None:
    near = plain(row_lines(ResultRow(hit("close"), near=True), 80, 1)[0])
    assert "0." not in near
    assert "━" not in near
    assert "0." in plain(row_lines(ResultRow(hit("close")), 80, 1)[0])
