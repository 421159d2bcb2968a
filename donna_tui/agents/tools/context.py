"""Hold what a tool works on: the space, what of it this client may see, its session and its quota."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from donna_tui.engine.memory_service import MemoryService
from donna_tui.index.database import Database
from donna_tui.index.files import FileState, file_states
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.types.search import SearchOutcome, SearchRequest
from donna_tui.vault.client import Entry, NoteStat, VaultClient, VaultNote
from donna_tui.vault.git.operations import new_session_id

if TYPE_CHECKING:
    from donna_tui.engine.draft_service import DraftService
    from donna_tui.vault.write.writer import VaultWriter


_OF_THE_VAULT = frozenset({Reason.ROOT_MISSING, Reason.IO_ERROR})
"""Reasons that say nothing about a single note."""

Known = Mapping[str, FileState]
"""The notes in which the index found nothing private, as they were then."""


@dataclass(frozen=True, slots=True)
class Access:
    """What this client was granted: `sensitive`, the private notes as well; `executable`, to write what plugins run.

    Every method blocks.
    """

    client: VaultClient
    sensitive: bool = False
    executable: bool = False

    def read(self, path: str) -> VaultNote:
        """A note that this client may see, as it is on disk now. Raises VaultReadError.

        What is wrong with the name alone is said. Whatever else keeps a note from being read says that there is
        something, so it is told like a note that is not there.
        """
        try:
            note = self.client.read(path)
        except VaultReadError as error:
            if self.sensitive or error.reason in _OF_THE_VAULT or not self.client.is_note(path):
                raise
            raise missing() from None
        if not self.may_see(note.sensitivity):
            raise missing()
        return note

    def may_see(self, sensitivity: Sensitivity) -> bool:
        """Whether this client may see a note of that kind."""
        return self.sensitive or sensitivity is Sensitivity.PUBLIC

    def sees(self, path: str) -> bool:
        """Whether there is a note of that path that this client may see."""
        try:
            self.read(path)
        except VaultReadError:
            return False
        return True

    def notes(self, known: Known, folder: str = "") -> Iterator[NoteStat]:
        """The notes below a folder that this client may see, in no order. Raises VaultReadError.

        A note that has not changed since the index found nothing private in it is not read again.
        """
        for entry in self.client.scan(folder):
            stat = self._seen(entry, known)
            if stat:
                yield stat

    def _seen(self, entry: Entry, known: Known) -> NoteStat | None:
        stat = entry.stat
        if entry.reason is not None or stat is None:
            return None
        state = known.get(stat.path)
        unchanged = state is not None and state.same_stat(stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode)
        return stat if self.sensitive or unchanged or self.sees(stat.path) else None


def public_notes(database: Database) -> Known:
    """The notes in which the index found nothing private."""
    sql = "SELECT source_id FROM memory_documents WHERE source_type = 'vault' AND NOT sensitive AND deleted_at IS NULL"
    states = file_states(database)
    return {path: states[path] for (path,) in database.rows(sql) if path in states}


def missing() -> VaultReadError:
    """There is no such note, or it is none of this client's business."""
    return VaultReadError(Reason.MISSING, "there is no such note", hint="vault_list says which there are")


WRITES = 50
"""Writes an hour, unless another number is given."""

QUOTA_SECONDS = 3_600.0

LONGEST_CLIENT = 60
NAMELESS = "unknown client"

ReadIndex = Callable[[Callable[..., Any]], Awaitable[Any]]


class Host(Protocol):
    """What the tools need of an engine."""

    async def search_fresh(self, request: SearchRequest, deadline_seconds: float | None = None) -> SearchOutcome:
        """Answer a question from an index that is brought up to date first, and say whether it is stale."""
        ...

    @property
    def memory(self) -> MemoryService:
        """Remembers and recalls."""
        ...

    @property
    def drafts(self) -> DraftService:
        """Lists drafts."""
        ...


class Quota:
    """Bounds the writes in any hour of all sessions that share it: a client does not get more by reconnecting."""

    def __init__(self, most: int = WRITES, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self._clock = most, clock
        self._taken: list[float] = []

    @property
    def left(self) -> int:
        """Writes that are left now."""
        since = self._clock() - QUOTA_SECONDS
        self._taken = [at for at in self._taken if at > since]
        return max(0, self.most - len(self._taken))

    def take(self) -> None:
        """Count a write that is about to begin. Raises DonnaError (`quota`) if none is left."""
        if not self.left:
            wait = math.ceil((self._taken[0] + QUOTA_SECONDS - self._clock()) / 60) if self._taken else 0
            message = f"the {self.most:,} writes of this hour are used up"
            when = f"the next is possible in {wait} minutes; " if wait else ""
            raise DonnaError(
                Reason.QUOTA, message, hint=f"{when}the person at the keyboard can look at them: donna log"
            )
        self._taken.append(self._clock())

    def give_back(self) -> None:
        """Count the last write off again: it changed nothing."""
        if self._taken:
            self._taken.pop()


@dataclass(slots=True)
class ClientSession:
    """One client from its first call to its last. `actor` is its name in the history of the vault.

    `turn` lets one write after the other.
    """

    actor: str
    quota: Quota = field(default_factory=Quota)
    id: str = field(default_factory=new_session_id)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """A space as one client sees it. Without a writer nothing is written.

    `results` and `min_score` are for searches that do not say them.
    """

    host: Host
    access: Access
    session: ClientSession
    writer: VaultWriter | None = None
    results: int = 8
    min_score: float | None = None

    @property
    def read(self) -> ReadIndex:
        """Asks the index directly."""
        return self.host.memory.parts.read


def actor_of(client: str) -> str:
    """The name under which a client writes: what it calls itself, as far as that fits into one plain line."""
    words = " ".join(clean_line(client.encode("utf-8", "replace").decode()).split())
    return f"mcp:{words[:LONGEST_CLIENT].strip() or NAMELESS}"
