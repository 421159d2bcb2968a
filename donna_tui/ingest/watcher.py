"""Watch the vault, and sort events into notes, folders and deletions. Events are only hints of where to look."""

from __future__ import annotations

import asyncio
import os
import stat
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

from donna_tui.ingest.sync_policy import QUIET_MS
from donna_tui.types.events import EventHub, WatcherStateChanged, WatchEvent
from donna_tui.vault.client import VaultClient
from donna_tui.vault.conflicts import is_conflict_copy
from donna_tui.vault.include import EVERYTHING, Include


@dataclass(frozen=True, slots=True)
class FileEvents:
    """Vault-relative paths: notes to read, folders to compare, and missing paths (a note or a whole folder)."""

    notes: tuple[str, ...]
    folders: tuple[str, ...]
    vanished: tuple[str, ...]


def sort_events(client: VaultClient, root: Path, paths: Iterable[str]) -> FileEvents:
    """Classify paths by their current state. The root itself counts as a folder named by the empty string.

    In place of a conflict copy, which is not indexed but listed, its folder is compared.
    """
    notes: list[str] = []
    folders: dict[str, None] = {}
    vanished: list[str] = []
    for path in sorted(paths):
        if any(part.startswith(".") for part in path.split("/")):
            continue
        try:
            mode = (root / path).lstat().st_mode
        except (OSError, ValueError):
            vanished.append(path)
            continue
        if stat.S_ISDIR(mode):
            folders[path] = None
        elif client.is_note(path):
            notes.append(path)
        elif is_conflict_copy(path.rpartition("/")[2]):
            folders[path.rpartition("/")[0]] = None
    return FileEvents(tuple(notes), tuple(folders), tuple(vanished))


MAX_QUIETS = 6
"""Maximum number of quiet spans that a change waits, however many events follow."""

POLL_SECONDS = 3.0
FAILURES_BEFORE_POLLING = 3
POLLS_BEFORE_RETRY = 20
"""Polling rounds before file events are tried again, in case they work now."""

STORM = 4_000
"""Number of simultaneous changes from which the kernel may have dropped others: its queue holds 16,384 by default, and
watchfiles does not report an overflow.
"""

NOT_HERE = "file events do not work here; polling every few seconds instead"


@dataclass(frozen=True, slots=True)
class ChangedPaths:
    """Vault-relative paths below which something may have changed; `everything` after a failure or while polling."""

    paths: frozenset[str] = frozenset()
    everything: bool = False


def _awatch() -> Any:
    """Import `awatch` lazily and off the event loop, because it imports all of `multiprocessing`."""
    from watchfiles import awatch

    return awatch


class Watcher:
    """Native file events, with polling as the fallback; reconciling covers what either misses."""

    def __init__(
        self,
        root: Path,
        hub: EventHub,
        on_change: Callable[[ChangedPaths], None],
        *,
        include: Include = EVERYTHING,
        quiet_ms: int = QUIET_MS,
    ) -> None:
        self._root = root.resolve()
        self._include, self._quiet_ms = include, quiet_ms
        self._hub = hub
        self._on_change = on_change
        self.mode: Literal["native", "polling", "off"] = "off"
        self._detail = ""
        self.begun = asyncio.Event()
        """Set when the watch is active or has failed: a comparison that begins after this misses nothing."""

    async def run(self) -> None:
        """Watch until cancelled. A missing root is polled for until it is back, and does not count as a failure."""
        failures = 0
        while True:
            started = time.monotonic()
            try:
                while await self._watch_natively():
                    pass
                failures = 0
            except (OSError, RuntimeError, UnicodeError, ExceptionGroup) as error:
                failures = failures + 1 if failures and time.monotonic() - started < 10 * POLL_SECONDS else 1
                detail = f"file events failed ({type(error).__name__}); trying again"
                self._set_mode("polling", detail if failures < FAILURES_BEFORE_POLLING else NOT_HERE)
            self.begun.set()
            await self._poll(times=1 if failures < FAILURES_BEFORE_POLLING else POLLS_BEFORE_RETRY)

    async def _watch_natively(self) -> bool:
        """Watch until the root is missing or replaced, as by a remount. Return whether the folders changed."""
        root = self._identity()
        if root is None:
            return False
        awatch = await asyncio.to_thread(_awatch)
        stop = asyncio.Event()
        folders = await asyncio.to_thread(self._folders)
        events = awatch(
            *folders,
            watch_filter=None,
            step=self._quiet_ms,
            debounce=self._quiet_ms * MAX_QUIETS,
            stop_event=stop,
            rust_timeout=1_000,
            yield_on_timeout=True,
            recursive=self._include.is_everything,
        )
        # `awatch` first waits once its watch is active, so this runs then
        handle = asyncio.get_running_loop().call_soon(self._resume_native)
        try:
            async for changes in events:
                if self._identity() != root:
                    break
                if len(changes) >= STORM:
                    self._report(ChangedPaths(everything=True))
                else:
                    paths = {self._relative(path) for _, path in changes}
                    holds, holds_folder = self._include.holds, self._include.holds_folder
                    if held := frozenset(path for path in paths if holds(path) or holds_folder(path)):
                        self._report(ChangedPaths(held))
                if not self._include.is_everything and folders != await asyncio.to_thread(self._folders):
                    return True
        finally:
            stop.set()
            handle.cancel()
        self._report(ChangedPaths(everything=True))
        return False

    def _folders(self) -> list[Path]:
        """Return the folders to watch: the root recursively, or the root and the folders of sources individually."""
        if self._include.is_everything:
            return [self._root]
        found = [self._root]
        for top in (self._root / folder for folder in self._include.folders):
            for folder, inside, _ in os.walk(top) if not top.is_symlink() else ():
                inside[:] = [name for name in inside if not name.startswith(".")]
                found.append(Path(folder))
        return found

    def _report(self, changed: ChangedPaths) -> None:
        self._hub.post(WatchEvent(paths=len(changed.paths), rescan=changed.everything))
        self._on_change(changed)

    def _identity(self) -> tuple[int, int] | None:
        """Return device and inode of the root, because a watch is on these rather than on the path."""
        try:
            found = self._root.stat()
        except OSError:
            return None
        return (found.st_dev, found.st_ino) if stat.S_ISDIR(found.st_mode) else None

    def _resume_native(self) -> None:
        self._set_mode("native", "")
        if self.begun.is_set():  # changes between two watches were missed
            self._report(ChangedPaths(everything=True))
        self.begun.set()

    async def _poll(self, times: int) -> None:
        for _ in range(times):
            await asyncio.sleep(POLL_SECONDS)
            if self._identity() is not None:  # nothing can be compared before the root is back, and it is not an event
                self._on_change(ChangedPaths(everything=True))

    def _relative(self, path: str) -> str:
        try:
            return Path(path).relative_to(self._root).as_posix()
        except ValueError:
            return ""

    def _set_mode(self, mode: Literal["native", "polling"], detail: str) -> None:
        if (mode, detail) != (self.mode, self._detail):
            self.mode, self._detail = mode, detail
            self._hub.post(WatcherStateChanged(mode=mode, detail=detail))
