"""Format numbers, durations, sizes, times and paths for people."""

from __future__ import annotations

import time
from datetime import date, datetime
from pathlib import Path

from rich.cells import cell_len

from donna_tui.safety.terminal import clean_line
from donna_tui.text.plural import plural as plural

_MINUTE = 60
_HOUR = 3600
_DAY = 24 * _HOUR
_UNITS = ("kB", "MB", "GB", "TB")
_LONGEST_LINE = 600
"""Maximum number of characters of a text that are processed for one line; no screen shows more."""


def count(number: int) -> str:
    """Format `2914` as `2,914`."""
    return f"{number:,}"


def percent(part: int, whole: int) -> str:
    """Format a share as `84 %`. The result is 0 or 100 only when that is exact."""
    if whole <= 0 or part >= whole:
        return "100 %"
    share = 100 * part / whole
    return f"{min(99, max(1, round(share))) if part > 0 else 0} %"


def estimate(seconds: float) -> str:
    """Format a remaining time as a rough estimate: `about 2 min`."""
    if seconds < 10:
        return "a few seconds"
    if seconds < 55:
        return f"about {round(seconds / 10) * 10} s"
    if seconds < _HOUR - 30:
        return f"about {max(1, round(seconds / _MINUTE))} min"
    hours, minutes = divmod(round(seconds / _MINUTE / 10) * 10, 60)
    return f"about {hours} h {minutes} min" if minutes else f"about {hours} h"


def milliseconds(value: float | None) -> str:
    """Format a measured time in milliseconds: `<1 ms`, `41 ms`, `1.4 s`, `3 min`, or a dash for None."""
    if value is None:
        return "–"
    if value < 1:
        return "<1 ms"
    if value < 999.5:
        return f"{value:.0f} ms"
    seconds = value / 1000
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < _MINUTE:
        return f"{seconds:.0f} s"
    return f"{count(round(seconds / _MINUTE))} min" if seconds < 100 * _MINUTE else f"{count(round(seconds / _HOUR))} h"


def size(number: int) -> str:
    """Format a file size in decimal units: `38.3 MB`."""
    if number < 1000:
        return plural(number, "byte")
    value = float(number)
    for unit in _UNITS:
        value /= 1000
        if value < 999.5 or unit == _UNITS[-1]:
            break
    return f"{value:.1f} {unit}" if value < 10 else f"{value:,.0f} {unit}"


def clock(at: float) -> str:
    """Format the local time of day of a Unix time: `14:32:05`."""
    return local(at, "%H:%M:%S")


def next_try(at: float | None, now: float | None = None) -> str:
    """Format the time of the next automatic retry: a time in the past means soon."""
    if at is None:
        return "not automatically"
    return clock(at) if at > (time.time() if now is None else now) else "in a moment"


def moment(at: float) -> str:
    """Format the local day and time of a Unix time: `20 Nov 14:32`."""
    return local(at, "%d %b %H:%M").lstrip("0")


def local_day(at: float) -> date:
    """Return the local day of a Unix time. Raises OverflowError, ValueError or OSError out of range."""
    return datetime.fromtimestamp(at).astimezone().date()


def near_day(day: date, today: date) -> str:
    """Return the name of a day next to `today`, or of that day; empty for any other."""
    return {0: "today", 1: "tomorrow", -1: "yesterday"}.get((day - today).days, "")


def near_moment(at: float, now: float) -> str:
    """Format the local day and time of a Unix time, with a name for a near day: `today 14:32`, `20 Nov 14:32`."""
    try:
        name = near_day(local_day(at), local_day(now))
    except (OverflowError, ValueError, OSError):
        return "–"
    return f"{name} {clock(at)[:5]}" if name else moment(at)


def day(at: float) -> str:
    """Format the local day of a Unix time, with its year: `8 May 2023`; empty if the time is unknown."""
    return local(at, "%d %b %Y").lstrip("0") if at else ""


def age(at: float, now: float) -> str:
    """Format the age of a Unix time in its largest unit: `now`, `5 min`, `3 h`, `2 d`, and then its day."""
    seconds = now - at
    if seconds < _MINUTE:
        return "now"
    if seconds < _HOUR:
        return f"{seconds // _MINUTE:.0f} min"
    if seconds < _DAY:
        return f"{seconds // _HOUR:.0f} h"
    return f"{seconds // _DAY:.0f} d" if seconds < 7 * _DAY else local(at, "%d %b").lstrip("0")


def one_line(text: str) -> str:
    """Return the beginning of a text on one line, sanitised."""
    return clean_line(" ".join(text[:_LONGEST_LINE].split()))


def short_line(text: str, most: int) -> str:
    line = one_line(text)
    return line if len(line) <= most else f"{line[: most - 1]}…"


def task_title(parent: str, title: str, most: int) -> str:
    """Format the title of a task, that of a sub-task after `most` characters of its parent's: `Prepare … › send it`."""
    return f"{short_line(parent, most)} › {title}" if parent else title


def shorten_path(path: str, cells: int) -> str:
    """Shorten `path` to at most `cells` columns, cutting at the front because the end distinguishes notes."""
    if cell_len(path) <= cells:
        return path
    kept = path
    while "/" in kept:
        kept = kept.split("/", 1)[1]
        if cell_len(kept) + 2 <= cells:
            return f"…/{kept}"
    if cells <= 1:
        return ""
    end = kept[1 - cells :]
    while cell_len(end) > cells - 1:
        end = end[1:]
    return f"…{end}"


def short_root(root: str) -> str:
    """Format a folder as a shell does, with `~` for the home folder; sanitised."""
    path = Path(root)
    home = Path.home()
    return clean_line(f"~/{path.relative_to(home).as_posix()}" if home in path.parents else root)


def local(at: float, pattern: str) -> str:
    """Format a Unix time as local time; a dash for a time outside the calendar's range."""
    try:
        return datetime.fromtimestamp(at).astimezone().strftime(pattern)
    except (OverflowError, ValueError, OSError):
        return "–"
