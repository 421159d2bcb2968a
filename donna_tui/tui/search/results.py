"""The list of results: draws only the visible rows, with place, snippet and score bar."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from itertools import zip_longest
from math import ceil
from pathlib import PurePosixPath
from typing import ClassVar

from rich.segment import Segment
from rich.style import Style
from textual.content import Content
from textual.geometry import Region
from textual.message import Message
from textual.selection import Selection
from textual.strip import Strip
from textual.visual import Visual

from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import line_range
from donna_tui.text.markdown import plain_text
from donna_tui.tui.lib.lines import CursorView, set_content_height
from donna_tui.tui.lib.styled import Line, Run, cells, cut, plain, width_of, wrapped
from donna_tui.types.search import Excerpt, Hit

BAR_CELLS = 6
_ROOM_FOR_BAR = 46
_MIN_GAP = 2
_LOST_IN_WRAPPING = 6
"""Cells at the end of a line that wrapping may leave empty."""

_LONGEST = 400
"""Maximum number of characters of a title, heading or path that are processed; no screen shows more."""


@dataclass(frozen=True, slots=True)
class ResultRow:
    """A hit in the list. A near miss was not judged relevant and is shown dimmed, without bar and number.

    The best passage of a note leads the others, which follow it as `inner` rows or are `folded`: so many are hidden.
    """

    hit: Hit
    near: bool = False
    folded: int = 0
    inner: bool = False

    @property
    def note(self) -> tuple[str, str]:
        """Return the key shared by the passages of a note: its space and document."""
        return self.hit.space, self.hit.document_id


def row_lines(row: ResultRow, width: int, snippet_lines: int) -> list[Line]:
    """Format a row as lines of at most `width` cells, whose runs have style names that the list resolves."""
    title = "near" if row.near else "title"
    if row.inner:
        head = [("└ ", "rest"), (trail(row.hit).removeprefix(" › ") or clean_line(row.hit.title[:_LONGEST]), title)]
    else:
        head = [(clean_line(row.hit.title[:_LONGEST]), title), (trail(row.hit), "trail")]
    why = [("near miss" if row.near else why_it_ranks(row.hit), "why")]
    return [
        _spread(head, [] if row.near else score_bar(row.hit.rank_score, with_bar=width >= _ROOM_FOR_BAR), width),
        _placed(row.hit, why, width),
        *snippet_rows(row.hit.snippet, width, snippet_lines),
    ]


def trail(hit: Hit) -> str:
    """Format the headings below the title as plain text: ` › Decisions › Cache`."""
    return _trail(hit.heading_path[1:] if hit.heading_path[:1] == (hit.title,) else hit.heading_path)


@lru_cache(maxsize=256)
def _trail(headings: tuple[str, ...]) -> str:
    return clean_line("".join(f" › {plain_text(heading[:_LONGEST])}" for heading in headings)[:_LONGEST])


def why_it_ranks(hit: Hit) -> str:
    """Describe the legs that found it, with its ranks: `#1 semantic · #2 keyword`."""
    ranks = (("semantic", hit.vector_rank), ("keyword", hit.keyword_rank))
    found = [f"#{rank} {name}" for name, rank in ranks if rank is not None]
    marks = [mark for mark, is_so in (("draft", hit.draft), ("private", hit.sensitive)) if is_so]
    return " · ".join([*found, *marks])


def score_bar(rank: float, *, with_bar: bool) -> Line:
    """Format the score bar of a hit and its number; the number alone without room for the bar."""
    filled = round(min(max(rank, 0.0), 1.0) * BAR_CELLS)
    number = f"{rank:.2f}"
    if not with_bar:
        return [(number, "score")]
    return [("━" * filled, "bar"), ("─" * (BAR_CELLS - filled), "rest"), (f" {number}", "score")]


def snippet_rows(snippet: Excerpt, width: int, lines: int) -> list[Line]:
    """Format the snippet with its matched words marked, wrapped and cut to exactly `lines` lines."""
    width = max(width, 2)
    room = width * lines - _LOST_IN_WRAPPING * (lines - 1) - len("……")
    rows = wrapped(marked_text(snippet.fitted(room)), width, lines)
    return [*rows, *[[] for _ in range(lines - len(rows))]]


def marked_text(snippet: Excerpt) -> Line:
    """Sanitise the snippet piece by piece, so that the marks stay on their words."""
    text, runs, position = snippet.text, list[Run](), 0
    for start, end in sorted(snippet.marks):
        start, end = max(start, position), min(end, len(text))
        if start < end:
            runs += [(clean_line(text[position:start]), "snippet"), (clean_line(text[start:end]), "match")]
            position = end
    return [*runs, (clean_line(text[position:]), "snippet")]


def _placed(hit: Hit, why: Line, width: int) -> Line:
    """Format path and lines on the left, and the ranks on the right if there is room; line numbers are never cut."""
    whole = place(hit, width)
    if width_of(whole) + _MIN_GAP + cells(why) <= width or cells(why) + _MIN_GAP > width // 2:
        return _spread([(whole, "path")], why if cells(why) <= width - width_of(whole) - _MIN_GAP else [], width)
    return _spread([(place(hit, width - cells(why) - _MIN_GAP), "path")], why, width)


def place(hit: Hit, room: int) -> str:
    """Format path and lines in at most `room` cells, with the space if several were searched; cut in the middle."""
    lines = f":{line_range(hit)}"
    return _fitted_path(hit.space, hit.cited_path, room - width_of(lines)) + lines


@lru_cache(maxsize=256)
def _fitted_path(space: str, path: str, room: int) -> str:
    path = clean_line(path[-_LONGEST:])
    whole = f"{clean_line(space[:_LONGEST])} › {path}" if space else path
    if width_of(whole) <= room:
        return whole
    first, *folders, name = PurePosixPath(path).parts if "/" in path else ("", path)
    shortened_paths = (f"{first}/…/{'/'.join((*folders[skipped:], name))}" for skipped in range(1, len(folders) + 1))
    shorter = (*shortened_paths, f"…/{name}" if first else name)
    fitting = next((variant for variant in shorter if width_of(variant) <= room), None)
    return shortened(name, room) if fitting is None else fitting


def shortened(text: str, room: int) -> str:
    """Shorten a text wider than `room` cells with an ellipsis in the middle."""
    if width_of(text) <= room:
        return text
    head, tail = max(room - 1, 0) // 2, max(room - 1, 0) - max(room - 1, 0) // 2
    end = next((text[at:] for at in range(len(text)) if width_of(text[at:]) <= tail), "")
    return f"{plain(cut([(text, '')], head + 1))[:-1]}…{end}" if room > 1 else "…"[:room]


def _spread(left: Line, right: Line, width: int) -> Line:
    """Align the parts left and right; the left one is cut if they would touch."""
    taken = cells(right)
    room = width - taken - (_MIN_GAP if taken else 0)
    if room < 1:
        return cut(left, max(width, 1))
    left = cut(left, room)
    return [*left, (" " * (width - cells(left) - taken), ""), *right]


_GUTTER = 3
_RIGHT_MARGIN = 1
_FIXED_LINES = 3
_STYLE_NAMES = ("title", "near", "trail", "path", "why", "score", "bar", "rest", "snippet", "match", "cursor")


class ResultList(CursorView):
    """Results with a selection, or a notice in their place. `show` keeps the selection on the same passage."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {f"result--{name}" for name in _STYLE_NAMES} | {"result--selected"}

    @dataclass
    class Selected(Message):
        hit: Hit | None

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.rows: tuple[ResultRow, ...] = ()
        """The rows, best first."""
        self.row_height = _FIXED_LINES + 1
        """The lines per row, including the blank one after it."""
        self._words = Content("")
        self._notice_strips: list[Strip] = []
        self._strips: dict[tuple[int, bool, bool], list[Strip]] = {}
        self._drawn: list[Strip] = []
        self._styles: dict[tuple[bool, bool], dict[str, Style]] = {}

    @property
    def selected_row(self) -> ResultRow | None:
        return self.rows[self.selected_index] if self.rows else None

    @property
    def selected(self) -> Hit | None:
        return self.rows[self.selected_index].hit if self.rows else None

    def set_snippet_lines(self, lines: int) -> None:
        if self.row_height != _FIXED_LINES + lines:
            self.row_height = _FIXED_LINES + lines
            self.on_resize()

    @property
    def row_count(self) -> int:
        return len(self.rows)

    def show(self, rows: tuple[ResultRow, ...], *, keep: str = "") -> None:
        """Replace the rows. Select the passage with chunk id `keep` if it is among them, else the first row."""
        before = self.selected
        self.rows = rows
        self.selected_index = next((place for place, row in enumerate(rows) if row.hit.chunk_id == keep), 0)
        self._lay_out()
        self._show_cursor()
        self._refresh_changed()
        if self.selected != before:
            self.post_message(self.Selected(self.selected))

    def show_notice(self, words: Content) -> None:
        """Show a notice in the middle, in place of rows."""
        if self.text_selection is not None and self.rows:
            self.screen.clear_selection()
        if self.rows or not words.is_same(self._words):
            self._words = words
            self.show(())

    def cursor_moved(self) -> None:
        self._refresh_changed()
        self.post_message(self.Selected(self.selected))

    def on_resize(self) -> None:
        self._lay_out()
        self._show_cursor()
        self.refresh()

    def notify_style_update(self) -> None:
        super().notify_style_update()
        self._styles.clear()
        self._forget()

    def get_selection(self, selection: Selection) -> tuple[str, str] | None:
        """Return the selected text of a notice; results are copied by keys."""
        return None if self.rows else (selection.extract(self._words.plain), "\n")

    def selection_updated(self, selection: Selection | None) -> None:
        self._notice_strips = []
        self.refresh()

    def render_lines(self, crop: Region) -> list[Strip]:
        """Return the lines complete with margins, background and filtered colours, which Textual would add to each."""
        self._drawn = self._visible_lines()
        return [strip.crop(crop.x, crop.right) for strip in self._drawn[crop.y : crop.bottom]]

    @property
    def _page(self) -> int:
        return max(1, self.size.height // self.row_height)

    def _visible_lines(self) -> list[Strip]:
        width, height = self.scrollable_content_region.size
        first, hidden = divmod(self.scroll_offset.y, self.row_height)
        visible = ceil((height + hidden) / self.row_height) if width > _GUTTER + _RIGHT_MARGIN else 0
        last = min(len(self.rows), first + visible)
        strips = [strip for place in range(first, last) for strip in self._row(place, width)] or self._notice_lines()
        strips = strips[hidden : hidden + height]
        return strips + [self._blank(width)] * (height - len(strips))

    def _blank(self, width: int) -> Strip:
        return Strip.blank(width, self._styles_of(False, self.has_focus)[""])

    def _notice_lines(self) -> list[Strip]:
        width, height = self.scrollable_content_region.size
        if not self._notice_strips and not self.rows and width > 2 * _GUTTER:
            margin, words, room = self._blank(_GUTTER), self._words, width - 2 * _GUTTER
            if words.get_height({}, room) > height:  # there is no room for empty lines
                words = Content("\n").join([line for line in words.split("\n") if line.plain])
            rendered = Visual.to_strips(self, words, room, height, self.visual_style)
            self._notice_strips = [Strip([*margin, *self._filtered(list(line)), *margin]) for line in rendered]
        return self._notice_strips

    def _row(self, place: int, width: int) -> list[Strip]:
        """Return the lines of a row and the line after it, which is blank or has the number of hidden passages."""
        key = is_selected, has_focus = place == self.selected_index, self.has_focus
        strips = self._strips.get((place, *key))
        if strips is None:
            styles = self._styles_of(is_selected, has_focus)
            cursor = (" ▌ ", "cursor") if is_selected else ("   ", "")
            row, room = self.rows[place], width - _GUTTER - _RIGHT_MARGIN
            lines = row_lines(row, room, self.row_height - _FIXED_LINES)
            strips = [_strip((cursor, *line), width, styles) for line in lines]
            folded = cut([(f"… {row.folded} more in this note →", "trail")], room) if row.folded else []
            strips.append(_strip((("   ", ""), *folded), width, self._styles_of(False, has_focus)))
            self._strips[place, *key] = strips
        return strips

    def _styles_of(self, is_selected: bool, has_focus: bool) -> dict[str, Style]:
        """Return the styles by their names in rows, cached because combining them is slower than drawing."""
        key = (is_selected, has_focus)
        if key not in self._styles:
            base = self.get_visual_style("result--selected") if is_selected else self.visual_style
            named = {
                name: base + self.get_visual_style(f"result--{name}", partial=name != "match") for name in _STYLE_NAMES
            }
            named[""] = base
            shown = self._filtered([Segment(" ", style.rich_style) for style in named.values()])
            self._styles[key] = {name: one.style or Style.null() for name, one in zip(named, shown, strict=True)}
        return self._styles[key]

    def _filtered(self, segments: list[Segment]) -> list[Segment]:
        for line_filter in self.get_line_filters():
            segments = line_filter.apply(segments, self.background_colors[1])
        return segments

    def _lay_out(self) -> None:
        self._forget()
        set_content_height(self, len(self.rows) * self.row_height)

    def _forget(self) -> None:
        self._notice_strips = []
        self._strips.clear()

    def _refresh_changed(self) -> None:
        """Draw only the changed lines: while typing, many stay the same."""
        lines, width = self._visible_lines(), self.scrollable_content_region.width
        changed = [Region(0, y, width, 1) for y, (new, old) in enumerate(zip_longest(lines, self._drawn)) if new != old]
        if changed:
            self.refresh(*changed)


def _strip(line: Line, width: int, styles: Mapping[str, Style]) -> Strip:
    segments = [Segment(text, styles[name]) for text, name in line]
    return Strip(segments, cells(line)).adjust_cell_length(width, styles[""])
