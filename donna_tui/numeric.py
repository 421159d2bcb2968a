"""NumPy, imported when it is first used: a search by words does without it, and would have to wait for it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
else:

    class _NumPy:
        """Has every attribute of the module, each looked up once."""

        def __getattr__(self, name: str) -> Any:
            import numpy

            found = getattr(numpy, name)
            setattr(self, name, found)
            return found

    np = _NumPy()

__all__ = ["np"]
