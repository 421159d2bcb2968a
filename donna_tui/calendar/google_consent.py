"""Asks the user's leave to read a Google calendar, once: in the browser, answered to a port of this machine."""

from __future__ import annotations

import asyncio
import base64
import hashlib
import secrets
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import field
from urllib.parse import parse_qs, urlencode, urlsplit

from donna_tui.calendar.google import Endpoints
from donna_tui.calendar.google_tokens import Tokens, oauth_client
from donna_tui.calendar.http import asking, failed
from donna_tui.http.guard import Head, Limits, SmallServer, is_secret, page
from donna_tui.records import dataclass

PATIENCE_SECONDS = 300.0
LIMITS = Limits(connections=16, untrusted=16, per_address=16, head_seconds=5.0)
ANSWER_BYTES = 100_000
SCOPE = "https://www.googleapis.com/auth/calendar.events.readonly"

DONE = "Donna has received the answer. You can close this page.\n"


async def connect(tokens: Tokens, show: Callable[[str], None], endpoints: Endpoints) -> None:
    """Get leave to read a calendar, and keep it. `show` is told the address to open. Raises CalendarError."""
    async with _listening() as waiting:
        show(waiting.address(oauth_client(tokens.config).client_id, endpoints.consent))
        code = await waiting.code()
        form = {
            "grant_type": "authorization_code",
            "code": code,
            "redirect_uri": waiting.place,
            "code_verifier": waiting.verifier,
        }
        async with asking(ANSWER_BYTES) as client:
            given = await tokens.ask(client, form)
    if "refresh_token" not in given:
        raise failed("Google gave no lasting leave to read the calendar", hint="take it back at Google, and try again")
    tokens.keep(given)


@dataclass(slots=True)
class _Waiting:
    """One question to the user. `state` and `verifier` are secrets that tell the right answer from any other."""

    state: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    verifier: str = field(default_factory=lambda: secrets.token_urlsafe(48))
    place: str = ""
    answer: asyncio.Future[str] = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    def address(self, client_id: str, consent: str) -> str:
        """What is to be opened in a browser."""
        challenge = base64.urlsafe_b64encode(hashlib.sha256(self.verifier.encode()).digest()).rstrip(b"=").decode()
        asked = {
            "client_id": client_id,
            "redirect_uri": self.place,
            "response_type": "code",
            "scope": SCOPE,
            "access_type": "offline",
            "prompt": "consent",
            "state": self.state,
            "code_challenge": challenge,
            "code_challenge_method": "S256",
        }
        return f"{consent}?{urlencode(asked)}"

    async def code(self) -> str:
        """The code that the browser brings. Raises CalendarError if it brings none in time."""
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                return await self.answer
        except TimeoutError as error:
            raise failed("no answer came from the browser in five minutes") from error

    def take(self, head: Head) -> bytes:
        """Take a request of the browser. A request that does not know the secret is answered and changes nothing."""
        try:
            told = parse_qs(urlsplit(head.target).query)
        except ValueError:
            return page(400)
        if not self.answer.done() and is_secret(told.get("state", [""])[0], self.state):
            if "code" in told:
                self.answer.set_result(told["code"][0])
            else:
                self.answer.set_exception(failed("the calendar may not be read: Google says no, or you did"))
        return page(200, DONE)


@asynccontextmanager
async def _listening() -> AsyncIterator[_Waiting]:
    waiting = _Waiting()
    server = SmallServer(waiting.take, LIMITS)
    async with server.listening():
        waiting.place = f"http://127.0.0.1:{server.port}"
        yield waiting
