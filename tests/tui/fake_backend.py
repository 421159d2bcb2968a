"""A `Backend` for screen tests: scripted answers, delays that a test opens and closes, a record of every call."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from donna_tui.errors import DonnaError, Reason, VaultReadError
from donna_tui.events import EngineEvent, Listener
from donna_tui.results import Hit, SearchOutcome, SearchRequest
from donna_tui.status import Status
from donna_tui.tui.backend import Passage

Answer = Callable[[SearchRequest], SearchOutcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class FakePassage:
    """A section of a note as the preview gets it; `mark_start` to `mark_end` are lines of the file, inclusive."""

    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    start_line: int
    end_line: int
    mark_start: int = 0
    mark_end: int = 0
    truncated: bool = False
    linked_from: tuple[str, ...] = ()
    sensitive: bool = False


@dataclass(frozen=True, slots=True)
class Call:
    """One call that a screen made, by method name, with its arguments."""

    name: str
    args: tuple[Any, ...] = ()


@dataclass
class Gates:
    """Doors that calls wait behind, by method and, for one query or path only, by key. All are open at first."""

    doors: dict[tuple[str, str], asyncio.Event] = field(default_factory=dict)

    def hold(self, method: str, key: str = "") -> None:
        """Keep calls of `method` waiting: all of them, or those for `key`."""
        self.doors[method, key] = asyncio.Event()

    def release(self, method: str, key: str = "") -> None:
        """Let the calls through that `hold` stopped, and those to come."""
        self.doors[method, key].set()

    async def passed(self, method: str, key: str) -> None:
        """Wait until nothing holds this call."""
        for door in (method, ""), (method, key):
            if door in self.doors:
                await self.doors[door].wait()


def no_hits(request: SearchRequest) -> SearchOutcome:
    """The answer of a vault in which nothing matches."""
    return SearchOutcome(request=request, mode=request.mode, hits=())


class FakeBackend:
    """Satisfies `donna_tui.tui.backend.Backend` without engine, disk or clock.

    `answers` maps a query to its outcome, or is a function of the request. `script` is posted once it has been
    started and somebody listens. `gates` holds calls back, `failures` makes a method (or one key of it) raise.
    """

    def __init__(
        self,
        status: Status,
        *,
        answers: Mapping[str, SearchOutcome] | Answer = no_hits,
        passages: Iterable[Passage] = (),
        folders: tuple[str, ...] = (),
        sources: tuple[str, ...] = ("vault",),
        script: Iterable[EngineEvent] = (),
    ) -> None:
        self.current = status
        self.answers = answers
        self.passages = tuple(passages)
        self.folder_names = folders
        self.source_names = sources
        self.script = tuple(script)
        self.gates = Gates()
        self.failures: dict[tuple[str, str], DonnaError] = {}
        self.calls: list[Call] = []
        self.listeners: list[Listener] = []
        self._started = False

    def fail(self, method: str, error: DonnaError, key: str = "") -> None:
        """Make `method` raise `error`: always, or for `key` only."""
        self.failures[method, key] = error

    def post(self, *events: EngineEvent) -> None:
        """Tell every listener. Unlike the real hub, what a listener raises reaches the test."""
        for event in events:
            for listener in tuple(self.listeners):
                listener(event)

    def change(self, **fields: Any) -> None:
        """Replace fields of the status that the next `status()` returns."""
        self.current = replace(self.current, **fields)

    def called(self, name: str) -> list[tuple[Any, ...]]:
        """The arguments of each call of `name`, in order."""
        return [call.args for call in self.calls if call.name == name]

    async def start(self) -> None:
        await self._enter("start")
        self._started = True
        self._play()

    async def stop(self) -> None:
        await self._enter("stop")

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        self.listeners.append(listener)
        self._play()
        return lambda: self.listeners.remove(listener)

    def status(self) -> Status:
        return self.current

    async def search(self, request: SearchRequest) -> SearchOutcome:
        await self._enter("search", request, key=request.text)
        if callable(self.answers):
            return self.answers(request)
        return self.answers.get(request.text) or no_hits(request)

    async def more_like(self, hit: Hit, request: SearchRequest) -> SearchOutcome:
        await self._enter("more_like", hit, request, key=hit.path)
        outcome = self.answers(request) if callable(self.answers) else self.answers.get(request.text, no_hits(request))
        others = tuple(each for each in outcome.hits if each.chunk_id != hit.chunk_id)
        return replace(outcome, hits=others, request=request)

    async def passage(self, path: str, start_line: int, end_line: int) -> Passage:
        await self._enter("passage", path, start_line, end_line, key=path)
        for passage in self.passages:
            if passage.path == path and passage.start_line <= start_line <= passage.end_line:
                return passage
        raise VaultReadError(Reason.MISSING, "This note is no longer there.")

    async def folders(self) -> tuple[str, ...]:
        await self._enter("folders")
        return self.folder_names

    async def sources(self) -> tuple[str, ...]:
        await self._enter("sources")
        return self.source_names

    def absolute_path(self, path: str) -> Path:
        self.calls.append(Call("absolute_path", (path,)))
        return Path(self.current.root) / path

    async def retry(self, path: str = "") -> None:
        await self._enter("retry", path, key=path)

    async def resume(self) -> None:
        await self._enter("resume")

    def _play(self) -> None:
        if self._started and self.listeners:
            script, self.script = self.script, ()
            self.post(*script)

    async def _enter(self, method: str, *args: Any, key: str = "") -> None:
        self.calls.append(Call(method, args))
        await self.gates.passed(method, key)
        error = self.failures.get((method, key)) or self.failures.get((method, ""))
        if error is not None:
            raise error
