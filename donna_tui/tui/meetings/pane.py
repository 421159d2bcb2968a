"""The Meetings screen: a day or a week of the calendar with the state of each note, and a preview of the note."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import replace
from time import time

from textual.app import ComposeResult
from textual.widget import Widget
from textual.widgets import Static

from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.error_messages import sentence
from donna_tui.tui.lib.inputs import Notice, Words
from donna_tui.tui.lib.jump import JumpTarget
from donna_tui.tui.lib.lines import RowList
from donna_tui.tui.lib.messages import EngineEvents, OpenDraft, OpenNote
from donna_tui.tui.meetings.list import MeetingCard, MeetingList
from donna_tui.tui.meetings.reading import MeetingsReading, is_about_meetings
from donna_tui.tui.meetings.wording import LOADING, Agenda, is_in_review, local_day, why_no_draft_now, why_no_note
from donna_tui.types.errors import DonnaError


class MeetingsPane(MeetingsReading):
    """The layout of the Meetings screen. On narrow screens, `-on-list` or `-on-text` names the visible part."""

    BINDINGS = bindings("meetings")

    def compose(self) -> ComposeResult:
        with Panel("Meetings", id="agenda-part"):
            yield Static(id="agenda-head")
            yield MeetingList(id="agenda")
            yield Notice(keys=self._keys, id="meetings-notice")
            yield Static(id="calendar-problems")
            yield Static(id="calendars")
        yield MeetingCard("Meeting", id="meeting-card")

    def on_mount(self) -> None:
        self._say(LOADING)

    def connect(self, backend: Backend) -> None:
        """Connect to the backend; the calendar is read once the screen is shown."""
        self._backend = backend
        self.look()

    def cannot_open(self, error: DonnaError) -> None:
        """Show why there is no engine."""
        self._say(Words(sentence(error.message), sentence(error.hint or ""), is_error=True))

    def action_state(self, base: ActionState) -> ActionState:
        """Return the state that decides which actions are possible."""
        row = self.selected
        being_written = row is not None and row.meeting.event_id in self._being_written
        return replace(
            base,
            pane="meetings",
            meeting=row is not None,
            no_note=why_no_note(row, self._keys),
            no_draft_now=why_no_draft_now(row, self._keys, being_written=being_written),
            calendar=not self.has_class("-empty"),
        )

    def focus_first(self) -> None:
        """Focus the list, or the notice in its place."""
        self.go("list")

    def go_back(self) -> bool:
        """Go one level out. Return False if this is the outermost one."""
        if self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        elif self.has_class("-on-text"):
            self.go("list")
        else:
            return False
        return True

    def go(self, place: str) -> None:
        """Focus a part, and show it on narrow screens."""
        self._place(place)
        self.screen.set_focus(self._part(place))

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the visible rows, and the text."""
        if self.rows.is_on_screen and self.rows.region:
            yield from self.rows.jump_targets()
        if self.card.view.is_on_screen and self.card.view.region:
            yield JumpTarget(*self.card.view.region.offset, go=self.card.view.focus)

    def on_descendant_focus(self) -> None:
        """Show the part with the focus on narrow screens."""
        self._place("text" if self.screen.focused is self.card.view else "list")

    def on_engine_events(self, event: EngineEvents) -> None:
        """Schedule reading the list after a note was written or a calendar was read."""
        if any(map(is_about_meetings, event.events)):
            self.look_soon()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Update the card for the selected meeting."""
        event.stop()
        self.follow()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Open the row on a double click, as Enter does."""
        event.stop()
        self.call_later(self.app.run_action, "run('meetings.open')", self.screen)

    def action_meetings_open(self) -> None:
        """Open the draft in Review, or the note in the Vault."""
        row = self.selected
        if row is None:
            return
        if is_in_review(row):
            self.post_message(OpenDraft(row.draft))
        elif row.path:
            self.post_message(OpenNote(row.path))

    def action_meetings_write(self) -> None:
        """Write the draft now."""
        if self.selected is not None and self._backend is not None:
            self.write_now(self._backend, self.selected.meeting.event_id)

    def action_meetings_never(self) -> None:
        """Turn automatic drafts of the series off, or on again."""
        if self.selected is not None and self._backend is not None:
            self.want_notes(self._backend, self.selected)

    def action_meetings_earlier(self) -> None:
        """Show the previous day or week."""
        self._turn_to(self._agenda.step(-1))

    def action_meetings_later(self) -> None:
        """Show the next day or week."""
        self._turn_to(self._agenda.step(1))

    def action_meetings_today(self) -> None:
        """Show the current day or week."""
        self._turn_to(replace(self._agenda, day=local_day(time())))

    def action_meetings_span(self) -> None:
        """Show the day under the cursor, or the week that contains it."""
        row = self.selected
        day: datetime.date = row.meeting.day if row is not None else self._agenda.day
        self._turn_to(replace(self._agenda, day=day).other_span())

    def action_meetings_refresh(self) -> None:
        """Read all calendars now."""
        if self._backend is not None:
            self.read_calendars(self._backend)

    def action_meetings_add(self) -> None:
        """Add a calendar to follow."""
        if self._backend is not None:
            self.add_calendar(self._backend)

    def action_view_next(self) -> None:
        """Go to the other part, even if it is not visible."""
        self.go("list" if self.has_class("-on-text") else "text")

    def action_view_previous(self) -> None:
        """Go to the other part; there are only two."""
        self.action_view_next()

    def action_view_zoom(self) -> None:
        """Zoom the part with the focus, or restore the layout."""
        self.toggle_class("-zoomed")

    def _turn_to(self, agenda: Agenda) -> None:
        self._agenda = agenda
        self.look()

    def _part(self, place: str) -> Widget:
        if self.has_class("-empty"):
            return self.notice
        return self.card.view if place == "text" else self.rows

    def _place(self, place: str) -> None:
        for each in ("list", "text"):
            self.set_class(each == place, f"-on-{each}")
