"""Settings of the calendars to follow. They name servers and files, so a file in a vault may not set them."""

from __future__ import annotations

from typing import Annotated, Literal
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field, StringConstraints, model_validator
from pydantic_core import PydanticCustomError

from donna_tui.config.blocks import AbsolutePath, Block, Line
from donna_tui.platform.addresses import is_this_machine

CalendarKind = Literal["ics", "caldav", "google"]
Notes = Literal["meetings", "all", "never"]

MAX_CALENDARS = 50


def _url(text: str) -> str:
    """Check a web address, and convert `webcal` to https. Raises ValueError."""
    if not text:
        return text
    if text.startswith("webcal://"):
        text = f"https://{text.removeprefix('webcal://')}"
    parts = urlsplit(text)
    if parts.username is not None:
        raise PydanticCustomError("secret", "must not contain a name or password; use the settings for them")
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise ValueError("must be a web address that begins with https://")
    if parts.scheme == "http" and not is_this_machine(parts.hostname):
        raise ValueError("must begin with https://, since http:// is not encrypted")
    return text


Url = Annotated[str, StringConstraints(strict=True, max_length=2_000), AfterValidator(_url)]
Words = Annotated[str, StringConstraints(strict=True, max_length=500)]


class CalendarConfig(Block):
    """A calendar that is followed."""

    name: Line = Field(description="The name of the calendar.")
    kind: CalendarKind = Field(description="ics is a file, a folder or a web address of one; the others are servers.")
    path: AbsolutePath | None = Field(None, description="ics: the .ics file, or the folder of such files.")
    url: Url = Field("", description="ics: its web address. caldav: the address of the calendar or of the server.")
    username: Words = Field("", description="Your user name on that server.")
    password_file: AbsolutePath | None = Field(
        None, description="A file with the password, readable only by you (chmod 600)."
    )
    password_env: Words = Field("", description="The name of an environment variable with the password.")
    calendar_id: Words = Field("primary", description="google: which of your calendars.")
    client_file: AbsolutePath | None = Field(
        None, description="google: the JSON file of your OAuth client (desktop app)."
    )
    notes: Notes = Field(
        "meetings", description="Which entries get a draft automatically: meetings with other people, all, or none."
    )

    @model_validator(mode="after")
    def _has_a_source(self) -> CalendarConfig:
        if self.kind == "ics" and (self.path is None) == (not self.url):
            raise ValueError("a calendar of kind ics needs a path or a url, and not both")
        if self.kind == "caldav" and not self.url:
            raise ValueError("a calendar of kind caldav needs a url")
        if self.kind == "google" and self.client_file is None:
            raise ValueError("a calendar of kind google needs a client_file")
        return self


def _distinct(calendars: tuple[CalendarConfig, ...]) -> tuple[CalendarConfig, ...]:
    names = [calendar.name for calendar in calendars]
    for name in names:
        if names.count(name) > 1:
            raise ValueError(f"must have different names; two are called {name}")
    return calendars


Calendars = Annotated[tuple[CalendarConfig, ...], Field(max_length=MAX_CALENDARS), AfterValidator(_distinct)]
