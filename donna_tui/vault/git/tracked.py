"""Decide which notes and changes are committed to the branch: none that git ignores, and no untracked private note.

The branch may be pushed. The record, below refs/donna, is local, and is sufficient for undo.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

from donna_tui.safety.classify import Sensitivity
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.attributes import Attributes, why_not_stored
from donna_tui.vault.git.operations import parse_message
from donna_tui.vault.git.repository import GitRepo, RepoLocation, Tip
from donna_tui.vault.write.changes import BlobChange, Change, OperationKind, Plan
from donna_tui.vault.write.files import VaultFiles
from donna_tui.vault.write.rules import WriteRules


def unstorable(
    repo: GitRepo, place: RepoLocation, files: VaultFiles, changes: Sequence[Change], rules: Mapping[str, Attributes]
) -> dict[str, VaultWriteError]:
    """Return the reasons why git could not store these changes, by path, for those that it could not."""
    nested = {change.path: folder for change in changes if (folder := files.nested_repository(change.path))}
    rest = [change for change in changes if change.path not in nested]
    refusals: dict[str, VaultWriteError] = {}

    def refuse(path: str, message: str, hint: str) -> None:
        refusals[path] = VaultWriteError(Reason.IGNORED_BY_GIT, message, hint=hint, path=path)

    for path, folder in nested.items():
        message = f"the folder “{folder}” is a separate repository"
        refuse(path, message, "open that folder as a vault to change its notes")
    for path in repo.left_out(place, [change.path for change in rest if change.before is None]):
        message = "git has a note of this name, but it is outside the sparse checkout"
        refuse(path, message, "check it out first: git sparse-checkout add FOLDER")
    for path in repo.ignored([change.path for change in rest]):
        refuse(path, "git ignores this note, so a change could not be undone", "remove it from .gitignore")
    unstored = filter(None, (why_not_stored(path, each) for path, each in rules.items()))
    return refusals | {refusal.path: refusal for refusal in unstored}


_RESTORING = (OperationKind.UNDO, OperationKind.REDO)


def mark_private(
    repo: GitRepo, place: RepoLocation, tip: Tip, rules: WriteRules, plan: Plan, changes: Sequence[BlobChange]
) -> tuple[BlobChange, ...]:
    """Mark the changes of a plan that must not be committed to the branch.

    Raises VaultWriteError (`would_track`) if a formerly private note would be committed and nobody has agreed.
    """
    private = [change for change in plan.changes if _is_private(rules, change.path, change.before, change.after)]
    if not private:
        return tuple(changes)
    moved = plan.kind is OperationKind.MOVE
    uncertain = [*private, *(change for change in plan.changes if moved and change.after is None)]
    known = repo.known(tip, place, [change.path for change in uncertain])
    carries_on = moved and any(change.path in known for change in plan.changes if change.after is None)
    hidden = {
        change.path
        for change in private
        if change.path not in known
        and not (carries_on and change.before is None)
        and not _may_be_tracked(repo, tip, rules, plan, change)
    }
    deleted = {
        change.path
        for change in private
        if change.path in known
        and plan.kind is OperationKind.UNDO
        and change.after is not None
        and not _is_private(rules, change.path, change.before)
        and _was_added_by(repo, tip, plan.undoes, place, change.path)
    }
    marked = (replace(each, record_only=each.path in hidden) for each in changes)
    return tuple(replace(each, stored_after="") if each.path in deleted else each for each in marked)


def _is_private(rules: WriteRules, path: str, *sides: bytes | None) -> bool:
    return any(data is not None and rules.sensitivity(path, data) is not Sensitivity.PUBLIC for data in sides)


def _may_be_tracked(repo: GitRepo, tip: Tip, rules: WriteRules, plan: Plan, change: Change) -> bool:
    """Return whether an untracked private note may be committed: the user agreed, or an undo or redo restores it."""
    if change.after is None:
        return False
    if plan.kind in _RESTORING:
        return _was_removed_by_donna(repo, tip, change.path)
    if plan.may_track or _is_private(rules, change.path, change.after):
        return plan.may_track
    raise VaultWriteError(
        Reason.WOULD_TRACK,
        "this note was private and is not in git; without its mark it would be committed, and pushed with the rest",
        hint="confirm that, or keep the note marked as private",
        path=change.path,
    )


def _was_removed_by_donna(repo: GitRepo, tip: Tip, path: str) -> bool:
    """Return whether the branch had the note until an operation of Donna removed it."""
    if tip.commit is None:
        return False
    answer = repo.command.run_unchecked("log", "-1", "--format=%B", "--no-show-signature", tip.commit, "--", path)
    message = answer.output.decode("utf-8", "replace")
    return parse_message(message, commit="", at=0.0) is not None


def _was_added_by(repo: GitRepo, tip: Tip, operations: Sequence[str], place: RepoLocation, path: str) -> bool:
    """Return whether one of these operations added a note to the branch."""
    assert tip.commit is not None
    pattern = f"^Donna-Op: ({'|'.join(operations)})$"
    listed = ("log", "--format=%H", "--no-show-signature", "--extended-regexp", f"--grep={pattern}")
    first = repo.command.run(*listed, tip.commit, "--", path).output.decode().split()[-1:]
    if not first:
        return False
    before = repo.command.run_unchecked("ls-tree", "-z", "--full-tree", f"{first[0]}^", "--", place.full(path))
    return before.status != 0 or not before.output  # the first commit has no parent
