"""Read, change and undo notes for the screens, on a dedicated thread."""

from __future__ import annotations

import asyncio
import codecs
import contextlib
import json
from collections.abc import Callable, Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from typing import Any, Concatenate, ParamSpec, TypeVar

from donna_tui.engine.space_context import SpaceContext
from donna_tui.index.database import Database
from donna_tui.index.files import file_states
from donna_tui.safety.classify import Sensitivity, classify
from donna_tui.text.merge import has_conflict_markers
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.events import EventHub
from donna_tui.types.memory_events import VaultWritten
from donna_tui.types.notes import Destination, NoteLinks, NoteRow, NoteState, NoteText
from donna_tui.vault.client import ScannedFile
from donna_tui.vault.edit_drafts import EditDrafts, edited_text
from donna_tui.vault.note.read import DRAFT_KEY
from donna_tui.vault.obsidian import DailyNote, daily_note
from donna_tui.vault.open import open_writer, vault_client
from donna_tui.vault.write.changes import Change, Outcome, Plan, etag_of, has_etag
from donna_tui.vault.write.file_names import EVERYWHERE
from donna_tui.vault.write.writer import LOCAL_ACTOR, OnWritten, VaultWriter

P = ParamSpec("P")
T = TypeVar("T")

LEFT_OUT = "your settings exclude it from the index (sources.vault.ignore_globs)"


class VaultThread:
    """A dedicated thread that reads and writes a vault. Errors of the disk are raised as DonnaError (`io_error`)."""

    def __init__(self, name: str) -> None:
        self._executor = ThreadPoolExecutor(1, thread_name_prefix=name)

    async def run(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        with _disk_errors():
            return await asyncio.get_running_loop().run_in_executor(self._executor, lambda: work(*args, **kwargs))

    async def aside(self, work: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Read on another thread, so that a scan of the vault does not block writes."""
        with _disk_errors():
            return await asyncio.to_thread(work, *args, **kwargs)

    async def close(self) -> None:
        await asyncio.to_thread(self._executor.shutdown, wait=True)


@contextlib.contextmanager
def _disk_errors() -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise DonnaError(Reason.IO_ERROR, f"the vault cannot be read or written ({error.strerror})") from error


def _on_thread(
    find: Callable[[VaultService], Callable[P, T]],
) -> Callable[Concatenate[VaultService, P], Coroutine[Any, Any, T]]:
    """Make a method of the service that runs a method of its writer, or of its unsaved edits, on its thread."""

    async def method(service: VaultService, /, *args: P.args, **kwargs: P.kwargs) -> T:
        return await service._run(find(service), *args, **kwargs)

    return method


class VaultService:
    """The API of the Vault screen. Every method raises only DonnaError. A person reviews each change, at any path."""

    def __init__(self, context: SpaceContext) -> None:
        config, space = context.config, context.space
        self._context = context
        self._client = vault_client(config, space.root)
        self._writer = writer_of(context, allowlist=(EVERYWHERE,))
        self._unsaved = EditDrafts(space.state / "edits")
        self._thread = VaultThread("donna-vault")
        self._run = self._thread.run

    async def recover(self) -> None:
        """Finish or drop interrupted writes; one that cannot be finished now is reported, and retried later."""
        try:
            trouble: DonnaError | None = await self._run(self._writer.recover)
        except DonnaError as error:
            trouble = error
        if trouble is not None:
            self._context.hub.report(trouble)

    async def vault_rows(self) -> tuple[NoteRow, ...]:
        """List every file of the vault that is a note or looks like one, with its states, and the notes that are still
        in git.
        """
        known = await self._context.read(lambda database: _known_notes(database, self._client.sensitive_key))
        return await self._run(self._rows, known)

    async def read_note(self, path: str) -> NoteText:
        return await self._thread.aside(self._note, path)

    async def daily_note(self) -> DailyNote:
        """Return the path and the template of today's daily note."""
        return await self._run(daily_note, self._context.space.root, datetime.now())

    async def follow(self, note: str, written: str, *, is_wiki: bool) -> Destination:
        return await self._thread.aside(self._writer.links.follow, note, written, is_wiki=is_wiki)

    async def links(self, path: str) -> NoteLinks:
        return await self._thread.aside(self._writer.links.links, path)

    async def plan_write(self, path: str, text: str, etag: str | None) -> Plan:
        """Plan the write of a note. Without an etag it must not exist yet."""
        return await self._run(self._writer.planner.write, path, text, expected=has_etag(etag), replace=True)

    async def plan_delete(self, path: str, etag: str, *, unlinks: bool = False) -> Plan:
        """Plan the deletion of a note; `unlinks` also replaces the links to it by their text."""
        return await self._run(self._writer.planner.delete, path, expected=has_etag(etag), links=True, unlinks=unlinks)

    async def plan_move(self, src: str, dst: str, etag: str) -> Plan:
        return await self._run(self._writer.planner.move, src, dst, expected=has_etag(etag))

    history = _on_thread(lambda own: own._writer.history.revisions)
    revision_changes = _on_thread(lambda own: own._writer.history.changes)
    blame = _on_thread(lambda own: own._writer.history.blame)
    outside_change = _on_thread(lambda own: own._writer.history.outside_change)
    whereabouts = _on_thread(lambda own: own._writer.history.whereabouts)
    plan_delete_all = _on_thread(lambda own: own._writer.planner.delete_all)
    plan_move_folder = _on_thread(lambda own: own._writer.planner.move_folder)
    plan_move_into = _on_thread(lambda own: own._writer.planner.move_into)
    why_not_new = _on_thread(lambda own: own._writer.why_not_new)
    empty_folders = _on_thread(lambda own: own._writer.empty_folders)
    create_folder = _on_thread(lambda own: own._writer.create_folder)
    rename_folder = _on_thread(lambda own: own._writer.rename_folder)
    remove_folder = _on_thread(lambda own: own._writer.remove_folder)
    plan_undo = _on_thread(lambda own: own._writer.undo_planner.undo)
    plan_undo_one = _on_thread(lambda own: own._writer.undo_planner.undo_one)
    plan_redo = _on_thread(lambda own: own._writer.undo_planner.redo)
    clashes = _on_thread(lambda own: own._writer.undo_planner.clashes)
    undoable = _on_thread(lambda own: own._writer.undoable)
    redoable = _on_thread(lambda own: own._writer.redoable)
    conflict = _on_thread(lambda own: own._writer.resolver.conflict)
    plan_resolution = _on_thread(lambda own: own._writer.resolver.plan)
    apply_plan = _on_thread(lambda own: own._writer.apply)
    commit_version = _on_thread(lambda own: own._writer.commit_version)
    plan_since = _on_thread(lambda own: own._writer.plan_since)
    plan_outside = _on_thread(lambda own: own._writer.plan_outside)
    create_repository = _on_thread(lambda own: own._writer.init_if_missing)
    unsaved_edits = _on_thread(lambda own: own._unsaved.edits)
    save_edit = _on_thread(lambda own: own._unsaved.store)
    begin_edit = _on_thread(lambda own: own._unsaved.begin)
    drop_edit = _on_thread(lambda own: own._unsaved.drop)
    edited_text = _on_thread(lambda own: edited_text)

    async def close(self) -> None:
        await self._thread.close()

    def _rows(self, known: dict[str, frozenset[NoteState]]) -> tuple[NoteRow, ...]:
        entries = list(self._client.scan())
        outside = {
            path: is_tracked
            for path, is_tracked in self._outside().items()
            if is_tracked or path in known or not self._is_private(path)
        }
        judged = (self._judged(entry) for entry in sorted(entries, key=lambda entry: entry.path))
        marked = frozenset(path for path, is_known in outside.items() if is_known and self._has_markers(path))
        gone = sorted({path for path, is_known in outside.items() if is_known} - {entry.path for entry in entries})
        deleted = (NoteRow(path=path, states=frozenset({NoteState.DELETED})) for path in gone)
        return (*(_row(entry, known, outside, marked) for entry in judged), *deleted)

    def _is_private(self, path: str) -> bool:
        note = self._client.try_read(path)
        return note is not None and note.sensitivity is not Sensitivity.PUBLIC

    def _has_markers(self, path: str) -> bool:
        note = self._client.try_read(path)
        return note is not None and has_conflict_markers(note.text.encode("utf-8", "surrogatepass"))

    def _judged(self, entry: ScannedFile) -> ScannedFile:
        """Add the reason why an entry is not indexed, including the user's settings."""
        if entry.reason is not None or self._context.client.is_note(entry.path):
            return entry
        return replace(entry, reason=Reason.IGNORED, message=LEFT_OUT)

    def _outside(self) -> dict[str, bool]:
        """Return files with outside changes; empty if the repository cannot be read, which other actions report."""
        try:
            return self._writer.history.outside()
        except DonnaError:
            return {}

    def _note(self, path: str) -> NoteText:
        note = self._client.read(path)
        data = note.text.encode()
        objection = self._writer.rules.objection(Change(path=path, before=data, after=None))
        return NoteText(
            path=path,
            text=note.text,
            etag=note.etag,
            size=note.size,
            mtime=note.mtime,
            sensitivity=note.sensitivity.value,
            lossy=note.lossy,
            is_exact=note.etag in (etag_of(data), etag_of(codecs.BOM_UTF8 + data)),
            problem=note.frontmatter.problem,
            refusal=objection.message if objection else "",
        )


def writer_of(context: SpaceContext, allowlist: tuple[str, ...] | None = None) -> VaultWriter:
    """Open a writer that posts its operations to the hub. `allowlist` replaces the folders that the settings allow."""
    hub = context.hub
    return open_writer(context.config, context.space, announce(hub), on_recovered=hub.report, allowlist=allowlist)


def announce(hub: EventHub) -> OnWritten:

    def post(outcome: Outcome, actor: str, subject: str) -> None:
        hub.post(
            VaultWritten(
                kind=outcome.kind.value,
                operation=outcome.operation,
                commit=outcome.commit,
                paths=outcome.paths,
                actor=actor,
                verb=subject.partition(" ")[0] if actor == LOCAL_ACTOR else "",
            )
        )

    return post


def _known_notes(database: Database, key: str) -> dict[str, frozenset[NoteState]]:
    files = file_states(database)
    states = {
        path: {NoteState.NOT_INDEXED} if file.state == "skipped" else set()
        for path, file in files.items()
        if file.state != "failed"
    }
    rows = database.rows(
        "SELECT source_id, sensitive, metadata_json FROM memory_documents WHERE source_type = 'vault'"
        " AND (sensitive OR json_extract(metadata_json, ?))",
        (f"$.frontmatter.{DRAFT_KEY}",),
    )
    for path, sensitive, metadata in rows:
        front = json.loads(metadata or "{}").get("frontmatter", {})
        flags = states.setdefault(path, set())
        if front.get(DRAFT_KEY):
            flags.add(NoteState.DRAFT)
        if sensitive:
            marked = classify(front, "", key=key) is Sensitivity.DONNA_SENSITIVE
            flags.add(NoteState.SENSITIVE if marked else NoteState.LOCAL_ONLY)
    return {path: frozenset(each) for path, each in states.items()}


def _row(
    entry: ScannedFile, known: dict[str, frozenset[NoteState]], outside: dict[str, bool], marked: frozenset[str]
) -> NoteRow:
    """Return the row of an entry. A private note that git does not track is excluded on purpose, not edited outside."""
    states = set(known.get(entry.path, {NoteState.PENDING}))
    if entry.reason is not None:
        states = {NoteState.CONFLICT if entry.reason is Reason.CONFLICT_COPY else NoteState.NOT_INDEXED}
    is_private = bool(states & {NoteState.LOCAL_ONLY, NoteState.SENSITIVE})
    if outside.get(entry.path, False) or (entry.path in outside and not is_private):
        states.add(NoteState.OUTSIDE)
    if entry.path in marked:
        states.add(NoteState.MARKERS)
    return NoteRow(
        path=entry.path,
        states=frozenset(states),
        detail=entry.message,
        size=entry.stat.size if entry.stat else 0,
        mtime_ns=entry.stat.mtime_ns if entry.stat else 0,
    )
