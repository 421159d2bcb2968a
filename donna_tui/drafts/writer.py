"""Write the note of an occasion exactly once, even after a crash or a retry."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import Any
from weakref import WeakValueDictionary

from donna_tui.drafts import queue
from donna_tui.drafts.drafters import EXTRACTIVE, Answer, Composed, Drafter, extract
from donna_tui.drafts.page import Context, DraftJob, Page
from donna_tui.drafts.queue import DraftSources, Entry, is_of
from donna_tui.drafts.renderer import VaultTemplateRenderer
from donna_tui.drafts.text import MAX_NAMES, numbered, whole_note
from donna_tui.memory.db_thread import DbThread
from donna_tui.memory.facts import new_id
from donna_tui.types.draft_events import AutowriteFailed, AutowriteSkipped, Autowritten
from donna_tui.types.drafts import DraftState
from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.types.events import EventHub
from donna_tui.vault.client import VaultClient
from donna_tui.vault.note.read import DRAFT_KEY
from donna_tui.vault.write.changes import OWN_ACTOR, has_etag
from donna_tui.vault.write.durable import refused_write
from donna_tui.vault.write.writer import VaultWriter

NOTHING = "nothing"
"""Reason of a skipped day or week without content."""


@dataclass(frozen=True, slots=True)
class WriteResult:
    """The result of a run. `reason` is `idempotent` or `nothing` if nothing was written, or the error."""

    path: str
    sha: str | None = None
    skipped: bool = False
    reason: str | None = None
    draft: str = ""


class _NoMaterialError(Exception):
    """Raised if there is no material for a note."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MemoryInformedWriter:
    """The writer of a space. `find` returns the indexed notes of an occasion.

    Concurrent runs of one occasion are serialised; the second finds the result of the first.
    """

    renderer: VaultTemplateRenderer
    vault_client: VaultClient
    vault_writer: VaultWriter
    drafter: Drafter
    db: DbThread
    hub: EventHub
    find: Callable[[str], Awaitable[list[str]]]
    clock: Callable[[], float] = field(default=time.time)
    reached: Callable[[str], None] = field(default=lambda _: None)
    """Called with the name of each completed step."""
    _running: WeakValueDictionary[tuple[str, str], asyncio.Lock] = field(
        default_factory=WeakValueDictionary, init=False
    )

    async def run(self, job: DraftJob, actor: str = OWN_ACTOR) -> WriteResult:
        """Write the note of an occasion unless it exists, at any path. Never raises DonnaError.

        A failure is stored with its reason and retried by a later run once its back-off is over; an answer that was
        paid for is reused.
        """
        async with self._running.setdefault((job.template, job.key), asyncio.Lock()):
            return await self._run(job, actor)

    async def preview(self, job: DraftJob) -> tuple[str, DraftSources]:
        """Render the note as it would be written now, without a model and without writing it. Raises DonnaError."""
        context = await job.gather()
        page, note = await self._drawn(job, context, extract(context.task), EXTRACTIVE)
        return note, page.sources

    async def _run(self, job: DraftJob, actor: str) -> WriteResult:
        fresh = Entry(
            id=new_id(), skill=job.template, key=job.key, title=job.title, state=queue.COMPOSING,
            target=job.target_path, created_at=self.clock(),
        )  # fmt: skip
        entry = await self.db.run(lambda db: queue.begin(db, fresh))
        self.reached("begun")
        if entry.is_finished or await self._adopt(job, entry):
            self.hub.post(AutowriteSkipped(template=job.template, key=job.key, path=entry.path or job.effective_path))
            return WriteResult(entry.path or job.effective_path, skipped=True, reason="idempotent", draft=entry.id)
        try:
            if not entry.original:
                entry = await self._composed(job, entry)
            path, sha = await asyncio.to_thread(self._put, job, entry, actor)
            self.reached("written")
            state = DraftState.APPROVED if job.autonomy == "high" else DraftState.WAITING
            await self._save(replace(entry, state=state.value, path=path, reason="", detail="", next_try=None))
            self.hub.post(Autowritten(template=job.template, key=job.key, path=path))
            return WriteResult(path, sha, draft=entry.id)
        except _NoMaterialError:
            await self.db.run(lambda db: queue.drop(db, entry.id))
            return WriteResult(job.effective_path, skipped=True, reason=NOTHING)
        except DonnaError as error:
            return await self._failed(job, entry, error)
        except OSError as error:
            return await self._failed(job, entry, refused_write(error, job.effective_path))

    async def _adopt(self, job: DraftJob, entry: Entry) -> bool:
        """Check whether the note of the occasion exists, and adopt it.

        It may be from an interrupted run, or from before the queue knew of it.
        """
        known = await self.find(job.key)
        candidates = dict.fromkeys([*filter(None, [entry.path]), job.effective_path, job.target_path, *known])
        for path in candidates:
            front = await asyncio.to_thread(self._front, path)
            if front is not None and is_of(front, job.template, job.key):
                state = DraftState.WAITING if front.get(DRAFT_KEY) else DraftState.APPROVED
                await self._save(replace(entry, state=state.value, path=path, reason="", detail="", next_try=None))
                return True
        return False

    def _front(self, path: str) -> dict[str, Any] | None:
        note = self.vault_client.try_read(path)
        return note.frontmatter.data if note else None

    async def _composed(self, job: DraftJob, entry: Entry) -> Entry:
        """Compose the whole text, and store it before the note is written."""
        context = await job.gather()
        if context.is_empty:
            raise _NoMaterialError
        self.reached("gathered")
        entry, answer, remarks = await self._answered(context, entry)
        is_extracted = entry.drafter == EXTRACTIVE  # an empty answer of a model is kept, so that it is not bought again
        if context.needs_answer and is_extracted and not any(answer.model_dump().values()):
            raise _NoMaterialError
        page, note = await self._drawn(job, context, answer, entry.drafter)
        self.reached("rendered")
        sources = replace(page.sources, remarks=(*remarks, *page.sources.remarks))
        ready = replace(entry, state=queue.READY, original=note, evidence=sources.dumped(), sensitive=page.is_private)
        return await self._save(ready)

    async def _answered(self, context: Context, entry: Entry) -> tuple[Entry, Answer, tuple[str, ...]]:
        """Return the stored or a new answer. If the model fails, the answer is extracted from the notes."""
        if entry.answer:
            return entry, context.task.schema.model_validate_json(entry.answer), ()
        remarks: tuple[str, ...] = ()
        try:
            composed: Composed = await self.drafter.compose(context.task)
        except DonnaError as error:
            if error.reason not in (Reason.MODEL_CALL_FAILED, Reason.EGRESS_REFUSED):
                raise
            composed = Composed(extract(context.task))
            remarks = (f"Drafted from your notes only: {error.message}",)
        self.reached("composed")
        saved = await self._save(replace(
            entry, answer=composed.answer.model_dump_json(), drafter=composed.drafter, cost=composed.cost
        ))  # fmt: skip
        self.reached("answered")
        return saved, composed.answer, remarks

    async def redraft(self, job: DraftJob, entry: Entry) -> Entry:
        """Compose a draft again, and return its entry with the new text as `original`, without writing or saving it.

        Raises DonnaError if there is nothing to draft from, or the model fails; the draft is then unchanged.
        """
        context = await job.gather()
        if context.is_empty:
            raise DonnaError(Reason.MISSING, "there is nothing left to draft from")
        composed: Composed = await self.drafter.compose(context.task)
        page, note = await self._drawn(job, context, composed.answer, composed.drafter)
        return replace(
            entry, original=note, answer=composed.answer.model_dump_json(), evidence=page.sources.dumped(),
            drafter=composed.drafter, cost=entry.cost + composed.cost, sensitive=page.is_private,
        )  # fmt: skip

    async def _drawn(self, job: DraftJob, context: Context, answer: Answer, drafter: str) -> tuple[Page, str]:
        page = await asyncio.to_thread(Page.of, job, context, answer, drafter, is_note=self._is_note)
        return page, await asyncio.to_thread(self._rendered, page)

    def _rendered(self, page: Page) -> str:
        now = time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime(self.clock()))
        front = page.frontmatter if page.job.autonomy == "high" else {**page.frontmatter, "autowritten_at": now}
        data = {**page.context.data, "llm": page.shown, "now_iso": now, "frontmatter": front}
        body, metadata = self.renderer.render(page.job.template, data)
        return whole_note(metadata, body)

    def _is_note(self, path: str) -> bool:
        try:
            self.vault_client.stat(path)
        except DonnaError:
            return False
        return True

    def _put(self, job: DraftJob, entry: Entry, actor: str) -> tuple[str, str]:
        """Write the note under the first free name, and return its path and the commit; other notes are never
        overwritten.
        """
        for path in numbered(job.effective_path):
            try:
                plan = self.vault_writer.planner.write(path, entry.original, expected=has_etag(None))
            except VaultWriteError as error:
                if error.reason is not Reason.CONFLICT:
                    raise
                if is_of(self._front(path) or {}, job.template, job.key):
                    return path, ""  # another process was faster
                continue
            outcome = self.vault_writer.apply(replace(plan, subject=f"Draft {path}"), actor=actor)
            return path, outcome.commit
        raise DonnaError(Reason.CONFLICT, f"there are {MAX_NAMES} notes named {job.effective_path}")

    async def _failed(self, job: DraftJob, entry: Entry, error: DonnaError) -> WriteResult:
        known = await self.db.run(lambda db: queue.of_id(db.database, entry.id)) or entry
        now = self.clock()
        await self.db.run(lambda db: queue.fail(db, known, error.reason.value, error.message, now))
        path = job.effective_path
        self.hub.post(AutowriteFailed(template=job.template, key=job.key, path=path, reason=error.reason.value))
        return WriteResult(path, skipped=True, reason=error.message, draft=entry.id)

    async def _save(self, entry: Entry) -> Entry:
        return await self.db.run(lambda db: queue.save(db, entry))
