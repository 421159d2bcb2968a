"""Leave to read a Google calendar: the client's own file, and a token of the space that only its owner may read."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import httpx2

from donna_tui.calendar.http import Request, exchange, failed
from donna_tui.calendar.passwords import private_text
from donna_tui.config.calendars import CalendarConfig
from donna_tui.errors import CalendarError, Reason
from donna_tui.paths import private_folder
from donna_tui.records import dataclass

SPARE_SECONDS = 60.0
"""A token is renewed this long before it ends."""


@dataclass(frozen=True, slots=True)
class OAuthClient:
    """Who asks: the id and secret of a client that the user made at Google."""

    client_id: str
    client_secret: str


@dataclass(slots=True)
class Tokens:
    """The tokens of one calendar; `token_url` is where they are renewed."""

    config: CalendarConfig
    state: Path
    token_url: str
    clock: Callable[[], float] = time.time

    @property
    def file(self) -> Path:
        """Where they are kept."""
        name = hashlib.sha256(self.config.name.encode("utf-8", "replace")).hexdigest()[:12]
        return self.state / "calendars" / f"google-{name}.json"

    async def access(self, client: httpx2.AsyncClient, *, renew: bool = False) -> str:
        """A token that is good now; with `renew` a new one. Raises CalendarError."""
        known = self._known()
        token, ends = known.get("access_token"), known.get("expires_at")
        if not renew and isinstance(token, str) and isinstance(ends, int | float) and self.clock() < ends:
            return token
        return await self._renewed(client, known)

    def keep(self, tokens: dict[str, Any]) -> None:
        """Keep what the server gave, in the place of what was there."""
        private_folder(self.file.parent)
        pending = self.file.with_suffix(".new")
        with contextlib.suppress(FileNotFoundError):
            pending.unlink()
        descriptor = os.open(pending, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8") as opened:
            json.dump(tokens, opened)
            opened.flush()
            os.fsync(descriptor)
        pending.replace(self.file)

    def _known(self) -> dict[str, Any]:
        if not self.file.exists():
            raise self._not_connected()
        return _object(private_text(self.file), self.file)

    def _not_connected(self) -> CalendarError:
        return failed(
            f"Donna may not read {self.config.name} yet",
            hint=f"donna meetings connect {json.dumps(self.config.name, ensure_ascii=False)}",
        )

    async def _renewed(self, client: httpx2.AsyncClient, known: dict[str, Any]) -> str:
        refresh = known.get("refresh_token")
        if not isinstance(refresh, str):
            raise self._not_connected()
        given = await self.ask(client, {"grant_type": "refresh_token", "refresh_token": refresh})
        self.keep({"refresh_token": refresh, **given})
        return str(given["access_token"])

    async def ask(self, client: httpx2.AsyncClient, form: dict[str, str]) -> dict[str, Any]:
        """What the token server gives for a form: `access_token`, `expires_at` and perhaps a `refresh_token`.

        Raises CalendarError.
        """
        who = oauth_client(self.config)
        body = {**form, "client_id": who.client_id, "client_secret": who.client_secret}
        request = Request(
            method="POST",
            url=self.token_url,
            headers={"Content-Type": "application/x-www-form-urlencoded"},
            content=urlencode(body).encode(),
        )
        answer = await exchange(client, request)
        if answer.status in (400, 401):
            raise self._not_connected()
        return self._given(answer.accepted().body)

    def _given(self, body: bytes) -> dict[str, Any]:
        try:
            answer = json.loads(body)
            lasts = float(answer.get("expires_in", 0))
            kept = {"access_token": str(answer["access_token"]), "expires_at": self.clock() + lasts - SPARE_SECONDS}
        except (ValueError, KeyError, TypeError, AttributeError) as error:
            raise failed("Google's answer cannot be read", hint="it is tried again later") from error
        refresh = answer.get("refresh_token")
        return kept | ({"refresh_token": refresh} if isinstance(refresh, str) else {})


def oauth_client(config: CalendarConfig) -> OAuthClient:
    """The client in the file that Google gave. Raises CalendarError."""
    assert config.client_file is not None
    data = _object(private_text(config.client_file), config.client_file)
    inner = data.get("installed", data)
    if not isinstance(inner, dict) or not all(
        isinstance(inner.get(key), str) for key in ("client_id", "client_secret")
    ):
        raise CalendarError(
            Reason.CALENDAR_FAILED,
            f"{config.client_file} is not the file of an OAuth client",
            hint="make one of the kind “desktop app” at Google, and download its JSON file",
        )
    return OAuthClient(inner["client_id"], inner["client_secret"])


def _object(text: str, file: Path) -> dict[str, Any]:
    try:
        data = json.loads(text)
    except ValueError as error:
        raise failed(f"{file} is not JSON") from error
    if not isinstance(data, dict):
        raise failed(f"{file} is not a JSON object")
    return data
