"""List, preview, approve and reject drafts for screens and commands, and draft notes in the background."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import time
from collections.abc import Mapping
from dataclasses import replace
from functools import partial

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger

from donna_tui.calendar.mirror import meeting_of
from donna_tui.calendar.poller import MeetingEndPoller
from donna_tui.config.models import DailySkill, WeeklySkill
from donna_tui.drafts import queue
from donna_tui.drafts.approval import Approver, combined, corrections_of, head_of, start_in, target_of, with_lines
from donna_tui.drafts.hunks import claims_of, hunks_of
from donna_tui.drafts.passages import is_noted, notes_of_key
from donna_tui.drafts.queue import Entry
from donna_tui.drafts.skills.meeting_note import TEMPLATE, has_times_of, times_of, title_of
from donna_tui.drafts.skills.reviews import WEEKLY, week_of
from donna_tui.drafts.text import words_only
from donna_tui.drafts.writer import WriteResult
from donna_tui.engine.calendar_service import CalendarService
from donna_tui.engine.skill_runner import SkillRunner
from donna_tui.engine.space_context import SpaceContext
from donna_tui.engine.vault_service import VaultThread, writer_of
from donna_tui.index.documents import draft_paths
from donna_tui.memory.database import db_path
from donna_tui.memory.facts import new_id
from donna_tui.safety.classify import Sensitivity
from donna_tui.types.drafts import Draft, DraftRow, DraftState, Meeting, MeetingPreview
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.note.read import DRAFT_KEY, parse_frontmatter
from donna_tui.vault.write.changes import OWN_ACTOR, OperationKind, Outcome, Plan
from donna_tui.vault.write.file_names import EVERYWHERE
from donna_tui.vault.write.writer import LOCAL_ACTOR

MAX_REVIVED = 20
"""Maximum number of recent decisions that are checked for an undo in the vault."""


class DraftService:
    """The API of the Review screen. Every method raises only DonnaError. Writes are reviewed, so allowed anywhere."""

    def __init__(self, context: SpaceContext, calendar: CalendarService, skills: SkillRunner) -> None:
        config = context.config
        self._context, self._calendar, self._skills = context, calendar, skills
        self._db = context.memory.db
        self._writer = writer_of(context, allowlist=(EVERYWHERE,))
        self._approver = Approver(
            skills.client,
            self._writer,
            config.safety.path_allowlist,
            makes_pages=config.skills.meeting_note.person_pages,
            me=config.me,
        )
        self._thread = VaultThread("donna-drafts")
        self._run = self._thread.run

    # The queue

    async def drafts(self, *, everything: bool = False) -> tuple[DraftRow, ...]:
        """List waiting and failed drafts, newest first; with `everything` also decided ones, at most 200 of each."""
        await self._adopt_drafts()
        found = await self._db.run(lambda db: queue.entries(db.database))
        decided = [entry for entry in found if entry.state in queue.DECIDED]
        decided.sort(key=lambda entry: entry.decided_at or 0.0, reverse=True)
        revived = {entry.id: await self._reopened_if_undone(entry) for entry in decided[:MAX_REVIVED]}
        now = [revived.get(entry.id, entry) for entry in found]
        shown = [entry for entry in now if not entry.is_under_way]
        synced = [
            await self._synced_with_note(entry) if entry.state == DraftState.WAITING else entry for entry in shown
        ]
        listed = [entry for entry in synced if everything or entry.state not in queue.DECIDED]
        return tuple([await self._row(entry) for entry in listed])

    async def _adopt_drafts(self) -> None:
        """Add the waiting drafts of the vault that the queue does not know, such as those of another device."""
        known = await self._db.run(lambda db: queue.paths_of_waiting(db.database))
        for path in sorted(await self._context.read(draft_paths) - known):
            note = await self._run(self._skills.client.try_read, path)
            occasion = queue.occasion_of(note.frontmatter.data) if note else None
            if note is None or occasion is None:
                continue
            title = words_only(head_of(note.text)[0].lstrip("#")) or note.title
            entry = Entry(
                id=new_id(), skill=occasion[0], key=occasion[1], title=title, state=DraftState.WAITING.value,
                target=path, path=path, created_at=note.mtime, sensitive=note.sensitivity is not Sensitivity.PUBLIC,
            )  # fmt: skip
            with contextlib.suppress(ValueError):  # its key is of no day
                await self._db.run(partial(queue.adopt, entry=await self._skills.adopted(entry)))

    async def _row(self, entry: Entry) -> DraftRow:
        """Return the row of an entry with its present target; a meeting note has the present time of its meeting."""
        if entry.state == DraftState.WAITING and entry.path != entry.target:
            with contextlib.suppress(DonnaError):
                entry = replace(entry, target=await self._run(self._approver.target_now, entry))
        if entry.skill != TEMPLATE:
            return entry.row()
        meeting = await self._meeting_of(entry)
        if meeting is None:
            return replace(entry.row(), meeting_at=start_in(entry.original))
        return replace(entry.row(), meeting_at=meeting.start.timestamp(), meeting_cancelled=meeting.cancelled)

    async def draft(self, identity: str) -> Draft:
        """Return a draft or the note that it became with its text as it is on disk now, and the passages that it cites;
        of another draft, the text that was written.
        """
        entry = await self._entry(identity)
        sources, waits = entry.sources, entry.state == DraftState.WAITING
        note = await self._run(self._approver.note_of, entry) if waits else None
        is_approved = entry.state == DraftState.APPROVED
        approved = await self._run(self._skills.client.try_read, entry.target) if is_approved else None
        text = next((found.text for found in (note, approved) if found is not None), entry.original)
        shown = Draft(
            row=await self._row(entry),
            text=text,
            etag=note.etag if note else "",
            evidence=sources.passages,
            claims=claims_of(text, sources.statements),
            remarks=sources.remarks,
        )
        if note is None:
            return shown
        return replace(shown, before=await self._run(self._approver.before, entry), hunks=hunks_of(text))

    async def plan_approval(
        self, identity: str, *, without: frozenset[int] = frozenset(), etag: str | None = None
    ) -> Plan:
        """Plan an approval without some hunks of the version `etag`. Raises DonnaError (`conflict`) if it changed."""
        return await self._run(self._approver.plan_approval, await self._entry(identity), without, etag=etag)

    async def approve(self, identity: str, plan: Plan) -> Outcome:
        """Apply a reviewed approval, and store the person's changes as corrections."""
        entry = await self._entry(identity)
        outcome = await self._run(self._approver.carry_out, plan)
        await self._approved(entry, plan)
        return outcome

    async def plan_approvals(self, without: Mapping[str, frozenset[int]]) -> dict[str, Plan | DonnaError]:
        """Plan approvals that are independent, each without some hunks. One that is impossible maps to its error."""
        planned: dict[str, Plan | DonnaError] = {}
        for identity, left_out in without.items():
            before = [plan for plan in planned.values() if isinstance(plan, Plan)]
            made = {change.path for each in before for change in each.changes if change.before is None}
            made &= {target_of(each) for each in before}
            try:
                entry = await self._entry(identity)
                plan = await self._run(self._approver.plan_approval, entry, left_out, made)
                await self._run(combined, (*before, plan))  # raises on a collision
                planned[identity] = plan
            except DonnaError as error:
                planned[identity] = error
        return planned

    async def approve_all(self, plans: Mapping[str, Plan]) -> Outcome:
        """Apply approvals that were planned together, as one operation."""
        entries = {identity: await self._entry(identity) for identity in plans}
        outcome = await self._run(lambda: self._approver.carry_out(combined(tuple(plans.values()))))
        for identity, plan in plans.items():
            await self._approved(entries[identity], plan)
        return outcome

    async def _approved(self, entry: Entry, plan: Plan) -> None:
        approved = next((change for change in plan.changes if change.after is not None), None)
        path = approved.path if approved else entry.path
        await self._decide(replace(entry, target=path), DraftState.APPROVED)
        if approved and approved.after is not None:
            await self._learn(entry, approved.after.decode(errors="replace"))

    async def _learn(self, entry: Entry, approved: str) -> None:
        """Store the person's changes to a draft as corrections, in place of those of an earlier approval."""
        sensitivity = parse_frontmatter(approved).sensitivity(approved, self._skills.client.sensitive_key)
        entry = replace(entry, sensitive=entry.sensitive or sensitivity is not Sensitivity.PUBLIC)
        await self._context.memory.set_corrections(entry.id, corrections_of(entry, approved, time.time()))

    async def plan_rejection(self, identity: str) -> Plan:
        """Plan the rejection of a draft: its note, if there is one, is deleted, and none is written for this occasion
        again.
        """
        entry = await self._entry(identity)
        entry = await self._synced_with_note(entry) if entry.state == DraftState.WAITING else entry
        if entry.state in (DraftState.FAILED, DraftState.GONE):
            subject = f"Reject {entry.path or entry.target}"
            return Plan(kind=OperationKind.DELETE, subject=subject, changes=())
        return await self._run(self._approver.plan_rejection, entry)

    async def reject(self, identity: str, plan: Plan) -> Outcome:
        entry = await self._entry(identity)
        outcome = await self._run(self._writer.apply, plan)
        await self._decide(entry, DraftState.REJECTED)
        return outcome

    async def regenerate(self, identity: str) -> DraftRow:
        """Compose a draft again from the current sources, and replace the old one once the new one exists.

        The person's edits are merged into it. A failed draft is retried. Raises DonnaError and leaves the old draft as
        it was if the model fails, or the person's lines cannot be merged (`conflict`), as in a draft of another device.
        """
        await self.follow_calendar()
        entry = await self._entry(identity)
        if entry.state in queue.DECIDED:
            raise DonnaError(Reason.NOT_A_DRAFT, "this draft is no longer waiting")
        if entry.is_of_other_device:  # which lines are the person's edits is unknown
            message = "this draft was written on another device, which alone can redraft it"
            raise DonnaError(Reason.CONFLICT, message, hint="redraft it there, or edit it here")
        await self._skills.check(entry)
        if entry.state == DraftState.WAITING:
            await self._run(self._approver.note_of, entry)
            fresh = await self._skills.writer.redraft(await self._skills.job_of(entry), entry)
            plan = await self._run(self._approver.plan_redraft, entry, fresh.original)
            await self._run(self._writer.apply, plan)
            return (await self._save(replace(fresh, reason="", detail=""))).row()
        if entry.state == DraftState.FAILED:
            await self._save(replace(entry, attempts=0))
        await self.again(entry, LOCAL_ACTOR)
        return (await self._entry(identity)).row()

    async def again(self, entry: Entry, actor: str = OWN_ACTOR) -> None:
        """Resume a draft that failed or was cut short. Raises DonnaError if there is no source to draft from."""
        try:
            await self._skills.check(entry)
        except DonnaError as error:
            known, why = await self._entry(entry.id), (error.reason.value, error.message)
            await self._db.run(lambda db: queue.fail(db, known, *why, time.time()))
            raise
        await self._skills.again(entry, actor)

    async def write_new(self, skill: str, day: datetime.date, *, person: str = "") -> list[WriteResult]:
        """Write the drafts of a skill for a day or its week; `person` names a profile, which need not be due.

        A draft whose note is missing, because it was undone or deleted, is written again. Raises DonnaError, of a day
        that has not begun too.
        """
        if (week_of(day).first if skill == WEEKLY else day) > self._today:
            raise DonnaError(Reason.USAGE, f"{day} is in the future")
        results = await self._skills.write(skill, day, person, LOCAL_ACTOR)
        missing = [await self._forget_missing(result) for result in results]
        return await self._skills.write(skill, day, person, LOCAL_ACTOR) if any(missing) else results

    async def _forget_missing(self, result: WriteResult) -> bool:
        """Remove an earlier draft that waits but has no note, and return whether the result was one."""
        entry = await self._entry(result.draft) if result.skipped and result.draft else None
        if entry is None or entry.state != DraftState.WAITING:
            return False
        is_missing = (await self._synced_with_note(entry)).state == DraftState.GONE
        if is_missing:
            await self._db.run(lambda db: queue.drop(db, entry.id))
        return is_missing

    async def write_today(self, skill: str) -> DraftRow | None:
        """Write the draft of a skill for today or this week, or return the existing one; None without content."""
        for result in await self.write_new(skill, self._today):
            if result.draft:
                entry = await self._entry(result.draft)
                return await self._row(await self._reopened_if_undone(entry) if entry.state in queue.DECIDED else entry)
        return None

    @property
    def _today(self) -> datetime.date:
        return datetime.datetime.fromtimestamp(self._context.clock(), self._skills.zone).date()

    # Meetings

    async def preview(self, event_id: str) -> MeetingPreview:
        """Render the note of a meeting as it would be written now, without writing it and without a language model."""
        job = await self._skills.job_for(await self._calendar.meeting(event_id))
        text, sources = await self._skills.writer.preview(job)
        target, claims = job.effective_path, claims_of(text, sources.statements)
        return MeetingPreview(
            target=target, text=text, evidence=sources.passages, claims=claims, remarks=sources.remarks
        )

    async def write_now(self, event_id: str) -> DraftRow:
        """Write the draft of a meeting now, whether or not it has ended. Raises DonnaError if it was cancelled."""
        meeting = await self._calendar.meeting(event_id)
        if meeting.cancelled:
            raise DonnaError(Reason.USAGE, "this meeting was cancelled: no note is written")
        await self.follow_calendar()  # its draft may exist, from before it was moved
        result = await self._skills.write_note(meeting, LOCAL_ACTOR)
        if await self._forget_missing(result):
            result = await self._skills.write_note(meeting, LOCAL_ACTOR)
        return (await self._entry(result.draft)).row()

    async def follow_calendar(self) -> None:
        """Update waiting drafts to the calendar, whose meetings may have changed since they were written.

        A meeting that was moved or renamed moves and renames its draft; one that was cancelled before its end withdraws
        it. The person's edits are kept. A draft that cannot be changed now is retried at the next call.
        """
        for entry in await self._db.run(lambda db: queue.entries(db.database)):
            if entry.skill != TEMPLATE or entry.state not in (DraftState.WAITING, DraftState.FAILED):
                continue
            if entry.is_of_other_device:
                continue  # the device that wrote it updates it
            meeting = await self._meeting_of(entry)
            if meeting is None:
                continue
            with contextlib.suppress(DonnaError):
                if meeting.cancelled:
                    await self._withdraw(entry, meeting)
                elif entry.state == DraftState.WAITING:
                    await self._realign(entry, meeting)

    async def _meeting_of(self, entry: Entry) -> Meeting | None:
        return await self._db.run(lambda db: meeting_of(db.database, entry.key))

    async def _withdraw(self, entry: Entry, meeting: Meeting) -> None:
        if meeting.end.timestamp() <= self._context.clock():
            return
        if entry.state == DraftState.FAILED:
            await self._db.run(lambda db: queue.drop(db, entry.id))
            return
        note = await self._run(self._approver.note_of, entry)
        if note.text != entry.original:
            if not entry.detail:
                await self._save(replace(entry, detail="The meeting was cancelled; your edits are kept."))
            return
        plan = await self._run(self._approver.plan_rejection, entry)
        subject = f"Withdraw {entry.path}: the meeting was cancelled"
        await self._run(self._writer.apply, replace(plan, subject=subject), actor=OWN_ACTOR)
        await self._db.run(lambda db: queue.drop(db, entry.id))

    async def _realign(self, entry: Entry, meeting: Meeting) -> None:
        if entry.detail:  # a meeting that was cancelled for a while
            entry = await self._save(replace(entry, detail=""))
        note = await self._run(self._approver.note_of, entry)
        if has_times_of(meeting, note.frontmatter.data) and entry.title == title_of(meeting):
            return
        job = await self._skills.job_for(meeting)
        fresh, _ = await self._skills.writer.preview(job)
        changed = {old: new for old, new in zip(head_of(entry.original), head_of(fresh), strict=True) if old != new}
        target = job.effective_path if entry.path == entry.target or job.autonomy == "low" else entry.path
        times = times_of(meeting, self._skills.zone)
        plan = await self._run(self._approver.plan_realign, entry, times, changed, target)
        await self._run(self._writer.apply, plan, actor=OWN_ACTOR)
        path = next((change.path for change in plan.changes if change.after is not None), entry.path)
        original = with_lines(entry.original, changed)
        await self._save(replace(entry, path=path, target=job.target_path, title=job.title, original=original))

    async def has_note(self, meeting: Meeting) -> bool:
        """Check whether there is a note of this meeting, also by the user, or of another entry of its series at the
        same hour.
        """
        begins = meeting.start.timestamp()
        noted = await self._context.read(lambda index: is_noted(index, meeting.event_id, meeting.series_id, begins))
        return noted or bool(await self._calendar.notes_of([meeting]))

    async def close(self) -> None:
        await self._thread.close()

    async def _synced_with_note(self, entry: Entry) -> Entry:
        """Update a waiting draft from its note on disk, and return it: save one that was moved or approved by hand;
        a missing one is returned as gone, and one that cannot be read as waiting, with the reason. Raises
        `root_missing`.
        """
        try:
            return await self._approved_if_unmarked(entry)
        except DonnaError as error:
            if error.reason is Reason.ROOT_MISSING:
                raise
            if error.reason not in (Reason.MISSING, Reason.NOT_A_DRAFT):
                return replace(entry, detail=error.message)
            known = await self._context.read(lambda index: notes_of_key(index, entry.key))
        for path in known:
            try:
                target = path if entry.target == entry.path else entry.target
                found = await self._approved_if_unmarked(replace(entry, path=path, target=target))
            except DonnaError:
                continue
            return await self._save(found)
        if entry.is_of_other_device:  # it was decided there
            return await self._save(replace(entry, state=DraftState.REJECTED.value, decided_at=time.time()))
        detail = "Its note was undone, deleted or moved, or rejected on another device."
        return replace(entry, state=DraftState.GONE.value, detail=detail)

    async def _approved_if_unmarked(self, entry: Entry) -> Entry:
        """Save a draft whose note lacks the draft mark as approved, with its corrections, and return it: it was
        approved by hand, or just before a crash.
        """
        note = await self._run(self._approver.note_of, entry)
        if note.frontmatter.data.get(DRAFT_KEY):
            return entry
        approved = replace(entry, state=DraftState.APPROVED.value, target=entry.path, decided_at=note.mtime)
        await self._learn(entry, note.text)
        return await self._save(approved)

    async def _reopened_if_undone(self, entry: Entry) -> Entry:
        """Set a decided draft to waiting again, and erase its corrections, if its decision was undone in the vault."""
        waiting = replace(entry, state=DraftState.WAITING.value, decided_at=None)
        try:
            note = await self._run(self._approver.note_of, waiting)
        except DonnaError:
            return entry
        if not note.frontmatter.data.get(DRAFT_KEY):
            return entry
        await self._context.memory.set_corrections(entry.id, ())
        return await self._save(waiting)

    async def _decide(self, entry: Entry, state: DraftState) -> None:
        await self._save(replace(entry, state=state.value, decided_at=time.time()))

    async def _entry(self, identity: str) -> Entry:
        entry = await self._db.run(lambda db: queue.of_id(db.database, identity))
        if entry is None:
            raise DonnaError(Reason.MISSING, f"there is no draft {identity}", hint="donna draft list shows the ids")
        return entry

    async def _save(self, entry: Entry) -> Entry:
        return await self._db.run(lambda db: queue.save(db, entry))


POLL_SECONDS = 10.0

CUT_SHORT_SECONDS = 900.0
"""Seconds after which a draft that was begun counts as cut short."""

LATE_SECONDS = 12 * 3_600
"""Longest delay in seconds after which a missed draft is still written, if this machine was off or asleep."""

RETRY_SECONDS = 60


def last_due(skill: DailySkill, now: datetime.datetime) -> datetime.datetime:
    """Return the last time not after `now` at which the drafts of a skill were due."""
    weekday = skill.day_of_week if isinstance(skill, WeeklySkill) else None
    due = now.replace(hour=skill.hour, minute=skill.minute, second=0, microsecond=0)
    while due > now or weekday not in (None, due.weekday()):
        due -= datetime.timedelta(days=1)
    return due


class DraftScheduler:
    """The background drafting of one engine, with its services. Created on first use: its imports are slow."""

    def __init__(self, context: SpaceContext) -> None:
        self._context = context
        self.calendar = CalendarService(context)
        self._skills = SkillRunner(context, self.calendar)
        self.drafts = DraftService(context, self.calendar, self._skills)

    async def follow(self) -> None:
        """Draft around meetings and at the configured hours, and retry failed drafts, until cancelled."""
        context, zone = self._context, self.calendar.zone
        config, memory = context.config, db_path(context.space.state)
        wanted = {name: skill for name, skill in config.skills if isinstance(skill, DailySkill) and skill.enabled}
        while not (config.calendars or wanted or memory.exists()):
            await asyncio.sleep(POLL_SECONDS)  # there is nothing to draft yet
        poller = MeetingEndPoller(
            context.memory.db,
            self.calendar.following,
            self._dispatch,
            context.hub,
            config.skills.meeting_note,
            context.clock,
            self._calendars_read,
        )
        now = datetime.datetime.fromtimestamp(context.clock(), zone)
        await self._retry(at_start=True)

        async with asyncio.TaskGroup() as group:
            group.create_task(poller.run(), name="donna-calendar-poller")
            group.create_task(self._keep_hours(wanted, now), name="donna-hours")

    async def _keep_hours(self, wanted: Mapping[str, DailySkill], now: datetime.datetime) -> None:
        """Write the drafts of each skill at its hour until cancelled, and recently missed ones at once; writes are
        idempotent.
        """
        zone = self.calendar.zone
        scheduler = AsyncIOScheduler(timezone=zone)
        scheduler.add_job(self._retry, "interval", seconds=RETRY_SECONDS, coalesce=True, max_instances=1)
        for name, skill in wanted.items():
            due = last_due(skill, now)
            if (now - due).total_seconds() < LATE_SECONDS:
                await self._skills.write(name, due.date())
            weekday = skill.day_of_week if isinstance(skill, WeeklySkill) else None
            trigger = CronTrigger(hour=skill.hour, minute=skill.minute, day_of_week=weekday, timezone=zone)
            scheduler.add_job(self._write_due, trigger, (name, skill), misfire_grace_time=LATE_SECONDS, coalesce=True)
        scheduler.start()
        try:
            await asyncio.Event().wait()
        finally:
            scheduler.shutdown(wait=False)

    async def _write_due(self, name: str, skill: DailySkill) -> None:
        """Write the drafts that were last due: this may run after midnight, if the machine was asleep."""
        now = datetime.datetime.fromtimestamp(self._context.clock(), self.calendar.zone)
        await self._skills.write(name, last_due(skill, now).date())

    async def _calendars_read(self) -> None:
        await self.calendar.follow_settings()
        await self.drafts.follow_calendar()

    async def _retry(self, *, at_start: bool = False) -> None:
        """Resume failed or unfinished drafts; recent ones may be of another process, except at the start."""
        now = time.time()
        begun_before = now if at_start else now - CUT_SHORT_SECONDS
        for entry in await self._context.memory.db.run(lambda db: queue.due_again(db.database, now, begun_before)):
            with contextlib.suppress(DonnaError):  # such as a meeting that is in no calendar any more
                await self.drafts.again(entry)

    async def _dispatch(self, meeting: Meeting) -> None:
        if not await self.calendar.why_no_draft(meeting) and not await self.drafts.has_note(meeting):
            await self._skills.write_note(meeting)

    async def close(self) -> None:
        await self.drafts.close()
