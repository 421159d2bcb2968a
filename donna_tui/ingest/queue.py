"""`MemoryIngestQueue`: paths to be read, deduplicated by path; the newest reason replaces older ones."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

FLUSH = 16
"""Maximum number of notes per flush."""

BOUND = 200_000
"""Maximum number of paths queued; beyond it the queue only records that the whole vault must be compared again."""

Why = Literal["new", "changed", "retry", "rebuild"]


@dataclass(frozen=True, slots=True)
class Job:
    """A path to read. `noticed_at` (Unix time) is when the change was noticed, or None for an import."""

    path: str
    why: Why
    noticed_at: float | None = None


class MemoryIngestQueue:
    """A queue for one event loop, in which changes just noticed precede an import."""

    def __init__(self, bound: int = BOUND) -> None:
        self._fresh: dict[str, Job] = {}
        self._import: dict[str, Job] = {}
        self._bound = bound
        self._filled = asyncio.Event()
        self._overflowed = False

    def __len__(self) -> int:
        return len(self._fresh) + len(self._import)

    @property
    def new_notes(self) -> set[str]:
        """Return the paths of queued notes that the index does not have yet."""
        return {job.path for job in self._import.values() if job.why == "new"}

    @property
    def noticed(self) -> set[str]:
        """Return the queued paths whose change was just noticed, which may be a removal."""
        return set(self._fresh)

    def put(self, jobs: Iterable[Job]) -> None:
        """Add jobs; a queued path keeps its position and gets the newer reason."""
        for job in jobs:
            fresh = job.noticed_at is not None or job.path in self._fresh
            lane = self._fresh if fresh else self._import
            if len(self) >= self._bound and job.path not in lane:
                self._overflowed = True
                continue
            if fresh:
                self._import.pop(job.path, None)
            lane[job.path] = job
        if len(self):
            self._filled.set()

    async def take(self) -> list[Job]:
        """Wait for work, then take up to sixteen jobs."""
        await self._filled.wait()
        taken: list[Job] = []
        for lane in (self._fresh, self._import):
            taken += [lane.pop(path) for path in list(islice(lane, FLUSH - len(taken)))]
        if not len(self):
            self._filled.clear()
        return taken

    def drained_after_overflow(self) -> bool:
        """Return once whether paths were dropped and the queue is empty now."""
        due = self._overflowed and not len(self)
        if due:
            self._overflowed = False
        return due
