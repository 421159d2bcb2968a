"""Set the number of examples of property tests."""

from __future__ import annotations

from typing import Any

from hypothesis import settings


def examples(count: int, **more: Any) -> settings:
    """Return settings for `count` examples in `make stress`. The other suites try a quarter of them, always the same."""
    stress = settings.get_current_profile_name() == "search"
    return settings(max_examples=count if stress else max(count // 4, 25), **more)
