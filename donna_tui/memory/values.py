"""What the formats of chats have in common: turns with clean text, times, names."""

from __future__ import annotations

import math
from datetime import UTC, datetime
from typing import Any

from donna_tui.memories import BadLine
from donna_tui.memory.cleaning import clean_text
from donna_tui.memory.conversations import NewTurn
from donna_tui.records import dataclass

LONGEST_TURN = 2_000_000
"""Characters of a message; a longer one is told and passed over."""

LONGEST_NAME = 200
LATEST = 253_402_300_799.0
"""The last second of the year 9999."""


@dataclass(frozen=True, slots=True)
class LeftOut:
    """Something that is well-formed and no message: the output of a tool, a thought, an empty text."""

    count: int = 1


Found = NewTurn | LeftOut | BadLine


def made_turn(line: int, **values: Any) -> Found:
    """A turn with its text cleaned; what has no text is no turn."""
    if len(values["text"]) > LONGEST_TURN:
        return BadLine(line, f"the message has more than {LONGEST_TURN:,} characters")
    text = clean_text(values.pop("text"))
    return NewTurn(text=text, **values) if text else LeftOut()


def moment_of(value: Any) -> float | None:
    """A time as Unix seconds: a number of seconds or milliseconds, or ISO 8601, in UTC unless it says otherwise."""
    if isinstance(value, bool) or value is None:
        return None
    if isinstance(value, int | float):
        return _seconds(value)
    if not isinstance(value, str):
        return None
    try:
        moment = datetime.fromisoformat(value.strip())
        return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
    except (ValueError, OverflowError):
        return None


def _seconds(value: float) -> float | None:
    try:
        number = float(value)
    except OverflowError:
        return None
    if not math.isfinite(number) or number < 0:
        return None
    if number > LATEST:
        number /= 1000
    return number if number <= LATEST else None


def get(value: Any, key: str) -> Any:
    """What an object has under a key; None for what is no object."""
    return value.get(key) if isinstance(value, dict) else None


def name_of(text: str) -> str:
    """A name of one line, not too long."""
    return " ".join(clean_text(text).split())[:LONGEST_NAME]


def title_of(value: Any) -> str:
    """A title if there is one."""
    return name_of(value) if isinstance(value, str) else ""


def text_blocks(content: Any) -> list[str]:
    """The texts among the blocks of a message."""
    blocks = content if isinstance(content, list) else []
    texts = [get(block, "text") for block in blocks if get(block, "type") == "text"]
    return [text for text in texts if isinstance(text, str) and text.strip()]
