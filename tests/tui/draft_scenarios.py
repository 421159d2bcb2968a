"""Waiting drafts and a week of meetings, also with hostile texts. The clock is at `NOW`."""

from __future__ import annotations

import datetime
import time
from collections.abc import Iterator
from typing import Any

import pytest

from donna_tui.drafts.hunks import hunks_of
from donna_tui.types.drafts import (
    Attendee,
    CalendarRow,
    Claim,
    Draft,
    DraftHunk,
    DraftRow,
    DraftState,
    Evidence,
    Meeting,
    MeetingPreview,
    MeetingRow,
    MeetingState,
)
from tests.tui import hostile, scenarios
from tests.tui.fake_backend import FakeBackend
from tests.tui.fake_drafts import FakeDrafts
from tests.tui.sample_vault import NOW

HOUR, DAY = 3_600.0, 86_400.0
SYNC, REVIEW, FAILED, DONE = "d-sync", "d-review", "d-failed", "d-done"
SYNC_PATH, SYNC_TARGET = "Inbox/2026-11-20-gateway-sync.md", "Meetings/2026-11-20-gateway-sync.md"
DECISIONS = "Projects/gateway/decisions.md"

SYNC_TEXT = """\
---
type: meeting
title: Gateway sync
calendar_event_id: gw-1
donna: draft
---
# Gateway sync

20 November 2026, with Priya Raman and Tomas Lindqvist.

## Before the meeting

- Redis was left on 12 March, because failover added 4.2 s of waiting. ([[decisions#Cache]])
- The drill is repeated by Priya before 12 December. ([[2026-11-13-gateway-sync#Open]])
- Rate limits stay behind a flag until the pilot has ended. ([[2026-11-13-gateway-sync#Open]])

## To ask

- Who owns the drill while Priya is on leave?
"""
REVIEW_TEXT = """\
---
type: weekly_review
donna: draft
---
# Week 47

Two decisions, one drill, and four tasks that stayed open.
"""


def evidence(number: int, path: str, text: str, **fields: Any) -> Evidence:
    """Return a passage of a note as evidence."""
    defaults: dict[str, Any] = {
        "source_type": "vault",
        "title": path.rpartition("/")[2].removesuffix(".md"),
        "heading_path": ("Gateway", "Decisions", "Cache"),
        "start_line": 41,
        "end_line": 58,
        "score": 0.71,
    }
    return Evidence(number=number, path=path, text=text, **{**defaults, **fields})


def row(identity: str, title: str, **fields: Any) -> DraftRow:
    """Return a waiting draft of a meeting."""
    defaults: dict[str, Any] = {
        "skill": "meeting_note",
        "state": DraftState.WAITING,
        "target": f"Meetings/{identity}.md",
        "path": f"Inbox/{identity}.md",
        "created_at": NOW - 600,
    }
    return DraftRow(id=identity, title=title, **{**defaults, **fields})


def sync() -> Draft:
    """Return a draft of a meeting note, with evidence for three lines and three hunks that can be excluded."""
    return Draft(
        row=row(
            SYNC,
            "Gateway sync",
            target=SYNC_TARGET,
            path=SYNC_PATH,
            reason="the meeting has ended",
            meeting_at=at(20, 9.5).timestamp(),
        ),
        text=SYNC_TEXT,
        etag="",
        evidence=(
            evidence(
                1,
                DECISIONS,
                "### Cache\n\nWe moved off **Redis** on 12 March, because failover added 4.2 s of waiting.",
                start_line=5,
                end_line=9,
            ),
            evidence(
                2,
                "chat:gateway-2026-11:7-8",
                "Noor: Can you add a task for Priya to repeat the drill before 12 December?",
                source_type="chat",
                title="Gateway, 18 Nov 2026",
                heading_path=("Noor",),
                start_line=7,
                end_line=8,
                score=0.62,
            ),
            evidence(
                3,
                "Meetings/2026-11-13-gateway-sync.md",
                "- [ ] Priya: repeat the failover drill before 12 December\n- Rate limits stay behind a flag.",
                heading_path=("Gateway sync", "Open"),
                start_line=14,
                end_line=15,
                score=None,
            ),
        ),
        claims=(Claim(13, 13, (1,)), Claim(14, 14, (2, 3)), Claim(15, 15, (3,))),
        hunks=hunks_of(SYNC_TEXT),
        remarks=("a link to the note Rate limits was left out, because there is no such note",),
    )


def review() -> Draft:
    """Return a weekly review that is already in its folder, composed by a model."""
    place = "WeeklyReview/2026-W47.md"
    return Draft(
        row=row(
            REVIEW,
            "Week 47",
            skill="weekly_review",
            target=place,
            path=place,
            created_at=NOW - 3 * DAY,
            drafter="claude-sonnet",
            cost=0.0142,
        ),
        text=REVIEW_TEXT,
        etag="",
        hunks=hunks_of(REVIEW_TEXT),
    )


def failed() -> Draft:
    """Return a draft that could not be written."""
    one = row(
        FAILED,
        "Roadmap with Noor",
        state=DraftState.FAILED,
        path="",
        target="Meetings/2026-11-20-roadmap-with-noor.md",
        created_at=NOW - 2 * HOUR,
        detail="the model did not answer within 60 s",
        attempts=3,
        next_try=NOW + 480,
        meeting_at=at(20, 12).timestamp(),
    )
    return Draft(row=one, text="", etag="")


def done() -> Draft:
    """Return an approved draft."""
    place = "Meetings/2026-11-18-gateway-sync.md"
    one = row(DONE, "Gateway sync", state=DraftState.APPROVED, target=place, path=place, created_at=NOW - 2 * DAY)
    return Draft(row=one, text=SYNC_TEXT.replace("donna: draft\n", ""), etag="")


def at(day: int, hour: float) -> datetime.datetime:
    """Return a time in November 2026, in UTC."""
    return datetime.datetime(2026, 11, day, tzinfo=datetime.UTC) + datetime.timedelta(hours=hour)


def meeting(identity: str, title: str, day: int, hour: float, **fields: Any) -> Meeting:
    """Return a meeting of half an hour."""
    defaults: dict[str, Any] = {
        "calendar": "work",
        "start": at(day, hour),
        "end": at(day, hour + 0.5),
        "day": datetime.date(2026, 11, day),
        "attendees": (Attendee("Priya Raman", "priya@example.org"), Attendee("Tomas Lindqvist")),
    }
    return Meeting(event_id=identity, title=title, **{**defaults, **fields})


def week() -> tuple[MeetingRow, ...]:
    """Return the week of `NOW`, with a meeting in each state."""
    many = tuple(Attendee(f"Guest {n}") for n in range(9))
    return (
        _row(meeting("w-1", "Planning", 16, 9), MeetingState.REJECTED),
        _row(meeting("w-2", "Gateway sync", 18, 9.5), MeetingState.WRITTEN, path="Meetings/2026-11-18-gateway-sync.md"),
        _row(meeting("w-3", "Team day", 19, 0, all_day=True, end=at(20, 0), attendees=many), MeetingState.ENDED),
        _row(meeting("gw-1", "Gateway sync", 20, 9.5, location="Room 4"), MeetingState.DRAFTED, draft=SYNC),
        _row(
            meeting("rm-1", "Roadmap with Noor", 20, 12, attendees=(Attendee("Noor"),)),
            MeetingState.FAILED,
            draft=FAILED,
            detail="the model did not answer within 60 s; next try 14:40",
        ),
        _row(meeting("dr-1", "Failover drill", 20, 13.5), MeetingState.DUE),
        _row(meeting("rv-1", "Design review: the embedded store", 20, 14.25, end=at(20, 15)), MeetingState.NOW),
        _row(meeting("ch-1", "Choir", 20, 18, calendar="private", attendees=()), MeetingState.COMING),
        _row(meeting("x-1", "Lunch with Tomas", 21, 12, cancelled=True), MeetingState.CANCELLED),
        _row(meeting("n-1", "Planning", 23, 9), MeetingState.COMING),
    )


def _row(one: Meeting, state: MeetingState, **fields: Any) -> MeetingRow:
    return MeetingRow(meeting=one, state=state, **fields)


def backend_in(state: str) -> FakeBackend:
    """Return a backend in one of the states of `scenarios`, with drafts and meetings where that state allows them."""
    if state == "hostile":
        return hostile_backend()
    made: FakeBackend = getattr(scenarios, state)()
    if state == "normal":
        fill(made.drafts)
    return made


def hostile_backend() -> FakeBackend:
    """Return a hostile vault with hostile drafts and calendars."""
    made = scenarios.hostile()
    fill_hostile(made.drafts)
    return made


def fill(sandbox: FakeDrafts) -> None:
    """Add the drafts of a day and the meetings of a week."""
    for draft in (review(), done(), failed(), sync()):
        sandbox.add(draft)
    sandbox.agenda = list(week())
    sandbox.followed = [
        CalendarRow(name="work", kind="caldav", meetings=9, fetched_at=NOW - 300),
        CalendarRow(name="private", kind="ics", meetings=1, fetched_at=NOW - 900),
    ]
    sandbox.previews["rv-1"] = MeetingPreview(
        target="Meetings/2026-11-20-design-review.md",
        text="# Design review: the embedded store\n\n## Before the meeting\n\n- The hot set stays in the process. ([[decisions#Cache]])\n",
        evidence=(evidence(1, DECISIONS, "The hot set stays in the process."),),
        remarks=("no note of the last meeting of this series was found",),
    )


def break_it(sandbox: FakeDrafts) -> None:
    """Add a calendar that cannot be read."""
    fill(sandbox)
    problem = "the server refused the password"
    sandbox.followed[0] = CalendarRow(name="work", kind="caldav", fetched_at=NOW - DAY, problem=problem)


def fill_hostile(sandbox: FakeDrafts) -> None:
    """Add drafts and meetings in which every text is hostile."""
    for draft in reversed(tuple(_nasty_drafts())):
        sandbox.add(draft)
    sandbox.agenda = list(_nasty_meetings())
    sandbox.followed = [
        CalendarRow(name=payload, kind="ics", fetched_at=NOW, problem=hostile.EVERYTHING if place % 2 else "")
        for place, payload in enumerate(hostile.ALL.values())
    ]
    nasty = evidence(1, hostile.paths()[3], hostile.EVERYTHING, heading_path=(hostile.EVERYTHING,))
    for each in sandbox.agenda:
        sandbox.previews[each.meeting.event_id] = MeetingPreview(
            target=hostile.EVERYTHING,
            text=_nasty_text(each.meeting.title),
            evidence=(nasty,),
            remarks=(hostile.EVERYTHING,),
        )


def _nasty_text(payload: str) -> str:
    body = "\n".join(hostile.ALL.values())
    return f"---\ntitle: {hostile.MARKUP['close']}\n{payload}\n---\n# {payload}\n\n{body}\n\n{hostile.LONG_WORD}\n"


def _nasty_drafts() -> Iterator[Draft]:
    states = (DraftState.WAITING, DraftState.FAILED)
    for place, (name, payload) in enumerate(hostile.ALL.items()):
        text = _nasty_text(payload)
        one = row(
            f"h-{name}",
            f"{payload} {hostile.EVERYTHING}",
            skill=f"meeting_{payload}",
            state=states[place % 2],
            target=f"Meetings/{payload}.md",
            path="" if place % 2 else f"Inbox/{payload}.md",
            drafter=hostile.EVERYTHING,
            detail=hostile.EVERYTHING,
            reason=payload,
            created_at=(NOW - place * HOUR) if place % 5 else 1e300,
            next_try=-1e300,
        )
        passages = tuple(
            evidence(
                number,
                hostile.paths()[number],
                hostile.EVERYTHING,
                source_type=hostile.EVERYTHING if number == 1 else "vault",
                title=hostile.EVERYTHING,
                heading_path=(hostile.EVERYTHING, hostile.LONG_HEADING, "[/]"),
                end_line=10**9,
            )
            for number in (1, 2, 3)
        )
        yield Draft(
            row=one,
            text=text,
            etag="",
            evidence=passages,
            claims=(Claim(5, 10**9, (1, 2, 3, 99)), Claim(-4, 0, (2,))),
            hunks=(DraftHunk(1, 5, 9), DraftHunk(2, 10, 60)),
            remarks=(hostile.EVERYTHING,) * 5,
        )


def _nasty_meetings() -> Iterator[MeetingRow]:
    states = tuple(MeetingState)
    for place, (name, payload) in enumerate(hostile.ALL.items()):
        people = tuple(Attendee(f"{each} {payload}", each) for each in hostile.ALL.values())
        one = meeting(
            f"h-{name}",
            f"{payload} {hostile.EVERYTHING}",
            16 + place % 7,
            place / 2,
            calendar=payload,
            location=hostile.EVERYTHING,
            description=_nasty_text(payload),
            attendees=people,
        )
        yield MeetingRow(
            meeting=one,
            state=states[place % len(states)],
            detail=hostile.EVERYTHING,
            draft="h-clipboard" if states[place % len(states)] is MeetingState.DRAFTED else "",
            path=hostile.paths()[0] if states[place % len(states)] is MeetingState.WRITTEN else "",
        )


def stop_the_clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Set the clock of both screens to `NOW`, in UTC."""
    monkeypatch.setenv("TZ", "UTC")
    time.tzset()
    for module in ("review", "meetings"):
        monkeypatch.setattr(f"donna_tui.tui.{module}.pane.time", lambda: NOW)
