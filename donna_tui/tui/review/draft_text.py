"""The text of a draft with a cursor on its lines, excluded hunks struck through, and the sources of each line."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partialmethod

from textual import events
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.style import Style

from donna_tui.safety.terminal import clean_line
from donna_tui.text.lines import each_line
from donna_tui.tui.lib import links, markdown
from donna_tui.tui.lib.humanize import plural
from donna_tui.tui.lib.jump import JumpTarget, jump
from donna_tui.tui.lib.lines import LineView, row_of
from donna_tui.tui.lib.passage_view import WIDEST_TEXT, wrapped
from donna_tui.tui.lib.styled import MARKDOWN_STYLES
from donna_tui.types.drafts import Draft, DraftHunk
from donna_tui.vault.note.read import parse_frontmatter

_GUTTER = 2
_CITES = 7
"""Cells on the right for the numbers of a line's sources."""

_MARKDOWN = frozenset(MARKDOWN_STYLES) - {"strong", "warning"}


@dataclass(frozen=True, slots=True)
class TextRow:
    """A row of the screen: its content, its line in the file (1-based), and whether that line begins here."""

    content: Content
    line: int
    is_first: bool = True


class DraftText(LineView):
    """A view with a cursor that moves by non-blank lines. The screen decides which hunks are excluded."""

    class Moved(Message):
        """Posted when another line is under the cursor."""

    _blocks: tuple[markdown.Block, ...] = ()
    _stops: tuple[int, ...] = ()
    _rows: Sequence[TextRow] = ()
    _cites: Mapping[int, str] = {}
    _hunks: Mapping[int, DraftHunk] = {}
    _left_out: frozenset[int] = frozenset()
    _path = ""
    _head = 0
    _beyond = 0
    line_number = 0

    @property
    def line_count(self) -> int:
        return len(self._rows) + (1 if self._beyond else 0)

    @property
    def hunk(self) -> DraftHunk | None:
        return self._hunks.get(self.line_number)

    def show(self, draft: Draft | None, left_out: frozenset[int] = frozenset(), *, keep: bool = False) -> None:
        """Show a draft from the beginning of its own words, or from the same position for a newer version of it."""
        self._left_out = left_out
        text, self._path = (draft.text, draft.row.path) if draft is not None else ("", "")
        shown = text[: markdown.MAX_CHARACTERS]
        self._head = shown[: parse_frontmatter(shown).body_start].count("\n")
        self._blocks = tuple(blocks_of(shown))
        self._stops = tuple(block.line + 1 for block in self._blocks if block.content.plain.strip())
        self._beyond = max(0, len(text) - markdown.MAX_CHARACTERS)
        self._cites = dict(cites_of(draft)) if draft is not None else {}
        hunks = draft.hunks if draft is not None else ()
        self._hunks = {line: hunk for hunk in hunks for line in range(hunk.start_line, hunk.end_line + 1)}
        self._lay_out()
        if keep:
            self._move_to(self.line_number)
        else:
            self._move_to_start()

    def leave_out(self, left_out: frozenset[int]) -> None:
        self._left_out = left_out
        self.refresh()

    def line(self, index: int, width: int) -> Content:
        if index >= len(self._rows):
            return Content.styled(f"  … {plural(self._beyond, 'more character')}", "quiet")
        row = self._rows[index]
        is_here = row.line == self.line_number
        mark = Content.styled("▌ ", "cursor") if is_here else Content("  ")
        hunk = self._hunks.get(row.line)
        is_out = hunk is not None and hunk.number in self._left_out
        content = Content(row.content.plain).stylize("gone") if is_out else row.content
        label = ""
        if row.is_first:
            begins = is_out and hunk is not None and row.line == self._first_stop(hunk)
            label = "excluded" if begins else "" if is_out else self._cites.get(row.line, "")
        room = min(width - 1, WIDEST_TEXT + _CITES + _GUTTER)
        return row_of(mark + content, Content.styled(label, "warning" if is_out else "quiet"), room)

    def base_of(self, index: int) -> str:
        is_here = index < len(self._rows) and self._rows[index].line == self.line_number
        return "selected" if is_here else ""

    def on_resize(self) -> None:
        self._lay_out()
        self._show_cursor()
        self._stay_at_start()

    def jump_targets(self) -> Iterator[JumpTarget]:
        top = self.scroll_offset.y
        yield from self._links_in(range(top, min(top + self.size.height, len(self._rows))))

    def follow_link(self) -> None:
        """Follow the link of the line under the cursor; where there are several, that whose label is typed."""
        here = (index for index, row in enumerate(self._rows) if row.line == self.line_number)
        jump(self, list(self._links_in(here)), if_none="There is no link in this line.")

    def _links_in(self, rows: Iterable[int]) -> Iterator[JumpTarget]:
        x, top = self.content_region.x + _GUTTER, self.content_region.y - self.scroll_offset.y
        return links.link_targets(((top + index, self._rows[index].content) for index in rows), x, self._follow)

    def _follow(self, ref: links.LinkRef) -> None:
        self.post_message(links.FollowLink(self._path, ref))

    def on_click(self, event: events.Click) -> None:
        ref = links.link_in(event.style.meta)
        if ref is not None and not self.screen.get_selected_text():
            event.stop()
            self._follow(ref)
            return
        offset = event.get_content_offset(self)
        row = offset.y + self.scroll_offset.y if offset is not None else len(self._rows)
        if row < len(self._rows) and self._rows[row].line in self._stops:
            self._move_to(self._rows[row].line)

    def action_cursor_down(self) -> None:
        """Move to the next line; within a line higher than the screen, scroll by a row."""
        region = self._region
        if region.bottom > self.scroll_offset.y + self.size.height and region.height > self.size.height:
            self.scroll_down(animate=False)
        else:
            self._step(1)

    def action_cursor_up(self) -> None:
        region = self._region
        if region.y < self.scroll_offset.y and region.height > self.size.height:
            self.scroll_up(animate=False)
        else:
            self._step(-1)

    def action_first(self) -> None:
        self._step(-len(self._stops))

    def action_last(self) -> None:
        self._step(len(self._stops))

    def _style_of(self, name: str | Style) -> Style:
        if isinstance(name, str) and name in _MARKDOWN:
            return self.screen.get_visual_style(f"md--{name}", partial=True)
        return super()._style_of(name)

    @property
    def _begin(self) -> int:
        """Return the line where reading begins: the first with sources, or else with a hunk that can be excluded."""
        order = (self._cites, self._hunks, self._stops)
        return next((stop for places in order for stop in self._stops if stop in places), 0)

    @property
    def _first_body_row(self) -> int:
        """Return the row at which the note begins, below its properties."""
        return next((place for place, row in enumerate(self._rows) if row.line > self._head), 0)

    @property
    def _region(self) -> Region:
        rows = [index for index, row in enumerate(self._rows) if row.line == self.line_number]
        return Region(0, rows[0], 1, len(rows)) if rows else Region(0, 0, 1, 1)

    def _first_stop(self, hunk: DraftHunk) -> int:
        return next((line for line in self._stops if line >= hunk.start_line), hunk.start_line)

    def _step(self, by: int) -> None:
        if not self._stops:
            return
        near = min(range(len(self._stops)), key=lambda place: abs(self._stops[place] - self.line_number))
        self._move_to(self._stops[max(0, min(near + by, len(self._stops) - 1))])

    def _turn(self, by: int) -> None:
        row = self._region.y + by * max(1, self.size.height - 1)
        if self._rows:
            self._move_to(self._rows[max(0, min(row, len(self._rows) - 1))].line)

    action_page_down = partialmethod(_turn, 1)
    action_page_up = partialmethod(_turn, -1)

    def _move_to_start(self) -> None:
        """Move to where reading begins, with the text above it visible if possible."""
        self.scroll_to(y=self._first_body_row, animate=False, immediate=True, force=True)
        self._move_to(self._begin)

    def _stay_at_start(self) -> None:
        if self.line_number == self._begin:
            self._move_to_start()

    def _move_to(self, line: int) -> None:
        """Move the cursor to the line, or to the nearest one with text."""
        self.line_number = min(self._stops, key=lambda stop: abs(stop - line), default=0)
        self._show_cursor()
        self.refresh()
        self.post_message(self.Moved())

    def _show_cursor(self) -> None:
        self.scroll_to_region(self._region, animate=False, immediate=True, x_axis=False, force=True)

    def _lay_out(self) -> None:
        width = max(2, min(self.scrollable_content_region.width - _GUTTER - _CITES - 1, WIDEST_TEXT))
        self._rows = [
            TextRow(content, block.line + 1, is_first=not number)
            for block in self._blocks
            for number, (content, _) in enumerate(wrapped(block, width))
        ]
        self.lines_changed()


def blocks_of(text: str) -> Iterator[markdown.Block]:
    """Yield a block for each line of a note: its raw properties, and below them its Markdown."""
    start = parse_frontmatter(text).body_start
    head = text[:start]
    number = -1
    for number, (begin, end, _) in enumerate(each_line(head)):
        yield markdown.Block(Content.styled(clean_line(head[begin:end]), "dim"), 0, number)
    for block in markdown.markdown_blocks(text[start:], join=False):
        yield replace(block, line=number + 1 + block.line)


def cites_of(draft: Draft) -> Iterator[tuple[int, str]]:
    """Yield each line with sources, and their numbers as shown: `1·4`, `1·4 …`."""
    for claim in draft.claims:
        numbers = "·".join(str(number) for number in claim.evidence[:3])
        if numbers:
            more = " …" if len(claim.evidence) > 3 else ""
            yield claim.start_line, numbers + more
