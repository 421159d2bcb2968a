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


if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        """Has every attribute of the module, each looked up once."""

        def __getattr__(self, name: str) -> Any:
            found = getattr(import_numpy(), name)
            setattr(self, name, found)
            return found

    np = _NumPy()

__all__ = ["import_numpy", "np"]

BLAS_THREADS = "OPENBLAS_NUM_THREADS"


def import_numpy() -> ModuleType:
    """NumPy, imported with one thread for linear algebra, unless the environment says how many.

    More would wait for work by spinning, a tenth of a second of a core at each start, and nothing here is large enough
    for two. The variable is not left to the programs that Donna starts.
    """
    is_told = BLAS_THREADS in os.environ
    os.environ.setdefault(BLAS_THREADS, "1")
    try:
        return importlib.import_module("numpy")
    finally:
        if not is_told:
            os.environ.pop(BLAS_THREADS, None)
