"""Format the texts of the Memory screen, without a widget."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TypeVar

from textual.content import Content

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.humanize import count, percent, plural
from donna_tui.tui.lib.inputs import NoticeText
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.memory.card import citation_of
from donna_tui.tui.memory.list import is_open
from donna_tui.types.memory import EXTRA_SOURCES, MemoryChunk, MemoryFilter, RecallResult, Suggestion
from donna_tui.types.search import MemorySource
from donna_tui.types.status import Status

T = TypeVar("T")
_DAY = 86_400.0

_AGES = {"": 0, "the last day": 1, "the last week": 7, "the last month": 31, "the last year": 366}
"""The periods of the list: their names, and days."""

DEFAULT_SOURCES = tuple(source for source in EXTRA_SOURCES if source is not MemorySource.TASK)
"""The default sources: tasks are many, and their notes contain them."""

_SOURCES = {
    MemorySource.CHAT: "chats",
    MemorySource.MEMORY: "facts and preferences",
    MemorySource.CORRECTION: "corrections",
    MemorySource.TASK: "tasks",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ListFilter:
    """The filters of the list. Empty means everything except the notes and their tasks."""

    source: MemorySource | None = None
    age: str = ""
    text: str = ""

    @property
    def is_active(self) -> bool:
        return self != ListFilter()

    def wanted(self, now: float) -> MemoryFilter:
        return MemoryFilter(
            sources=(self.source,) if self.source else DEFAULT_SOURCES,
            after=now - _AGES[self.age] * _DAY if self.age else None,
            text=self.text.strip(),
            by_deadline=self.source is MemorySource.TASK,
        )

    def next_source(self) -> ListFilter:
        """Select the next source; after the last one, all but the tasks."""
        return replace(self, source=_next((None, *_SOURCES), self.source))

    def only_tasks(self) -> ListFilter:
        """Select the tasks, or everything else if they are selected already."""
        return replace(self, source=None if self.source is MemorySource.TASK else MemorySource.TASK)

    def next_age(self) -> ListFilter:
        """Extend the period; after the longest one, remove the limit."""
        return replace(self, age=_next(tuple(_AGES), self.age))

    def __str__(self) -> str:
        text = clean_line(self.text.strip())
        parts = (_SOURCES[self.source] if self.source else "", self.age, f"with “{text}”" if text else "")
        return " · ".join(filter(None, parts))


def _next(values: tuple[T, ...], value: T) -> T:
    return values[(values.index(value) + 1) % len(values)]


LOADING = NoticeText("Loading memories …", is_loading=True)
NOTHING_YET = NoticeText(
    "Nothing is remembered besides your notes yet.",
    "Chats, and what you ask Donna to remember, appear here.",
    actions=(
        ("memory.remember", "remember a fact"),
        ("memory.add-task", "add a task"),
        ("memory.tasks", "list the tasks of your notes"),
    ),
    examples=(("donna chat import FILE", "import your conversations"),),
)
NOTHING_TO_UNDO = "Nothing was forgotten or written here that could be undone."
NO_QUESTION = NoticeText(
    "Type a question.",
    "The context for a language model appears here: what fits into the budget, what is left out, and why. "
    "Your notes are searched too; what must stay on this machine is left out.",
)


def list_head(list_filter: ListFilter, total: int) -> str:
    if list_filter == ListFilter().only_tasks():
        return f"{plural(total, 'task')}, earliest deadline first"
    shown = plural(total, "memory", "memories")
    return f"{shown} · {list_filter}" if list_filter.is_active else f"{shown}, newest first"


def suggestion_line(suggestions: Sequence[Suggestion]) -> Content:
    """Show the latest open suggestion, the number of others, and the key that answers them."""
    if not suggestions:
        return Content()
    first, more = clean_line(suggestions[0].text), len(suggestions) - 1
    return Content.assemble(
        (f"{shown_key('memory.suggestions')} ", "$accent"),
        ("Remember ", "$text-muted"),
        f"“{first[:80]}{'…' if len(first) > 80 else ''}”",
        (f" and {more} more?" if more else "?", "$text-muted"),
    )


def nothing_recalled(query: str, note: str) -> NoticeText:
    return NoticeText(
        f"Nothing is remembered about “{clean_line(query.strip())[:60]}”.",
        clean_line(note),
        actions=(("memory.refresh", "ask again"),),
    )


def recall_facts(result: RecallResult) -> str:
    """Describe the tokens used and the tokenizer, after the limits of the answer."""
    share = f"{count(result.total_tokens)} of {count(result.token_budget)} tokens"
    share += f", {percent(result.total_tokens, result.token_budget)}" if result.token_budget else ""
    return " · ".join(filter(None, (share, clean_line(result.note) or f"counted by {clean_line(result.counter)}")))


def read_only_note(status: Status | None) -> str:
    """Explain the restrictions while another process maintains the index."""
    if status is None or status.state != "read_only":
        return ""
    owner = f" ({clean_line(status.owner)})" if status.owner else ""
    return f"Another Donna process{owner} maintains the index: changes are stored at once, listed when it is updated."


def why_no_forgetting(memory: MemoryChunk | None) -> str:
    """Explain why a memory can be neither pinned nor forgotten here."""
    if memory is None:
        return ""
    if memory.note:
        return "This memory is part of a note. Edit the note to change it."
    return "It is forgotten already." if memory.forgotten else ""


def why_no_tick(memory: MemoryChunk | None) -> str:
    if memory is None or memory.source is not MemorySource.TASK:
        return "No task is selected."
    return "" if is_open(memory) else "This task is done or cancelled already."


def why_no_prompt(result: RecallResult | None) -> str:
    if result is None:
        return "Nothing has been recalled yet."
    return "" if result.memories else "Nothing fits: try a larger budget or another question."


def citation_text(memory: MemoryChunk) -> str:
    """Format a citation to paste elsewhere, with the id that the commands accept."""
    return f"{citation_of(memory)} ({clean_line(memory.id)})"


def forget_effect(memory: MemoryChunk) -> tuple[str, str]:
    """Describe exactly what is forgotten, and the consequences."""
    citation = citation_of(memory)
    if memory.source is MemorySource.CHAT:
        return citation, "These turns are no longer found or recalled; the rest of the conversation stays."
    return citation, "It is no longer found or recalled."
