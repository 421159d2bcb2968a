"""The vault as a source: read a note, convert it to a document and store it. Runs on the writer's thread."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from donna_tui.index.documents import Document
from donna_tui.index.files import FileState, file_state, forget_state, save_state, with_etag
from donna_tui.index.generations import Recipe
from donna_tui.index.store import MemoryStore
from donna_tui.ingest.queue import Job
from donna_tui.ingest.reconcile import UNREADABLE
from donna_tui.safety.classify import Sensitivity
from donna_tui.text.chunker import CHUNKER_VERSION, Chunk, chunk_markdown
from donna_tui.text.tokens import TokenCounter
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.types.events import NoteDeleted, NoteFailed, NoteIndexed, NoteRenamed, NoteSkipped, StageTimes
from donna_tui.types.search import MemorySource
from donna_tui.vault.client import NoteStat, ScannedFile, VaultClient, VaultNote
from donna_tui.vault.note.read import DRAFT_KEY, properties_of

if TYPE_CHECKING:
    from donna_tui.memory.indexer import MemoryIndexer


@dataclass(frozen=True, slots=True)
class NoteChunker:
    """Split notes for a model with a window of `window` tokens; adjacent passages share `overlap` tokens."""

    counter: TokenCounter
    window: int
    overlap: int

    @property
    def recipe(self) -> Recipe:
        """Return a recipe that changes whenever notes would be split differently."""
        return Recipe(f"{CHUNKER_VERSION}:{self.counter.name}:{self.window}:{self.overlap}")

    def __call__(self, document: Document) -> list[Chunk]:
        return chunk_markdown(
            document.text,
            start=document.body_start,
            title=document.title,
            counter=self.counter,
            max_tokens=self.window,
            overlap=self.overlap,
        )


FIRST_RETRY_SECONDS = 5.0
LONGEST_RETRY_SECONDS = 600.0
PLAUSIBLE_SECONDS = 5.0

IngestEvent = NoteIndexed | NoteSkipped | NoteFailed | NoteRenamed | NoteDeleted

Outcome = IngestEvent | Literal["unchanged", "missing"]
"""The event of a file; `unchanged` if it was only touched. A `missing` one may have moved, or it was deleted."""


def document_of(note: VaultNote) -> Document:
    from donna_tui.vault.links.spans import extract_links  # an unchanged vault does not need it

    return Document(
        source_type=MemorySource.VAULT,
        source_id=note.path,
        title=note.title,
        text=note.text,
        body_start=note.body_start,
        uri=f"vault:{note.path}",
        aliases=note.aliases,
        tags=note.tags,
        properties=properties_of(note.frontmatter.data),
        links=tuple(extract_links(note.content)),
        note_type=note.note_type,
        modified_at=note.mtime,
        dated_at=note.dated_at,
        sensitive=note.sensitivity is not Sensitivity.PUBLIC,
        draft=bool(note.frontmatter.data.get(DRAFT_KEY)),
        metadata={
            "mtime": note.mtime,
            "size": note.size,
            "tags": list(note.tags),
            "aliases": list(note.aliases),
            "type": note.note_type,
            "frontmatter": note.frontmatter.data,
        },
    )


class VaultSource:
    """Keep documents and file states consistent with the files. Every method is one short piece of work.

    The file state is written last: after a crash before it, the next comparison finds the file again.
    """

    def __init__(
        self, client: VaultClient, store: MemoryStore, chunk: Callable[[Document], list[Chunk]], memory: MemoryIndexer
    ) -> None:
        self._client, self._store, self._chunk, self._memory = client, store, chunk, memory

    def ingest(self, job: Job) -> Outcome:
        """Update the index for one path. Raises DatabaseError, and VaultReadError if the whole vault is missing."""
        known, started = file_state(self._store.database, job.path), time.perf_counter()
        try:
            try:
                note = self._client.read(job.path)
            except VaultReadError as error:
                return self._unreadable(job, known, error)
            state = self._state_of(note)
            if known and known.state == "indexed" and known.etag == note.etag and job.why != "rebuild":
                if known.mtime_ns != state.mtime_ns:  # only the times: nothing is split or embedded
                    self._store.upsert(document_of(note))
                    self._memory.stored(note)
                save_state(self._store.database, state)
                return "unchanged"
            return self._store_note(job, note, state, known, read_ms=_since(started))
        except DonnaError:
            raise
        except Exception as error:
            # An unexpected error while reading a note must not prevent others from being indexed.
            return self._failed(job, known, Reason.INTERNAL, f"reading it failed ({type(error).__name__})")

    def remove(self, path: str) -> NoteDeleted | None:
        was_listed = file_state(self._store.database, path) is not None  # perhaps as a file that is not indexed
        self._memory.removed(path)
        known = self._store.delete(MemorySource.VAULT, path)
        forget_state(self._store.database, path)
        return NoteDeleted(path=path) if known or was_listed else None

    def skip(self, entry: ScannedFile) -> NoteSkipped:
        """Record that a file is not indexed, and why; its document, if any, is removed."""
        reason = entry.reason or Reason.IGNORED
        self._memory.removed(entry.path)
        self._store.delete(MemorySource.VAULT, entry.path)
        state = FileState(path=entry.path, state="skipped", reason=reason, message=entry.message)
        if stat := entry.stat:
            state = replace(state, size=stat.size, mtime_ns=stat.mtime_ns, ctime_ns=stat.ctime_ns, inode=stat.inode)
        save_state(self._store.database, state)
        return NoteSkipped(path=entry.path, reason=reason, message=entry.message)

    def _store_note(
        self, job: Job, note: VaultNote, state: FileState, known: FileState | None, *, read_ms: float
    ) -> IngestEvent:
        document = document_of(note)
        moved_from = None if known else self._moved_from(note)
        if moved_from:
            self._store.rename(moved_from, document)
            self._memory.stored(note)  # before the removal, so that tasks in both keep their vectors
            self._memory.removed(moved_from)
            forget_state(self._store.database, moved_from)
            save_state(self._store.database, state)
            return NoteRenamed(path=note.path, old_path=moved_from)
        started = time.perf_counter()
        chunks = self._chunk(document)
        chunk_ms, started = _since(started), time.perf_counter()
        stored = self._store.upsert(document, chunks)
        self._memory.stored(note)
        save_state(self._store.database, state)
        stages = StageTimes(read=read_ms, chunk=chunk_ms, store=_since(started))
        found_after_ms = None
        if job.noticed_at is not None:  # the time of the save is the file's mtime, if that is plausible
            is_plausible = job.noticed_at - PLAUSIBLE_SECONDS < note.mtime <= job.noticed_at
            found_after_ms = (time.time() - (note.mtime if is_plausible else job.noticed_at)) * 1000
        return NoteIndexed(
            path=job.path,
            why="metadata" if stored.unchanged else job.why if known else "new",
            chunks=stored.chunks,
            embedded=stored.embedded,
            stages=stages,
            found_after_ms=found_after_ms,
        )

    def _moved_from(self, note: VaultNote) -> str | None:
        """Find the one missing note that had these bytes. Duplicates are distinguished by their inode."""
        missing = [state for state in with_etag(self._store.database, note.etag) if self._stat(state.path) is None]
        same_inode = [state for state in missing if state.inode == note.stat.inode]
        candidates = same_inode or missing
        return candidates[0].path if len(candidates) == 1 else None

    def _stat(self, path: str) -> NoteStat | None:
        try:
            return self._client.stat(path)
        except VaultReadError:
            return None

    def _unreadable(self, job: Job, known: FileState | None, error: VaultReadError) -> Outcome:
        if error.reason is Reason.ROOT_MISSING:
            raise error
        if error.reason is Reason.MISSING or (error.reason not in UNREADABLE and self._client.is_gone(job.path)):
            return "missing"
        if error.reason not in UNREADABLE:
            stat = self._stat(job.path)
            return self.skip(ScannedFile(path=job.path, stat=stat, reason=error.reason, message=error.message))
        return self._failed(job, known, error.reason, error.message)

    def _failed(self, job: Job, known: FileState | None, reason: Reason, message: str) -> NoteFailed:
        """Record a failure; what was indexed of the note stays searchable until a later attempt succeeds."""
        attempts = (known.attempts if known else 0) + 1
        next_try = time.time() + min(LONGEST_RETRY_SECONDS, FIRST_RETRY_SECONDS * 2.0 ** (attempts - 1))
        before = replace(known, checked_at=0.0) if known else FileState(path=job.path, state="failed")
        state = replace(before, state="failed", reason=reason, message=message, attempts=attempts, next_try=next_try)
        save_state(self._store.database, state)
        return NoteFailed(path=job.path, reason=reason, message=message, next_try=next_try)

    @staticmethod
    def _state_of(note: VaultNote) -> FileState:
        problem = note.frontmatter.problem
        return FileState(
            path=note.path,
            state="indexed",
            reason=Reason.INVALID_FRONTMATTER if problem else "",
            message=problem,
            size=note.stat.size,
            mtime_ns=note.stat.mtime_ns,
            ctime_ns=note.stat.ctime_ns,
            inode=note.stat.inode,
            etag=note.etag,
        )


def _since(started: float) -> float:
    return (time.perf_counter() - started) * 1000
