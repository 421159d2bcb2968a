"""Memories, tasks and conversations, as frozen values."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Literal

from donna_tui.types.search import ME, MemorySource, note_containing

NOVELTY_SHARE, SALIENCE_SHARE = 0.6, 0.4
"""The shares of novelty and salience in the importance of a memory."""


class MemoryType(StrEnum):
    """The type of a memory."""  # part of the schemas of the tools for agents

    WORKING = "working"
    EPISODIC = "episodic"
    SEMANTIC = "semantic"
    PROCEDURAL = "procedural"


EXTRA_SOURCES = (MemorySource.CHAT, MemorySource.MEMORY, MemorySource.CORRECTION, MemorySource.TASK)
"""The sources other than notes."""


class Signal(StrEnum):
    """A signal of salience in a text."""

    ENTITY = "entity"
    NUMBER = "number"
    PREFERENCE = "preference"
    RARE = "rare"


@dataclass(frozen=True, slots=True)
class Importance:
    """The importance of a memory, from 0 to 1, and its components. Without a model `novelty` is not known."""

    salience: float
    signals: tuple[Signal, ...] = ()
    novelty: float | None = None

    @property
    def value(self) -> float | None:
        """Return 0.6 novelty + 0.4 salience; None until the novelty is known."""
        return None if self.novelty is None else NOVELTY_SHARE * self.novelty + SALIENCE_SHARE * self.salience


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryChunk:
    """One memory. `id` names it everywhere: its source and its source's own id, such as `chat:session:3-4`.

    `at` is Unix time in seconds, `day` the ISO day of a note with a date of its own that is not in its path, `due` that
    of a task, and `parent` the title of the task that contains it. `lead` is what precedes a passage in `content`.
    `start_line` and `end_line` are turns of a chat, or lines of the note that holds a task. `importance` is None for
    notes. `score` and `tokens` are those of the recall that gave it, else 0. All text is raw: sanitise it before it
    reaches a terminal.
    """

    id: str
    source: MemorySource
    source_id: str
    memory_type: MemoryType
    content: str
    title: str = ""
    at: float = 0.0
    day: str = ""
    lead: str = ""
    session_id: str = ""
    start_line: int = 1
    end_line: int = 1
    heading_path: tuple[str, ...] = ()
    importance: Importance | None = None
    due: str = ""
    parent: str = ""
    pinned: bool = False
    forgotten: bool = False
    compressed: bool = False
    is_summary: bool = False
    sensitive: bool = False
    score: float = 0.0
    tokens: int = 0

    @property
    def note(self) -> str:
        """Return the note that contains this memory; empty if none does."""
        return note_containing(self.source, self.source_id)


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryFilter:
    """The filters of a list of memories. Empty means all; `after` and `before` are Unix times, `text` is literal."""

    types: tuple[MemoryType, ...] = ()
    sources: tuple[MemorySource, ...] = EXTRA_SOURCES
    text: str = ""
    after: float | None = None
    before: float | None = None
    most_importance: float | None = None
    user_id: str = ME
    sensitive: bool | None = None
    by_deadline: bool = False
    """List open tasks first and sort by deadline, instead of by time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Correction:
    """A correction by a person: the old and new value of a field, the input, and the kind of task.

    `item` is the id of the corrected memory; empty for a correction of a draft.
    """

    id: str
    field: str
    original: str
    corrected: str
    input: str
    task_type: str
    created_at: float
    user_id: str = ME
    sensitive: bool = False
    pinned: bool = False
    item: str = ""


@dataclass(frozen=True, slots=True)
class SessionChange:
    """Count the changes by the undo or redo of an agent's session: memories that were forgotten and restored, and
    messages of the session that were removed or restored.
    """

    forgotten: int = 0
    restored: int = 0
    messages: int = 0


class OmittedReason(StrEnum):
    """The reason why a memory that was found is not in the prompt."""

    BUDGET = "budget"
    """It does not fit into the rest of the token budget."""
    COUNT = "count"
    """The requested number is reached."""
    COMPRESSED = "compressed"
    """A summary of its conversation replaces it."""
    DUPLICATE = "duplicate"
    """A better passage has the same text, as in a copy of its note."""
    TYPE = "type"


@dataclass(frozen=True, slots=True)
class Omitted:
    """A memory that was found and omitted, with the reason."""

    memory: MemoryChunk
    why: OmittedReason


@dataclass(frozen=True, slots=True, kw_only=True)
class RecallResult:
    """The result of a recall. `total_tokens` are those of the whole `<memory>` block, and `budget_used` their share of
    the budget. `note` says in one line what limits the answer.
    """

    memories: tuple[MemoryChunk, ...]
    total_tokens: int
    budget_used: float
    token_budget: int = 0
    cut: tuple[Omitted, ...] = ()
    counter: str = ""
    note: str = ""
    query: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Turn:
    """One message of a conversation. `number` is its place in citations, 1-based; `at` is Unix time or None."""

    number: int
    role: str
    speaker: str
    text: str
    at: float | None = None
    pinned: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ConversationRow:
    """A conversation. `summary` is the id of the memory that replaces it once it is compressed."""

    name: str
    title: str
    turns: int
    started_at: float | None
    last_at: float | None
    closed: bool
    sensitive: bool
    summary: str = ""
    user_id: str = ME


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskRow:
    """A check box of a note. `id` is `task:` with the note's path and a hash of the task; days are ISO days.

    `parent` is the title of the task that contains a sub-task.
    """

    id: str
    title: str
    status: str
    note: str
    line: int
    parent: str = ""
    due: str = ""
    scheduled: str = ""
    start: str = ""
    created: str = ""
    done: str = ""
    priority: str = ""
    recurrence: str = ""
    tags: tuple[str, ...] = ()
    sensitive: bool = False

    @property
    def short_id(self) -> str:
        """Return the hash alone, which is nearly always unique."""
        return self.id.rpartition("#")[2]

    @property
    def is_open(self) -> bool:
        return self.status not in ("done", "cancelled")


BackfillState = Literal["ok", "off", "failed"]


@dataclass(frozen=True, slots=True, kw_only=True)
class BackfillRow:
    """The result of the backfill of one source: the number of documents in the index, or why it failed."""

    source: str
    state: BackfillState
    documents: int = 0
    message: str = ""


@dataclass(frozen=True, slots=True)
class BadLine:
    """A line of an import that could not be used; `number` is 1-based."""

    number: int
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ImportReport:
    """The result of an import. `known` turns had been imported before; `left_out` counts what is not
    a message, such as tool output.

    `bad` holds the first malformed lines, `malformed` counts all.
    """

    format: str
    sessions: int
    turns: int
    known: int
    left_out: int
    malformed: int
    bad: tuple[BadLine, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """A preference that somebody stated in a chat, offered to be remembered. `at` is Unix time or None."""

    id: str
    text: str
    session: str
    turn: int
    at: float | None = None
    sensitive: bool = False
