"""A calendar at a web address: passwords, redirects within its server, and limits."""

from __future__ import annotations

import base64
from pathlib import Path

import pytest

from donna_tui.calendar.http import Login, login_of
from donna_tui.calendar.sources import IcsUrl
from donna_tui.config.calendars import CalendarConfig
from donna_tui.types.errors import CalendarError, DonnaError
from tests.unit.calendar_parts import BERLIN, MAY_6, YEAR, calendar, event, ids
from tests.unit.calendar_server import ReceivedRequest, Reply, serving

FILE = calendar(event(*MAY_6))


def source(url: str, **others: object) -> IcsUrl:
    values = {"name": "Club", "kind": "ics", "url": url, **others}
    return IcsUrl(CalendarConfig.model_validate(values), BERLIN)


async def refusal(url: str, **others: object) -> DonnaError:
    with pytest.raises(DonnaError) as caught:
        await source(url, **others).fetch(YEAR)
    return caught.value


async def test_a_file_on_a_server_is_read() -> None:
    with serving(lambda asked: Reply(body=FILE)) as site:
        fetched = await source(f"{site.url}/secret-token/all.ics").fetch(YEAR)
    assert (ids(fetched.meetings), fetched.complete) == (["one"], True)
    assert [(asked.method, asked.path) for asked in site.requests] == [("GET", "/secret-token/all.ics")]
    assert "Authorization" not in site.requests[0].headers


async def test_the_password_is_read_from_a_file_that_nobody_else_can_read(tmp_path: Path) -> None:
    file = tmp_path / "password"
    file.write_text("open sesame\nand more\n")
    file.chmod(0o600)
    with serving(lambda asked: Reply(body=FILE)) as site:
        await source(site.url, username="me", password_file=str(file)).fetch(YEAR)
    sent = site.requests[0].headers["Authorization"].removeprefix("Basic ")
    assert base64.b64decode(sent) == b"me:open sesame"
    file.chmod(0o640)
    error = await refusal(site.url, username="me", password_file=str(file))
    assert (error.message, error.hint) == (f"{file} is readable by others", f"chmod 600 {file}")
    assert "sesame" not in repr(Login("me", "sesame"))


def test_the_password_may_come_from_the_environment() -> None:
    config = CalendarConfig(name="A", kind="caldav", url="https://a.example", username="me", password_env="DAV_KEY")
    assert login_of(config, {"DAV_KEY": "k"}) == Login("me", "k")
    with pytest.raises(CalendarError, match="DAV_KEY"):
        login_of(config, {})
    assert login_of(CalendarConfig(name="A", kind="caldav", url="https://a.example"), {}) is None


async def test_a_redirect_is_followed_within_the_server() -> None:
    def answers(asked: ReceivedRequest) -> Reply:
        return Reply(302, headers={"Location": "/new.ics"}) if asked.path == "/old.ics" else Reply(body=FILE)

    with serving(answers) as site:
        fetched = await source(f"{site.url}/old.ics").fetch(YEAR)
    assert ids(fetched.meetings) == ["one"]
    assert [asked.path for asked in site.requests] == ["/old.ics", "/new.ics"]


async def test_a_redirect_to_another_server_is_not_followed() -> None:
    with serving(lambda asked: Reply(body=FILE)) as other:
        elsewhere = other.url
        with serving(lambda asked: Reply(302, headers={"Location": f"{elsewhere}/x"})) as site:
            error = await refusal(site.url, username="me")
    assert error.reason == "egress_refused"
    assert other.requests == []


async def test_redirect_loop_is_reported() -> None:
    with serving(lambda asked: Reply(302, headers={"Location": asked.path})) as site:
        assert (await refusal(site.url)).message == "127.0.0.1 redirects in a loop"
    assert len(site.requests) == 4


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(401), "127.0.0.1 rejected the user name or password"),
        (Reply(403), "127.0.0.1 rejected the user name or password"),
        (Reply(404), "127.0.0.1 has no such calendar"),
        (Reply(500, b"<h1>Oops</h1>"), "127.0.0.1 returned an error (500)"),
        (Reply(200, FILE[:50], cut=True), "127.0.0.1 gave an incomplete or invalid answer"),
    ],
)
async def test_a_refusal_is_reported_without_the_address(reply: Reply, expected: str) -> None:
    with serving(lambda asked: reply) as site:
        error = await refusal(f"{site.url}/secret-token")
    assert error.message == expected
    assert "secret-token" not in f"{error.hint}"


async def test_an_answer_that_is_too_large_is_refused() -> None:
    with serving(lambda asked: Reply(body=b"x" * 6_000_000)) as site:
        assert (await refusal(site.url)).reason == "too_large"


async def test_a_server_that_is_gone_is_reported() -> None:
    with serving(lambda asked: Reply()) as site:
        url = site.url
    assert (await refusal(url)).message == "no connection to 127.0.0.1"


async def test_a_web_page_instead_of_a_calendar_is_refused() -> None:
    with serving(lambda asked: Reply(body=b"<html>Sign in</html>")) as site:
        fetched = await source(site.url).fetch(YEAR)
    assert (fetched.meetings, fetched.complete) == ((), False)
