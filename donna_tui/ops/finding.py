"""Define one finding of `donna doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `reason` is a reason code, or empty."""

    id: str
    state: State
    message: str
    hint: str = ""
    reason: str = ""
