"""Fill the demo vault: history, a conflict, a conversation, and meetings around the current time.

Each screen has content at the first start. Filling it again is idempotent.
"""

from __future__ import annotations

import contextlib
import datetime
import hashlib
import json
import os
import tempfile
from collections.abc import Mapping
from functools import partial
from pathlib import Path

from donna_tui.calendar.mirror import IMPORTED, meetings_between, set_watermark, store, watermark
from donna_tui.calendar.values import Fetched, Window, local_zone
from donna_tui.cli.demo_vault import has_record, record_contents
from donna_tui.cli.session import Session
from donna_tui.drafts import queue
from donna_tui.memory.conversations import Recorder
from donna_tui.memory.database import MemoryDb, db_path, open_db
from donna_tui.memory.facts import RememberRequest, remember
from donna_tui.memory.importers import Import
from donna_tui.memory.splitter import TextSplitter
from donna_tui.platform.paths import private_folder
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.drafts import Attendee, DraftState, Meeting
from donna_tui.vault.open import open_writer
from donna_tui.vault.write.writer import VaultWriter

CALENDAR, CUTOVER = "Demo calendar", "cutover"
TEAM = ("Tomasz Okafor", "Priya Raman", "Ines Albrecht", "Jonas Feld")
PLANNING = ("Ines Albrecht", "Tomasz Okafor", "Jonas Feld", "Ruth Castellan")
AROUND = datetime.timedelta(days=60)
UNPROCESSED = datetime.timedelta(hours=3)
"""Meetings that ended longer ago get no draft at the first start."""

DECISIONS, ROADMAP, PRIYA = "Projects/gateway/decisions.md", "Projects/gateway/roadmap.md", "People/Priya Raman.md"
DEVICE = "K3T7QXA"

_RETRIES = """
### Retries

**Decided:** {day.day} {day:%B %Y}, after the drill.

One retry after 800 ms on the validator, none in the gateway: two layers of retries turn a slow minute into a slow hour.
"""

_TODAY = """\
---
date: {today}
tags: [daily]
---
# {today:%A}, {today.day} {today:%B}

The cutover is today. Everybody knows their part, and [[Priya Raman|Priya]] has the telephone list.

- [ ] Read the [[runbook]] once more before the cutover 📅 {today}
- [ ] Send [[Ruth Castellan|Ruth]] the list of the five machines 📅 {tomorrow}
- [ ] Order the glass for the shed window 📅 {later}
"""

_TALK = (
    ("Mara", "Which of the five machines can go back to the hall first?"),
    ("assistant", "The two data nodes. The three sentinels still answer the old client library on the test bench."),
    ("Mara", "Right. Priya told me that the bench needs until Thursday. Please keep answers short, number first."),
    ("assistant", "2 machines now, 3 after Thursday."),
    ("Mara", "And what did the failover cost us in February? Ruth will ask."),
    ("assistant", "47 seconds on 14 February, p99 at 2.4 s, and eleven pages in six months from the cache alone."),
)
_REMEMBERED = (
    "Priya is on leave the week after the cutover; Tomasz decides about the gateway meanwhile.",
    "I prefer short answers with the number first.",
)

_MEETINGS = (
    # days from today, hour, minutes, title, series, people, agenda
    (-2, 9.5, 15, "Standup", "standup", TEAM, ""),
    (-1, 9.5, 15, "Standup", "standup", TEAM, ""),
    (-1, 14.0, 45, "Kestrel call", "", ("Leo Brandt", "Jonas Feld"), "Release candidate\nSpring rate"),
    (1, 9.5, 15, "Standup", "standup", TEAM, ""),
    (1, 11.0, 120, "Roadmap planning", "", PLANNING, "What is left of the first half\nPrinters\nWho is away when"),
    (2, 9.5, 15, "Standup", "standup", TEAM, ""),
)
DEMO_WINDOW = datetime.timedelta(hours=8)
"""Age of the current meeting after which the demo meetings are moved to the present."""


def fill_demo(session: Session) -> None:
    """Fill an unchanged demo vault, which is Donna's own copy, and update its calendar. Raises DonnaError."""
    root, now = session.space.root, datetime.datetime.now(local_zone())
    writer = open_writer(session.config, session.space)
    writer.init_if_missing()
    if not has_record(root):
        _spread_times(root, now)
        _make_history(writer, root, now)
        _make_conflict(root, now)
    _write_today(writer, root, now)
    with contextlib.closing(open_db(private_folder(session.space.state))) as db:
        _fill_calendar(db, now)
        _fill_memory(db, now)
    record_contents(root, drafts_in(session.space.state) or ())


def drafts_in(state: Path) -> Mapping[str, str] | None:
    """Map the paths of the drafts of a space to their original texts; None if one was decided. Raises DonnaError."""
    if not db_path(state).exists():
        return {}
    with contextlib.closing(open_db(state)) as db:
        entries = queue.entries(db.database)
    if any(entry.state in (DraftState.APPROVED, DraftState.REJECTED) for entry in entries):
        return None
    return {entry.path: entry.original for entry in entries if entry.path}


def _spread_times(root: Path, now: datetime.datetime) -> None:
    """Assign different ages to the notes for “Recent”. The order depends only on their paths."""
    notes = sorted(root.rglob("*.md"), key=lambda file: hashlib.sha256(os.fsencode(file.relative_to(root))).digest())
    for place, file in enumerate(notes):
        at = now.timestamp() - 7_200 - place * 29_000
        os.utime(file, (at, at))


def _make_history(writer: VaultWriter, root: Path, now: datetime.datetime) -> None:
    leave = "On leave the week after the cutover. Tomasz has her pager."
    writer.write(PRIYA, f"{_text(root / PRIYA).rstrip()}\n\n{leave}\n", replace=True)
    before, mark, after = _text(root / DECISIONS).partition("\n### Not decided yet")
    writer.write(DECISIONS, f"{before}{_RETRIES.format(day=now)}{mark}{after}", replace=True)


def _make_conflict(root: Path, now: datetime.datetime) -> None:
    """Create a conflict copy of a note, as Syncthing does after edits on two devices."""
    stamp = now - datetime.timedelta(hours=5)
    copy = root / ROADMAP.replace(".md", f".sync-conflict-{stamp:%Y%m%d-%H%M%S}-{DEVICE}.md")
    here, there = "| S | [[Priya Raman\\|Priya]] | good |", "| M | [[Tomasz Okafor\\|Tomasz]] | good |"
    text = _text(root / ROADMAP).replace(here, there).rstrip()
    copy.write_text(f"{text}\n- A shed with a server in it. Somebody wrote this on a telephone.\n", encoding="utf-8")


def _write_today(writer: VaultWriter, root: Path, now: datetime.datetime) -> None:
    path = f"Daily/{now:%Y-%m-%d}.md"
    if not (root / path).exists():
        days = {"today": now.date(), "tomorrow": _day(now, 1), "later": _day(now, 4)}
        writer.write(path, _TODAY.format(**days))


def _day(now: datetime.datetime, days: int) -> datetime.date:
    return now.date() + datetime.timedelta(days=days)


def _text(file: Path) -> str:
    return file.read_bytes().decode("utf-8")


def _fill_memory(db: MemoryDb, now: datetime.datetime) -> None:
    """Add a conversation from yesterday, and two memories, unless there are turns already."""
    if db.database.value("SELECT count(*) FROM turns"):
        return
    begun = now.astimezone(datetime.UTC) - datetime.timedelta(days=1)
    times = (begun + datetime.timedelta(minutes=place) for place in range(len(_TALK)))
    lines = (
        {"session_id": "demo-cutover", "speaker": who, "text": text, "timestamp": at.isoformat()}
        for at, (who, text) in zip(times, _TALK, strict=True)
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "talk.jsonl"
        file.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
        for _ in Import(Recorder(db)).run(file):
            pass
    for text in _REMEMBERED:
        remember(db, RememberRequest(text), TextSplitter(EstimatedTokens(), 256), now.timestamp())


def _fill_calendar(db: MemoryDb, now: datetime.datetime) -> None:
    """Add meetings of some days, and three around the current time, of which two get a draft at once."""
    around = meetings_between(db.database, (now - DEMO_WINDOW).timestamp(), (now + DEMO_WINDOW).timestamp())
    if any(meeting.event_id.startswith(f"demo/{CUTOVER}") for meeting in around):
        return
    over = _half_hour(now - datetime.timedelta(hours=2))
    later = _half_hour(now + datetime.timedelta(hours=4))
    soon = (now + datetime.timedelta(minutes=9)).replace(second=0, microsecond=0)
    soon -= datetime.timedelta(minutes=soon.minute % 5)
    meetings = (
        *(
            meeting
            for meeting in map(partial(_on_day, now), _MEETINGS)
            if (meeting.title, meeting.day) != ("Standup", over.date())
        ),
        _made(f"standup/{over.date()}", "Standup", over, 15, "standup", TEAM, ""),
        _made(
            f"{CUTOVER}/{now.date()}", "Gateway cutover", soon, 30, "", TEAM, "Old client library\nThe five machines"
        ),
        _made(f"ruth/{later.date()}", "1:1 with Ruth", later, 30, "ruth", ("Ruth Castellan",), "Cutover\nHolidays"),
    )
    store(db, CALENDAR, IMPORTED, Window(now - AROUND, now + AROUND), Fetched(meetings), now.timestamp())
    if watermark(db.database, CALENDAR) is None:
        set_watermark(db, CALENDAR, (now - UNPROCESSED).timestamp())


def _half_hour(at: datetime.datetime) -> datetime.datetime:
    return at.replace(minute=at.minute // 30 * 30, second=0, microsecond=0)


def _on_day(now: datetime.datetime, row: tuple[int, float, int, str, str, tuple[str, ...], str]) -> Meeting:
    days, hour, minutes, title, series, people, agenda = row
    start = datetime.datetime.combine(_day(now, days), datetime.time(int(hour), int(hour % 1 * 60)), now.tzinfo)
    return _made(f"{series or title}/{start.date()}", title, start, minutes, series, people, agenda)


def _made(
    identity: str, title: str, start: datetime.datetime, minutes: int, series: str, people: tuple[str, ...], agenda: str
) -> Meeting:
    return Meeting(
        event_id=f"demo/{identity}",
        calendar=CALENDAR,
        title=title,
        start=start.astimezone(datetime.UTC),
        end=(start + datetime.timedelta(minutes=minutes)).astimezone(datetime.UTC),
        day=start.date(),
        series_id=f"demo/{series}" if series else "",
        description=agenda,
        attendees=tuple(Attendee(name) for name in people),
    )
