"""Update the index before a search within a deadline, and report why it is stale if it could not be updated."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from collections.abc import Set as AbstractSet

from donna_tui.engine.space_context import SpaceContext
from donna_tui.index.database import Database
from donna_tui.platform.supervisor import set_within
from donna_tui.types.errors import DatabaseError, DonnaError, Reason

LATE = "stale: the index could not be updated in time"
DIFFERS = "stale: files have changed since the index was updated"
MISSING = "stale: many notes are missing at once, and stay in the index until you confirm"

FIRST_POLL_SECONDS = 0.05
LONGEST_POLL_SECONDS = 1.0


class SingleFlight:
    """Coalesce concurrent callers into one run of `work`: each gets the first run that begins after its call."""

    def __init__(self, work: Callable[[], Awaitable[None]]) -> None:
        self._work = work
        self._running: asyncio.Task[None] | None = None
        self._next: asyncio.Task[None] | None = None

    async def run(self) -> None:
        """Wait for that run; cancelling the wait does not cancel the run. Raises the errors of `work`."""
        if self._next is None:
            self._next = asyncio.create_task(self._round(self._running))
            # retrieve the exception of an abandoned run, so that asyncio does not log it; the next search raises it
            self._next.add_done_callback(lambda task: task.cancelled() or task.exception())
        await asyncio.shield(self._next)

    async def _round(self, before: asyncio.Task[None] | None) -> None:
        if before:
            await asyncio.wait([before])
        self._running, self._next = self._next, None
        await self._work()

    async def stop(self) -> None:
        tasks = [task for task in (self._running, self._next) if task]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


class Freshness:
    """The freshness policy of one engine. `sync` does all work for a short-lived program."""

    def __init__(self, context: SpaceContext, sync: Callable[[], Awaitable[None]]) -> None:
        self._context, self._sync = context, sync
        self._begun = context.long_running  # a long-running program compares at its start
        self._single_flight = SingleFlight(self._update)

    async def stale(self, seconds: float | None) -> str:
        """Wait until the index is up to date, for at most the given or configured seconds; return why it is stale."""
        patience = self._context.policy.deadline_seconds if seconds is None else max(0.0, seconds)
        try:
            return await self._stale(asyncio.get_running_loop().time() + patience)
        except DonnaError as error:
            return f"stale: {error.message}"

    async def _stale(self, deadline: float) -> str:
        if not self._context.lease.is_held:
            return await self._wait_for_owner(deadline)
        policy = self._context.policy
        if not (policy.on_search or (policy.on_start and not self._begun)):  # at each search, or the first of a session
            return DIFFERS if await self._is_incomplete() else ""
        is_updated = await self._updated_by(deadline)
        if is_updated and not self._context.model.known.is_set():  # vectors are missing until it is
            patience = max(0.0, deadline - asyncio.get_running_loop().time())
            if await set_within(self._context.model.known, patience):
                is_updated = await self._updated_by(deadline)
        if not is_updated and await self._is_incomplete():
            return LATE
        maintainer = self._context.maintainer
        if is_updated and maintainer is None:  # the index could not be opened for writing
            return await self._wait_for_owner(deadline)
        return MISSING if maintainer and maintainer.indexes.active.deletions.held else ""

    async def _updated_by(self, deadline: float) -> bool:
        try:
            async with asyncio.timeout_at(deadline):
                await self._single_flight.run()
        except TimeoutError:
            return False
        return True

    async def _update(self) -> None:
        self._begun = True
        if not self._context.long_running:
            return await self._sync()
        maintainer = await self._context.lease.opened()
        if maintainer:
            await maintainer.compare(full=False)
            await maintainer.indexes.active.wait_until_idle()

    async def _wait_for_owner(self, deadline: float) -> str:
        """Wait until the owner of the index has included all changes up to now; there may always be later ones."""
        loop = asyncio.get_running_loop()
        pause = FIRST_POLL_SECONDS
        missing, held = await self._known_to_differ()
        while missing is None or missing:
            if loop.time() + pause > deadline:
                return LATE if self._context.policy.on_search else DIFFERS
            await asyncio.sleep(pause)
            pause = min(LONGEST_POLL_SECONDS, pause * 2)
            differ, held = await self._known_to_differ()
            missing = differ if missing is None or differ is None else missing & differ
        if self._context.model.is_wanted:
            await set_within(self._context.model.known, max(0.0, deadline - loop.time()))
        return MISSING if held else ""

    async def _known_to_differ(self) -> tuple[AbstractSet[str] | None, AbstractSet[str]]:
        """Return the notes that the owner will update, None while the index is created, and those that it keeps until
        the user confirms that they are deleted. Raises DonnaError.
        """
        from donna_tui.ingest.reconcile import differing, held_until_confirmed

        client = self._context.client

        def read(database: Database) -> tuple[AbstractSet[str], AbstractSet[str]]:
            paths = frozenset(differing(client, database))
            held = held_until_confirmed(client, database, paths)
            return paths - held, held

        try:
            return await self._context.read(read)
        except DatabaseError as error:
            if error.reason is not Reason.BUSY:
                raise
        return None, set()

    async def _is_incomplete(self) -> bool:
        """Return whether text is missing from the index, or vectors that a known model could compute."""
        from donna_tui.ingest.reconcile import differing

        maintainer, client = self._context.maintainer, self._context.client
        if maintainer and maintainer.indexes.active.working:
            return True
        return await self._context.read(lambda database: any(differing(client, database)))

    async def close(self) -> None:
        await self._single_flight.stop()
