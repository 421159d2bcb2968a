"""Check a repository before git opens it: no file may point outside its folder or block git.

A vault may be untrusted, and git follows its repository: symbolic links are written through, a `gitdir:` or
`commondir` points to another repository, and opening a named pipe blocks.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.command import GitCommand, failed

_NEVER_OPENED = frozenset({
    "COMMIT_EDITMSG", "annex", "branches", "description", "gitk.cache", "hooks", "lfs", "modules", "rr-cache", "svn",
})  # fmt: skip
"""Names in the git folder that none of our calls opens. Some users make symbolic links of them, which is allowed."""

_WALKED = frozenset({"info", "logs", "objects", "refs", "reftable"})
_MAX_BYTES = 8_192
_HEX = frozenset("0123456789abcdef")


@dataclass(frozen=True, slots=True)
class Located:
    """The repository that git will find: the folder that contains `.git`, and the folders with git's files."""

    top: Path
    git_dir: Path
    common_dir: Path
    identity: tuple[int, ...]

    def is_there(self) -> bool:
        """Return whether `.git` is unchanged since it was checked."""
        return _identity(self.top / ".git") == self.identity


def locate(vault: Path) -> Located | None:
    """Find the repository of a vault as git does, without running git; return None if there is none.

    Raises VaultWriteError (`not_trusted`) if `.git` points to a folder that does not point back to this one.
    """
    start = vault.resolve()
    with contextlib.suppress(OSError):
        device = start.stat().st_dev
        for folder in (start, *start.parents):
            if folder.stat().st_dev != device:
                return None
            found = _located_in(folder)
            if found is not None:
                return found
            if all(os.path.lexists(folder / name) for name in ("HEAD", "objects", "refs")):
                raise failed("the vault is inside a .git folder or a bare repository")
    return None


def _located_in(folder: Path) -> Located | None:
    dot = folder / ".git"
    identity = _identity(dot)
    kind = identity[0] if identity else 0
    if kind == stat.S_IFDIR:
        return Located(folder, dot, dot, identity) if os.path.lexists(dot / "HEAD") else None
    if kind == stat.S_IFLNK:
        target = dot.resolve()
    elif kind == stat.S_IFREG:
        text = os.fsdecode(read_small(dot) or b"")
        if not text.startswith("gitdir: "):
            raise failed("the .git file of this folder does not name a repository")
        target = (dot.parent / text.removeprefix("gitdir: ").rstrip("\r\n")).resolve()
    else:
        return None
    if not target.is_dir():
        raise failed(f"this folder's repository was not found: {clean_line(str(target))}")
    common = target / "commondir"
    if os.path.lexists(common):
        return Located(folder, target, _main_repository(folder, target, common), identity)
    _check_work_tree(folder, target)
    return Located(folder, target, target, identity)


def _main_repository(folder: Path, git_dir: Path, pointer: Path) -> Path:
    """Return the repository that a linked work tree shares. Raises VaultWriteError unless it lists this work tree."""
    common = (git_dir / os.fsdecode(read_small(pointer) or b"").rstrip("\r\n")).resolve()
    back = git_dir / os.fsdecode(read_small(git_dir / "gitdir") or b"").rstrip("\r\n")
    is_inside = git_dir.parent.name == "worktrees" and git_dir.parent.parent == common
    if not is_inside or back.name != ".git" or back.parent.resolve() != folder:
        message = f"this folder says that it is a work tree of {clean_line(str(common))}, which does not name it"
        raise not_trusted(message, "if it is yours and was moved: git worktree repair")
    return common


def _check_work_tree(folder: Path, git_dir: Path) -> None:
    """Raise VaultWriteError unless `core.worktree` of a separate git folder names this folder, as for a submodule."""
    git = GitCommand(Path("/"))
    for name in ("config.worktree", "config"):
        file = git_dir / name
        if read_small(file) is None:
            continue
        named = ("--file", str(file), "--no-includes", "--type=path", "--get", "core.worktree")
        answer = git.run("config", *named, check=False)
        if answer.status == 0:
            if (git_dir / answer.line).resolve() == folder:
                return
            break
    message = f"this folder names {clean_line(str(git_dir))} as its repository, which does not name this folder"
    raise not_trusted(message, 'if it is yours, run in the folder that contains .git: git config core.worktree "$PWD"')


def check_files(located: Located, *, with_loose: bool) -> None:
    """Check every file that git may open, loose objects only `with_loose`. Raises VaultWriteError (`not_trusted`)."""
    for folder in {located.git_dir, located.common_dir}:
        for entry in _entries(folder):
            if entry.name == "commondir" and folder == located.common_dir:
                raise not_trusted("the repository names another one as its own", "check the file .git/commondir")
            if entry.name in _NEVER_OPENED:
                continue
            _check(entry, folder)
            if entry.name in _WALKED:
                _check_below(entry, folder, with_loose=with_loose)


def _check_below(folder: os.DirEntry[str], top: Path, *, with_loose: bool) -> None:
    may_have_loose = not with_loose and folder.name == "objects"
    for entry in _entries(folder):
        _check(entry, top)
        is_loose = may_have_loose and len(entry.name) == 2 and set(entry.name) <= _HEX
        if not is_loose and entry.is_dir(follow_symlinks=False):
            _check_below(entry, top, with_loose=with_loose)


def _check(entry: os.DirEntry[str], top: Path) -> None:
    """Check one entry. Names are built only for an error, as every write checks all of these entries."""
    if entry.is_dir(follow_symlinks=False) or entry.is_file(follow_symlinks=False):
        return
    if entry.is_symlink():
        message = f"“{clean_line(_name_in(entry, top))}” in the repository is a symbolic link that leads outside it"
        raise not_trusted(message, "if you created it, replace it with the files themselves")
    with contextlib.suppress(OSError):
        _check_special(entry.stat(follow_symlinks=False), _name_in(entry, top))


def _name_in(entry: os.DirEntry[str], top: Path) -> str:
    return f"{top.name}/{Path(entry.path).relative_to(top)}"


def _check_special(found: os.stat_result, name: str) -> None:
    """Raise for a pipe or a device. Sockets are allowed: git's file system monitor has one, and it cannot be opened."""
    if stat.S_IFMT(found.st_mode) in (stat.S_IFIFO, stat.S_IFCHR, stat.S_IFBLK):
        raise not_trusted(f"“{clean_line(name)}” is a pipe or a device, on which git would hang", "remove it")


def check_rule_files(folders: Iterable[Path], name: str) -> bool:
    """Return whether one of these folders has a rule file of this name. Raises VaultWriteError (`not_trusted`)."""
    has_one = False
    for folder in folders:
        try:
            found = os.lstat(folder / name)
        except OSError:
            continue
        _check_special(found, name)
        has_one = True
    return has_one


def read_small(path: Path) -> bytes | None:
    """Read the first 8 KiB of a regular file, or None. Follows no symbolic link and does not block on a pipe."""
    with contextlib.suppress(OSError):
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        try:
            if stat.S_ISREG(os.fstat(descriptor).st_mode):
                return os.read(descriptor, _MAX_BYTES)
        finally:
            os.close(descriptor)
    return None


def not_trusted(message: str, hint: str) -> VaultWriteError:
    """Return the error for a repository that could make git write outside the vault, or block for ever."""
    return VaultWriteError(Reason.NOT_TRUSTED, message, hint=hint)


def _entries(folder: os.PathLike[str]) -> Iterator[os.DirEntry[str]]:
    """Yield the entries of a folder; none if it is missing or cannot be listed, which git itself will report."""
    try:
        with os.scandir(folder) as found:
            yield from found
    except OSError:
        return


def _identity(path: Path) -> tuple[int, ...]:
    """Return the metadata that changes when a path is replaced by another file or folder; empty if there is none."""
    try:
        found = os.lstat(path)
    except OSError:
        return ()
    kind = stat.S_IFMT(found.st_mode)
    written = (found.st_mtime_ns, found.st_size) if kind != stat.S_IFDIR else ()
    return (kind, found.st_dev, found.st_ino, *written)
