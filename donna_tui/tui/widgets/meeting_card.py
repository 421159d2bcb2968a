"""The selected meeting: what, when, where and with whom; how far its note is; and what the note says or would say."""

from __future__ import annotations

from collections.abc import Iterator

from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from donna_tui.drafting import Meeting, MeetingRow, MeetingState
from donna_tui.tui.widgets.draft_row import line_of, short_line
from donna_tui.tui.widgets.markdown_lines import MOST_CHARACTERS
from donna_tui.tui.widgets.meeting_list import meeting_title, state_mark, times_of
from donna_tui.tui.widgets.panel import Panel
from donna_tui.tui.widgets.passage_view import PassageView
from donna_tui.vault.frontmatter import parse_frontmatter

_MOST_PEOPLE = 6
_MOST_WARNINGS = 3
_TONES = {MeetingState.FAILED: "$text-error", MeetingState.DRAFTED: "$text-accent", MeetingState.DUE: "$text-accent"}


class MeetingCard(Panel):
    """Head, text and foot. The text stays until the next one is there, so nothing flickers."""

    head = query_one("#meeting-head", Static)
    view = query_one("#meeting-text", PassageView)
    foot = query_one("#meeting-foot", Static)

    def compose(self) -> ComposeResult:
        yield Static(id="meeting-head")
        yield PassageView(id="meeting-text")
        yield Static(id="meeting-foot")

    def show_meeting(self, row: MeetingRow | None, day: str, says: str) -> None:
        """Show what is known of a meeting. `day` and `says` are safe to show."""
        self.head.update(Content("\n").join(head_lines(row, day, says)) if row is not None else Content(""))

    def show_text(self, text: str, foot: str, *warnings: str) -> None:
        """Show the body of a note, below it where it is or goes, and what else one should know."""
        self.view.show(text[parse_frontmatter(text[:MOST_CHARACTERS]).body_start :])
        lines = [Content.styled(line_of(foot), "$text-muted")] if foot else []
        lines += [Content.styled(line_of(warning), "$text-warning") for warning in warnings[:_MOST_WARNINGS]]
        self.foot.update(Content("\n").join(lines))
        self.foot.display = bool(lines)


def head_lines(row: MeetingRow, day: str, says: str) -> Iterator[Content]:
    """The meeting in a few lines."""
    meeting = row.meeting
    yield Content.styled(meeting_title(meeting), "bold")
    facts = (f"{day}, {times_of(meeting)}", short_line(meeting.location, 80), short_line(meeting.calendar, 40))
    yield Content.styled(" · ".join(filter(None, facts)), "$text-muted")
    if meeting.attendees:
        yield Content.styled(people_of(meeting), "$text-muted")
    yield Content.assemble((state_mark(row), _TONES.get(row.state, "$text-muted")), (f" · {says}", "$text-muted"))


def people_of(meeting: Meeting) -> str:
    """Who was invited."""
    names = [
        short_line(each.name, 40) or short_line(each.email, 40) or "somebody"
        for each in meeting.attendees[:_MOST_PEOPLE]
    ]
    more = len(meeting.attendees) - len(names)
    return ", ".join(names) + (f" and {more} more" if more else "")
