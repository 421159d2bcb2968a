"""Arguments and results of the tools for agents: the models from which their schemas are published."""

from __future__ import annotations

import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field
from pydantic.alias_generators import to_camel

from donna_tui.memory.importers import LONGEST_NAME
from donna_tui.safety.terminal import clean, clean_line
from donna_tui.types.memory import MemoryType
from donna_tui.types.search import Mode

LONGEST_QUESTION = 4_000
LONGEST_PATH = 4_096
MAX_RESULTS = 50
MAX_LINES = 2_000
MAX_BUDGET = 32_000
MAX_LISTED = 1_000
MAX_TURNS = 200
LONGEST_TEXT = 200_000
MAX_DAYS = 31
MAX_OFFSET = 1_000_000_000

Count = Annotated[int, Field(ge=0)]
InVault = AfterValidator(lambda path: path.removeprefix("vault:"))
"""Accept a path with the prefix that it has in the ids of passages."""

NotePath = Annotated[
    str,
    Field(
        min_length=1,
        max_length=LONGEST_PATH,
        description="Vault-relative, exactly as in `path` of a result, such as Projects/plan.md.",
    ),
    InVault,
]
Folder = Annotated[
    str,
    Field(max_length=LONGEST_PATH, description="Only notes below this folder, vault-relative, such as Projects."),
    AfterValidator(lambda folder: "" if folder in (".", "./") else folder.removeprefix("vault:")),
]
Offset = Annotated[int, Field(ge=0, le=MAX_OFFSET, description="The number of rows to skip: 0 for the first page.")]
Question = Annotated[str, Field(min_length=1, max_length=LONGEST_QUESTION, description="The question, in any words.")]


def iso_time(at: float) -> str:
    """Format a Unix time as ISO 8601 in UTC; empty for none, or for a time outside the calendar."""
    try:
        moment = datetime.datetime.fromtimestamp(at, datetime.UTC).replace(tzinfo=None)
    except (ValueError, OverflowError, OSError):
        return ""
    return f"{moment.isoformat(timespec='seconds')}Z" if at else ""


IsoTime = Annotated[
    str,
    Field(description="ISO 8601 in UTC, such as 2026-03-12T09:30:00Z; empty if unknown."),
    BeforeValidator(iso_time),
]
"""A time that is given as Unix time."""

CleanLine = Annotated[str, AfterValidator(clean_line)]
"""Text of a note or a memory, sanitised."""


class Row(BaseModel):
    """The base of the models of all tools. Rows of results are read from attributes of the same names."""

    model_config = ConfigDict(
        frozen=True, extra="forbid", alias_generator=to_camel, populate_by_name=True, from_attributes=True
    )


class ToolArgs(Row):
    """The base of the arguments of a tool. An unknown key is an error, so that no option is silently ignored."""


class ToolOutput(Row):
    """The base of the result of a tool."""

    ok: Literal[True] = True


class Refused(Row):
    """The result of every tool that refuses a request: the same as `--json` of the command line."""

    ok: Literal[False] = False
    reason: str
    message: str
    hint: str = ""


class SearchArgs(ToolArgs):
    """A question. Quotes, -words and filters such as tag: or before: work as in Donna's search bar."""

    query: Question
    max_results: Annotated[int, Field(ge=1, le=MAX_RESULTS)] | None = Field(
        default=None, description="The maximum number of passages; the configured default if omitted."
    )
    min_score: Annotated[float, Field(ge=0, le=1)] | None = Field(
        default=None, description="Leave out passages less similar than this, unless they share a word with the query."
    )
    mode: Mode = Field(default="hybrid", description="Keyword search, semantic search, or both combined.")
    sources: tuple[Literal["vault", "chat", "memory", "correction", "task", "draft"], ...] = Field(
        default=(), max_length=8, description="Only these kinds of documents; drafts are left out by default."
    )
    folder: Folder = ""
    near_misses: bool = Field(default=False, description="Include near misses where nothing is relevant.")


class Hit(Row):
    """A passage. Lines are 1-based and inclusive; `score` is the cosine similarity, null if unknown.

    `date` is the note's own, as 2026-03-12: from its frontmatter or file name, else the day of its last change. `draft`
    is true if Donna wrote the note and nobody has approved it; such notes are found only with `in:draft`. `type` is
    that of the frontmatter, or of a memory; `sensitive` marks text that must not leave this machine.
    """

    path: str
    start_line: int
    end_line: int
    snippet: CleanLine
    score: float | None
    title: CleanLine
    date: str
    type: CleanLine
    tags: tuple[CleanLine, ...]
    draft: bool
    sensitive: bool
    heading_path: tuple[CleanLine, ...]
    source: str
    citation: CleanLine


class SearchOutput(ToolOutput):
    """Passages, best first. `stale` is true if the latest edits may be missing; `note` says what limits the answer.

    `filterProblems` are filters of the query that are unknown or match nothing, each with the nearest valid one.
    """

    results: tuple[Hit, ...]
    count: Count
    near_misses: tuple[Hit, ...]
    mode: Mode
    note: str
    filter_problems: tuple[CleanLine, ...]
    stale: bool
    indexed: bool


class GetArgs(ToolArgs):
    """The passage to read: a path as returned by `memory_search`, and the lines.

    The lines of a result in a conversation are the numbers of its messages: `from` and `lines` have no effect there.
    """

    path: NotePath
    from_: Annotated[int, Field(ge=1)] = Field(default=1, alias="from", description="The first line, from 1.")
    lines: Annotated[int, Field(ge=1, le=MAX_LINES)] = Field(default=MAX_LINES, description="The number of lines.")


class GetOutput(ToolOutput):
    """Lines as they are on disk now, with hidden and reordering characters made visible. To edit, use `vault_read`.

    `note` says why there are none.
    """

    path: str
    title: CleanLine
    text: str
    start_line: int
    end_line: int
    total_lines: int
    note: str = ""


class RecallArgs(ToolArgs):
    """The query of a recall, and its budget of tokens."""

    query: Question
    top_k: Annotated[int, Field(ge=1, le=MAX_RESULTS)] | None = Field(
        default=None, description="The maximum number of memories, besides preferences; as many as fit if omitted."
    )
    token_budget: Annotated[int, Field(ge=1, le=MAX_BUDGET)] | None = Field(
        default=None, description="The token budget of all memories together; the configured default if omitted."
    )
    types: tuple[MemoryType, ...] = Field(
        default=(),
        description="Only these types: procedural are preferences, episodic are conversations, semantic are facts and"
        " notes, working is what is under way. All if empty.",
    )
    as_block: bool = Field(
        default=False, description="Return one <memory> block to paste into a prompt instead of the list."
    )


class Memory(Row):
    """A memory. `id` is accepted by `memory_forget`; `path` and the lines are its location.

    `sensitive` marks text that must not leave this machine.
    """

    id: str
    type: MemoryType = Field(validation_alias="memory_type")
    source: str
    path: str = Field(validation_alias="source_id")
    start_line: int
    end_line: int
    content: Annotated[str, AfterValidator(clean)]
    at: IsoTime
    pinned: bool
    sensitive: bool


class RecalledMemory(Memory):
    """A memory and the tokens that it takes in the block."""

    tokens: int


class RecallOutput(ToolOutput):
    """The memories that fit, preferences first: as a list, or with `asBlock` as one block for a prompt."""

    memories: tuple[RecalledMemory, ...]
    count: Count
    total_tokens: Count
    token_budget: Count
    note: str
    prompt: str


class RememberArgs(ToolArgs):
    """The text to remember: one fact, decision or preference, in a self-contained sentence."""

    text: str = Field(min_length=1, max_length=20_000, description="The sentence, with names and dates in full.")
    type: MemoryType | None = Field(
        default=None,
        description="procedural for a preference or rule of the owner, with which every recall begins; semantic for a"
        " fact, episodic for an event, working for what is under way; derived from the wording if omitted.",
    )
    replace: bool = Field(
        default=False,
        description="Replace a preference on the same subject, once the owner has agreed. Otherwise, a text that would"
        " replace one is refused with `conflict` and both texts.",
    )


class RememberOutput(ToolOutput):
    """The number of pieces remembered, and their ids; pieces known before count and are not stored twice."""

    remembered: Count
    ids: tuple[str, ...]
    session: str
    writes_left: Count


class ReadArgs(ToolArgs):
    """The note to read."""

    path: NotePath


class Section(Row):
    """A section of a note: its headings and its lines, 1-based and inclusive."""

    heading_path: tuple[CleanLine, ...]
    start_line: int
    end_line: int


class ReadOutput(ToolOutput):
    """A whole note, exactly as on disk. `vault_write` needs the `etag` to change it. `note` says if it is not exact."""

    path: str
    title: CleanLine
    text: str
    etag: str
    tags: tuple[CleanLine, ...]
    type: CleanLine
    sections: tuple[Section, ...]
    note: str = ""


class ListArgs(ToolArgs):
    """Filters and page of a list of notes."""

    folder: Folder = ""
    recursive: bool = Field(
        default=True, description="Include notes in the folders below it; otherwise those folders are listed."
    )
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=MAX_LISTED, description="The maximum number of rows.")] = 200


class Note(Row):
    """A note: its path, size in bytes, and modification time of its file."""

    path: str
    size: Count
    modified: IsoTime


class ListOutput(ToolOutput):
    """Notes by path, and the total number. `folders` has the folders with notes directly below, unless `recursive`."""

    notes: tuple[Note, ...]
    count: Count
    total: Count
    folders: tuple[str, ...]


class LinkArgs(ToolArgs):
    """The note whose links are listed."""

    path: NotePath


class LinkOutput(ToolOutput):
    """The notes that a note links to, and those with a wikilink to it, without broken links."""

    path: str
    links: tuple[str, ...]
    linked_from: tuple[str, ...]


class WriteArgs(ToolArgs):
    """A note to write. `etag` is that of the version that was read; a new note has none."""

    path: NotePath
    content: Annotated[str, Field(max_length=2_000_000)] = Field(
        description="The text. Frontmatter keys that it omits are preserved, unless `replace` is true."
    )
    etag: Annotated[Annotated[str, Field(max_length=128)] | None, AfterValidator(lambda etag: etag or None)] = Field(
        default=None, description="The `etag` of vault_read, to change a note; omitted for a new one."
    )
    replace: bool = Field(default=False, description="The content is the whole note, frontmatter too.")


class SectionArgs(ToolArgs):
    """A change of one section of a note. The rest of the note keeps its bytes."""

    path: NotePath
    heading_path: tuple[str, ...] = Field(
        default=(),
        max_length=12,
        description="The headings down to the section, exactly as in `headingPath` of vault_read; empty for the text"
        " before the first heading.",
    )
    content: Annotated[str, Field(max_length=2_000_000)] = Field(
        description="The text to add or to put in its place, without the heading of the section itself. One that begins"
        " with an empty line is added as a new paragraph."
    )
    mode: Literal["append", "replace"] = Field(
        default="append",
        description="append adds to the end of the section's own text, replace puts the content in its place. Sections"
        " below it stay as they are.",
    )
    etag: Annotated[str, Field(min_length=1, max_length=128, description="The `etag` of vault_read.")]


class WriteOutput(ToolOutput):
    """The result of a write: its operation, and the current etag of the note."""

    path: str
    changed: bool
    operation: str
    etag: str
    session: str
    writes_left: Count
    remarks: tuple[str, ...]


class UndoArgs(ToolArgs):
    """The part of this session to undo."""

    n: int = Field(default=1, ge=1, le=1_000, description="The number of operations to undo, from the last.")
    everything: bool = Field(
        default=False, description="Undo everything that this session did, its changes to the memory included."
    )


class UndoOutput(ToolOutput):
    """The undone operations, the notes that they had changed, and the numbers of memories of the session that were
    forgotten, of those it had forgotten that were restored, and of the messages it had stored that were removed.
    """

    undone: tuple[str, ...]
    paths: tuple[str, ...]
    forgotten: Count
    restored: Count
    messages: Count


class DraftsArgs(ToolArgs):
    """Filters of a list of drafts."""

    everything: bool = Field(default=False, description="Include those that were approved or rejected.")


class Draft(Row):
    """A note that Donna drafted. `path` is its current path, empty if none; `target` is the path after approval."""

    id: str
    skill: str
    title: CleanLine
    state: str
    path: str
    target: str
    created_at: IsoTime


class DraftsOutput(ToolOutput):
    """Drafts, the newest first. Only the person at the keyboard approves them."""

    drafts: tuple[Draft, ...]
    count: Count


class ChatTurn(Row):
    """One message of a conversation."""

    role: Literal["user", "assistant", "system"] = Field(description="The role of the speaker.")
    text: Annotated[str, Field(min_length=1, max_length=LONGEST_TEXT, description="The message, word for word.")]
    speaker: str = Field(default="", max_length=LONGEST_NAME, description="The name of a person; the role if omitted.")
    timestamp: str = Field(default="", max_length=64, description="When, in ISO 8601; now if omitted.")


class ChatAddArgs(ToolArgs):
    """Messages of the current conversation, in order. Messages added before are not stored twice."""

    turns: tuple[ChatTurn, ...] = Field(min_length=1, max_length=MAX_TURNS, description="The messages, oldest first.")
    session_id: str = Field(
        min_length=1,
        max_length=LONGEST_NAME,
        description="A name for this conversation that you choose once and use for each of its messages.",
    )
    title: str = Field(
        default="", max_length=LONGEST_NAME, description="What the conversation is about, in a few words."
    )
    closed: bool = Field(
        default=False, description="Whether the conversation is over: its last message becomes a memory."
    )


class ChatAddOutput(ToolOutput):
    """The number of new messages and of known ones. `summarized` counts the old conversations that were summarised."""

    added: Count
    known: Count
    summarized: Count
    suggestions: tuple[CleanLine, ...]
    session: str
    writes_left: Count


class MemoryListArgs(ToolArgs):
    """Filters and page of a list of memories, the latest first."""

    text: str = Field(
        default="", max_length=LONGEST_QUESTION, description="Only memories that contain this text, in any case."
    )
    types: tuple[MemoryType, ...] = Field(
        default=(), description="Only these types: procedural are preferences, semantic are facts. All if empty."
    )
    sources: tuple[Literal["chat", "memory", "correction"], ...] = Field(
        default=(), description="Only from chats, facts or corrections."
    )
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=MAX_RESULTS, description="The maximum number of rows.")] = 20


class MemoryListOutput(ToolOutput):
    """One page of memories, and the total number."""

    memories: tuple[Memory, ...]
    count: Count
    total: Count


class MemoryForgetArgs(ToolArgs):
    """The memory to forget."""

    id: str = Field(
        min_length=1,
        max_length=LONGEST_PATH,
        description="Exactly as in `id` of a result of recall or memory_list, such as memory:4f1c0a.",
    )


class MemoryForgetOutput(ToolOutput):
    """`changed` is false if the memory was forgotten meanwhile. The owner restores it with `donna forget ID --undo`."""

    id: str
    changed: bool
    session: str
    writes_left: Count


class TaskListArgs(ToolArgs):
    """Filters and page of a list of tasks."""

    done: bool = Field(default=False, description="Include tasks that are done or cancelled.")
    due_before: str = Field(
        default="", max_length=10, description="Only tasks due before this day, such as 2026-03-12."
    )
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=200, description="The maximum number of rows.")] = 50


class Task(Row):
    """A check box of a note. Days are ISO 8601, empty if none is given."""

    id: str
    title: CleanLine
    status: str
    path: str = Field(validation_alias="note")
    line: int
    due: str
    scheduled: str
    priority: str
    tags: tuple[CleanLine, ...]
    sensitive: bool


class TaskListOutput(ToolOutput):
    """One page of tasks, the earliest deadline first, and the total number."""

    tasks: tuple[Task, ...]
    count: Count
    total: Count


class AgendaArgs(ToolArgs):
    """The days of an agenda."""

    day: str = Field(default="", max_length=10, description="The first day, such as 2026-03-12; today if omitted.")
    days: Annotated[int, Field(ge=1, le=MAX_DAYS, description="The number of days.")] = 1


class Meeting(Row):
    """A meeting. Times are ISO 8601 with the local offset; `attendees` are names, or addresses of those without one;
    `path` is its note, empty if there is none.
    """

    title: CleanLine
    start: str
    end: str
    all_day: bool
    location: CleanLine
    attendees: tuple[CleanLine, ...]
    cancelled: bool
    path: str


class AgendaOutput(ToolOutput):
    """The meetings of the requested days, in order, and the open tasks due by then."""

    day: str
    meetings: tuple[Meeting, ...]
    tasks: tuple[Task, ...]
