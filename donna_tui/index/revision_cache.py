"""Cache what was computed from an index until a document changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

MOST = 8


class RevisionCache:
    """The last few things that were worked out, each with the revision of the index that it is true of.

    The connections to one index share it, on several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._kept: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()

    def get(self, key: Hashable, revision: int) -> Any:
        """What is kept under a key if it is of this revision, or None."""
        with self._lock:
            kept = self._kept.get(key)
            if kept is None or kept[0] != revision:
                return None
            self._kept.move_to_end(key)
            return kept[1]

    def keep(self, key: Hashable, revision: int, value: Any) -> None:
        """Keep something under a key, and forget what was asked for longest ago if that is too much."""
        with self._lock:
            self._kept[key] = (revision, value)
            self._kept.move_to_end(key)
            while len(self._kept) > MOST:
                self._kept.popitem(last=False)
