"""Compute the pause before a server is called again: `Retry-After`, else exponential backoff with jitter."""

from __future__ import annotations

import email.utils
import math
import random
import time

FIRST_WAIT_SECONDS = 0.5


def stated_pause(header: str) -> float | None:
    """Parse the pause in seconds from a `retry-after` header with seconds or a date. None if it is neither."""
    try:
        seconds = float(header)
    except ValueError:
        try:
            seconds = email.utils.parsedate_to_datetime(header).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return max(0.0, seconds) if math.isfinite(seconds) else None


def backoff(tries: int) -> float:
    """Return the seconds to wait after `tries` attempts: exponential, with jitter to spread the callers."""
    return FIRST_WAIT_SECONDS * 2.0**tries * random.uniform(0.75, 1.25)  # noqa: S311 - spreads callers, hides nothing
