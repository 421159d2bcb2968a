"""The selected memory in full, and why it is remembered."""

from __future__ import annotations

from collections.abc import Iterator

from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.humanize import day
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.memory.list import KINDS, importance_value, own_text
from donna_tui.types.memory import Importance, MemoryChunk, MemoryType, Signal
from donna_tui.types.search import MemorySource

_HEAD, _TAIL = 100, 40
"""Characters of a long citation that are shown: its beginning, and its end with turns or lines."""
_NEW, _KNOWN = 0.6, 0.3

_SIGNALS = {
    Signal.ENTITY: "names a person or thing",
    Signal.NUMBER: "has a number or a date",
    Signal.PREFERENCE: "says what you prefer",
    Signal.RARE: "uses rare words",
}


class MemoryCard(Panel):
    head = query_one("#memory-why", Static)
    view = query_one("#memory-text", PassageView)

    def compose(self) -> ComposeResult:
        yield Static(id="memory-why")
        yield PassageView(id="memory-text")

    def show(self, memory: MemoryChunk | None) -> None:
        self.head.update(Content("\n").join(why_lines(memory)) if memory is not None else Content(""))
        self.view.show(own_text(memory) if memory is not None else "")


def why_lines(memory: MemoryChunk) -> Iterator[Content]:
    kind = KINDS[memory.source]
    preference = "preference" if memory.memory_type is MemoryType.PROCEDURAL else ""
    what = [kind[:1].upper() + kind[1:], preference, day(memory.at)]
    special = (("forgotten", memory.forgotten), ("pinned", memory.pinned), ("private", memory.sensitive))
    marks = [word for word, on in special if on]
    yield Content.assemble(
        (what[0], "bold"),
        (" · ".join(["", *filter(None, what[1:])]), "$text-muted"),
        *((f" · {mark}", "$text-accent" if mark == "pinned" else "$text-warning") for mark in marks),
    )
    citation = citation_of(memory)
    shortened = citation if len(citation) <= _HEAD + _TAIL else f"{citation[:_HEAD]}…{citation[-_TAIL:]}"
    yield Content.styled(shortened, "$text-muted")
    yield from importance_lines(memory.importance)
    yield Content.styled(*why_recalled(memory))


def importance_lines(importance: Importance | None) -> Iterator[Content]:
    """Show how important a memory is, and describe why. The formula is in the help."""
    if importance is None:
        return
    if importance.value is None:
        yield Content.styled("importance not known yet: not embedded", "$text-muted")
    else:
        yield Content.assemble(("importance ", "$text-disabled"), (f"{importance.value:.2f}", "bold"))
    parts = [_SIGNALS[signal] for signal in importance.signals] or ["no name, number, preference or rare word"]
    if (novelty := importance.novelty) is not None:
        new = "new" if novelty >= _NEW else "similar to earlier memories" if novelty < _KNOWN else "partly new"
        parts = [new, *parts]
    yield Content.styled(" · ".join(parts), "$text-muted")


def why_recalled(memory: MemoryChunk) -> tuple[str, str]:
    """Explain whether it is recalled, as a sentence with its style."""
    quiet, warning = "$text-disabled", "$text-warning"
    if memory.forgotten:
        return "Forgotten: it is no longer found or recalled.", warning
    if memory.compressed:
        return "A summary of its conversation is recalled in its place.", warning
    if memory.source is MemorySource.VAULT:
        return "Recalled where it fits the question.", quiet
    if memory.memory_type is MemoryType.PROCEDURAL:
        return "A preference is first in every recall.", quiet
    if memory.pinned:
        return "Pinned: it has the highest importance.", quiet
    if memory.is_summary:
        return "It summarises a whole conversation.", quiet
    if importance_value(memory) is None:
        return "Found by keyword already; recalled where it fits the question.", quiet
    return "Recalled where it fits the question; the more important it is, the earlier.", quiet


def citation_of(memory: MemoryChunk) -> str:
    """Cite a memory for people: conversation and turns, or note and line."""
    title = clean_line(memory.title)
    if memory.source is MemorySource.CHAT:
        turns = _range("turn", memory.start_line, memory.end_line)
        session = clean_line(memory.session_id)
        return " · ".join(filter(None, (title, session if session != title else "", turns)))
    if memory.source in (MemorySource.TASK, MemorySource.VAULT):
        return f"{clean_line(memory.note)} · {_range('line', memory.start_line, memory.end_line)}"
    return " · ".join(filter(None, (title, clean_line(memory.id))))


def _range(noun: str, first: int, last: int) -> str:
    return f"{noun} {first}" if first == last else f"{noun}s {first}–{last}"
