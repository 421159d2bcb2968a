"""Sensitivity, decided in one place for reading, writing, indexing and whatever leaves the machine. In doubt: sensitive."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from typing import Any

FLAG = "donna"
LOCAL_ONLY_VALUE = "local-only"

NEGATIVE = frozenset({"", "false", "no", "off", "0", "n", "null", "none"})


class Sensitivity(Enum):
    """`LOCAL_ONLY` never leaves this machine; `DONNA_SENSITIVE` neither, and Donna never writes to it."""

    PUBLIC = "public"
    LOCAL_ONLY = "local_only"
    DONNA_SENSITIVE = "donna_sensitive"


def classify(
    metadata: Mapping[str, Any] | None, head: str = "", *, key: str = "donna_sensitive", broken: bool = False
) -> Sensitivity:
    """The sensitivity of a note, from its frontmatter.

    `head` is the raw frontmatter block: it decides where `broken` says that it could not be read for certain. A note
    whose frontmatter is broken is local-only even if it names no flag, because the flag may be what is broken.
    """
    data = metadata or {}
    if _truthy(data.get(key)) or (broken and key in head):
        return Sensitivity.DONNA_SENSITIVE
    if broken or _local_only(data.get(FLAG)):
        return Sensitivity.LOCAL_ONLY
    return Sensitivity.PUBLIC


def _truthy(value: Any) -> bool:
    return str(value).strip().lower() not in NEGATIVE if value is not None else False


def _local_only(value: Any) -> bool:
    """`donna: local-only`, also within a list or in another spelling."""
    values = value if isinstance(value, list) else [value]
    return any(str(each).strip().lower().replace("_", "-").replace(" ", "-") == LOCAL_ONLY_VALUE for each in values)
