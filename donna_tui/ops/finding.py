"""Define one finding of `donna doctor`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one examination. `reason` is a code, if there is one."""

    id: str
    state: State
    message: str
    hint: str = ""
    reason: str = ""
