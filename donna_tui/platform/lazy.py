"""Create a value, or import NumPy, when it is first used."""

from __future__ import annotations

import importlib
import os
import threading
from collections.abc import Callable
from types import ModuleType
from typing import TYPE_CHECKING, Any, Generic, TypeVar

T = TypeVar("T")


class Lazy(Generic[T]):
    """Cache the result of `make`. An exception is raised to the caller, and the next call tries again."""

    def __init__(self, make: Callable[[], T]) -> None:
        self._make = make
        self._lock = threading.Lock()
        self.made: T | None = None

    def __call__(self) -> T:
        with self._lock:
            if self.made is None:
                self.made = self._make()
            return self.made


if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        """A proxy with every attribute of the module, each looked up once."""

        def __getattr__(self, name: str) -> Any:
            attribute = getattr(import_numpy(), name)
            setattr(self, name, attribute)
            return attribute

    np = _NumPy()

__all__ = ["import_numpy", "np"]

BLAS_THREADS = "OPENBLAS_NUM_THREADS"


def import_numpy() -> ModuleType:
    """Import NumPy with one thread for linear algebra, unless the environment sets the number.

    Idle threads spin, which costs a tenth of a second of a core at each start, and no computation here is large enough
    for two. The variable is removed again, so that child processes do not inherit it.
    """
    is_set = BLAS_THREADS in os.environ
    os.environ.setdefault(BLAS_THREADS, "1")
    try:
        return importlib.import_module("numpy")
    finally:
        if not is_set:
            os.environ.pop(BLAS_THREADS, None)
