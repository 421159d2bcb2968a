"""Background tasks with an owner: each has a name, starts again when it fails, and stops when told to."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable

from donna_tui.errors import DonnaError, Reason
from donna_tui.events import EventHub, ProblemRaised

FIRST_PAUSE_SECONDS = 1.0
LONGEST_PAUSE_SECONDS = 60.0


class Supervisor:
    """Owns the tasks of one engine or pipeline."""

    def __init__(self, hub: EventHub) -> None:
        self._hub = hub
        self._tasks: set[asyncio.Task[None]] = set()

    def start(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        """Run `work` until it returns or `stop` is called.

        A failure becomes a problem that people see, and `work` starts again after a pause that doubles.
        """
        task = asyncio.create_task(self._run(name, work), name=f"donna-{name}")
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)

    async def _run(self, name: str, work: Callable[[], Awaitable[None]]) -> None:
        pause = FIRST_PAUSE_SECONDS
        while True:
            try:
                return await work()
            except DonnaError as error:
                self._hub.post(ProblemRaised(reason=error.reason, message=error.message, hint=error.hint or ""))
            except Exception as error:
                message = f"the task “{name}” stopped ({type(error).__name__}) and starts again"
                self._hub.post(ProblemRaised(reason=Reason.INTERNAL, message=message))
            await asyncio.sleep(pause)
            pause = min(LONGEST_PAUSE_SECONDS, pause * 2)

    async def stop(self) -> None:
        """Cancel all tasks and wait until they are gone."""
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
