"""A vault in memory, with a history and operations that can be undone, for tests of the Vault screen."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from types import SimpleNamespace
from typing import cast

from donna_tui.types.errors import Reason, VaultReadError, VaultWriteError
from donna_tui.types.notes import BlameLine, Edit, NoteRow, NoteState, NoteText
from donna_tui.vault.client import VaultClient
from donna_tui.vault.conflict_resolution import merged
from donna_tui.vault.conflicts import Conflict, Keep, is_conflict_copy, original_of
from donna_tui.vault.links.graph import LinkGraph
from donna_tui.vault.write.changes import (
    BlobChange,
    Change,
    Clash,
    Operation,
    OperationKind,
    Outcome,
    Plan,
    Revision,
    Version,
    etag_of,
)
from donna_tui.vault.write.files import VaultFiles


@dataclass
class FakeVault:
    """Files, their committed content, and the author of each change. `at` is the time of the next change."""

    files: dict[str, bytes] = field(default_factory=dict)
    recorded: dict[str, bytes] = field(default_factory=dict)
    states: dict[str, frozenset[NoteState]] = field(default_factory=dict)
    details: dict[str, str] = field(default_factory=dict)
    refusals: dict[str, str] = field(default_factory=dict)
    bases: dict[str, bytes] = field(default_factory=dict)
    at: float = 0.0
    actor: str = "you"
    has_repository: bool = True
    untracked: frozenset[str] = frozenset()
    """Private notes that are not in git."""
    asks_to_track: bool = False
    """Whether a change of one of these makes it public."""
    revisions: list[Revision] = field(default_factory=list)
    changes: dict[str, tuple[Change, ...]] = field(default_factory=dict)
    undo_stack: list[Operation] = field(default_factory=list)
    redo_stack: list[Operation] = field(default_factory=list)
    edits: dict[str, Edit] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)
    """Folders without a note."""

    @classmethod
    def of(cls, notes: dict[str, str], at: float) -> FakeVault:
        """Create a vault that is entirely committed."""
        files = {path: text.encode("utf-8", "surrogatepass") for path, text in notes.items()}
        return cls(files=dict(files), recorded=dict(files), at=at)

    def rows(self) -> tuple[NoteRow, ...]:
        gone = self.recorded.keys() - self.files.keys() if self.has_repository else ()
        return (
            *(
                NoteRow(
                    path=path,
                    states=self.states_of(path),
                    detail=self.details.get(path, ""),
                    size=len(data),
                    mtime_ns=int(self.at * 1e9),
                )
                for path, data in self.files.items()
            ),
            *(NoteRow(path=path, states=frozenset({NoteState.DELETED})) for path in sorted(gone)),
        )

    @property
    def links(self) -> LinkGraph:
        """Return the links of its notes, by the rules of a real vault."""
        client = SimpleNamespace(scan=lambda: [SimpleNamespace(path=path, stat=1, reason=None) for path in self.files])
        client.read = self.read
        return LinkGraph(cast(VaultClient, client), cast(VaultFiles, SimpleNamespace(read=self.files.get)))

    def states_of(self, path: str) -> frozenset[NoteState]:
        own = self.states.get(path, frozenset())
        is_outside = self.has_repository and self.files[path] != self.recorded.get(path)
        return own | {NoteState.OUTSIDE} if is_outside else own

    def read(self, path: str) -> NoteText:
        if path not in self.files:
            raise VaultReadError(Reason.MISSING, "this note is no longer there")
        if is_conflict_copy(path):
            raise VaultReadError(Reason.CONFLICT_COPY, "it is a conflict copy left by a sync program")
        data = self.files[path]
        text = data.decode("utf-8", "replace")
        lossy = "\ufffd" in text
        return NoteText(
            path=path,
            text=text,
            etag=etag_of(data),
            size=len(data),
            mtime=self.at,
            lossy=lossy,
            is_exact=text.encode() == data,
            refusal=self.refusals.get(path, ""),
        )

    def commit(
        self, changes: Iterable[Change], *, author: str, subject: str, operation: Operation | None = None
    ) -> str:
        """Add a commit."""
        changes = tuple(changes)
        commit = hashlib.sha1(f"{len(self.revisions)}{subject}".encode("utf-8", "replace")).hexdigest()
        paths = tuple(change.path for change in changes)
        named = replace(operation, commit=commit) if operation is not None else None
        revision = Revision(commit=commit, at=self.at, author=author, subject=subject, paths=paths, operation=named)
        self.revisions.insert(0, revision)
        self.changes[commit] = changes
        for change in changes:
            if change.after is None:
                self.recorded.pop(change.path, None)
            else:
                self.recorded[change.path] = change.after
        return commit

    def plan_write(self, path: str, text: str, etag: str | None) -> Plan:
        self._check(path, etag)
        before, after = self.files.get(path), text.encode()
        changes = () if before == after else (Change(path=path, before=before, after=after),)
        return Plan(kind=OperationKind.WRITE, subject=f"Write {path}", changes=changes)

    def plan_delete(self, path: str, etag: str, *, unlinks: bool = False) -> Plan:
        """Plan the deletion of a note; links are removed as simply as a test needs it."""
        self._check(path, etag)
        change = Change(path=path, before=self.files[path], after=None)
        name = path.rpartition("/")[2][:-3]
        links = [each for each, data in self.files.items() if each != path and f"[[{name}]]".encode() in data]
        unlinked = (
            Change(path=each, before=data, after=data.replace(f"[[{name}]]".encode(), name.encode()))
            for each in links
            if (data := self.files[each])
        )
        return Plan(
            kind=OperationKind.DELETE,
            subject=f"Delete {path}",
            changes=(change, *(unlinked if unlinks else ())),
            remarks=(f"{len(links)} links in {len(links)} notes will be broken",) if links and not unlinks else (),
            broken_links=0 if unlinks else len(links),
        )

    def plan_move(self, src: str, dst: str, etag: str) -> Plan:
        """Plan the move of a note; links are rewritten as simply as a test needs it."""
        self._check(src, etag)
        self._check(dst, None)
        data, old, new = self.files[src], src.rpartition("/")[2][:-3], dst.rpartition("/")[2][:-3]
        links = (
            Change(path=path, before=text, after=text.replace(f"[[{old}]]".encode(), f"[[{new}]]".encode()))
            for path, text in self.files.items()
            if path != src and f"[[{old}]]".encode() in text
        )
        moved = Change(path=src, before=data, after=None), Change(path=dst, before=None, after=data)
        return Plan(kind=OperationKind.MOVE, subject=f"Move {src} to {dst}", changes=(*moved, *links))

    def inside(self, path: str) -> list[str]:
        """Return the notes at or below a path."""
        return [path] if path in self.files else [each for each in self.files if each.startswith(f"{path}/")]

    def plan_moves(self, moves: dict[str, str]) -> Plan:
        """Plan the move of several notes."""
        changes = [
            change
            for old, new in moves.items()
            for change in (
                Change(path=new, before=None, after=self.files[old]),
                Change(path=old, before=self.files[old], after=None),
            )
        ]
        return Plan(kind=OperationKind.MOVE, subject="Move several", changes=tuple(changes))

    def plan_delete_all(self, paths: Iterable[str], *, unlinks: bool = False) -> Plan:
        """Plan the deletion of several notes."""
        gone = [path for each in paths for path in self.inside(each)]
        changes = tuple(Change(path=path, before=self.files[path], after=None) for path in gone)
        return Plan(kind=OperationKind.DELETE, subject="Delete several", changes=changes)

    def commit_version(self, path: str) -> Version:
        if path in self.refusals:
            raise VaultWriteError(Reason.SENSITIVE, self.refusals[path], path=path)
        if not self.has_repository:
            raise VaultWriteError(Reason.NO_REPOSITORY, "")
        if path not in self.files:
            raise VaultWriteError(Reason.MISSING, "there is no such note", path=path)
        return Version(path=path, data=self.files[path], committed=None)

    def plan_since(self, version: Version) -> Plan:
        return self._plan_on_disk([(version.path, version.data)])

    def plan_outside(self, paths: Iterable[str]) -> Plan:
        return self._plan_on_disk([(path, self.recorded.get(path)) for path in paths])

    def _plan_on_disk(self, versions: list[tuple[str, bytes | None]]) -> Plan:
        changes = tuple(
            Change(path=path, before=before, after=self.files.get(path))
            for path, before in versions
            if before != self.files.get(path)
        )
        return Plan(kind=OperationKind.WRITE, subject="Edit", changes=changes, on_disk=True)

    def conflict(self, path: str) -> Conflict:
        note = original_of(path) or path
        if path not in self.files:
            raise VaultWriteError(Reason.MISSING, "this conflict copy no longer exists", path=path)
        base = self.bases.get(note)
        commit = "c0ffee" * 6 if base is not None else ""
        return Conflict(
            copy=path,
            note=note,
            mine=self.files.get(note),
            theirs=self.files[path],
            base=base,
            base_commit=commit,
        )

    def plan_resolution(self, conflict: Conflict, keep: Keep) -> Plan:
        gone = Change(path=conflict.copy, before=conflict.theirs, after=None)
        if keep is Keep.MINE:
            return Plan(kind=OperationKind.DELETE, subject="Resolve", changes=(gone,))
        both, remarks = merged(conflict.mine or b"", conflict.theirs, conflict.base)
        after = both if keep is Keep.BOTH else conflict.theirs
        change = Change(path=conflict.note, before=conflict.mine, after=after)
        return Plan(kind=OperationKind.WRITE, subject="Resolve", changes=(change, gone), remarks=remarks)

    def plan_undo_one(self, identity: str) -> Plan:
        """Plan the undo of one operation."""
        operation = next((each for each in self.undo_stack if each.id == identity), None)
        if operation is None:
            raise VaultWriteError(Reason.NOTHING_TO_UNDO, "this change was already undone, or is too old to undo")
        changes = tuple(self.steps(OperationKind.UNDO, operation))
        self._refuse(self.clashes(OperationKind.UNDO, 1, identity))
        return Plan(kind=OperationKind.UNDO, subject="undo", changes=changes, undoes=(identity,))

    def plan_steps(self, kind: OperationKind, n: int) -> Plan:
        """Plan undos or redos."""
        operations = self._stack(kind)[:n]
        self._refuse(self.clashes(kind, n))
        ids = tuple(operation.id for operation in operations)
        undoes, redoes = (ids, ()) if kind is OperationKind.UNDO else ((), ids)
        return Plan(kind=kind, subject=kind.value, changes=self._net(kind, n), undoes=undoes, redoes=redoes)

    def _net(self, kind: OperationKind, n: int) -> tuple[Change, ...]:
        """Merge the changes of undos or redos to one for each note; one that was created and moved has none left."""
        changes: dict[str, Change] = {}
        for operation in self._stack(kind)[:n]:
            for change in self.steps(kind, operation):
                before = changes[change.path].before if change.path in changes else change.before
                changes[change.path] = Change(path=change.path, before=before, after=change.after)
        return tuple(change for change in changes.values() if change.before != change.after)

    def steps(self, kind: OperationKind, operation: Operation) -> tuple[Change, ...]:
        """Return the changes of undoing or redoing an operation."""
        changes = self.changes[operation.commit]
        return tuple(change.reversed for change in changes) if kind is OperationKind.UNDO else changes

    @staticmethod
    def _refuse(clashes: tuple[Clash, ...]) -> None:
        if clashes:
            raise VaultWriteError(Reason.UNDO_CONFLICT, "this note was changed since", path=clashes[0].path)

    def clashes(self, kind: OperationKind, n: int = 1, identity: str = "") -> tuple[Clash, ...]:
        """Return the notes that were changed since."""
        one = next((each for each in self.undo_stack if each.id == identity), None)
        changes = self._net(kind, n) if one is None else self.steps(kind, one)
        return tuple(
            Clash(path=change.path, expected=change.before, found=self.files.get(change.path), wanted=change.after)
            for change in changes
            if self.files.get(change.path) != change.before
        )

    def apply(self, plan: Plan) -> Outcome:
        if not self.has_repository:
            raise VaultWriteError(Reason.NO_REPOSITORY, "")
        kept_out = tuple(path for path in plan.paths if path in self.untracked)
        if kept_out and not plan.may_track and self.asks_to_track:
            raise VaultWriteError(Reason.WOULD_TRACK, "", path=kept_out[0])
        for change in plan.changes:
            if self.files.get(change.path) != (change.after if plan.on_disk else change.before):
                raise VaultWriteError(Reason.CONFLICT, "", path=change.path)
        self.at += 60
        operation = self._operation(plan)
        commit = self.commit(plan.changes, author="Donna", subject=plan.subject, operation=operation)
        for change in plan.changes:
            if change.after is None:
                self.files.pop(change.path, None)
            else:
                self.files[change.path] = change.after
        self._move_stacks(plan, replace(operation, commit=commit))
        etags = tuple(etag_of(change.after) if change.after is not None else "" for change in plan.changes)
        hidden = () if plan.may_track else kept_out
        kind, paths = plan.kind, plan.paths
        return Outcome(operation=operation.id, commit=commit, kind=kind, paths=paths, etags=etags, record_only=hidden)

    def blame(self, path: str, first: int, last: int) -> tuple[BlameLine, ...]:
        """Attribute every line to the newest commit of the note that contains it; a missing note has no lines."""
        if path not in self.files:
            return ()
        lines = self.files[path].decode("utf-8", "replace").split("\n")[first - 1 : last]
        return tuple(self._origin(path, first + index, line) for index, line in enumerate(lines))

    def _origin(self, path: str, number: int, text: str) -> BlameLine:
        if text.encode("utf-8", "replace") not in self.recorded.get(path, b"").split(b"\n"):
            return BlameLine(line=number, commit="", at=self.at, author="you", text=text)
        for revision in reversed(self.revisions):
            changes = [change for change in self.changes[revision.commit] if change.path == path]
            if any(text.encode("utf-8", "replace") in (change.after or b"").split(b"\n") for change in changes):
                author = revision.operation.actor if revision.operation else revision.author
                return BlameLine(line=number, commit=revision.commit, at=revision.at, author=author, text=text)
        return BlameLine(line=number, commit="0" * 40, at=self.at - 4e6, author="Noor", text=text)

    def _check(self, path: str, etag: str | None) -> None:
        if path in self.refusals:
            raise VaultWriteError(Reason.SENSITIVE, self.refusals[path], path=path)
        there = self.files.get(path)
        if there is None and etag is not None:
            raise VaultWriteError(Reason.MISSING, "this note is no longer there", path=path)
        if (etag_of(there) if there is not None else None) != etag:
            raise VaultWriteError(Reason.CONFLICT, "this note was just edited elsewhere", path=path)

    def _stack(self, kind: OperationKind) -> list[Operation]:
        is_undo = kind is OperationKind.UNDO
        stack = self.undo_stack if is_undo else self.redo_stack
        if not stack:
            reason = Reason.NOTHING_TO_UNDO if is_undo else Reason.NOTHING_TO_REDO
            raise VaultWriteError(reason, f"there is nothing to {kind.value}")
        return stack

    def _operation(self, plan: Plan) -> Operation:
        changes = (
            BlobChange(
                path=change.path,
                before=etag_of(change.before)[:40] if change.before is not None else None,
                after=etag_of(change.after)[:40] if change.after is not None else None,
            )
            for change in plan.changes
        )
        return Operation(
            id=f"{len(self.revisions):020x}",
            kind=plan.kind,
            actor=self.actor,
            subject=plan.subject,
            at=self.at,
            commit="",
            changes=tuple(changes),
            undoes=plan.undoes,
            redoes=plan.redoes,
        )

    def _move_stacks(self, plan: Plan, operation: Operation) -> None:
        if plan.kind is OperationKind.UNDO:
            for _ in plan.undoes:
                self.redo_stack.insert(0, self.undo_stack.pop(0))
        elif plan.kind is OperationKind.REDO:
            for _ in plan.redoes:
                self.undo_stack.insert(0, self.redo_stack.pop(0))
        else:
            self.undo_stack.insert(0, operation)
            self.redo_stack.clear()
