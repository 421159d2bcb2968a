"""Plans operations without touching anything: what a write, a deletion, a move, an undo or a redo would change."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence

from donna_tui.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.vault.changes import REGULAR_FILE, BlobChange, Change, Clash, Operation, OperationKind, Plan, etag_of
from donna_tui.vault.client import VaultClient
from donna_tui.vault.files import VaultFiles, changed_meanwhile
from donna_tui.vault.guard import WriteRules
from donna_tui.vault.kept import not_kept
from donna_tui.vault.merge import merge_frontmatter
from donna_tui.vault.operations import each_operation, stacks
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.relink import LinkIndex, relink, relink_moved
from donna_tui.vault.repository import GitRepo
from donna_tui.vault.targets import check_new_name, find_twin

SHORTEST_ID = 6
"""Characters of an operation's id that are enough to name it."""


class Planner:
    """Plans for one vault. Every method reads, blocks, and raises VaultWriteError with the reason for a refusal."""

    def __init__(
        self, client: VaultClient, root: VaultRoot, files: VaultFiles, rules: WriteRules, repo: GitRepo
    ) -> None:
        self._client = client
        self._root = root
        self._files = files
        self._rules = rules
        self._repo = repo

    def write(self, path: str, content: str, *, check: Callable[[bytes | None], bool], replace: bool = False) -> Plan:
        """Make a note say `content`. `check` says whether the bytes there now are those that the caller has seen.

        The frontmatter is merged (SPEC V6) unless `replace` says that `content` is the whole note.
        """
        self._rules.check_path(path)
        data = _encoded(path, content)
        self._rules.check_size(path, data)
        before = self._read(path)
        if not check(before):
            raise changed_meanwhile(path) if before is not None else _gone(path)
        if before is None:
            self._check_free(path)
        elif not replace and data != before:
            data = _encoded(path, merge_frontmatter(_decoded(path, before), content))
            self._rules.check_size(path, data)
        change = Change(path=path, before=before, after=data, mode=self._mode(path, before))
        self._rules.check(change)
        subject = f"{'Write' if before is None else 'Change'} {path}"
        return Plan(kind=OperationKind.WRITE, subject=subject, changes=() if before == data else (change,))

    def delete(self, path: str, *, check: Callable[[bytes | None], bool]) -> Plan:
        """Take a note away. Its bytes stay in git."""
        before = self._existing(path, check)
        change = Change(path=path, before=before, after=None, mode=self._mode(path, before))
        self._rules.check(change)
        return Plan(kind=OperationKind.DELETE, subject=f"Delete {path}", changes=(change,))

    def move(self, src: str, dst: str, *, check: Callable[[bytes | None], bool], links: bool = True) -> Plan:
        """Give a note another path, and rewrite the links to it in all notes that Donna may write to."""
        self._rules.check_path(dst)
        before = self._existing(src, check)
        if src == dst:
            return Plan(kind=OperationKind.MOVE, subject=f"Move {src}", changes=())
        self._check_free(dst, besides=src)
        mode = self._mode(src, before)
        index = LinkIndex(self._client.list())
        after = _own_links(before, src, dst, index) if links else before
        leave = Change(path=src, before=before, after=None, mode=mode)
        arrive = Change(path=dst, before=None, after=after, mode=mode)
        for change in (leave, arrive):
            self._rules.check(change)
        same_name_elsewhere = (
            src.casefold() == dst.casefold()
        )  # some systems would find the old file under the new name
        changes = (leave, arrive) if same_name_elsewhere else (arrive, leave)
        found, left = self._relinked(src, dst, index) if links else ([], [])
        return Plan(
            kind=OperationKind.MOVE,
            subject=f"Move {src} to {dst}",
            changes=(*changes, *found),
            remarks=(_left_alone(left),) if left else (),
        )

    def undo(self, n: int = 1) -> Plan:
        """Take back the last `n` operations in one step, if every note still is as Donna left it."""
        chosen = self._chosen(OperationKind.UNDO, n)
        return self._restoring(OperationKind.UNDO, chosen, undoes=tuple(each.id for each in chosen))

    def redo(self, n: int = 1) -> Plan:
        """Do the last `n` undone operations again in one step."""
        chosen = self._chosen(OperationKind.REDO, n)
        return self._restoring(OperationKind.REDO, chosen, redoes=tuple(each.id for each in chosen))

    def clashes(self, kind: OperationKind, n: int = 1) -> tuple[Clash, ...]:
        """The notes that stand in the way of an undo or redo, three ways; empty if none does."""
        net = _net(_effects(kind, self._chosen(kind, n)))
        return tuple(clash for change in self._images(net) if (clash := self._clash(change)))

    def undoable(self) -> tuple[Operation, ...]:
        """The operations that can be undone, newest first."""
        return stacks(each_operation(self._repo, self._repo.record())).undoable

    def redoable(self) -> tuple[Operation, ...]:
        """The operations that can be done again, the next one first."""
        return stacks(each_operation(self._repo, self._repo.record())).redoable

    def operation_changes(self, identity: str) -> tuple[Change, ...] | None:
        """What the operation whose id begins so changed; None if there is none. Raises `undo_conflict`."""
        if len(identity) < SHORTEST_ID or self._repo.find() is None:
            return None
        known = each_operation(self._repo, self._repo.record())
        found = next((each for each in known if each.id.startswith(identity)), None)
        return tuple(self._images(found.changes)) if found else None

    def mtime_ns(self, path: str) -> int:
        """When a note was last changed, nanoseconds."""
        return self._client.stat(path).mtime_ns

    def _chosen(self, kind: OperationKind, n: int) -> tuple[Operation, ...]:
        redo = kind is OperationKind.REDO
        self._repo.place()
        available = self.redoable() if redo else self.undoable()
        if n < 1 or not available:
            what = "redo" if redo else "undo"
            reason = Reason.NOTHING_TO_REDO if redo else Reason.NOTHING_TO_UNDO
            raise VaultWriteError(reason, f"there is nothing to {what}")
        if n > len(available):
            reason = Reason.NOTHING_TO_REDO if redo else Reason.NOTHING_TO_UNDO
            raise VaultWriteError(reason, f"there are only {len(available)} operations", hint="ask for fewer")
        return available[:n]

    def _restoring(
        self,
        kind: OperationKind,
        chosen: Sequence[Operation],
        *,
        undoes: tuple[str, ...] = (),
        redoes: tuple[str, ...] = (),
    ) -> Plan:
        changes = self._images(_net(_effects(kind, chosen)))
        for change in changes:
            clash = self._clash(change)
            if clash is not None:
                raise _stands_in_the_way(kind, clash)
        changed = tuple(change for change in changes if change.before != change.after)
        for change in changed:
            self._rules.check(change)
            if change.before is None:
                self._check_free(change.path, besides=_moved_away(changed), new=False)
        return Plan(kind=kind, subject=_subject(kind, chosen), changes=changed, undoes=undoes, redoes=redoes)

    def _clash(self, change: Change) -> Clash | None:
        found = self._read(change.path)
        if found == change.before:
            return None
        return Clash(path=change.path, expected=change.before, found=found, wanted=change.after)

    def _images(self, net: Sequence[BlobChange]) -> list[Change]:
        """The changes with their bytes. Raises `undo_conflict` if git no longer has them."""
        ids = [blob for change in net for blob in (change.before, change.after) if blob]
        images: dict[str | None, bytes | None] = dict(zip(ids, self._repo.blobs(ids), strict=True))
        for change in net:
            if any(blob and images[blob] is None for blob in (change.before, change.after)):
                raise VaultWriteError(
                    Reason.UNDO_CONFLICT,
                    "git no longer has what this note held before",
                    hint="the history was rewritten; the note stays as it is",
                    path=change.path,
                )
        return [
            Change(path=each.path, before=images.get(each.before), after=images.get(each.after), mode=each.mode)
            for each in net
        ]

    def _existing(self, path: str, check: Callable[[bytes | None], bool]) -> bytes:
        self._rules.check_path(path)
        before = self._read(path)
        if before is None:
            raise _gone(path)
        if not check(before):
            raise changed_meanwhile(path)
        return before

    def _read(self, path: str) -> bytes | None:
        try:
            return self._files.read(path)
        except VaultReadError as error:
            raise VaultWriteError(error.reason, error.message, hint=error.hint, path=path) from error

    def _mode(self, path: str, before: bytes | None) -> int:
        return REGULAR_FILE if before is None else self._files.mode(path)

    def _check_free(self, path: str, *, besides: str = "", new: bool = True) -> None:
        """Raises VaultWriteError for a name that is taken, or that another system takes for a taken one."""
        if new:
            check_new_name(path)
        if path != besides and self._read(path) is not None:
            raise VaultWriteError(Reason.CONFLICT, "there is a note of that name", hint="choose another", path=path)
        try:
            twin = find_twin(self._root, path, besides=besides)
        except VaultReadError as error:
            raise VaultWriteError(error.reason, error.message, hint=error.hint, path=path) from error
        if twin:
            message = f"“{twin}” differs only in case or accents' form: some systems take both for one"
            raise VaultWriteError(Reason.CONFLICT, message, hint="use the name that is there", path=path)

    def _relinked(self, src: str, dst: str, index: LinkIndex) -> tuple[list[Change], list[str]]:
        """The changes in other notes that keep their links to a moved note, and the notes that Donna must leave."""
        others = (path for path in self._client.list() if path != src)
        found = [change for path in others if (change := self._with_links(path, src, dst, index)) is not None]
        not_ours = not_kept(self._repo, self._repo.place(), self._files, found) if found else {}
        left = {change.path for change in found if change.path in not_ours or self._objection(change)}
        return [change for change in found if change.path not in left], sorted(left)

    def _with_links(self, path: str, src: str, dst: str, index: LinkIndex) -> Change | None:
        try:
            before = self._files.read(path)
            text = (before or b"").decode()
        except (DonnaError, UnicodeDecodeError):
            return None
        found = relink(text, note=path, old=src, new=dst, notes=index)
        if not found.count:
            return None
        return Change(path=path, before=before, after=found.text.encode(), mode=self._files.mode(path))

    def _objection(self, change: Change) -> bool:
        try:
            self._rules.check(change)
        except DonnaError:
            return True
        return False


def _own_links(before: bytes, src: str, dst: str, index: LinkIndex) -> bytes:
    try:
        return relink_moved(before.decode(), old=src, new=dst, notes=index).text.encode()
    except UnicodeDecodeError:
        return before


def _effects(kind: OperationKind, chosen: Sequence[Operation]) -> Iterator[BlobChange]:
    """What restoring does, change by change, in the order in which it is done."""
    for operation in chosen:
        changes = operation.changes if kind is OperationKind.REDO else operation.changes[::-1]
        for each in changes:
            if kind is OperationKind.REDO:
                yield each
            else:
                yield BlobChange(path=each.path, before=each.after, after=each.before, mode=each.mode)


def _net(effects: Iterator[BlobChange]) -> list[BlobChange]:
    """One change a path. Raises `undo_conflict` where the user changed a note between two of the operations."""
    net: dict[str, BlobChange] = {}
    for each in effects:
        earlier = net.get(each.path)
        if earlier is None:
            net[each.path] = each
        elif earlier.after != each.before:
            raise VaultWriteError(
                Reason.UNDO_CONFLICT,
                "this note was edited between the operations that you want to take back",
                hint="take back fewer at a time",
                path=each.path,
            )
        else:
            net[each.path] = BlobChange(path=each.path, before=earlier.before, after=each.after, mode=each.mode)
    return list(net.values())


def _subject(kind: OperationKind, chosen: Sequence[Operation]) -> str:
    verb = "Undo" if kind is OperationKind.UNDO else "Redo"
    return f"{verb}: {chosen[0].subject}" if len(chosen) == 1 else f"{verb} {len(chosen)} operations"


def _moved_away(changes: Sequence[Change]) -> str:
    return next((change.path for change in changes if change.after is None), "")


def _stands_in_the_way(kind: OperationKind, clash: Clash) -> VaultWriteError:
    verb = "undone" if kind is OperationKind.UNDO else "redone"
    return VaultWriteError(
        Reason.UNDO_CONFLICT,
        f"this cannot be {verb}: the note was edited since, and nothing of that may be lost",
        hint="compare what Donna left, what is there now and what would come back",
        path=clash.path,
    )


def _gone(path: str) -> VaultWriteError:
    return VaultWriteError(Reason.MISSING, "there is no such note", path=path)


def _left_alone(paths: Sequence[str]) -> str:
    count = len(paths)
    notes = (
        "1 note that Donna may not change still links"
        if count == 1
        else f"{count} notes that Donna may not change still link"
    )
    return f"{notes} to the old name: {', '.join(paths[:3])}{' …' if count > 3 else ''}"


def _encoded(path: str, content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError:
        raise VaultWriteError(Reason.ENCODING, "the text holds characters that no file can hold", path=path) from None


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise VaultWriteError(
            Reason.ENCODING,
            "this note is not UTF-8, so its frontmatter cannot be kept exactly",
            hint="convert it first, or replace it as a whole",
            path=path,
        ) from None


def expecting(etag: str | None) -> Callable[[bytes | None], bool]:
    """A check against an etag; None means that there must be no such note yet."""
    return lambda found: (None if found is None else etag_of(found)) == etag
