"""The time zone of this machine, whatever names it, even without a name."""

from __future__ import annotations

from collections.abc import Iterator
from importlib.resources import files
from io import BytesIO
from zoneinfo import ZoneInfo

import pytest
import tzlocal

from donna_tui.calendar.ics import read_ics
from donna_tui.calendar.values import local_zone, zone_named
from tests.unit.calendar_parts import YEAR, calendar, event, times

FLOATING = calendar(event("DTSTART:20240506T090000", "DURATION:PT1H"))


@pytest.fixture(autouse=True)
def zone_of_the_machine(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    yield monkeypatch
    monkeypatch.undo()
    tzlocal.reload_localzone()


def set_to(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    monkeypatch.setenv("TZ", name)
    tzlocal.reload_localzone()


def test_local_zone_is_the_system_time_zone(zone_of_the_machine: pytest.MonkeyPatch) -> None:
    set_to(zone_of_the_machine, "Asia/Kathmandu")
    assert local_zone().key == "Asia/Kathmandu"
    assert zone_named("").key == zone_named("No/Where").key == zone_named("../../etc/passwd").key == "Asia/Kathmandu"
    assert zone_named("Europe/Berlin").key == "Europe/Berlin"


async def test_child_process_resolves_an_unnamed_time_zone(zone_of_the_machine: pytest.MonkeyPatch) -> None:
    set_to(zone_of_the_machine, "Asia/Kathmandu")
    data = (files("tzdata.zoneinfo.Asia") / "Kathmandu").read_bytes()
    nameless = ZoneInfo.from_file(BytesIO(data), key="local")
    fetched = await read_ics(FLOATING, "Work", YEAR, nameless)
    assert times(fetched.meetings) == ["0506T0315–0415"]
