"""The small widgets of the Activity screen: bars, graph, tables and rows of exactly the right width."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from textual.content import Content

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.activity.figures import (
    Figure,
    coverage_figures,
    engine_figures,
    latency_figures,
    problem_content,
    spark_lines,
    table_lines,
    tone_of,
)
from donna_tui.tui.activity.log import LogRow, columns, row_content
from donna_tui.tui.lib.event_messages import Kind, Sentence, Tone
from donna_tui.tui.lib.inputs import bar
from tests.tui import scenarios
from tests.tui.sample_vault import NOW

words = st.text(max_size=60).map(clean_line)


def cells_of(drawn: Content, style: str) -> str:
    """Return the characters of a bar in one style."""
    return "".join(drawn.plain[span.start : span.end] for span in drawn.spans if span.style == style)


def test_coverage_bar_shows_semantic_keyword_and_remaining_share() -> None:
    drawn = bar(meaning=5, words=8, total=10, width=10)
    assert cells_of(drawn, "$accent") == "━" * 5
    assert cells_of(drawn, "$text-disabled") == "━" * 3
    assert cells_of(drawn, "$border-blurred") == "━" * 2


def test_coverage_bar_draws_half_cells() -> None:
    assert cells_of(bar(meaning=1, words=1, total=20, width=10), "$accent") == "╸"


@pytest.mark.parametrize("meaning", [0, 1, 9_999])
def test_a_bar_is_never_empty_or_full_too_early(meaning: int) -> None:
    drawn = cells_of(bar(meaning=meaning, words=meaning, total=10_000, width=10), "$accent")
    assert bool(drawn) == (meaning > 0)
    assert drawn != "━" * 10


@pytest.mark.parametrize(("total", "width"), [(0, 10), (10, 0), (0, 0)])
def test_coverage_bar_without_items_fills_its_width(total: int, width: int) -> None:
    assert len(bar(meaning=0, words=0, total=total, width=width).plain) == width


def test_spark_lines_scale_to_the_peak_and_show_small_values() -> None:
    assert spark_lines((0, 1, 50, 100), width=4, height=1) == [" ▁▄█"]
    assert spark_lines((0, 1, 50, 100), width=4, height=2) == ["   █", " ▁██"]


def test_the_graph_keeps_the_newest_values_at_the_right() -> None:
    assert spark_lines((9, 9, 0, 1), width=2, height=1) == [" █"]
    assert spark_lines((1,), width=3, height=1) == ["  █"]
    assert spark_lines((), width=3, height=2) == ["   ", "   "]
    assert spark_lines((1, 2), width=0, height=1) == [""]


@given(path=words, detail=words, stages=words, width=st.integers(0, 240))
def test_log_row_has_exactly_the_requested_width(path: str, detail: str, stages: str, width: int) -> None:
    sentence = Sentence(Kind.NOTES, Tone.ERROR, "Indexed", path, detail, "41 ms", stages)
    content = row_content(LogRow(1, NOW, sentence, times=3), width)
    assert content.cell_length == width
    assert "\n" not in content.plain


@pytest.mark.parametrize("width", range(40, 240, 10))
def test_column_widths_never_exceed_the_available_width(width: int) -> None:
    widths = columns(width)
    assert min(widths.path, widths.rest, widths.times) >= 0
    assert widths.path + widths.rest <= width


@pytest.mark.parametrize("width", [0, 5, 20, 38, 80])
@pytest.mark.parametrize("name", ["normal", "empty", "hostile"])
def test_tables_keep_to_their_width(name: str, width: int) -> None:
    status = getattr(scenarios, name)().current
    for figures in (coverage_figures(status), latency_figures(status), engine_figures(status)):
        for line in table_lines(figures, width):
            assert line.cell_length <= max(width, 0)


def test_numbers_are_aligned() -> None:
    first, second = table_lines([Figure("Notes", ("501", "")), Figure("Passages", ("2,914", "84 %"))], 30)
    assert first.plain == "Notes                501      "
    assert second.plain == "Passages           2,914  84 %"


def test_problem_severity_depends_on_its_kind() -> None:
    assert tone_of(scenarios.VANISHED) is Tone.ERROR
    assert tone_of(scenarios.BROKEN_NOTE) is Tone.WARNING


def test_a_problem_says_what_where_when_and_what_helps() -> None:
    lines = problem_content(scenarios.BROKEN_NOTE).plain.split("\n")
    assert "Properties cannot be read  Meetings/2025-11-04-review.md" in lines[0]
    assert "next try" in lines[0]
    assert lines[2].strip() == scenarios.BROKEN_NOTE.hint
