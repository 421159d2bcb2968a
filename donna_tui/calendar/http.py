"""Send requests to calendar servers through `safety.egress`, with their passwords."""

from __future__ import annotations

import contextlib
import itertools
import os
import re
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx2

from donna_tui.config.calendars import CalendarConfig
from donna_tui.platform import paths
from donna_tui.platform.paths import private_folder
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.egress import open_client
from donna_tui.safety.payload import carrying
from donna_tui.types.errors import CalendarError, DonnaError, Reason

MAX_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Login:
    """A user name and its password, which appears in no message."""

    username: str
    password: str = field(repr=False)


def login_of(config: CalendarConfig, environ: Mapping[str, str] = os.environ) -> Login | None:
    """Return the name and password of a calendar; None if it has neither. Raises CalendarError."""
    password = ""
    if config.password_file is not None:
        password = private_text(config.password_file).split("\n", 1)[0].rstrip("\r")
    elif config.password_env:
        if config.password_env not in environ:
            raise failed(f"the variable {config.password_env} with the password of {config.name} is not set")
        password = environ[config.password_env]
    return Login(config.username, password) if config.username or password else None


def store_password(folder: Path, name: str, password: str) -> Path:
    """Write the password of the calendar called `name` to a new file in `folder` that only its owner can read.

    Return the file. Raises DonnaError (`io_error`).
    """
    stem = "-".join(re.findall(r"\w+", name.lower()))[:60] or "calendar"
    try:
        for number in itertools.count(1):
            file = private_folder(folder) / f"{stem}-password{'' if number == 1 else f'-{number}'}"
            with contextlib.suppress(FileExistsError):
                descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, 0o600)
                break
        with os.fdopen(descriptor, "w", encoding="utf-8") as stream:
            stream.write(f"{password}\n")
    except OSError as error:
        message = f"the password cannot be stored in {folder} ({error.strerror})"
        raise DonnaError(Reason.IO_ERROR, message) from error
    return file


def private_text(file: Path) -> str:
    """Read a file that must be readable by its owner only. Raises CalendarError."""
    try:
        return paths.private_text(file, MAX_BYTES)
    except DonnaError as error:
        raise failed(error.message, hint=error.hint) from error


SECONDS = 30.0
MAX_REDIRECTS = 3
_REDIRECTS = (301, 302, 303, 307, 308)


@asynccontextmanager
async def calendar_client(max_bytes: int) -> AsyncIterator[httpx2.AsyncClient]:
    """Open a client for requests to calendars, which contain no note text, with a size limit of answers in bytes."""
    with carrying(Sensitivity.PUBLIC):
        async with open_client(timeout_seconds=SECONDS, max_bytes=max_bytes) as client:
            yield client


def accepted(answer: httpx2.Response) -> httpx2.Response:
    """Return the answer if the request succeeded. Raises CalendarError."""
    host = answer.url.host
    if answer.is_success:
        return answer
    if answer.status_code in (401, 403):
        hint = "check username and password in calendars"
        raise CalendarError(Reason.LOGIN_REFUSED, f"{host} rejected the user name or password", hint=hint)
    if answer.status_code in (404, 410):
        raise failed(f"{host} has no such calendar", hint="check its address in calendars")
    raise failed(f"{host} returned an error ({answer.status_code})", hint="it will be retried later")


def failed(message: str, *, hint: str | None = None) -> CalendarError:
    """Return the error for a calendar that cannot be read now."""
    return CalendarError(Reason.CALENDAR_FAILED, message, hint=hint)


def host_of(url: str) -> str:
    """Return the host of a URL, which may be shown; its path may contain a secret."""
    try:
        return httpx2.URL(url).host or "the server"
    except httpx2.InvalidURL:
        return "the server"


async def exchange(
    client: httpx2.AsyncClient,
    method: str,
    url: str,
    *,
    headers: Mapping[str, str],
    content: bytes | None = None,
    auth: httpx2.Auth | None = None,
) -> httpx2.Response:
    """Send a request, and follow redirects to the same scheme, host and port with the same request.

    Raises CalendarError if there is no answer at all, and DonnaError as `open_client` does.
    """
    host = host_of(url)
    try:
        target = httpx2.URL(url)
        for _ in range(MAX_REDIRECTS + 1):
            answer = await client.request(
                method, target, headers=dict(headers), content=content, auth=auth or httpx2.Auth()
            )
            location = answer.headers.get("Location")
            if answer.status_code not in _REDIRECTS or not location:
                return answer
            target = target.join(location)
    except httpx2.TimeoutException as error:
        raise failed(f"{host} did not answer in time", hint="it will be retried later") from error
    except httpx2.ConnectError as error:
        raise failed(f"no connection to {host}", hint="it will be retried later") from error
    except (httpx2.HTTPError, httpx2.InvalidURL, httpx2.StreamError) as error:
        raise failed(f"{host} gave an incomplete or invalid answer", hint="it will be retried later") from error
    raise failed(f"{target.host} redirects in a loop")
