"""Decide which changes are committed to the branch: none of notes that git ignores, of untracked private notes, or of
notes that an undo restores and that were not in the branch before.

The branch may be pushed. The record, below refs/donna, is local, and is sufficient for undo.
"""

from __future__ import annotations

import os
import unicodedata
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace

from donna_tui.safety.classify import Sensitivity
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.attributes import Attributes, why_not_stored
from donna_tui.vault.git.operations import last_operation, parse_message
from donna_tui.vault.git.repository import GitRepo, RefState, RepoLocation
from donna_tui.vault.write.changes import BlobChange, Change, Operation, OperationKind, Plan
from donna_tui.vault.write.files import VaultFiles
from donna_tui.vault.write.rules import WriteRules

OWN_REPOSITORY = "the repository around the vault ignores all of it: run git init in the folder of the vault"


def unstorable(
    repo: GitRepo, location: RepoLocation, files: VaultFiles, changes: Sequence[Change], rules: Mapping[str, Attributes]
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
    for path in repo.left_out(location, [change.path for change in rest if change.before is None]):
        message = "git has a note with this name, but it is outside the sparse checkout"
        refuse(path, message, "check it out first: git sparse-checkout add FOLDER")
    for path in repo.ignored([change.path for change in rest]):
        hint = OWN_REPOSITORY if repo.ignores_vault(location) else "remove it from .gitignore"
        refuse(path, "git ignores this note, so a change could not be undone", hint)
    decomposed = [change.path for change in rest if not unicodedata.is_normalized("NFC", change.path)]
    if decomposed and repo.composes_names():
        message = "the name is decomposed on disk (NFD) and composed in git (NFC), so a change could not be undone"
        for path in decomposed:
            refuse(path, message, "rename the note in Obsidian to the same name, typed again")
    unstored = filter(None, (why_not_stored(path, each) for path, each in rules.items()))
    return refusals | {refusal.path: refusal for refusal in unstored}


def mark_untracked(
    repo: GitRepo,
    location: RepoLocation,
    tip: RefState,
    rules: WriteRules,
    plan: Plan,
    changes: Sequence[BlobChange],
    before: Collection[str],
) -> tuple[BlobChange, ...]:
    """Mark the changes that must not be committed. Raises VaultWriteError (`would_track`) for a once private note.

    `before` are the files that were `untracked_before`.
    """
    hidden = _hidden(repo, location, tip, rules, plan)
    removed = set(before) - hidden
    marked = (replace(change, record_only=change.path in hidden) for change in changes)
    return tuple(replace(change, stored_after="") if change.path in removed else change for change in marked)


def _hidden(repo: GitRepo, location: RepoLocation, tip: RefState, rules: WriteRules, plan: Plan) -> set[str]:
    """Return the private notes of a plan whose change is in the record only."""
    private = [change for change in plan.changes if _is_private(rules, change.path, change.before, change.after)]
    if not private:
        return set()
    moved = plan.kind is OperationKind.MOVE
    uncertain = [*private, *(change for change in plan.changes if moved and change.after is None)]
    known = repo.known(tip, location, [change.path for change in uncertain])
    carries_on = moved and any(change.path in known for change in plan.changes if change.after is None)
    return {
        change.path
        for change in private
        if change.path not in known
        and not (carries_on and change.before is None)
        and not _may_be_tracked(repo, tip, rules, plan, change)
    }


def _is_private(rules: WriteRules, path: str, *sides: bytes | None) -> bool:
    return any(data is not None and rules.sensitivity(path, data) is not Sensitivity.PUBLIC for data in sides)


def _may_be_tracked(repo: GitRepo, tip: RefState, rules: WriteRules, plan: Plan, change: Change) -> bool:
    """Return whether an untracked private note may be committed: the user agreed, or an undo or redo restores it."""
    if change.after is None:
        return False
    if plan.kind in (OperationKind.UNDO, OperationKind.REDO):  # if the branch had it until Donna removed it
        return tip.commit is not None and last_operation(repo, tip.commit, change.path) is not None
    if plan.may_track or _is_private(rules, change.path, change.after):
        return plan.may_track
    raise VaultWriteError(
        Reason.WOULD_TRACK,
        "this note was private and is not in git; without its mark it would be committed, and pushed with the rest",
        hint="confirm that, or keep the note marked as private",
        path=change.path,
    )


def untracked_before(repo: GitRepo, location: RepoLocation, tip: RefState, plan: Plan) -> set[str]:
    """Return the files that an undo restores and that were not in the branch when its operations were last applied."""
    restored = {change.path for change in plan.changes if change.after is not None}
    if plan.kind is not OperationKind.UNDO or not restored or tip.commit is None:
        return set()
    changes: dict[str, tuple[str, str]] = {}
    for parent, operation, statuses in _last_applied(repo, tip.commit, plan.undoes):
        for path in restored.intersection(operation.paths):
            changes[path] = parent, statuses.get(location.full(path), "")
    untracked = {path for path, (_, status) in changes.items() if status == "A"}
    for parent in {parent for parent, status in changes.values() if not status}:
        unchanged = {path for path, change in changes.items() if change == (parent, "")}
        untracked |= unchanged - repo.known(replace(tip, commit=parent or None), location, [*unchanged])
    return untracked


def _last_applied(
    repo: GitRepo, tip: str, operations: Sequence[str]
) -> Iterator[tuple[str, Operation, Mapping[str, str]]]:
    """Yield the last commit of each operation, the newest first: its parent, and by path how git lists its changes."""
    pattern = f"^Donna-(Op|Redoes): ({'|'.join(operations)})$"
    form = ("-z", "--format=commit %P%x00%B", "--name-status", "--no-renames", "--root", "--no-show-signature")
    chosen = ("--extended-regexp", f"--grep={pattern}", f"--max-count={len(operations)}")
    remaining, commits = set(operations), list[tuple[str, str, dict[str, str]]]()
    fields = iter(repo.command.run("log", *form, *chosen, tip).output.split(b"\0"))
    for field, value in zip(fields, fields, strict=False):
        kind, _, parent = field.decode("ascii").strip().partition(" ")
        if kind == "commit":
            commits.append((parent, value.decode("utf-8", "replace"), {}))
        else:
            commits[-1][2][os.fsdecode(value)] = kind
    for parent, message, statuses in commits:
        operation = parse_message(message, commit="", at=0.0)
        done = remaining.intersection((operation.id, *operation.redoes)) if operation else set()
        if operation and done:
            remaining -= done
            yield parent, operation, statuses
