"""Which notes git can keep. What it ignores, or what belongs to another repository, could not be undone."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from donna_tui.errors import Reason, VaultWriteError
from donna_tui.vault.changes import Change
from donna_tui.vault.files import VaultFiles
from donna_tui.vault.gitform import Attributes, why_not_stored
from donna_tui.vault.repository import GitRepo, Place


def not_kept(
    repo: GitRepo, place: Place, files: VaultFiles, changes: Sequence[Change], rules: Mapping[str, Attributes]
) -> dict[str, VaultWriteError]:
    """Why git could not keep these changes, by path; those that it can keep are left out."""
    nested = [change.path for change in changes if files.nested_repository(change.path)]
    rest = [change for change in changes if change.path not in nested]
    left_out = repo.left_out(place, [change.path for change in rest if change.before is None])
    ignored = repo.ignored([change.path for change in rest])
    unstored = filter(None, (why_not_stored(path, each) for path, each in rules.items()))
    refusals = (*_nested(files, nested), *map(_left_out, left_out), *map(_ignored, ignored), *unstored)
    return {refusal.path: refusal for refusal in refusals}


def _nested(files: VaultFiles, paths: Sequence[str]) -> Iterator[VaultWriteError]:
    for path in paths:
        yield VaultWriteError(
            Reason.IGNORED_BY_GIT,
            f"the folder “{files.nested_repository(path)}” is a repository of its own",
            hint="open that folder as a vault to change its notes",
            path=path,
        )


def _left_out(path: str) -> VaultWriteError:
    return VaultWriteError(
        Reason.IGNORED_BY_GIT,
        "git has a note of this name, and a sparse checkout leaves it out of this folder",
        hint="check it out first: git sparse-checkout add FOLDER",
        path=path,
    )


def _ignored(path: str) -> VaultWriteError:
    return VaultWriteError(
        Reason.IGNORED_BY_GIT,
        "git is told to ignore this note, so a change could not be undone",
        hint="take it out of .gitignore",
        path=path,
    )
