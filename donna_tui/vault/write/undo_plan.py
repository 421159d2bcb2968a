"""Plan undo and redo: the net changes of several operations, and the conflicts that prevent them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import replace

from donna_tui.text.plural import plural
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.operations import Stacks, each_operation, stacks
from donna_tui.vault.paths import folders_above
from donna_tui.vault.write.changes import BlobChange, Change, Clash, Operation, OperationKind, Plan
from donna_tui.vault.write.file_names import folded
from donna_tui.vault.write.plan_context import PlanContext

SHORTEST_ID = 6
"""Minimum number of leading characters that identify an operation."""

_NOTHING = {OperationKind.UNDO: Reason.NOTHING_TO_UNDO, OperationKind.REDO: Reason.NOTHING_TO_REDO}


class UndoPlanner:
    """Plan undo and redo. Every method raises VaultWriteError."""

    def __init__(self, plan_context: PlanContext) -> None:
        self._plan_context, self._repo = plan_context, plan_context.repo

    def undo(self, n: int = 1) -> Plan:
        """Plan to undo the last `n` operations in one step, if each note is as Donna left it, or all are as before."""
        return self._plan_last(OperationKind.UNDO, n)

    def undo_one(self, identity: str) -> Plan:
        """Plan to undo one operation, whatever followed. Raises `undo_conflict` if its notes were changed since."""
        self._plan_context.recover()
        history = self._history()
        return self._plan(OperationKind.UNDO, _one(identity, history), history)

    def session_plan(self, kind: OperationKind, session: str, n: int | None = None) -> Plan | None:
        """Plan to undo or redo a session, or its last `n` operations; None if there are none to undo or redo.

        Raises `undo_conflict` if others changed its notes.
        """
        if self._repo.find() is None:
            return None
        self._plan_context.recover()
        history = self._history()
        chosen = tuple(each for each in _available(kind, stacks(history)) if session and each.session == session)[:n]
        return self._plan(kind, chosen, history) if chosen else None

    def redo(self, n: int = 1) -> Plan:
        return self._plan_last(OperationKind.REDO, n)

    def clashes(self, kind: OperationKind, n: int = 1, identity: str = "") -> tuple[Clash, ...]:
        """Return the notes that conflict with an undo or redo, or with that of one operation, in three versions; empty
        if none does.
        """
        history = self._history()
        chosen = _one(identity, history) if identity else _chosen(kind, n, history)
        return self._clashes(self._images(_net(_effects(kind, chosen))))

    def available(self, kind: OperationKind) -> tuple[Operation, ...]:
        """Return the operations that can be undone or redone, the next one first."""
        return _available(kind, stacks(self._history()))

    def operation_changes(self, identity: str) -> tuple[Change, ...] | None:
        """Return the changes of the operation with this id prefix or None. Raises VaultWriteError (`undo_conflict`)."""
        if len(identity) < SHORTEST_ID or self._repo.find() is None:
            return None
        known = each_operation(self._repo, self._repo.record())
        found = next((operation for operation in known if operation.id.startswith(identity)), None)
        return tuple(self._images(found.changes)) if found else None

    def _history(self) -> tuple[Operation, ...]:
        """Return the newest operations, newest first. Raises VaultWriteError (`no_repository`)."""
        self._repo.location()
        return tuple(each_operation(self._repo, self._repo.record()))

    def _plan_last(self, kind: OperationKind, n: int) -> Plan:
        self._plan_context.recover()
        history = self._history()
        return self._plan(kind, _chosen(kind, n, history), history)

    def _plan(self, kind: OperationKind, chosen: Sequence[Operation], history: Sequence[Operation]) -> Plan:
        is_undo = kind is OperationKind.UNDO
        verb, done = ("Undo", "undone") if is_undo else ("Redo", "redone")
        changes = self._images(_net(_effects(kind, chosen)))
        on_disk = bool(changes) and all(self._plan_context.read(each.path) == each.after for each in changes)
        if clashes := () if on_disk else self._clashes(changes):
            edited = "the note was edited since, and that edit would be lost"
            since = "the note was deleted or moved since" if clashes[0].found is None else edited
            message = f"this cannot be {done}: {since}"
            raise VaultWriteError(Reason.UNDO_CONFLICT, message, path=clashes[0].path)
        mode = self._plan_context.mode
        changed = tuple(
            # an existing note keeps its mode, as the user may have changed it
            each if each.before is None or on_disk else replace(each, mode=mode(each.path, each.before))
            for each in changes
            if each.before != each.after
        )
        ids = tuple(operation.id for operation in chosen)
        emptied = _left_over(changes, ids, history)
        removed = _removed(changed)
        vacated = self._plan_context.vacated(emptied, [path for paths in removed.values() for path in paths])
        for change in changed:
            self._plan_context.rules.check(change)
            if change.before is None and not on_disk:
                self._plan_context.check_free(change.path, besides=vacated.union(removed[folded(change.path)]))
        return Plan(
            kind=kind,
            subject=f"{verb}: {chosen[0].subject}" if len(chosen) == 1 else f"{verb} {len(chosen)} operations",
            changes=changed,
            undoes=ids if is_undo else (),
            redoes=() if is_undo else ids,
            emptied=emptied,
            on_disk=on_disk,
            remarks=("the files are already in that state: only the history changes",) if on_disk else (),
        )

    def _clashes(self, changes: Sequence[Change]) -> tuple[Clash, ...]:
        """Return the notes that are not as they were; a new name may be that of a removed note, in another case."""
        removed = _removed(changes)
        clashes = []
        for change in changes:
            found = self._plan_context.read(change.path)
            alike = removed[folded(change.path)] if change.before is None else ()
            if any(self._plan_context.is_respelled(path, change.path) for path in alike):
                found = None
            if found != change.before:
                clashes.append(Clash(path=change.path, expected=change.before, found=found, wanted=change.after))
        return tuple(clashes)

    def _images(self, net: Sequence[BlobChange]) -> list[Change]:
        """Load the bytes of the changes. Raises VaultWriteError (`undo_conflict`) if git no longer has them."""
        images = self._repo.images(blob for change in net for blob in change.sides)
        for change in net:
            if any(blob and images[blob] is None for blob in change.sides):
                message = "git no longer has the previous text of this note"
                hint = "the history was rewritten; the note was not changed"
                raise VaultWriteError(Reason.UNDO_CONFLICT, message, hint=hint, path=change.path)
        return [each.with_bytes(images) for each in net]


def _removed(changes: Sequence[Change]) -> defaultdict[str, list[str]]:
    """Return the notes that changes remove, by their folded paths."""
    removed: defaultdict[str, list[str]] = defaultdict(list)
    for change in changes:
        if change.after is None:
            removed[folded(change.path)].append(change.path)
    return removed


def _available(kind: OperationKind, found: Stacks) -> tuple[Operation, ...]:
    return found.redoable if kind is OperationKind.REDO else tuple(_own_last(found.undoable))


def _one(identity: str, history: Sequence[Operation]) -> tuple[Operation, ...]:
    chosen = tuple(each for each in _available(OperationKind.UNDO, stacks(history)) if each.id == identity)
    if not chosen:
        raise VaultWriteError(Reason.NOTHING_TO_UNDO, "this change was already undone, or is too old to undo")
    return chosen


def _own_last(undoable: Sequence[Operation]) -> list[Operation]:
    """Put what Donna wrote by itself last, unless it changed a note that an earlier operation of others has written."""
    touched, first, last = set[str](), list[Operation](), list[Operation]()
    for operation in reversed(undoable):
        is_aside = operation.is_own and touched.isdisjoint(operation.paths)
        (last if is_aside else first).append(operation)
        touched.update(() if operation.is_own else operation.paths)
    return [*reversed(first), *reversed(last)]


def _chosen(kind: OperationKind, n: int, history: Sequence[Operation]) -> tuple[Operation, ...]:
    found = stacks(history)
    available = _available(kind, found)
    if n < 1 or not available:
        raise VaultWriteError(_NOTHING[kind], f"there is nothing to {kind}")
    if n > len(available):
        message = f"only {plural(len(available), 'operation')} can be {kind}ne"
        raise VaultWriteError(_NOTHING[kind], message, hint="ask for fewer")
    if kind is OperationKind.REDO:
        return available[:n]
    ids = {each.id for each in available[:n]}
    return tuple(each for each in found.undoable if each.id in ids)


def _left_over(changes: Sequence[Change], ids: Sequence[str], history: Sequence[Operation]) -> tuple[str, ...]:
    """Return the folders of these files that Donna created with or after these operations, the deepest first."""
    left = {folder for change in changes if change.after is None for folder in folders_above(change.path)}
    made, remaining = set[str](), set(ids)
    for operation in history:
        if not remaining:
            break
        made.update(operation.made)
        remaining.difference_update((operation.id, *operation.undoes, *operation.redoes))
    return tuple(sorted(left & made, key=lambda folder: (-folder.count("/"), folder)))


def _effects(kind: OperationKind, chosen: Sequence[Operation]) -> Iterator[BlobChange]:
    """Yield the changes of an undo or redo, in the order in which they apply."""
    for operation in chosen:
        if kind is OperationKind.REDO:
            yield from operation.changes
            continue
        for change in reversed(operation.changes):
            yield replace(change, before=change.after, after=change.before)


def _net(effects: Iterator[BlobChange]) -> list[BlobChange]:
    """Merge changes to one per path. Raises VaultWriteError (`undo_conflict`) if a note was edited in between."""
    net: dict[str, BlobChange] = {}
    for effect in effects:
        earlier = net.get(effect.path)
        if earlier is None:
            net[effect.path] = effect
        elif earlier.after != effect.before:
            message = "this note was edited between the operations that you want to undo"
            raise VaultWriteError(Reason.UNDO_CONFLICT, message, hint="undo fewer at a time", path=effect.path)
        else:
            net[effect.path] = replace(effect, before=earlier.before, owner=effect.owner or earlier.owner)
    return list(net.values())
