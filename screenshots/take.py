"""Drives the real app, with the real model, over the demo vault, and saves what it shows as SVG.

python screenshots/take.py [NAME …]
"""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import sys
import tempfile
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from donna_tui.config.models import MemoryConfig
    from donna_tui.engine import Engine
    from donna_tui.space import Space

FOLDER = Path(__file__).resolve().parent
PATIENCE_SECONDS = 120.0
STAMP = "%Y%m%dT%H%M%SZ"


@dataclass(frozen=True, slots=True)
class Shot:
    """One picture: its name, the size of the terminal, the theme, what is typed first, and the keys after that.

    `with_history` begins a history in the demo vault and changes two notes first; `with_memories` remembers a morning's
    talk; `with_meetings` follows a calendar in which a stand-up has just ended, and waits for its draft.
    """

    name: str
    size: tuple[int, int]
    theme: str = "donna-dark"
    query: str = ""
    keys: tuple[str, ...] = ()
    with_history: bool = False
    with_memories: bool = False
    with_meetings: bool = False


CHANGED = "Projects/gateway/decisions.md"
TO_THE_NOTE = ("f", *"decisions", "enter", "j", "j")
ASKED = ("slash", *("space" if char == " " else char for char in "redis failover drill"), "enter", "j")
TO_THE_DRAFT = ("escape", "3", "enter", "j", "j", "j", "j")
ENTRIES = (
    ("Standup", -0.28, 0.25, ("Priya Raman", "Tomasz Okafor")),
    ("1:1 with Ruth", 1.5, 0.5, ("Ruth Castellan",)),
    ("Kestrel call", 3.0, 1.0, ("Jonas Feld", "Priya Raman")),
    ("Roadmap planning", -20.0, 1.5, ("Ruth Castellan", "Leo Brandt")),
)
"""Meetings: title, when they begin and how long they last in hours from now, and who is invited."""

TALK = (
    ("Noor", "We moved off Redis because the failover took 4.2 s, and p99 went from 40 ms to 2.3 s."),
    ("assistant", "The embedded store keeps the hot set in the process, so a Redis failover no longer matters."),
    ("Noor", "Can you add a task for Priya to repeat the failover drill before 12 December?"),
    ("assistant", "I can remind you. The last drill of 12 March needed two people and 40 minutes."),
    ("Noor", "ok, thanks"),
)
TOLD = (
    "Priya is on leave until 8 December; Tomas decides about the gateway meanwhile.",
    "I prefer short answers with the number first.",
)

SHOTS = (
    Shot("search-120x36", (120, 36), query="why did we move off redis"),
    Shot("search-80x24", (80, 24), query="why did we move off redis"),
    Shot("search-160x48", (160, 48), query="what does the driver see without a network"),
    Shot("search-light-120x36", (120, 36), theme="donna-light", query="when does the printer jam"),
    Shot("empty-120x36", (120, 36)),
    Shot("nothing-120x36", (120, 36), query="zebra zeppelin"),
    Shot("keys-120x36", (120, 36), query="ferry", keys=("escape", "question_mark")),
    Shot("activity-120x36", (120, 36), keys=("escape", "6")),
    Shot("activity-80x24", (80, 24), keys=("escape", "6")),
    Shot("vault-120x36", (120, 36), keys=("escape", "2", *TO_THE_NOTE), with_history=True),
    Shot("vault-80x24", (80, 24), keys=("escape", "2"), with_history=True),
    Shot("vault-history-160x48", (160, 48), keys=("escape", "2", *TO_THE_NOTE, "h"), with_history=True),
    Shot("vault-undo-120x36", (120, 36), keys=("escape", "2", "z"), with_history=True),
    Shot("memory-120x36", (120, 36), keys=("escape", "5", *ASKED), with_memories=True),
    Shot("memory-160x48", (160, 48), keys=("escape", "5", *ASKED), with_memories=True),
    Shot("review-120x36", (120, 36), keys=TO_THE_DRAFT, with_meetings=True),
    Shot("review-160x48", (160, 48), keys=TO_THE_DRAFT, with_meetings=True),
    Shot("review-80x24", (80, 24), keys=("escape", "3"), with_meetings=True),
    Shot("review-approve-120x36", (120, 36), keys=("escape", "3", "a"), with_meetings=True),
    Shot("meetings-120x36", (120, 36), keys=("escape", "4", "j"), with_meetings=True),
    Shot("meetings-160x48", (160, 48), keys=("escape", "4", "j"), with_meetings=True),
)


async def take(shot: Shot, home: Path) -> None:
    """Open the app on the demo vault, wait until it is at rest, and save one picture."""
    from donna_tui.cli.session import session_for
    from donna_tui.demo import demo_folder, make_demo
    from donna_tui.engine import Engine
    from donna_tui.paths import app_paths
    from donna_tui.space import space_at
    from donna_tui.tui.app import DonnaApp

    paths = app_paths({"DONNA_HOME": str(home)}).make()
    session = session_for(space_at(make_demo(demo_folder(paths)), paths), paths)
    config = with_calendar(session.config, session.space, home) if shot.with_meetings else session.config
    engine = Engine(session.space, config, paths, what="the screenshots")
    app = DonnaApp(lambda _: engine, theme=shot.theme, space_name=session.space.name)
    async with app.run_test(size=shot.size) as pilot:
        await until(lambda: indexed(engine))
        if shot.with_history:
            await make_history(engine)
        if shot.with_memories and not await engine.memory.sessions():
            await make_memories(engine)
        if shot.with_meetings:
            await until_async(lambda: engine.drafts.drafts())
        await pilot.press(*[key_of(char) for char in shot.query], *shot.keys)
        await pilot.pause(1.0)
        app.save_screenshot(f"{shot.name}.svg", path=str(FOLDER))
    shutil.rmtree(session.space.root)  # so that the next demo vault has the same name
    shutil.rmtree(session.space.state)


def with_calendar(config: MemoryConfig, space: Space, home: Path) -> MemoryConfig:
    """Settings that follow a calendar of today, for a vault that has a history."""
    from donna_tui.config.calendars import CalendarConfig
    from donna_tui.vault.open import open_writer

    open_writer(config, space).init_if_missing()
    file = home / "work.ics"
    file.write_text(calendar_of(datetime.now(UTC)), encoding="utf-8")
    return config.model_copy(update={"calendars": (CalendarConfig(name="Work", kind="ics", path=file),)})


def calendar_of(now: datetime) -> str:
    """An iCalendar file of the meetings around now."""
    lines = ["BEGIN:VCALENDAR", "VERSION:2.0", "PRODID:-//Donna//Pictures//EN"]
    for number, (title, begins, lasts, people) in enumerate(ENTRIES):
        start = now + timedelta(hours=begins)
        end = start + timedelta(hours=lasts)
        lines += ["BEGIN:VEVENT", f"UID:{number}@example.invalid", f"DTSTAMP:{start:{STAMP}}", f"SUMMARY:{title}"]
        lines += [f"DTSTART:{start:{STAMP}}", f"DTEND:{end:{STAMP}}"]
        lines += [f'ATTENDEE;CN="{name}":mailto:{name.split()[0].lower()}@example.invalid' for name in people]
        lines += ["END:VEVENT"]
    return "\r\n".join([*lines, "END:VCALENDAR", ""])


async def until_async(condition: Callable[[], Awaitable[object]]) -> None:
    """Wait for something that has to be asked for."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not await condition():
            await asyncio.sleep(0.2)


async def make_history(engine: Engine) -> None:
    """What a morning leaves behind: a history, and a note that grew."""
    await engine.notes.create_repository()
    note = await engine.notes.read_note(CHANGED)
    text = note.text.rstrip("\n") + "\n\n## Retries\n\nOne retry after 800 ms, and none in the gateway.\n"
    await engine.notes.apply_plan(await engine.notes.plan_write(CHANGED, text, note.etag))


async def make_memories(engine: Engine) -> None:
    """What a morning's talk leaves behind, and two things that Donna was told."""
    now = datetime.now(UTC) - timedelta(hours=2)
    lines = [
        {
            "session_id": "gateway",
            "speaker": who,
            "text": text,
            "timestamp": (now + timedelta(minutes=place)).isoformat(),
        }
        for place, (who, text) in enumerate(TALK)
    ]
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "talk.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        await engine.memory.import_chat(file)
    for text in TOLD:
        await engine.memory.remember(text)
    await engine.memory.settle()


def indexed(engine: object) -> bool:
    """Whether every note is searchable by meaning."""
    coverage = engine.status().coverage  # type: ignore[attr-defined]
    return bool(coverage.notes) and coverage.vectors == coverage.notes


async def until(condition: Callable[[], bool]) -> None:
    """Wait, patiently but not for ever."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.2)


def key_of(char: str) -> str:
    """The name of the key that types a character."""
    return {" ": "space", "'": "apostrophe", '"': "quotation_mark", ":": "colon"}.get(char, char)


async def main() -> None:
    """Take all pictures, or those that are named, with files of Donna's own in a folder that goes away."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "donna"
        os.environ["DONNA_HOME"] = str(home)
        wanted = sys.argv[1:] or [shot.name for shot in SHOTS]
        for shot in (each for each in SHOTS if each.name in wanted):
            await take(shot, home)
            print(f"screenshots/{shot.name}.svg")


if __name__ == "__main__":
    asyncio.run(main())
