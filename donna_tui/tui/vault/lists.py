"""Lists about a note: its history, the author of each line, and its links."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath

from rich.cells import cell_len
from textual.content import Content

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.humanize import count, plural
from donna_tui.tui.lib.lines import ItemList, row_of
from donna_tui.tui.lib.links import LinkRef
from donna_tui.tui.lib.markdown import inline
from donna_tui.tui.vault.wording import KIND_WORDS, actor_name, author_of, day_of, done_by, paths_words, what_of, when
from donna_tui.types.notes import BlameLine, LinkLine, NoteLinks
from donna_tui.vault.write.changes import Change, Operation, Revision

_ORIGIN = 20
_NARROW_ORIGIN = 14
_LONGEST = 1_000


class BlameList(ItemList[BlameLine]):
    """A list of lines; the first line of each run from the same commit shows its origin."""

    _newest = 0.0

    def show(self, lines: Sequence[BlameLine]) -> None:
        self._newest = max((line.at for line in lines), default=0.0)
        self.set_items(lines)

    def row(self, index: int, width: int) -> Content:
        line = self.items[index]
        is_first = not index or self.items[index - 1].commit != line.commit
        room = _ORIGIN if width >= 60 else _NARROW_ORIGIN
        origin = self._origin(line) if is_first else Content("")
        selected = self.selected
        same = selected is not None and selected.commit == line.commit
        number = Content.styled(f"{line.line:>4}  ", "accent" if same else "quiet")
        text = Content.styled(clean_line(line.text[:_LONGEST]), "plain" if same else "muted")
        whole = Content.assemble(origin.truncate(room, ellipsis=True, pad=True), number, text)
        return whole.truncate(width, ellipsis=True)

    def _origin(self, line: BlameLine) -> Content:
        if not line.commit:
            return Content.styled("now · you", "warning")
        return Content.assemble((day_of(line.at, self._newest), "quiet"), " ", (actor_name(line.author), "muted"))


_WHEN = 13
_WHO = 12


Entry = Revision | Change | tuple[str, ...]
"""A commit; or what was changed outside and is not committed yet: the change of a note, or the notes of the vault."""


class HistoryList(ItemList[Entry]):
    """A list of commits, and what was changed outside Donna and is not committed yet."""

    _undone: frozenset[str] = frozenset()
    _operations: Mapping[str, Operation] = {}
    _newest = 0.0
    next_operation = ""
    """An operation that was just made, to select once it is listed: the undo key is about it."""

    def is_undone(self, operation: Operation) -> bool:
        return operation.id in self._undone

    def what(self, revision: Revision) -> str:
        """Describe a revision; an undo or a redo by what it is about."""
        operation = revision.operation
        about = () if operation is None else operation.undoes or operation.redoes
        if operation is None or not about:
            return what_of(revision)
        did = KIND_WORDS[operation.kind].did
        if len(about) > 1:
            return f"{did} {plural(len(about), 'change')}"
        known = self._operations.get(about[0])
        return f"{did}: {done_by(known)}" if known is not None else what_of(revision)

    def key(self, item: Entry) -> object:
        return item.commit if isinstance(item, Revision) else "outside"

    def show(self, entries: tuple[Entry, ...]) -> None:
        """List these entries. The cursor stays on its commit if it is among them, unless there is one to select."""
        revisions = [entry for entry in entries if isinstance(entry, Revision)]
        self._undone = undone(revisions)
        self._operations = {each.operation.id: each.operation for each in revisions if each.operation is not None}
        self._newest = max((revision.at for revision in revisions), default=0.0)
        commits = {each.operation.id: each.commit for each in revisions if each.operation is not None}
        if made := commits.get(self.next_operation):
            self.next_operation = ""
        self.set_items(entries, select=made)

    def row(self, index: int, width: int) -> Content:
        revision = self.items[index]
        if not isinstance(revision, Revision):
            rest = ", not in the history yet" if isinstance(revision, Change) else f": {paths_words(revision)}"
            return _columns("now", "you", f"edited outside{rest}", width=width, tone="warning")
        operation = revision.operation
        is_undone = operation is not None and self.is_undone(operation)
        tone = "quiet" if is_undone else "plain" if operation is not None else "muted"
        words = when(revision.at, self._newest), author_of(revision), self.what(revision)
        left = _columns(*words, width=width, tone=tone)
        return row_of(left, Content.styled("undone", "quiet"), width) if is_undone else left


def undone(revisions: list[Revision]) -> frozenset[str]:
    """Return the ids of the operations that are undone according to these revisions."""
    ids: set[str] = set()
    for revision in reversed(revisions):
        if revision.operation is not None:
            ids |= set(revision.operation.undoes)
            ids -= set(revision.operation.redoes)
    return frozenset(ids)


def _columns(at: str, who: str, what: str, *, width: int, tone: str) -> Content:
    roomy = width >= 3 * (_WHEN + _WHO) // 2 + 8
    room = _WHO - 1 if roomy else 8
    name = Content.styled(who, "accent" if who == "Donna" else "muted").truncate(room, ellipsis=True, pad=True)
    start = Content.assemble((at + " " * max(1, _WHEN - cell_len(at)), "quiet"), name, " ")
    return Content.assemble(start, (what, tone)).truncate(width, ellipsis=True)


@dataclass(frozen=True, slots=True)
class LinkRow:
    """A line with a link; `is_back` is True for a backlink in another note."""

    link: LinkLine
    is_back: bool

    @property
    def ref(self) -> LinkRef:
        """Return the target of the row: the line with a backlink, or the destination of a link in this note."""
        if self.is_back:
            return LinkRef("note", self.link.path, self.link.line)
        if not self.link.exists:
            return LinkRef("wiki", self.link.target)
        return LinkRef("note", self.link.target, fragment=self.link.fragment)


class LinkList(ItemList[LinkRow]):
    """The backlinks, followed by the links of the note itself. A row is the note and the line of a link."""

    row_height = 2

    def show(self, links: NoteLinks | None) -> None:
        """List the links to and from a note."""
        incoming, outgoing = (links.incoming, links.outgoing) if links is not None else ((), ())
        self.set_items([*(LinkRow(link, True) for link in incoming), *(LinkRow(link, False) for link in outgoing)])

    def row_part(self, index: int, part: int, width: int) -> Content:
        row = self.items[index]
        if part:
            text = inline(row.link.text.strip()).plain
            return Content.styled(f"  {text}", "muted").truncate(width, ellipsis=True)
        path = row.link.path if row.is_back else row.link.target
        folder, name = str(PurePosixPath(path).parent), PurePosixPath(path).stem
        arrow = ("← ", "accent") if row.is_back else ("→ ", "quiet")
        where = f"  {clean_line(folder)}" if folder != "." else ""
        left = Content.assemble(arrow, (clean_line(name), "strong"), (where, "quiet"))
        right = f"line {count(row.link.line)}" if row.is_back or row.link.exists else "does not exist"
        return row_of(left, Content.styled(right, "quiet" if row.is_back or row.link.exists else "warning"), width)
