"""Initialise the history: create a repository in the vault, with one commit of the notes as they are."""

from __future__ import annotations

import time
from collections.abc import Iterable

from donna_tui.safety.classify import Sensitivity
from donna_tui.types.errors import DonnaError
from donna_tui.vault.git.attributes import attributes_of, stored_changes, why_not_stored
from donna_tui.vault.git.index import follow_tip
from donna_tui.vault.git.objects import Author, blobs, entries, open_commit
from donna_tui.vault.git.repository import GitRepo
from donna_tui.vault.write.changes import Change
from donna_tui.vault.write.files import VaultFiles
from donna_tui.vault.write.rules import WriteRules

SUBJECT = b"Initial commit: all notes as they were\n"


def begin(repo: GitRepo, files: VaultFiles, rules: WriteRules, author: Author, notes: Iterable[str]) -> bool:
    """Create a repository, unless the vault is in one already, and commit the notes that are not sensitive.

    Return whether one was created. Must be called only after the user agreed. Raises VaultWriteError.
    """
    if not repo.init_if_missing(name=author.name, email=author.email):
        return False
    place, tip = repo.place(), repo.tip()
    public = [path for path in notes if _is_public(files, rules, path)]
    attributes = attributes_of(repo, place, public)
    left_out = {*repo.ignored(public), *(path for path, each in attributes.items() if why_not_stored(path, each))}
    images = ((path, files.read(path)) for path in public if path not in left_out)
    changes = [
        Change(path=path, before=None, after=data, mode=files.mode(path)) for path, data in images if data is not None
    ]
    stored, extra = stored_changes(repo, place, tip, changes, attributes)
    written = blobs([*(each.after for each in changes if each.after is not None), *extra])
    commit = open_commit(tip.ref, 1, author.line(time.time()), SUBJECT, None)
    repo.fast_import(b"".join([*written, *commit, *entries(place, stored), b"done\n"]))
    follow_tip(repo, place, tip, stored)
    return True


def _is_public(files: VaultFiles, rules: WriteRules, path: str) -> bool:
    """Return whether a note is public: a history may be pushed, and private notes must not leave the machine."""
    try:
        data = files.read(path)
        return data is not None and rules.sensitivity(path, data) is Sensitivity.PUBLIC
    except DonnaError:
        return False
