"""Compare vault and index: find what the watcher missed, a crash interrupted, or another program changed meanwhile."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

from donna_tui.index.database import Database
from donna_tui.index.files import FileState, file_states, known_paths, without_state
from donna_tui.ingest.pending_deletions import suspicious
from donna_tui.types.errors import Reason, VaultReadError
from donna_tui.vault.client import ScannedFile, VaultClient

NOTES = "SELECT count(*) FROM memory_documents WHERE source_type = 'vault'"

SILENT = frozenset({Reason.IGNORED, Reason.NOT_MARKDOWN})
"""Reasons of files that are not expected in the index, and get no file state."""

UNREADABLE = frozenset({Reason.UNREADABLE, Reason.IO_ERROR})
"""Reasons of files and folders that are there, and may be readable later."""


@dataclass(frozen=True, slots=True)
class Difference:
    """The result of a comparison. Paths are vault-relative; `seen` counts the notes on disk, `retried` the changed ones
    that could not be read before.
    """

    new: tuple[str, ...]
    changed: tuple[str, ...]
    missing: tuple[str, ...]
    skipped: tuple[ScannedFile, ...]
    seen: int
    retried: int = 0


def compare(client: VaultClient, database: Database, prefix: str = "", *, hash_all: bool = False) -> Difference:
    """Compare the vault below `prefix` with the index. Raises VaultReadError if the root is missing.

    A file counts as unchanged without being read only if size, mtime, ctime and inode agree and none is recent. The
    notes of a folder that cannot be read are not missing: it may be readable again soon.
    """
    known = file_states(database, prefix)
    entries = {entry.path: entry for entry in client.scan(prefix)}
    notes = {path: entry for path, entry in entries.items() if entry.reason is None}
    unreadable = tuple(f"{path}/" for path, entry in entries.items() if entry.reason in UNREADABLE)
    skipped = (entry for entry in entries.values() if entry.reason and entry.reason not in SILENT)
    changed = tuple(path for path in notes if path in known and (hash_all or _changed(known[path], notes[path])))
    return Difference(
        new=tuple(path for path in notes if path not in known),
        changed=changed,
        missing=tuple(
            path
            for path in (*known, *(() if prefix else without_state(database)))
            if (entries[path].reason in SILENT if path in entries else not path.startswith(unreadable))
        ),
        skipped=tuple(
            entry
            for entry in skipped
            if (state := known.get(entry.path)) is None or (state.state, state.reason) != ("skipped", entry.reason)
        ),
        seen=len(notes),
        retried=sum(known[path].state != "indexed" for path in changed),
    )


def differing(client: VaultClient, database: Database) -> Iterator[str]:
    """Yield the notes whose indexed version differs from the one on disk, comparing bytes if only the stat differs.

    The bytes are read lazily, at the end, for callers that only need to know if there are any. Raises VaultReadError if
    the root is missing.
    """
    found = compare(client, database)
    yield from found.new
    yield from found.missing
    known = file_states(database) if found.changed else {}
    for path in found.changed:
        state = known.get(path)
        if state and state.state == "indexed":
            try:
                differs = client.read(path).etag != state.etag
            except VaultReadError:
                differs = True
            if differs:
                yield path


def held_until_confirmed(client: VaultClient, database: Database, differing: Collection[str]) -> set[str]:
    """Return the differing notes that stay in the index until the user confirms that they are deleted."""
    doubtful, known = unexplained(client, database, [path for path in differing if client.is_gone(path)])
    return doubtful if suspicious(len(doubtful), known) else set()


def unexplained(client: VaultClient, database: Database, missing: Collection[str]) -> tuple[set[str], int]:
    """Return the missing notes that the index has, and the number of its notes, both without those that were deleted
    with Donna: git is asked for these only if suspiciously many are missing.
    """
    found, known = known_paths(database, missing), database.value(NOTES)
    if suspicious(len(found), known):
        from donna_tui.vault.git.operations import deleted_by_operations

        deleted = deleted_by_operations(client.root, found)
        found, known = found - deleted, known - len(deleted)
    return found, known


def _changed(state: FileState, entry: ScannedFile) -> bool:
    """Return whether a note must be read again. Files that were skipped for their content are not."""
    stat = entry.stat
    if stat is None or (state.state != "indexed" and state.reason != Reason.NOT_TEXT):
        return True
    return not state.same_stat(stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode)
