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

SessionId = Annotated[str, Field(description="The id of this session, for `donna undo --session ID`.")]
WritesLeft = Annotated[Count, Field(description="The number of writes left in this hour.")]
RowCount = Annotated[Count, Field(description="The number of rows in this answer.")]
TotalCount = Annotated[Count, Field(description="The number of all rows.")]
FirstLine = Annotated[int, Field(description="The first line, from 1.")]
LastLine = Annotated[int, Field(description="The last line, inclusive.")]
IsPrivate = Annotated[bool, Field(description="Whether it must not leave this machine.")]
PathOfNote = Annotated[str, Field(description="The path of the note.")]


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
    """A passage of a note or a memory."""

    path: str = Field(description="The note's path, or the id of a memory; `memory_get` takes it.")
    start_line: FirstLine
    end_line: LastLine
    snippet: CleanLine = Field(description="The part of the passage that matches best.")
    score: float | None = Field(description="The cosine similarity to the query; null if unknown.")
    title: CleanLine = Field(description="The title of the note or memory.")
    date: str = Field(
        description="The note's own day: from its frontmatter or file name, else that of its last change."
    )
    type: CleanLine = Field(description="The `type` of the frontmatter, or that of a memory.")
    tags: tuple[CleanLine, ...] = Field(description="The tags of the note.")
    draft: bool = Field(
        description="Whether Donna wrote the note and nobody has approved it; only `in:draft` finds such notes."
    )
    sensitive: IsPrivate
    heading_path: tuple[CleanLine, ...] = Field(description="The headings that lead to the passage.")
    source: str = Field(description="Where it is from: vault, chat, memory, correction or task.")
    citation: CleanLine = Field(description="Path, headings and lines, to quote as the source.")


class SearchOutput(ToolOutput):
    """The passages that answer a question."""

    results: tuple[Hit, ...] = Field(description="The passages, best first.")
    count: RowCount
    near_misses: tuple[Hit, ...] = Field(description="Passages that are close but were judged not relevant.")
    mode: Mode = Field(description="The mode that was used: keyword if the model is missing.")
    note: str = Field(description="What limits the answer; empty if nothing does.")
    filter_problems: tuple[CleanLine, ...] = Field(
        description="Filters of the query that are unknown or match nothing, each with the nearest valid one."
    )
    stale: bool = Field(description="Whether the latest edits may be missing.")
    indexed: bool = Field(description="Whether there is an index to search.")


class GetArgs(ToolArgs):
    """The passage to read: a path as returned by `memory_search`, and the lines.

    The lines of a result in a conversation are the numbers of its messages: `from` and `lines` have no effect there.
    """

    path: NotePath
    from_: Annotated[int, Field(ge=1)] = Field(default=1, alias="from", description="The first line, from 1.")
    lines: Annotated[int, Field(ge=1, le=MAX_LINES)] = Field(default=MAX_LINES, description="The number of lines.")


class GetOutput(ToolOutput):
    """Lines of a note or a memory. To edit a note, use `vault_read`."""

    path: str = Field(description="The path of the note, or the id of the memory.")
    title: CleanLine = Field(description="The title of the note or memory.")
    text: str = Field(
        description="The lines as they are on disk now, with hidden and reordering characters made visible."
    )
    start_line: FirstLine
    end_line: LastLine
    total_lines: int = Field(description="The number of all lines.")
    note: str = Field(default="", description="Why there are no lines; empty if there are.")


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
    """A memory and its location."""

    id: str = Field(description="The id, which `memory_forget` takes.")
    type: MemoryType = Field(
        validation_alias="memory_type",
        description="procedural is a preference, episodic a conversation or event, semantic a fact or note.",
    )
    source: str = Field(description="Where it is from: vault, chat, memory, correction or task.")
    path: str = Field(
        validation_alias="source_id", description="The path of the note, or the id of the memory in its source."
    )
    start_line: int = Field(description="The first line, or message of a conversation.")
    end_line: int = Field(description="The last line or message, inclusive.")
    content: Annotated[str, AfterValidator(clean)] = Field(description="The text.")
    at: IsoTime = Field(
        description="When it was said or written, in ISO 8601 in UTC, such as 2026-03-12T09:30:00Z; empty if unknown."
    )
    pinned: bool = Field(description="Whether the owner pinned it.")
    sensitive: IsPrivate


class RecalledMemory(Memory):
    """A memory and the tokens that it takes in the block."""

    tokens: int = Field(description="The tokens that it takes in the block.")


class RecallOutput(ToolOutput):
    """The memories that fit: a list, or with `asBlock` one block for a prompt."""

    memories: tuple[RecalledMemory, ...] = Field(
        description="The memories that fit, preferences first; empty with `asBlock`."
    )
    count: Count = Field(description="The number of memories, in the list or the block.")
    total_tokens: Count = Field(description="The tokens that they take together.")
    token_budget: Count = Field(description="The budget that applied.")
    note: str = Field(description="What limits the answer, such as memories that were left out.")
    prompt: str = Field(description="The <memory> block with `asBlock`, else empty.")


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
        description="Replace a preference on the same subject, or a fact that is no longer true, once the owner has"
        " agreed. Otherwise, a text that would replace one is refused with `conflict` and both texts.",
    )


class RememberOutput(ToolOutput):
    """The result of remembering a text."""

    remembered: Count = Field(description="The number of pieces of the text, with those that were known before.")
    ids: tuple[str, ...] = Field(description="Their ids.")
    session: SessionId
    writes_left: WritesLeft


class ReadArgs(ToolArgs):
    """The note to read."""

    path: NotePath


class Section(Row):
    """A section of a note."""

    heading_path: tuple[CleanLine, ...] = Field(
        description="The headings down to the section, as `vault_section` takes them."
    )
    start_line: FirstLine
    end_line: LastLine


class ReadOutput(ToolOutput):
    """A whole note."""

    path: PathOfNote
    title: CleanLine = Field(description="The title of the note.")
    text: str = Field(description="The whole note, exactly as on disk.")
    etag: str = Field(description="The version of the note, which `vault_write` needs to change it.")
    tags: tuple[CleanLine, ...] = Field(description="The tags of the note.")
    type: CleanLine = Field(description="The `type` of its frontmatter.")
    sections: tuple[Section, ...] = Field(description="The sections, in the order of the note.")
    note: str = Field(default="", description="Why the text is not exact; empty if it is.")


class ListArgs(ToolArgs):
    """Filters and page of a list of notes."""

    folder: Folder = ""
    recursive: bool = Field(
        default=True, description="Include notes in the folders below it; otherwise those folders are listed."
    )
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=MAX_LISTED, description="The maximum number of rows.")] = 200


class Note(Row):
    """A note in a list."""

    path: PathOfNote
    size: Count = Field(description="The size of the file in bytes.")
    modified: IsoTime = Field(description="When the file was changed, in ISO 8601 in UTC.")


class ListOutput(ToolOutput):
    """One page of notes."""

    notes: tuple[Note, ...] = Field(description="The notes of this page, by path.")
    count: RowCount
    total: TotalCount
    folders: tuple[str, ...] = Field(description="The folders with notes directly below, unless `recursive`.")


class LinkArgs(ToolArgs):
    """The note whose links are listed."""

    path: NotePath


class LinkOutput(ToolOutput):
    """The links of a note in both directions."""

    path: PathOfNote
    links: tuple[str, ...] = Field(description="The notes that it links to, without broken links.")
    linked_from: tuple[str, ...] = Field(description="The notes with a wikilink to it.")


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
    """The result of a write."""

    path: PathOfNote
    changed: bool = Field(description="Whether anything was written; false if the note was like that already.")
    operation: str = Field(description="The id of the operation; empty if nothing was written.")
    etag: str = Field(description="The version of the note now.")
    session: SessionId
    writes_left: WritesLeft
    remarks: tuple[str, ...] = Field(description="What the owner may want to know about the change.")


class UndoArgs(ToolArgs):
    """The part of this session to undo."""

    n: int = Field(default=1, ge=1, le=1_000, description="The number of operations to undo, from the last.")
    everything: bool = Field(
        default=False, description="Undo everything that this session did, its changes to the memory included."
    )


class UndoOutput(ToolOutput):
    """The result of undoing a session."""

    undone: tuple[str, ...] = Field(description="The ids of the operations that were undone.")
    paths: tuple[str, ...] = Field(description="The notes that changed.")
    forgotten: Count = Field(description="The number of memories of this session that were forgotten.")
    restored: Count = Field(description="The number of memories forgotten in this session that were restored.")
    messages: Count = Field(description="The number of stored messages that were removed.")


class DraftsArgs(ToolArgs):
    """Filters of a list of drafts."""

    everything: bool = Field(default=False, description="Include those that were approved or rejected.")


class Draft(Row):
    """A note that Donna drafted."""

    id: str = Field(description="The id of the draft.")
    skill: str = Field(description="The kind of draft, such as meeting_note.")
    title: CleanLine = Field(description="The title of the draft.")
    state: str = Field(description="waiting, approved, rejected, failed, or gone if its note was deleted or moved.")
    path: str = Field(description="The current path; empty if there is no file.")
    target: str = Field(description="The path after approval.")
    created_at: IsoTime = Field(description="When it was written, in ISO 8601 in UTC.")


class DraftsOutput(ToolOutput):
    """Drafts."""

    drafts: tuple[Draft, ...] = Field(description="The drafts, the newest first. Only the owner approves them.")
    count: RowCount


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
    """The result of storing messages."""

    added: Count = Field(description="The number of new messages.")
    known: Count = Field(description="The number of messages that were stored before.")
    summarized: Count = Field(description="The number of old conversations that were summarised.")
    suggestions: tuple[CleanLine, ...] = Field(
        description="Preferences in the messages; ask the owner before you remember one."
    )
    session: SessionId
    writes_left: WritesLeft


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
    """One page of memories."""

    memories: tuple[Memory, ...] = Field(description="The memories of this page, the latest first.")
    count: RowCount
    total: TotalCount


class MemoryForgetArgs(ToolArgs):
    """The memory to forget."""

    id: str = Field(
        min_length=1,
        max_length=LONGEST_PATH,
        description="Exactly as in `id` of a result of recall or memory_list, such as memory:4f1c0a.",
    )


class MemoryForgetOutput(ToolOutput):
    """The result of forgetting a memory."""

    id: str = Field(description="The id of the memory. The owner restores it with `donna forget ID --undo`.")
    changed: bool = Field(description="Whether it was forgotten now; false if it was forgotten meanwhile.")
    session: SessionId
    writes_left: WritesLeft


class TaskListArgs(ToolArgs):
    """Filters and page of a list of tasks."""

    done: bool = Field(default=False, description="Include tasks that are done or cancelled.")
    due_before: str = Field(
        default="", max_length=10, description="Only tasks due before this day, such as 2026-03-12."
    )
    offset: Offset = 0
    limit: Annotated[int, Field(ge=1, le=200, description="The maximum number of rows.")] = 50


class Task(Row):
    """A check box of a note."""

    id: str = Field(description="The id of the task.")
    title: CleanLine = Field(description="The text of the check box.")
    parent: CleanLine = Field(description="The text of the check box that it is a part of; empty if none.")
    status: str = Field(description="todo, in_progress, done or cancelled.")
    path: str = Field(validation_alias="note", description="The path of the note.")
    line: int = Field(description="The line of the check box, from 1.")
    due: str = Field(description="The deadline, such as 2026-03-12; empty if none.")
    scheduled: str = Field(description="The day for which it is scheduled; empty if none.")
    priority: str = Field(description="highest, high, medium, low or lowest; empty if none is set.")
    tags: tuple[CleanLine, ...] = Field(description="The tags of the task.")
    sensitive: IsPrivate


class TaskListOutput(ToolOutput):
    """One page of tasks."""

    tasks: tuple[Task, ...] = Field(description="The tasks of this page, the earliest deadline first.")
    count: RowCount
    total: TotalCount


class AgendaArgs(ToolArgs):
    """The days of an agenda."""

    day: str = Field(default="", max_length=10, description="The first day, such as 2026-03-12; today if omitted.")
    days: Annotated[int, Field(ge=1, le=MAX_DAYS, description="The number of days.")] = 1


class Meeting(Row):
    """A meeting in a calendar."""

    title: CleanLine = Field(description="The title of the meeting.")
    start: str = Field(description="The beginning, in ISO 8601 with the local offset.")
    end: str = Field(description="The end, in ISO 8601 with the local offset.")
    all_day: bool = Field(description="Whether it lasts all day.")
    location: CleanLine = Field(description="The place; empty if none.")
    attendees: tuple[CleanLine, ...] = Field(
        description="The names of the attendees, or addresses of those without one."
    )
    cancelled: bool = Field(description="Whether it was cancelled.")
    path: str = Field(description="The path of its note; empty if there is none.")


class AgendaOutput(ToolOutput):
    """The meetings of the requested days, in order, and the open tasks due by then."""

    day: str = Field(description="The first day.")
    meetings: tuple[Meeting, ...] = Field(description="The meetings of these days, in order.")
    tasks: tuple[Task, ...] = Field(description="The open tasks that are due by then.")
