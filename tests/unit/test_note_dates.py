"""The date of a note: from its frontmatter, else its file name, else its last change."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from typing import Any

import pytest

from donna_tui.vault.note.read import iso_date, note_date

CHANGED = datetime.datetime(2026, 11, 24, 9, 30).timestamp()


def day_of(path: str, **frontmatter: Any) -> str:
    return iso_date(note_date(frontmatter, path, CHANGED))


@pytest.mark.parametrize(
    ("path", "day"),
    [
        ("Meetings/2026-03-12-standup.md", "2026-03-12"),
        ("Daily/2026-03-12.md", "2026-03-12"),
        ("20260312.md", "2026-03-12"),
        ("Zettel/202603121030 a thought.md", "2026-03-12"),
        ("IMG_20260312_101500.md", "2026-03-12"),
        ("2026_03_12 call.md", "2026-03-12"),
        ("2026.03.12.md", "2026-03-12"),
        ("12.03.2026 Protokoll.md", "2026-03-12"),
        ("Retro 5.3.2026.md", "2026-03-05"),
        ("24-11-2026 Retro.md", "2026-11-24"),
        ("Retro_11-24-2026.md", "2026-11-24"),
        ("24-11-2026-retro.md", "2026-11-24"),
        ("Notes of 12 March 2026.md", "2026-03-12"),
        ("March 12th, 2026.md", "2026-03-12"),
        ("Journal/2026/03/12.md", "2026-03-12"),
        ("Reviews/2026-W11.md", "2026-03-09"),
        ("2026-03.md", "2026-03-01"),
    ],
)
def test_a_date_in_the_file_name(path: str, day: str) -> None:
    assert day_of(path) == day


@pytest.mark.parametrize(
    "path",
    [
        "2026-02-30.md",
        "2026-13-01.md",
        "call +49 2026031299.md",
        "1.2026.03.md",
        "12-03-2026.md",
        "31-02-2026.md",
        "555-24-11-2026.md",
        "Release v5.3.2026.md",
        "decision 12 2026.md",
        "Standup 26 February.md",
        "2026-03-12/untitled.md",
        "ISO 8601.md",
        "plan 2026.md",
    ],
)
def test_what_is_no_date_in_a_name_leaves_the_last_change(path: str) -> None:
    assert note_date({}, path, CHANGED) == CHANGED


@pytest.mark.parametrize(
    ("value", "day"),
    [
        ("2026-03-12", "2026-03-12"),
        ("2026-03-12T23:59", "2026-03-12"),
        ("2026/03/12", "2026-03-12"),
        ("[[2026-03-12]]", "2026-03-12"),
        ([["2026-03-12"]], "2026-03-12"),
        (20260312, "2026-03-12"),
        ("Thursday, 12 March 2026", "2026-03-12"),
        ("1789-07-14", "1789-07-14"),
    ],
)
def test_a_date_in_the_frontmatter(value: Any, day: str) -> None:
    assert day_of("2020-01-01.md", date=value) == day
    assert day_of("2020-01-01.md", Date=value) == day


def test_a_time_with_a_zone_is_that_moment() -> None:
    assert note_date({"event_start": "2026-03-12T10:00:00+02:00"}, "x.md", CHANGED) == 1773302400.0


def test_note_date_keys_have_a_fixed_precedence() -> None:
    keys = {"created": "2026-01-01", "event_start": "2026-01-02", "date": "2026-01-03"}
    assert day_of("2026-01-04.md", **keys) == "2026-01-03"
    assert day_of("2026-01-04.md", created="2026-01-01", event_start="2026-01-02") == "2026-01-02"
    assert day_of("2026-01-04.md", created="2026-01-01", date="{{date}}") == "2026-01-01"
    assert day_of("2026-01-04.md", created="someday", date=None) == "2026-01-04"
    assert day_of("note.md", created=True, date="0000-00-00") == "2026-11-24"


def test_a_day_stays_the_same_day_in_another_time_zone(set_zone: Callable[[str], None]) -> None:
    set_zone("Europe/Berlin")
    stored = note_date({"date": "2026-03-12"}, "x.md", CHANGED)
    for zone in ("America/Los_Angeles", "Asia/Tokyo"):
        set_zone(zone)
        assert iso_date(stored) == "2026-03-12"
