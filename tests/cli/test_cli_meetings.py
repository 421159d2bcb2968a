"""The commands for meetings: text, JSON and exit codes."""

from __future__ import annotations

import datetime
from pathlib import Path

import pytest

from tests.cli.running import Donna
from tests.unit.calendar_parts import MAY_6, calendar, event

BERLIN = {"TZ": "Europe/Berlin"}
PLAN = event(*MAY_6, "SUMMARY:Plan", "LOCATION:Here", "ATTENDEE;CN=Ana:mailto:ana@example.invalid", uid="plan")


@pytest.fixture
def work(tmp_path: Path) -> Path:
    file = tmp_path / "work.ics"
    days = event("DTSTART;VALUE=DATE:20240507", "SUMMARY:Holiday\u001b[31m", uid="days")
    file.write_bytes(calendar(PLAN, event(*MAY_6, "RRULE:FREQ=WEEKLY;COUNT=2", "STATUS:CANCELLED", uid="week"), days))
    return file


def test_a_file_is_imported_and_its_meetings_are_listed(donna: Donna, vault: Path, work: Path) -> None:
    ran = donna("meetings", "import", work, "--space", vault, **BERLIN)
    assert (ran.code, ran.out.strip(), ran.err) == (0, "work.ics: 4 meetings, 4 new", "")
    ran = donna("meetings", "list", "--from", "2024-05-06", "--days", "2", "--space", vault, **BERLIN)
    assert ran.out.splitlines() == [
        "2024-05-06  11:00–12:00  (no title)  cancelled  (work.ics)  week/20240506T090000Z",
        "2024-05-06  11:00–12:00  Plan  (work.ics)  plan",
        "2024-05-07  all day      Holiday␛[31m  (work.ics)  days",
    ]
    assert donna("meetings", "list", "--space", vault, **BERLIN).err.startswith("no meetings from ")
    ran = donna("meetings", "write", "week/20240506T090000Z", "--space", vault, **BERLIN)
    assert (ran.code, ran.err.strip()) == (2, "donna: this meeting was cancelled: no note is written")


def test_a_meeting_in_json_is_the_one_object_that_scripts_know(donna: Donna, vault: Path, work: Path) -> None:
    first = donna("meetings", "import", work, "--json", "--space", vault, **BERLIN).json
    assert first == {
        "ok": True, "file": str(work), "calendar": "work.ics", "count": 4, "new": 4, "changed": 0, "gone": 0,
        "complete": True, "problems": [],
    }  # fmt: skip
    again = donna("meetings", "import", work, "--json", "--space", vault, **BERLIN).json
    assert (again["count"], again["new"], again["changed"]) == (4, 0, 0)
    listed = donna("meetings", "list", "--from", "2024-05-06", "--days", "1", "--json", "--space", vault, **BERLIN).json
    assert listed["count"] == 2
    assert listed["meetings"][1] == {
        "event_id": "plan", "title": "Plan", "start": "2024-05-06T11:00:00+02:00", "end": "2024-05-06T12:00:00+02:00",
        "day": "2024-05-06", "all_day": False, "calendar": "work.ics", "series_id": "", "location": "Here",
        "attendees": [{"name": "Ana", "email": "ana@example.invalid"}], "cancelled": False,
    }  # fmt: skip
    assert listed["meetings"][0]["series_id"] == "week"
    agenda = donna("mcp", "--call", "agenda", "2024-05-06", "--space", vault, **BERLIN).json
    assert [(each["title"], each["attendees"]) for each in agenda["meetings"]] == [("", []), ("Plan", ["Ana"])]


def test_unusable_input_is_reported_with_an_exit_code(donna: Donna, vault: Path, tmp_path: Path) -> None:
    file = tmp_path / "odd.ics"
    file.write_bytes(calendar(PLAN, event("SUMMARY:secret words", uid="no\tstart")))
    ran = donna("meetings", "import", file, "--json", "--space", vault)
    assert ran.code == 4
    assert ran.json["problems"] == [
        {"id": "entry 2", "entry": 2, "uid": "no\tstart", "message": "its start cannot be read"}
    ]
    assert "donna: entry 2: its start cannot be read (no" in ran.err
    assert "secret words" not in ran.err
    file.write_bytes(b"<html>")
    assert donna("meetings", "import", file, "--space", vault).code == 5
    page = tmp_path / "page.ics"
    page.write_bytes(b"<html>")
    assert donna("meetings", "import", page, "--space", vault).code == 5
    assert "page.ics" not in donna("calendar", "list", "--json", "--space", vault).out
    missing = donna("meetings", "import", tmp_path / "missing.ics", "--json", "--space", vault)
    assert (missing.code, missing.json["reason"]) == (2, "usage")


def test_an_invalid_day_is_refused(donna: Donna, vault: Path) -> None:
    ran = donna("meetings", "list", "--from", "soon", "--json", "--space", vault)
    assert (ran.code, ran.json["reason"]) == (2, "usage")
    assert donna("meetings", "list", "--from", "9999-12-31", "--space", vault).code == 1


def test_calendars_that_are_followed_are_read_before_they_are_listed(donna: Donna, vault: Path, tmp_path: Path) -> None:
    soon = datetime.datetime.now(datetime.UTC) + datetime.timedelta(hours=1)
    file = tmp_path / "team.ics"
    file.write_bytes(calendar(event(f"DTSTART:{soon:%Y%m%dT%H%M%SZ}", "SUMMARY:Soon", uid="soon")))
    followed = (
        f"[{{name: Team, kind: ics, path: '{file}'}}, {{name: Gone, kind: ics, path: '{tmp_path / 'gone.ics'}'}}]"
    )
    ran = donna("meetings", "list", "--days", "3", "--json", "--space", vault, DONNA_CALENDARS=followed)
    assert [(each["event_id"], each["calendar"]) for each in ran.json["meetings"]] == [("soon", "Team")]
    assert "donna: Gone: " in ran.err
    refused = donna("meetings", "import", file.rename(tmp_path / "Team"), "--space", vault)
    assert (refused.code, "a followed calendar is already named Team" in refused.err) == (3, True)


def test_only_google_calendars_are_connected(donna: Donna, vault: Path) -> None:
    ran = donna("meetings", "connect", "Team", "--json", "--space", vault)
    assert (ran.code, ran.json["message"]) == (2, "there is no calendar Team of kind google")
