"""What Python does not offer of the system: two names swapped in one step, and whether a file is open for writing."""

from __future__ import annotations

import ctypes
import errno
import fcntl
import functools
import os
import signal
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


def open_for_writing(descriptor: int) -> bool:
    """Whether some program has the file behind a descriptor, which is open to read only, open for writing.

    False too where the system or the disk cannot tell. Source: leases of fcntl(2), Linux 2.4. The lease is held
    no longer than the question takes, and its signal is one that nobody minds.
    """
    if not hasattr(fcntl, "F_SETLEASE"):
        return False
    try:
        fcntl.fcntl(descriptor, fcntl.F_SETSIG, signal.SIGURG)
        fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_RDLCK)
    except OSError as error:
        return error.errno == errno.EAGAIN
    fcntl.fcntl(descriptor, fcntl.F_SETLEASE, fcntl.F_UNLCK)
    return False
