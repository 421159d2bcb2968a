"""What the tools for agents work on: a space, what of it this client may see, and in whose name it writes."""

from __future__ import annotations

import asyncio
import math
import time
from collections.abc import Awaitable, Callable
from dataclasses import field
from typing import TYPE_CHECKING, Any, Protocol

from donna_tui.errors import DonnaError, Reason
from donna_tui.memorydesk import MemoryDesk
from donna_tui.records import dataclass
from donna_tui.results import SearchOutcome, SearchRequest
from donna_tui.safety.terminal import clean_line
from donna_tui.tools.agent.access import Access
from donna_tui.vault.operations import new_session_id

if TYPE_CHECKING:
    from donna_tui.draftdesk import DraftDesk
    from donna_tui.vault.writer import VaultWriter

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
    def memory(self) -> MemoryDesk:
        """Remembers and recalls."""
        ...

    @property
    def drafts(self) -> DraftDesk:
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
class Workspace:
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
