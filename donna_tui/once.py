"""What is made when it is first wanted, on whatever thread that is, and never twice."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

T = TypeVar("T")


class Once(Generic[T]):
    """Holds what `make` returns. What it raises is raised to who asked, and it is made the next time."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: T | None = None

    def __call__(self) -> T:
        """The one there is, made now if need be."""
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made
