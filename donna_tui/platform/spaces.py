"""Find the spaces of this installation, remember the last one, and lock one for writing."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
from dataclasses import dataclass
from pathlib import Path

from donna_tui.platform.paths import AppPaths, expanded, private_folder
from donna_tui.types.errors import Reason, SpaceError


@dataclass(frozen=True, slots=True)
class Space:
    """A folder of notes and the folder of its index; `agent` is the agent whose workspace it is, empty for a vault."""

    name: str
    root: Path
    state: Path
    agent: str = ""


def space_at(root: Path, paths: AppPaths) -> Space:
    """Return the space of a folder. Raises SpaceError if it is not a readable folder."""
    real = expanded(root).absolute()
    if not os.path.exists(real):  # noqa: PTH110 - unlike Path.exists, it never raises
        raise SpaceError(Reason.ROOT_MISSING, f"there is no folder {real}", hint="check the path, or mount the disk")
    if not real.is_dir():
        raise SpaceError(Reason.NO_VAULT, f"{real} is not a folder", hint="name the folder that contains your notes")
    resolved = real.resolve()
    _check_apart(resolved, paths)
    return Space(resolved.name or "vault", resolved, paths.space_state(resolved))


def _check_apart(root: Path, paths: AppPaths) -> None:
    """Raise SpaceError (`config_invalid`) if Donna's own folders are in the vault, or the vault among the indexes.

    The index would be synced, committed and served with the notes, and its own changes would be seen as theirs.
    """
    for folder in (paths.config, paths.state, paths.cache, paths.log):
        own_folder = folder.resolve()
        if own_folder == root or root in own_folder.parents:
            message = f"Donna's own folder {own_folder} is inside the vault {root}"
            hint = "set DONNA_HOME to a folder outside of it, and move its contents"
            raise SpaceError(Reason.CONFIG_INVALID, message, hint=hint)
    for folder in (paths.state / "spaces", paths.state / "agents"):
        if folder.resolve() in (root, *root.parents):
            message = f"the vault {root} is inside the folder of Donna's own indexes"
            hint = "move your notes elsewhere, or set DONNA_HOME to another folder"
            raise SpaceError(Reason.CONFIG_INVALID, message, hint=hint)


def agent_space(agent: str, workspace: Path | None, store: Path | None, paths: AppPaths) -> Space:
    """Return the space of an agent, even if its workspace is missing. Agents in one workspace have separate spaces."""
    folder = workspace or Path("/nonexistent") / agent
    root = Path(os.path.realpath(folder))  # a loop of symbolic links counts as a missing folder
    return Space(agent, root, store or paths.agent_state(agent, root), agent)


def find_space(named: str | None, configured: Path | None, paths: AppPaths) -> Space | None:
    """Return the space that a command refers to; None if it is undetermined and the user must choose.

    `named` is a folder, or the name of a known space; without it the configured vault is used, then the last one. A
    known vault whose root is missing is still a space, as its index can be searched.
    """
    if named:
        folder = expanded(Path(named)).absolute()
        if not os.path.exists(folder):  # noqa: PTH110 - unlike Path.exists, it never raises
            for space in known_spaces(paths):
                if named == space.name or folder == space.root:
                    return space
        return space_at(folder, paths)
    if configured:
        return space_at(configured, paths)
    latest = next(iter(known_spaces(paths)), None)
    if latest:
        _check_apart(latest.root, paths)
    return latest


def known_spaces(paths: AppPaths) -> list[Space]:
    """Return the spaces that were open before, the latest first."""
    dated_spaces: list[tuple[float, Space]] = []
    for record in (paths.state / "spaces").glob("*/space.json"):
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            root = Path(json.loads(record.read_text(encoding="utf-8"))["root"])
            dated_spaces.append((record.stat().st_mtime, Space(root.name or "vault", root, record.parent)))
    return [space for _, space in sorted(dated_spaces, key=lambda pair: -pair[0])]


def remember(space: Space) -> None:
    """Record the last use of a space. Those of agents are in the settings instead."""
    if space.agent:
        return
    private_folder(space.state)
    record = space.state / "space.json"
    pending = record.with_suffix(".new")
    pending.write_text(json.dumps({"root": str(space.root)}), encoding="utf-8")
    pending.replace(record)


class SpaceLock:
    """An advisory lock on a space's folder. The system releases it whenever the process ends."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "lock"
        self._descriptor: int | None = None

    @property
    def is_held(self) -> bool:
        return self._descriptor is not None

    def acquire(self, what: str) -> bool:
        """Take the lock for this process, described by `what`. Return False if another process has it."""
        descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(descriptor)
            return False
        with contextlib.suppress(OSError):  # on a full disk the lock is held without a description
            os.ftruncate(descriptor, 0)
            os.pwrite(descriptor, json.dumps({"pid": os.getpid(), "what": what}).encode(), 0)
        self._descriptor = descriptor
        return True

    def owner(self) -> str:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            record = json.loads(self._path.read_text(encoding="utf-8"))
            return f"{record['what']} (process {int(record['pid'])})"
        return ""

    def release(self) -> None:
        if self._descriptor is not None:
            os.close(self._descriptor)
            self._descriptor = None

    def __enter__(self) -> SpaceLock:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()
