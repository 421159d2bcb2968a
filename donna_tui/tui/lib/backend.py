"""Define the protocol by which the screens use the engine, whose services they call directly."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from donna_tui.types.search import Hit, NameMatch, SearchOutcome, SearchRequest
from donna_tui.types.status import Status

if TYPE_CHECKING:  # deferred: only panes after the first frame need these
    from donna_tui.engine.calendar_service import CalendarService
    from donna_tui.engine.draft_service import DraftService
    from donna_tui.engine.memory_service import MemoryService
    from donna_tui.engine.passages import Passage
    from donna_tui.engine.vault_service import VaultService
    from donna_tui.search.why_not import WhyNot
    from donna_tui.types.events import Listener
    from donna_tui.types.memory import TaskRow


class Backend(Protocol):
    """The engine as the screens see it; `Engine` describes the methods. Each raises only `DonnaError`."""

    @property
    def notes(self) -> VaultService:
        """Return the service that reads, changes and undoes notes; available once `start` has returned."""

    @property
    def memory(self) -> MemoryService:
        """Return the service that lists, recalls and forgets memories. The first access takes a moment."""

    @property
    def drafts(self) -> DraftService:
        """Return the service for drafts. The first access takes a moment, unless `warm_up` has run."""

    @property
    def calendar(self) -> CalendarService:
        """Return the service for meetings and calendars. The first access takes a moment, as that of `drafts`."""

    def warm_up(self) -> None:
        """Import and open the dependencies of `notes` and `drafts` on this thread."""

    async def at_best(self) -> None:
        """Wait until searches have the best quality available for now; never long."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    def subscribe(self, listener: Listener) -> Callable[[], None]: ...
    def status(self) -> Status: ...
    async def search(self, request: SearchRequest) -> SearchOutcome: ...
    async def more_like(self, hit: Hit, request: SearchRequest) -> SearchOutcome: ...
    async def passage(self, path: str, start_line: int, end_line: int, space: str = "") -> Passage: ...
    async def why_not(self, path: str, request: SearchRequest) -> WhyNot: ...
    async def names(self, query: str, limit: int = 50) -> tuple[NameMatch, ...]: ...
    async def recent_notes(self, limit: int) -> tuple[NameMatch, ...]: ...
    async def tasks_due(self, limit: int) -> tuple[TaskRow, ...]: ...
    async def example_question(self) -> str: ...
    async def questions(self) -> tuple[str, ...]: ...
    async def save_question(self, text: str) -> tuple[str, ...]: ...
    async def folders(self) -> tuple[str, ...]: ...
    async def sources(self) -> tuple[str, ...]: ...
    def absolute_path(self, path: str, space: str = "") -> Path: ...
    def root_of(self, space: str) -> Path: ...
    async def retry(self, path: str = "") -> None: ...
    async def resume(self) -> None: ...
    async def install_model(self) -> None: ...


@dataclass(frozen=True, slots=True)
class KnownVault:
    """A vault to choose. `source` is the place where Donna found it; `space` is its name, if it has one."""

    name: str
    root: Path
    source: str
    space: str = ""
