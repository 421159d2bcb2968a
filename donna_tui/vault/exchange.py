"""Swaps two names of a folder in one step of the system, so that whatever stood there is never lost, only displaced."""

from __future__ import annotations

import ctypes
import errno
import functools
import os
from collections.abc import Callable

_LINUX_RENAME_EXCHANGE = 2
_MACOS_RENAME_SWAP = 2
_CANNOT = frozenset({errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EOPNOTSUPP})


def exchange(folder: int, one: str, other: str) -> bool:
    """Swap two existing names in the folder behind a descriptor. False if this system or disk cannot do it.

    Raises OSError as a rename does. Source: renameat2(2) of Linux 3.15, renameatx_np(2) of macOS 10.12.
    """
    swap = _system_call()
    if swap is None:
        return False
    if swap(folder, os.fsencode(one), os.fsencode(other)) == 0:
        return True
    code = ctypes.get_errno()
    if code in _CANNOT:
        return False
    raise OSError(code, os.strerror(code), one)


@functools.cache
def _system_call() -> Callable[[int, bytes, bytes], int] | None:
    library = ctypes.CDLL(None, use_errno=True)
    for name, flag in (("renameat2", _LINUX_RENAME_EXCHANGE), ("renameatx_np", _MACOS_RENAME_SWAP)):
        function = getattr(library, name, None)
        if function is not None:
            function.argtypes = (ctypes.c_int, ctypes.c_char_p, ctypes.c_int, ctypes.c_char_p, ctypes.c_uint)
            return functools.partial(_call, function, flag)
    return None


def _call(function: Callable[..., int], flag: int, folder: int, one: bytes, other: bytes) -> int:
    return function(folder, one, folder, other, flag)
