"""Show the text of a section, wrapped, with a bar next to the lines of the passage."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from functools import lru_cache
from itertools import zip_longest
from typing import TYPE_CHECKING

from textual import events
from textual.cache import LRUCache
from textual.content import Content
from textual.selection import Selection
from textual.strip import Strip
from textual.style import Style

from donna_tui.tui.lib.jump import JumpTarget, jump
from donna_tui.tui.lib.lines import ScrollKeys, set_content_height
from donna_tui.tui.lib.links import FollowLink, LinkRef, link_in, link_targets
from donna_tui.tui.lib.styled import content_strip

if TYPE_CHECKING:
    from donna_tui.engine.passages import Passage
    from donna_tui.search.snippets import WordsToMark
    from donna_tui.tui.lib.markdown import Block, Table

WIDEST_TEXT = 92
"""Maximum cells of a line; longer lines are hard to read."""

_GUTTER = 2
_LINES_BEFORE_PASSAGE = 2

FLASH_SECONDS = 1.2


class PassageView(ScrollKeys):
    """A section of a note, rendered line by line and scrolled to its marked passage."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.path = ""
        """The note from which the links in the text are followed; without one they are not."""
        self._shown: tuple[str, range, WordsToMark | None] = ("", range(0), None)
        self._best: int | None = None
        self._rows: tuple[tuple[Content, range], ...] = ()
        self._lines: list[int] = []
        self._laid_out_for = 0
        self._strips: LRUCache[int, Strip] = LRUCache(512)
        self.flashed = range(0)
        """The lines of the text that are highlighted for a moment."""

    def show(self, text: str, mark: range = range(0), words: WordsToMark | None = None) -> None:
        """Show a section. The lines of `text` in `mark`, counted from 0, are marked, and the marked line that best
        matches `words` is scrolled into view.
        """
        if (text, mark, words) == self._shown:
            return
        self._shown = (text, mark, words)
        self._best = None if words is None else _best_of(text, mark, words)
        self._lay_out()
        self._scroll_to_passage()

    def show_passage(self, passage: Passage, words: WordsToMark | None = None) -> None:
        first = passage.start_line
        self.show(passage.text, range(passage.mark_start - first, passage.mark_end - first + 1), words)

    def prepare(self, text: str) -> None:
        """Wrap a text that is shown soon, on any thread: that of a long section takes longer than a frame."""
        _laid_out(text, self._text_width)

    @property
    def top_line(self) -> int:
        """Return the line of `text`, counted from 0, in the first visible row."""
        top = self.scroll_offset.y
        return self._lines[top] if top < len(self._lines) else 0

    def scroll_to_line(self, line: int) -> None:
        """Scroll a line of `text`, counted from 0, to the top."""
        self.scroll_to(y=bisect_left(self._lines, line), animate=False, immediate=True, force=True)

    def flash(self, lines: range) -> None:
        """Highlight lines of `text`, counted from 0, for a moment, and bring them into view."""
        self.flashed = lines
        self._strips.clear()
        self.refresh()
        self.set_timer(FLASH_SECONDS, self._end_flash)
        first, height = bisect_left(self._lines, lines.start), max(1, self.scrollable_content_region.height)
        if not self.scroll_offset.y <= first < self.scroll_offset.y + height:
            self.scroll_to(y=max(0, first - height // 3), animate=False, immediate=True, force=True)

    def _end_flash(self) -> None:
        self.flashed = range(0)
        self._strips.clear()
        self.refresh()

    def jump_targets(self) -> list[JumpTarget]:
        """Return the visible links that can be followed."""
        x, y = self.content_region.offset
        rows = () if not self.path else self._rows[self.scroll_offset.y :][: self.scrollable_content_region.height]
        return list(link_targets(enumerate((row for row, _ in rows), y), x + _GUTTER, self.follow))

    def pick_link(self) -> None:
        """Follow the visible link; if there are several, label them and follow the one whose label is typed."""
        jump(self, self.jump_targets(), if_none="No link is visible.")

    def follow(self, ref: LinkRef) -> None:
        if self.path:
            self.post_message(FollowLink(self.path, ref))

    def on_click(self, event: events.Click) -> None:
        ref = link_in(event.style.meta)
        if ref is not None and not self.screen.get_selected_text():
            event.stop()
            self.follow(ref)

    def on_resize(self) -> None:
        if self._text_width != self._laid_out_for:
            self._lay_out()
            self._scroll_to_passage()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._strips.clear()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        return selection.extract("\n".join(content.plain for content, _ in self._rows)), "\n"

    def selection_updated(self, selection: Selection | None) -> None:
        self._strips.clear()
        self.refresh()

    def render_line(self, y: int) -> Strip:
        row, width = y + self.scroll_offset.y, self.scrollable_content_region.width
        if row >= len(self._rows) or width <= _GUTTER:
            return Strip.blank(width, self.rich_style)
        strip = self._strips.get(row)
        if strip is None:
            strip = self._strips[row] = self._draw(row, width)
        return strip

    @property
    def _text_width(self) -> int:
        return min(max(self.scrollable_content_region.width - _GUTTER - 1, 2), WIDEST_TEXT)

    def _draw(self, row: int, width: int) -> Strip:
        content, lines = self._rows[row]
        if words := self._shown[2]:
            for start, end, _ in words.found(content.plain):
                content = content.stylize("hit", start, end)
        if lines.start in self.flashed:
            content = content.stylize("hit")
        if self.text_selection is not None and (span := self.text_selection.get_span(row)) is not None:
            start, end = span
            style = Style.from_styles(self.screen.get_component_styles("screen--selection"))
            content = content.stylize(style, start, len(content) if end == -1 else end)
        gutter = Content.styled("▌ ", "bar") if self._is_marked(lines) else Content("  ")
        base = self.visual_style
        text = content_strip(content, base, self._style_of, width - _GUTTER).apply_offsets(0, row)
        return Strip.join([content_strip(gutter, base, self._style_of, _GUTTER), text])

    def _style_of(self, name: str | Style) -> Style:
        return name if isinstance(name, Style) else self.screen.get_visual_style(f"md--{name}", partial=name != "hit")

    def _lay_out(self) -> None:
        self._laid_out_for = self._text_width
        self._rows = _laid_out(self._shown[0], self._laid_out_for) if self._shown[0] else ()
        self._lines = [lines.start for _, lines in self._rows]
        self._strips.clear()
        set_content_height(self, len(self._rows))
        self.refresh()

    def _is_marked(self, lines: range) -> bool:
        mark = self._shown[1]
        return lines.start < mark.stop and mark.start < lines.stop

    def _scroll_to_passage(self) -> None:
        """Scroll to the start of the passage, or to its best line if both do not fit."""
        first = next((number for number, (_, lines) in enumerate(self._rows) if self._is_marked(lines)), 0)
        best = first if self._best is None else max(first, bisect_left(self._lines, self._best))
        height = max(1, self.scrollable_content_region.height)
        top = max(0, first - _LINES_BEFORE_PASSAGE)
        if best >= top + height - _LINES_BEFORE_PASSAGE:
            top = max(0, best - height // 3)
        self.scroll_to(y=top, animate=False, immediate=True, force=True)


def _best_of(text: str, mark: range, words: WordsToMark) -> int | None:
    """Return the line with the best sentence among the marked lines of a text."""
    from donna_tui.search.snippets import best_line

    lines = text.split("\n")[mark.start : mark.stop]
    best = best_line("\n".join(lines), words)
    return None if best is None else mark.start + best


@lru_cache(maxsize=8)
def _laid_out(text: str, width: int) -> tuple[tuple[Content, range], ...]:
    """Wrap a text into rows; cached, since the same few notes are shown again while a question is typed."""
    from donna_tui.tui.lib.markdown import markdown_blocks

    return tuple(row for block in markdown_blocks(text) for row in wrapped(block, width))


def wrapped(block: Block, width: int) -> Iterator[tuple[Content, range]]:
    """Wrap a block into rows of at most `width` cells, each with the lines of the file that it shows.

    Rows after the first are indented like the text of the block, after its rail.
    """
    if block.table is not None:
        yield from ((row, range(block.line, block.line + 1)) for row in _table_row(block.table, block.row, width))
        return
    hang = block.hang if 0 < block.hang <= width // 2 else 0
    rows = [block.content] if block.content.cell_length <= width else block.content.wrap(width)
    if hang and len(rows) > 1:
        rest = block.content[len(rows[0]) :]
        rest = rest[len(rest) - len(rest.plain.lstrip(" ")) :]
        rows = [rows[0], *rest.wrap(width - hang)]
    position = 0
    for number, row in enumerate(rows):
        position = max(block.content.plain.find(row.plain, position), position)
        yield (_hung(block, row, hang) if number else row), _lines(block, position, position + len(row))
        position += len(row)


def _hung(block: Block, row: Content, hang: int) -> Content:
    if block.rail is None or hang < len(block.rail):
        return row.pad_left(hang)
    return Content.assemble(block.rail, row.pad_left(hang - len(block.rail)))


_BETWEEN = " │ "
_MIN_COLUMN = 4


def _table_row(table: Table, row: int, width: int) -> Iterator[Content]:
    """Render a row of a table, its cells wrapped in their columns, or one below the other if the columns do not fit."""
    widths = _fitted(table.widths, width - len(_BETWEEN) * (len(table.widths) - 1))
    if not widths:
        yield from (line for cell in table.rows[row] for line in cell.wrap(width))
        return
    if row == 1:  # the row of dashes
        yield Content.styled("─┼─".join("─" * column for column in widths), "dim")
        return
    columns = [cell.wrap(each) for cell, each in zip(table.rows[row], widths, strict=False)]
    columns += [[Content("")]] * (len(widths) - len(columns))
    between = Content.styled(_BETWEEN, "dim")
    for line in zip_longest(*columns, fillvalue=Content("")):
        cells = zip(line, widths, strict=True)
        yield between.join(cell.pad_right(max(0, room - cell.cell_length)) for cell, room in cells)


def _fitted(widths: tuple[int, ...], room: int) -> tuple[int, ...]:
    """Fit the widths of columns by shrinking the widest ones. Empty if even the narrowest columns do not fit."""
    if room < _MIN_COLUMN * len(widths):
        return ()
    fitted = list(widths)
    while sum(fitted) > room:
        widest = max(range(len(fitted)), key=fitted.__getitem__)
        others = sum(fitted) - fitted[widest]
        second = max((each for place, each in enumerate(fitted) if place != widest), default=0)
        fitted[widest] = max(room - others, min(second, fitted[widest] - 1), _MIN_COLUMN)
    return tuple(fitted)


def _lines(block: Block, start: int, end: int) -> range:
    at = block.starts[bisect_right(block.starts, start) - 1]
    first = bisect_left(block.starts, at)  # several lines of properties begin at the same offset
    last = bisect_left(block.starts, max(end, start + 1)) - 1
    return range(block.line + first, block.line + last + 1)
