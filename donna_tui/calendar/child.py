"""Reads a calendar file in a process of its own: `python -m donna_tui.calendar.child ASKED`, the file on stdin.

ASKED is a JSON object with `calendar`, `start`, `end`, `zone` and `seconds`. One line of JSON is printed: `{"ok": true,
"meetings", "problems", "complete"}`. A file can do no more than end this process: it may neither write nor grow.
"""

from __future__ import annotations

import contextlib
import json
import resource
import sys
from dataclasses import asdict, fields
from datetime import date, datetime
from typing import Any

from donna_tui.calendar.reading import read_calendar
from donna_tui.calendar.values import Fetched, Window, zone_named
from donna_tui.types.drafts import Meeting

MEMORY_BYTES = 1_000_000_000
SPARE_SECONDS = 2


def main() -> int:
    """Read what is on stdin."""
    asked = json.loads(sys.argv[1])
    confine(asked["seconds"])
    window = Window(datetime.fromisoformat(asked["start"]), datetime.fromisoformat(asked["end"]))
    data = sys.stdin.buffer.read()
    try:
        answer = answer_of(read_calendar(data, asked["calendar"], window, zone_named(asked["zone"]), asked["seconds"]))
    except MemoryError:
        answer = {"ok": False, "message": "it needs too much memory"}
    json.dump(answer, sys.stdout)
    return 0


def confine(seconds: float) -> None:
    """Bound what this process can use. Where the system does not know a bound, the others hold."""
    processor = int(seconds) + SPARE_SECONDS
    for kind, most in (
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (most, most))


def answer_of(fetched: Fetched) -> dict[str, Any]:
    """What was read, as plain values."""
    return {
        "ok": True,
        "meetings": [_row(meeting) for meeting in fetched.meetings],
        "problems": [asdict(problem) for problem in fetched.problems],
        "complete": fetched.complete,
    }


def _row(meeting: Meeting) -> dict[str, Any]:
    row = {field.name: getattr(meeting, field.name) for field in fields(meeting)}
    plain = {name: value.isoformat() if isinstance(value, date) else value for name, value in row.items()}
    return plain | {"attendees": [[person.name, person.email, person.declined] for person in meeting.attendees]}


if __name__ == "__main__":
    sys.exit(main())
