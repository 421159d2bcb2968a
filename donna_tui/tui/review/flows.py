"""Approve, reject, edit and redraft the selected draft."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from donna_tui.tui.lib.error_messages import Refusal
from donna_tui.tui.review.approve_all import ApproveAll, Planned
from donna_tui.tui.review.lists import title_of
from donna_tui.tui.review.wording import approval_words, lacks_repository, parts_out
from donna_tui.tui.vault.plan_dialog import Answer, PlanScreen, Proposal
from donna_tui.tui.vault.plan_flow import Do, PlanFlow, retried
from donna_tui.types.drafts import DraftRow
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.write.changes import Outcome, Plan

ExcludedHunks = Mapping[tuple[str, str], frozenset[int]]
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
            "Redraft it?",
            "The draft is written again from your current notes, and replaces this text and your edits of it.",
            "It is one commit, which can be undone.",
            title_of(row),
        )
        return await self._agrees(refusal, "redraft")

    async def approve_all(self, rows: tuple[DraftRow, ...], left_out: ExcludedHunks) -> None:
        """Show the plan of approving these drafts, and approve those that are not excluded in one commit."""
        service = self._backend.drafts
        without = {row.id: await self._without(row, left_out) for row in rows}
        found = await service.plan_approvals(without)
        planned = tuple(_planned(row, found[row.id], len(without[row.id])) for row in rows)
        await self._prompt(ApproveAll(planned, service.approve_all, self._keys))

    async def _without(self, row: DraftRow, left_out: ExcludedHunks) -> frozenset[int]:
        """Return the hunks left out of a draft, if its text is still the version in which they are numbered."""
        if not any(identity == row.id for identity, _ in left_out):
            return frozenset()
        try:
            return left_out.get((row.id, (await self._backend.drafts.draft(row.id)).etag), frozenset())
        except DonnaError:
            return frozenset()  # the plan reports why it cannot be read

    @retried
    async def _decided(
        self, make: Callable[[], Awaitable[Plan]], do: Do, shown: Callable[[Plan], Proposal]
    ) -> Outcome | None:
        """Plan, confirm, and carry out."""
        plan = await make()
        answer = await self._prompt(PlanScreen(shown(plan), self._keys))
        return await self._carry_out(plan, do) if answer is Answer.DO else None


def _planned(row: DraftRow, plan: Plan | DonnaError, left_out: int) -> Planned:
    if isinstance(plan, DonnaError):
        return Planned(row, None, error=plan)
    return Planned(row, plan, left_out)
