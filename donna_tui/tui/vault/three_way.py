"""Show three versions of a note, and choose one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, zip_longest
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.text.lines import each_line
from donna_tui.text.merge import shared_stretches
from donna_tui.text.word_diff import Spans, changed_words
from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.diff import DiffRow, marked_line
from donna_tui.tui.lib.error_messages import Refusal
from donna_tui.tui.lib.humanize import plural
from donna_tui.tui.lib.inputs import KeyLine
from donna_tui.tui.lib.keymap import Keys
from donna_tui.tui.lib.lines import LineView
from donna_tui.vault.write.changes import Clash

Titles = tuple[str, str, str]
UNDOING: Titles = ("Written by Donna", "As it is now", "To be restored")
BESIDE = 90
"""Cells from which on the versions are shown side by side."""

_CONTEXT = 2
_MOST_ROWS = 2_000
_TONES = ("removed", "added", "wanted")

Sides = tuple[tuple[str, ...], tuple[str, ...], tuple[str, ...]]


@dataclass(frozen=True, slots=True)
class Stretch:
    """Corresponding lines of the three versions. `is_same` is True if all three agree."""

    sides: Sides
    is_same: bool


def stretches_of(clash: Clash) -> Iterator[Stretch]:
    """Split the three versions into stretches that agree and stretches that differ."""
    left, found, wanted = (_lines(data) for data in (clash.expected, clash.found, clash.wanted))
    here = (0, 0, 0)
    for start, size in shared_stretches(left, found, wanted):
        sides = (tuple(left[here[0] : start[0]]), tuple(found[here[1] : start[1]]), tuple(wanted[here[2] : start[2]]))
        if any(sides):
            yield Stretch(sides, is_same=False)
        shared = tuple(left[start[0] : start[0] + size])
        if shared:
            yield Stretch((shared, shared, shared), is_same=True)
        here = (start[0] + size, start[1] + size, start[2] + size)


def three_way_rows(clash: Clash, width: int, titles: Titles = UNDOING) -> list[DiffRow]:
    """Render the three versions of a note in rows of `width` cells."""
    draw = _beside if width >= BESIDE else _below
    rows = [DiffRow(Content.styled(f" {clean_line(clash.path)}", "strong"), "gap")]
    rows += islice(draw(_titles(clash, titles), list(stretches_of(clash)), width), _MOST_ROWS)
    return [*rows, DiffRow(Content.styled("  … and more", "quiet"))] if len(rows) > _MOST_ROWS else rows


def _beside(titles: list[Content], stretches: list[Stretch], width: int) -> Iterator[DiffRow]:
    cells = (width - 2) // 3
    yield _columns(titles, cells)
    for number, stretch in enumerate(stretches):
        if stretch.is_same:
            for row in _shared(stretch.sides[0], cells, first=not number, last=number == len(stretches) - 1):
                yield _columns([row, row, row], cells)
        else:
            for columns in zip_longest(*_three(stretch, cells), fillvalue=Content("")):
                yield _columns(list(columns), cells)


def _below(titles: list[Content], stretches: list[Stretch], width: int) -> Iterator[DiffRow]:
    for number, stretch in enumerate(stretches):
        if stretch.is_same:
            rows = _shared(stretch.sides[0], width, first=not number, last=number == len(stretches) - 1)
            yield from map(DiffRow, rows)
            continue
        for index, side in enumerate(_three(stretch, width)):
            yield DiffRow(titles[index])
            yield from map(DiffRow, side)


def _three(stretch: Stretch, cells: int) -> list[list[Content]]:
    """Render the versions of a stretch that differs, in rows of `cells` cells."""
    return [_side(stretch.sides, index, cells) for index in range(3)]


def _side(sides: Sides, index: int, cells: int) -> list[Content]:
    """Render one version, filled if it differs from the version that Donna wrote, with its changed words marked."""
    differs = sides[1] != sides[0] if index == 0 else sides[index] != sides[0]
    tone = _TONES[index] if differs else ""
    lines = (
        marked_line(line, _spans(sides, index, place), f"{tone}-word" if tone else "")
        for place, line in enumerate(sides[index])
    )
    contents = list(lines) or [Content.styled("nothing", "quiet")]
    rows = (row for content in contents for row in _fitted(content, cells - 2))
    shown = (Content.assemble(" ", row).truncate(cells, pad=True) for row in rows)
    return [row.stylize_before(tone) if tone else row for row in shown]


def _spans(sides: Sides, index: int, place: int) -> Spans:
    """Return the words of a line that the version of Donna does not have, if the lines correspond."""
    other = sides[1] if index == 0 else sides[0]
    if len(other) != len(sides[index]):
        return ()
    return changed_words(other[place], sides[index][place])[1]


def _shared(lines: tuple[str, ...], cells: int, *, first: bool, last: bool) -> Iterator[Content]:
    """Render lines that all three versions share; lines far from a change are only counted."""
    head, tail = (0 if first else _CONTEXT), (0 if last else _CONTEXT)
    if len(lines) <= head + tail + 1:
        head, tail = len(lines), 0
    yield from _muted(lines[:head], cells)
    if head + tail < len(lines):
        yield Content.styled(f" ⋯ {plural(len(lines) - head - tail, 'line')} the same", "quiet")
    yield from _muted(lines[len(lines) - tail :], cells)


def _muted(lines: tuple[str, ...], cells: int) -> Iterator[Content]:
    for line in lines:
        for row in _fitted(marked_line(line, (), "").stylize("muted"), cells - 2):
            yield Content(" ") + row


def _titles(clash: Clash, titles: Titles) -> list[Content]:
    sides = clash.expected, clash.found, clash.wanted
    return [
        Content.assemble((f" {title}", "strong"), ("" if side is not None else "  no note", "quiet"))
        for title, side in zip(titles, sides, strict=True)
    ]


def _columns(contents: list[Content], cells: int) -> DiffRow:
    parts = [content.truncate(cells, ellipsis=True, pad=True) for content in contents]
    return DiffRow(Content.styled("│", "quiet").join(parts))


def _fitted(content: Content, cells: int) -> list[Content]:
    return [content] if content.cell_length <= cells else list(content.wrap(max(4, cells)))


def _lines(data: bytes | None) -> list[str]:
    text = (data or b"").decode("utf-8", "surrogateescape")
    return [text[start:end] for start, end, _ in each_line(text)]


class ThreeWayView(LineView):
    """A scrollable view of clashes."""

    def __init__(
        self,
        clashes: tuple[Clash, ...],
        *,
        titles: Titles = UNDOING,
        id: str | None = None,  # noqa: A002
    ) -> None:
        super().__init__(id=id)
        self._titles = titles
        self._clashes = clashes
        self._rows: list[DiffRow] = []
        self.empty_text = "Nothing conflicts any more."

    @property
    def line_count(self) -> int:
        return len(self._rows)

    def line(self, index: int, width: int) -> Content:
        return self._rows[index].content

    def base_of(self, index: int) -> str:
        return self._rows[index].base

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        self._rows = (
            [row for clash in self._clashes for row in three_way_rows(clash, width, self._titles)] if width > 0 else []
        )
        self.lines_changed()


class Way(StrEnum):
    """The resolution of a note that was changed since."""

    MERGE = "merge"
    RESTORE = "restore"
    BOTH = "both"


class ThreeWayScreen(Dialog[Way]):
    """Show the clashes; `leads` describe the operations to undo. `can_merge` and `can_resolve` enable the choices."""

    BINDINGS: ClassVar[list[BindingType]] = [
        action_binding("conflict.merge", "merge"),
        action_binding("conflict.mine", "resolve('restore')"),
        action_binding("conflict.both", "resolve('both')"),
        action_binding("conflict.reload", "leave"),
    ]

    def __init__(
        self,
        refusal: Refusal,
        leads: tuple[str, ...],
        clashes: tuple[Clash, ...],
        keys: Keys,
        *,
        can_merge: bool,
        can_resolve: bool,
    ) -> None:
        super().__init__(keys)
        self._refusal = refusal
        self._leads = leads
        self._clashes = clashes
        self._can_merge = can_merge
        self._can_resolve = can_resolve

    def compose(self) -> ComposeResult:
        with Vertical(classes="plan-box") as box:
            box.border_title = Content("Not undone: changed since")
            yield Static(Content("\n").join(map(Content, self._leads)), classes="plan-lead")
            yield Static(Content(self._refusal.what), id="plan-count")
            yield ThreeWayView(self._clashes, id="plan-diff")
            yield Static(Content(self._step()), classes="plan-remarks")
            merge = [("conflict.merge", "undo what does not overlap")] if self._can_merge else []
            resolve = [("conflict.mine", "overwrite"), ("conflict.both", "edit both")] if self._can_resolve else []
            yield KeyLine(self._keys, *merge, *resolve, ("esc", "cancel"))

    def on_mount(self) -> None:
        self.query_one(ThreeWayView).focus()

    def action_merge(self) -> None:
        """Restore the lines that the later edits do not touch."""
        if self._can_merge:
            self.dismiss(Way.MERGE)
        else:
            self.notify("The later edits changed the same lines.", timeout=4, markup=False)

    def action_resolve(self, way: str) -> None:
        """Restore the old version, or edit both."""
        if self._can_resolve:
            self.dismiss(Way(way))
        else:
            self.notify("Several notes were changed since; undo them one by one.", timeout=4, markup=False)

    def _step(self) -> str:
        if self._can_merge:
            return "The later edits changed other lines: the old ones can be restored beside them, as a new change."
        return self._refusal.step
