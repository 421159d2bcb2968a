"""One process at a time writes and watches a space; the lock says who."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from pathlib import Path
from types import TracebackType


class SpaceLock:
    """An advisory lock on a space's folder. The system releases it when the process ends, however it ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._descriptor: int | None = None

    def acquire(self, what: str) -> bool:
        """Take the lock for this process, described by `what`; False if another process has it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        with contextlib.suppress(OSError):  # on a full disk the lock holds all the same, without a name
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "what": what}).encode(), 0)
        self._descriptor = descriptor
        return True

    def owner(self) -> str:
        """Who has the lock, in words; empty if it cannot be told."""
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            known = json.loads(self._path.read_text(encoding="utf-8"))
            return f"{known['what']} (process {int(known['pid'])})"
        return ""

    def release(self) -> None:
        """Give the lock back."""
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> SpaceLock:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.release()
