"""What every event has."""

from __future__ import annotations

import time
from dataclasses import field
from typing import ClassVar

from donna_tui.records import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Base of all events. `name` is the event's name in the log; `at` is Unix time in seconds."""

    name: ClassVar[str] = "event"
    at: float = field(default_factory=time.time)


UNLOGGED = {"unlogged": True}
"""The metadata of a field that no log gets."""
