"""A quiet table of figures: labels at the left, values in columns at the right or, for long ones, beside the label."""

from __future__ import annotations

from collections.abc import Sequence

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from donna_tui.tui.humanize import shorten_path
from donna_tui.tui.sentences import Tone
from donna_tui.tui.summary import Figure

_GAP = 2


def table_lines(figures: Sequence[Figure], width: int) -> list[Content]:
    """Each figure in `width` cells. Several values stand in right-aligned columns; a single one follows its label."""
    columns = max((len(figure.values) for figure in figures), default=0)
    widths = [_column_width(figures, column) for column in range(columns)]
    labels = max((len(figure.label) for figure in figures if len(figure.values) == 1), default=0)
    return [_line(figure, width, widths, labels) for figure in figures]


class FigureTable(Widget):
    """Draws `table_lines` over its whole width, one row a figure."""

    figures: reactive[tuple[Figure, ...]] = reactive((), layout=True)

    def render(self) -> Content:
        return Content("\n").join(table_lines(self.figures, self.content_size.width))


def _column_width(figures: Sequence[Figure], column: int) -> int:
    in_columns = (figure.values for figure in figures if len(figure.values) > 1)
    return max((len(values[column]) for values in in_columns if column < len(values)), default=0)


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
