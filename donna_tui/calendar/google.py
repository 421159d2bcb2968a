"""Read Google calendars: consent in the browser, tokens, and version 3 of the API."""

from __future__ import annotations

import asyncio
import base64
import datetime
import hashlib
import json
import secrets
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, quote, urlencode, urlsplit
from zoneinfo import ZoneInfo

import httpx2
from pydantic import BaseModel, Field, ValidationError

from donna_tui.calendar.http import accepted, calendar_client, exchange, failed, private_text
from donna_tui.calendar.parser import UnusableError, distinct, is_titled_cancelled, named
from donna_tui.calendar.sources import CalendarSource
from donna_tui.calendar.values import (
    DESCRIPTION_CHARS,
    LOCATION_CHARS,
    MAX_MEETINGS,
    MAX_PROBLEMS,
    MAX_TEXT,
    TITLE_CHARS,
    EntryProblem,
    Fetched,
    Window,
    beginning,
    bounded,
    instant,
    local,
)
from donna_tui.config.calendars import CalendarConfig
from donna_tui.http.guard import Head, SmallServer, is_secret, page
from donna_tui.types.drafts import Attendee, Meeting
from donna_tui.types.errors import CalendarError, VaultWriteError
from donna_tui.vault.write.durable import write_durably

SPARE_SECONDS = 60.0
"""Seconds before its expiry at which a token is renewed."""


class _TokenResponse(BaseModel):
    """The answer of the token server."""

    access_token: str
    expires_in: float = Field(0.0, allow_inf_nan=False)
    refresh_token: str = ""


@dataclass(slots=True)
class Tokens:
    """The OAuth tokens of one calendar; `token_url` is the renewal endpoint."""

    config: CalendarConfig
    state: Path
    token_url: str
    clock: Callable[[], float] = time.time

    @property
    def file(self) -> Path:
        name = hashlib.sha256(self.config.name.encode("utf-8", "replace")).hexdigest()[:12]
        return self.state / "calendars" / f"google-{name}.json"

    async def access(self, client: httpx2.AsyncClient, *, renew: bool = False) -> str:
        """Return a valid access token; with `renew` a new one. Raises CalendarError."""
        if not self.file.exists():
            raise self._not_connected()
        stored = _object(private_text(self.file), self.file)
        token, ends = stored.get("access_token"), stored.get("expires_at")
        if not renew and isinstance(token, str) and isinstance(ends, int | float) and self.clock() < ends:
            return token
        refresh = stored.get("refresh_token")
        if not isinstance(refresh, str):
            raise self._not_connected()
        granted = await self.request_tokens(client, {"grant_type": "refresh_token", "refresh_token": refresh})
        self.store({"refresh_token": refresh, **granted})
        return str(granted["access_token"])

    def store(self, tokens: dict[str, Any]) -> None:
        """Store tokens, atomically replacing the old ones. Raises CalendarError."""
        try:
            write_durably(self.file, json.dumps(tokens))
        except VaultWriteError as error:
            raise failed(
                f"Donna's access to {self.config.name} cannot be stored: {error.message}", hint=error.hint
            ) from error

    def _not_connected(self) -> CalendarError:
        hint = f"donna meetings connect {json.dumps(self.config.name, ensure_ascii=False)}"
        return failed(f"Donna has no access to {self.config.name} yet", hint=hint)

    async def request_tokens(self, client: httpx2.AsyncClient, form: dict[str, str]) -> dict[str, Any]:
        """Post a form to the token server; return `access_token`, `expires_at` and possibly a `refresh_token`.

        Raises CalendarError.
        """
        content = urlencode({**form, **oauth_client(self.config).model_dump()}).encode()
        headers = {"Content-Type": "application/x-www-form-urlencoded"}
        answer = await exchange(client, "POST", self.token_url, headers=headers, content=content)
        if answer.status_code in (400, 401):
            raise self._not_connected()
        try:
            granted = _TokenResponse.model_validate_json(accepted(answer).content)
        except ValueError as error:
            raise failed("Google's answer cannot be read", hint="it will be retried later") from error
        stored = {"access_token": granted.access_token, "expires_at": self.clock() + granted.expires_in - SPARE_SECONDS}
        return stored | ({"refresh_token": granted.refresh_token} if granted.refresh_token else {})


class OAuthClient(BaseModel):
    """The client that the user created at Google."""

    client_id: str
    client_secret: str


def oauth_client(config: CalendarConfig) -> OAuthClient:
    """Read the client from its file. Raises CalendarError."""
    assert config.client_file is not None
    data = _object(private_text(config.client_file), config.client_file)
    try:
        return OAuthClient.model_validate(data.get("installed", data))
    except ValidationError:  # its message would contain the secret
        hint = "create one of the type “desktop app” at Google, and download its JSON file"
        raise failed(f"{config.client_file} is not the file of an OAuth client", hint=hint) from None


def _object(text: str, file: Path) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise failed(f"{file} is not JSON") from error
    if not isinstance(data, dict):
        raise failed(f"{file} is not a JSON object")
    return data


ID_CHARS = 1_100
"""Maximum number of characters of an id; Google's have at most 1,024."""

_NOT_PEOPLE = ("@group.calendar.google.com", "@resource.calendar.google.com")


def google_meeting(item: Any, calendar: str, zone: ZoneInfo) -> Meeting:
    """Convert an entry of the listing to a meeting. Raises UnusableError."""
    if not isinstance(item, dict):
        raise UnusableError("it is not an entry")
    original = item.get("originalStartTime")
    first = _moment(item.get("start", original), "its start cannot be read", zone)
    last = _moment(item.get("end", item.get("start", original)), "its end cannot be read", zone)
    all_day = not isinstance(first, datetime.datetime)
    start = beginning(first, zone)
    # The organiser comes first; rooms and calendars are left out.
    attendees = item.get("attendees")
    invitees = [item.get("organizer"), *(attendees if isinstance(attendees, list) else ())]
    people = [_person(invitee) for invitee in invitees if isinstance(invitee, dict) and not invitee.get("resource")]
    title = _text(item, "summary", TITLE_CHARS)
    return Meeting(
        event_id=_event_id(item, original, zone),
        calendar=calendar,
        title=title,
        start=start,
        end=max(start, beginning(last, zone)),
        day=local(start, zone).date() if isinstance(first, datetime.datetime) else first,
        all_day=all_day,
        series_id=_text(item, "recurringEventId", ID_CHARS),
        location=_text(item, "location", LOCATION_CHARS),
        description=_text(item, "description", DESCRIPTION_CHARS),
        attendees=distinct(person for person in people if not person.email.endswith(_NOT_PEOPLE)),
        cancelled=item.get("status") == "cancelled" or is_titled_cancelled(title),
    )


def _event_id(item: dict[str, Any], original: Any, zone: ZoneInfo) -> str:
    """Return the id of a single entry, or for an occurrence that of its series and its original time."""
    own, series = _text(item, "id", ID_CHARS), _text(item, "recurringEventId", ID_CHARS)
    if not own.isprintable() or not series.isprintable() or not own:
        raise UnusableError("it has no id")
    if not series:
        return own
    moment = _moment(original, "it does not say which occurrence it is", zone)
    if isinstance(moment, datetime.datetime):
        return f"{series}/{instant(moment, zone):%Y%m%dT%H%M%SZ}"
    return f"{series}/{moment:%Y%m%d}"


def _moment(value: Any, problem: str, zone: ZoneInfo) -> datetime.date:
    """Parse the start or end of an entry: a day, or an aware datetime."""
    try:
        if "dateTime" in value:
            moment = datetime.datetime.fromisoformat(value["dateTime"])
            return moment if moment.tzinfo else moment.replace(tzinfo=ZoneInfo(value.get("timeZone") or zone.key))
        return datetime.date.fromisoformat(value["date"])
    except (TypeError, ValueError, KeyError, OSError) as error:
        raise UnusableError(problem) from error


def _text(item: dict[str, Any], name: str, max_chars: int) -> str:
    value = item.get(name)
    return bounded(value, max_chars) if isinstance(value, str) else ""


def _person(address: dict[str, Any]) -> Attendee:
    name, email = address.get("displayName"), address.get("email")
    declined = address.get("responseStatus") == "declined"
    return named(name if isinstance(name, str) else "", email if isinstance(email, str) else "", declined=declined)


PAGE_BYTES = 10_000_000
PAGE_ITEMS = 250
MAX_PAGES = MAX_MEETINGS // PAGE_ITEMS


@dataclass(frozen=True, slots=True)
class Endpoints:
    api: str = "https://www.googleapis.com/calendar/v3"
    consent: str = "https://accounts.google.com/o/oauth2/v2/auth"
    renewal: str = "https://oauth2.googleapis.com/token"


@dataclass(frozen=True, slots=True)
class GoogleCalendar(CalendarSource):
    """A calendar of the user's Google account."""

    state: Path
    endpoints: Endpoints = Endpoints()

    async def fetch(self, window: Window) -> Fetched:
        """Fetch the meetings in the window, with series expanded by the server."""
        tokens = Tokens(self.config, self.state, self.endpoints.renewal)
        parameters = {
            "singleEvents": "true",
            "maxResults": str(PAGE_ITEMS),
            "timeMin": window.start.isoformat(),
            "timeMax": window.end.isoformat(),
        }
        listing = _Listing(self.name, self.zone)
        async with calendar_client(PAGE_BYTES) as client:
            for _ in range(MAX_PAGES):
                answer = await self._answer(client, parameters, await tokens.access(client))
                if answer.status_code == 401:  # a refused token is renewed once
                    answer = await self._answer(client, parameters, await tokens.access(client, renew=True))
                page = _page_of(accepted(answer))
                if not all(map(listing.take, page.items)):
                    break
                if not page.following:
                    return listing.fetched(complete=True)
                parameters["pageToken"] = page.following
        listing.problems.append(EntryProblem(f"it is too large; only {len(listing.meetings):,} meetings are read"))
        return listing.fetched(complete=False)

    async def _answer(self, client: httpx2.AsyncClient, parameters: dict[str, str], token: str) -> httpx2.Response:
        address = f"{self.endpoints.api}/calendars/{quote(self.config.calendar_id, safe='')}/events"
        headers = {"Authorization": f"Bearer {token}", "Accept": "application/json"}
        return await exchange(client, "GET", f"{address}?{urlencode(parameters)}", headers=headers)


@dataclass(slots=True)
class _Listing:
    """The meetings of a listing, read page by page."""

    calendar: str
    zone: ZoneInfo
    meetings: dict[str, Meeting] = field(default_factory=dict)
    problems: list[EntryProblem] = field(default_factory=list)
    seen: int = 0
    text: int = 0

    def take(self, item: Any) -> bool:
        """Add an entry; return whether there is room for more."""
        self.seen += 1
        try:
            meeting = google_meeting(item, self.calendar, self.zone)
        except UnusableError as error:
            self.problems.append(EntryProblem(str(error), self.seen))
            return True
        self.text += len(meeting.title) + len(meeting.location) + len(meeting.description)
        if self.text > MAX_TEXT:
            return False
        self.meetings[meeting.event_id] = meeting
        return True

    def fetched(self, *, complete: bool) -> Fetched:
        return Fetched(tuple(self.meetings.values()), tuple(self.problems[-MAX_PROBLEMS:]), complete)


class _Page(BaseModel):
    """A page of the listing; `following` is the token of the next one."""

    items: list[Any]
    following: str = Field("", alias="nextPageToken")


def _page_of(answer: httpx2.Response) -> _Page:
    """Parse a page of the listing. Raises CalendarError."""
    try:
        return _Page.model_validate(json.loads(answer.content))  # pydantic's own parser rejects lone surrogates
    except (ValueError, RecursionError) as error:
        raise failed(
            f"{answer.url.host} did not answer like a calendar server", hint="it will be retried later"
        ) from error


PATIENCE_SECONDS = 300.0
ANSWER_BYTES = 100_000
SCOPE = "https://www.googleapis.com/auth/calendar.events.readonly"

DONE = "Donna has received the answer. You can close this page.\n"


async def connect(tokens: Tokens, show: Callable[[str], None], endpoints: Endpoints) -> None:
    """Request the consent to read a calendar, and store its tokens.

    `show` is called with the URL to open. Raises CalendarError.
    """
    consent = _ConsentRequest()
    server = SmallServer(consent.take)
    async with server.listening():
        consent.redirect_uri = f"http://127.0.0.1:{server.port}"
        show(consent.address(oauth_client(tokens.config).client_id, endpoints.consent))
        code = await consent.code()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": consent.redirect_uri,
            "code_verifier": consent.verifier,
        }
        async with calendar_client(ANSWER_BYTES) as client:
            granted = await tokens.request_tokens(client, form)
    if "refresh_token" not in granted:
        raise failed(
            "Google granted no permanent access to the calendar", hint="revoke the access at Google, and try again"
        )
    tokens.store(granted)


@dataclass(slots=True)
class _ConsentRequest:
    """A pending request for consent. `state` and `verifier` are secrets that authenticate the answer."""

    state: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    redirect_uri: str = ""
    answer: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def address(self, client_id: str, consent: str) -> str:
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        parameters = {
            "client_id": client_id,
            "redirect_uri": self.redirect_uri,
            "response_type": "code",
            "scope": SCOPE,
            "access_type": "offline",
            "prompt": "consent",
            "state": self.state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{consent}?{urlencode(parameters)}"

    async def code(self) -> str:
        """Wait for the authorisation code from the browser. Raises CalendarError after a timeout."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self.answer
        except TimeoutError as error:
            raise failed("the browser did not answer within five minutes") from error

    def take(self, head: Head) -> bytes:
        """Handle a request from the browser. A request without the secret is answered and has no effect."""
        try:
            returned = parse_qs(urlsplit(head.target).query)
        except ValueError:
            return page(400)
        if not self.answer.done() and is_secret(returned.get("state", [""])[0], self.state):
            if "code" in returned:
                self.answer.set_result(returned["code"][0])
            else:
                self.answer.set_exception(failed("access to the calendar was denied, by Google or by you"))
        return page(200, DONE)
