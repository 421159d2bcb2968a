"""The Meetings screen: a day or a week of the calendar with the state of each note, and a preview of the note."""

from __future__ import annotations

import asyncio
import datetime
from dataclasses import replace
from time import time

from textual import work
from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.widget import Widget
from textual.widgets import Static

from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.dialogs import one_dialog, showing_errors
from donna_tui.tui.lib.error_messages import error_text, sentence
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.humanize import local_day, one_line, plural
from donna_tui.tui.lib.inputs import Notice, NoticeText, error_notice, show_label
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import RowList
from donna_tui.tui.lib.messages import ActionsChanged, EngineEvents, OpenDraft, OpenNote
from donna_tui.tui.meetings import wording
from donna_tui.tui.meetings.list import MeetingCard, MeetingList
from donna_tui.tui.review.flows import DraftFlows
from donna_tui.tui.review.wording import lacks_repository, may_change_drafts
from donna_tui.tui.vault.parts_pane import LOAD_DELAY, PartsPane
from donna_tui.types.drafts import OFF_FOR_MEETING, OFF_FOR_SERIES, MeetingRow, MeetingState
from donna_tui.types.errors import DonnaError


class MeetingsPane(PartsPane):
    """The Meetings screen: the list of meetings, and the selected one with its note or draft."""

    rows = query_one(MeetingList)
    card = query_one(MeetingCard)
    BINDINGS = bindings("meetings")
    parts = places = ("list", "text")

    def __init__(self, programs: ExternalPrograms) -> None:
        super().__init__("meetings", programs)
        self._agenda = wording.Agenda(local_day(time()))
        self._being_written: set[str] = set()
        self._selects_next = ""

    def compose(self) -> ComposeResult:
        with Panel("Meetings", id="agenda-part", name="list"):
            yield Static(id="agenda-head", classes="one-line")
            yield MeetingList(id="agenda")
            yield Notice(id="meetings-notice")
            yield Static(id="calendar-problems")
            yield Static(id="calendars", classes="one-line")
        yield MeetingCard("Meeting", id="meeting-card", name="text")

    def on_mount(self) -> None:
        self._show_notice(wording.LOADING)

    def action_state(self, base: ActionState) -> ActionState:
        row = self.selected
        being_written = row is not None and row.meeting.event_id in self._being_written
        return replace(
            base,
            meeting=row is not None,
            no_note=wording.why_no_note(row),
            no_draft_now=wording.why_no_draft_now(row, being_written=being_written),
            calendar=not self.has_class("-empty") or self.notice.words.is_error,
            zoomable=not self.has_class("-empty"),
        )

    def go_back(self) -> None:
        if self._is_at("text"):
            self.show_part("list")

    def on_engine_events(self, event: EngineEvents) -> None:
        if any(map(may_change_drafts, event.events)):
            self.reload_soon()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        event.stop()
        self.follow()

    def action_meetings_open(self) -> None:
        row = self.selected
        if row is None:
            return
        if wording.is_in_review(row):
            self.post_message(OpenDraft(row.draft))
        elif row.path:
            self.post_message(OpenNote(row.path))

    def action_meetings_earlier(self) -> None:
        self._turn_to(self._agenda.step(-1))

    def action_meetings_later(self) -> None:
        self._turn_to(self._agenda.step(1))

    def action_meetings_today(self) -> None:
        self._turn_to(replace(self._agenda, day=local_day(time())))

    def action_meetings_span(self) -> None:
        row = self.selected
        day: datetime.date = row.meeting.day if row is not None else self._agenda.day
        self._turn_to(wording.Agenda(day, is_week=not self._agenda.is_week))

    def _turn_to(self, agenda: wording.Agenda) -> None:
        self._agenda = agenda
        self.reload()

    def _part(self, place: str) -> Widget:
        if self.has_class("-empty"):
            return self.notice
        return self.card.view if place == "text" else self.rows

    @property
    def selected(self) -> MeetingRow | None:
        return None if self.has_class("-empty") else self.rows.selected

    def reload(self) -> None:
        """Reload the list; while hidden, once it is shown."""
        if self._backend is not None and self.display:
            self._load(self._backend)

    def select_meeting(self, identity: str, day: datetime.date) -> None:
        self._selects_next, self._agenda = identity, replace(self._agenda, day=day)
        self.reload()

    @work(group="load", exclusive=True)
    async def _load(self, backend: Backend) -> None:
        agenda = self._agenda
        try:
            calendars = await backend.calendar.calendars()
            meetings = await backend.calendar.meetings(*agenda.bounds)
        except DonnaError as error:
            self._show_notice(error_notice(error, ("meetings.refresh", "try again")))
            return
        words, problems = wording.calendars_line(calendars)
        self.query_one("#calendars", Static).update(Content.styled(words, "$text-disabled"))
        show_label(self.query_one("#calendar-problems", Static), Content(problems))
        if not calendars and not meetings:
            self._show_notice(wording.NO_CALENDAR)
            return
        self._show_agenda(agenda, meetings)
        self.follow()

    @work(group="rule")
    async def action_meetings_never(self) -> None:
        row = self.selected
        if row is None:
            return
        wanted = row.unwanted in (OFF_FOR_SERIES, OFF_FOR_MEETING)
        with showing_errors(self):
            await self.backend.calendar.want_notes(row.meeting.event_id, wanted=wanted)
            what = "this series" if row.meeting.series_id else "this meeting"
            off = f"No more drafts of {what}. {shown_key('meetings.never')} turns them on again."
            self.notify(f"Drafts of {what} are on again." if wanted else off, timeout=5)
            self.reload()

    @work(group="write")
    async def action_meetings_write(self) -> None:
        if self.selected is None:
            return
        event_id = self.selected.meeting.event_id
        self._being_written.add(event_id)
        self.follow()
        try:
            with showing_errors(self):
                row = await self.backend.drafts.write_now(event_id)
                if lacks_repository(row):
                    flows = DraftFlows(self, self.backend)
                    if not await flows.creates_repository():
                        return
                    for each in await flows.without_repository():
                        again = await self.backend.drafts.regenerate(each.id)
                        row = again if again.id == row.id else row
                key = shown_key("meetings.open")
                failed = sentence(row.detail) if row.detail else ""
                self.notify(failed or f"The draft is waiting. {key} opens it.", timeout=5)
        finally:
            self._being_written.discard(event_id)
            self.reload()
            self.follow()

    @one_dialog("add")
    async def action_meetings_add(self) -> None:
        from donna_tui.tui.meetings.add_calendar import AddCalendar

        row = await self.app.push_screen_wait(AddCalendar(self.backend.calendar))
        if row is not None:
            held = plural(row.meetings, "meeting")
            message = f"Following {one_line(row.name)}: {held} from a month ago to two months ahead."
            self.notify(message, timeout=6)
            self.reload()

    @work(group="calendars", exclusive=True)
    async def action_meetings_refresh(self) -> None:
        self.query_one("#calendars", Static).update(Content.styled("Reading the calendars …", "$text-accent"))
        with showing_errors(self):
            await self.backend.calendar.refresh()
        self.reload()

    def follow(self) -> None:
        """Update the card for the selected meeting: known facts at once, its note after a short delay."""
        self.workers.cancel_group(self, "read")  # which may be of the meeting before
        row = self.selected
        if row is None:
            self.card.show_meeting(None, "", "")
            self.card.show_text("", "")
        else:
            state = wording.state_text(row, time(), being_written=row.meeting.event_id in self._being_written)
            self.card.show_meeting(row, wording.day_title(row.meeting.day, local_day(time())), state)
        self.post_message(ActionsChanged())
        if row is not None:
            self._read(row)

    @work(group="read", exclusive=True)
    async def _read(self, row: MeetingRow) -> None:
        await asyncio.sleep(LOAD_DELAY)
        try:
            await self._show_note(row)
        except DonnaError as error:
            self.card.show_text("", "", error_text(error))

    async def _show_note(self, row: MeetingRow) -> None:
        """Show the draft, the note or the preview of a meeting, with its path or target. Raises DonnaError."""
        if row.state is MeetingState.DRAFTED and row.draft:
            draft = await self.backend.drafts.draft(row.draft)
            place = draft.row.path
            moves = f" · moves to {draft.row.target}" if draft.row.target != place else ""
            self.card.show_text(draft.text, f"draft in {place}{moves} · {wording.rests_on(len(draft.evidence))}")
        elif row.state is MeetingState.WRITTEN and row.path:
            self.card.show_text((await self.backend.notes.read_note(row.path)).text, row.path)
        elif row.state in wording.WITH_PREVIEW:
            found = await self.backend.drafts.preview(row.meeting.event_id)
            destination = f"would be saved to {found.target} · {wording.rests_on(len(found.evidence))}"
            self.card.show_text(found.text, destination, *map(sentence, found.remarks))
        else:
            self.card.show_text(row.meeting.description, "")

    def _show_agenda(self, agenda: wording.Agenda, meetings: tuple[MeetingRow, ...]) -> None:
        now = time()
        today = local_day(now)
        self._hide_notice(self.rows)
        style = "$text-accent" if agenda.first <= today < local_day(agenda.bounds[1]) else "$text-muted"
        self.query_one("#agenda-head", Static).update(Content.styled(agenda.title(today), style))
        key = shown_key("meetings.span")
        empty = "No meetings in this week." if agenda.is_week else f"No meetings on this day. {key} shows the week."
        self.rows.empty_text = empty
        days = {row.meeting.day for row in meetings} if agenda.is_week else set()
        selected, self._selects_next = self._selects_next, ""
        self.rows.show(meetings, {day: wording.day_title(day, today) for day in days}, now, select=selected)

    def _show_notice(self, words: NoticeText) -> None:
        self._set_notice(words, takes_focus=self.has_focus_within)
        self.query_one("#agenda-head", Static).update(Content(""))
        self.follow()
