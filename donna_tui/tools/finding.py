"""What an examination of `donna doctor` found."""

from __future__ import annotations

from typing import Literal

from donna_tui.records import dataclass

State = Literal["ok", "warn", "fail"]


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one examination. `reason` is a code where there is one."""

    id: str
    state: State
    message: str
    hint: str = ""
    reason: str = ""
