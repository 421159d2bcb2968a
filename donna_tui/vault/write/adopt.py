"""Adopt files saved by another program: the bytes already on disk become a commit and an undo step."""

from __future__ import annotations

import time
from collections.abc import Iterable

from donna_tui.text.merge import has_conflict_markers
from donna_tui.vault.git.history import History
from donna_tui.vault.git.objects import blob_changes, blob_id
from donna_tui.vault.git.repository import RepoLocation
from donna_tui.vault.git.tracked import unstorable
from donna_tui.vault.write.changes import Change, Operation, OperationKind, Plan, Version, in_line_ends_of
from donna_tui.vault.write.plan_context import PlanContext, note_missing
from donna_tui.vault.write.protocol import WriteContext
from donna_tui.vault.write.recovery import record_changes


class Adopter:
    """Plan commits of the state on disk. Every method blocks and raises VaultWriteError."""

    def __init__(self, vault_state: PlanContext, history: History, context: WriteContext) -> None:
        self._vault_state, self._history, self._context = vault_state, history, context

    def store_version(self, place: RepoLocation, path: str) -> Version:
        """Store the current bytes of a note in git, unless it has them, so that they can be restored after an editor.

        Must be called within `alone`.
        """
        data = self._vault_state.read(path)
        if data is None:
            raise note_missing(path)
        change = Change(path=path, before=None, after=data)
        self._vault_state.rules.check(change)
        if refusals := unstorable(self._context.repo, place, self._context.files, [change], {}):
            raise next(iter(refusals.values()))
        committed = self._committed(place, path)
        if committed != blob_id(data, place.object_format):
            changes = blob_changes((change,), place.object_format)
            subject = f"Before an editor opened {path}"
            of = Operation(
                id="", kind=OperationKind.KEPT, actor="you", subject=subject, at=time.time(), commit="", changes=changes
            )
            record_changes(self._context, place, of, changes, (data,), subject=subject)
        return Version(path=path, data=data, committed=committed)

    def since(self, place: RepoLocation, version: Version) -> Plan:
        """Plan a commit of the changes of a note since a version; without changes if it is unchanged.

        If it was committed meanwhile, by another Donna or by git, the change is relative to that commit.
        """
        now = self._vault_state.read(version.path)
        if now is None:
            raise note_missing(version.path)
        before: bytes | None = version.data
        committed = self._committed(place, version.path)
        if committed != version.committed and committed is not None:
            before = self._context.repo.blobs([committed])[0]
            before = None if before is None else in_line_ends_of(now, before)
        return _plan([self._change(version.path, before, now)])

    def outside(self, paths: Iterable[str]) -> Plan:
        """Plan a commit of outside edits: the difference between the last commit and the disk for these notes."""
        edited = []
        for each in map(self._history.outside_change, paths):
            if each is not None and each.after is not None:
                before = None if each.before is None else in_line_ends_of(each.after, each.before)
                edited.append(self._change(each.path, before, each.after))
        return _plan(edited)

    def _change(self, path: str, before: bytes | None, after: bytes | None) -> Change:
        return Change(path=path, before=before, after=after, mode=self._vault_state.mode(path, after))

    def _committed(self, place: RepoLocation, path: str) -> str | None:
        commit = self._context.repo.tip().commit
        return self._context.repo.blob_id(commit, place.full(path)) if commit else None


def _plan(changes: list[Change]) -> Plan:
    changes = [change for change in changes if change.before != change.after]
    name = changes[0].path if changes else ""
    others = f" and {len(changes) - 1} other note{'s' if len(changes) > 2 else ''}" if len(changes) > 1 else ""
    marked = [change.path for change in changes if has_conflict_markers(change.after or b"")]
    remarks = (f"conflict markers are still in {marked[0]}",) if marked else ()
    subject = f"Edit {name}{others}"
    return Plan(kind=OperationKind.WRITE, subject=subject, changes=tuple(changes), remarks=remarks, on_disk=True)
