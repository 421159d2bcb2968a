"""NumPy, imported when it is first used: a search by words does without it, and would have to wait for it."""

from __future__ import annotations

import importlib
import os
from types import ModuleType
from typing import TYPE_CHECKING, Any

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
