"""One row of the event log, laid out in columns for a given width."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content

from donna_tui.tui.humanize import clock, shorten_path
from donna_tui.tui.widgets.event_ring import LogRow
from donna_tui.tui.wording import Tone

_TIME = 8
_WHAT = 16
_STAGES = 40
_GAP = 2
MARKS = {Tone.GOOD: "●", Tone.PLAIN: "○", Tone.QUIET: "·", Tone.WARNING: "▲", Tone.ERROR: "✕"}


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells. `stages` is 0 where there is no room for them."""

    path: int
    detail: int
    stages: int


def columns(width: int) -> Columns:
    """How a row of `width` cells is divided: the path first, then what happened, then the times."""
    room = max(0, width - _TIME - _GAP - 2 - _WHAT - _GAP)
    stages = _STAGES if room >= 112 else 0
    room -= stages + _GAP if stages else 0
    path = min(room, max(20, room * 45 // 100))
    return Columns(path, max(0, room - path - _GAP), stages)


def row_content(row: LogRow, width: int) -> Content:
    """The row, exactly `width` cells wide. Colours come from the classes `tone--…` of the pane around it."""
    sentence, widths = row.sentence, columns(width)
    tone = f".tone--{sentence.tone}"
    quiet = f".tone--{Tone.QUIET}"
    what = Content(f"{sentence.what} × {row.times}" if row.times > 1 else sentence.what)
    head = Content.assemble(
        (clock(row.at), quiet), "  ", (MARKS[sentence.tone], tone), " ", what.truncate(_WHAT, ellipsis=True, pad=True)
    )
    tail = _stages(sentence.stages, widths.stages, quiet)
    room = width - head.cell_length - _GAP - (tail.cell_length + _GAP if tail else 0)
    middle = _middle(row, widths, max(0, room), tone)
    parts = [head, Content(" " * _GAP), middle] + ([Content(" " * _GAP), tail] if tail else [])
    return Content.assemble(*parts).truncate(width, pad=True)


def _middle(row: LogRow, widths: Columns, room: int, tone: str) -> Content:
    """Path and detail; without a path the detail begins where the path would."""
    sentence = row.sentence
    detail_style = tone if sentence.tone in (Tone.WARNING, Tone.ERROR) else f".tone--{Tone.QUIET}"
    detail = Content.styled(sentence.detail, detail_style)
    if not sentence.path:
        return detail.truncate(room, ellipsis=True, pad=True)
    path = Content(shorten_path(sentence.path, widths.path)).truncate(widths.path, pad=True)
    rest = max(0, room - path.cell_length - _GAP)
    return Content.assemble(path, " " * _GAP, detail.truncate(rest, ellipsis=True, pad=True)).truncate(room, pad=True)


def _stages(stages: str, width: int, style: str) -> Content:
    if not width:
        return Content()
    text = Content.styled(stages, style).truncate(width, ellipsis=True)
    return text.pad_left(width - text.cell_length)
