"""Who changed what, and when: the history of a note or of the vault, newest first."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content

from donna_tui.records import dataclass
from donna_tui.tui.origins import author_of, what_of, when
from donna_tui.tui.widgets.row_list import RowList
from donna_tui.vault.changes import Change, Revision

_WHEN = 13
_WHO = 12


@dataclass(frozen=True, slots=True)
class Entry:
    """A row of the history: a commit, or the change outside that is in no commit yet."""

    revision: Revision | None = None
    outside: Change | None = None


class HistoryList(RowList):
    """Entries; the selected one stays selected while newer ones come."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._entries: tuple[Entry, ...] = ()
        self._undone: frozenset[str] = frozenset()
        self._newest = 0.0

    @property
    def line_count(self) -> int:
        return len(self._entries)

    @property
    def entries(self) -> tuple[Entry, ...]:
        """What is listed."""
        return self._entries

    @property
    def selected(self) -> Entry | None:
        """The entry under the cursor."""
        return self._entries[self.selected_index] if self._entries else None

    def show(self, entries: tuple[Entry, ...], *, keep: bool) -> None:
        """List these entries. The cursor stays on its commit if `keep` is set, else it goes to the first one."""
        before = _key(self.selected) if keep and self.selected is not None else ""
        self._entries = entries
        revisions = [entry.revision for entry in entries if entry.revision is not None]
        self._undone = undone(revisions)
        self._newest = max((revision.at for revision in revisions), default=0.0)
        places = [_key(entry) for entry in entries]
        self.rows_changed(places.index(before) if before in places else 0)

    def row(self, index: int, width: int) -> Content:
        entry = self._entries[index]
        if entry.revision is None:
            words = ("now", "you", "edited outside, not in the history yet")
            return _columns(*words, width=width, tone="warning")
        revision = entry.revision
        operation = revision.operation
        gone = operation is not None and operation.id in self._undone
        what = f"{what_of(revision)}  taken back" if gone else what_of(revision)
        tone = "quiet" if gone else "plain" if operation is not None else "muted"
        return _columns(when(revision.at, self._newest), author_of(revision), what, width=width, tone=tone)


def undone(revisions: list[Revision]) -> frozenset[str]:
    """The ids of operations that stand taken back, judging by what is listed."""
    gone: set[str] = set()
    for revision in reversed(revisions):
        if revision.operation is not None:
            gone |= set(revision.operation.undoes)
            gone -= set(revision.operation.redoes)
    return frozenset(gone)


def _key(entry: Entry) -> str:
    return entry.revision.commit if entry.revision is not None else "outside"


def _columns(at: str, who: str, what: str, *, width: int, tone: str) -> Content:
    roomy = width >= 3 * (_WHEN + _WHO) // 2 + 8
    room = _WHO - 1 if roomy else 8
    name = Content.styled(who, "accent" if who == "Donna" else "muted").truncate(room, ellipsis=True, pad=True)
    start = Content.assemble((at + " " * max(1, _WHEN - cell_len(at)), "quiet"), name, " ")
    return Content.assemble(start, (what, tone)).truncate(width, ellipsis=True)
