"""Run named background tasks: restart those that fail, and stop all in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.events import EventHub, ProblemCleared

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
RECOVERED_SECONDS = 5.0
"""Seconds after which a restarted task counts as recovered."""


class Supervisor:
    """Own the tasks of one engine or pipeline."""

    def __init__(self, hub: EventHub) -> None:
        self._hub = hub
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures: dict[Callable[[], Awaitable[None]], DonnaError] = {}

    @property
    def failure(self) -> DonnaError | None:
        return next(iter(self._failures.values()), None)

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` until it returns or `stop` is called.

        A failure is reported as a problem, and `work` is restarted after a pause, which doubles until a run has taken
        `RECOVERED_SECONDS`. The problem is cleared then, or when the task has ended normally.
        """
        task = asyncio.create_task(self._run(name, work), name=f"donna-{name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        loop, pause = asyncio.get_running_loop(), FIRST_PAUSE_SECONDS
        while True:
            started = loop.time()
            recovered = loop.call_later(RECOVERED_SECONDS, self._recover, work)
            try:
                await work()
                return self._recover(work)
            except DonnaError as error:
                self._fail(work, error)
            except Exception as error:
                message = f"the task “{name}” stopped ({type(error).__name__}) and starts again"
                self._fail(work, DonnaError(Reason.INTERNAL, message))
            finally:
                recovered.cancel()
            if loop.time() - started >= RECOVERED_SECONDS:
                pause = FIRST_PAUSE_SECONDS
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_SECONDS, pause * 2)

    def _fail(self, work: Callable[[], Awaitable[None]], error: DonnaError) -> None:
        self._failures[work] = error
        self._hub.report(error)

    def _recover(self, work: Callable[[], Awaitable[None]]) -> None:
        if error := self._failures.pop(work, None):
            self._hub.post(ProblemCleared(reason=error.reason))

    async def stop(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def after(first: Callable[[], Awaitable[None]], work: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    async def both() -> None:
        await first()
        await work()

    return both


async def set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait for an event, but not longer than `seconds`. Return whether it is set.

    `asyncio.wait_for` of Python 3.11 loses a cancellation in the same loop iteration in which the event is set.
    """
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
