"""Real meetings with real minutes: the clock is moved to the end of a meeting, and everything follows as on that day."""

from __future__ import annotations

import asyncio
import datetime
import shutil
import subprocess
from collections.abc import Awaitable, Callable
from pathlib import Path
from zoneinfo import ZoneInfo

import pytest

from donna_tui.calendar.ics import read_ics
from donna_tui.calendar.mirror import IMPORTED, store
from donna_tui.calendar.values import Window
from donna_tui.config.models import MemoryConfig
from donna_tui.engine.engine import Engine
from donna_tui.ingest.worker import IngestWorker
from donna_tui.types.drafts import DraftState, MeetingState
from donna_tui.types.search import SearchRequest
from donna_tui.vault.note.read import parse_frontmatter
from tests.engine.helpers import Sandbox, eventually, new_sandbox
from tests.engine.providers import FaultyModel, serve

MEETINGS = Path(__file__).resolve().parents[3] / "shared" / "eval" / "meetings"
DAY = datetime.date(2024, 1, 24)
END = datetime.datetime(2024, 1, 24, 16, 0, tzinfo=datetime.UTC)
NOTE = "Meetings/Node TSC/2024-01-24 meeting.md"


@pytest.fixture
def sandbox(tmp_path: Path) -> Sandbox:
    """Create a vault in git with the minutes of the Node TSC of that January until then."""
    if not MEETINGS.is_dir():
        pytest.skip(f"the real meetings are not at {MEETINGS}")
    sandbox = new_sandbox(tmp_path)
    (sandbox.root / "Meetings" / "Node TSC").mkdir(parents=True)
    for note in sorted((MEETINGS / "vault" / "Meetings" / "Node TSC").glob("2024-01-*.md")):
        if note.name < DAY.isoformat():
            shutil.copy(note, sandbox.root / "Meetings" / "Node TSC" / note.name)
    git(sandbox, "init", "-q")
    git(sandbox, "add", "-A")
    git(sandbox, "-c", "user.name=Me", "-c", "user.email=me@example.invalid", "commit", "-qm", "Before")
    return sandbox


def git(sandbox: Sandbox, *arguments: str) -> str:
    done = subprocess.run(("git", *arguments), cwd=sandbox.root, capture_output=True, text=True, check=True)
    return done.stdout


def engine_at(sandbox: Sandbox, now: datetime.datetime) -> Engine:
    return Engine(sandbox.space, MemoryConfig(), sandbox.paths, what="a test", clock=now.timestamp)


async def import_calendar(sandbox: Sandbox) -> int:
    """Import a calendar file as `donna meetings import` does."""
    engine = Engine(sandbox.space, MemoryConfig(), sandbox.paths, watch=False, what="an import")
    await engine.start()
    try:
        await engine.sync()
        window = Window(END - datetime.timedelta(days=3_650), END + datetime.timedelta(days=365))
        fetched = await read_ics((MEETINGS / "meetings.ics").read_bytes(), "meetings", window, ZoneInfo("UTC"))
        await engine.memory.db.run(
            lambda db: store(db, "meetings", IMPORTED, window, fetched, END.timestamp() - 86_400)
        )
        return len(fetched.meetings)
    finally:
        await engine.stop()


async def waiting(engine: Engine) -> str:
    """Return the id of the draft, once there is one."""

    async def there() -> bool:
        return bool(await engine.drafts.drafts())

    await wait_until(there)
    [row] = await engine.drafts.drafts()
    return row.id


async def wait_until(holds: Callable[[], Awaitable[bool]]) -> None:
    """Wait until `holds` returns true."""
    for _ in range(400):
        if await holds():
            return
        await asyncio.sleep(0.05)
    pytest.fail("the condition was never true")


@pytest.mark.slow
async def test_the_end_of_a_meeting_brings_its_draft_once(sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch) -> None:
    serve(monkeypatch, FaultyModel())
    assert await import_calendar(sandbox) > 150
    before = {path: path.read_bytes() for path in sandbox.root.rglob("*.md")}

    engine = engine_at(sandbox, END + datetime.timedelta(seconds=30))
    await engine.start()
    try:
        identity = await waiting(engine)
        draft = await engine.drafts.draft(identity)
        assert draft.row.path == NOTE
        text = (sandbox.root / NOTE).read_text(encoding="utf-8")
        assert draft.text == text
        assert all(f"[[{name}]]" in text for name in ("Joyee Cheung", "Richard Lau", "Myles Borins"))
        assert "[[Meetings/Node TSC/2024-01-17 meeting|2024-01-17 meeting]], 17 January 2024" in text
        assert draft.claims
        cited = {each.number: each for each in draft.evidence}
        assert {cited[number].path for claim in draft.claims for number in claim.evidence} <= {
            str(path.relative_to(sandbox.root)) for path in before
        }

        plan = await engine.drafts.plan_approval(identity)
        assert plan.changes[0].path == NOTE
        assert {change.path.split("/")[0] for change in plan.changes[1:]} == {"People"}
        await engine.drafts.approve(identity, plan)
        approved = (sandbox.root / NOTE).read_text(encoding="utf-8")
        front, body = parse_frontmatter(approved), text[parse_frontmatter(text).body_start :]
        assert approved[front.body_start :] == body
        assert front.data["donna_id"] == front.data["calendar_event_id"]
        assert not {"donna_draft", "idempotency_key", "autowritten_by", "autowritten_at"} & set(front.data)
        assert git(sandbox, "status", "--porcelain") == ""

        async def found() -> bool:
            outcome = await engine.search(SearchRequest(text="yagiz corepack redesign of the website", mode="keyword"))
            return any(hit.path == NOTE and "donna_draft" not in str(hit.metadata) for hit in outcome.hits)

        await wait_until(found)
        [row] = await engine.calendar.meetings(END.timestamp() - 7_200, END.timestamp())
        assert (row.state, row.path) == (MeetingState.WRITTEN, NOTE)
    finally:
        await engine.stop()

    tip = git(sandbox, "rev-parse", "HEAD")
    engine = engine_at(sandbox, END + datetime.timedelta(minutes=2))
    await engine.start()
    try:
        looked: list[object] = []
        engine.subscribe(looked.append)
        await engine.model_known.wait()
        await eventually(lambda: any(getattr(each, "name", "") == "meeting_end_poller_start" for each in looked))
        await engine.calendar.refresh()
        assert await engine.drafts.drafts() == ()
        assert git(sandbox, "rev-parse", "HEAD") == tip

        await engine.notes.apply_plan(await engine.notes.plan_undo())
        assert (sandbox.root / NOTE).read_text(encoding="utf-8") == text
        assert not (sandbox.root / "People").exists() or not list((sandbox.root / "People").iterdir())
        [again] = await engine.drafts.drafts()
        assert again.state is DraftState.WAITING
        await engine.notes.apply_plan(await engine.notes.plan_undo())
        assert not (sandbox.root / NOTE).exists()
        await engine.calendar.refresh()
        assert {path: path.read_bytes() for path in sandbox.root.rglob("*.md")} == before
    finally:
        await engine.stop()


async def test_a_draft_waits_until_the_notes_it_rests_on_are_read(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    serve(monkeypatch, FaultyModel())
    await import_calendar(sandbox)
    for index in sandbox.database.parent.glob("index-*"):
        index.unlink()
    may_read, read = asyncio.Event(), IngestWorker.run

    async def slowly(self: IngestWorker) -> None:
        await may_read.wait()
        await read(self)

    monkeypatch.setattr(IngestWorker, "run", slowly)
    engine = engine_at(sandbox, END + datetime.timedelta(seconds=30))
    await engine.start()
    try:
        await engine.model_known.wait()
        await asyncio.sleep(0.5)
        assert await engine.drafts.drafts() == ()
        may_read.set()
        await waiting(engine)
        assert "[[Meetings/Node TSC/2024-01-17 meeting|" in (sandbox.root / NOTE).read_text(encoding="utf-8")
    finally:
        await engine.stop()
