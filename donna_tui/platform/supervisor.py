"""Run background tasks with a name: restart what fails, and stop everything in order."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.events import EventHub, ProblemCleared, ProblemRaised

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0
RECOVERED_SECONDS = 5.0
"""A task that runs this long after a failure counts as well again."""


class Supervisor:
    """Owns the tasks of one engine or pipeline."""

    def __init__(self, hub: EventHub) -> None:
        self._hub = hub
        self._tasks: set[asyncio.Task[None]] = set()
        self._failures: dict[str, DonnaError] = {}

    @property
    def failure(self) -> DonnaError | None:
        """Why a task cannot do its work at present; None if all can."""
        return next(iter(self._failures.values()), None)

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` until it returns or `stop` is called.

        A failure becomes a problem that people see, and `work` starts again after a pause that doubles. The problem is
        over when the task has ended well, or has run for a while.
        """
        task = asyncio.create_task(self._run(name, work), name=f"donna-{name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            recovered = asyncio.get_running_loop().call_later(RECOVERED_SECONDS, self._recover, name)
            try:
                await work()
                return self._recover(name)
            except DonnaError as error:
                self._fail(name, error)
            except Exception as error:
                message = f"the task “{name}” stopped ({type(error).__name__}) and starts again"
                self._fail(name, DonnaError(Reason.INTERNAL, message))
            finally:
                recovered.cancel()
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_SECONDS, pause * 2) if name in self._failures else FIRST_PAUSE_SECONDS

    def _fail(self, name: str, error: DonnaError) -> None:
        self._failures[name] = error
        self._hub.post(ProblemRaised(reason=error.reason, message=error.message, hint=error.hint or ""))

    def _recover(self, name: str) -> None:
        if error := self._failures.pop(name, None):
            self._hub.post(ProblemCleared(reason=error.reason))

    async def stop(self) -> None:
        """Cancel all tasks and wait until they are gone."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def after(first: Callable[[], Awaitable[None]], work: Callable[[], Awaitable[None]]) -> Callable[[], Awaitable[None]]:
    """One after the other."""

    async def both() -> None:
        await first()
        await work()

    return both


async def set_within(event: asyncio.Event, seconds: float | None) -> bool:
    """Wait until the event is set, but no longer than so many seconds; whether it is.

    `asyncio.wait_for` of Python 3.11 loses a cancellation that comes in the very turn in which the event is set.
    """
    try:
        async with asyncio.timeout(seconds):
            return await event.wait()
    except TimeoutError:
        return False
