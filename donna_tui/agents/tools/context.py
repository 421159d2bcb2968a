"""The context of a tool call: the space, the access rights of the client, its session and its quota."""

from __future__ import annotations

import asyncio
import contextlib
import math
import time
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, TypeVar

from donna_tui.index.database import Database
from donna_tui.index.files import FileState, file_states
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.terminal import clean_line
from donna_tui.text.encodable import encodable
from donna_tui.text.plural import plural
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.types.memory import MemoryChunk
from donna_tui.types.search import Hit
from donna_tui.vault.client import NoteStat, VaultClient, VaultNote
from donna_tui.vault.git.operations import new_session_id

if TYPE_CHECKING:
    from donna_tui.engine.engine import Engine
    from donna_tui.vault.write.writer import VaultWriter

T = TypeVar("T")
R = TypeVar("R", Hit, MemoryChunk)

NAME_OF_A_NOTE = "give the path of a note, ending with .md, as vault_list returns it; it lists the notes of a folder"
_OF_THE_VAULT = frozenset({Reason.ROOT_MISSING, Reason.IO_ERROR})
"""Reasons that are unrelated to a single note."""

Known = Mapping[str, FileState]
"""The notes in which the index found nothing private, with their state at that time."""


@dataclass(frozen=True, slots=True)
class Access:
    """The rights of this client: to see private notes, and to write code that plugins execute. Every method blocks."""

    client: VaultClient
    sensitive: bool = False
    executable: bool = False

    def read(self, path: str) -> VaultNote:
        """Read a note that this client may see, as it is on disk now. Raises VaultReadError.

        Errors in the name alone are reported. Any other reason why a note cannot be read would reveal that it exists,
        and is reported as a missing note.
        """
        try:
            note = self.client.read(path)
        except VaultReadError as error:
            if not self.client.is_note(path):
                raise VaultReadError(error.reason, error.message, hint=NAME_OF_A_NOTE) from None
            if self.sensitive or error.reason in _OF_THE_VAULT:
                raise
            raise missing() from None
        if not self.sensitive and note.sensitivity is not Sensitivity.PUBLIC:
            raise missing()
        return note

    def sees(self, path: str) -> bool:
        """Return whether a note exists at this path that this client may see."""
        try:
            self.read(path)
        except VaultReadError:
            return False
        return True

    def notes(self, known: Known, folder: str = "") -> Iterator[NoteStat]:
        """Yield the visible notes below a folder; those that the index knows to be public are not read again."""
        for entry in self.client.scan(folder):
            stat = entry.stat
            if entry.reason is not None or stat is None:
                continue
            state = known.get(stat.path)
            unchanged = state is not None and state.same_stat(stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode)
            if self.sensitive or unchanged or self.sees(stat.path):
                yield stat


def public_notes(database: Database) -> Known:
    """Return the notes in which the index found nothing private."""
    sql = "SELECT source_id FROM memory_documents WHERE source_type = 'vault' AND NOT sensitive AND deleted_at IS NULL"
    states = file_states(database)
    return {path: states[path] for path in database.column(sql) if path in states}


def missing(hint: str = "vault_list lists the notes") -> VaultReadError:
    """Return the error for a note that does not exist, or is invisible to this client."""
    return VaultReadError(Reason.MISSING, "there is no such note", hint=hint)


WRITES = 50
"""Default number of writes per hour."""

QUOTA_SECONDS = 3_600.0

LONGEST_CLIENT = 60
NAMELESS = "unknown client"


class Quota:
    """Limit the writes per hour of all sessions that share it: a client gains none by reconnecting."""

    def __init__(self, most: int = WRITES, clock: Callable[[], float] = time.monotonic) -> None:
        self.most, self._clock = most, clock
        self._taken: list[float] = []

    @property
    def left(self) -> int:
        since = self._clock() - QUOTA_SECONDS
        self._taken = [at for at in self._taken if at > since]
        return max(0, self.most - len(self._taken))

    def take(self) -> None:
        """Count a write before it begins. Raises DonnaError (`quota`) if none is left."""
        if not self.left:
            wait = math.ceil((self._taken[0] + QUOTA_SECONDS - self._clock()) / 60) if self._taken else 0
            message = f"the limit of {plural(self.most, 'write')} per hour is reached"
            when = f"the next write is possible in {plural(wait, 'minute')}; " if wait else ""
            raise DonnaError(Reason.QUOTA, message, hint=f"{when}the owner can review them: donna log")
        self._taken.append(self._clock())

    def give_back(self) -> None:
        """Return the last write to the quota, as it changed nothing."""
        if self._taken:
            self._taken.pop()

    @contextlib.contextmanager
    def taken(self) -> Iterator[None]:
        """Count a write before it begins, even if it is cancelled but not if refused. Raises DonnaError (`quota`)."""
        self.take()
        try:
            yield
        except DonnaError:
            self.give_back()
            raise


@dataclass(slots=True)
class ClientSession:
    """One client from its first call to its last. `actor` names it in the history; `turn` serialises its writes."""

    actor: str
    quota: Quota = field(default_factory=Quota)
    id: str = field(default_factory=new_session_id)
    turn: asyncio.Lock = field(default_factory=asyncio.Lock)


@dataclass(frozen=True, slots=True, kw_only=True)
class ToolContext:
    """A space as one client sees it. Without a writer nothing is written; `results` is the default number of hits."""

    engine: Engine
    access: Access
    session: ClientSession
    writer: VaultWriter | None = None
    results: int = 8

    async def read(self, query: Callable[[Database], T]) -> T:
        return await self.engine.context.read(query)

    async def visible(self, notes: Collection[str]) -> set[str]:
        """Return which of some notes exist and may be seen by this client."""
        return await asyncio.to_thread(lambda: {note for note in notes if self.access.sees(note)})

    async def public(self, found: Sequence[R]) -> Sequence[R]:
        """Return the results that this client may see now, as the index may be outdated."""
        if self.access.sensitive:
            return found
        seen = await self.visible({result.note for result in found if result.note})
        return [result for result in found if not result.sensitive and (not result.note or result.note in seen)]


def actor_of(client: str) -> str:
    """Return the actor of a client: its own name, shortened to one plain line."""
    words = " ".join(clean_line(encodable(client)).split())
    return f"mcp:{words[:LONGEST_CLIENT].strip() or NAMELESS}"
