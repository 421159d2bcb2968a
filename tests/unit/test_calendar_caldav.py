"""A calendar on a CalDAV server: a real one, started for the test, and servers that misbehave."""

from __future__ import annotations

import base64
import re
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from donna_tui.calendar.caldav import ANSWER_BYTES, CalDav
from donna_tui.calendar.values import Fetched
from donna_tui.config.calendars import CalendarConfig
from donna_tui.types.drafts import Attendee
from donna_tui.types.errors import DonnaError
from tests.model_server import free_port
from tests.unit.calendar_parts import BERLIN, MAY_6, YEAR, calendar, event, ids, times
from tests.unit.calendar_server import ReceivedRequest, Reply, serving

pytest.importorskip("caldav", reason="the CalDAV library is not installed: pip install 'donna-tui[calendars]'")
pytest.importorskip("radicale")

USER, PASSWORD = "me", "open sesame"
PATIENCE_SECONDS = 60.0
MAKE_CALENDAR = (
    '<?xml version="1.0"?><mkcol xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><set><prop><resourcetype>'
    "<collection/><C:calendar/></resourcetype></prop></set></mkcol>"
)


@dataclass(frozen=True, slots=True)
class Radicale:
    """A running server."""

    url: str

    def send(self, method: str, path: str, body: str | bytes) -> None:
        """Send a request as another calendar program would."""
        data = body.encode() if isinstance(body, str) else body
        proof = base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode()
        request = urllib.request.Request(
            f"{self.url}{path}", data=data, method=method, headers={"Authorization": f"Basic {proof}"}
        )
        with urllib.request.urlopen(request, timeout=PATIENCE_SECONDS):
            pass

    def put(self, path: str, *parts: str) -> None:
        self.send("PUT", path, calendar(*parts))


@pytest.fixture(scope="module")
def radicale(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Radicale]:
    folder = tmp_path_factory.mktemp("radicale")
    (folder / "users").write_text(f"{USER}:{PASSWORD}\n")
    port = free_port()
    command = [
        sys.executable, "-m", "radicale", "--config", "", f"--server-hosts=127.0.0.1:{port}",
        f"--storage-filesystem-folder={folder / 'store'}", "--auth-type=htpasswd",
        f"--auth-htpasswd-filename={folder / 'users'}", "--auth-htpasswd-encryption=plain", "--auth-delay=0",
    ]  # fmt: skip
    with (folder / "log").open("wb") as log:
        server = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=log, stderr=log)
    try:
        url = f"http://127.0.0.1:{port}"
        wait_for(url, server, folder / "log")
        yield Radicale(url)
    finally:
        server.terminate()
        server.wait(PATIENCE_SECONDS)


def wait_for(url: str, server: subprocess.Popen[bytes], log: Path) -> None:
    until = time.monotonic() + PATIENCE_SECONDS
    while time.monotonic() < until and server.poll() is None:
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except urllib.error.HTTPError as error:
            error.close()
            return
        except OSError:
            time.sleep(0.05)
    pytest.fail(f"the server did not start: {log.read_text()[-2000:]}")


@pytest.fixture(scope="module")
def work(radicale: Radicale) -> str:
    """Return the address of a calendar with some meetings."""
    radicale.send("MKCOL", "/me/work/", MAKE_CALENDAR)
    radicale.put(
        "/me/work/one.ics",
        event(
            *MAY_6, "SUMMARY:Plan", "ORGANIZER;CN=Ana:mailto:ana@example.invalid", "ATTENDEE:mailto:bo@example.invalid"
        ),
    )
    weekly = ("DTSTART;TZID=Europe/Berlin:20240506T110000", "DURATION:PT1H", "RRULE:FREQ=WEEKLY;COUNT=3")
    moved = ("RECURRENCE-ID:20240513T090000Z", "DTSTART:20240514T120000Z", "DTEND:20240514T130000Z")
    radicale.put("/me/work/week.ics", event(*weekly, uid="week"), event(*moved, uid="week"))
    radicale.put("/me/work/old.ics", event("DTSTART:20200506T090000Z", "DURATION:PT1H", uid="old"))
    return f"{radicale.url}/me/work/"


def source(url: str, tmp_path: Path, password: str = PASSWORD) -> CalDav:
    file = tmp_path / "password"
    file.write_text(password)
    file.chmod(0o600)
    values = {"name": "Work", "kind": "caldav", "url": url, "username": USER, "password_file": str(file)}
    return CalDav(CalendarConfig.model_validate(values), BERLIN)


async def refusal(url: str, tmp_path: Path, password: str = PASSWORD) -> DonnaError:
    with pytest.raises(DonnaError) as caught:
        await source(url, tmp_path, password).fetch(YEAR)
    return caught.value


EXPECTED = ["one", "week/20240506T090000Z", "week/20240513T090000Z", "week/20240520T090000Z"]


async def test_a_calendar_is_read_with_its_series_and_what_was_moved(work: str, tmp_path: Path) -> None:
    fetched = await source(work, tmp_path).fetch(YEAR)
    assert (ids(fetched.meetings), fetched.problems, fetched.complete) == (EXPECTED, (), True)
    assert times(fetched.meetings) == ["0506T0900–1000", "0506T0900–1000", "0514T1200–1300", "0520T0900–1000"]
    plan = next(meeting for meeting in fetched.meetings if meeting.event_id == "one")
    assert plan.attendees == (Attendee("Ana", "ana@example.invalid"), Attendee("bo", "bo@example.invalid"))


@pytest.mark.parametrize("path", ["", "/", "/me/"])
async def test_the_address_of_the_account_leads_to_its_calendars(
    work: str, radicale: Radicale, tmp_path: Path, path: str
) -> None:
    fetched = await source(f"{radicale.url}{path}", tmp_path).fetch(YEAR)
    assert ids(fetched.meetings) == EXPECTED
    assert work.startswith(radicale.url)


async def test_a_wrong_password_is_reported(work: str, tmp_path: Path) -> None:
    error = await refusal(work, tmp_path, "wrong")
    assert error.message == "127.0.0.1 rejected the user name or password"
    assert error.hint == "check username and password in calendars"


async def test_a_missing_calendar_is_reported(radicale: Radicale, tmp_path: Path) -> None:
    assert (await refusal(f"{radicale.url}/me/none/", tmp_path)).reason == "calendar_failed"


def multistatus(inner: str) -> Reply:
    body = (
        '<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response>'
        f"<href>/</href><propstat><prop>{inner}</prop><status>HTTP/1.1 200 OK</status></propstat></response></multistatus>"
    )
    return Reply(207, body.encode(), {"Content-Type": "application/xml"})


CALENDAR_HERE = multistatus("<resourcetype><collection/><C:calendar/></resourcetype>")


@pytest.mark.cases(2)
@pytest.mark.parametrize(
    "reply",
    [
        Reply(200, b"<html><body>Sign in<br></body></html>", {"Content-Type": "text/html"}),
        Reply(207, b"<multistatus><respon", {"Content-Type": "application/xml"}),
        Reply(207, b"no xml at all", {"Content-Type": "application/xml"}),
        Reply(200, b""),
        Reply(500, b"oops"),
        Reply(207, b"<multistatus xmlns='DAV:'", {"Content-Type": "application/xml"}, cut=True),
    ],
)
async def test_a_server_that_answers_nonsense_is_reported_in_a_sentence(reply: Reply, tmp_path: Path) -> None:
    with serving(lambda asked: reply) as site:
        error = await refusal(site.url, tmp_path)
    assert error.reason == "calendar_failed"
    assert error.message.startswith("127.0.0.1 ")


async def test_a_redirect_keeps_the_question_and_stays_on_the_server(tmp_path: Path) -> None:
    def answers(asked: ReceivedRequest) -> Reply:
        if asked.path == "/old":
            return Reply(301, headers={"Location": "/new/"})
        return CALENDAR_HERE if asked.method == "PROPFIND" else multistatus("")

    with serving(answers) as site:
        fetched = await source(f"{site.url}/old", tmp_path).fetch(YEAR)
    assert fetched == Fetched(())
    assert [(asked.method, asked.path) for asked in site.requests] == [
        ("PROPFIND", "/old"), ("PROPFIND", "/new/"), ("REPORT", "/old"), ("REPORT", "/new/"),
    ]  # fmt: skip


async def test_neither_a_redirect_nor_a_listing_leads_to_another_server(tmp_path: Path) -> None:
    with serving(lambda asked: CALENDAR_HERE) as other:
        elsewhere = other.url
        with serving(lambda asked: Reply(302, headers={"Location": f"{elsewhere}/x"})) as site:
            assert (await refusal(site.url, tmp_path)).reason == "egress_refused"
        account = f"<current-user-principal><href>{elsewhere}/me/</href></current-user-principal>"
        with serving(lambda asked: multistatus(account)) as site:
            error = await refusal(site.url, tmp_path)
    assert error.message.endswith("or redirects to another server")
    assert other.requests == []


async def test_entities_are_not_expanded(tmp_path: Path) -> None:
    laughs = "".join(f'<!ENTITY l{n} "{f"&l{n - 1};" * 10}">' for n in range(1, 12))
    secret = tmp_path / "secret"
    secret.write_text("open sesame")
    data = (
        f'<?xml version="1.0"?><!DOCTYPE x [<!ENTITY l0 "ha">{laughs}<!ENTITY f SYSTEM "{secret.as_uri()}">]>'
        '<multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav"><response><href>/a</href><propstat><prop>'
        "<C:calendar-data>&l11;&f;</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>"
        "</multistatus>"
    )

    def answers(asked: ReceivedRequest) -> Reply:
        report = Reply(207, data.encode(), {"Content-Type": "application/xml"})
        return CALENDAR_HERE if asked.method == "PROPFIND" else report

    with serving(answers) as site:
        error = await refusal(site.url, tmp_path)
    assert error.message == "127.0.0.1 did not answer like a CalDAV server"
    assert "sesame" not in f"{error.hint}{error.__cause__}"


async def test_a_server_that_wants_a_digest_gets_one(tmp_path: Path) -> None:
    def answers(asked: ReceivedRequest) -> Reply:
        if not asked.headers.get("Authorization", "").startswith("Digest "):
            return Reply(401, headers={"WWW-Authenticate": 'Digest realm="dav", nonce="n", qop="auth", algorithm=MD5'})
        return CALENDAR_HERE if asked.method == "PROPFIND" else multistatus("")

    with serving(answers) as site:
        assert await source(site.url, tmp_path).fetch(YEAR) == Fetched(())
    assert all(PASSWORD not in f"{asked.headers}" for asked in site.requests)


async def test_without_the_library_its_installation_is_explained(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr("donna_tui.calendar.caldav.find_spec", lambda name: None)
    error = await refusal("http://127.0.0.1:1/", tmp_path)
    assert error.hint == "pip install 'donna-tui[calendars]'"


def busy(start: str, end: str, number: int, size: int) -> str:
    """Add some large events within the window that is requested, each at its own address."""
    day = datetime.strptime(start, "%Y%m%dT%H%M%SZ")
    step = (datetime.strptime(end, "%Y%m%dT%H%M%SZ") - day) / number
    parts = []
    for each in range(number):
        at = day + step * each
        name = f"{at:%Y%m%d%H}"
        text = event(f"DTSTART:{at:%Y%m%dT%H0000Z}", "DURATION:PT1H", f"DESCRIPTION:{'x' * size}", uid=name)
        parts.append(
            f"<response><href>/{name}.ics</href><propstat><prop><C:calendar-data>{calendar(text).decode()}"
            "</C:calendar-data></prop><status>HTTP/1.1 200 OK</status></propstat></response>"
        )
    return "".join(parts)


async def test_what_is_too_large_is_asked_for_in_halves_and_never_parsed_here(tmp_path: Path) -> None:
    asked_for = []

    def answers(asked: ReceivedRequest) -> Reply:
        if asked.method == "PROPFIND":
            return CALENDAR_HERE
        start, end = re.findall(r"\d{8}T\d{6}Z", asked.body.decode())[:2]
        asked_for.append((start, end))
        is_long = datetime.strptime(end[:8], "%Y%m%d") - datetime.strptime(start[:8], "%Y%m%d") > timedelta(days=100)
        inner = busy(start, end, 3, 1_000_000 if is_long else 1_000)
        body = f'<?xml version="1.0"?><multistatus xmlns="DAV:" xmlns:C="urn:ietf:params:xml:ns:caldav">{inner}</multistatus>'
        return Reply(207, body.encode(), {"Content-Type": "application/xml"})

    with serving(answers) as site:
        fetched = await source(site.url, tmp_path).fetch(YEAR)
    assert len(asked_for) > 3
    assert fetched.complete
    assert len(fetched.meetings) >= 12
    assert not {"caldav", "lxml"} & {name.split(".")[0] for name in imported_by("donna_tui.calendar.caldav")}


def imported_by(module: str) -> set[str]:
    """Return the modules that a fresh interpreter has loaded after importing one."""
    code = f"import sys, {module}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.split())


async def test_a_server_that_answers_too_much_for_any_period_is_reported(tmp_path: Path) -> None:
    large = Reply(207, b"<x>" + b"y" * (ANSWER_BYTES + 1) + b"</x>", {"Content-Type": "application/xml"})
    with serving(lambda asked: CALENDAR_HERE if asked.method == "PROPFIND" else large) as site:
        error = await refusal(site.url, tmp_path)
    assert "more than Donna reads" in error.message


async def test_crashed_caldav_reader_process_is_reported(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr("donna_tui.calendar.caldav.CHILD_MODULE", "tests.unit.no_such_module")
    assert "time or memory" in (await refusal("http://127.0.0.1:1/", tmp_path)).message
