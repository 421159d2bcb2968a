"""Calendars are followed only if the user's settings name them; an invalid entry is refused with its place."""

from __future__ import annotations

from pathlib import Path

import pytest

from donna_tui.config.calendars import CalendarConfig
from donna_tui.config.schema import value_of
from tests.unit.test_config_agents import loaded, refused


def test_calendars_of_each_kind_are_read(tmp_path: Path) -> None:
    config = loaded(
        tmp_path,
        """
        calendars:
          - {name: Home, kind: ics, path: ~/home.ics}
          - {name: Club, kind: ics, url: "webcal://club.example/all.ics"}
          - name: Work
            kind: caldav
            url: https://dav.example/me/
            username: me
            password_file: /keys/dav
          - {name: Mail, kind: google, client_file: /keys/client.json}
        """,
    ).config
    home, club, work, mail = config.calendars
    assert home.path == Path.home() / "home.ics"
    assert club.url == "https://club.example/all.ics"
    assert (work.username, work.password_file) == ("me", Path("/keys/dav"))
    assert mail.calendar_id == "primary"
    assert value_of(config, "calendars")[3] == {"name": "Mail", "kind": "google", "client_file": "/keys/client.json"}


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ("{name: A, kind: ics}", "line 3: calendars a calendar of kind ics needs a path or a url"),
        ("{name: A, kind: ics, path: /a, url: https://a.example}", "line 3: calendars a calendar of kind ics needs"),
        ("{name: A, kind: caldav}", "line 3: calendars a calendar of kind caldav needs a url"),
        ("{name: A, kind: google}", "line 3: calendars a calendar of kind google needs a client_file"),
        ("{name: A, kind: icsx, path: /a}", "must be ics or caldav or google, not icsx; did you mean ics?"),
        ("{name: A, kind: ics, path: a.ics}", "line 3: calendars.path must be an absolute path"),
        ("{name: A, kind: ics, paht: /a}", "line 3: calendars.paht is not a setting"),
        ("{kind: ics, path: /a}", "line 3: calendars.name must be given"),
        ("{name: A, kind: ics, url: 'http://a.example/x'}", "line 3: calendars.url must begin with https://"),
        ("{name: A, kind: ics, url: 'file:///etc/passwd'}", "calendars.url must be a web address"),
        (
            "{name: A, kind: ics, url: 'https://me:secret@a.example'}",
            "calendars.url must not contain a name or password",
        ),
        ("just words", "line 3: calendars must be a block of settings"),
    ],
)
def test_invalid_calendar_settings_are_refused_with_their_line(tmp_path: Path, given: str, told: str) -> None:
    message = refused(tmp_path, f"\ncalendars:\n  - {given}\n")
    assert told in message
    assert "[type=" not in message
    assert "secret" not in message


def test_two_calendars_have_two_names(tmp_path: Path) -> None:
    text = "calendars:\n  - {name: A, kind: ics, path: /a}\n  - {name: A, kind: ics, path: /b}\n"
    assert "two are called A" in refused(tmp_path, text)


def test_http_is_for_this_machine_only() -> None:
    for host in ("localhost", "127.0.0.1", "[::1]"):
        assert CalendarConfig(name="A", kind="caldav", url=f"http://{host}:5232/").url.startswith("http://")
    for host in ("localhost.example", "127.0.0.1.example", "10.0.0.1", "169.254.169.254"):
        with pytest.raises(ValueError, match="https"):
            CalendarConfig(name="A", kind="caldav", url=f"http://{host}/")
