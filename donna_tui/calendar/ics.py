"""Read calendar files with a size limit, and parse them in a child process that can be killed."""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import stat
import sys
from collections.abc import AsyncIterator
from importlib.util import find_spec
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

from pydantic import TypeAdapter

from donna_tui.calendar.values import FILE_BYTES, EntryProblem, Fetched, Window
from donna_tui.platform.paths import expanded
from donna_tui.types.errors import CalendarError, DonnaError, Reason

FOLDER_BYTES = 20_000_000
MAX_FILES = 20_000

Version = tuple[tuple[str, int, int], ...]
"""Name, size and modification time of each file, to detect changes."""


def named_path(text: str) -> Path:
    """Return the absolute path that the user named. Raises DonnaError (`usage`) if nothing is there."""
    path = expanded(Path(text)).absolute()
    try:
        path.stat()
    except OSError as error:
        raise DonnaError(Reason.USAGE, f"{path} cannot be read ({error.strerror})") from error
    return path


def calendar_files(path: Path) -> list[Path]:
    """Return the file, or the `.ics` files in the folder, by name. Raises CalendarError if there is neither."""
    try:
        if not path.is_dir():
            return [path]
        files = sorted(file for file in path.iterdir() if file.suffix.lower() == ".ics" and file.name[0] != ".")
    except OSError as error:
        raise unreadable(path, error) from error
    if len(files) > MAX_FILES:
        raise CalendarError(Reason.CALENDAR_FAILED, f"{path} has more than {MAX_FILES:,} calendar files")
    return files


def version_of(path: Path) -> Version:
    try:
        statuses = [(file.name, file.stat()) for file in calendar_files(path)]
    except (OSError, CalendarError):
        return ()
    return tuple((name, status.st_size, status.st_mtime_ns) for name, status in statuses)


def read_calendar_file(file: Path) -> bytes:
    """Read a file up to one byte more than `FILE_BYTES`, so that a larger one is detected. Raises CalendarError."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        with os.fdopen(descriptor, "rb") as opened:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise CalendarError(Reason.CALENDAR_FAILED, f"{file} is not a file")
            return opened.read(FILE_BYTES + 1)
    except OSError as error:
        raise unreadable(file, error) from error


def unreadable(path: Path, error: OSError) -> CalendarError:
    return CalendarError(Reason.CALENDAR_FAILED, f"{path} cannot be read ({error.strerror})")


CHILD_MODULE = "donna_tui.calendar.child"
_PACKAGES = Path(__file__).resolve().parents[2]

PROCESSOR_SECONDS = 2.0
SECONDS_PER_MEGABYTE = 1.0
PATIENCE = 10.0
"""Wall-clock limit of a child on a busy machine, as a multiple of its processor time."""

_PASSED_ON = ("PATH", "HOME", "LANG", "LC_ALL", "TZ", "TZDIR", "PYTHONTZPATH", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


async def read_ics(data: bytes, calendar: str, window: Window, zone: ZoneInfo, *, limit: int = FILE_BYTES) -> Fetched:
    """Return the meetings of a calendar file that overlap the window; times without a zone are in `zone`.

    `data` may be several files concatenated, `limit` bytes in all. Unreadable content is a problem, never an error.
    """
    if not all(find_spec(name) for name in ("icalendar", "recurring_ical_events")):
        return _unread("it needs two more packages: pip install 'donna-tui[calendars]'")
    if len(data) > limit:
        return _unread(f"it is larger than {limit // 1_000_000} MB")
    if not data.strip():
        return _unread("it is empty")
    seconds = PROCESSOR_SECONDS + SECONDS_PER_MEGABYTE * len(data) / 1_000_000
    request = request_for(calendar, window, zone, seconds)
    try:
        async with asyncio.timeout(seconds * PATIENCE), reading_child(CHILD_MODULE, request) as child:
            printed, _ = await child.communicate(data)
    except TimeoutError:
        return _unread("it takes too long to read")
    try:
        return fetched_from(await asyncio.to_thread(json.loads, printed))
    except ValueError:
        return _unread("reading it exceeded the time or memory limit")


def _unread(why: str) -> Fetched:
    return Fetched((), (EntryProblem(why),), complete=False)


def request_for(calendar: str, window: Window, zone: ZoneInfo, seconds: float, **others: str) -> str:
    """Return the argument of a child that reads a calendar within some seconds of processor time."""
    start, end = window.start.isoformat(), window.end.isoformat()
    return json.dumps(
        {"calendar": calendar, "start": start, "end": end, "zone": _shared_name(zone), "seconds": seconds, **others}
    )


def _shared_name(zone: ZoneInfo) -> str:
    """Return the name by which another process finds the zone; empty if it has none, like one from /etc/localtime."""
    try:
        return ZoneInfo(zone.key).key if zone.key else ""
    except (ValueError, OSError, KeyError):
        return ""


@contextlib.asynccontextmanager
async def reading_child(module: str, request: str) -> AsyncIterator[asyncio.subprocess.Process]:
    """Start a process that reads calendars, and kill it at the end of the block."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    child = await asyncio.create_subprocess_exec(
        sys.executable,
        "-P",
        "-m",
        module,
        request,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.DEVNULL,
        env={**passed_on, "PYTHONPATH": str(_PACKAGES), "PYTHONDONTWRITEBYTECODE": "1"},
        start_new_session=True,
    )
    try:
        yield child
    finally:
        if child.returncode is None:
            with contextlib.suppress(ProcessLookupError):
                child.kill()
            await child.wait()


def fetched_from(answer: dict[str, Any]) -> Fetched:
    return TypeAdapter(Fetched).validate_python(answer) if answer["ok"] else _unread(answer["message"])
