"""Declare outgoing text in segments that know how private they are."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from donna_tui.safety.classify import Sensitivity

_ORDER = (Sensitivity.PUBLIC, Sensitivity.LOCAL_ONLY, Sensitivity.DONNA_SENSITIVE)
_CARRIED: ContextVar[Sensitivity | None] = ContextVar("carried", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Text of a note, a chat, a meeting or anything derived from one, and how private it is; not shown by repr."""

    text: str = field(repr=False)
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """What a model is asked. `system` holds Donna's own words and never anything that somebody wrote."""

    system: str = field(repr=False)
    segments: tuple[Segment, ...]

    @property
    def sensitivity(self) -> Sensitivity:
        """That of the most private segment."""
        return most_private(segment.sensitivity for segment in self.segments)


def most_private(found: Iterator[Sensitivity]) -> Sensitivity:
    """The most private of some; public if there are none."""
    return max(found, key=_ORDER.index, default=Sensitivity.PUBLIC)


@contextlib.contextmanager
def carrying(sensitivity: Sensitivity) -> Iterator[None]:
    """Declare how private the requests are that this task sends meanwhile. Undeclared ones never leave this machine."""
    token = _CARRIED.set(sensitivity)
    try:
        yield
    finally:
        _CARRIED.reset(token)


def carried() -> Sensitivity | None:
    """What was declared; None if nothing was."""
    return _CARRIED.get()
