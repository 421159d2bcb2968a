"""Render a diff, unified or side by side, with the changed words marked."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import groupby, takewhile, zip_longest
from operator import is_not
from typing import ClassVar, TypeVar

from textual import work
from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content, Span
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.text.word_diff import Spans
from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.humanize import count, plural
from donna_tui.tui.lib.inputs import Item, KeyLine
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import LineView
from donna_tui.vault.client import NOTE_ENDINGS
from donna_tui.vault.note.diff import WHOLE, DiffLine, FileDiff, Hunk, LineKind, as_unified, diff_changes
from donna_tui.vault.write.changes import Change

MAX_LINES = 3_000
"""Lines that are drawn; a longer diff reports how many more there are."""

LONGEST_SHOWN = 2_000
"""Characters of one line that are drawn."""

_NAMES = {LineKind.SAME: "", LineKind.ADDED: "added", LineKind.REMOVED: "removed"}
_SIGNS = {LineKind.SAME: " ", LineKind.ADDED: "+", LineKind.REMOVED: "−"}

Pair = tuple[DiffLine | None, DiffLine | None]


@dataclass(frozen=True, slots=True)
class DiffRow:
    """A row of the screen. `base` is the style that fills it, or empty."""

    content: Content
    base: str = ""


@dataclass(frozen=True, slots=True)
class DiffLayout:
    """The layout of a diff, in cells."""

    width: int
    side_by_side: bool = False
    wrap: bool = True


def diff_rows(diffs: Iterable[FileDiff], layout: DiffLayout) -> list[DiffRow]:
    """Return all rows of a diff, up to `MAX_LINES` lines of it."""
    rows: list[DiffRow] = []
    left, beyond = MAX_LINES, 0
    for number, diff in enumerate(diffs):
        shown = min(left, _length(diff))
        beyond += _length(diff) - shown
        if left <= 0:
            continue
        rows += [DiffRow(Content(""))] if number else []
        rows += _file_rows(_cut(diff, shown), layout)
        left -= shown
    if beyond:
        rows.append(DiffRow(Content.styled(f"  … and {plural(beyond, 'more line')}", "quiet")))
    return rows


def file_title(diff: FileDiff) -> Content:
    name = Content.styled(clean_line(diff.path), "strong")
    if diff.old_path:
        name = Content.assemble((clean_line(diff.old_path), "muted"), (" → ", "quiet"), name)
    made = "new note" if diff.path.lower().endswith(NOTE_ENDINGS) else "new file"
    fate = "" if diff.before_exists == diff.after_exists else (f"  {made}" if diff.after_exists else "  deleted")
    removed = (f"  −{count(diff.removed)}", "removed-mark") if diff.removed else ""
    added = (f"  +{count(diff.added)}", "added-mark") if diff.added else ""
    same = ("  moved unchanged", "quiet") if diff.old_path and not (diff.added or diff.removed) else ""
    return Content.assemble(name, (fate, "quiet"), removed, added, same)


def shown_line(line: DiffLine) -> Content:
    content = marked_line(line.text, line.spans, "added-word" if line.kind is LineKind.ADDED else "removed-word")
    if line.kind is LineKind.SAME:
        content = content.stylize("muted")
    return Content.assemble(content, (f"  ⏎ {line.remark}", "quiet")) if line.remark else content


def marked_line(raw: str, spans: Spans, style: str) -> Content:
    """Sanitise a line, truncate it if it is very long, and style ranges of it."""
    end = min(len(raw), LONGEST_SHOWN)
    text, marked = "", []
    for start, stop, is_marked in _segments(spans, end):
        piece = clean_line(raw[start:stop])
        if is_marked:
            marked.append(Span(len(text), len(text) + len(piece), style))
        text += piece
    whole = clean_line(raw[:end])
    # Sanitising the pieces may differ from sanitising the whole: then the marks are dropped.
    content = Content(text, marked) if text == whole else Content(whole)
    if len(raw) > end:
        content += Content.styled(f" … {plural(len(raw) - end, 'more character')}", "quiet")
    return content


def pairs_of(lines: Iterable[DiffLine]) -> Iterator[Pair]:
    """Pair lines for the side-by-side view: an unchanged line with itself, a removed one with its new version."""
    for is_same, block in groupby(lines, key=lambda line: line.kind is LineKind.SAME):
        if is_same:
            yield from ((line, line) for line in block)
        else:
            yield from _block_pairs(list(block))


def _block_pairs(block: list[DiffLine]) -> Iterator[Pair]:
    """Align the lines of a block that have a partner, and fill the gaps with the others."""
    added = {line.new: line for line in block if line.kind is LineKind.ADDED}
    rest = iter(added.values())
    waiting: list[DiffLine] = []
    for line in block:
        if line.kind is LineKind.ADDED:
            continue
        partner = added.get(line.partner)
        if partner is None:
            waiting.append(line)
            continue
        yield from zip_longest(waiting, takewhile(partial(is_not, partner), rest))  # takes the partner, too
        waiting = []
        yield line, partner
    yield from zip_longest(waiting, rest)


def _length(diff: FileDiff) -> int:
    return sum(len(hunk.lines) for hunk in diff.hunks)


def _cut(diff: FileDiff, most: int) -> FileDiff:
    if most >= _length(diff):
        return diff
    hunks = []
    for hunk in diff.hunks:
        hunks.append(Hunk(hunk.lines[:most], hunk.heading, hunk.skipped))
        most -= len(hunk.lines)
        if most <= 0:
            break
    return replace(diff, hunks=tuple(hunks), after_skipped=0)


def _file_rows(diff: FileDiff, layout: DiffLayout) -> Iterator[DiffRow]:
    for row in fitted(file_title(diff), max(8, layout.width - 2), wrap=layout.wrap):
        yield DiffRow(Content(" ") + row, "gap")
    if not diff.hunks and not diff.old_path:
        words = "empty" if diff.before_exists != diff.after_exists else "no differences"
        yield DiffRow(Content.styled(f"   {words}", "quiet"))
    last = max((max(line.old or 0, line.new or 0) for hunk in diff.hunks for line in hunk.lines), default=0)
    digits = max(2, len(str(last)))
    is_side_by_side = layout.side_by_side and diff.before_exists and diff.after_exists
    for hunk in diff.hunks:
        if hunk.skipped:
            yield DiffRow(_gap(hunk.skipped, hunk.heading, digits))
        yield from _side_rows(hunk, layout, digits) if is_side_by_side else _unified_rows(hunk, layout, digits)
    if diff.after_skipped and diff.hunks:
        yield DiffRow(_gap(diff.after_skipped, "", digits))


def _gap(skipped: int, heading: str, digits: int) -> Content:
    words = f"{plural(skipped, 'unchanged line')}" if skipped else ""
    place = clean_line(heading)
    parts = [part for part in (words, place) if part]
    return Content.styled(f" {'⋯':>{digits}}   {' · '.join(parts)}", "quiet")


def _unified_rows(hunk: Hunk, layout: DiffLayout, digits: int) -> Iterator[DiffRow]:
    room = max(8, layout.width - digits - 5)
    for line in hunk.lines:
        number = line.new if line.new is not None else line.old
        for row in _line_rows(line, number, room, digits, wrap=layout.wrap):
            yield DiffRow(row, _NAMES[line.kind])


def _line_rows(line: DiffLine, number: int | None, room: int, digits: int, *, wrap: bool) -> Iterator[Content]:
    """Render a line in rows of `room` cells: the first one after the number and sign of the line."""
    mark = f"{_NAMES[line.kind]}-mark" if _NAMES[line.kind] else "quiet"
    gutter = Content.assemble((f" {number:>{digits}} ", "quiet"), (f"{_SIGNS[line.kind]} ", mark))
    for row in fitted(shown_line(line), room, wrap=wrap):
        yield Content.assemble(gutter, row)
        gutter = Content(" " * (digits + 4))


def _side_rows(hunk: Hunk, layout: DiffLayout, digits: int) -> Iterator[DiffRow]:
    half = (layout.width - 1) // 2
    for old, new in pairs_of(hunk.lines):
        left = _side(old, half, digits, wrap=layout.wrap, is_old=True)
        right = _side(new, layout.width - 1 - half, digits, wrap=layout.wrap, is_old=False)
        for one, two in zip_longest(left, right):
            blank_one, blank_two = Content(" " * half), Content(" " * (layout.width - 1 - half))
            yield DiffRow(Content.assemble(one or blank_one, ("│", "quiet"), two or blank_two))


def _side(line: DiffLine | None, width: int, digits: int, *, wrap: bool, is_old: bool) -> list[Content]:
    """Render one side of a line, in rows of exactly `width` cells."""
    if line is None:
        return []
    number, name = line.old if is_old else line.new, _NAMES[line.kind]
    rows = _line_rows(line, number, max(4, width - digits - 5), digits, wrap=wrap)
    padded = (row.truncate(width, pad=True) for row in rows)
    return [row.stylize_before(name) if name else row for row in padded]


def fitted(content: Content, room: int, *, wrap: bool = True) -> list[Content]:
    if content.cell_length <= room:
        return [content]
    return list(content.wrap(room)) if wrap else [content.truncate(room, ellipsis=True)]


def _segments(spans: Spans, end: int) -> Iterator[tuple[int, int, bool]]:
    """Split a text of `end` characters into pieces: start, end, and whether the piece is within a span."""
    here = 0
    for start, stop in spans:
        yield here, min(start, end), False
        yield min(start, end), min(stop, end), True
        here = min(stop, end)
    yield here, end, False


WIDE = 110
"""Cells from which on a diff is shown side by side by default."""

_CONTEXT = 3


class DiffRows(LineView):
    _rows: Sequence[DiffRow] = ()

    @property
    def line_count(self) -> int:
        return len(self._rows)

    def line(self, index: int, width: int) -> Content:
        return self._rows[index].content

    def base_of(self, index: int) -> str:
        return self._rows[index].base


class DiffView(DiffRows):
    """The diff of some changes. It is computed on a thread; until then the previous one is shown."""

    class Ready(Message):
        """The diff has been computed."""

    _changes: tuple[Change, ...] = ()
    _empty = ""
    diffs: tuple[FileDiff, ...] = ()
    """The diffs that are shown."""
    _side_by_side: bool | None = None
    _wrap = True
    _whole = False

    @property
    def is_side_by_side(self) -> bool:
        if self._side_by_side is not None:
            return self._side_by_side
        return self.scrollable_content_region.width >= WIDE

    @property
    def text(self) -> str:
        return "\n".join(as_unified(diff) for diff in self.diffs)

    def show(self, changes: Sequence[Change], *, empty: str = "") -> None:
        """Show the diff of these changes, or the text `empty` if there are none."""
        same = tuple(changes) == self._changes and bool(self.diffs)
        self._empty = empty
        self.empty_text = "Comparing …" if changes else empty
        self.refresh()
        self._changes = tuple(changes)
        if not self._changes:
            self._compute(())
        elif not same:
            self.scroll_home(animate=False)
            self._compute(self._changes)

    def on_resize(self) -> None:
        self._lay_out()

    def toggle_layout(self) -> None:
        self._side_by_side = not self.is_side_by_side
        self._lay_out()

    def toggle_wrap(self) -> None:
        self._wrap = not self._wrap
        self._lay_out()

    def toggle_unchanged(self) -> None:
        self._whole = not self._whole
        self._compute(self._changes)

    @work(group="diff", exclusive=True)
    async def _compute(self, changes: tuple[Change, ...]) -> None:
        context = WHOLE if self._whole else _CONTEXT
        self.diffs = await asyncio.to_thread(diff_changes, changes, context=context) if changes else ()
        self.empty_text = self._empty
        self._lay_out()
        self.post_message(self.Ready())

    def _lay_out(self) -> None:
        width = self.scrollable_content_region.width
        layout = DiffLayout(width, self.is_side_by_side, self._wrap)
        self._rows = diff_rows(self.diffs, layout) if width > 0 else []
        self.lines_changed()


T = TypeVar("T")

VIEW_KEYS: tuple[Item, ...] = (("plan.layout", "side by side"), ("plan.unfold", "unchanged"))
"""The keys of a diff view, as items of a key line."""


class ComparisonDialog(Dialog[T]):
    """A dialog with a view of changes below a lead and a caption, remarks, and the keys that answer."""

    def __init__(
        self, title: str, view: DiffRows, items: Sequence[Item], *, lead: Content, caption: Content, remarks: Content
    ) -> None:
        super().__init__()
        self._title = title
        self._rows = view
        self._items = items
        self._texts = lead, caption, remarks

    def compose(self) -> ComposeResult:
        lead, caption, remarks = self._texts
        with Vertical(classes="plan-box") as box:
            box.border_title = Content(self._title)
            yield Static(lead, classes="plan-lead")
            yield Static(caption, id="plan-count")
            yield self._rows
            yield Static(remarks, classes="plan-remarks")
            yield KeyLine(*self._items)

    def on_mount(self) -> None:
        lead, _, remarks = self._texts
        self.query_one(".plan-lead").display = bool(lead)
        self.query_one(".plan-remarks").display = bool(remarks)
        self._rows.focus()


class DiffDialog(ComparisonDialog[T]):
    BINDINGS: ClassVar[list[BindingType]] = [
        action_binding(f"plan.{name}", f"screen.plan_{name}") for name in ("layout", "unfold", "wrap")
    ]

    view = query_one(DiffView)
    _has_warned = False

    def discard_edit(self, action_id: str, answer: T) -> None:
        """Discard the user's edit at the second press of this action's key; the first one only warns."""
        if self._has_warned:
            self.dismiss(answer)
            return
        self._has_warned = True
        words = f"Press {shown_key(action_id)} again to discard it, esc to keep it."
        self.query_one(KeyLine).set_text(f"This discards your edit for good. {words}")

    def action_plan_layout(self) -> None:
        self.view.toggle_layout()

    def action_plan_unfold(self) -> None:
        self.view.toggle_unchanged()

    def action_plan_wrap(self) -> None:
        self.view.toggle_wrap()
