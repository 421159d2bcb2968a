"""Resolve a conflict: an edit made elsewhere, or a conflict copy beside its note."""

from __future__ import annotations

from enum import StrEnum
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.text.merge import Merge
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.diff import VIEW_KEYS, DiffDialog, DiffView
from donna_tui.tui.lib.inputs import KeyLine
from donna_tui.tui.lib.keymap import Keys
from donna_tui.tui.vault.three_way import ThreeWayView, Titles
from donna_tui.types.notes import Edit
from donna_tui.vault.conflicts import Conflict, Keep
from donna_tui.vault.write.changes import Change, Clash

_MOST_PLACES = 4


class ConflictChoice(StrEnum):
    """The resolution of the two versions."""

    RELOAD = "reload"
    MERGE = "merge"
    COPY = "copy"
    MINE = "mine"
    BOTH = "both"


class ConflictScreen(DiffDialog[ConflictChoice]):
    """Show the diff from the current note to the edit. `theirs` is None if the note was deleted."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("conflict")

    def __init__(self, edit: Edit, theirs: str | None, merge: Merge, keys: Keys) -> None:
        super().__init__(keys)
        self._edit = edit
        self._theirs = theirs
        self._merge = merge

    def compose(self) -> ComposeResult:
        with Vertical(classes="plan-box") as box:
            box.border_title = Content(f"Not written: {clean_line(self._edit.path)}")
            yield Static(Content(self._what()), classes="plan-lead")
            yield Static(Content.styled("From the note as it is now to your edit:", "$text-muted"), id="plan-count")
            yield DiffView(id="plan-diff")
            yield Static(Content(self._about_merging()), classes="plan-remarks")
            yield self._key_line()

    def on_mount(self) -> None:
        theirs = None if self._theirs is None else self._theirs.encode("utf-8", "surrogateescape")
        mine = self._edit.text.encode("utf-8", "surrogateescape")
        self.view.show((Change(path=self._edit.path, before=theirs, after=mine),), empty="Both versions are the same.")
        self.view.focus()

    def action_conflict_reload(self) -> None:
        """Discard this version, after a second press to confirm."""
        self.discard_edit("conflict.reload", ConflictChoice.RELOAD)

    def action_conflict_merge(self) -> None:
        """Merge both versions, if their changes do not overlap."""
        if self._can_merge:
            self.dismiss(ConflictChoice.MERGE)
        else:
            self.notify(self._about_merging(), timeout=4, markup=False)

    def action_conflict_mine(self) -> None:
        """Overwrite the current version with this one."""
        if self._theirs is not None:
            self.dismiss(ConflictChoice.MINE)

    def action_conflict_both(self) -> None:
        """Edit both versions in one text."""
        if self._theirs is not None:
            self.dismiss(ConflictChoice.BOTH)

    def action_conflict_copy(self) -> None:
        """Save this version as a separate note."""
        self.dismiss(ConflictChoice.COPY)

    @property
    def _can_merge(self) -> bool:
        return self._merge.is_clean and self._theirs is not None

    def _what(self) -> str:
        if self._theirs is None:
            return "This note was deleted or moved elsewhere while you edited it. Your text is safe here."
        return "This note was edited elsewhere a moment ago. Your text is safe here."

    def _about_merging(self) -> str:
        if self._theirs is None:
            return "There is nothing to merge it with."
        if self._merge.is_clean:
            return "The two edits do not overlap: they can be merged, and the result is shown before it is written."
        places = [_lines(first, last) for first, last in self._merge.collisions[:_MOST_PLACES]]
        more = " and elsewhere" if len(self._merge.collisions) > _MOST_PLACES else ""
        return f"Both changed {', '.join(places)}{more}, so choose one of them, or edit both in one text."

    def _key_line(self) -> KeyLine:
        merge = [("conflict.merge", "merge")] if self._can_merge else []
        copy = "restore it" if self._theirs is None else "save a copy"
        ways = [("conflict.mine", "overwrite"), ("conflict.reload", "take theirs"), ("conflict.both", "edit both")]
        ways = ways if self._theirs is not None else [("conflict.reload", "discard mine")]
        later = ("esc", "later")
        return KeyLine(self._keys, *merge, *ways, ("conflict.copy", copy), later, *VIEW_KEYS)


def _lines(first: int, last: int) -> str:
    if last < first:
        return f"the text before line {first}"
    return f"line {first}" if first == last else f"lines {first}–{last}"


TITLES: Titles = ("In the history", "The note", "The conflict copy")


class ConflictCopyDialog(Dialog[Keep]):
    """Show both versions, and the nearest one in the history, if any."""

    BINDINGS: ClassVar[list[BindingType]] = bindings("resolve")

    def __init__(self, conflict: Conflict, keys: Keys) -> None:
        super().__init__(keys)
        self._conflict = conflict

    def compose(self) -> ComposeResult:
        conflict = self._conflict
        with Vertical(classes="plan-box") as box:
            box.border_title = Content(f"Conflict: {clean_line(conflict.note)}")
            yield Static(Content(f"The copy is {clean_line(conflict.copy)}"), classes="plan-lead")
            yield Static(Content.styled(self._about(), "$text-muted"), id="plan-count")
            if conflict.base is None:
                yield DiffView(id="plan-diff")
            else:
                sides = {"expected": conflict.base, "found": conflict.mine, "wanted": conflict.theirs}
                yield ThreeWayView((Clash(path=conflict.note, **sides),), titles=TITLES, id="plan-diff")
            yield Static(Content("Whatever you choose, the change is shown before it is made."), classes="plan-remarks")
            yield self._key_line()

    def on_mount(self) -> None:
        if self._conflict.base is None:
            change = Change(path=self._conflict.note, before=self._conflict.mine, after=self._conflict.theirs)
            changes = (change,) if change.before != change.after else ()
            self.query_one(DiffView).show(changes, empty="Both versions are the same.")
        self.query_one("#plan-diff").focus()

    def action_resolve_mine(self) -> None:
        """Keep the note, and delete the copy."""
        self.dismiss(Keep.MINE)

    def action_resolve_theirs(self) -> None:
        """Replace the note by the copy."""
        self.dismiss(Keep.THEIRS)

    def action_resolve_both(self) -> None:
        """Merge both versions."""
        if self._conflict.mine is not None:
            self.dismiss(Keep.BOTH)

    def _about(self) -> str:
        if self._conflict.mine is None:
            return "The note itself was deleted. This is the text of the copy:"
        if self._conflict.base is None:
            return "From the note to the conflict copy:"
        return f"The nearest version in the history is that of commit {clean_line(self._conflict.base_commit[:12])}:"

    def _key_line(self) -> KeyLine:
        is_deleted = self._conflict.mine is None
        mine = "delete the copy" if is_deleted else "keep the note"
        both = [] if is_deleted else [("resolve.both", "both")]
        theirs = "make it the note" if is_deleted else "keep the copy"
        return KeyLine(self._keys, ("resolve.mine", mine), ("resolve.theirs", theirs), *both, ("esc", "cancel"))
