"""Drafts and meetings without an engine, for tests of the Review and Meetings screens."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from dataclasses import replace

from donna_tui.drafts.approval import combined
from donna_tui.drafts.hunks import without_hunks
from donna_tui.types.drafts import CalendarRow, Draft, DraftRow, DraftState, MeetingPreview, MeetingRow, MeetingState
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.write.changes import Change, OperationKind, Outcome, Plan, etag_of
from tests.tui.fake_vault import FakeVault

Enter = Callable[..., Awaitable[None]]
DECIDED = (DraftState.APPROVED, DraftState.REJECTED, DraftState.GONE)


class FakeDrafts:
    """Implements `DraftService` over a `FakeVault`.

    The text of a draft is the note at its path. Approving removes the line `donna: draft` from it, and moves it.
    """

    def __init__(self, enter: Enter, vault: FakeVault) -> None:
        self._enter = enter
        self.vault = vault
        self.rows: list[DraftRow] = []
        self.details: dict[str, Draft] = {}
        self.agenda: list[MeetingRow] = []
        self.previews: dict[str, MeetingPreview] = {}
        self.followed: list[CalendarRow] = []
        self.anew = "# Composed anew\n"

    def add(self, draft: Draft) -> None:
        """Add a draft, newer than the others; its text becomes a note if it has a path."""
        self.rows.insert(0, draft.row)
        self.details[draft.row.id] = draft
        if draft.row.path:
            data = draft.text.encode("utf-8", "surrogatepass")
            self.vault.files[draft.row.path] = self.vault.recorded[draft.row.path] = data

    async def drafts(self, *, everything: bool = False) -> tuple[DraftRow, ...]:
        await self._enter("drafts", everything)
        return tuple(row for row in self.rows if everything or row.state not in DECIDED)

    async def draft(self, identity: str) -> Draft:
        await self._enter("draft", identity, key=identity)
        row = self._row(identity)
        note = self.vault.read(row.path)
        before = self.vault.files.get(row.target) if row.target != row.path else None
        kept = self.details[identity]
        text = note.text if note.text.strip() else kept.text
        return replace(
            kept, row=row, text=text, etag=note.etag, before=before.decode("utf-8", "replace") if before else None
        )

    async def plan_approval(
        self, identity: str, *, without: frozenset[int] = frozenset(), etag: str | None = None
    ) -> Plan:
        await self._enter("plan_approval", identity, without, key=identity)
        draft = await self.draft(identity)
        text = without_hunks(draft.text, without)
        after = text.replace("donna: draft\n", "").encode("utf-8", "surrogatepass")
        return Plan(
            kind=OperationKind.MOVE, subject=f"Approve {draft.row.target}", changes=self._move(draft.row, after)
        )

    async def approve(self, identity: str, plan: Plan) -> Outcome:
        await self._enter("approve", identity, plan, key=identity)
        return self._decide(identity, plan, DraftState.APPROVED, path=self._row(identity).target)

    async def plan_approvals(self, without: Mapping[str, frozenset[int]]) -> dict[str, Plan | DonnaError]:
        found: dict[str, Plan | DonnaError] = {}
        for identity, left_out in without.items():
            try:
                found[identity] = await self.plan_approval(identity, without=left_out)
            except DonnaError as error:
                found[identity] = error
        return found

    async def approve_all(self, plans: Mapping[str, Plan]) -> Outcome:
        for identity in plans:
            await self._enter("approve", identity, key=identity)
        outcome = self.vault.apply(combined(tuple(plans.values())))
        for identity in plans:
            self._put(replace(self._row(identity), state=DraftState.APPROVED, path=self._row(identity).target))
        return outcome

    async def plan_rejection(self, identity: str) -> Plan:
        await self._enter("plan_rejection", identity, key=identity)
        row = self._row(identity)
        before = self.vault.files.get(row.path)
        changes = (Change(path=row.path, before=before, after=None),) if before is not None else ()
        return Plan(kind=OperationKind.DELETE, subject=f"Reject {row.target}", changes=changes)

    async def reject(self, identity: str, plan: Plan) -> Outcome:
        await self._enter("reject", identity, plan, key=identity)
        return self._decide(identity, plan, DraftState.REJECTED, path="")

    async def regenerate(self, identity: str) -> DraftRow:
        await self._enter("regenerate", identity, key=identity)
        row = self._row(identity)
        path = row.path or f"Inbox/{row.target.rpartition('/')[2]}"
        self.vault.files[path] = self.vault.recorded[path] = self.anew.encode()
        self.details[identity] = replace(self.details[identity], evidence=(), claims=(), hunks=())
        return self._put(replace(row, state=DraftState.WAITING, path=path, detail="", next_try=None))

    async def meetings(self, start: float, end: float) -> tuple[MeetingRow, ...]:
        await self._enter("meetings", start, end)
        found = (row for row in self.agenda if start <= row.meeting.start.timestamp() < end)
        return tuple(sorted(found, key=lambda row: row.meeting.start))

    async def preview(self, event_id: str) -> MeetingPreview:
        await self._enter("preview", event_id, key=event_id)
        return self.previews.get(event_id) or MeetingPreview(target="Meetings/2026-11-20.md", text="# A meeting\n")

    async def want_notes(self, event_id: str, *, wanted: bool) -> None:
        await self._enter("want_notes", event_id, wanted, key=event_id)
        reason = "" if wanted else "Notes are turned off for this series."
        self.agenda = [
            replace(row, unwanted=reason) if row.meeting.event_id == event_id else row for row in self.agenda
        ]

    async def write_today(self, skill: str) -> DraftRow | None:
        await self._enter("write_today", skill, key=skill)
        return next((row for row in self.rows if row.skill == skill), None)

    async def write_now(self, event_id: str) -> DraftRow:
        await self._enter("write_now", event_id, key=event_id)
        found = next(row for row in self.agenda if row.meeting.event_id == event_id)
        made = DraftRow(
            id=f"draft-{event_id}",
            skill="meeting_note",
            title=found.meeting.title,
            state=DraftState.WAITING,
            target=f"Meetings/{event_id}.md",
            path=f"Inbox/{event_id}.md",
            created_at=self.vault.at,
        )
        self.add(Draft(row=made, text=self.anew, etag=etag_of(self.anew.encode())))
        drafted = replace(found, state=MeetingState.DRAFTED, draft=made.id)
        self.agenda = [drafted if row is found else row for row in self.agenda]
        return made

    async def calendars(self) -> tuple[CalendarRow, ...]:
        await self._enter("calendars")
        return tuple(self.followed)

    async def add_calendar(self, where: str, name: str = "", *, username: str = "", password: str = "") -> CalendarRow:
        await self._enter("add_calendar", where, name, username, password, key=where)
        row = CalendarRow(name=name or where, kind="ics", meetings=3, fetched_at=self.vault.at)
        self.followed.append(row)
        return row

    async def refresh(self) -> None:
        await self._enter("refresh")

    def _row(self, identity: str) -> DraftRow:
        found = next((row for row in self.rows if row.id == identity), None)
        if found is None:
            raise DonnaError(Reason.MISSING, "there is no such draft")
        return found

    def _put(self, row: DraftRow) -> DraftRow:
        self.rows = [row if each.id == row.id else each for each in self.rows]
        return row

    def _move(self, row: DraftRow, after: bytes) -> tuple[Change, ...]:
        before = self.vault.files[row.path]
        if row.path == row.target:
            return (Change(path=row.path, before=before, after=after),)
        there = self.vault.files.get(row.target)
        return Change(path=row.path, before=before, after=None), Change(path=row.target, before=there, after=after)

    def _decide(self, identity: str, plan: Plan, state: DraftState, *, path: str) -> Outcome:
        outcome = self.vault.apply(plan)
        self._put(replace(self._row(identity), state=state, path=path))
        return outcome
