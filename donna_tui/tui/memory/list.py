"""The list of memories, of which only visible pages are loaded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import date
from pathlib import PurePosixPath
from typing import Any

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message

from donna_tui.text.markdown import plain_text
from donna_tui.tui.lib.humanize import count, one_line, task_title
from donna_tui.tui.lib.lines import RowList, row_of
from donna_tui.tui.vault.wording import day_of
from donna_tui.types.memory import MemoryChunk, MemoryType, Omitted, OmittedReason
from donna_tui.types.search import MemorySource

METER = 4
_KIND = 10
_WHEN = 6
_ROOMY = 64
_PARENT = 30
"""Characters of the title of a task that are shown before that of its sub-task."""

_LONGEST = 600
"""Characters of a memory that are rendered; no line shows more."""

KINDS = {
    MemorySource.VAULT: "note", MemorySource.CHAT: "chat", MemorySource.TASK: "task",
    MemorySource.CORRECTION: "correction", MemorySource.MEMORY: "remembered",
}  # fmt: skip
OMITTED_WORDS = {
    OmittedReason.BUDGET: ("too long for what is left", "too long"),
    OmittedReason.COUNT: ("over the limit of memories", "over the limit"),
    OmittedReason.COMPRESSED: ("part of a summary", "summarised"),
    OmittedReason.DUPLICATE: ("same text as another", "same text"),
    OmittedReason.TYPE: ("of another type", "other type"),
}
"""The reasons in words, and in fewer for a narrow list."""


def importance_value(memory: MemoryChunk) -> float | None:
    return memory.importance.value if memory.importance else None


def meter(value: float | None, width: int) -> Content:
    if value is None:
        return Content(" " * width)
    filled = round(min(max(value, 0.0), 1.0) * width)
    return Content.assemble(("━" * filled, "accent"), ("─" * (width - filled), "quiet"))


def is_open(memory: MemoryChunk) -> bool:
    """Return whether a task is open: only open tasks are working memory."""
    return memory.memory_type is MemoryType.WORKING


def marks_of(memory: MemoryChunk) -> Content:
    marks = (
        (memory.forgotten, "forgotten", "warning"),
        (memory.pinned, "pinned", "accent"),
        (memory.is_summary, "summary", "muted"),
        (memory.compressed, "summarised", "quiet"),
        (memory.sensitive, "private", "warning"),
    )
    return Content(" ").join(Content.styled(word, style) for on, word, style in marks if on)


def own_text(memory: MemoryChunk) -> str:
    """Return the text of a memory, without what a recall puts before a passage of a note."""
    return memory.content.removeprefix(memory.lead)


def _prompt_text(memory: MemoryChunk, above: MemoryChunk | None) -> str:
    """Return the beginning of a memory in plain text, that of a note after its name, or indented below its own note."""
    text = one_line(plain_text(own_text(memory)[:_LONGEST]))
    if memory.source is not MemorySource.VAULT:
        return text
    follows = above is not None and (above.source, above.source_id) == (memory.source, memory.source_id)
    return f"  {text}" if follows else f"{one_line(PurePosixPath(memory.source_id).stem)}: {text}"


def memory_line(memory: MemoryChunk, width: int, newest: float) -> Content:
    """Render a memory in the list. Narrow lists omit its origin."""
    tone = "quiet" if memory.forgotten else "plain"
    left = Content.assemble(meter(importance_value(memory), METER), "  ", (_content_line(memory), tone))
    columns = [column for column in (_due(memory), marks_of(memory)) if column]
    if width >= _ROOMY:
        columns.append(Content.styled(KINDS[memory.source].ljust(_KIND), "quiet"))
    day = day_of(memory.at, newest) if memory.at else "–"
    columns.append(Content.styled(" " * (_WHEN - cell_len(day)) + day, "quiet"))
    return row_of(left, Content(" ") + Content("  ").join(columns), width)


def packed_line(place: int, memory: MemoryChunk, above: MemoryChunk | None, width: int) -> Content:
    score = f"{memory.score:.2f}" if memory.score else "–"
    left = Content.assemble((f"{place:>2}  ", "accent"), (_prompt_text(memory, above), "plain"))
    kind = "preference" if memory.memory_type is MemoryType.PROCEDURAL else KINDS[memory.source]
    shown = f"{kind}  " if width >= _ROOMY else ""
    right = Content.assemble((shown, "quiet"), (f"{score:>4}", "muted"), (f"{count(memory.tokens):>7}", "muted"))
    return row_of(left, Content("  ") + right, width)


def omitted_line(omitted: Omitted, above: MemoryChunk | None, width: int) -> Content:
    why = OMITTED_WORDS[omitted.why][width < _ROOMY]
    tokens = count(omitted.memory.tokens) if omitted.memory.tokens else ""
    left = Content.assemble((" –  ", "quiet"), (_prompt_text(omitted.memory, above), "muted"))
    return row_of(left, Content.assemble("  ", (why, "warning"), (f"{tokens:>7}", "quiet")), width)


def _due(memory: MemoryChunk) -> Content:
    """Return the deadline of a task, marked if it has passed and the task is open."""
    if not memory.due:
        return Content()
    is_overdue = is_open(memory) and memory.due < date.today().isoformat()
    return Content.styled(f"due {memory.due}", "warning" if is_overdue else "quiet")


def _content_line(memory: MemoryChunk) -> str:
    if memory.source is MemorySource.TASK:
        title, _, rest = memory.content.lstrip().partition("\n")
        box = "☐" if is_open(memory) else "☒" if rest.startswith("status: cancelled") else "☑"
        return f"{box} {task_title(plain_text(memory.parent), one_line(plain_text(title)), _PARENT)}"
    speaker = f"{' '.join(memory.heading_path)}: " if memory.source is MemorySource.CHAT and memory.heading_path else ""
    return one_line(speaker + plain_text(memory.content[:_LONGEST]))


PAGE = 100
_MAX_PAGES = 24


class MemoryList(RowList):
    """A lazily loaded list: missing pages are requested. A memory that was just forgotten stays in its row."""

    class RowsMissing(Message):
        """Visible rows are not loaded."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._total = 0
        self._pages: dict[int, Sequence[MemoryChunk]] = {}
        self._retained: dict[int, MemoryChunk] = {}
        self._newest = 0.0
        self.next_memory = ""
        """A memory that was just made, to select once it is listed."""

    @property
    def line_count(self) -> int:
        return self._total

    @property
    def selected(self) -> MemoryChunk | None:
        return self.memory_at(self.selected_index)

    @property
    def missing(self) -> tuple[int, ...]:
        return tuple(page for page in self.visible_pages if page not in self._pages)

    @property
    def visible_pages(self) -> tuple[int, ...]:
        """Return the pages of the visible rows and of the row under the cursor."""
        top = self.scroll_offset.y
        places = (self.selected_index, top, min(top + self.size.height, max(0, self._total - 1)))
        return tuple(sorted({self._position(index) // PAGE for index in places}))

    def memory_at(self, index: int) -> MemoryChunk | None:
        """Return the memory in a row; None if it is not loaded, or if there is none."""
        if index in self._retained:
            return self._retained[index]
        page, row = divmod(self._position(index), PAGE)
        found = self._pages.get(page)
        return found[row] if found is not None and 0 <= row < len(found) else None

    def show(self, total: int, pages: Mapping[int, Sequence[MemoryChunk]], retained: Mapping[int, MemoryChunk]) -> None:
        """List so many memories, of which these pages are loaded. The cursor stays on its memory if possible, unless
        there is one to select.
        """
        before = self.selected
        self._retained = {min(index, total + place): retained[index] for place, index in enumerate(sorted(retained))}
        self._total = total + len(self._retained)
        self._pages = dict(pages)
        self._newest = max((memory.at for memories in pages.values() for memory in memories), default=0.0)
        made = next(iter(self.places_of(self.next_memory)), None)
        if made is not None:
            self.next_memory = ""
        self.rows_changed(self._row_like(before) if made is None else made)

    def fill(self, page: int, memories: Sequence[MemoryChunk]) -> None:
        """Insert a loaded page, and evict the oldest page that is not visible."""
        self._pages[page] = memories
        if len(self._pages) > _MAX_PAGES:
            del self._pages[next(number for number in self._pages if number not in self.visible_pages)]
        self.refresh()
        if self._position(self.selected_index) // PAGE == page:
            self.post_message(self.Selected(self))

    def mark(self, identity: str, **flags: bool) -> None:
        """Show at once that a memory was pinned or forgotten; the index follows."""
        self._pages = {
            page: tuple(marked(each, identity, flags) for each in memories) for page, memories in self._pages.items()
        }
        self._retained = {place: marked(each, identity, flags) for place, each in self._retained.items()}
        self.refresh()
        self.post_message(self.Selected(self))

    def places_of(self, identity: str) -> dict[int, MemoryChunk]:
        """Return the loaded rows of a memory; a long one has several."""
        loaded = (page * PAGE + row for page, memories in self._pages.items() for row in range(len(memories)))
        found = ((index, self.memory_at(index)) for index in sorted({*self._retained, *map(self._row_of, loaded)}))
        return {index: memory for index, memory in found if memory is not None and memory.id == identity}

    def row(self, index: int, width: int) -> Content:
        memory = self.memory_at(index)
        if memory is None:
            self.post_message(self.RowsMissing())
            return Content.styled("…", "quiet")
        return memory_line(memory, width, self._newest)

    def _position(self, index: int) -> int:
        """Convert a row to its position in the whole list, without the rows that are retained."""
        return index - sum(retained < index for retained in self._retained)

    def _row_like(self, memory: MemoryChunk | None) -> int:
        """Return the row of the same memory, even if its text changed, as a task's may; else the selected row.

        A task that was done in the meantime is no longer among the open ones, and the cursor stays there.
        """
        if memory is None:
            return self.selected_index
        rows = [(index, each) for index, each in self.places_of(memory.id).items() if is_open(each) is is_open(memory)]
        wanted = memory.start_line, memory.content
        same = (index for index, each in rows if (each.start_line, each.content) == wanted)
        return next(same, rows[0][0] if rows else self.selected_index)

    def _row_of(self, place: int) -> int:
        """Convert a position in the whole list to its row."""
        for retained in sorted(self._retained):
            place += retained <= place
        return place


def marked(memory: MemoryChunk, identity: str, flags: Mapping[str, Any]) -> MemoryChunk:
    """Change flags of the memory, `pinned` or `forgotten`, if it has this id."""
    return replace(memory, **flags) if memory.id == identity else memory
