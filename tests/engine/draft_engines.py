"""An engine for the tests of drafts, on a vault in git with the notes of last week and a calendar."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import subprocess
import time
from collections.abc import AsyncIterator, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from donna_tui.calendar import mirror
from donna_tui.calendar.values import Fetched, Window
from donna_tui.config.models import MemoryConfig
from donna_tui.drafts.drafters import AnswerRequest, Composed, ExtractiveDrafter
from donna_tui.engine.engine import Engine
from donna_tui.types.drafts import Attendee, Draft, DraftRow, Meeting
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.note.read import parse_frontmatter
from tests.engine.helpers import Sandbox, new_sandbox, open_engine, quick_config

UTC = datetime.UTC
LAST_WEEK, THIS_WEEK = datetime.date(2024, 1, 10), datetime.date(2024, 1, 17)
LAST_TIME = """---
type: meeting
date: 2024-01-10
---
# Gateway team

## Notes

The gateway keeps its sessions in Redis since the last release. Whether the old cache can go is still unclear.

- [ ] Ana will write the migration plan for the gateway
- [ ] Order two new machines for the gateway
"""
NOTE = "Meetings/2024-01-17-gateway-team.md"


def meeting(title: str = "Gateway team", event: str = "gateway-2", **details: Any) -> Meeting:
    start = datetime.datetime(2024, 1, 17, 10, tzinfo=UTC)
    known: dict[str, Any] = {
        "attendees": (Attendee("Ana Lima", "ana@example.org"), Attendee("Bo", "")),
        "description": "1. Redis\n2. Costs\nJoin: https://zoom.example/123",
        "start": start, "end": start + datetime.timedelta(hours=1), "day": THIS_WEEK, **details,
    }  # fmt: skip
    return Meeting(event_id=event, calendar="work", title=title, **known)


@dataclass
class DraftEngine:
    """An engine on a vault with a calendar."""

    engine: Engine
    sandbox: Sandbox

    @property
    def root(self) -> Path:
        return self.sandbox.root

    def git(self, *arguments: str) -> str:
        return git(self.root, *arguments)

    def head(self) -> str:
        return self.git("rev-parse", "HEAD").strip()

    def text(self, path: str) -> str:
        return (self.root / path).read_text()

    def front(self, path: str) -> dict[str, Any]:
        return parse_frontmatter(self.text(path)).data

    def notes(self) -> set[str]:
        return {path.relative_to(self.root).as_posix() for path in self.root.rglob("*.md")}

    async def hold(self, *meetings: Meeting) -> None:
        """Store meetings in the mirror of the calendar."""
        window = Window(datetime.datetime(2023, 1, 1, tzinfo=UTC), datetime.datetime(2026, 1, 1, tzinfo=UTC))
        fetched = Fetched(meetings, complete=False)
        await self.engine.memory.db.run(
            lambda db: mirror.store(db, "work", mirror.IMPORTED, window, fetched, time.time())
        )

    async def write(self, *meetings: Meeting) -> DraftRow:
        """Write the draft of the last of these meetings, and return it."""
        await self.hold(*meetings)
        return await self.engine.drafts.write_now(meetings[-1].event_id)

    async def approve(self, row: DraftRow, without: frozenset[int] = frozenset()) -> None:
        plan = await self.engine.drafts.plan_approval(row.id, without=without)
        await self.engine.drafts.approve(row.id, plan)

    async def undo(self) -> None:
        await self.engine.notes.apply_plan(await self.engine.notes.plan_undo())

    async def row(self, identity: str) -> DraftRow:
        rows = await self.engine.drafts.drafts(everything=True)
        return next(row for row in rows if row.id == identity)

    async def indexed(self) -> None:
        await self.engine.sync()


def git(folder: Path, *arguments: str) -> str:
    done = subprocess.run(["git", *arguments], cwd=folder, capture_output=True, text=True, check=True)
    return done.stdout


@contextlib.asynccontextmanager
async def draft_engine(
    folder: Path,
    *,
    repository: bool = True,
    notes: dict[str, str] | None = None,
    templates: Path | None = None,
    clock: Callable[[], float] = time.time,
    me: Sequence[str] = (),
    **skills: dict[str, Any],
) -> AsyncIterator[DraftEngine]:
    """Run an engine on a vault with the note of last week's meeting, and others; `skills` are its settings."""
    sandbox = new_sandbox(folder)
    for path, text in {"Meetings/2024-01-10-gateway-team.md": LAST_TIME, **(notes or {})}.items():
        sandbox.write(path, text)
    if repository:
        git(sandbox.root, "init", "-q", "-b", "main")
        git(sandbox.root, "add", "-A")
        git(sandbox.root, "-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-qm", "base")
    async with open_engine(sandbox, config=config(templates, skills, me), clock=clock) as running:
        await running.engine.sync()
        yield DraftEngine(running.engine, sandbox)


def config(templates: Path | None, skills: dict[str, dict[str, Any]], me: Sequence[str] = ()) -> MemoryConfig:
    return quick_config(
        skills=skills, me=list(me), **({"vault": {"templates_dir": str(templates)}} if templates else {})
    )


def hunk_with(draft: Draft, words: str) -> int:
    lines = draft.text.splitlines()
    return next(h.number for h in draft.hunks if any(words in x for x in lines[h.start_line - 1 : h.end_line]))


def day() -> tuple[float, float]:
    start = datetime.datetime(2024, 1, 17, tzinfo=UTC)
    return start.timestamp(), (start + datetime.timedelta(days=1)).timestamp()


class Counting:
    """A composer that quotes its passages slowly, and counts its calls."""

    remote = False

    def __init__(self, delay: float = 0.0) -> None:
        self.asked, self._delay = 0, delay

    async def compose(self, task: AnswerRequest) -> Composed:
        self.asked += 1
        await asyncio.sleep(self._delay)
        return await ExtractiveDrafter().compose(task)


class Broken:
    """A model that fails until it is repaired."""

    remote = False

    def __init__(self, reason: Reason = Reason.MODEL_CALL_FAILED) -> None:
        self.works, self.reason = False, reason

    async def compose(self, task: AnswerRequest) -> Composed:
        if not self.works:
            raise DonnaError(self.reason, "the model is away")
        return await ExtractiveDrafter().compose(task)
