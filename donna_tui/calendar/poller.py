"""Request the draft of each meeting once, minutes before it begins, or later if the machine was asleep or offline."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Collection
from typing import NamedTuple

from donna_tui.calendar.following import Following
from donna_tui.calendar.mirror import IMPORTED, calendar_rows, due_meetings, set_watermark, watermark
from donna_tui.config.calendars import Notes
from donna_tui.config.models import MeetingNoteConfig
from donna_tui.memory.db_thread import DbThread
from donna_tui.platform.supervisor import set_within
from donna_tui.types.draft_events import (
    MeetingEndDetected,
    MeetingEndDispatchFailed,
    MeetingEndPollerCancelled,
    MeetingEndPollerCycleFailed,
    MeetingEndPollerStarted,
)
from donna_tui.types.drafts import OFF_FOR_MEETING, OFF_FOR_SERIES, CalendarRow, Meeting
from donna_tui.types.errors import DonnaError
from donna_tui.types.events import EventHub

ONLY_PERHAPS_ME = "Only one person is invited, perhaps you: name yourself under me: in the settings."


def why_no_draft(meeting: Meeting, me: Collection[str], rule: Notes, without_notes: Collection[str]) -> str:
    """Return why no draft of a meeting is written automatically, as a sentence; empty if one is.

    `me` are the user's names and addresses; without them, one of the invitees is assumed to be the user. `rule` is that
    of its calendar, `without_notes` the series for which the user disabled notes. A draft of a meeting that was not
    cancelled can be requested in any case.
    """
    if without_notes and {meeting.series_id, meeting.event_id} & set(without_notes):
        return OFF_FOR_SERIES if meeting.series_id else OFF_FOR_MEETING
    if rule == "never":
        return "Notes are turned off for this calendar."
    if meeting.cancelled:
        return "It was cancelled."
    if meeting.all_day:
        return "It is an all-day event."
    names = {name.strip().casefold() for name in me}
    user = [person for person in meeting.attendees if {person.name.casefold(), person.email.casefold()} & names]
    if any(person.declined for person in user):
        return "You declined it."
    if rule == "meetings" and len(meeting.attendees) - len(user) < (1 if names else 2):
        is_perhaps_me = bool(meeting.attendees) and not names
        return ONLY_PERHAPS_ME if is_perhaps_me else "No one else is invited."
    return ""


CATCH_UP_SECONDS = 86_400.0
"""Seconds since its end after which a meeting is not dispatched."""

FIRST_PAUSE_SECONDS, LONGEST_PAUSE_SECONDS = 60.0, 3_600.0
"""First and longest pause before a failed dispatch is retried; the pause doubles."""

Dispatch = Callable[[Meeting], Awaitable[None]]


class _Retry(NamedTuple):
    """The time of the retry of a failed dispatch (Unix time), and the pause before it in seconds."""

    at: float
    pause: float


class MeetingEndPoller:
    """Poll the calendars for meetings that have ended, or that begin in `brief_minutes`, and dispatch each once, and
    again when it has changed.

    The watermark of a calendar is an end time: meetings that ended by then have been processed. `dispatch` may be
    called twice with a meeting, such as after a crash, and must be idempotent. `refreshed` is called after the
    calendars were read. `clock` returns Unix time.
    """

    def __init__(
        self,
        db_thread: DbThread,
        following: Following,
        dispatch: Dispatch,
        hub: EventHub,
        config: MeetingNoteConfig,
        clock: Callable[[], float],
        refreshed: Callable[[], Awaitable[None]],
    ) -> None:
        self._following, self._refreshed = following, refreshed
        self._db_thread, self._dispatch, self._hub, self._config, self._clock = db_thread, dispatch, hub, config, clock
        self._one_at_a_time = asyncio.Lock()
        self._dispatched: dict[tuple[str, str], Meeting] = {}
        """The meetings as they were dispatched, by calendar and id: a change, such as of its guests, may matter."""
        self._retries: dict[str, _Retry] = {}

    async def run(self) -> None:
        """Poll until cancelled. A failed poll is reported, and polling continues."""
        self._hub.post(MeetingEndPollerStarted(calendars=len(self._following.names)))
        try:
            await self._guarded(self._following.drop_unfollowed)
            while True:
                await self._guarded(self.poll)
                await set_within(self._following.changed, self._config.poll_interval_seconds)
                self._following.changed.clear()
        finally:
            self._hub.post(MeetingEndPollerCancelled())

    async def poll(self) -> None:
        """Update the mirror, and dispatch the meetings that became due since the last poll. Raises DonnaError."""
        async with self._one_at_a_time:
            await self._following.refresh()
            await self._refreshed()
            for row in await self._db_thread.run(lambda db: calendar_rows(db.database)):
                await self._poll_calendar(row)

    async def _guarded(self, work: Callable[[], Awaitable[None]]) -> None:
        try:
            await work()
        except Exception as error:
            self._hub.post(MeetingEndPollerCycleFailed(reason=_reason(error)))

    async def _poll_calendar(self, row: CalendarRow) -> None:
        """Dispatch the due meetings of one calendar sequentially."""
        now = self._clock()
        since = await self._since(row.name, now)
        until = now + self._config.brief_minutes * 60
        due = await self._db_thread.run(lambda db: due_meetings(db.database, row.name, since, until))
        waiting = [meeting for meeting in due if not await self._publish(meeting, now)]
        known_until = now if row.kind == IMPORTED else min(now, row.fetched_at or since)
        reached = min([known_until, *(meeting.end.timestamp() - 1 for meeting in waiting)])
        if reached > since:
            await self._db_thread.run(lambda db: set_watermark(db, row.name, reached))
        still_due = {(row.name, meeting.event_id) for meeting in due}  # one that is cancelled may take place after all
        known = self._dispatched.items()
        self._dispatched = {key: each for key, each in known if key[0] != row.name or key in still_due}
        too_old = now - CATCH_UP_SECONDS
        self._retries = {event_id: retry for event_id, retry in self._retries.items() if retry.at >= too_old}

    async def _since(self, calendar: str, now: float) -> float:
        """Return the watermark from which meetings count, reset if a wrong clock had set it in the future."""
        mark = await self._db_thread.run(lambda db: watermark(db.database, calendar))
        if mark is None or mark > now:
            first = now - self._config.lookback_minutes * 60
            await self._db_thread.run(lambda db: set_watermark(db, calendar, first))
            return first
        return max(mark, now - CATCH_UP_SECONDS)

    async def _publish(self, meeting: Meeting, now: float) -> bool:
        """Dispatch a meeting once, unless its notes are disabled; return whether nothing is left to do for it."""
        retry, key = self._retries.get(meeting.event_id), (meeting.calendar, meeting.event_id)
        if self._dispatched.get(key) == meeting or not self._config.enabled:
            return True
        if retry and now < retry.at:
            return False
        is_over = meeting.end.timestamp() <= now
        self._hub.post(MeetingEndDetected(calendar=meeting.calendar, event_id=meeting.event_id, is_over=is_over))
        try:
            await self._dispatch(meeting)
        except Exception as error:
            pause = min(LONGEST_PAUSE_SECONDS, retry.pause * 2) if retry else FIRST_PAUSE_SECONDS
            self._retries[meeting.event_id] = _Retry(now + pause, pause)
            self._hub.post(MeetingEndDispatchFailed(
                calendar=meeting.calendar, event_id=meeting.event_id, reason=_reason(error)
            ))  # fmt: skip
            return False
        self._retries.pop(meeting.event_id, None)
        self._dispatched[key] = meeting
        return True


def _reason(error: Exception) -> str:
    return error.reason if isinstance(error, DonnaError) else type(error).__name__
