"""Approve, reject, edit and redraft the selected draft."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Mapping
from functools import partial

from textual import work
from textual.containers import Horizontal
from textual.getters import query_one

from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.dialogs import RefusalScreen, one_dialog
from donna_tui.tui.lib.diff import DiffView
from donna_tui.tui.lib.error_messages import Refusal, told
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.keymap import Keys, shown_key
from donna_tui.tui.lib.messages import EditNote
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.review.approve_all import ApproveAll, Planned
from donna_tui.tui.review.draft_text import DraftText
from donna_tui.tui.review.lists import DraftList, EvidenceList, citation_text, title_of
from donna_tui.tui.review.wording import (
    approval_words,
    lacks_repository,
    note_of,
    parts_out,
    text_without,
    why_none_today,
)
from donna_tui.tui.vault.flows import VaultFlows
from donna_tui.tui.vault.plan_dialog import Answer, PlanScreen, Proposal
from donna_tui.tui.vault.plan_flow import Do, PlanFlow
from donna_tui.tui.vault.wording import why_no_write, why_not_here
from donna_tui.types.drafts import Draft, DraftRow, DraftState
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.notes import NoteText
from donna_tui.vault.write.changes import OperationKind, Outcome, Plan

LeftOut = Mapping[tuple[str, str], frozenset[int]]
"""The hunks that are left out, by the id of a draft and the version of its text in which they are numbered."""


class DraftFlows(PlanFlow):
    """The decisions about drafts. Each must run in a worker."""

    async def approve(self, row: DraftRow, without: frozenset[int], remarks: tuple[str, ...] = ()) -> Outcome | None:
        """Approve a draft without some of its hunks."""
        service = self._backend.drafts

        def shown(plan: Plan) -> Proposal:
            return Proposal(
                title=f"Approve {title_of(row)}",
                does="approve it",
                changes=plan.changes,
                leads=(approval_words(plan, row), *parts_out(len(without))),
                remarks=(*remarks, *plan.remarks),
            )

        make = partial(service.plan_approval, row.id, without=without)
        return await self._decided(make, partial(service.approve, row.id), shown)

    async def reject(self, row: DraftRow) -> Outcome | None:
        """Reject a draft."""
        service = self._backend.drafts

        def shown(plan: Plan) -> Proposal:
            return Proposal(
                title=f"Reject {title_of(row)}",
                does="reject it",
                changes=plan.changes,
                leads=("No draft is written for this occasion again.",),
                remarks=plan.remarks,
            )

        return await self._decided(partial(service.plan_rejection, row.id), partial(service.reject, row.id), shown)

    async def without_repository(self) -> tuple[DraftRow, ...]:
        """Return the drafts that failed because the vault is in no git repository."""
        return tuple(row for row in await self._backend.drafts.drafts() if lacks_repository(row))

    async def agrees_to_compose(self, row: DraftRow) -> bool:
        """Ask whether the existing text may be replaced by a new one."""
        refusal = Refusal(
            Reason.CONFLICT,
            "Compose it again?",
            "The draft is composed anew from what is known now, in the place of this text, with your edits of it.",
            "It is one commit, which can be undone.",
            title_of(row),
        )
        agreed = await self._ask(RefusalScreen(refusal, self._keys, does="compose it"))
        return bool(agreed)

    async def approve_all(self, rows: tuple[DraftRow, ...], left_out: LeftOut) -> None:
        """Show the plan of approving these drafts, and approve those that are not excluded in one commit."""
        service = self._backend.drafts
        without = {row.id: await self._without(row, left_out) for row in rows}
        found = await service.plan_approvals(without)
        planned = tuple(_planned(row, found[row.id], len(without[row.id])) for row in rows)
        await self._ask(ApproveAll(planned, service.approve_all, self._keys))

    async def _without(self, row: DraftRow, left_out: LeftOut) -> frozenset[int]:
        """Return the hunks left out of a draft, if its text is still the version in which they are numbered."""
        if not any(identity == row.id for identity, _ in left_out):
            return frozenset()
        try:
            return left_out.get((row.id, (await self._backend.drafts.draft(row.id)).etag), frozenset())
        except DonnaError:
            return frozenset()  # the plan reports why it cannot be read

    async def _decided(
        self, make: Callable[[], Awaitable[Plan]], do: Do, shown: Callable[[Plan], Proposal]
    ) -> Outcome | None:
        """Plan, confirm, and carry out; refusals are shown here."""
        while True:
            try:
                plan = await make()
                answer = await self._ask(PlanScreen(shown(plan), self._keys))
                return await self._carry_out(plan, do) if answer is Answer.DO else None
            except DonnaError as error:
                if not await self._refused(error):
                    return None


def _planned(row: DraftRow, plan: Plan | DonnaError, left_out: int) -> Planned:
    if isinstance(plan, DonnaError):
        return Planned(row, None, error=plan)
    return Planned(row, plan, left_out)


_WAITING_EDIT = "your own edit of this draft is not written, and is no part of it"


class ReviewActs(Horizontal):
    """The base class of the Review screen, with the actions on one draft. Subclasses read the drafts."""

    rows = query_one(DraftList)
    text = query_one(DraftText)
    diff = query_one("#draft-diff", DiffView)
    passages = query_one(EvidenceList)
    passage = query_one("#evidence-text", PassageView)

    def __init__(self, outside: ExternalPrograms, keys: Keys) -> None:
        super().__init__(id="review", classes="-on-queue -empty")
        self._outside = outside
        self._keys = keys
        self._backend: Backend | None = None
        self._writing: VaultFlows | None = None
        self._draft: Draft | None = None
        self._left_out: dict[tuple[str, str], frozenset[int]] = {}
        self._composing: set[str] = set()

    @property
    def selected(self) -> DraftRow | None:
        """The draft that actions apply to."""
        return self.rows.selected

    @property
    def draft(self) -> Draft | None:
        """The selected draft, once it is read."""
        row = self.selected
        return self._draft if row is not None and self._draft is not None and self._draft.row.id == row.id else None

    @property
    def left_out(self) -> frozenset[int]:
        """The numbers of the hunks left out of the selected draft; empty for another version of it."""
        draft = self.draft
        return self._left_out.get((draft.row.id, draft.etag), frozenset()) if draft is not None else frozenset()

    def write_with(self, writing: VaultFlows) -> None:
        """Edit and undo through the same flows as the Vault screen, so that both know of an edit."""
        self._writing = writing

    def waits(self, row: DraftRow | None) -> bool:
        """Return whether there is an unsaved edit of the draft."""
        return bool(row and row.path and self._writing is not None and self._writing.edits.of(row.path))

    def look(self, show: str = "") -> None:
        """Read the queue again, and select a draft."""
        raise NotImplementedError

    def look_soon(self) -> None:
        """Schedule reading the queue, once for several events."""
        raise NotImplementedError

    @property
    def is_in_evidence(self) -> bool:
        """Whether the focus is in the passages."""
        raise NotImplementedError

    def action_review_approve(self) -> None:
        """Show the plan of approving the selected draft, and approve it."""
        row = self.selected
        if row is not None and self._backend is not None:
            remarks = (_WAITING_EDIT,) if self.waits(row) else ()
            self._decide(partial(self._deciding(self._backend).approve, row, self.left_out, remarks))

    def action_review_reject(self) -> None:
        """Show the plan of rejecting the selected draft, and reject it."""
        if self.selected is not None and self._backend is not None:
            self._decide(partial(self._deciding(self._backend).reject, self.selected))

    def action_review_approve_all(self) -> None:
        """Approve all waiting drafts."""
        if self._backend is not None:
            waiting = tuple(each for each in self.rows.drafts if each.state is DraftState.WAITING)
            self._decide(partial(self._deciding(self._backend).approve_all, waiting, self._left_out))

    def action_review_regenerate(self) -> None:
        """Compose the selected draft again."""
        if self.selected is not None and self._backend is not None:
            self._compose_anew(self._backend, self.selected)

    def action_review_undo(self) -> None:
        """Undo the last change."""
        if self._writing is not None:
            self._decide(partial(self._writing.step_back, OperationKind.UNDO))

    def action_review_redo(self) -> None:
        """Redo the last undone change."""
        if self._writing is not None:
            self._decide(partial(self._writing.step_back, OperationKind.REDO))

    async def action_review_edit(self) -> None:
        """Edit the draft in the editor, or open the note of the selected passage there."""
        passage = self.passages.selected
        if not self.is_in_evidence:
            if self.selected is not None and self._backend is not None:
                self._edit(self._backend, self.selected, here=False)
        elif passage is not None:
            self.post_message(EditNote(note_of(passage), passage.start_line))

    def action_review_edit_here(self) -> None:
        """Edit the draft on this screen."""
        if self.selected is not None and self._backend is not None:
            self._edit(self._backend, self.selected, here=True)

    def action_review_copy_citation(self) -> None:
        """Copy the citation of the passage, or a link to the draft."""
        passage, row = self.passages.selected, self.selected
        if self.is_in_evidence and passage is not None:
            self._outside.copy(citation_text(passage), "The citation")
        elif row is not None:
            self._outside.copy(f"[[{(row.path or row.target).removesuffix('.md')}]]", "The link to this draft")

    def action_review_copy_text(self) -> None:
        """Copy the passage, or the draft as it would be approved."""
        passage, draft = self.passages.selected, self.draft
        if self.is_in_evidence and passage is not None:
            self._outside.copy(f"{passage.text}\n\n{citation_text(passage)}\n", "The passage")
        elif draft is not None:
            self._outside.copy(text_without(draft, self.left_out), "The text of the draft")

    def _deciding(self, backend: Backend) -> DraftFlows:
        return DraftFlows(self, self._keys, backend)

    @one_dialog("decide")
    async def _decide(self, flow: Callable[[], Awaitable[Outcome | None]]) -> None:
        await flow()
        self.look()

    @one_dialog("decide")
    async def _edit(self, backend: Backend, row: DraftRow, *, here: bool) -> None:
        line = max(1, self.text.line_number)
        try:
            note = await backend.notes.read_note(row.path)
        except DonnaError as error:
            self._complain(error)
            return
        objection = self._why_no_edit(note, here=here)
        if objection:
            self.notify(objection, timeout=6, markup=False)
        elif self._writing is not None:
            await (self._writing.edit_here(note, line) if here else self._writing.edit_copy(note, line))
            self.look()

    def _why_no_edit(self, note: NoteText, *, here: bool) -> str:
        """Return why the note of a draft cannot be edited, as far as that depends on its text."""
        own_editor = shown_key(self._keys["vault.edit"], typing=False)
        why = why_no_write(note, f"In the Vault, {own_editor}")
        return why or (why_not_here(note, shown_key(self._keys["review.edit"], typing=False)) if here else "")

    @work(group="compose")
    async def _compose_anew(self, backend: Backend, row: DraftRow) -> None:
        has_text = row.state is not DraftState.FAILED
        if has_text and not await self._deciding(backend).agrees_to_compose(row):
            return
        rows = [row]
        try:
            if lacks_repository(row):
                if not await self._deciding(backend).creates_repository():
                    return
                rows += [each for each in await self._deciding(backend).without_repository() if each.id != row.id]
            await self._compose_each(backend, rows)
        except DonnaError as error:
            self._complain(error)
        finally:
            self._composing -= {each.id for each in rows}
            self.look_soon()

    async def _compose_each(self, backend: Backend, rows: Iterable[DraftRow]) -> None:
        for each in rows:
            self._composing.add(each.id)
            self.look()
            new = await backend.drafts.regenerate(each.id)
            self.look(new.id)

    @one_dialog("repository")
    async def create_repository(self, backend: Backend) -> None:
        """Create a repository after the user agreed, and write the drafts that failed without one."""
        rows: tuple[DraftRow, ...] = ()
        try:
            await backend.notes.create_repository()
            rows = await self._deciding(backend).without_repository()
            await self._compose_each(backend, rows)
        except DonnaError as error:
            self._complain(error)
        finally:
            self._composing -= {each.id for each in rows}
            self.look_soon()

    @work(group="compose")
    async def write_today(self, skill: str) -> None:
        """Write the draft of a skill for today or this week, and select it; show a notice if there is none."""
        if self._backend is None:
            return
        self.notify(f"Writing the {skill.replace('_', ' ')} …", timeout=3, markup=False)
        try:
            row = await self._backend.drafts.write_today(skill)
        except DonnaError as error:
            self._complain(error)
            return
        if row is not None and row.state in (DraftState.WAITING, DraftState.FAILED):
            self.look(row.id)
        else:
            self.notify(why_none_today(skill, row), timeout=6, markup=False)

    def _complain(self, error: DonnaError) -> None:
        self.notify(told(error), severity="error", timeout=8, markup=False)
