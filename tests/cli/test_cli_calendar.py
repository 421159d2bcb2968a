"""`donna calendar`: a calendar is read before it is added, and only the user's settings change."""

from __future__ import annotations

import datetime
import threading
from collections.abc import Iterator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from tests.cli.running import Donna


def calendar(title: str = "Weekly") -> str:
    start = datetime.datetime.now(datetime.UTC) + datetime.timedelta(days=1)
    return (
        "BEGIN:VCALENDAR\r\nVERSION:2.0\r\nPRODID:-//x//y//EN\r\nBEGIN:VEVENT\r\n"
        f"UID:{title}\r\nDTSTART:{start:%Y%m%dT%H%M%SZ}\r\nDURATION:PT1H\r\nSUMMARY:{title}\r\nEND:VEVENT\r\nEND:VCALENDAR\r\n"
    )


class Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *args: object) -> None:
        pass


@pytest.fixture
def served(tmp_path: Path) -> Iterator[str]:
    folder = tmp_path / "served"
    folder.mkdir()
    (folder / "team.ics").write_text(calendar())
    (folder / "page.html").write_text("<html>not a calendar</html>")
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Quiet, directory=str(folder)))
    threading.Thread(target=server.serve_forever, args=(0.02,), daemon=True).start()
    yield f"http://localhost:{server.server_address[1]}"
    server.shutdown()
    server.server_close()


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    (tmp_path / "vault").mkdir()
    return tmp_path / "vault"


@pytest.mark.slow
def test_a_file_and_an_address_are_added_listed_and_tried(donna: Donna, vault: Path, served: str) -> None:
    (donna.cwd / "home.ics").write_text(calendar("Dentist"))
    for words in (("calendar", "list", "--space", vault), ("meetings", "list", "--space", vault), ("calendar", "test")):
        none = donna(*words)
        assert (none.code, none.out, "no calendar is followed yet" in none.err) == (1, "", True)
    assert "Added home: 1 meeting in" in donna("calendar", "add", "home.ics").out
    unread = donna("calendar", "list", "--space", vault).out
    assert ("not read yet" in unread, "0 meetings" in unread) == (True, False)
    assert donna("calendar", "add", f"{served}/team.ics", "--name", "Team").code == 0
    tried = donna("calendar", "test", "--json").json["calendars"]
    assert [(row["id"], row["ok"], row["meetings"]) for row in tried] == [("home", True, 1), ("Team", True, 1)]
    assert "Dentist" in donna("meetings", "list", "--days", "3", "--space", vault).out
    on_mars = calendar("Dentist").replace("DTSTART", "DTSTART;TZID=Mars").replace("Z\r\nDURATION", "\r\nDURATION")
    (donna.cwd / "home.ics").write_text(on_mars)
    assert (
        "entry 1: its time zone is unknown; its times are treated as local (Dentist)" in donna("calendar", "test").out
    )
    rows = donna("calendar", "list", "--json", "--space", vault).json["calendars"]
    assert [(row["id"], row["meetings"], bool(row["read"])) for row in rows] == [("home", 1, True), ("Team", 1, True)]
    empty = donna("meetings", "list", "--from", "2001-01-01", "--space", vault)
    assert (empty.code, empty.out, empty.err) == (1, "", "no meetings from 2001-01-01 to 2001-01-07\n")


@pytest.mark.slow
def test_calendar_add_rejects_an_invalid_calendar(donna: Donna, served: str) -> None:
    for where in ("nowhere.ics", f"{served}/page.html", f"{served}/missing.ics", "http://example.org/x.ics"):
        ran = donna("calendar", "add", where)
        assert ran.code in (2, 5), ran
        assert ran.err.startswith("donna: ")
    assert not (donna.home / "config" / "memory.yaml").exists()


@pytest.mark.parametrize(
    ("where", "code", "message"),
    [
        ("", 2, "no calendar file or address given"),
        ("/nowhere.ics", 2, "/nowhere.ics cannot be read (No such file or directory)"),
        ("/dev/null", 5, "/dev/null is not a file"),
        ("/~", 2, "/~ cannot be read (No such file or directory)"),
        ("page.ics", 5, "{cwd}/page.ics: it is not a calendar: it has no BEGIN:VCALENDAR"),
        ("~nobodyhere/x.ics", 2, "{cwd}/~nobodyhere/x.ics cannot be read (No such file or directory)"),
        ("http://127.0.0.1:1/x.ics", 5, "no connection to 127.0.0.1"),
    ],
)
def test_calendar_add_says_once_what_is_wrong(donna: Donna, where: str, code: int, message: str) -> None:
    (donna.cwd / "page.ics").write_text("<html>")
    ran = donna("calendar", "add", where, "--json")
    assert (ran.code, ran.json["message"]) == (code, message.format(cwd=donna.cwd))
    assert not (donna.home / "config" / "memory.yaml").exists()


def test_calendar_add_rejects_a_duplicate_name(donna: Donna) -> None:
    (donna.cwd / "home.ics").write_text(calendar())
    assert donna("calendar", "add", "home.ics").code == 0
    before = (donna.home / "config" / "memory.yaml").read_bytes()
    again = donna("calendar", "add", "home.ics")
    assert (again.code, "another --name" in again.err) == (3, True)
    assert (donna.home / "config" / "memory.yaml").read_bytes() == before
