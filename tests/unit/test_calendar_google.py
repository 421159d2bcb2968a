"""A Google calendar with answers as in its API's documentation: pages, tokens, people, days, and errors."""

from __future__ import annotations

import asyncio
import errno
import json
import os
import stat
import urllib.request
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from donna_tui.calendar import google
from donna_tui.calendar.google import Endpoints, GoogleCalendar, Tokens, connect
from donna_tui.calendar.values import Fetched
from donna_tui.config.calendars import CalendarConfig
from donna_tui.types.drafts import Attendee
from donna_tui.types.errors import CalendarError, DonnaError
from tests.unit.calendar_parts import BERLIN, YEAR, ids, messages_of, times
from tests.unit.calendar_server import ReceivedRequest, Reply, serving


def item(
    name: str, start: Any = "2024-05-06T11:00:00+02:00", end: Any = "2024-05-06T12:00:00+02:00", **others: Any
) -> Any:
    def moment(value: Any) -> Any:
        return {"dateTime": value} if isinstance(value, str) and "T" in value else {"date": value}

    return {
        "kind": "calendar#event", "id": name, "status": "confirmed", "summary": name, "start": moment(start),
        "end": moment(end), "iCalUID": f"{name}@google.com", **others,
    }  # fmt: skip


@dataclass(slots=True)
class Google:
    """Google's two servers in one: `good` is the token that is accepted."""

    pages: list[Any] = field(default_factory=list)
    good: str = "t1"
    given: Reply | None = None
    listing: Callable[[ReceivedRequest], Reply] | None = None
    renewals: list[dict[str, list[str]]] = field(default_factory=list)

    def __call__(self, asked: ReceivedRequest) -> Reply:
        if asked.path.startswith("/token"):
            self.renewals.append(parse_qs(asked.body.decode()))
            fresh = {"access_token": self.good, "expires_in": 3599, "token_type": "Bearer"}
            return self.given or Reply(body=json.dumps(fresh).encode())
        if asked.headers.get("Authorization") != f"Bearer {self.good}":
            return Reply(401, b'{"error": {"code": 401}}')
        return self.listing(asked) if self.listing else self._page(asked)

    def _page(self, asked: ReceivedRequest) -> Reply:
        number = int(parse_qs(urlsplit(asked.path).query).get("pageToken", ["0"])[0])
        page = {"kind": "calendar#events", "items": self.pages[number] if self.pages else []}
        last = number + 1 >= len(self.pages)
        more = {"nextSyncToken": "sync"} if last else {"nextPageToken": str(number + 1)}
        return Reply(body=json.dumps(page | more).encode(), headers={"Content-Type": "application/json"})


class TokensHarness:
    """A state folder with the files that an account needs."""

    def __init__(self, folder: Path) -> None:
        self.state = folder / "state"
        client = folder / "client.json"
        client.write_text(json.dumps({"installed": {"client_id": "id", "client_secret": "secret"}}))
        client.chmod(0o600)
        self.config = CalendarConfig(name="Mail", kind="google", calendar_id="me@example.invalid", client_file=client)
        self.tokens = Tokens(self.config, self.state, "")

    def store(self, **tokens: Any) -> None:
        self.tokens.store({"refresh_token": "r1", "access_token": "t1", "expires_at": 9e9, **tokens})

    def kept(self) -> dict[str, Any]:
        kept: dict[str, Any] = json.loads(self.tokens.file.read_text())
        return kept

    async def fetch(self, google: Google) -> Fetched:
        with serving(google) as site:
            endpoints = Endpoints(api=f"{site.url}/v3", consent=f"{site.url}/auth", renewal=f"{site.url}/token")
            return await GoogleCalendar(self.config, BERLIN, self.state, endpoints).fetch(YEAR)

    async def refusal(self, google: Google) -> DonnaError:
        with pytest.raises(DonnaError) as caught:
            await self.fetch(google)
        return caught.value


@pytest.fixture
def harness(tmp_path: Path) -> TokensHarness:
    made = TokensHarness(tmp_path)
    made.store()
    return made


async def test_all_pages_of_the_window_are_read(harness: TokensHarness) -> None:
    google = Google([[item("a"), item("b")], [item("c")], [item("d")]])
    with serving(google) as site:
        endpoints = Endpoints(api=f"{site.url}/v3", consent="", renewal=f"{site.url}/token")
        fetched = await GoogleCalendar(harness.config, BERLIN, harness.state, endpoints).fetch(YEAR)
    assert (ids(fetched.meetings), fetched.problems, fetched.complete) == (["a", "b", "c", "d"], (), True)
    first = urlsplit(site.requests[0].path)
    assert first.path == "/v3/calendars/me%40example.invalid/events"
    assert parse_qs(first.query) == {
        "singleEvents": ["true"], "maxResults": ["250"],
        "timeMin": ["2024-01-01T00:00:00+00:00"], "timeMax": ["2025-01-01T00:00:00+00:00"],
    }  # fmt: skip
    assert len(site.requests) == 3
    assert google.renewals == []


async def test_google_entries_are_parsed_with_times_days_and_series(harness: TokensHarness) -> None:
    google = Google(
        [[
            item("timed"),
            item("zoned", start="2024-05-06T09:00:00", end="2024-05-06T10:00:00"),
            item("days", start="2024-05-06", end="2024-05-08"),
            item(
                "s_20240513T090000Z", start="2024-05-14T16:00:00Z", end="2024-05-14T17:00:00Z", recurringEventId="s",
                originalStartTime={"dateTime": "2024-05-13T11:00:00+02:00", "timeZone": "Europe/Berlin"},
            ),
            item("d_20240520", start="2024-05-20", end="2024-05-21", recurringEventId="d",
                 originalStartTime={"date": "2024-05-20"}),
            {"id": "x_20240527T090000Z", "status": "cancelled", "recurringEventId": "x",
             "originalStartTime": {"dateTime": "2024-05-27T09:00:00Z"}},
        ]]
    )  # fmt: skip
    found = {meeting.event_id: meeting for meeting in (await harness.fetch(google)).meetings}
    assert sorted(found) == [
        "d/20240520", "days", "s/20240513T090000Z", "timed", "x/20240527T090000Z", "zoned",
    ]  # fmt: skip
    assert times([found["timed"]]) == ["0506T0900–1000"]
    assert times([found["zoned"]]) == ["0506T0700–0800"]
    assert times([found["days"]]) == ["0505T2200–0507T2200"]
    assert times([found["s/20240513T090000Z"]]) == ["0514T1600–1700"]
    assert (found["days"].all_day, found["days"].day.isoformat()) == (True, "2024-05-06")
    assert (found["s/20240513T090000Z"].series_id, found["timed"].series_id) == ("s", "")
    assert [name for name, meeting in found.items() if meeting.cancelled] == ["x/20240527T090000Z"]


async def test_people_are_named_once_and_rooms_are_not_people(harness: TokensHarness) -> None:
    attendees = [
        {"email": "ana@example.invalid", "displayName": "Ana", "self": True, "responseStatus": "accepted"},
        {"email": "bo@example.invalid"},
        {"email": "BO@example.invalid", "displayName": "Bo B."},
        {"email": "room@resource.calendar.google.com", "displayName": "Room 1", "resource": True},
        {"displayName": "Nobody's mail"},
        {"email": 7}, "nonsense", None,
    ]  # fmt: skip
    organiser = {"email": "ana@example.invalid"}
    google = Google([[item("a", attendees=attendees, organizer=organiser, location="Here", description="What")]])
    (meeting,) = (await harness.fetch(google)).meetings
    assert meeting.attendees == (
        Attendee("Ana", "ana@example.invalid"), Attendee("Bo B.", "BO@example.invalid"), Attendee("Nobody's mail"),
    )  # fmt: skip
    assert (meeting.location, meeting.description, meeting.calendar) == ("Here", "What", "Mail")
    shared = Google([[item("b", organizer={"email": "team@group.calendar.google.com", "displayName": "Team"})]])
    assert [each.attendees for each in (await harness.fetch(shared)).meetings] == [()]


@pytest.mark.parametrize(
    "odd",
    [
        None, "text", {}, {"id": "x"}, item("x", start="2024-02-30", end="2024-03-01"), item("x", start=7),
        item("x", recurringEventId="s"), item("x\n"), {**item("x"), "start": {"dateTime": "soon"}},
        {**item("x"), "start": {"dateTime": "2024-05-06T09:00:00", "timeZone": "Nowhere/Known"}},
        {**item("x"), "start": {"dateTime": "2024-05-06T09:00:00", "timeZone": "../../etc/passwd"}},
    ],
)  # fmt: skip
async def test_malformed_google_entry_is_skipped(harness: TokensHarness, odd: Any) -> None:
    fetched = await harness.fetch(Google([[odd, item("fine")]]))
    assert ids(fetched.meetings) == ["fine"]
    assert [problem.number for problem in fetched.problems] == [1]
    assert fetched.complete


async def test_texts_that_no_database_takes_are_mended(harness: TokensHarness) -> None:
    (meeting,) = (await harness.fetch(Google([[item("a", summary="x\ud800\0y", location=7)]]))).meetings
    assert (meeting.title, meeting.location) == ("x?y", "")


async def test_a_token_that_has_run_out_is_renewed_first(harness: TokensHarness) -> None:
    harness.store(expires_at=5.0)
    google = Google([[item("a")]], good="t2")
    assert ids((await harness.fetch(google)).meetings) == ["a"]
    assert google.renewals == [
        {"grant_type": ["refresh_token"], "refresh_token": ["r1"], "client_id": ["id"], "client_secret": ["secret"]}
    ]
    kept = harness.kept()
    assert (kept["access_token"], kept["refresh_token"]) == ("t2", "r1")
    assert stat.S_IMODE(harness.tokens.file.stat().st_mode) == 0o600
    assert list(harness.tokens.file.parent.iterdir()) == [harness.tokens.file]


async def test_a_token_that_is_refused_is_renewed_once(harness: TokensHarness) -> None:
    google = Google([[item("a")]], good="t2")
    assert ids((await harness.fetch(google)).meetings) == ["a"]
    assert len(google.renewals) == 1
    google = Google(good="t3", given=Reply(body=b'{"access_token": "wrong", "expires_in": 10}'))
    assert (await harness.refusal(google)).message == "127.0.0.1 rejected the user name or password"
    assert len(google.renewals) == 1


async def test_revoked_access_is_reported_with_what_to_do(harness: TokensHarness) -> None:
    google = Google(good="t2", given=Reply(400, b'{"error": "invalid_grant"}'))
    error = await harness.refusal(google)
    assert (error.message, error.hint) == ("Donna has no access to Mail yet", 'donna meetings connect "Mail"')
    harness.tokens.file.unlink()
    assert (await harness.refusal(Google())).hint == 'donna meetings connect "Mail"'


def test_tokens_that_cannot_be_stored_leave_the_old_ones(
    harness: TokensHarness, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = harness.tokens.file.read_bytes()

    def full(_: int) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CalendarError, match="cannot be stored: the disk is full"):
        harness.store(access_token="t2")
    assert harness.tokens.file.read_bytes() == before
    assert list(harness.tokens.file.parent.iterdir()) == [harness.tokens.file]


async def test_a_token_that_others_can_read_is_not_used(harness: TokensHarness) -> None:
    harness.tokens.file.chmod(0o644)
    assert (await harness.refusal(Google())).hint == f"chmod 600 {harness.tokens.file}"


@pytest.mark.parametrize(
    ("reply", "expected"),
    [
        (Reply(500, b"oops"), "127.0.0.1 returned an error (500)"),
        (Reply(404, b"{}"), "127.0.0.1 has no such calendar"),
        (Reply(200, b"<html>Sign in</html>"), "127.0.0.1 did not answer like a calendar server"),
        (Reply(200, b'{"items": [{"id": "a"'), "127.0.0.1 did not answer like a calendar server"),
        (Reply(200, b'{"items": 7}'), "127.0.0.1 did not answer like a calendar server"),
        (Reply(200, b"[]"), "127.0.0.1 did not answer like a calendar server"),
        (Reply(200, b"[" * 100_000), "127.0.0.1 did not answer like a calendar server"),
        (Reply(200, b'{"items": []}', cut=True), "127.0.0.1 gave an incomplete or invalid answer"),
    ],
)
async def test_an_unusable_answer_is_reported(harness: TokensHarness, reply: Reply, expected: str) -> None:
    assert (await harness.refusal(Google(listing=lambda asked: reply))).message == expected


@pytest.mark.parametrize("given", [b"<html>", b"{}", b"[]", b'{"access_token": "x", "expires_in": "soon"}'])
async def test_an_unreadable_token_is_reported(harness: TokensHarness, given: bytes) -> None:
    error = await harness.refusal(Google(good="t2", given=Reply(body=given)))
    assert error.message == "Google's answer cannot be read"
    assert harness.kept()["access_token"] == "t1"


async def test_endless_paging_is_stopped(harness: TokensHarness) -> None:
    endless = json.dumps({"items": [item("a")], "nextPageToken": "0"}).encode()
    fetched = await harness.fetch(Google(listing=lambda asked: Reply(body=endless)))
    assert not fetched.complete
    assert messages_of(fetched) == ["it is too large; only 1 meetings are read"]


async def test_text_beyond_the_limit_is_reported(harness: TokensHarness, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(google, "MAX_TEXT", 250)
    fetched = await harness.fetch(Google([[item(f"{number}", summary="x" * 100) for number in range(3)]]))
    assert (len(fetched.meetings), fetched.complete) == (2, False)
    assert messages_of(fetched) == ["it is too large; only 2 meetings are read"]


async def consent(
    harness: TokensHarness, google: Google, answer: Callable[[dict[str, list[str]]], str]
) -> dict[str, list[str]]:
    """Connect as a user does whose browser is redirected with the query that `answer` returns."""
    shown: list[str] = []
    with serving(google) as site:
        endpoints = Endpoints(api="", consent=f"{site.url}/auth", renewal=f"{site.url}/token")
        tokens = Tokens(harness.config, harness.state, endpoints.renewal)
        connecting = asyncio.create_task(connect(tokens, shown.append, endpoints))
        while not shown:
            await asyncio.sleep(0.01)
        asked = parse_qs(urlsplit(shown[0]).query)
        for query in ("", "code=forged&state=guessed", answer(asked)):
            await asyncio.to_thread(_visit, f"{asked['redirect_uri'][0]}/?{query}")
        await connecting
    return asked


def _visit(url: str) -> None:
    with urllib.request.urlopen(url, timeout=30) as page:
        assert b"You can close this page" in page.read()


async def test_the_user_agrees_in_the_browser(harness: TokensHarness) -> None:
    given = Reply(body=b'{"access_token": "t9", "refresh_token": "r9", "expires_in": 10}')
    google = Google(given=given)
    asked = await consent(harness, google, lambda asked: f"code=c1&state={asked['state'][0]}")
    assert asked["redirect_uri"][0].startswith("http://127.0.0.1:")
    assert asked["scope"] == ["https://www.googleapis.com/auth/calendar.events.readonly"]
    (exchange,) = google.renewals
    assert (exchange["code"], exchange["redirect_uri"]) == (["c1"], asked["redirect_uri"])
    assert len(exchange["code_verifier"][0]) >= 43
    assert (harness.kept()["refresh_token"], harness.kept()["access_token"]) == ("r9", "t9")


@pytest.mark.parametrize(
    ("given", "why"), [("error=access_denied", "denied, by Google or by you"), ("code=c1", "no permanent access")]
)
async def test_refused_consent_keeps_the_stored_token(harness: TokensHarness, given: str, why: str) -> None:
    with pytest.raises(DonnaError, match=why):
        await consent(harness, Google(), lambda asked: f"{given}&state={asked['state'][0]}")
    assert harness.kept()["refresh_token"] == "r1"
