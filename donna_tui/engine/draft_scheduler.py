"""Draft notes in the background: around meetings and at the configured hours."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import time

from donna_tui.calendar.poller import MeetingEndPoller
from donna_tui.drafts import queue
from donna_tui.drafts.schedule import cadences, follow
from donna_tui.engine.calendar_service import CalendarService
from donna_tui.engine.draft_service import DraftService
from donna_tui.engine.skill_runner import SkillRunner
from donna_tui.engine.space_context import SpaceContext
from donna_tui.memory.database import db_path
from donna_tui.types.drafts import Meeting
from donna_tui.types.errors import DonnaError

POLL_SECONDS = 10.0

CUT_SHORT_SECONDS = 900.0
"""Seconds after which a draft that was begun counts as cut short."""


class DraftScheduler:
    """The background drafting of one engine, with its services.

    It is created on first use, because its imports take longer than a search.
    """

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        self.calendar = CalendarService(context)
        self._skills = SkillRunner(context, self.calendar)
        self.drafts = DraftService(context, self.calendar, self._skills)

    async def follow(self) -> None:
        """Draft around meetings and at the configured hours, and retry failed drafts, until cancelled."""
        config, memory = self._context.config, db_path(self._context.space.state)
        while not (config.calendars or any(cadences(config.skills)) or memory.exists()):
            await asyncio.sleep(POLL_SECONDS)  # there is nothing to draft yet
        context, zone = self._context, self.calendar.zone
        poller = MeetingEndPoller(
            context.memory.db,
            self.calendar.following,
            self._dispatch,
            context.hub,
            context.config.skills.meeting_note,
            context.clock,
            self.drafts.follow_calendar,
        )
        wanted, now = list(cadences(context.config.skills)), datetime.datetime.now(zone)
        await self._retry(at_start=True)
        async with asyncio.TaskGroup() as group:
            group.create_task(poller.run(), name="donna-calendar-poller")
            group.create_task(follow(wanted, self._write, self._retry, zone, now), name="donna-hours")

    async def _write(self, skill: str, day: datetime.date) -> None:
        await self._skills.write(skill, day)

    async def _retry(self, *, at_start: bool = False) -> None:
        """Resume drafts that failed or were cut short.

        A recently begun draft may belong to another running process, except at the start of this one.
        """
        now = time.time()
        begun_before = now if at_start else now - CUT_SHORT_SECONDS
        for entry in await self._context.memory.db.run(lambda db: queue.due_again(db.database, now, begun_before)):
            with contextlib.suppress(DonnaError):  # such as a meeting that is in no calendar any more
                await self.drafts.again(entry)

    async def _dispatch(self, meeting: Meeting) -> None:
        if not await self.calendar.why_no_draft(meeting) and not await self.drafts.has_note(meeting):
            await self._skills.meetings.run(meeting)

    async def close(self) -> None:
        """Wait for pending writes."""
        await self.drafts.close()
