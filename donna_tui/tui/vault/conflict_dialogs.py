"""Resolve a conflict: a note that was changed since, an edit made elsewhere, or a conflict copy beside its note."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum
from itertools import islice, zip_longest
from typing import ClassVar

from textual.binding import BindingType
from textual.content import Content

from donna_tui.safety.terminal import clean_line
from donna_tui.text.lines import split_lines
from donna_tui.text.merge import Merge, shared_stretches
from donna_tui.text.word_diff import changed_words
from donna_tui.tui.lib.bindings import action_binding, bindings
from donna_tui.tui.lib.diff import (
    VIEW_KEYS,
    ComparisonDialog,
    DiffDialog,
    DiffRow,
    DiffRows,
    DiffView,
    fitted,
    marked_line,
)
from donna_tui.tui.lib.error_messages import Refusal
from donna_tui.tui.lib.humanize import plural
from donna_tui.types.notes import Edit
from donna_tui.vault.conflicts import Conflict, Keep
from donna_tui.vault.write.changes import Change, Clash

Titles = tuple[str, str, str]
UNDOING: Titles = ("After this change", "As it is now", "To be restored")
SIDE_BY_SIDE_CELLS = 90
"""Cells from which on the versions are shown side by side."""

_CONTEXT = 2
_MAX_ROWS = 2_000
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
    rows = [DiffRow(Content.styled(f" {clean_line(clash.path)}", "strong"), "gap")]
    rows += islice(_rows(_titles(clash, titles), list(stretches_of(clash)), width), _MAX_ROWS)
    return [*rows, DiffRow(Content.styled("  … and more", "quiet"))] if len(rows) > _MAX_ROWS else rows


def _rows(titles: list[Content], stretches: list[Stretch], width: int) -> Iterator[DiffRow]:
    """Render the versions side by side, or one below the other if there is no room for that."""
    is_wide = width >= SIDE_BY_SIDE_CELLS
    cells = (width - 2) // 3 if is_wide else width
    if is_wide:
        yield _columns(titles, cells)
    for number, stretch in enumerate(stretches):
        if stretch.is_same:
            for row in _shared(stretch.sides[0], cells, first=not number, last=number == len(stretches) - 1):
                yield _columns([row, row, row], cells) if is_wide else DiffRow(row)
            continue
        versions = [_side(stretch.sides, index, cells) for index in range(3)]
        if is_wide:
            for columns in zip_longest(*versions, fillvalue=Content("")):
                yield _columns(columns, cells)
        else:
            for title, rows in zip(titles, versions, strict=True):
                yield from map(DiffRow, (title, *rows))


def _side(sides: Sides, index: int, cells: int) -> list[Content]:
    """Render one version, filled if it differs from the version that Donna wrote, which is compared with the current
    one. Changed words are marked if the lines correspond.
    """
    own, other = sides[index], sides[1 if index == 0 else 0]
    tone = _TONES[index] if own != other else ""
    style = f"{tone}-word" if tone else ""
    corresponds = len(other) == len(own)
    lines = [
        marked_line(line, changed_words(other[place], line)[1] if corresponds else (), style)
        for place, line in enumerate(own)
    ]
    rows = (row for line in lines or [Content.styled("nothing", "quiet")] for row in fitted(line, max(4, cells - 2)))
    shown = (Content.assemble(" ", row).truncate(cells, pad=True) for row in rows)
    return [row.stylize_before(tone) if tone else row for row in shown]


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
        for row in fitted(marked_line(line, (), "").stylize("muted"), max(4, cells - 2)):
            yield Content(" ") + row


def _titles(clash: Clash, titles: Titles) -> list[Content]:
    sides = clash.expected, clash.found, clash.wanted
    return [
        Content.assemble((f" {title}", "strong"), ("" if side is not None else "  no note", "quiet"))
        for title, side in zip(titles, sides, strict=True)
    ]


def _columns(contents: Iterable[Content], cells: int) -> DiffRow:
    parts = [content.truncate(cells, ellipsis=True, pad=True) for content in contents]
    return DiffRow(Content.styled("│", "quiet").join(parts))


def _lines(data: bytes | None) -> list[str]:
    return split_lines((data or b"").decode("utf-8", "surrogateescape"))


class ThreeWayView(DiffRows):
    empty_text = "Nothing conflicts any more."

    def __init__(self, clashes: tuple[Clash, ...], titles: Titles = UNDOING) -> None:
        super().__init__(id="plan-diff")
        self._titles = titles
        self._clashes = clashes

    def on_resize(self) -> None:
        width = self.scrollable_content_region.width
        clashes = self._clashes if width > 0 else ()
        self._rows = [row for clash in clashes for row in three_way_rows(clash, width, self._titles)]
        self.lines_changed()


class ConflictChoice(StrEnum):
    """The resolution of two versions of a note: the one on disk, and an edit or the version to be restored."""

    RELOAD = "reload"
    MERGE = "merge"
    COPY = "copy"
    MINE = "mine"
    BOTH = "both"


class ThreeWayScreen(ComparisonDialog[ConflictChoice]):
    """Show the clashes and the choices that are possible. `summary` has a line for each operation to undo, which change
    so many `others` than the first note that clashes.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        action_binding("conflict.merge", "merge"),
        action_binding("conflict.mine", "resolve('mine')"),
        action_binding("conflict.both", "resolve('both')"),
        action_binding("conflict.reload", "leave"),
    ]

    def __init__(
        self,
        refusal: Refusal,
        summary: tuple[str, ...],
        clashes: tuple[Clash, ...],
        *,
        can_merge: bool,
        can_resolve: bool,
        others: int,
    ) -> None:
        self._can_merge = can_merge
        self._can_resolve = can_resolve
        self._step = refusal.step
        if others:
            more = plural(others, "other note")
            self._step = f"{more} would not be undone: undo fewer steps, or edit this note first."
        elif can_merge:
            self._step = (
                "The later edits changed other lines: the old ones can be restored beside them, as a new change."
            )
        self._no_merge = self._step if others else "The later edits changed the same lines."
        merge = [("conflict.merge", "undo what does not overlap")] if can_merge else []
        resolve = [("conflict.mine", "overwrite"), ("conflict.both", "edit both")] if can_resolve else []
        super().__init__(
            "Not undone: changed since",
            ThreeWayView(clashes),
            [*merge, *resolve, ("esc", "cancel")],
            lead=Content("\n").join(map(Content, summary)),
            caption=Content(refusal.what),
            remarks=Content(self._step),
        )

    def action_merge(self) -> None:
        if self._can_merge:
            self.dismiss(ConflictChoice.MERGE)
        else:
            self.notify(self._no_merge)

    def action_resolve(self, choice: str) -> None:
        if self._can_resolve:
            self.dismiss(ConflictChoice(choice))
        else:
            self.notify(self._step)


_MAX_PLACES = 4


class ConflictScreen(DiffDialog[ConflictChoice]):
    """Show the diff from the current note to the edit. `theirs` is None if the note was deleted."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("conflict")

    def __init__(self, edit: Edit, theirs: str | None, merge: Merge) -> None:
        self._edit = edit
        self._theirs = theirs
        self._can_merge = merge.is_clean and theirs is not None
        self._about_merging = _about_merging(merge)
        merge_key = [("conflict.merge", "merge")] if self._can_merge else []
        what = "This note was edited elsewhere a moment ago. Your text is safe here."
        ways = [("conflict.mine", "overwrite"), ("conflict.reload", "discard mine"), ("conflict.both", "edit both")]
        copy = "save a copy"
        if theirs is None:
            self._about_merging = "There is nothing to merge it with."
            what = "This note was deleted or moved elsewhere while you edited it. Your text is safe here."
            ways, copy = [("conflict.reload", "discard mine")], "restore it"
        super().__init__(
            f"Not written: {clean_line(edit.path)}",
            DiffView(id="plan-diff"),
            [*merge_key, *ways, ("conflict.copy", copy), ("esc", "later"), *VIEW_KEYS],
            lead=Content(what),
            caption=Content.styled("From the note as it is now to your edit:", "$text-muted"),
            remarks=Content(self._about_merging),
        )

    def on_mount(self) -> None:
        theirs = None if self._theirs is None else self._theirs.encode("utf-8", "surrogateescape")
        mine = self._edit.text.encode("utf-8", "surrogateescape")
        self.view.show((Change(path=self._edit.path, before=theirs, after=mine),), empty="Both versions are the same.")

    def action_conflict_reload(self) -> None:
        self.discard_edit("conflict.reload", ConflictChoice.RELOAD)

    def action_conflict_merge(self) -> None:
        if self._can_merge:
            self.dismiss(ConflictChoice.MERGE)
        else:
            self.notify(self._about_merging, timeout=4)

    def action_conflict_mine(self) -> None:
        if self._theirs is not None:
            self.dismiss(ConflictChoice.MINE)

    def action_conflict_both(self) -> None:
        if self._theirs is not None:
            self.dismiss(ConflictChoice.BOTH)

    def action_conflict_copy(self) -> None:
        self.dismiss(ConflictChoice.COPY)


def _about_merging(merge: Merge) -> str:
    if merge.is_clean:
        return "The two edits do not overlap: they can be merged, and the result is shown before it is written."
    places = [_line_numbers(first, last) for first, last in merge.collisions[:_MAX_PLACES]]
    more = " and elsewhere" if len(merge.collisions) > _MAX_PLACES else ""
    return f"Both changed {', '.join(places)}{more}, so choose one of them, or edit both in one text."


def _line_numbers(first: int, last: int) -> str:
    if last < first:
        return f"the text before line {first}"
    return f"line {first}" if first == last else f"lines {first}–{last}"


TITLES: Titles = ("In the history", "The note", "The conflict copy")


class ConflictCopyDialog(ComparisonDialog[Keep]):
    """Show both versions, and the nearest one in the history, if any."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("resolve")

    def __init__(self, conflict: Conflict) -> None:
        self._conflict = conflict
        about = f"The nearest version in the history is that of commit {clean_line(conflict.base_commit[:12])}:"
        mine, theirs, both = "keep the note", "keep the copy", [("resolve.both", "merge")]
        if conflict.mine is None:
            about = "The note itself was deleted. This is the text of the copy:"
            mine, theirs, both = "delete the copy", "make it the note", []
        elif conflict.base is None:
            about = "From the note to the conflict copy:"
        sides = {"expected": conflict.base, "found": conflict.mine, "wanted": conflict.theirs}
        clash = Clash(path=conflict.note, **sides)
        super().__init__(
            f"Conflict: {clean_line(conflict.note)}",
            DiffView(id="plan-diff") if conflict.base is None else ThreeWayView((clash,), TITLES),
            [("resolve.mine", mine), ("resolve.theirs", theirs), *both, ("esc", "cancel")],
            lead=Content(f"The copy is {clean_line(conflict.copy)}"),
            caption=Content.styled(about, "$text-muted"),
            remarks=Content("Whatever you choose, the change is shown before it is made."),
        )

    def on_mount(self) -> None:
        if self._conflict.base is None:
            change = Change(path=self._conflict.note, before=self._conflict.mine, after=self._conflict.theirs)
            changes = (change,) if change.before != change.after else ()
            self.query_one(DiffView).show(changes, empty="Both versions are the same.")

    def action_resolve_mine(self) -> None:
        self.dismiss(Keep.MINE)

    def action_resolve_theirs(self) -> None:
        self.dismiss(Keep.THEIRS)

    def action_resolve_both(self) -> None:
        if self._conflict.mine is not None:
            self.dismiss(Keep.BOTH)
