"""The Meetings screen: a day or a week of the calendar with the state of each note, and what the note would say now."""

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
    """Narrow screens show one part: classes `-on-list` and `-on-text` say which."""

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
        """Begin to show meetings, once somebody looks."""
        self._backend = backend
        self.look()

    def cannot_open(self, error: DonnaError) -> None:
        """Say why there is no engine."""
        self._say(Words(sentence(error.message), sentence(error.hint or ""), is_error=True))

    def action_state(self, base: ActionState) -> ActionState:
        """What is possible here."""
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
        """Begin in the list, or with what is said in its place."""
        self.go("list")

    def go_back(self) -> bool:
        """One level out. False if this is the outermost one."""
        if self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        elif self.has_class("-on-text"):
            self.go("list")
        else:
            return False
        return True

    def go(self, place: str) -> None:
        """Put the focus into a part, and show it where only one is in sight."""
        self._place(place)
        self.screen.set_focus(self._part(place))

    def jump_targets(self) -> Iterable[JumpTarget]:
        """The rows in sight, and the text."""
        if self.rows.is_on_screen and self.rows.region:
            yield from self.rows.jump_targets()
        if self.card.view.is_on_screen and self.card.view.region:
            yield JumpTarget(*self.card.view.region.offset, go=self.card.view.focus)

    def on_descendant_focus(self) -> None:
        """Narrow screens show the part that has the focus."""
        self._place("text" if self.screen.focused is self.card.view else "list")

    def on_engine_events(self, event: EngineEvents) -> None:
        """Look again when a note was written or a calendar was read."""
        if any(map(is_about_meetings, event.events)):
            self.look_soon()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Let the card follow the list."""
        event.stop()
        self.follow()

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """A double click does what enter does."""
        event.stop()
        self.call_later(self.app.run_action, "run('meetings.open')", self.screen)

    def action_meetings_open(self) -> None:
        """Go to the draft, or to the note."""
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
        """Write no drafts of the series by itself any more, or write them again."""
        if self.selected is not None and self._backend is not None:
            self.want_notes(self._backend, self.selected)

    def action_meetings_earlier(self) -> None:
        """The day or week before."""
        self._turn_to(self._agenda.step(-1))

    def action_meetings_later(self) -> None:
        """The next day or week."""
        self._turn_to(self._agenda.step(1))

    def action_meetings_today(self) -> None:
        """The day or week of now."""
        self._turn_to(replace(self._agenda, day=local_day(time())))

    def action_meetings_span(self) -> None:
        """The day under the cursor, or the week that holds it."""
        row = self.selected
        day: datetime.date = row.meeting.day if row is not None else self._agenda.day
        self._turn_to(replace(self._agenda, day=day).other_span())

    def action_meetings_refresh(self) -> None:
        """Read all calendars now."""
        if self._backend is not None:
            self.read_calendars(self._backend)

    def action_meetings_add(self) -> None:
        """Follow one more calendar."""
        if self._backend is not None:
            self.add_calendar(self._backend)

    def action_view_next(self) -> None:
        """Go to the other part, also where only one is in sight."""
        self.go("list" if self.has_class("-on-text") else "text")

    def action_view_previous(self) -> None:
        """The same: there are two."""
        self.action_view_next()

    def action_view_zoom(self) -> None:
        """Give the part with the focus all the room, or take it back."""
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
