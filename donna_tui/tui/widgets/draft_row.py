"""One draft in the queue as two lines: its title and age; what it is, and where it goes or why it failed."""

from __future__ import annotations

from pathlib import PurePosixPath

from rich.cells import cell_len
from textual.content import Content

from donna_tui.drafting import DraftRow, DraftState
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.humanize import age, clock, near_moment, shorten_path
from donna_tui.tui.widgets.scrolled import row_of

_LONGEST = 400
"""Characters of a title, path or reason that are looked at; no screen shows more."""

_TITLE = 120
_NAME = 40
"""Characters of a title, and of the name of a template, that are shown where it may be wrapped."""

_INDENT = "  "
_GLYPHS = {
    DraftState.WAITING: ("●", "accent"),
    DraftState.APPROVED: ("✓", "quiet"),
    DraftState.REJECTED: ("✗", "quiet"),
    DraftState.FAILED: ("!", "error"),
    DraftState.GONE: ("?", "warning"),
}


def line_of(text: str) -> str:
    """The beginning of a text on one line, safe to show."""
    return clean_line(" ".join(text[:_LONGEST].split()))


def short_line(text: str, most: int) -> str:
    """A text on one line, of at most so many characters."""
    line = line_of(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def title_of(row: DraftRow) -> str:
    """The title of a draft, or else the name of its note."""
    return short_line(row.title, _TITLE) or short_line(PurePosixPath(row.target).stem, _TITLE) or "untitled"


def kind_of(row: DraftRow) -> str:
    """What it is, in words: `meeting note`."""
    return short_line(row.skill, _NAME).replace("_", " ")


def first_line(row: DraftRow, width: int, now: float) -> Content:
    """State and title; when its meeting is, or how old it is."""
    glyph, tone = _GLYPHS[row.state]
    title = "strong" if row.state in (DraftState.WAITING, DraftState.FAILED) else "muted"
    left = Content.assemble((f"{glyph} ", tone), (title_of(row), title))
    return row_of(left, Content.styled(when_of(row, now) or age(row.created_at, now), "quiet"), width)


def when_of(row: DraftRow, now: float) -> str:
    """When the meeting of a draft is; empty for what is no draft of a meeting."""
    if row.meeting_at is None:
        return ""
    return f"{near_moment(row.meeting_at, now)}{', cancelled' if row.meeting_cancelled else ''}"


def second_line(row: DraftRow, width: int) -> Content:
    """Kind and target of a draft that waits; the reason of one that failed, and when it is tried again."""
    if row.state is DraftState.FAILED:
        tries = f"again {clock(row.next_try)[:5]}" if row.next_try is not None else "not again"
        why = f"{_INDENT}{line_of(row.detail)}"
        return row_of(Content.styled(why, "warning"), Content.styled(tries, "quiet"), width)
    says = _INDENT + kind_of(row) + ("" if row.state is DraftState.WAITING else f", {row.state.value}")
    room = max(8, width - cell_len(says) - 3)
    where = shorten_path(line_of(row.target), room)
    return Content.assemble((says, "muted"), (f" → {where}", "quiet")).truncate(width, ellipsis=True, pad=True)
