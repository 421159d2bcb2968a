"""Update the mirror from the followed calendars, each independently, and no more often than needed."""

from __future__ import annotations

import asyncio
import datetime
import time
from collections.abc import Callable, Hashable, Sequence

from donna_tui.calendar.mirror import delete_unfollowed, note_problem, store
from donna_tui.calendar.sources import CalendarSource
from donna_tui.calendar.values import Fetched, Window
from donna_tui.memory.db_thread import DbThread
from donna_tui.types.draft_events import CalendarFetched
from donna_tui.types.errors import CalendarError, DonnaError, Reason
from donna_tui.types.events import EventHub

FRESH_SECONDS = 300.0
"""Seconds after which a calendar is fetched again, unless that is requested or its files have changed."""

FETCH_SECONDS = 300.0
"""Time limit of one fetch."""

DAYS_BACK, DAYS_AHEAD = 31, 62


class Following:
    """The followed calendars. `clock` returns Unix time; `changed` is set by requested updates of the mirror."""

    def __init__(
        self,
        db_thread: DbThread,
        sources: Sequence[CalendarSource],
        hub: EventHub,
        clock: Callable[[], float] = time.time,
    ) -> None:
        self._db_thread, self._sources, self._hub, self._clock = db_thread, sources, hub, clock
        self._fetches: dict[str, tuple[float, Hashable | None]] = {}
        """The time of the last fetch of each calendar, and its version then."""
        self.changed = asyncio.Event()

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(source.name for source in self._sources)

    async def follow(self, sources: Sequence[CalendarSource]) -> None:
        """Follow these calendars only, and fetch the new and changed ones now.

        Raises DonnaError if the memory cannot be written.
        """
        for source in self._sources:
            if source not in sources:
                self._fetches.pop(source.name, None)
        self._sources = tuple(sources)
        await self.drop_unfollowed()
        await self.refresh()
        self.changed.set()

    async def drop_unfollowed(self) -> None:
        now = self._clock()
        await self._db_thread.run(lambda db: delete_unfollowed(db, self.names, now))

    async def refresh(self, *, everything: bool = False) -> None:
        """Fetch the calendars that may have changed, or all. An error is stored for its calendar only.

        Raises DonnaError only if the memory cannot be written.
        """
        await asyncio.gather(*[self._refresh(source, everything=everything) for source in self._sources])
        if everything:
            self.changed.set()

    async def _refresh(self, source: CalendarSource, *, everything: bool) -> None:
        now, version = self._clock(), await source.version()
        at, fetched_version = self._fetches.get(source.name, (-FRESH_SECONDS, None))
        if not everything and version == fetched_version and 0 <= now - at < FRESH_SECONDS:
            return
        self._fetches[source.name] = now, version
        began, window = time.perf_counter(), window_around(now)
        try:
            fetched = await fetch_from(source, window)
        except DonnaError as error:
            if source not in self._sources:  # it was removed or changed meanwhile
                return
            problem, reason = f"{error.message}; {error.hint}" if error.hint else error.message, error.reason
            await self._db_thread.run(lambda db: note_problem(db, source.name, source.kind, problem))
            latency = (time.perf_counter() - began) * 1_000
            self._hub.post(CalendarFetched(calendar=source.name, kind=source.kind, reason=reason, latency_ms=latency))
            return
        if source not in self._sources:
            return
        stored = await self._db_thread.run(lambda db: store(db, source.name, source.kind, window, fetched, now))
        self._hub.post(
            CalendarFetched(
                calendar=source.name,
                kind=source.kind,
                meetings=len(fetched.meetings),
                new=stored.new,
                changed=stored.changed,
                gone=stored.gone,
                problems=len(fetched.problems),
                latency_ms=(time.perf_counter() - began) * 1_000,
            )
        )


def window_around(now: float) -> Window:
    """Return the mirrored window: a month back and two ahead."""
    moment = datetime.datetime.fromtimestamp(now, datetime.UTC)
    return Window(moment - datetime.timedelta(days=DAYS_BACK), moment + datetime.timedelta(days=DAYS_AHEAD))


async def fetch_from(source: CalendarSource, window: Window) -> Fetched:
    """Fetch from a source; an empty incomplete result is an error. Raises only DonnaError."""
    try:
        async with asyncio.timeout(FETCH_SECONDS):
            fetched = await source.fetch(window)
    except DonnaError:
        raise
    except TimeoutError as error:
        raise CalendarError(Reason.CALENDAR_FAILED, "reading it takes too long") from error
    except Exception as error:
        raise CalendarError(Reason.CALENDAR_FAILED, f"reading it failed ({type(error).__name__})") from error
    if not fetched.meetings and not fetched.complete:
        raise CalendarError(Reason.CALENDAR_FAILED, fetched.problems[0].message)
    return fetched
