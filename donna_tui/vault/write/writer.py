"""`VaultWriter`: the single entry point for writes to a vault. Each call is one commit and one undo step."""

from __future__ import annotations

import contextlib
import dataclasses
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path, PurePosixPath

from donna_tui.safety.classify import Sensitivity
from donna_tui.text.merge import has_conflict_markers
from donna_tui.text.plural import first_of, plural
from donna_tui.types.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.vault.client import VaultClient
from donna_tui.vault.conflict_resolution import ConflictResolver
from donna_tui.vault.git.attributes import attributes_of, stored_changes, why_not_stored
from donna_tui.vault.git.history import History
from donna_tui.vault.git.index import follow_tip, wait_for_index
from donna_tui.vault.git.objects import Author, blob_changes, blob_id, blobs, entries, open_commit, prepare_record
from donna_tui.vault.git.operations import each_operation, new_operation_id, newest_id
from donna_tui.vault.git.repository import GitRepo, RepoLocation
from donna_tui.vault.git.tracked import unstorable
from donna_tui.vault.links.graph import LinkGraph
from donna_tui.vault.paths import VaultRoot, folders_above
from donna_tui.vault.write.changes import (
    Change,
    Operation,
    OperationKind,
    Outcome,
    Plan,
    Precondition,
    Version,
    any_version,
    has_etag,
    in_line_ends_of,
)
from donna_tui.vault.write.files import VaultFiles
from donna_tui.vault.write.journal import Journal
from donna_tui.vault.write.orphans import UPLOAD, OrphanFiles, Restored, find_orphans
from donna_tui.vault.write.plan_context import PlanContext, note_missing
from donna_tui.vault.write.planner import Planner
from donna_tui.vault.write.protocol import Step, WriteContext, execute, write_lock
from donna_tui.vault.write.recovery import record_changes, record_displaced, recover
from donna_tui.vault.write.rules import WriteRules
from donna_tui.vault.write.undo_plan import UndoPlanner

_MTIME_SLACK_NS = 1_000
"""The precision of a modification time in seconds, as a float."""

RECORDING = "beside-"
"""Prefix of the refs by which `recording` keeps a change until it is recorded."""

A_NOTE = "note.md"
"""A note that could be in a folder, to check the folder's name with."""

FIRST_SUBJECT = b"Initial commit: all notes as they were\n"

LOCAL_ACTOR = "you"
"""The actor of a change that a person makes with Donna."""


OnWritten = Callable[[Outcome, str, str], None]
"""Called after an operation, with its outcome, actor and subject."""


class VaultWriter:
    """Write, delete, move, undo and redo. Every method blocks; all may be called from several threads.

    `planner` and `undo_planner` make plans, `apply` executes them, and `write`, `delete`, `move`, `undo_last` and
    `redo` do both. All raise VaultWriteError with a reason, and then nothing has changed. `on_recovered` receives what
    the user should know of an interrupted write that a call found and cleaned up.
    """

    def __init__(
        self,
        root: Path,
        *,
        client: VaultClient,
        rules: WriteRules,
        author: Author,
        state: Path,
        on_written: OnWritten = lambda *_: None,
        on_recovered: Callable[[VaultWriteError], None] = lambda _: None,
        reached: Callable[[Step], None] = lambda _: None,
    ) -> None:
        self._root, self.rules = root, rules
        vault = VaultRoot(root)
        files = VaultFiles(vault)
        self.repo = GitRepo(root)
        plan_context = self._plan_context = PlanContext(client, vault, files, rules, self.repo, self._try_to_recover)
        self.planner = Planner(plan_context)
        self.undo_planner = UndoPlanner(plan_context)
        self.history = History(self.repo, client, files)
        self.resolver = ConflictResolver(plan_context, client, self.history)
        self._client = client
        self._context = WriteContext(self.repo, files, Journal(state / "writes"), rules, author, reached)
        self.links = LinkGraph(client, files)
        self._on_written = on_written
        self._on_recovered = on_recovered

    def init_if_missing(self) -> bool:
        """Create a repository with one commit of the notes as they are, after the user agreed.

        Private notes are left out: a history may be pushed. Return False if the vault is in a repository already.
        """
        repo, files, author = self.repo, self._context.files, self._context.author
        notes = self._client.list()
        if not repo.init_if_missing():
            return False
        location, tip = repo.location(), repo.tip()
        public = [path for path in notes if self._is_public(path)]
        attributes = attributes_of(repo, location, public)
        left_out = {*repo.ignored(public), *(path for path, each in attributes.items() if why_not_stored(path, each))}
        images = ((path, files.read(path)) for path in public if path not in left_out)
        changes = [
            Change(path=path, before=None, after=data, mode=files.mode(path))
            for path, data in images
            if data is not None
        ]
        stored, extra = stored_changes(repo, location, tip, changes, attributes)
        written = blobs([*(change.after for change in changes if change.after is not None), *extra])
        commit = open_commit(tip.ref, 1, author.line(time.time()), FIRST_SUBJECT, None)
        repo.fast_import(b"".join([*written, *commit, *entries(location, stored), b"done\n"]))
        follow_tip(repo, location, tip, stored)
        return True

    def _is_public(self, path: str) -> bool:
        try:
            data = self._context.files.read(path)
            return data is not None and self.rules.sensitivity(path, data) is Sensitivity.PUBLIC
        except DonnaError:
            return False

    def recover(self) -> VaultWriteError | None:
        """Complete or abandon the write that a crash interrupted. Return a message for the user, or None."""
        location = self.repo.find() if self._context.journal.read() else None
        if location is None:
            return None
        with write_lock(location):
            return recover(self._context, location)

    def _try_to_recover(self) -> None:
        """Recover an interrupted write if that is possible now; otherwise `apply` raises the reason."""
        with contextlib.suppress(VaultWriteError):
            if (trouble := self.recover()) is not None:
                self._on_recovered(trouble)

    def _recover_locked(self, location: RepoLocation) -> None:
        """Recover an interrupted write within `write_lock`, and report what the user should know of it."""
        if (trouble := recover(self._context, location)) is not None:
            self._on_recovered(trouble)

    def restore_orphans(self) -> Iterator[Restored | VaultWriteError]:
        """Restore orphaned files, except uploads, and yield the outcome of each. Raises VaultWriteError."""
        location = self.repo.find()
        with write_lock(location) if location else contextlib.nullcontext():
            if location:
                self._recover_locked(location)
            files = OrphanFiles(VaultRoot(self._root), self.repo, location)
            for path in find_orphans(self._root):
                if not PurePosixPath(path).name.startswith(UPLOAD):
                    try:
                        yield files.restore(path)
                    except (VaultReadError, VaultWriteError) as error:
                        yield VaultWriteError(error.reason, error.message, hint=error.hint, path=path)

    def apply(self, plan: Plan, *, actor: str = LOCAL_ACTOR, session: str = "") -> Outcome:
        """Execute a plan as one operation. Raises VaultWriteError (`conflict`) if a note has changed since."""
        location = self.repo.location()
        wait_for_index(location)
        with write_lock(location):
            self._recover_locked(location)
            try:
                outcome = execute(self._context, location, plan, actor, session)
            except VaultWriteError:
                record_displaced(self._context, location)
                raise
        if plan.emptied:
            self._tidy_folders(plan)
        if outcome.changed:
            self._on_written(outcome, actor, plan.subject)
        return outcome

    def _tidy_folders(self, plan: Plan) -> None:
        """Remove folders that a plan emptied, and give those of its notes their new case."""
        for folder in plan.emptied:
            self._context.files.remove_empty(folder)
        written = (change.path for change in plan.changes if change.after is not None)
        for folder in dict.fromkeys(folder for path in written for folder in folders_above(path)):
            self._context.files.respell(folder)

    def is_folder(self, path: str) -> bool:
        return self._plan_context.is_folder(path.rstrip("/"))

    def why_not_new(self, path: str, besides: str = "") -> str:
        """Return why a note cannot be created at a path, or `besides` moved there; empty if it can."""
        try:
            self.rules.check_path(path)
            self._plan_context.check_new(path, besides=besides)
        except VaultWriteError as error:
            return error.message
        return ""

    def create_folder(self, path: str, *, besides: str = "") -> None:
        """Create an empty folder, or one that the folder `besides` moves to. Git stores it once it has a note."""
        self.rules.check_path(f"{path}/{A_NOTE}")
        self._plan_context.check_new(f"{path}/{A_NOTE}", besides=besides)
        self._context.files.make_folder(path)

    def rename_folder(self, path: str, new: str) -> None:
        """Rename an empty folder."""
        files = self._context.files
        self.create_folder(new, besides=path)
        if self._plan_context.is_respelled(path, new):
            files.respell(new)
        else:
            files.remove_empty(path)

    def remove_folder(self, path: str) -> bool:
        return self._context.files.remove_empty(path)

    def empty_folders(self) -> tuple[str, ...]:
        return tuple(path for path in self._context.files.empty_folders() if not self._client.ignores(path))

    def commit_version(self, path: str) -> Version:
        """Store the current version of a note in git, unless it has it, before another program may change it."""
        location = self.repo.location()
        with write_lock(location):
            self._recover_locked(location)
            data = self._existing(path)
            change = Change(path=path, before=None, after=data)
            self.rules.check(change)
            if refusals := unstorable(self.repo, location, self._context.files, [change], {}):
                raise next(iter(refusals.values()))
            committed = self._committed(location, path)
            if committed != blob_id(data, location.object_format):
                changes = blob_changes((change,), location.object_format)
                subject = f"Before an editor opened {path}"
                kept, at = OperationKind.KEPT, time.time()
                of = Operation(id="", kind=kept, actor=LOCAL_ACTOR, subject=subject, at=at, commit="", changes=changes)
                record_changes(self._context, location, of, changes, (data,), subject=subject)
            return Version(path=path, data=data, committed=committed)

    def plan_since(self, version: Version) -> Plan:
        """Plan a commit of the changes that another program made to a note since that version.

        If it was committed meanwhile, by another Donna or by git, the change is relative to that commit.
        """
        location, now = self.repo.location(), self._existing(version.path)
        before: bytes | None = version.data
        committed = self._committed(location, version.path)
        if committed != version.committed and committed is not None:
            before = self.repo.blobs([committed])[0]
            before = None if before is None else in_line_ends_of(now, before)
        mode = self._plan_context.mode(version.path, now)
        return self._plan_on_disk([Change(path=version.path, before=before, after=now, mode=mode)])

    def plan_outside(self, paths: Sequence[str]) -> Plan:
        """Plan a commit of outside edits: the difference between the last commit and the disk for these notes.

        A missing note that has the text of a new one is committed with it: it was renamed. Of several notes, those that
        cannot be committed are left out, and a remark names them.
        """
        found = self.history.outside_changes(paths)
        created = [change.after for change in found if change.before is None and change.after]
        renamed = self.history.missing_with(created) - set(paths)
        changes = []
        for change in (*found, *self.history.outside_changes(sorted(renamed))):
            before, after = change.sides
            if before is not None and after is not None:
                before = in_line_ends_of(after, before)
            mode = change.mode if after is None else self._plan_context.mode(change.path, after)
            changes.append(Change(path=change.path, before=before, after=after, mode=mode))
        possible = self.planner.possible(changes) or changes
        left_out = [change.path for change in changes if change not in possible]
        return self._plan_on_disk(possible, (f"not committed: {first_of(left_out, 3)}",) if left_out else ())

    def _plan_on_disk(self, changes: Sequence[Change], remarks: tuple[str, ...] = ()) -> Plan:
        changes = tuple(change for change in changes if change.before != change.after)
        marked = [change.path for change in changes if has_conflict_markers(change.after or b"")]
        remarks += (f"conflict markers are still in {marked[0]}",) if marked else ()
        kind, subject = _kind_and_subject(changes)
        return Plan(kind=kind, subject=subject, changes=changes, remarks=remarks, on_disk=True)

    def _existing(self, path: str) -> bytes:
        data = self._plan_context.read(path)
        if data is None:
            raise note_missing(path)
        return data

    def _committed(self, location: RepoLocation, path: str) -> str | None:
        commit = self.repo.tip().commit
        return self.repo.blob_id(commit, location.full(path)) if commit else None

    @contextlib.contextmanager
    def recording(self, kind: OperationKind, changes: Sequence[Change], *, actor: str) -> Iterator[None]:
        """Record changes that the block makes by other means: the bytes before and after, as one undo step.

        The branch does not move. The bytes are in git, below a ref, before the block is entered; the record is appended
        to the history once it has ended, and is dropped if it fails. Changes that Donna or git may not revert are
        recorded too, but are not an undo step. Raises VaultWriteError, and then the block has not been entered.
        """
        location = self.repo.location()
        with write_lock(location):
            context, record = self._context, self._operation_of(kind, changes, location, actor)
            ref = location.pending(context.journal.home(), f"{RECORDING}{record.id}")
            images = [data for change in changes for data in change.sides if data is not None]
            previous, commit = prepare_record(context.repo, record, context.author, images, ref=ref)
            try:
                yield
            except BaseException:
                self.repo.drop_ref(ref)
                raise
            if not self.repo.append_record(previous, commit, f"donna: {record.kind}", drop=ref):
                message = "another program is changing Donna's own refs"
                raise VaultWriteError(Reason.GIT_LOCKED, message, hint="try again")

    def record_interrupted(self) -> None:
        """Append to the history, as kept text, what `recording` had begun to record when the program was killed."""
        location = self.repo.find()
        if location is None:
            return
        with write_lock(location):
            below = location.pending(self._context.journal.home(), RECORDING)
            listed = self.repo.command.run("for-each-ref", "--format=%(refname)", f"{below}*", check=False)
            for ref in listed.output.decode("ascii", "replace").split():
                for operation in each_operation(self.repo, ref, limit=1):
                    record_changes(self._context, location, operation, operation.changes, ())
                self.repo.drop_ref(ref)

    def _operation_of(
        self, kind: OperationKind, changes: Sequence[Change], location: RepoLocation, actor: str
    ) -> Operation:
        refused = self._plan_context.refused([change.reversed for change in changes])
        verbs = {OperationKind.WRITE: "Replace", OperationKind.DELETE: "Delete", OperationKind.MOVE: "Move over"}
        return Operation(
            id=new_operation_id(newest_id(self.repo, self.repo.record())),
            kind=OperationKind.KEPT if refused else kind,
            actor=actor,
            subject=f"{verbs.get(kind, 'Change')} {changes[0].path}",
            at=time.time(),
            commit="",
            changes=blob_changes(changes, location.object_format),
        )

    def write(
        self,
        path: str,
        content: str,
        expected_mtime: float | None = None,
        message: str | None = None,
        *,
        expected_etag: str | None = None,
        replace: bool = False,
        actor: str = LOCAL_ACTOR,
    ) -> str:
        """Write a note and return the commit. Without an etag or a time it may overwrite any version."""
        plan = self.planner.write(
            path, content, expected=self._precondition(path, expected_etag, expected_mtime), replace=replace
        )
        return self._apply(plan, message, actor)

    def delete(self, path: str, message: str | None = None, *, expected_etag: str | None = None) -> str:
        return self._apply(self.planner.delete(path, expected=self._precondition(path, expected_etag)), message)

    def move(
        self, src: str, dst: str, message: str | None = None, *, expected_etag: str | None = None, links: bool = True
    ) -> str:
        """Move a note and, unless `links` is False, update the links to it. Return the commit."""
        plan = self.planner.move(src, dst, expected=self._precondition(src, expected_etag), links=links)
        return self._apply(plan, message)

    def undo_last(self, n: int = 1) -> list[str]:
        """Undo the last `n` operations in one commit. Return the ids of what was undone, newest first."""
        plan = self.undo_planner.undo(n)
        self.apply(plan)
        return list(plan.undoes)

    def redo(self, n: int = 1) -> list[str]:
        """Redo the last `n` undone operations in one commit. Return their ids, in order of execution."""
        plan = self.undo_planner.redo(n)
        self.apply(plan)
        return list(plan.redoes)

    def undoable(self) -> tuple[Operation, ...]:
        return self.undo_planner.available(OperationKind.UNDO)

    def redoable(self) -> tuple[Operation, ...]:
        return self.undo_planner.available(OperationKind.REDO)

    def _precondition(self, path: str, etag: str | None, mtime: float | None = None) -> Precondition:
        if etag is not None:
            return has_etag(etag)
        if mtime is not None:
            wanted = round(mtime * 1e9)
            return lambda found: found is not None and abs(self._client.stat(path).mtime_ns - wanted) < _MTIME_SLACK_NS
        return any_version

    def _apply(self, plan: Plan, message: str | None, actor: str = LOCAL_ACTOR) -> str:
        named = dataclasses.replace(plan, subject=message) if message else plan
        return self.apply(named, actor=actor).commit


def _kind_and_subject(changes: Sequence[Change]) -> tuple[OperationKind, str]:
    """Return what an outside change was: a deletion, a move, or else an edit."""
    gone = [change for change in changes if change.after is None]
    new = [change for change in changes if change.before is None]
    others = f" and {plural(len(changes) - 1, 'other note')}" if len(changes) > 1 else ""
    name = changes[0].path if changes else ""
    if gone and len(gone) == len(changes):
        return OperationKind.DELETE, f"Delete {name}{others}"
    is_move = len(gone) + len(new) == len(changes) and {each.before for each in gone} == {each.after for each in new}
    if not is_move or not changes:
        return OperationKind.WRITE, f"Edit {name}{others}"
    return OperationKind.MOVE, f"Move {gone[0].path} to {new[0].path}" if len(gone) == 1 else f"Move {len(gone)} notes"
