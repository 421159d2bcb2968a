"""The life of a draft in the app, with a real engine, real git and a real calendar file.

It covers the first start on the demo without a repository, a brief before the meeting, typed notes, the approval, the
next brief and undo; and a language model that fails in every way at each step.
"""

from __future__ import annotations

import asyncio
import datetime
import json
import shutil
import subprocess
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

import pytest

from donna_tui.config.load import user_file
from donna_tui.config.models import MemoryConfig
from donna_tui.engine.engine import Engine
from donna_tui.platform.paths import resource
from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.lib.edit_dialog import EditScreen
from donna_tui.tui.vault.plan_dialog import PlanScreen
from donna_tui.types.drafts import DraftRow, DraftState, MeetingState
from tests import model_server
from tests.engine.helpers import Sandbox, new_sandbox
from tests.model_server import ModelServer
from tests.tui.driving import Driver, driving, notices
from tests.tui.fake_backend import FakeBackend

pytestmark = pytest.mark.usefixtures("alone")

WEEK = datetime.timedelta(days=7)
DECISION = "We run the load test on the Tuesday before Easter."
PEOPLE = ("Priya Raman", "Tomasz Okafor", "Ines Albrecht", "Jonas Feld", "Nora Quist")


@dataclass
class DraftLifecycle:
    """An app on a copy of the demo whose calendar has a weekly stand-up, and the time that the engine sees."""

    donna: Driver
    engine: Engine
    sandbox: Sandbox
    start: datetime.datetime
    now: list[float]

    async def at(self, moment: datetime.datetime) -> None:
        """Set the time, and let the engine check the calendar as it does every minute."""
        self.now[0] = moment.timestamp()
        await self.engine.calendar.refresh()

    async def rows(self) -> tuple[DraftRow, ...]:
        return await self.engine.drafts.drafts(everything=True)

    async def until(self, holds: Callable[[tuple[DraftRow, ...]], bool], what: str) -> tuple[DraftRow, ...]:
        deadline = time.monotonic() + 30
        while not holds(rows := await self.rows()):
            assert time.monotonic() < deadline, f"this was never true: {what}: {rows}"
            await asyncio.sleep(0.05)
        return rows

    async def review(self, identity: str = "") -> None:
        """Show Review with a draft selected and loaded."""
        if self.donna.main.header.active != "review":
            await self.donna.press("escape", "3")
        review = self.donna.review
        await self.donna.until(lambda: review.rows.items, "drafts are listed")
        if identity:
            review.reload(identity)
            await self.donna.until(lambda: review.draft is not None and review.draft.row.id == identity, "it is read")
        await self.donna.rest()

    async def step(self, key: str, window: type) -> None:
        """Press a key, check the dialog that it opens, and confirm it."""
        workers = self.donna.app.workers
        await self.donna.until(
            lambda: not any(each.group == "decide" and each.is_running for each in workers), "the step before is done"
        )
        await self.donna.press(key)
        await self.donna.window(window)
        await self.donna.press("enter")
        await self.donna.until(lambda: self.donna.app.screen is self.donna.main, "the dialog is closed")
        await self.donna.rest()

    async def type_notes(self, line: str, below: str) -> None:
        """Type a line below a heading of the selected draft, in the app's editor."""
        row = self.donna.review.selected
        assert row is not None
        await self.donna.press("i")
        window = await self.donna.window(EditScreen)
        window.field.text = window.field.text.replace(f"## {below}\n", f"## {below}\n\n- {line}\n", 1)
        await self.donna.press("f2")
        await self.donna.window(PlanScreen)
        await self.donna.press("enter")
        await self.donna.until(lambda: f"- {line}" in self.text(row.path), "it is written")
        await self.donna.rest()

    def text(self, path: str) -> str:
        return (self.sandbox.root / path).read_text(encoding="utf-8")

    def git(self, *arguments: str) -> str:
        done = subprocess.run(("git", *arguments), cwd=self.sandbox.root, capture_output=True, text=True, check=True)
        return done.stdout.strip()


def calendar(start: datetime.datetime) -> str:
    lines = [
        "BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Example//EN", "BEGIN:VEVENT", "UID:standup@example.invalid",
        f"DTSTAMP:{start:%Y%m%dT%H%M%SZ}", f"DTSTART:{start:%Y%m%dT%H%M%SZ}", "DURATION:PT15M",
        "RRULE:FREQ=WEEKLY;COUNT=3", "SUMMARY:Standup",
        *(f'ATTENDEE;CN="{name}":mailto:{name.split()[0].lower()}@example.invalid' for name in PEOPLE),
        "END:VEVENT", "END:VCALENDAR", "",
    ]  # fmt: skip
    return "\r\n".join(lines)


@asynccontextmanager
async def life(folder: Path, *, model: str = "", repository: bool = False) -> AsyncIterator[DraftLifecycle]:
    """Start five minutes before the first meeting; `model` is the address of a language model's server."""
    start = datetime.datetime.now(datetime.UTC).replace(second=0, microsecond=0) + datetime.timedelta(minutes=5)
    sandbox = new_sandbox(folder)
    shutil.copytree(resource("vault_templates", "demo"), sandbox.root, dirs_exist_ok=True)
    file = folder / "work.ics"
    file.write_text(calendar(start), encoding="utf-8")
    config: dict[str, Any] = {"calendars": [{"name": "Work", "kind": "ics", "path": str(file)}]}
    user_file().parent.mkdir(parents=True, exist_ok=True)
    user_file().write_text(json.dumps(config), encoding="utf-8")
    if model:
        route = {"dialect": "ollama", "model": "small", "base_url": model, "deadline_seconds": 1}
        (user_file().parent / "models.yaml").write_text(json.dumps({"reasoner": route}), encoding="utf-8")
    if repository:
        for words in (
            ("init", "-q"),
            ("add", "-A"),
            ("-c", "user.name=M", "-c", "user.email=m@e.org", "commit", "-qm", "0"),
        ):
            subprocess.run(("git", *words), cwd=sandbox.root, check=True, capture_output=True)
    now = [(start - datetime.timedelta(minutes=5)).timestamp()]
    engine = Engine(
        sandbox.space, MemoryConfig.model_validate(config), sandbox.paths, what="a test", clock=lambda: now[0]
    )
    async with driving(cast(FakeBackend, engine)) as donna:
        yield DraftLifecycle(donna, engine, sandbox, start, now)


@pytest.mark.slow
async def test_brief_workflow_from_first_start_to_undo(tmp_path: Path) -> None:
    async with life(tmp_path) as here:
        donna = here.donna
        (failed,) = await here.until(lambda rows: bool(rows), "the brief is tried before the meeting")
        assert (failed.state, failed.reason) == (DraftState.FAILED, "no_repository")
        await donna.press("escape", "3")
        await donna.until(lambda: "Create a repository in ~/vault?" in donna.screen_text(), "Review asks")
        assert not (here.sandbox.root / ".git").exists()
        await donna.press("enter")
        (brief,) = await here.until(lambda rows: rows[0].state is DraftState.WAITING, "the brief waits")
        assert brief.meeting_at == here.start.timestamp()
        private = here.git("status", "--porcelain")
        assert {line[:2] for line in private.splitlines()} == {"??"}

        await here.review(brief.id)
        text = here.text(brief.path)
        assert "## Last time\n\n[[Meetings/2026-03-12-standup|2026-03-12-standup]], 12 March 2026" in text
        assert "- No fallback path stays in the code." in text
        assert "- Remove the old client library and its config (Tomasz), due 2026-03-19 ([[" in text
        assert "[[Nora Quist]]" in text
        await here.type_notes(DECISION, below="Decisions")
        await here.at(here.start + datetime.timedelta(minutes=20))
        (ended,) = await here.rows()
        assert (ended.id, ended.state) == (brief.id, DraftState.WAITING)
        assert f"- {DECISION}" in here.text(brief.path)

        await here.review(brief.id)
        typed, commits = here.text(brief.path), here.git("rev-list", "--count", "HEAD")
        await here.step("a", PlanScreen)
        await here.until(lambda rows: rows[0].state is DraftState.APPROVED, "it is approved")
        approved = here.text(brief.path)
        assert "donna_draft" not in approved
        assert approved.partition("\n---\n")[2] == typed.partition("\n---\n")[2]
        assert (here.sandbox.root / "People" / "Nora Quist.md").exists()
        assert int(here.git("rev-list", "--count", "HEAD")) == int(commits) + 1
        await here.engine.sync()

        await here.at(here.start + WEEK - datetime.timedelta(minutes=5))
        rows = await here.until(lambda rows: len(rows) == 2, "next week's brief is written")
        following = next(row for row in rows if row.id != brief.id)
        assert following.state is DraftState.WAITING
        quoted = here.text(following.path)
        assert f"[[{brief.path[:-3]}|" in quoted
        assert f"Decisions:\n\n- {DECISION}\n" in quoted
        assert "No fallback path" not in quoted
        assert "Remove the old client library" in quoted
        await here.review(following.id)
        assert DECISION in donna.screen_text()

        await here.step("z", PlanScreen)
        await here.until(lambda rows: brief.id in {r.id for r in rows if r.state is DraftState.WAITING}, "it waits")
        assert here.text(brief.path) == typed
        assert not (here.sandbox.root / "People" / "Nora Quist.md").exists()
        assert (here.sandbox.root / following.path).exists()  # Donna wrote it by itself, and its undo comes last
        await donna.until(lambda: here.git("status", "--porcelain") == private, "all else is in git")


Failure = tuple[str, Callable[[model_server.Talk], Awaitable[None]], str]

FAILURES: list[Failure] = [
    ("unknown model", model_server.status(404, '{"error": "model \\"small\\" not found"}'), "no model “small” (404)"),
    ("broken server", model_server.status(500, "oops"), "500"),
    ("stall", model_server.hang, "did not answer in time"),
    ("cut stream", model_server.reset_mid_body, "127.0.0.1"),
    ("nonsense", model_server.text("I am a teapot."), "127.0.0.1"),
]


@pytest.mark.slow
@pytest.mark.parametrize(
    "failures", [FAILURES[::3], pytest.param(FAILURES, marks=pytest.mark.stress)], ids=["some", "all"]
)
async def test_whatever_the_model_does_the_offline_draft_and_typed_notes_remain(
    tmp_path: Path, failures: Sequence[Failure]
) -> None:
    server = ModelServer("ollama", model_server.status(500, "oops"))
    async with server.running() as port:
        address = f"http://127.0.0.1:{port}"
        async with life(tmp_path, model=address, repository=True) as here:
            donna = here.donna
            (brief,) = await here.until(
                lambda rows: bool(rows) and rows[0].state is DraftState.WAITING, "the brief is drafted offline"
            )
            await here.review(brief.id)
            assert "Drafted from your notes only: " in donna.screen_text()
            assert brief.drafter == "extractive"
            assert "- No fallback path stays in the code." in here.text(brief.path)
            await here.type_notes(DECISION, below="Decisions")
            typed = here.text(brief.path)
            for name, behaviour, says in failures:
                server.behaviour = behaviour
                await composed_again(here, brief, typed, name, says)
            await here.at(here.start + datetime.timedelta(minutes=20))
            await here.review(brief.id)
            await here.step("a", PlanScreen)
            await here.until(lambda rows: rows[0].state is DraftState.APPROVED, "it can be approved all the same")
            assert here.text(brief.path).partition("\n---\n")[2] == typed.partition("\n---\n")[2]
            await here.engine.sync()
            await here.at(here.start + WEEK - datetime.timedelta(minutes=5))
            rows = await here.until(lambda rows: len(rows) == 2, "the next brief is drafted offline")
            following = next(row for row in rows if row.id != brief.id)
            assert f"Decisions:\n\n- {DECISION}\n" in here.text(following.path)


async def composed_again(here: DraftLifecycle, brief: DraftRow, typed: str, name: str, says: str) -> None:
    """Regenerate the draft, and check that nothing changed and that the reason is shown."""
    donna = here.donna
    donna.app._notifications.clear()
    await here.step("g", RefusalScreen)
    await donna.until(lambda: notices(donna.app), f"the failure is reported: {name}")
    await donna.until(lambda: not donna.review._composing, "composing has ended")
    said = notices(donna.app)
    assert says in said, f"{name}: {said}"
    assert here.text(brief.path) == typed, name
    (row,) = await here.rows()
    assert (row.id, row.state) == (brief.id, DraftState.WAITING), name


@pytest.mark.slow
async def test_with_a_closed_port_the_brief_is_drafted_offline_and_says_so(tmp_path: Path) -> None:
    async with ModelServer("ollama", model_server.good).running() as port:
        pass
    async with life(tmp_path, model=f"http://127.0.0.1:{port}", repository=True) as here:
        donna = here.donna
        (brief,) = await here.until(lambda rows: bool(rows) and rows[0].state is DraftState.WAITING, "it is drafted")
        (row,) = [
            each
            for each in await here.engine.calendar.meetings(here.start.timestamp(), here.start.timestamp() + 60)
            if each.draft == brief.id
        ]
        assert row.state is MeetingState.DRAFTED
        await here.review(brief.id)
        assert f"127.0.0.1:{port}" in donna.screen_text()
        await here.type_notes(DECISION, below="Decisions")
        await composed_again(here, brief, here.text(brief.path), "refused port", f"127.0.0.1:{port}")
