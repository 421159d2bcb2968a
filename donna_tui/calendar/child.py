"""Read a calendar file in a child process: `python -m donna_tui.calendar.child REQUEST`, with the file on stdin.

REQUEST is a JSON object with `calendar`, `start`, `end`, `zone` and `seconds`. One line of JSON is printed:
`{"ok": true, "meetings", "problems", "complete"}`. The process cannot write files and has bounded memory, so a
malicious file can only end it.
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

MEMORY_BYTES = 1_000_000_000
SPARE_SECONDS = 2


def main() -> int:
    request = json.loads(sys.argv[1])
    confine(request["seconds"])
    window = Window(datetime.fromisoformat(request["start"]), datetime.fromisoformat(request["end"]))
    data = sys.stdin.buffer.read()
    try:
        answer = answer_of(
            read_calendar(data, request["calendar"], window, zone_named(request["zone"]), request["seconds"])
        )
    except MemoryError:
        answer = {"ok": False, "message": "it needs too much memory"}
    json.dump(answer, sys.stdout)
    return 0


def confine(seconds: float) -> None:
    """Set the resource limits of this process, ignoring those that the system does not support."""
    processor = int(seconds) + SPARE_SECONDS
    for kind, limit in (
        (resource.RLIMIT_CPU, processor),
        (resource.RLIMIT_AS, MEMORY_BYTES),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(kind, (limit, limit))


def answer_of(fetched: Fetched) -> dict[str, Any]:
    rows = []
    for meeting in fetched.meetings:
        values = {field.name: getattr(meeting, field.name) for field in fields(meeting)}
        row = {name: value.isoformat() if isinstance(value, date) else value for name, value in values.items()}
        rows.append(
            row | {"attendees": [[attendee.name, attendee.email, attendee.declined] for attendee in meeting.attendees]}
        )
    problems = [asdict(problem) for problem in fetched.problems]
    return {"ok": True, "meetings": rows, "problems": problems, "complete": fetched.complete}


if __name__ == "__main__":
    sys.exit(main())
