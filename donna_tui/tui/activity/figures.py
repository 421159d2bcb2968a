"""Figures of the Activity screen: tables, sparklines, and the state of the index."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.activity.log import MARKS
from donna_tui.tui.activity.wording import Figure, Line, doing, headline, is_working, since_start
from donna_tui.tui.lib.event_messages import Tone
from donna_tui.tui.lib.humanize import shorten_path
from donna_tui.tui.lib.progress_bar import ProgressBar
from donna_tui.types.errors import DonnaError
from donna_tui.types.status import Status

_GAP = 2


def table_lines(figures: Sequence[Figure], width: int) -> list[Content]:
    """Format each figure in `width` cells. Several values form right-aligned columns."""
    columns = max((len(figure.values) for figure in figures), default=0)
    widths = [
        max((len(figure.values[column]) for figure in figures if 1 < len(figure.values) > column), default=0)
        for column in range(columns)
    ]
    labels = max((len(figure.label) for figure in figures if len(figure.values) == 1), default=0)
    return [_line(figure, width, widths, labels) for figure in figures]


class FigureTable(Widget):
    """Draw `table_lines` over the whole width, one row per figure."""

    figures: reactive[tuple[Figure, ...]] = reactive((), layout=True)

    def render(self) -> Content:
        return Content("\n").join(table_lines(self.figures, self.content_size.width))


def _line(figure: Figure, width: int, widths: list[int], labels: int) -> Content:
    label = Content.styled(figure.label, f".tone--{Tone.QUIET}")
    if len(figure.values) == 1:
        labels = labels + _GAP if figure.label else 0
        room = max(0, width - labels)
        value = shorten_path(figure.values[0], room) if figure.is_path else figure.values[0]
        cut = Content.styled(value, f".tone--{figure.tone}").truncate(room, ellipsis=True)
        return Content.assemble(label.truncate(labels, pad=True), cut).truncate(width)
    values = [
        Content.styled(value.rjust(cells), f".tone--{figure.tone}")
        for value, cells in zip(figure.values, widths, strict=False)
    ]
    right = Content(" " * _GAP).join(values)
    room = max(0, width - right.cell_length - _GAP)
    return Content.assemble(label.truncate(room, ellipsis=True, pad=True), " " * _GAP, right).truncate(width)


_BLOCKS = " ▁▂▃▄▅▆▇█"
_STEPS = len(_BLOCKS) - 1


def spark_lines(values: Sequence[float], width: int, height: int) -> list[str]:
    """Format the last `width` values as `height` lines of blocks, newest on the right, with a block if positive."""
    shown = [max(0.0, value) for value in values[-width:]] if width > 0 else []
    peak = max(shown, default=0.0)
    heights = [max(1, round(value / peak * height * _STEPS)) if value > 0 else 0 for value in shown]
    lines = []
    for row in reversed(range(height)):
        line = "".join(_BLOCKS[min(_STEPS, max(0, level - row * _STEPS))] for level in heights)
        lines.append(line.rjust(width))
    return lines


class SparklineRow(Widget):
    """Draw `spark_lines` over the whole size, above a base line."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"spark--line", "spark--base"}

    values: reactive[tuple[float, ...]] = reactive(())

    def render(self) -> Content:
        width, height = self.content_size
        *upper, last = spark_lines(self.values, width, max(1, height))
        rows = [Content.styled(line, ".spark--line") for line in upper]
        bottom = (("▁", ".spark--base") if block == " " else (block, ".spark--line") for block in last)
        return Content("\n").join([*rows, Content.assemble(*bottom)])


class Overview(Vertical):
    """Draw a `Status`. The graph is visible only while passages are being embedded."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="headline"):
            yield Static(id="headline-mark", markup=False)
            yield Static(id="headline-text", markup=False)
        yield ProgressBar()
        yield Static(id="doing", markup=False)
        yield SparklineRow()
        yield Static(id="since-start", markup=False)

    def on_mount(self) -> None:
        self._show_headline(Line(Tone.QUIET, "Opening the vault …"))

    def refuse(self, error: DonnaError) -> None:
        """Show why there is nothing to draw."""
        self._show_headline(Line(Tone.ERROR, clean_line(error.message)), clean_line(error.hint or ""))

    def show(self, status: Status) -> None:
        """Draw a newer status."""
        self._show_headline(headline(status), doing(status))
        self.query_one("#since-start", Static).update(Content(since_start(status)))
        coverage = status.coverage
        self.query_one(ProgressBar).show(meaning=coverage.vectors, words=coverage.text, total=coverage.notes)
        self.query_one(SparklineRow).values = status.throughput
        self.set_class(is_working(status), "-working")

    def _show_headline(self, line: Line, below: str = "") -> None:
        self.query_one("#headline-mark", Static).update(Content.styled(MARKS[line.tone], f".tone--{line.tone}"))
        self.query_one("#headline-text", Static).update(Content.styled(line.text, ".tone--title"))
        self.query_one("#doing", Static).update(Content(below))
