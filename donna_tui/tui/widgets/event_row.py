"""One row of the event log, laid out in columns for a given width."""

from __future__ import annotations

from textual.content import Content

from donna_tui.records import dataclass
from donna_tui.tui.humanize import clock, shorten_path
from donna_tui.tui.sentences import Sentence, Tone
from donna_tui.tui.widgets.event_ring import LogRow

_TIME = 8
_WHAT = 16
_TOOK = 7
_STAGES = 40
_GAP = "  "
_MOST_PATH = 56
MARKS = {Tone.GOOD: "●", Tone.PLAIN: "○", Tone.QUIET: "·", Tone.WARNING: "▲", Tone.ERROR: "✕"}


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells: the path, everything after it, and within that the times at the right, if there is room."""

    path: int
    rest: int
    times: int


def columns(width: int) -> Columns:
    """How a row of `width` cells is divided after the time and what happened."""
    room = max(0, width - _TIME - len(_GAP) - len("● ") - _WHAT - len(_GAP))
    times = _STAGES if room >= 112 else _TOOK if room >= 64 else 0
    path = min(room, _MOST_PATH, max(20, (room - times) * 44 // 100))
    return Columns(path, max(0, room - path - len(_GAP)), times)


def row_content(row: LogRow, width: int) -> Content:
    """The row, exactly `width` cells wide. Its spans name the classes `tone--…`."""
    sentence, widths = row.sentence, columns(width)
    quiet = f".tone--{Tone.QUIET}"
    what = Content(f"{sentence.what} × {row.times}" if row.times > 1 else sentence.what)
    times = sentence.stages or sentence.took if widths.times == _STAGES else sentence.took if widths.times else ""
    parts = [
        Content.styled(clock(row.at), quiet),
        Content.assemble(
            (MARKS[sentence.tone], f".tone--{sentence.tone}"), " ", what.truncate(_WHAT, ellipsis=True, pad=True)
        ),
        *_place(sentence.path, widths),
        _detail_and_times(sentence, times, widths),
    ]
    return Content(_GAP).join(parts).truncate(width, pad=True)


def _place(path: str, widths: Columns) -> list[Content]:
    """The path in its column; nothing without one, so that the detail begins where the path would."""
    return [Content(shorten_path(path, widths.path)).truncate(widths.path, pad=True)] if path else []


def _detail_and_times(sentence: Sentence, times: str, widths: Columns) -> Content:
    """The detail, with as much room as the times leave it."""
    room = widths.rest if sentence.path else widths.rest + widths.path + len(_GAP)
    tone = sentence.tone if sentence.tone in (Tone.WARNING, Tone.ERROR) else Tone.QUIET
    detail = Content.styled(sentence.detail, f".tone--{tone}")
    if not times:
        return detail.truncate(room, ellipsis=True, pad=True)
    left = max(0, room - max(len(times), _TOOK) - len(_GAP))
    right = Content.styled(times.rjust(room - left), f".tone--{Tone.QUIET}")
    return Content.assemble(detail.truncate(left, ellipsis=True, pad=True), right)
