"""Copies of `memory.db` in its folder's `backups/`: one an hour at the most, kept for a day, a week and a month."""

from __future__ import annotations

import calendar
import time
from collections.abc import Iterable
from contextlib import suppress
from pathlib import Path

from donna_tui.errors import DatabaseError
from donna_tui.index.database import Database, open_database
from donna_tui.paths import private_folder

FOLDER = "backups"
STAMP = "%Y%m%d-%H%M%S"
APART_SECONDS = 3_600.0
DAY, WEEK = 86_400.0, 7 * 86_400.0

KEPT = ((APART_SECONDS, 4), (DAY, 7), (WEEK, 5))
"""Periods in seconds and how many of each are kept: the newest backup of each period counts for it."""


def backups(folder: Path) -> list[Path]:
    """The backups of a space's memory, the newest first."""
    return sorted((folder / FOLDER).glob("memory-*.db"), reverse=True)


def back_up(database: Database, now: float) -> Path:
    """Copy an open memory, whole and consistent, while others use it. Raises DatabaseError, and DonnaError if the
    folder cannot be made.
    """
    folder = private_folder(database.path.parent / FOLDER)
    target = folder / f"memory-{time.strftime(STAMP, time.gmtime(now))}.db"
    pending = target.with_suffix(".new")
    pending.unlink(missing_ok=True)
    database.run("VACUUM INTO ?", (str(pending),))
    pending.chmod(0o600)
    pending.replace(target)
    for superseded in superseded_by_schedule(backups(database.path.parent), now):
        superseded.unlink(missing_ok=True)
    return target


def back_up_if_due(database: Database, now: float) -> Path | None:
    """A backup if something has changed since the last one and that is an hour old."""
    newest = next(iter(backups(database.path.parent)), None)
    last = taken_at(newest) if newest else 0.0
    if now - last < APART_SECONDS or (newest and not _changed_since(database, newest)):
        return None
    return back_up(database, now)


def taken_at(backup: Path) -> float:
    """When a backup was made (Unix time), by its name; 0 for a name that says nothing."""
    with suppress(ValueError):
        return float(calendar.timegm(time.strptime(backup.stem.removeprefix("memory-"), STAMP)))
    return 0.0


def superseded_by_schedule(found: Iterable[Path], now: float) -> list[Path]:
    """The backups that no period needs any more."""
    newest_first = sorted(found, key=taken_at, reverse=True)
    kept = set(newest_first[:1])
    for period, count in KEPT:
        of_period: dict[int, Path] = {}
        for backup in newest_first:
            age = int((now - taken_at(backup)) // period)
            if age < count:
                of_period.setdefault(age, backup)
        kept |= set(of_period.values())
    return [backup for backup in newest_first if backup not in kept]


def newest_backup(folder: Path) -> Path | None:
    """The newest backup that SQLite finds sound."""
    return next((backup for backup in backups(folder) if _is_sound(backup)), None)


def drop_backups(folder: Path) -> None:
    """Delete all backups, since they hold what is to be forgotten for good."""
    for backup in backups(folder):
        backup.unlink(missing_ok=True)


def _is_sound(backup: Path) -> bool:
    try:
        database = open_database(backup, read_only=True)
    except DatabaseError:
        return False
    try:
        return bool(database.value("PRAGMA quick_check(1)") == "ok")
    except DatabaseError:
        return False
    finally:
        database.close()


def _changed_since(database: Database, backup: Path) -> bool:
    newest = database.value("SELECT seq FROM sqlite_sequence WHERE name = 'changes'") or 0
    try:
        old = open_database(backup, read_only=True)
    except DatabaseError:
        return True
    try:
        return bool(newest != (old.value("SELECT seq FROM sqlite_sequence WHERE name = 'changes'") or 0))
    except DatabaseError:
        return True
    finally:
        old.close()
