"""List meetings and calendars, add and read calendars, for screens, commands and drafts."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Collection, Sequence
from dataclasses import replace

from donna_tui.calendar.adding import add_calendar
from donna_tui.calendar.following import Following
from donna_tui.calendar.mirror import calendar_rows, meeting_of, meetings_between, series_without_notes, want_notes
from donna_tui.calendar.poller import why_no_draft
from donna_tui.calendar.sources import sources_for
from donna_tui.calendar.values import local_zone
from donna_tui.config.load import load_trusted, user_file
from donna_tui.drafts.passages import paths_of_keys
from donna_tui.drafts.queue import keys_of, meeting_row
from donna_tui.drafts.series import Invited, names_of_people, own_notes
from donna_tui.drafts.skills.meeting_note import TEMPLATE, key_of
from donna_tui.engine.space_context import SpaceContext
from donna_tui.index.database import Database
from donna_tui.types.drafts import CalendarRow, Meeting, MeetingRow
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.obsidian import template_folders


class CalendarService:
    """The API of the Meetings screen. Every method raises only DonnaError."""

    def __init__(self, context: SpaceContext) -> None:
        config = context.config
        self._context = context
        self._db = context.memory.db
        self.zone = local_zone()
        self._calendars = config.calendars
        sources = sources_for(config.calendars, self.zone, context.space.state)
        self.following = Following(self._db, sources, context.hub, context.clock)

    async def meetings(self, start: float, end: float) -> tuple[MeetingRow, ...]:
        """List the meetings that begin between two Unix times, in order, with the state of their notes."""
        found, known, without_notes = await self._db.run(
            lambda db: (
                meetings_between(db.database, start, end),
                keys_of(db.database, TEMPLATE),
                series_without_notes(db.database),
            )
        )
        notes = await self.notes_of([meeting for meeting in found if key_of(meeting) not in known])
        now = datetime.datetime.fromtimestamp(self._context.clock(), datetime.UTC)
        rows = (meeting_row(each, known.get(key_of(each)), notes.get(key_of(each), ""), now) for each in found)
        return tuple(replace(row, unwanted=self._why_no_draft(row.meeting, without_notes)) for row in rows)

    async def notes_of(self, meetings: Sequence[Meeting]) -> dict[str, str]:
        """Return the paths of the notes of meetings by key: those written for them, or else the user's own."""

        def found(index: Database) -> dict[str, str]:
            notes = paths_of_keys(index, [key_of(meeting) for meeting in meetings])
            free = [meeting for meeting in meetings if key_of(meeting) not in notes]
            known = names_of_people(index) if free else []
            others = [Invited.to(meeting, self._context.config.me, known) for meeting in free]
            return notes | own_notes(index, others, notes.values(), template_folders(self._context.space.root))

        return await self._context.read(found)

    async def meetings_between(self, start: float, end: float) -> list[Meeting]:
        return await self._db.run(lambda db: meetings_between(db.database, start, end))

    async def meeting(self, event_id: str) -> Meeting:
        """Return the meeting with this id, or the latest one of the series with it. Raises DonnaError (`missing`)."""
        now = self._context.clock()
        meeting = await self._db.run(lambda db: meeting_of(db.database, event_id, now))
        if meeting is None:
            raise DonnaError(Reason.MISSING, f"there is no meeting {event_id}", hint="donna meetings list shows them")
        return meeting

    async def why_no_draft(self, meeting: Meeting) -> str:
        """Return why no draft of a meeting is written automatically, as a sentence; empty if one is."""
        without_notes = await self._db.run(lambda db: series_without_notes(db.database))
        return self._why_no_draft(meeting, without_notes)

    def _why_no_draft(self, meeting: Meeting, without_notes: Collection[str]) -> str:
        rules = {calendar.name: calendar.notes for calendar in self._calendars}
        rule = rules.get(meeting.calendar, "all")  # an imported file is meant to get notes
        return why_no_draft(meeting, self._context.config.me, rule, without_notes)

    async def want_notes(self, event_id: str, *, wanted: bool) -> None:
        """Store whether drafts of a meeting's series are written automatically. Waiting drafts are kept."""
        meeting = await self.meeting(event_id)
        await self._db.run(lambda db: want_notes(db, meeting, wanted=wanted))

    async def calendars(self) -> tuple[CalendarRow, ...]:
        return tuple(await self._db.run(lambda db: calendar_rows(db.database)))

    async def add_calendar(self, where: str, name: str = "", *, username: str = "", password: str = "") -> CalendarRow:
        """Read the calendar in a file, in a folder or at a URL, and follow it from now on, even after a restart.

        A password is stored in a separate file that only the user can read. Raises DonnaError if the calendar cannot be
        read (`calendar_failed`, `login_refused`, `usage`) or its name is taken (`conflict`).
        """
        state, now = self._context.space.state, self._context.clock()
        known = {calendar.name for calendar in load_trusted().config.calendars}
        login = {"username": username} if username else {}
        config, _ = await add_calendar(
            where, self.zone, state, now, file=user_file(), names=known, name=name, password=password, **login
        )
        await self.follow_settings()
        rows = await self.calendars()
        return next((row for row in rows if row.name == config.name), CalendarRow(name=config.name, kind="ics"))

    async def follow_settings(self) -> None:
        """Follow the calendars in the user's settings, which may have changed, as by `donna calendar add`."""
        try:
            configured = (await asyncio.to_thread(load_trusted)).config.calendars
        except DonnaError:
            return  # the file is being edited
        if configured != self._calendars:
            self._calendars = configured
            await self.following.follow(sources_for(configured, self.zone, self._context.space.state))

    async def refresh(self) -> None:
        await self.follow_settings()
        await self.following.refresh(everything=True)
