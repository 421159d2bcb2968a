"""Examines what Donna promises about the vault and its history (docs/promises.md); part of `donna doctor`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from donna_tui.config.models import MemoryConfig
from donna_tui.errors import DatabaseError, DonnaError, Reason, VaultReadError
from donna_tui.index.database import Database, open_database
from donna_tui.index.files import file_states
from donna_tui.index.generations import current_generation, index_path
from donna_tui.safety.classify import Sensitivity
from donna_tui.space import Space
from donna_tui.tools.finding import Finding
from donna_tui.vault.changes import Operation
from donna_tui.vault.client import VaultClient, VaultNote
from donna_tui.vault.files import MARK
from donna_tui.vault.open import indexed_client, open_writer
from donna_tui.vault.operations import each_operation
from donna_tui.vault.repository import GitRepo, Place
from donna_tui.vault.writer import VaultWriter


def examine_promises(space: Space, config: MemoryConfig) -> Iterator[Finding]:
    """The findings about writing and history, then those about index and vault."""
    yield from _history(space, config)
    yield from _unfinished(space)
    generation = current_generation(space.state)
    if generation is not None:
        yield from _index(space, config, generation)


def _history(space: Space, config: MemoryConfig) -> Iterator[Finding]:
    writer = open_writer(config, space)
    try:
        place = writer.repo.find()
        if place is None:
            yield Finding("history", "ok", "the vault has no git repository; Donna asks before she makes one")
            return
        yield _pending(writer)
        yield _operations(writer.repo)
        yield from _synced(place)
    except DonnaError as error:
        yield Finding("history", "fail", error.message, error.hint or "", error.reason)


def _pending(writer: VaultWriter) -> Finding:
    """No write is left half done."""
    trouble = writer.recover()
    if trouble is not None:
        return Finding("writes", "warn", f"{trouble.path}: {trouble.message}", trouble.hint or "", trouble.reason)
    return Finding("writes", "ok", "no write is left half done")


def _operations(repo: GitRepo) -> Finding:
    """Every operation is in git with the bytes before and after it."""
    operations = list(each_operation(repo, repo.record()))
    lost = _lost(repo, operations)
    if lost:
        hint = "their notes stay as they are; only taking these back is not possible"
        return Finding("operations", "fail", f"git lost what {lost} operations need", hint, Reason.UNDO_CONFLICT)
    return Finding("operations", "ok", f"{len(operations)} operations, each with its bytes before and after")


def _lost(repo: GitRepo, operations: list[Operation]) -> int:
    blobs = [{b for each in one.changes for b in (each.before, each.after) if b} for one in operations]
    known = repo.existing(sorted(set().union(*blobs)))
    return sum(not needed <= known for needed in blobs)


def _synced(place: Place) -> Iterator[Finding]:
    """A repository that a sync program copies file by file breaks sooner or later."""
    if any(place.git_dir.glob("*.sync-conflict-*")) or any(place.git_dir.glob("refs/**/*.sync-conflict-*")):
        hint = "exclude .git from the sync program"
        yield Finding("sync", "warn", "a sync program writes into git's own folder", hint)


def _unfinished(space: Space) -> Iterator[Finding]:
    """No file of ours waits beside a note."""
    found = sorted(space.root.rglob(f"{MARK}*"))
    if found:
        hint = "look at them, and delete them if the notes beside them are right"
        yield Finding("leftovers", "warn", f"{len(found)} files of an unfinished write: {found[0]}", hint)


def _index(space: Space, config: MemoryConfig, generation: int) -> Iterator[Finding]:
    """Compare index and vault. One that cannot be read has a finding of its own."""
    with contextlib.suppress(DatabaseError, VaultReadError):
        database = open_database(index_path(space.state, generation), read_only=True)
        try:
            yield from _truth(indexed_client(config, space.root), database)
        finally:
            database.close()


def _truth(client: VaultClient, database: Database) -> Iterator[Finding]:
    """The index holds the notes of the vault, no others, as they are now, and knows which ones are private."""
    states = file_states(database)
    private = {path for (path,) in database.rows("SELECT source_id FROM memory_documents WHERE sensitive")}
    notes = {path: _read(client, path) for path in client.list()}
    known = {path for path, state in states.items() if state.state == "indexed"}
    off = {path for path, note in notes.items() if note and (path not in known or states[path].etag != note.etag)}
    off |= known - set(notes)
    if off:
        yield Finding("truth", "warn", f"{len(off)} notes differ from what the index knows", "donna index")
    else:
        yield Finding("truth", "ok", f"the index knows all {len(known)} notes as they are")
    secret = {path for path, note in notes.items() if note and note.sensitivity is not Sensitivity.PUBLIC}
    unknown = (secret & known) - private - off
    if unknown:
        hint = "donna index --full"
        yield Finding("private", "fail", f"{len(unknown)} private notes are not known as such", hint)
    else:
        yield Finding("private", "ok", f"{len(secret)} notes are private, and known to be")


def _read(client: VaultClient, path: str) -> VaultNote | None:
    try:
        return client.read(path)
    except VaultReadError:
        return None
