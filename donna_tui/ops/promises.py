"""Check Donna's promises about the vault and its history (docs/promises.md), as a part of `donna doctor`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

from donna_tui.config.models import MemoryConfig
from donna_tui.index.database import Database, open_database
from donna_tui.index.files import file_states
from donna_tui.index.generations import current_generation, index_path
from donna_tui.memory.database import db_path, erasure_mark
from donna_tui.ops.finding import Finding
from donna_tui.platform.spaces import Space
from donna_tui.safety.classify import Sensitivity
from donna_tui.text.plural import plural
from donna_tui.types.errors import DatabaseError, DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.vault.client import VaultClient
from donna_tui.vault.edit_drafts import EditDrafts
from donna_tui.vault.git.operations import each_operation
from donna_tui.vault.git.repository import GitRepo
from donna_tui.vault.open import indexed_client, open_writer
from donna_tui.vault.write.changes import OperationKind
from donna_tui.vault.write.orphans import Fate, Restored, find_orphans


def examine_promises(space: Space, config: MemoryConfig) -> Iterator[Finding]:
    """Report about writing and history, then about index and vault."""
    yield from _history(space, config)
    yield from _orphans(space)
    yield from _edits(space)
    generation = current_generation(space.state)
    yield from _erasures(space, generation)
    if generation is not None:
        yield from _index(space, config, generation)


def _history(space: Space, config: MemoryConfig) -> Iterator[Finding]:
    writer = open_writer(config, space)
    try:
        place = writer.repo.find()
        if place is None:
            yield Finding("history", "ok", "the vault has no git repository; Donna asks before creating one")
            return
        if trouble := writer.recover():
            message = f"{trouble.path}: {trouble.message}"
            yield Finding("writes", "warn", message, trouble.hint or "", trouble.reason)
        else:
            yield Finding("writes", "ok", "there are no interrupted writes")
        yield from _operations(writer.repo)
        if any(place.git_dir.glob("*.sync-conflict-*")) or any(place.git_dir.glob("refs/**/*.sync-conflict-*")):
            # which copies the repository file by file, and so corrupts it sooner or later
            hint = "exclude .git from the sync program"
            yield Finding("sync", "warn", "a sync program writes into the .git folder", hint)
    except DonnaError as error:
        yield Finding("history", "fail", error.message, error.hint or "", error.reason)


def _operations(repo: GitRepo) -> Iterator[Finding]:
    """Check that git has the bytes before and after every operation, and list text displaced by interrupted writes."""
    records = list(each_operation(repo, repo.record()))
    records_kept = [each for each in records if each.kind is OperationKind.KEPT]
    operations = [each for each in records if each.kind is not OperationKind.KEPT]
    blobs = [{b for each in one.changes for b in (each.before, each.after) if b} for one in operations]
    known = repo.existing(sorted(set().union(*blobs)))
    lost = sum(not needed <= known for needed in blobs)
    if lost:
        hint = "their notes are not affected, but these operations cannot be undone"
        message = f"git lost data of {plural(lost, 'operation')}"
        yield Finding("operations", "fail", message, hint, Reason.UNDO_CONFLICT)
    else:
        yield Finding("operations", "ok", f"{plural(len(operations), 'operation')}, all complete in git")
    if records_kept:
        newest = records_kept[0]
        many = f"{len(records_kept)} interrupted writes had displaced text, which is saved"
        yield Finding("saved text", "ok", f"{many}; the newest was in {newest.paths[0]}", f"donna diff {newest.id}")


def _orphans(space: Space) -> Iterator[Finding]:
    """Report files of unfinished writes, which may be the only copy of a text."""
    for path in find_orphans(space.root):
        message = f"{path} is from an unfinished write, and may contain the only copy of a text"
        yield Finding("leftovers", "warn", message, "donna doctor --repair restores it")


def restore_orphans(space: Space, config: MemoryConfig) -> Iterator[Finding]:
    """Restore the text of such files to the name of its note if that is free, or else to a copy next to it."""
    try:
        for each in open_writer(config, space).restore_orphans():
            yield _restored(each)
    except DonnaError as error:
        yield Finding("repair", "fail", error.message, error.hint or "", error.reason)


def _restored(what: Restored | VaultWriteError) -> Finding:
    if isinstance(what, VaultWriteError):
        return Finding("repair", "fail", f"{what.path}: {what.message}", what.hint or "", what.reason)
    if what.fate is Fate.REMOVED:
        return Finding("repair", "ok", f"{what.path} was removed: its text is in the note or in git")
    if what.fate is Fate.RESTORED:
        return Finding("repair", "ok", f"{what.note} is restored from {what.path}")
    hint = "compare it with the note beside it, then delete the one that you do not need"
    return Finding("repair", "ok", f"the text of {what.path} is in {what.note} now", hint)


def _edits(space: Space) -> Iterator[Finding]:
    """Report edits in an editor or on the screen that are not written."""
    unsaved = EditDrafts(space.state / "edits")
    for edit in unsaved.edits():
        hint = "open it in the Vault screen: e continues it, X discards it"
        yield Finding("edits", "warn", f"unsaved edit of {edit.path}", hint)
    for copy in unsaved.copies():
        if not copy.is_open and (copy.text is None or copy.beside):
            beside = f", with {', '.join(copy.beside)}" if copy.beside else ""
            message = f"an editor left a copy of {copy.begun.path} that it did not finish{beside}"
            yield Finding("edits", "warn", message, f"open it in the same editor: {copy.file}")


def _erasures(space: Space, generation: int | None) -> Iterator[Finding]:
    """Check that erased text is in none of Donna's files."""
    paths = [db_path(space.state), *([index_path(space.state, generation)] if generation is not None else [])]
    for path in paths:
        if erasure_mark(path).exists():
            message = f"erased text may still be in {path.name}-wal: another program is reading it"
            yield Finding("erasure", "warn", message, "quit the other Donna; the next start completes it")


def _index(space: Space, config: MemoryConfig, generation: int) -> Iterator[Finding]:
    """Compare index and vault. An unreadable one is reported elsewhere."""
    with (
        contextlib.suppress(DatabaseError, VaultReadError),
        contextlib.closing(open_database(index_path(space.state, generation), read_only=True)) as database,
    ):
        yield from _truth(indexed_client(config, space.root), database)


def _truth(client: VaultClient, database: Database) -> Iterator[Finding]:
    """Check that the index matches the notes of the vault, and marks the private ones."""
    states = file_states(database)
    private = {path for (path,) in database.rows("SELECT source_id FROM memory_documents WHERE sensitive")}
    known = {path for path, state in states.items() if state.state == "indexed"}
    off, secret = set(known), set[str]()
    for path in client.list():
        off.discard(path)
        with contextlib.suppress(VaultReadError):
            note = client.read(path)
            if path not in known or states[path].etag != note.etag:
                off.add(path)
            if note.sensitivity is not Sensitivity.PUBLIC:
                secret.add(path)
    if off:
        yield Finding(
            "notes", "warn", f"{plural(len(off), 'note differs', 'notes differ')} from the index", "donna index"
        )
    else:
        yield Finding("notes", "ok", f"the index is up to date with {plural(len(known), 'note')}")
    unknown = (secret & known) - private - off
    if unknown:
        hint = "donna index --full"
        yield Finding(
            "private",
            "fail",
            f"{plural(len(unknown), 'private note is', 'private notes are')} not marked so in the index",
            hint,
        )
    else:
        yield Finding(
            "private", "ok", f"{plural(len(secret), 'note is', 'notes are')} private, and marked so in the index"
        )
