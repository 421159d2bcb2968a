"""Find Donna's own folders, and the files shipped with the package."""

from __future__ import annotations

import contextlib
import errno
import hashlib
import os
import re
import stat
from collections.abc import Mapping
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import platformdirs

from donna_tui.types.errors import DonnaError, Reason

PRIVATE = 0o700


@dataclass(frozen=True, slots=True)
class AppPaths:
    """Donna's four folders."""

    config: Path
    state: Path
    cache: Path
    log: Path

    def make(self) -> AppPaths:
        """Create the folders, for their owner only."""
        for folder in (self.config, self.state, self.cache, self.log):
            private_folder(folder)
        return self

    def space_state(self, root: Path) -> Path:
        """Return the folder with the index of the vault at `root`; one per real path."""
        real = root.expanduser().resolve()
        return self.state / "spaces" / _unique(real.name, os.fsencode(real))

    def agent_state(self, agent: str, root: Path) -> Path:
        """Return the folder with the index of an agent's memory; one per agent and real path."""
        return self.state / "agents" / _unique(agent, agent.encode() + b"\0" + os.fsencode(root))


def _unique(name: str, identity: bytes) -> str:
    """Return a readable folder name that is unique to this identity."""
    slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:40] or "vault"
    return f"{slug}-{hashlib.sha256(identity).hexdigest()[:10]}"


def app_paths(environ: Mapping[str, str] = os.environ) -> AppPaths:
    """Return Donna's folders for this user; `DONNA_HOME` moves all of them below one folder."""
    home = environ.get("DONNA_HOME")
    if home:
        base = Path(home).expanduser().absolute()
        return AppPaths(config=base / "config", state=base / "state", cache=base / "cache", log=base / "logs")
    dirs = platformdirs.PlatformDirs("donna", appauthor=False)
    return AppPaths(
        config=Path(dirs.user_config_dir),
        state=Path(dirs.user_state_dir),
        cache=Path(dirs.user_cache_dir),
        log=Path(dirs.user_log_dir),
    )


def private_folder(folder: Path) -> Path:
    """Create a folder with mode 0700, and its parents. Raises DonnaError (`io_error`)."""
    try:
        folder.mkdir(parents=True, exist_ok=True, mode=PRIVATE)
        folder.chmod(PRIVATE)
    except OSError as error:
        message = f"Donna's own folder {folder} cannot be created ({error.strerror})"
        raise DonnaError(Reason.IO_ERROR, message, hint="DONNA_HOME sets another place for Donna's folders") from error
    return folder


def private_text(file: Path, most_bytes: int) -> str:
    """Read the beginning of a file that only its owner may read. Raises DonnaError (`usage`)."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except OSError as error:
        raise DonnaError(Reason.USAGE, f"{file} cannot be read ({error.strerror})") from error
    try:
        status = os.fstat(descriptor)
        if not stat.S_ISREG(status.st_mode):
            raise DonnaError(Reason.USAGE, f"{file} is not a file")
        if stat.S_IMODE(status.st_mode) & 0o077:
            raise DonnaError(Reason.USAGE, f"{file} is readable by others", hint=f"chmod 600 {file}")
        return os.read(descriptor, most_bytes).decode("utf-8", "replace")
    finally:
        os.close(descriptor)


def is_full(error: OSError) -> bool:
    """Return whether an error means that there is no room: on the disk, in a quota, or in what a file may hold."""
    return error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)


def fsync(path: Path) -> None:
    """Wait until a file, or the names in a folder, are on the disk."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def replace_durably(file: Path, text: str) -> None:
    """Replace a file, atomically, by one that only its owner may read. Raises OSError; the old file then remains."""
    pending = file.with_name(f".{file.name}.new")  # always the same, so that only one can be left behind
    try:
        with open(pending, "w", encoding="utf-8", opener=partial(os.open, mode=0o600)) as stream:  # Path.open has none
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        pending.replace(file)
        fsync(file.parent)
    except BaseException:
        with contextlib.suppress(OSError):
            pending.unlink()
        raise


def modified_ns(file: Path) -> int:
    """Return the modification time of a file in nanoseconds; 0 if it was deleted meanwhile."""
    try:
        return file.stat().st_mtime_ns
    except OSError:
        return 0


def expanded(path: Path) -> Path:
    """Expand a leading `~`; as in a shell, that of an unknown user is kept."""
    try:
        return path.expanduser()
    except RuntimeError:
        return path


_PACKAGE = Path(__file__).resolve().parents[1]


def resource(*parts: str) -> Path:
    """Return the path of a shipped file or folder. Raises FileNotFoundError if the installation is incomplete."""
    for base in (_PACKAGE / "_data", _PACKAGE.parent):
        candidate = base.joinpath(*parts)
        if candidate.exists():
            return candidate
    raise FileNotFoundError(f"Donna's own file {'/'.join(parts)} is missing; install Donna again")


def style_sheet(name: str) -> Path:
    return resource("styles", f"{name}.tcss")
