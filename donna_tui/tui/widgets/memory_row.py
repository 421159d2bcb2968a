"""One memory as a line: how important it is, what it says, what is special about it, where it is from and when."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from donna_tui.memories import Cut, CutReason, MemoryChunk, MemorySource, MemoryType
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.humanize import count
from donna_tui.tui.origins import day_of
from donna_tui.tui.widgets.scrolled import row_of

METER = 4
_KIND = 10
_WHEN = 6
_ROOMY = 64
_LONGEST = 600
"""Characters of a memory that are looked at; no line shows more."""

KINDS = {
    MemorySource.VAULT: "note",
    MemorySource.CHAT: "chat",
    MemorySource.TASK: "task",
    MemorySource.CORRECTION: "correction",
    MemorySource.MEMORY: "remembered",
}
TYPES = {
    MemoryType.WORKING: "working",
    MemoryType.EPISODIC: "episodic",
    MemoryType.SEMANTIC: "semantic",
    MemoryType.PROCEDURAL: "preference",
}
WHY_CUT = {
    CutReason.BUDGET: "too long for what is left",
    CutReason.COUNT: "enough others fit better",
    CutReason.COMPRESSED: "a summary stands for it",
    CutReason.TYPE: "of another type",
}
_SHORT_CUT = {
    CutReason.BUDGET: "too long",
    CutReason.COUNT: "enough others",
    CutReason.COMPRESSED: "summed up",
    CutReason.TYPE: "other type",
}


def importance_value(memory: MemoryChunk) -> float | None:
    """How important a memory is, if that is known."""
    return memory.importance.value if memory.importance else None


def meter(value: float | None, width: int, style: str = "accent") -> Content:
    """A share from 0 to 1 as a bar; blank where it is not known."""
    if value is None:
        return Content(" " * width)
    filled = round(min(max(value, 0.0), 1.0) * width)
    return Content.assemble(("━" * filled, style), ("─" * (width - filled), "quiet"))


def is_open(memory: MemoryChunk) -> bool:
    """Whether a task is still to be done: only those are working memory."""
    return memory.memory_type is MemoryType.WORKING


def marks_of(memory: MemoryChunk) -> Content:
    """What is special about a memory, in words."""
    marks = (
        (memory.forgotten, "forgotten", "warning"),
        (memory.pinned, "pinned", "accent"),
        (memory.is_summary, "summary", "muted"),
        (memory.compressed, "summed up", "quiet"),
        (memory.sensitive, "local only", "warning"),
    )
    return Content(" ").join(Content.styled(word, style) for on, word, style in marks if on)


def words_of(text: str) -> str:
    """The beginning of a text on one line."""
    return clean_line(" ".join(text[:_LONGEST].split()))


def memory_line(memory: MemoryChunk, width: int, newest: float) -> Content:
    """A memory in the list. Narrow lists leave out where it is from."""
    tone = "quiet" if memory.forgotten else "plain"
    left = Content.assemble(
        meter(importance_value(memory), METER),
        "  ",
        (_said(memory), tone),
    )
    columns = [marks_of(memory)] if marks_of(memory) else []
    if width >= _ROOMY:
        columns.append(Content.styled(KINDS[memory.source].ljust(_KIND), "quiet"))
    columns.append(Content.styled(_padded(day_of(memory.at, newest) if memory.at else "–"), "quiet"))
    return row_of(left, Content(" ") + Content("  ").join(columns), width)


def packed_line(place: int, memory: MemoryChunk, width: int) -> Content:
    """A memory that is in the prompt: its place, what it says, how well it fits, what it costs."""
    score = f"{memory.score:.2f}" if memory.score else "–"
    left = Content.assemble((f"{place:>2}  ", "accent"), (words_of(memory.content), "plain"))
    right = Content.assemble(
        (TYPES[memory.memory_type] + "  ", "quiet"), (f"{score:>4}", "muted"), (f"{count(memory.tokens):>7}", "muted")
    )
    return row_of(left, Content("  ") + right, width)


def between_line(words: str, columns: str, width: int) -> Content:
    """A line between, with what the columns below it are."""
    return row_of(Content.styled(words, "quiet"), Content.styled(columns, "quiet"), width)


def cut_line(cut: Cut, width: int) -> Content:
    """A memory that was found and left out, and why."""
    why = WHY_CUT if width >= _ROOMY else _SHORT_CUT
    tokens = count(cut.memory.tokens) if cut.memory.tokens else ""
    left = Content.assemble((" –  ", "quiet"), (words_of(cut.memory.content), "muted"))
    return row_of(left, Content.assemble("  ", (why[cut.why], "warning"), (f"{tokens:>7}", "quiet")), width)


def _said(memory: MemoryChunk) -> str:
    if memory.source is MemorySource.TASK:
        return ("☐ " if is_open(memory) else "☑ ") + words_of(memory.content.lstrip().partition("\n")[0])
    speaker = f"{' '.join(memory.heading_path)}: " if memory.source is MemorySource.CHAT and memory.heading_path else ""
    return words_of(speaker + memory.content[:_LONGEST])


def _padded(day: str) -> str:
    return " " * max(0, _WHEN - cell_len(day)) + day
