"""Approve, reject, edit and redraft drafts: one of them, or all that are waiting as one commit."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Mapping
from dataclasses import dataclass, replace
from functools import partial
from operator import attrgetter
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.error_messages import Refusal, refusal_of, sentence
from donna_tui.tui.lib.humanize import one_line, plural
from donna_tui.tui.lib.inputs import KeyLine
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import ItemList, row_of
from donna_tui.tui.lib.messages import ActionsChanged
from donna_tui.tui.review.lists import title_of
from donna_tui.tui.review.wording import (
    HunkText,
    approval_words,
    hunks_changed,
    hunks_excluded,
    lacks_repository,
    numbers_of,
)
from donna_tui.tui.vault.plan_dialog import Proposal
from donna_tui.tui.vault.plan_flow import PlanFlow, retried
from donna_tui.types.drafts import DraftRow
from donna_tui.types.errors import DonnaError
from donna_tui.vault.note.diff import diff_changes
from donna_tui.vault.write.changes import Outcome, Plan

Approve = Callable[[Mapping[str, Plan]], Awaitable[Outcome]]


@dataclass(frozen=True, slots=True)
class Planned:
    """A draft with the plan of its approval without `left_out` of its parts, or the error that prevents it.

    `is_done` is set after approval, `is_skipped` if the user leaves it for later.
    """

    row: DraftRow
    plan: Plan | None
    left_out: int = 0
    error: DonnaError | None = None
    is_done: bool = False
    is_skipped: bool = False

    @property
    def is_open(self) -> bool:
        return self.plan is not None and self.error is None and not self.is_done and not self.is_skipped


class PlannedList(ItemList[Planned]):
    """A list with two lines per draft: its title and size; and its plan, its result, or its error."""

    row_height = 2
    key = attrgetter("row.id")

    def row_part(self, index: int, part: int, width: int) -> Content:
        planned = self.items[index]
        if part:
            return _fate(planned).truncate(width, ellipsis=True, pad=True)
        glyph, tone = ("!", "error") if planned.error else ("✓", "accent") if planned.is_done else ("●", "accent")
        if planned.is_skipped:
            glyph, tone = "○", "quiet"
        left = Content.assemble((f"{glyph} ", tone), (title_of(planned.row), "strong"))
        return row_of(left, _size(planned.plan), width)


def _fate(planned: Planned) -> Content:
    if planned.error is not None:
        refusal = refusal_of(planned.error)
        return Content.styled(f"  not approved: {refusal.what} {refusal.step}", "warning")
    without = f", without {plural(planned.left_out, 'hunk')}" if planned.left_out else ""
    does = "excluded" if planned.is_skipped else f"{does_words(planned.plan)}{without}"
    return Content.styled(f"  {does}", "muted")


class ApproveAll(Dialog[bool]):
    """Approve the drafts as one commit. A refused draft is left out, and does not stop the others."""

    BINDINGS: ClassVar[list[BindingType]] = [
        action_binding("plan.apply", "screen.plan_apply"),
        Binding("space", "skip", show=False),
    ]

    def __init__(self, planned: tuple[Planned, ...], approve: Approve) -> None:
        super().__init__()
        self.rows = PlannedList(id="all-rows")
        self.rows.items = planned
        self._approve = approve
        self._began = self._is_under_way = False

    def compose(self) -> ComposeResult:
        with Vertical(classes="plan-box") as box:
            box.border_title = Content("Approve all")
            yield Static(classes="plan-lead", id="all-lead")
            yield self.rows
            yield KeyLine(("plan.apply", "approve them"), ("space", "exclude one"), ("esc", "cancel"))

    def on_mount(self) -> None:
        self._report()
        self.rows.focus()

    def action_plan_apply(self) -> None:
        if self._began or not any(row.is_open for row in self.rows.items):
            self.action_leave()
        else:
            self._began = self._is_under_way = True
            self._approve_them()

    def action_skip(self) -> None:
        planned, place = self.rows.items, self.rows.selected_index
        if self._began or place >= len(planned) or planned[place].error is not None:
            return
        changed = replace(planned[place], is_skipped=not planned[place].is_skipped)
        self.rows.set_items((*planned[:place], changed, *planned[place + 1 :]))
        self._report()

    def leave(self) -> None:
        if not self._is_under_way:
            self.dismiss(self._began)

    @work(group="approve", exclusive=True)
    async def _approve_them(self) -> None:
        self.query_one(KeyLine).set_text("Approving …")
        try:
            while plans := {
                item.row.id: item.plan for item in self.rows.items if item.is_open and item.plan is not None
            }:
                try:
                    await self._approve(plans)
                except DonnaError as error:
                    self._refuse(plans, error)
                else:
                    self._update(lambda each: replace(each, is_done=each.is_done or each.row.id in plans))
        finally:
            self._is_under_way = False
        line = self.query_one(KeyLine)
        line.items = ((shown_key("plan.apply"), "close"),)
        line.set_text("")
        self.post_message(ActionsChanged())

    def _refuse(self, plans: Mapping[str, Plan], error: DonnaError) -> None:
        """Mark the drafts whose plans contain the note that an error is about, or else all of them."""
        path = getattr(error, "path", "")
        refused = {identity for identity, plan in plans.items() if path in plan.paths} or set(plans)
        self._update(lambda each: replace(each, error=error) if each.row.id in refused else each)

    def _update(self, change: Callable[[Planned], Planned]) -> None:
        self.rows.set_items(tuple(map(change, self.rows.items)))
        self._report()

    def _report(self) -> None:
        planned = self.rows.items
        done, refused = sum(row.is_done for row in planned), sum(row.error is not None for row in planned)
        to_do = sum(row.is_open for row in planned)
        parts = (
            f"{plural(done, 'draft')} approved in one commit, which one undo reverts" if done else "",
            f"{plural(to_do, 'draft')} will be approved in one commit" if to_do else "",
            f"{refused} not approved: the reason is below" if refused else "",
        )
        self.query_one("#all-lead", Static).update(Content(sentence(" · ".join(filter(None, parts)))))


def does_words(plan: Plan | None) -> str:
    if plan is None or not plan.changes:
        return "no changes in the vault"
    words = {True: "new note", False: "changes"}
    made = [
        f"{words[change.before is None]} {one_line(change.path)}" for change in plan.changes if change.after is not None
    ]
    deletions = [f"{one_line(change.path)} is deleted" for change in plan.changes if change.after is None]
    return ", ".join((*made, *deletions))


def _size(plan: Plan | None) -> Content:
    diffs = diff_changes(plan.changes) if plan is not None else ()
    added, removed = sum(diff.added for diff in diffs), sum(diff.removed for diff in diffs)
    plus = (f"+{added}", "added-mark") if added else ""
    minus = (f" −{removed}", "removed-mark") if removed else ""
    return Content.assemble(plus, minus)


class DraftFlows(PlanFlow):
    """The decisions about drafts. Each must run in a worker."""

    @retried("approved")
    async def approve(
        self, row: DraftRow, excluded: Collection[HunkText] = (), remarks: tuple[str, ...] = ()
    ) -> Outcome | None:
        """Approve a draft without the excluded hunks, as far as its version of that moment has them."""
        drafts = self._backend.drafts
        draft = await drafts.draft(row.id)
        without = numbers_of(draft, excluded)
        plan = await drafts.plan_approval(row.id, without=without, etag=draft.etag)
        changed = hunks_changed(len(excluded) - len(without))
        summary = (approval_words(plan, row), *hunks_excluded(len(without)), *changed)
        proposal = Proposal(plan, remarks, title=f"Approve {title_of(row)}", does="approve it", summary=summary)
        return await self._offer(proposal, partial(drafts.approve, row.id))

    @retried("rejected")
    async def reject(self, row: DraftRow) -> Outcome | None:
        drafts = self._backend.drafts
        plan = await drafts.plan_rejection(row.id)
        summary = ("No draft is written for this occasion again.",)
        proposal = Proposal(plan, title=f"Reject {title_of(row)}", does="reject it", summary=summary)
        return await self._offer(proposal, partial(drafts.reject, row.id))

    async def without_repository(self) -> tuple[DraftRow, ...]:
        """Return the drafts that failed because the vault is not in a git repository."""
        return tuple(row for row in await self._backend.drafts.drafts() if lacks_repository(row))

    async def agrees_to_compose(self, row: DraftRow) -> bool:
        refusal = Refusal(
            "Redraft it?",
            "The draft is written again from your current notes, and your edits are merged into it.",
            "It is one commit, which can be undone.",
            title_of(row),
        )
        return await self._agrees(refusal, "redraft")

    async def approve_all(self, rows: tuple[DraftRow, ...], excluded: Mapping[str, Collection[HunkText]]) -> None:
        """Show the plan of approving these drafts, and approve those that are not excluded in one commit."""
        service = self._backend.drafts
        without = {row.id: await self._without(row, excluded.get(row.id, ())) for row in rows}
        found = await service.plan_approvals(without)
        planned = []
        for row in rows:
            plan = found[row.id]
            if isinstance(plan, DonnaError):
                planned.append(Planned(row, None, error=plan))
            else:
                planned.append(Planned(row, plan, len(without[row.id])))
        await self._prompt(ApproveAll(tuple(planned), service.approve_all))

    async def _without(self, row: DraftRow, excluded: Collection[HunkText]) -> frozenset[int]:
        """Return the numbers of the excluded hunks in the present version of a draft."""
        try:
            return numbers_of(await self._backend.drafts.draft(row.id), excluded) if excluded else frozenset()
        except DonnaError:
            return frozenset()  # the plan reports why it cannot be read
