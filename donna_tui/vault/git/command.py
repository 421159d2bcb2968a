"""Run git with fixed arguments and forced settings, so that nothing in a vault is executed, and parse its output."""

from __future__ import annotations

import os
import re
import subprocess
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.safety.terminal import clean_line
from donna_tui.types.errors import Reason, VaultWriteError

if TYPE_CHECKING:
    from git import Git


_ABSENT = re.compile(rb"^.* (?:missing|ambiguous)$")


def each_blob(output: bytes) -> Iterator[bytes | None]:
    """Yield the blobs in the output of `cat-file --batch`; None for a missing object or one that is not a blob."""
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        header = output[position:end]
        if _ABSENT.match(header):
            yield None
            position = end + 1
            continue
        size = int(header.rsplit(b" ", 1)[1])
        yield output[end + 1 : end + 1 + size] if b" blob " in header else None
        position = end + size + 2


def each_entry(output: bytes) -> Iterator[tuple[str, str]]:
    """Yield the path and the id of each blob in the output of `ls-tree -z`."""
    for entry in output.split(b"\0"):
        meta, _, path = entry.partition(b"\t")
        if meta.split(b" ")[1:2] == [b"blob"]:
            yield os.fsdecode(path), meta.split(b" ")[2].decode("ascii")


DEADLINE_SECONDS = 30.0

HELD: ContextVar[tuple[int, ...]] = ContextVar("HELD", default=())
"""Descriptors that git inherits: a lock on one of them is held until git has ended, even if Donna is killed."""

_running: set[int] = set()
"""The processes of git that have not ended."""

_SETTINGS = {
    "commit.gpgSign": "false",
    "core.alternateRefsCommand": "",
    "core.askPass": "",
    "core.attributesFile": os.devnull,
    "core.autocrlf": "false",
    "core.commentChar": "#",
    "core.editor": "false",
    "core.fsmonitor": "false",
    "core.fsync": "all",
    "core.gitProxy": "",
    "core.hooksPath": os.devnull,
    "core.pager": "cat",
    "core.quotePath": "false",
    "core.safecrlf": "false",
    "core.sshCommand": "false",
    "core.untrackedCache": "false",
    "credential.helper": "",
    "diff.external": "",
    "diff.orderFile": os.devnull,
    "diff.renames": "true",
    "fastimport.unpackLimit": "500",  # git's default is 100, which one rename of a folder can reach
    "fetch.recurseSubmodules": "false",
    "gc.auto": "0",
    "gpg.program": "false",
    "grep.patternType": "basic",
    "i18n.logOutputEncoding": "utf-8",
    "index.sparse": "false",
    "log.showRoot": "true",
    "log.showSignature": "false",
    "maintenance.auto": "false",
    "protocol.allow": "never",
    "sequence.editor": "false",
    "submodule.recurse": "false",
}
"""Forced on every call: each setting that could run a program, use a network, or change bytes or output."""

_VARIABLES = {
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "false",
    "GIT_ATTR_NOSYSTEM": "1",
    "GIT_AUTHOR_EMAIL": "donna@localhost",
    "GIT_AUTHOR_NAME": "Donna",
    "GIT_COMMITTER_EMAIL": "donna@localhost",
    "GIT_COMMITTER_NAME": "Donna",
    "GIT_EDITOR": "false",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_PAGER": "cat",
    "GIT_REFLOG_ACTION": "donna",
    "GIT_SSH_COMMAND": "false",
    "GIT_TERMINAL_PROMPT": "0",
    "SSH_ASKPASS": "false",
}
"""Set on every call. The identity is used in reflogs, so that the repository's `user.name` is never written there."""


@dataclass(frozen=True, slots=True)
class GitResult:
    """The result of a git command: exit status, standard output, and the first line of its error output."""

    status: int
    output: bytes
    first_error: str

    @property
    def line(self) -> str:
        return self.output.decode("utf-8", "surrogateescape").split("\n", 1)[0]


class GitCommand:
    """Run git in one folder. Blocks; may be called from several threads."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder.absolute()
        self._git: Git | None = None

    def run(
        self,
        *arguments: str,
        given: bytes = b"",
        index: Path | None = None,
        literal: bool = True,
        as_configured: Collection[str] = (),
        check: bool = True,
    ) -> GitResult:
        """Run git with these arguments, `given` on its standard input, and an alternative `index` if one is given.

        Paths among the arguments are `literal`, not patterns, except for commands that do not support the option.
        Settings and variables in `as_configured` are not forced: the user's own configuration applies. Raises
        VaultWriteError: `git_failed` if git is not installed or does not answer in time; with `check`, also if the
        command fails, perhaps with a more specific reason.
        """
        variables = _environment(as_configured) | ({"GIT_INDEX_FILE": str(index)} if index else {})
        process = self._start(("--literal-pathspecs", *arguments) if literal else arguments, variables)
        _running.add(process.pid)
        try:
            output, errors = process.communicate(given, timeout=DEADLINE_SECONDS)
        except subprocess.TimeoutExpired:
            process.kill()
            process.communicate()
            raise failed(f"git {arguments[0]} did not answer within {DEADLINE_SECONDS:.0f} seconds") from None
        finally:
            _running.discard(process.pid)
        if process.returncode < 0:
            raise failed(f"git {arguments[0]} was killed before it finished")
        first_error = clean_line(next(iter(errors.decode("utf-8", "replace").strip().splitlines()), ""))[:300]
        if check and process.returncode:
            raise refusal(arguments[0], first_error)
        return GitResult(process.returncode, output, first_error)

    def _start(self, arguments: Sequence[str], environment: Mapping[str, str]) -> subprocess.Popen[bytes]:
        try:
            from git import Git
            from git.exc import GitCommandNotFound
        except ImportError:  # GitPython looks for git on import
            raise _not_installed() from None
        self._git = self._git or Git(str(self._folder))
        # git variables of the calling shell would redirect git
        inherited = [name for name in os.environ if name.startswith("GIT_") and name not in environment]
        without = ("env", *(part for name in inherited for part in ("-u", name))) if inherited else ()
        try:
            # GitPython starts git in the current directory if the vault is missing; with `-C`, that fails instead.
            return self._git.execute(  # type: ignore[return-value]  # a thin wrapper around the process
                [*without, "git", "-C", str(self._folder), *arguments],
                istream=subprocess.PIPE,
                as_process=True,
                env=dict(environment),
                pass_fds=HELD.get(),
                start_new_session=True,  # an interrupt from the terminal must not stop git half-way
            )
        except GitCommandNotFound:
            raise _not_installed() from None
        except OSError as error:
            raise failed(f"git cannot be started: {(error.strerror or 'unknown error').lower()}") from error


def is_running() -> bool:
    """Return whether Donna waits for a git process."""
    return bool(_running)


def failed(message: str, hint: str | None = None) -> VaultWriteError:
    return VaultWriteError(Reason.GIT_FAILED, message, hint=hint)


def _not_installed() -> VaultWriteError:
    return failed("git is not installed", hint="install git; without it Donna only reads")


def refusal(verb: str, first_error: str) -> VaultWriteError:
    """Map an error message of git to a VaultWriteError with a reason and a hint."""
    for words, reason, message, hint in _MEANINGS:
        if any(word in first_error for word in words):
            if reason is Reason.GIT_LOCKED and (lock := _LOCK.search(first_error)):
                hint = f"try again; if no git program is running, remove {lock[1]}"
            return VaultWriteError(reason, message, hint=hint)
    return failed(f"git {verb} failed: {first_error or 'no error message'}")


_LOCK = re.compile(r"'[^']*?(\.git/[^']+\.lock)'")
"""The lock file in git's error output."""

_FREE_SPACE = "free some space and try again"
_MEANINGS = (
    (("cannot change to",), Reason.ROOT_MISSING,
     "the vault does not exist, or permission is denied", "mount the disk, or choose another vault"),
    (("is in submodule",), Reason.IGNORED_BY_GIT,
     "the note is in a submodule, which is a separate repository", "open the submodule as a vault to change it"),
    (("dubious ownership",), Reason.NOT_TRUSTED, "git does not trust this repository, since another user owns it",
     "if it is yours: git config --global --add safe.directory FOLDER"),
    ((".lock': File exists",), Reason.GIT_LOCKED, "another program is using the repository: it holds a lock",
     "try again; if no git program is running, remove the .lock file that git names"),
    (("No space left on device", "Out of diskspace"), Reason.DISK_FULL, "the disk is full", _FREE_SPACE),
    (("couldn't write '",), Reason.IO_ERROR, "git cannot write to its own folder: the disk may be full", _FREE_SPACE),
    (("Disk quota exceeded",), Reason.DISK_FULL, "the disk quota is exceeded", _FREE_SPACE),
    (("insufficient permission", "Permission denied"), Reason.IO_ERROR,
     "permission denied: the repository is not writable", "check who owns the vault and its .git folder"),
    (("Read-only file system",), Reason.IO_ERROR, "the disk of the repository is read-only", None),
)  # fmt: skip


def _environment(as_configured: Collection[str]) -> dict[str, str]:
    """Return the forced variables and settings, in the form that overrides every configuration file."""
    settings = [(key, value) for key, value in _SETTINGS.items() if key not in as_configured]
    numbered: dict[str, str] = {"GIT_CONFIG_COUNT": str(len(settings))}
    for number, (key, value) in enumerate(settings):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    return {name: value for name, value in _VARIABLES.items() if name not in as_configured} | numbered
