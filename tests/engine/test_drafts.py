"""Drafts with a real engine, a real vault in git and its real calendar mirror: written, read, decided on, undone."""

from __future__ import annotations

import asyncio
import datetime
import time
from pathlib import Path

import pytest

from donna_tui.calendar.values import local_zone
from donna_tui.config.models import DailySkill, WeeklySkill
from donna_tui.drafts import queue
from donna_tui.drafts.queue import BACK_OFF
from donna_tui.drafts.writer import WriteResult
from donna_tui.engine.draft_service import last_due
from donna_tui.engine.skill_runner import SkillRunner
from donna_tui.types.drafts import DraftState, Meeting, MeetingState
from donna_tui.types.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.types.events import EngineEvent
from donna_tui.types.memory import MemoryFilter
from donna_tui.types.memory_events import VaultWritten
from donna_tui.types.search import MemorySource
from tests.engine.draft_engines import (
    LAST_TIME,
    NOTE,
    THIS_WEEK,
    Broken,
    Counting,
    day,
    draft_engine,
    git,
    hunk_with,
    meeting,
)
from tests.engine.helpers import eventually

pytestmark = pytest.mark.usefixtures("alone")

# Writing


async def test_draft_is_written_to_its_target_path_and_waits(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        before = here.head()
        row = await here.write(meeting())
        assert (row.state, row.path, row.target) == (DraftState.WAITING, NOTE, NOTE)
        assert here.front(NOTE)["donna_draft"] is True
        assert here.front(NOTE)["idempotency_key"] == "gateway-2"
        text = here.text(NOTE)
        for words in ("- [[Ana Lima]]", "- Redis", "- Costs", "sessions in Redis", "Ana will write the migration plan"):
            assert words in text
        assert "zoom" not in text
        assert here.git("rev-list", "--count", f"{before}..HEAD").strip() == "1"
        assert here.git("show", "--format=", "--name-only").split() == [NOTE]
        assert here.git("log", "-1", "--format=%s").strip() == f"Draft {NOTE}"


async def test_draft_has_no_duplicate_lines_and_only_the_user_sections_are_empty(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        await here.write(meeting())
        lines = [line for line in here.text(NOTE).splitlines() if line]
        said = [line.removeprefix("- [ ] ").removeprefix("- ") for line in lines if line.startswith("- ")]
        assert len(said) == len(set(said))
        ends = [line for line, after in zip(lines, [*lines[1:], "#"], strict=True) if line[:2] == after[:2] == "##"]
        assert ends == ["## Notes", "## Decisions"]


async def test_write_now_twice_returns_the_same_draft(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        before = (here.head(), here.text(NOTE))
        assert await here.engine.drafts.write_now("gateway-2") == row
        assert (here.head(), here.text(NOTE)) == before


async def test_concurrent_draft_requests_create_one_draft(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    slow = Counting(delay=0.2)
    monkeypatch.setattr(SkillRunner, "_drafter", slow)
    async with draft_engine(tmp_path) as here:
        await here.hold(meeting())
        rows = await asyncio.gather(*(here.engine.drafts.write_now("gateway-2") for _ in range(3)))
        assert len({row.id for row in rows}) == 1
        assert slow.asked == 1
        assert [path for path in here.notes() if "2024-01-17" in path] == [NOTE]


@pytest.mark.slow
async def test_a_draft_of_low_autonomy_waits_in_the_inbox(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, meeting_note={"autonomy_level": "low"}) as here:
        row = await here.write(meeting())
        assert (row.path, row.target) == ("Inbox/2024-01-17-gateway-team.md", NOTE)
        await here.approve(row)
        assert NOTE in here.notes()
        assert row.path not in here.notes()
        assert "donna_draft" not in here.front(NOTE)
        assert ((await here.row(row.id)).state, (await here.row(row.id)).path) == (DraftState.APPROVED, NOTE)
        await here.undo()
        assert (await here.row(row.id)).state is DraftState.WAITING
        assert row.path in here.notes()


async def test_a_note_of_high_autonomy_needs_no_approval(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, meeting_note={"autonomy_level": "high"}) as here:
        row = await here.write(meeting())
        assert (row.state, row.path) == (DraftState.APPROVED, NOTE)
        assert "donna_draft" not in here.front(NOTE)
        assert await here.engine.drafts.drafts() == ()


async def test_draft_does_not_overwrite_an_existing_user_note(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, notes={NOTE: "mine\n"}) as here:
        row = await here.write(meeting())
        assert row.path == "Meetings/2024-01-17-gateway-team-2.md"
        await here.approve(row)
        assert here.text(NOTE) == "mine\n"
        assert (await here.row(row.id)).path == "Meetings/2024-01-17-gateway-team-2.md"


@pytest.mark.parametrize("level", ["low", "medium"])
async def test_two_meetings_of_one_name_and_day_are_two_notes(tmp_path: Path, level: str) -> None:
    async with draft_engine(tmp_path, meeting_note={"autonomy_level": level}) as here:
        first = await here.write(meeting(event="one"))
        second = await here.write(meeting(event="two"))
        await here.approve(first)
        await here.approve(second)
        paths = {(await here.row(row.id)).path for row in (first, second)}
        assert len(paths) == 2
        assert {here.front(path)["calendar_event_id"] for path in paths} == {"one", "two"}


async def test_without_a_repository_it_fails_in_words(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, repository=False) as here:
        row = await here.write(meeting())
        assert (row.state, row.reason) == (DraftState.FAILED, Reason.NO_REPOSITORY.value)
        assert "git" in row.detail or "repository" in row.detail
        assert row.next_try is not None
        assert NOTE not in here.notes()
        git(here.root, "init", "-q", "-b", "main")
        git(here.root, "add", "-A")
        git(here.root, "-c", "user.name=u", "-c", "user.email=u@e.org", "commit", "-qm", "base")
        assert (await here.engine.drafts.regenerate(row.id)).state is DraftState.WAITING


async def test_a_broken_template_is_reported_with_its_line(tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "meeting_note.md.j2").write_text("# x\n{{ nothing }}\n")
    async with draft_engine(tmp_path, templates=templates) as here:
        row = await here.write(meeting())
        assert (row.state, row.reason) == (DraftState.FAILED, "template_error")
        assert "line 2" in row.detail


async def test_a_preview_is_what_is_written_and_writes_nothing(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        await here.hold(meeting())
        before = (here.head(), here.notes())
        preview = await here.engine.drafts.preview("gateway-2")
        assert (here.head(), here.notes()) == before
        assert await here.engine.drafts.drafts() == ()
        await here.engine.drafts.write_now("gateway-2")

        def untimed(text: str) -> list[str]:
            return [line for line in text.splitlines() if "autowritten_at" not in line]

        assert untimed(here.text(NOTE)) == untimed(preview.text)


# Deciding


async def test_approval_plan_matches_the_committed_changes(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        plan = await here.engine.drafts.plan_approval(row.id)
        outcome = await here.engine.drafts.approve(row.id, plan)
        assert sorted(outcome.paths) == ["Meetings/2024-01-17-gateway-team.md", "People/Ana Lima.md", "People/Bo.md"]
        for change in plan.changes:
            assert (here.root / change.path).read_bytes() == change.after
        assert sorted(here.git("show", "--format=", "--name-only", "-z").strip("\0").split("\0")) == sorted(plan.paths)
        assert "donna_draft" not in here.front(NOTE)
        assert here.front("People/Bo.md") == {"type": "person", "name": "Bo", "stub": True, "donna_id": "Bo"}


@pytest.mark.slow
async def test_one_undo_reverts_all_of_it(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        before = {path: here.text(path) for path in here.notes()}
        await here.approve(row)
        assert await here.engine.drafts.drafts() == ()
        await here.undo()
        assert {path: here.text(path) for path in here.notes()} == before
        (waiting,) = await here.engine.drafts.drafts()
        assert (waiting.id, waiting.state) == (row.id, DraftState.WAITING)
        await here.approve(waiting)
        assert (await here.row(row.id)).state is DraftState.APPROVED


async def test_what_is_left_out_is_not_in_the_note(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        draft = await here.engine.drafts.draft(row.id)
        await here.approve(row, frozenset({hunk_with(draft, "Order two new machines")}))
        assert "Order two new machines" not in here.text(NOTE)
        assert "Ana will write the migration plan" in here.text(NOTE)
        assert (await here.engine.drafts.draft(row.id)).text == here.text(NOTE)


async def test_what_is_rejected_is_never_drafted_again(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        plan = await here.engine.drafts.plan_rejection(row.id)
        assert plan.paths == (NOTE,)
        events: list[EngineEvent] = []
        here.engine.subscribe(events.append)
        await here.engine.drafts.reject(row.id, plan)
        assert [event.verb for event in events if isinstance(event, VaultWritten)] == ["Reject"]
        assert NOTE not in here.notes()
        head = here.head()
        assert (await here.engine.drafts.write_now("gateway-2")).state is DraftState.REJECTED
        (shown,) = await here.engine.calendar.meetings(*day())
        assert shown.state is MeetingState.REJECTED
        assert here.head() == head
        await here.undo()
        (waiting,) = await here.engine.drafts.drafts()
        assert waiting.state is DraftState.WAITING


async def test_outdated_approval_plan_is_rejected(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        plan = await here.engine.drafts.plan_approval(row.id)
        here.sandbox.write(NOTE, here.text(NOTE) + "\nmore\n")
        with pytest.raises(DonnaError):
            await here.engine.drafts.approve(row.id, plan)
        assert (await here.row(row.id)).state is DraftState.WAITING
        assert here.text(NOTE).endswith("\nmore\n")


async def test_regenerated_draft_uses_current_notes(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        changed = LAST_TIME.replace("Order two new machines", "Return three old machines")
        here.sandbox.write("Meetings/2024-01-10-gateway-team.md", changed)
        await here.indexed()
        again = await here.engine.drafts.regenerate(row.id)
        assert (again.id, again.state, again.path) == (row.id, DraftState.WAITING, NOTE)
        assert "Return three old machines" in here.text(NOTE)
        assert "Order two" not in here.text(NOTE)


async def test_a_draft_is_not_lost_where_its_meeting_is_in_no_calendar(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        await here.engine.memory.db.run(lambda db: db.database.run("DELETE FROM calendar_mirror"))
        before = here.text(NOTE)
        with pytest.raises(DonnaError):
            await here.engine.drafts.regenerate(row.id)
        assert here.text(NOTE) == before
        assert (await here.row(row.id)).state is DraftState.WAITING


async def test_draft_without_its_meeting_is_not_retried_for_ever(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SkillRunner, "_drafter", Broken(Reason.DISK_FULL))
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        assert (row.state, row.reason, row.attempts) == (DraftState.FAILED, "disk_full", 1)
        await here.engine.memory.db.run(lambda db: db.database.run("DELETE FROM calendar_mirror"))
        for _ in range(len(BACK_OFF)):  # the engine retries too, after each pause
            entry = await here.engine.memory.db.run(lambda db: queue.of_id(db.database, row.id))
            assert entry is not None
            if entry.attempts <= len(BACK_OFF):
                assert entry.next_try is not None
                with pytest.raises(DonnaError):
                    await here.engine.drafts.again(entry)
        row = await here.row(row.id)
        assert (row.next_try, row.attempts) == (None, len(BACK_OFF) + 1)
        due = await here.engine.memory.db.run(lambda db: queue.due_again(db.database, time.time() + 10**9, time.time()))
        assert due == []


@pytest.mark.slow
async def test_where_the_model_fails_the_notes_alone_are_drafted_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = Broken()
    monkeypatch.setattr(SkillRunner, "_drafter", broken)
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        assert row.state is DraftState.WAITING
        draft = await here.engine.drafts.draft(row.id)
        assert draft.remarks[0] == "Drafted from your notes only: the model is away"
        assert "Order two new machines" in here.text(NOTE)
        typed = here.text(NOTE).replace("## Notes\n", "## Notes\n\n- typed by hand\n")
        here.sandbox.write(NOTE, typed)
        with pytest.raises(DonnaError) as refused:
            await here.engine.drafts.regenerate(row.id)
        assert refused.value.reason is Reason.MODEL_CALL_FAILED
        assert here.text(NOTE) == typed
        assert (await here.row(row.id)).state is DraftState.WAITING
        broken.works = True
        again = await here.engine.drafts.regenerate(row.id)
        assert (again.state, again.path) == (DraftState.WAITING, NOTE)
        assert "- typed by hand" in here.text(NOTE)
        assert not (await here.engine.drafts.draft(row.id)).remarks


async def test_a_new_draft_never_overwrites_what_was_typed(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        typed = here.text(NOTE).replace("Order two new machines", "Order three new machines")
        here.sandbox.write(NOTE, typed)
        last = LAST_TIME.replace("Order two new machines", "Return the old machines")
        here.sandbox.write("Meetings/2024-01-10-gateway-team.md", last)
        await here.indexed()
        with pytest.raises(DonnaError) as refused:
            await here.engine.drafts.regenerate(row.id)
        assert refused.value.reason is Reason.CONFLICT
        assert here.text(NOTE) == typed


@pytest.mark.slow
async def test_edits_to_an_approved_draft_are_applied_to_later_drafts(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        text = here.text(NOTE).replace("Ana will write the migration plan for the gateway", "Bo writes the great plan")
        here.sandbox.write(NOTE, text)
        draft = await here.engine.drafts.draft(row.id)
        assert "great plan" in draft.text
        await here.approve(row, frozenset({hunk_with(draft, "- Whether the old cache")}))
        await here.engine.memory.wait_until_indexed()
        kept = await here.engine.memory.memories(MemoryFilter(sources=(MemorySource.CORRECTION,)))
        assert any("great plan" in each.content for each in kept)
        (here.root / NOTE).unlink()
        await here.indexed()
        await here.write(meeting(event="gateway-3"))
        promised = here.text(NOTE).partition("## Still open from last time")[2].partition("##")[0]
        assert "Bo writes the great plan" in promised
        assert "Ana will write" not in promised
        assert "Order two new machines" in promised
        assert "Whether the old cache" not in here.text(NOTE)


async def test_missing_vault_does_not_change_draft_states(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        away = here.root.with_name("unplugged")
        here.root.rename(away)
        with pytest.raises(VaultReadError) as caught:
            await here.engine.drafts.drafts()
        assert caught.value.reason is Reason.ROOT_MISSING
        away.rename(here.root)
        assert (await here.row(row.id)).state is DraftState.WAITING


async def test_a_draft_that_is_deleted_is_gone(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        (here.root / NOTE).unlink()
        assert (await here.row(row.id)).state is DraftState.GONE


@pytest.mark.parametrize(
    ("skill", "now", "due"),
    [
        (DailySkill(hour=21), "2026-11-30 21:00", "2026-11-30 21:00"),
        (DailySkill(hour=21), "2026-12-01 06:30", "2026-11-30 21:00"),
        (WeeklySkill(hour=17, day_of_week=4), "2026-11-28 01:00", "2026-11-27 17:00"),
        (WeeklySkill(hour=17, day_of_week=4), "2026-11-27 16:59", "2026-11-20 17:00"),
    ],
)
def test_a_draft_that_is_late_is_of_the_day_on_which_it_was_due(skill: DailySkill, now: str, due: str) -> None:
    assert str(last_due(skill, datetime.datetime.fromisoformat(now))) == f"{due}:00"


async def test_a_draft_whose_properties_cannot_be_read_keeps_waiting_and_is_not_written_twice(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        written, notes = here.text(NOTE), set(here.root.rglob("*.md"))
        (here.root / NOTE).write_text(written.replace("---\n", "---\ntitle: Launch: [oops\n", 1))
        unreadable = await here.row(row.id)
        assert unreadable.state is DraftState.WAITING
        assert "cannot be recognised" in unreadable.detail
        await here.write(meeting())
        assert set(here.root.rglob("*.md")) == notes
        (here.root / NOTE).write_text(written)
        assert (await here.row(row.id)).detail == ""


async def test_parts_of_another_version_of_a_draft_are_not_left_out(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        etag = (await here.engine.drafts.draft(row.id)).etag
        plan = await here.engine.drafts.plan_approval(row.id, without=frozenset({1}), etag=etag)
        assert plan.changes
        (here.root / NOTE).write_text(f"{here.text(NOTE)}\nMine.\n")
        with pytest.raises(DonnaError) as caught:
            await here.engine.drafts.plan_approval(row.id, without=frozenset({1}), etag=etag)
        assert caught.value.reason is Reason.CONFLICT


async def test_a_draft_without_a_note_is_rejected_without_a_change(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        gone = await here.write(meeting())
        (here.root / NOTE).unlink()
        plan = await here.engine.drafts.plan_rejection(gone.id)
        assert plan.changes == ()
        assert not (await here.engine.drafts.reject(gone.id, plan)).changed
        assert (await here.row(gone.id)).state is DraftState.REJECTED
        assert (await here.write(meeting())).state is DraftState.REJECTED


async def test_a_draft_of_another_device_is_reviewed_and_not_written_twice(tmp_path: Path) -> None:
    async with draft_engine(tmp_path / "a", meeting_note={"autonomy_level": "low"}) as one:
        path = (await one.write(meeting())).path
        synced = one.text(path)
    async with draft_engine(tmp_path / "b") as other:
        other.sandbox.write(path, synced)
        await other.indexed()
        (row,) = await other.engine.drafts.drafts()
        assert (row.state, row.title, row.path, row.target) == (DraftState.WAITING, "Gateway team", path, path)
        assert row.drafter == "another device"
        with pytest.raises(DonnaError, match="written on another device"):  # its edits are unknown, not conflicting
            await other.engine.drafts.regenerate(row.id)
        notes = other.notes()
        assert (await other.write(meeting())).id == row.id
        assert other.notes() == notes
        (other.root / path).unlink()
        await other.indexed()
        assert (await other.row(row.id)).state is DraftState.REJECTED  # on the other device
        other.sandbox.write("Inbox/moved.md", synced)
        await other.indexed()
        (again,) = await other.engine.drafts.drafts()
        assert (again.id, again.path, again.target) == (row.id, "Inbox/moved.md", NOTE)
        await other.approve(again)
        assert other.front(NOTE)["donna_id"] == "gateway-2"
        assert await other.engine.drafts.drafts() == ()


@pytest.mark.parametrize("asked", [False, True])
async def test_what_donna_wrote_by_itself_is_undone_last(tmp_path: Path, asked: bool) -> None:
    async with draft_engine(tmp_path, notes={"mine.md": "before\n"}) as here:
        notes = here.engine.notes
        await notes.apply_plan(await notes.plan_write("mine.md", "after\n", (await notes.read_note("mine.md")).etag))
        if asked:
            await here.write(meeting())
        else:
            await here.hold(meeting())
            await here.engine.drafts._skills.write_note(meeting())
        await here.undo()
        assert (here.text("mine.md"), NOTE in here.notes()) == (("after\n", False) if asked else ("before\n", True))
        await here.undo()
        assert (here.text("mine.md"), NOTE in here.notes()) == ("before\n", False)
        await notes.apply_plan(await notes.plan_redo(2))
        assert (here.text("mine.md"), NOTE in here.notes()) == ("after\n", True)


async def test_a_draft_that_is_moved_is_found(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        (here.root / "Projects").mkdir()
        (here.root / NOTE).rename(here.root / "Projects/mine.md")
        await here.indexed()
        moved = await here.row(row.id)
        assert (moved.state, moved.path) == (DraftState.WAITING, "Projects/mine.md")
        await here.approve(moved)
        assert "donna_draft" not in here.front("Projects/mine.md")


async def test_removing_the_draft_key_by_hand_approves_the_draft(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        here.sandbox.write(NOTE, here.text(NOTE).replace("donna_draft: true\n", ""))
        assert await here.engine.drafts.drafts() == ()
        assert (await here.row(row.id)).state is DraftState.APPROVED


async def test_what_was_learned_at_an_approval_is_undone_and_redone_with_it(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())

        async def approve(old: str, new: str) -> None:
            await here.engine.drafts.drafts()
            here.sandbox.write(NOTE, here.text(NOTE).replace(old, new, 1))
            await here.approve(row)

        async def learned() -> list[str]:
            await here.engine.drafts.drafts()
            await here.engine.memory.wait_until_indexed()
            wanted = MemoryFilter(sources=(MemorySource.CORRECTION,), sensitive=False)
            return [each.content for each in await here.engine.memory.memories(wanted)]

        await approve("Order two new machines", "Order three new machines")
        (first,) = await learned()
        assert "Order three new machines" in first
        await here.undo()
        assert await learned() == []
        await here.engine.notes.apply_plan(await here.engine.notes.plan_redo())
        assert await learned() == [first]
        await here.undo()
        await approve("Order three new machines", "Order four new machines")
        (second,) = await learned()
        assert "Order four new machines" in second
        await here.undo()
        assert await learned() == []
        await approve("---\n", "---\ndonna: local-only\n")
        assert await learned() == []


# What a draft may contain, and who may read it


async def test_a_private_note_is_quoted_only_in_meetings_without_others(tmp_path: Path) -> None:
    private = LAST_TIME.replace("type: meeting", "type: meeting\ndonna: local-only")
    async with draft_engine(tmp_path, notes={"Meetings/2024-01-10-gateway-team.md": private}) as here:
        row = await here.write(meeting())
        assert "Last time" not in here.text(row.path)
        assert "migration plan" not in here.text(row.path)
        assert "donna" not in here.front(row.path)
        row = await here.write(meeting(event="alone", attendees=()))
        assert "migration plan" in here.text(row.path)
        assert here.front(row.path)["donna"] == "local-only"


async def test_draft_from_public_notes_is_public(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        await here.write(meeting())
        assert "donna" not in here.front(NOTE)


async def test_a_private_project_note_is_no_background_for_others(tmp_path: Path) -> None:
    private = "---\ndonna: local-only\n---\n# Gateway team\n\n- [ ] Talk about the gateway team costs\n"
    async with draft_engine(tmp_path, notes={"Projects/gateway team.md": private}) as here:
        await here.write(meeting())
        assert "Talk about the gateway team costs" not in here.text(NOTE)
        assert "Projects/gateway team" not in here.text(NOTE)
        row = await here.write(meeting(event="alone", attendees=()))
        assert "Talk about the gateway team costs" in here.text(row.path)
        assert here.front(row.path)["donna"] == "local-only"


@pytest.mark.slow
async def test_waiting_draft_is_excluded_from_evidence_and_tasks(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        here.sandbox.write(NOTE, here.text(NOTE) + "\n- [ ] Paint the gateway team room purple\n")
        await here.indexed()
        later = meeting(event="gateway-3", day=datetime.date(2024, 1, 24))
        draft = await here.engine.drafts.draft((await here.write(later)).id)
        assert "purple" not in draft.text
        assert all(each.path.partition("#")[0] != NOTE for each in draft.evidence)
        tasks = {each.title for each in await here.engine.memory.tasks()}
        assert "Order two new machines for the gateway" in tasks
        assert not any("purple" in title for title in tasks)
        await here.approve(row)
        await here.indexed()
        assert any("purple" in each.title for each in await here.engine.memory.tasks())


async def test_earlier_meeting_is_matched_by_a_non_ascii_title(tmp_path: Path) -> None:
    notes = {"Meetings/2024-01-09 ÜBERSICHT Größen.md": "# x\n\nThe kestrels were counted in the morning by all.\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        row = await here.write(meeting("Übersicht größen"))
        assert row.path == "Meetings/2024-01-17 ÜBERSICHT Größen.md"
        assert "kestrels were counted" in here.text(row.path)
        assert "[[Meetings/2024-01-09 ÜBERSICHT Größen|" in here.text(row.path)


# Days, weeks and people


DONE = "# House\n\n- [x] Paint the door ✅ 2024-01-17\n- [ ] Call the roofer\n"


async def test_daily_reflection_of_an_empty_day_is_skipped(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        head = here.head()
        (result,) = await here.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        assert (result.skipped, result.reason) == (True, "nothing")
        assert here.head() == head
        assert await here.engine.drafts.drafts(everything=True) == ()


async def test_daily_reflection_lists_meetings_and_done_tasks(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, notes={"Projects/House.md": DONE}) as here:
        await here.write(meeting())
        (result,) = await here.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        assert result.path == "Reflections/2024-01-17.md"
        assert "Paint the door" in here.text(result.path)
        assert "Gateway team" in here.text(result.path) or "gateway-team" in here.text(result.path)


async def test_a_reflection_of_another_device_is_titled_as_here(tmp_path: Path) -> None:
    async with draft_engine(tmp_path / "a", notes={"Projects/House.md": DONE}) as one:
        (result,) = await one.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        (here,) = await one.engine.drafts.drafts()
        synced = one.text(result.path)
    async with draft_engine(tmp_path / "b") as other:
        other.sandbox.write(result.path, synced)
        await other.indexed()
        (there,) = await other.engine.drafts.drafts()
        assert (there.title, there.target) == (here.title, here.target)
        assert there.title == "Reflection, Wednesday, 17 January 2024"


@pytest.mark.cases(1)
@pytest.mark.parametrize("level", ["low", "medium"])
async def test_the_reflection_and_the_commitments_of_a_day_are_two_notes(tmp_path: Path, level: str) -> None:
    chosen = {"autonomy_level": level}
    notes = {"Projects/House.md": DONE}
    async with draft_engine(tmp_path, notes=notes, daily_reflection=chosen, commitment_log=chosen) as here:
        (reflection,) = await here.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        await here.indexed()
        (commitments,) = await here.engine.drafts.write_new("commitment_log", THIS_WEEK)
        assert not commitments.skipped
        assert here.front(reflection.path)["type"] == "reflection"
        assert here.front(commitments.path)["type"] == "commitments"
        for row in await here.engine.drafts.drafts():
            await here.approve(row)
        assert {"Reflections/2024-01-17.md", "Commitments/2024-01-17.md"} <= here.notes()


@pytest.mark.slow
async def test_a_week_carries_over_what_is_open(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, notes={"Projects/House.md": DONE}) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        assert result.path == "WeeklyReview/2024-W03.md"
        assert "Call the roofer" in here.text(result.path).partition("## Carried over")[2]


async def test_a_link_to_a_private_meeting_makes_a_day_private(tmp_path: Path) -> None:
    private = "---\ntype: meeting\nidempotency_key: gateway-2\ndonna: local-only\n---\n# Secret\n"
    async with draft_engine(tmp_path, notes={"Meetings/secret.md": private}) as here:
        await here.hold(meeting())
        (result,) = await here.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        assert "[[Meetings/secret" in here.text(result.path)
        assert here.front(result.path)["donna"] == "local-only"


STUB = "---\ntype: person\nname: Ana Lima\nstub: true\nautowritten_by: donna\n---\n# Ana Lima\n"


async def test_a_person_is_brought_up_to_date_and_undone(tmp_path: Path) -> None:
    notes = {
        "People/Ana Lima.md": STUB, "Projects/Rocket.md": "# Rocket\n\nAna Lima leads the rocket project since May.\n",
        "People/Bo.md": "---\ntype: person\n---\n# Bo\n\nwritten by hand\n", "People/Cy.md": "# Cy\n# 555-1234\n",
    }  # fmt: skip
    async with draft_engine(tmp_path, notes=notes) as here:
        results = await here.engine.drafts.write_new("person_profile", THIS_WEEK)
        assert [result.path for result in results] == ["Inbox/Ana Lima.md"]
        row = await here.row(results[0].draft)
        assert (await here.engine.drafts.draft(row.id)).before == STUB
        await here.approve(row)
        page = here.text("People/Ana Lima.md")
        assert "Ana Lima leads the rocket project since May" in page
        assert "stub" not in here.front("People/Ana Lima.md")
        assert "Inbox/Ana Lima.md" not in here.notes()
        assert here.text("People/Bo.md") == notes["People/Bo.md"]
        with pytest.raises(DonnaError, match="was written by you"):
            await here.engine.drafts.write_new("person_profile", THIS_WEEK, person="Cy")
        await here.undo()
        assert here.text("People/Ana Lima.md") == STUB
        assert (await here.row(row.id)).state is DraftState.WAITING


@pytest.mark.parametrize("page", ["", "---\naliases: [Ani]\n---\n# Ana Lima\n"])
async def test_a_profile_fills_the_empty_page_of_a_person(tmp_path: Path, page: str) -> None:
    notes = {"People/Ana Lima.md": page, "Projects/Rocket.md": "# Rocket\n\nAna Lima leads the rocket since May.\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", THIS_WEEK, person="Ana Lima")
        await here.approve(await here.row(result.draft))
        assert "Ana Lima leads the rocket since May" in here.text("People/Ana Lima.md")
        assert here.front("People/Ana Lima.md").get("aliases") == (["Ani"] if page else None)
        assert not [path for path in here.notes() if path.startswith("People/Ana Lima-")]
        await here.undo()
        assert here.text("People/Ana Lima.md") == page


async def test_a_draft_that_was_undone_is_written_again_on_demand(tmp_path: Path) -> None:
    day = datetime.date(2024, 1, 17)
    async with draft_engine(tmp_path, notes={"Daily/2024-01-17.md": "- We chose SQLite.\n"}) as here:
        (first,) = await here.engine.drafts.write_new("daily_reflection", day)
        await here.undo()
        assert first.path not in here.notes()
        (again,) = await here.engine.drafts.write_new("daily_reflection", day)
        assert "We chose SQLite." in here.text(again.path)
        assert [row.state for row in await here.engine.drafts.drafts()] == [DraftState.WAITING]


async def test_a_private_task_makes_a_persons_page_private(tmp_path: Path) -> None:
    notes = {
        "People/Ana Lima.md": STUB,
        "Projects/secret.md": "---\ndonna: local-only\n---\n# Ana Lima\n\n- [ ] Ask Ana Lima about the illness\n",
        "Projects/Rocket.md": "# Rocket\n\nAna Lima leads the rocket project since May.\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", THIS_WEEK)
        assert "about the illness" in here.text(result.path)
        assert here.front(result.path)["donna"] == "local-only"


async def test_only_drafts_that_were_missed_by_less_than_half_a_day_are_written_at_the_start(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[tuple[str, datetime.date]] = []

    async def write(self: SkillRunner, skill: str, day: datetime.date, person: str = "") -> list[WriteResult]:
        written.append((skill, day))
        return []

    monkeypatch.setattr(SkillRunner, "write", write)
    now = datetime.datetime.now(local_zone())
    recent, long_ago = now - datetime.timedelta(hours=1), now - datetime.timedelta(hours=13)
    at = {"enabled": True, "hour": recent.hour, "minute": recent.minute}
    skills = {
        "daily_reflection": at,
        "commitment_log": {"enabled": True, "hour": long_ago.hour, "minute": long_ago.minute},
        "weekly_review": {**at, "day_of_week": (recent.weekday() + 3) % 7},
        "person_profile": {**at, "day_of_week": recent.weekday()},
    }
    async with draft_engine(tmp_path, **skills):
        await eventually(lambda: len(written) == 2, "both are written")
    assert written == [("daily_reflection", recent.date()), ("person_profile", recent.date())]


async def test_the_draft_of_today_is_written_on_demand_and_given_again_as_it_is(tmp_path: Path) -> None:
    noon = datetime.datetime(2024, 1, 17, 12, tzinfo=datetime.UTC).timestamp()
    async with draft_engine(
        tmp_path, clock=lambda: noon, notes={"Daily/2024-01-17.md": "- We chose SQLite.\n"}
    ) as here:
        sandbox = here.engine.drafts
        row = await sandbox.write_today("daily_reflection")
        assert row is not None
        assert (row.state, row.target) == (DraftState.WAITING, "Reflections/2024-01-17.md")
        assert "We chose SQLite." in here.text(row.path)
        await here.approve(row)
        again = await sandbox.write_today("daily_reflection")
        assert (again.id, again.state) == (row.id, DraftState.APPROVED)


async def test_where_there_is_nothing_to_write_about_today_no_draft_is_written(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        assert await here.engine.drafts.write_today("daily_reflection") is None


# Approving several


def of_team(event: str, title: str, hour: int) -> Meeting:
    """Return a meeting of the same day with the same new people."""
    start = datetime.datetime(2024, 1, 17, hour, tzinfo=datetime.UTC)
    return meeting(title, event, start=start, end=start + datetime.timedelta(hours=1))


@pytest.mark.slow
async def test_drafts_that_share_an_attendee_without_a_page_are_approved_as_one_commit_and_undone_as_one(
    tmp_path: Path,
) -> None:
    async with draft_engine(tmp_path) as here:
        sandbox, before = here.engine.drafts, here.notes()
        rows = [await here.write(of_team(f"e-{hour}", f"Sync {hour}", hour)) for hour in (9, 11, 13)]
        waiting, head = here.notes(), here.head()
        plans = await sandbox.plan_approvals({row.id: frozenset() for row in rows})
        assert all("People/Ana Lima.md" in plan.paths for plan in plans.values())
        left = plans.pop(rows[1].id)
        assert left.changes
        await sandbox.approve_all(plans)
        assert here.git("rev-list", "--count", f"{head}..HEAD").strip() == "1"
        assert here.notes() - waiting == {"People/Ana Lima.md", "People/Bo.md"}
        states = {row.id: (await here.row(row.id)).state for row in rows}
        assert list(states.values()) == [DraftState.APPROVED, DraftState.WAITING, DraftState.APPROVED]
        assert "donna_draft" not in here.text(rows[0].path)
        assert "donna_draft" in here.text(rows[1].path)
        await here.undo()
        assert here.notes() == waiting > before
        assert len(await sandbox.drafts()) == 3


async def test_drafts_of_one_name_and_links_between_them_are_approved_together(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, meeting_note={"autonomy_level": "low"}) as here:
        sandbox = here.engine.drafts
        rows = [await here.write(of_team(f"e-{hour}", "Sync", hour)) for hour in (9, 11)]
        first, second = (row.path for row in rows)
        here.sandbox.write(second, here.text(second).replace("## Notes\n", f"## Notes\n\n- See [[{first[:-3]}]].\n", 1))
        await here.indexed()
        plans = await sandbox.plan_approvals({row.id: frozenset() for row in rows})
        await sandbox.approve_all(plans)
        places = [(await here.row(row.id)).path for row in rows]
        assert places == ["Meetings/2024-01-17-sync.md", "Meetings/2024-01-17-sync-2.md"]
        assert f"See [[{places[0][:-3]}]]." in here.text(places[1])
        assert not {first, second} & here.notes()


async def test_approve_all_is_aborted_by_a_note_edited_after_the_preview(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        sandbox = here.engine.drafts
        rows = [await here.write(of_team(f"e-{hour}", f"Sync {hour}", hour)) for hour in (9, 11)]
        plans = await sandbox.plan_approvals({row.id: frozenset() for row in rows})
        here.sandbox.write(rows[1].path, here.text(rows[1].path) + "- typed\n")
        with pytest.raises(VaultWriteError) as refused:
            await sandbox.approve_all(plans)
        assert (refused.value.reason, refused.value.path) == (Reason.CONFLICT, rows[1].path)
        assert "People/Bo.md" not in here.notes()
        assert {row.state for row in await sandbox.drafts()} == {DraftState.WAITING}
