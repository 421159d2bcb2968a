"""Vaults in git repositories of every kind, for tests of what Donna and the user do to them."""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

from donna_tui.vault.client import VaultClient
from donna_tui.vault.git.objects import Author
from donna_tui.vault.include import GlobSet
from donna_tui.vault.write.rules import WriteRules
from donna_tui.vault.write.writer import VaultWriter

DONNA = Author("Donna", "donna@localhost")
MEMORY = Path("/dev/shm")
ROOM_BYTES = 2_000_000_000
"""More than the folders of a whole run take."""

USER_SETTINGS = """
[user]
name = The User
email = user@example.org
[init]
defaultBranch = main
[protocol "file"]
allow = always
[gc]
auto = 0
[advice]
detachedHead = false
"""

NOTES = {
    "Projects/one.md": "# One\n\nfirst line\nsecond line\n",
    "Projects/two.md": "# Two\n\nsee [[one]] and [one](one.md)\n",
    "Projects/part.md": "".join(f"line {number}\n" for number in range(40)),
    "Inbox/old.md": "old\n",
}


def in_memory() -> Path | None:
    """Return the folder for files in memory if it has room: thousands of commits need not be flushed to disk."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > ROOM_BYTES else None


def new_folder(parent: Path | None) -> Path:
    """Create a folder whose name has the id of this process, in the usual place for `None`."""
    return Path(tempfile.mkdtemp(prefix=f"donna-test-{os.getpid()}-", dir=parent))


def remove_stale_folders(parent: Path) -> None:
    """Remove the folders of processes that were killed."""
    for folder in parent.glob("donna-test-*-*"):
        process = folder.name.split("-")[2]
        try:
            os.kill(int(process), 0)
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (ValueError, OverflowError, PermissionError):
            continue


@contextmanager
def memory_folder() -> Iterator[Path]:
    """Create a folder, in memory if possible."""
    folder = new_folder(in_memory())
    try:
        yield folder.resolve()
    finally:
        shutil.rmtree(folder)


def private_environment(home: Path) -> dict[str, str]:
    """Return the environment without git's variables and without the settings of the user."""
    home.mkdir(parents=True, exist_ok=True)
    (home / ".gitconfig").write_text(USER_SETTINGS)
    ours = {name: value for name, value in os.environ.items() if not name.startswith("GIT_")}
    return {**ours, "HOME": str(home), "XDG_CONFIG_HOME": str(home / "xdg"), "GIT_CONFIG_NOSYSTEM": "1"}


class User:
    """A user of git, in a separate environment."""

    def __init__(self, home: Path) -> None:
        self.environment = private_environment(home)

    def git(self, folder: Path, *arguments: str, given: str | None = None, may_fail: bool = False) -> str:
        """Run git and return its standard output, byte for byte except for undecodable bytes."""
        done = subprocess.run(
            ["git", *arguments],
            cwd=folder,
            env=self.environment,
            input=None if given is None else given.encode(),
            stdin=subprocess.DEVNULL if given is None else None,
            capture_output=True,
            timeout=60,
        )
        if done.returncode and not may_fail:
            raise AssertionError(f"git {' '.join(arguments)}: {done.stderr.decode(errors='replace')}")
        return done.stdout.decode("utf-8", "surrogateescape")

    def commit_all(self, folder: Path, message: str) -> str:
        """Stage and commit everything. Return the commit."""
        self.git(folder, "add", "--all")
        self.git(folder, "commit", "--quiet", "--allow-empty", "--message", message)
        return self.git(folder, "rev-parse", "HEAD").strip()

    def repository(self, folder: Path, *options: str, vault: str = "") -> Path:
        """Create a repository with the notes in its folder `vault`, committed."""
        folder.mkdir(parents=True, exist_ok=True)
        self.git(folder, "init", "--quiet", *options)
        fill(folder / vault)
        self.commit_all(folder, "base")
        return folder / vault


def write(root: Path, path: str, text: str | bytes) -> Path:
    """Write a note, as another program would."""
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    return file


def fill(vault: Path, notes: Mapping[str, str] | Mapping[str, bytes] = NOTES) -> None:
    for path, text in notes.items():
        write(vault, path, text)


def new_writer(vault: Path, state: Path) -> VaultWriter:
    """Return a writer as a session opens it. A second one for the same paths is the same Donna after a restart."""
    ignore = GlobSet([".git/**"])
    rules = WriteRules(allowlist=["*"], ignore=ignore, max_note_bytes=200_000, sensitive_key="donna_sensitive")
    return VaultWriter(vault, client=new_client(vault), rules=rules, author=DONNA, state=state)


def new_client(vault: Path) -> VaultClient:
    """Return a reader of a vault."""
    return VaultClient(vault, ignore=[".git/**"], max_bytes=1_000_000, sensitive_key="donna_sensitive")


def tree_of(vault: Path) -> dict[str, str]:
    """Return the sha256 of every file of a vault, including hidden files except for git's."""
    found = {}
    for path in sorted(vault.rglob("*")):
        relative = path.relative_to(vault)
        if path.is_file() and ".git" not in relative.parts:
            found[str(relative)] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found
