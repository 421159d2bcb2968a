"""The meetings of a day or a week, and the selected one in full."""

from __future__ import annotations

import datetime
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from donna_tui.text.plural import first_of
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.humanize import local, one_line, plural, short_line
from donna_tui.tui.lib.inputs import show_label
from donna_tui.tui.lib.lines import ItemList, row_of
from donna_tui.tui.lib.markdown import MAX_CHARACTERS
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.types.drafts import Meeting, MeetingRow, MeetingState
from donna_tui.vault.note.read import parse_frontmatter

_TIMES = 11
_STATE = 11
_ROOMY = 46

GLYPHS = {
    MeetingState.COMING: ("○", "muted"), MeetingState.NOW: ("▸", "accent"), MeetingState.ENDED: ("·", "quiet"),
    MeetingState.DUE: ("…", "accent"), MeetingState.DRAFTED: ("●", "accent"), MeetingState.WRITTEN: ("✓", "muted"),
    MeetingState.REJECTED: ("✗", "quiet"), MeetingState.FAILED: ("!", "error"),
    MeetingState.CANCELLED: ("–", "quiet"),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Separator:
    """A line between meetings: a day, or a detail of the meeting above."""

    text: str
    is_day: bool


class MeetingList(ItemList[MeetingRow | Separator]):
    """A list of meetings in which the cursor skips the lines between."""

    @property
    def selected(self) -> MeetingRow | None:
        row = super().selected
        return row if isinstance(row, MeetingRow) else None

    def show(
        self, meetings: Sequence[MeetingRow], titles: dict[datetime.date, str], now: float, *, select: str = ""
    ) -> None:
        """List meetings under the titles of their days. Select the meeting with the id `select`, else the one selected
        before, else the next to come.
        """
        rows = tuple(rows_of(meetings, titles))
        ends = ((place, row.meeting.end) for place, row in enumerate(rows) if isinstance(row, MeetingRow))
        upcoming = (place for place, end in ends if end.timestamp() >= now)
        self.set_items(rows, select=select, otherwise=next(upcoming, len(rows) - 1))

    def key(self, item: MeetingRow | Separator) -> object:
        return item.meeting.event_id if isinstance(item, MeetingRow) else None

    def can_select(self, item: MeetingRow | Separator) -> bool:
        return isinstance(item, MeetingRow)

    def row(self, index: int, width: int) -> Content:
        row = self.items[index]
        if isinstance(row, MeetingRow):
            return meeting_line(row, width)
        if row.is_day:
            return Content.styled(row.text, "strong").truncate(width, ellipsis=True, pad=True)
        text = " " * (_TIMES + 2) + row.text
        return Content.styled(text, "warning").truncate(width, ellipsis=True, pad=True)


def rows_of(meetings: Sequence[MeetingRow], titles: dict[datetime.date, str]) -> Iterator[MeetingRow | Separator]:
    """Yield the rows of sorted meetings, with titled days, and the reasons of failed notes."""
    day: datetime.date | None = None
    for row in meetings:
        if row.meeting.day != day:
            day = row.meeting.day
            if day in titles:
                yield Separator(titles[day], is_day=True)
        yield row
        if row.state is MeetingState.FAILED and row.detail:
            yield Separator(one_line(row.detail), is_day=False)


def meeting_line(row: MeetingRow, width: int) -> Content:
    is_off = row.state in (MeetingState.REJECTED, MeetingState.ENDED)
    tone = "quiet" if row.meeting.cancelled else "muted" if is_off else "plain"
    left = Content.assemble((f"{times_of(row.meeting):<{_TIMES}}  ", "muted"), (meeting_title(row.meeting), tone))
    glyph, mark = GLYPHS[row.state]
    state = f"{state_word(row):<{_STATE - 2}}"
    people = len(row.meeting.attendees)
    shown = plural(people, "person", "people") if people and width >= _ROOMY else str(people or "")
    right = Content.assemble((f"  {shown}  ", "quiet"), (f"{glyph} ", mark), (state, mark))
    return row_of(left, right, width)


def meeting_title(meeting: Meeting) -> str:
    return short_line(meeting.title, 120) or "untitled"


def times_of(meeting: Meeting) -> str:
    """Format the start and end in local time: `09:30–10:00`."""
    if meeting.all_day:
        return "all day"
    return f"{local(meeting.start.timestamp(), '%H:%M')}–{local(meeting.end.timestamp(), '%H:%M')}"


def state_word(row: MeetingRow) -> str:
    """Return the state of a meeting's note; a cancelled meeting is shown as such even if it has a draft."""
    return MeetingState.CANCELLED.value if row.meeting.cancelled else row.state.value


_MAX_PEOPLE = 6
_MAX_WARNINGS = 3
_TONES = {MeetingState.FAILED: "$text-error", MeetingState.DRAFTED: "$text-accent", MeetingState.DUE: "$text-accent"}


class MeetingCard(Panel):
    """Head, text and foot of a meeting. The text is kept until the next one is loaded, to avoid flicker."""

    head = query_one("#meeting-head", Static)
    view = query_one("#meeting-text", PassageView)
    foot = query_one("#meeting-foot", Static)

    def compose(self) -> ComposeResult:
        yield Static(id="meeting-head")
        yield PassageView(id="meeting-text")
        yield Static(id="meeting-foot")

    def show_meeting(self, row: MeetingRow | None, day: str, status: str) -> None:
        """Show the facts of a meeting. `day` and `status` must be sanitised."""
        self.head.update(Content("\n").join(head_lines(row, day, status)) if row is not None else Content(""))

    def show_text(self, text: str, foot: str, *warnings: str) -> None:
        """Show the body of a note, and below it its path or target, and warnings."""
        self.view.show(text[parse_frontmatter(text[:MAX_CHARACTERS]).body_start :])
        lines = [Content.styled(one_line(foot), "$text-muted")] if foot else []
        lines += [Content.styled(one_line(warning), "$text-warning") for warning in warnings[:_MAX_WARNINGS]]
        show_label(self.foot, Content("\n").join(lines))


def head_lines(row: MeetingRow, day: str, status: str) -> Iterator[Content]:
    meeting = row.meeting
    yield Content.styled(meeting_title(meeting), "bold")
    facts = (f"{day}, {times_of(meeting)}", short_line(meeting.location, 80), short_line(meeting.calendar, 40))
    yield Content.styled(" · ".join(filter(None, facts)), "$text-muted")
    if meeting.attendees:
        yield Content.styled(people_of(meeting), "$text-muted")
    state = f"{GLYPHS[row.state][0]} {state_word(row)}"
    yield Content.assemble((state, _TONES.get(row.state, "$text-muted")), (f" · {status}", "$text-muted"))


def people_of(meeting: Meeting) -> str:
    names = [short_line(each.label, 40) or short_line(each.email, 40) or "unknown" for each in meeting.attendees]
    return first_of(names, _MAX_PEOPLE)
