"""Show a plan before it is applied, and keep unsaved edits."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Awaitable, Callable, Coroutine, Iterable, Iterator
from dataclasses import replace
from functools import partial, wraps
from typing import Concatenate, ParamSpec, TypeVar

from textual.screen import Screen
from textual.widget import Widget

from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.lib.error_messages import Refusal, refusal_of
from donna_tui.tui.lib.humanize import count, short_root
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.vault.plan_dialog import Answer, PlanScreen, Proposal
from donna_tui.tui.vault.wording import done_words
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.notes import Edit, NoteRow, NoteState, NoteText
from donna_tui.vault.note.diff import FileDiff, diff_changes
from donna_tui.vault.write.changes import OperationKind, Outcome, Plan

T = TypeVar("T")

TRANSIENT = (Reason.CONFLICT, Reason.GIT_LOCKED, Reason.GIT_BUSY, Reason.BUSY, Reason.DISK_FULL, Reason.IO_ERROR)
"""Reasons that may be temporary, so that a retry is offered."""

SOON_SECONDS = 0.5
"""Seconds that a write takes at most, unless another program holds a lock of the repository."""

F = TypeVar("F", bound="PlanFlow")
P = ParamSpec("P")
Flow = Callable[Concatenate[F, P], Coroutine[None, None, T | None]]


def retried(undone: str) -> Callable[[Flow[F, P, T]], Flow[F, P, T]]:
    """Run a flow as `PlanFlow._retrying` does."""

    def decorate(flow: Flow[F, P, T]) -> Flow[F, P, T]:
        @wraps(flow)
        async def run(flows: F, /, *args: P.args, **kwargs: P.kwargs) -> T | None:
            return await flows._retrying(partial(flow, flows, *args, **kwargs), undone)

        return run

    return decorate


class PlanFlow:
    """Base of the operations that change a vault from a pane. Its methods must run in a worker."""

    def __init__(self, pane: Widget, backend: Backend) -> None:
        self._pane = pane
        self._backend = backend

    async def _retrying(
        self,
        do: Callable[[], Awaitable[T | None]],
        undone: str = "written",
        raises: Callable[[DonnaError], bool] = lambda error: False,
    ) -> T | None:
        """Show a refusal to the user instead of raising DonnaError, and run `do` again if the user chooses to retry.

        `undone` is what was not done, for the title: `Not deleted`. Errors for which `raises` is true are raised.
        """
        while True:
            try:
                return await do()
            except DonnaError as error:
                if raises(error):
                    raise
                if not await self._refused(error, undone=undone):
                    return None

    async def _planned(self, make: Callable[[], Awaitable[Plan]], remarks: tuple[str, ...] = ()) -> Outcome | None:
        plan = await make()
        if not plan.changes:
            self._report("Nothing would change.")
            return None
        return await self._offer(Proposal(plan, remarks))

    _with_retry = retried("written")(_planned)

    async def _carry_out(
        self, plan: Plan, do: Callable[[Plan], Awaitable[Outcome]] | None = None, *, reports: bool = True
    ) -> Outcome | None:
        """Apply a reviewed plan, after asking for consent where needed. Raises DonnaError.

        Consent is needed for the first repository of a vault, and for the first commit of a note that git ignores as
        private.
        """

        async def carry_out(plan: Plan) -> Outcome:
            with self.waiting():
                outcome = await (do or self._backend.notes.apply_plan)(plan)
            if outcome.changed and reports:
                await self._report_change(plan, outcome)
            return outcome

        try:
            return await carry_out(plan)
        except DonnaError as error:
            if error.reason not in (Reason.NO_REPOSITORY, Reason.WOULD_TRACK):
                raise
            refused = error
        if refused.reason is Reason.NO_REPOSITORY:
            if await self.creates_repository():
                return await carry_out(plan)
            self._report("Nothing was written: without a git repository it could not be undone.")
            return None
        agreed = await self._agrees(refusal_of(refused), "commit it to git")
        return await carry_out(replace(plan, may_track=True)) if agreed else None

    async def _report_change(self, plan: Plan, outcome: Outcome) -> None:
        """Report the change, its size and the undo key in one line, and for a private note the place of its history."""
        diffs = await asyncio.to_thread(diff_changes, plan.changes)
        key, does = ("vault.redo", "redo") if plan.kind is OperationKind.UNDO else ("vault.undo", "undo")
        parts = [done_words(plan), line_changes(diffs), f"{shown_key(key)} {does}"]
        private = "Private: recorded only in refs/donna/operations, not on your branch." if outcome.record_only else ""
        self._report("\n".join(filter(None, (" · ".join(filter(None, parts)), private))))

    @contextlib.contextmanager
    def waiting(self) -> Iterator[None]:
        """Report that git is being waited for while the block runs, unless it is soon done."""
        timer = self._pane.set_timer(SOON_SECONDS, partial(self._report, "Waiting for git …"))
        try:
            yield
        finally:
            timer.stop()

    async def creates_repository(self) -> bool:
        """Ask whether to create a repository in the vault, and create it. Raises DonnaError."""
        refusal = refusal_of(DonnaError(Reason.NO_REPOSITORY, ""))
        refusal = replace(refusal, title=f"Create a repository in {short_root(self._backend.status().root)}?")
        agreed = await self._agrees(refusal, "create", leaves="not now")
        if agreed:
            with self.waiting():
                await self._backend.notes.create_repository()
        return agreed

    async def _confirm(self, proposal: Proposal) -> Answer | None:
        return await self._prompt(PlanScreen(proposal))

    async def _offer(
        self, proposal: Proposal, do: Callable[[Plan], Awaitable[Outcome]] | None = None
    ) -> Outcome | None:
        """Show a plan, and apply it if the user confirms. Raises DonnaError."""
        answer = await self._confirm(proposal)
        return await self._carry_out(proposal.plan, do) if answer is Answer.DO else None

    async def _refused(self, error: DonnaError, *, undone: str = "written") -> bool:
        """Show a refusal. Return True if the user chooses to retry."""
        refusal = refusal_of(error)
        refusal = replace(refusal, title=refusal.title.replace("Not written", f"Not {undone}"))
        return await self._agrees(refusal, "try again" if error.reason in TRANSIENT else "")

    async def _agrees(self, refusal: Refusal, does: str, *, leaves: str = "") -> bool:
        """Show a refusal or a question. Return True if the user chooses what enter `does`."""
        agreed = await self._prompt(RefusalScreen(refusal, does=does, leaves=leaves))
        return bool(agreed)

    async def _prompt(self, screen: Screen[T | None]) -> T | None:
        return await self._pane.app.push_screen_wait(screen)

    def _report(self, text: str) -> None:
        if text:
            self._pane.notify(text, timeout=4)


def line_changes(diffs: tuple[FileDiff, ...]) -> str:
    """Format the number of added and removed lines: `+1 −0`."""
    added, removed = sum(diff.added for diff in diffs), sum(diff.removed for diff in diffs)
    return f"+{count(added)} −{count(removed)}" if added or removed else ""


class UnsavedEdits:
    """Unsaved edits by path. An edit is removed only by a user action or a completed write.

    `in_memory_only` are the edits that could not be saved to disk and would be lost on exit.
    """

    def __init__(self, backend: Backend) -> None:
        self._backend = backend
        self._edits: dict[str, Edit] = {}
        self.in_memory_only: dict[str, Edit] = {}

    @property
    def paths(self) -> tuple[str, ...]:
        return tuple(self._edits)

    def of(self, path: str) -> Edit | None:
        return self._edits.get(path)

    async def find(self) -> None:
        """Load the edits of an earlier run. Raises DonnaError."""
        for edit in await self._backend.notes.unsaved_edits():
            self._edits.setdefault(edit.path, edit)

    async def store(self, edit: Edit) -> None:
        """Save an edit. Raises DonnaError if it is kept in memory only."""
        self._edits[edit.path] = edit
        self.in_memory_only[edit.path] = edit
        await self._backend.notes.save_edit(edit)
        self.in_memory_only.pop(edit.path, None)

    async def renamed(self, old: str, new: str) -> None:
        """Let the edit of a note follow it to another path. Raises DonnaError."""
        edit = self.of(old)
        if edit is not None and self.of(new) is None:
            await self.store(replace(edit, path=new))
            await self.drop(old)

    async def drop(self, path: str) -> None:
        self.in_memory_only.pop(path, None)
        self._edits.pop(path, None)
        await self._backend.notes.drop_edit(path)

    def marked(self, notes: Iterable[NoteRow]) -> tuple[NoteRow, ...]:
        """Mark the rows of notes with an unsaved edit, and add a row for each edit of a missing note."""
        rows = {note.path: note for note in notes}
        for path in self._edits:
            row = rows.get(path, NoteRow(path=path))
            rows[path] = replace(row, states=row.states | {NoteState.UNWRITTEN})
        return tuple(rows.values())

    def as_note(self, path: str) -> NoteText | None:
        edit = self._edits.get(path)
        return NoteText(path=path, text=edit.text, etag=edit.etag or "") if edit else None
