"""`MemoryIngestQueue`: paths that wait to be read, keyed by path, the newest reason wins."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import islice
from typing import Literal

FLUSH = 16
"""Notes a flush at the most."""

BOUND = 200_000
"""Paths that are kept; beyond it the queue only remembers that the whole vault must be compared again."""

Why = Literal["new", "changed", "retry", "rebuild"]


@dataclass(frozen=True, slots=True)
class Job:
    """One path to look at. `noticed_at` (Unix time) is when the change was noticed, or None for an import."""

    path: str
    why: Why
    noticed_at: float | None = None


class MemoryIngestQueue:
    """Filled and drained on one event loop. Changes that were just noticed go ahead of an import."""

    def __init__(self, bound: int = BOUND) -> None:
        self._fresh: dict[str, Job] = {}
        self._import: dict[str, Job] = {}
        self._bound = bound
        self._filled = asyncio.Event()
        self._overflowed = False

    def __len__(self) -> int:
        return len(self._fresh) + len(self._import)

    @property
    def new_notes(self) -> int:
        """How many of them the index does not have yet."""
        return sum(job.why == "new" for job in self._import.values())

    def put(self, jobs: Iterable[Job]) -> None:
        """Add jobs; a path that waits already keeps its place and takes the newer reason."""
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
        """Whether paths were left out and there is room for them now; says so once."""
        due = self._overflowed and not len(self)
        if due:
            self._overflowed = False
        return due
