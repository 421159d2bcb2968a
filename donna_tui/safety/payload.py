"""Declare outgoing text in segments labelled with their sensitivity."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from contextvars import ContextVar
from dataclasses import dataclass, field

from donna_tui.safety.classify import Sensitivity

_CARRIED: ContextVar[Sensitivity | None] = ContextVar("carried", default=None)


@dataclass(frozen=True, slots=True, kw_only=True)
class Segment:
    """Text of a note, a chat, a meeting or a derivative, with its sensitivity; not shown by repr."""

    text: str = field(repr=False)
    sensitivity: Sensitivity


@dataclass(frozen=True, slots=True, kw_only=True)
class Payload:
    """A request to a model. `system` contains Donna's own words and never any text by others."""

    system: str = field(repr=False)
    segments: tuple[Segment, ...]

    @property
    def sensitivity(self) -> Sensitivity:
        """Return the sensitivity of the most private segment; public if there are none."""
        levels = (segment.sensitivity for segment in self.segments)
        return max(levels, key=tuple(Sensitivity).index, default=Sensitivity.PUBLIC)


@contextlib.contextmanager
def carrying(sensitivity: Sensitivity) -> Iterator[None]:
    """Declare the sensitivity of the requests sent in the block. Undeclared ones never leave this machine."""
    token = _CARRIED.set(sensitivity)
    try:
        yield
    finally:
        _CARRIED.reset(token)


def carried() -> Sensitivity | None:
    return _CARRIED.get()
