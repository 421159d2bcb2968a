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
from dataclasses import fields
from datetime import date, datetime
from typing import Any

from donna_tui.calendar.reading import read_calendar
from donna_tui.calendar.values import Window, zone_named

MEMORY_BYTES = 1_000_000_000
SPARE_SECONDS = 2


def main() -> int:
    request = json.loads(sys.argv[1])
    confine(request["seconds"])
    window = Window(datetime.fromisoformat(request["start"]), datetime.fromisoformat(request["end"]))
    data = sys.stdin.buffer.read()
    try:
        fetched = read_calendar(data, request["calendar"], window, zone_named(request["zone"]), request["seconds"])
        answer = {"ok": True, **plain(fetched)}
    except MemoryError:
        answer = {"ok": False, "message": "it needs too much memory"}
    json.dump(answer, sys.stdout, default=plain)
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


def plain(value: Any) -> Any:
    """Convert a date or the fields of a dataclass for JSON. `asdict` would copy each date of each meeting."""
    if isinstance(value, date):
        return value.isoformat()
    return {field.name: getattr(value, field.name) for field in fields(value)}


if __name__ == "__main__":
    sys.exit(main())
