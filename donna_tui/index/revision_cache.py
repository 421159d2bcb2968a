"""Cache results computed from an index until a document changes."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Hashable
from typing import Any

MOST = 8


class RevisionCache:
    """An LRU cache of a few results, each valid for one revision of the index.

    It is shared by the connections to one index, on several threads.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()

    def get(self, key: Hashable, revision: int) -> Any:
        """Return the result under a key if it is of this revision, or None."""
        with self._lock:
            cached = self._results.get(key)
            if cached is None or cached[0] != revision:
                return None
            self._results.move_to_end(key)
            return cached[1]

    def put(self, key: Hashable, revision: int, value: Any) -> None:
        """Store a result under a key, and evict the least recently used one if there are too many."""
        with self._lock:
            self._results[key] = (revision, value)
            self._results.move_to_end(key)
            while len(self._results) > MOST:
                self._results.popitem(last=False)
