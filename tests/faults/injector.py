"""Count the writer's system calls, and let the n-th fail, or end the program right before it."""

from __future__ import annotations

import errno
import io
import os
import shutil
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any
from unittest import mock

from git import Git

from donna_tui.vault.write import atomic as exchange

ERRORS = (errno.EIO, errno.ENOSPC, errno.EACCES, errno.EINTR, errno.EDQUOT)

READING = frozenset({"open to read", "read"})
HARMLESS = READING | {"flush", "fsync"}
"""Requests that change nothing, so that ending right before them or before the next one is equivalent."""

_OF_OS = ("fsync", "rename", "replace", "link", "unlink", "mkdir")

Fault = Callable[[str], None]


def failing(code: int) -> Fault:
    """Return a fault that raises an OSError as the system does, in the subclass that Python makes of its code."""

    def fail(what: str) -> None:
        raise OSError(code, os.strerror(code), what)

    return fail


def ending(what: str) -> None:
    """End the program, as SIGKILL does."""
    os._exit(9)


class Injector:
    """Calls `fault` at the n-th request of this thread, or with `for_good` at every one from there on.

    Requests of the kinds in `skipped` do not count. Consecutive writes, which Python buffers, count as one.
    """

    def __init__(
        self, nth: int, fault: Fault, *, for_good: bool = False, skipped: frozenset[str] = frozenset()
    ) -> None:
        self._nth = nth
        self._fault = fault
        self._for_good = for_good
        self._skipped = skipped
        self._thread = threading.get_ident()
        self._last = ""
        self.count = 0
        self.struck: list[str] = []

    def request(self, what: str) -> None:
        """Count a request that is about to be made."""
        if threading.get_ident() != self._thread or what in self._skipped:
            return
        in_pieces, self._last = what == self._last == "write", what
        if in_pieces:
            return
        self.count += 1
        if self.count == self._nth or (self._for_good and self.count > self._nth):
            self.struck.append(what)
            self._fault(what)

    @contextmanager
    def active(self) -> Iterator[Injector]:
        """Intercept every system call of the writer within the block."""
        with ExitStack() as patched:
            for name in _OF_OS:
                patched.enter_context(mock.patch.object(os, name, self._passing(name, getattr(os, name))))
            patched.enter_context(mock.patch.object(os, "open", self._opening(os.open)))
            patched.enter_context(mock.patch.object(os, "fdopen", self._file(os.fdopen)))
            patched.enter_context(mock.patch.object(io, "open", self._named_file(io.open)))
            patched.enter_context(mock.patch.object(shutil, "copyfile", self._passing("copy", shutil.copyfile)))
            patched.enter_context(mock.patch.object(exchange, "_system_call", self._exchange(exchange._system_call)))
            patched.enter_context(mock.patch.object(Git, "execute", self._passing("git", Git.execute)))
            yield self

    def _passing(self, what: str, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(*arguments: Any, **options: Any) -> Any:
            self.request(what)
            return real(*arguments, **options)

        return call

    def _opening(self, real: Callable[..., int]) -> Callable[..., int]:
        def call(path: Any, flags: int, *rest: Any, **options: Any) -> int:
            self.request("open to write" if flags & os.O_CREAT else "open to read")
            return real(path, flags, *rest, **options)

        return call

    def _file(self, real: Callable[..., Any]) -> Callable[..., Any]:
        return lambda *arguments, **options: _File(real(*arguments, **options), self)

    def _named_file(self, real: Callable[..., Any]) -> Callable[..., Any]:
        def call(file: Any, mode: str = "r", *rest: Any, **options: Any) -> Any:
            if isinstance(file, int):
                return real(file, mode, *rest, **options)
            self.request("open to read" if "r" in mode else "open to write")
            return _File(real(file, mode, *rest, **options), self)

        return call

    def _exchange(self, real: Callable[[], Any]) -> Callable[[], Any]:
        return lambda: self._passing("exchange", real())


class _File:
    """An open file whose requests are intercepted."""

    def __init__(self, file: Any, injector: Injector) -> None:
        self._file = file
        self._injector = injector

    def __enter__(self) -> _File:
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._file, name)
        return self._injector._passing(name, found) if name in ("read", "write", "flush") else found
