"""A small vault with a writer, and a check of what Donna promises about writing, which asks the disk and git alone."""

from __future__ import annotations

import atexit
import contextlib
import copy
import hashlib
import os
import shutil
import subprocess
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

import pytest

from donna_tui.types.errors import VaultWriteError
from donna_tui.vault.client import VaultClient
from donna_tui.vault.git.objects import Author
from donna_tui.vault.include import GlobSet
from donna_tui.vault.write.protocol import Step
from donna_tui.vault.write.rules import WriteRules
from donna_tui.vault.write.writer import OnWritten, VaultWriter
from tests.git_vaults import in_memory, new_folder, write

Notes = dict[str, bytes]

STAGED = "Projects/staged.md"
"""A note of which the branch, the index and the disk each have another version."""

_LITTER = ("*.lock", "donna-index*", "fast_import_crash_*", "next-index-*")


def small_file_system(folder: Path, size: str) -> Iterator[Path]:
    """Mount a file system of a size, such as `8m`, until the end of a test."""
    folder.mkdir()
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size}", "donna-test", str(folder)], check=False)
    if mounted.returncode:
        pytest.skip("a small file system cannot be mounted here; it needs root")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@dataclass(frozen=True, slots=True)
class Sandbox:
    """A vault and Donna's folder below `base`."""

    base: Path

    @property
    def vault(self) -> Path:
        return self.base / "vault"

    @property
    def git_dir(self) -> Path:
        return self.vault / ".git"

    @property
    def intent(self) -> Path:
        return self.base / "state" / "writes" / "intent.json"

    def writer(
        self,
        reached: Callable[[Step], None] = lambda _: None,
        on_written: OnWritten = lambda *_: None,
        *,
        on_recovered: Callable[[VaultWriteError], None] = lambda _: None,
        home: str = "state",
    ) -> VaultWriter:
        """Return a writer as a newly started program would have it."""
        rules = WriteRules(
            allowlist=["Inbox", "Projects"],
            ignore=GlobSet([".git/**"]),
            max_note_bytes=200_000,
            sensitive_key="donna_sensitive",
        )
        author = Author("Donna", "donna@example.org")
        client = VaultClient(self.vault)
        return VaultWriter(
            self.vault,
            client=client,
            rules=rules,
            author=author,
            state=self.base / home,
            on_written=on_written,
            on_recovered=on_recovered,
            reached=reached,
        )

    @property
    def _environment(self) -> dict[str, str]:
        """Return an environment without settings of the user; a missing file is used, since a null device may vary."""
        nobody = str(self.base / "no-settings")
        return {**os.environ, "GIT_CONFIG_GLOBAL": nobody, "GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}

    def git(self, *arguments: str) -> bytes:
        return subprocess.run(
            ["git", *arguments], cwd=self.vault, env=self._environment, check=True, stdout=subprocess.PIPE
        ).stdout

    def put(self, path: str, data: bytes) -> None:
        write(self.vault, path, data)

    def notes(self) -> Notes:
        """Return every file of the vault, temporary ones included, except those that an editor is renaming."""
        found: Notes = {}
        for each in self.vault.rglob("*"):
            if self.git_dir not in each.parents and each.is_file():
                with contextlib.suppress(FileNotFoundError):
                    found[str(each.relative_to(self.vault))] = each.read_bytes()
        return found

    def operations(self, ref: str = "HEAD") -> list[str]:
        """Return the ids of the operations of the branch, oldest first."""
        form = "--format=%(trailers:key=Donna-Op,valueonly,separator=%x2C)"
        return self.git("rev-list", "--no-commit-header", "--ignore-missing", "--reverse", form, ref).decode().split()

    def tree(self) -> dict[str, str]:
        """Return the blob of every file in the branch."""
        entries = self.git("ls-tree", "-r", "-z", "HEAD").decode().split("\0")[:-1]
        return {entry.partition("\t")[2]: entry.split()[2] for entry in entries}

    def copy(self, base: Path) -> Sandbox:
        shutil.copytree(self.base, base, symlinks=True, dirs_exist_ok=True)
        return Sandbox(base)


FIRST_NOTES: Notes = {
    "Inbox/t0.md": b"# Target\n\nThe note that others link to.\n",
    "Inbox/s0.md": b"---\ntitle: Source\n---\nSee [[t0]] and [[t1]].\n",
    "Projects/deep/s1.md": b"# Another\n\nAlso [[t0]], and [[t0|by another name]].\r\n",
    "Projects/t1.md": b"# Second target\n",
    "Projects/plain.md": "# Ein Wörtchen\n".encode(),
}


def new_sandbox(base: Path, *, staged: bool = False) -> Sandbox:
    """Create a vault in git with a few notes that link to each other, optionally with staged work of the user."""
    sandbox = Sandbox(base)
    for path, data in FIRST_NOTES.items():
        sandbox.put(path, data)
    if staged:
        sandbox.put(STAGED, b"as it is in the branch\n")
    sandbox.git("init", "--quiet", "--template=")
    sandbox.git("config", "user.name", "A Person")
    sandbox.git("config", "user.email", "person@example.org")
    sandbox.git("add", "--all")
    sandbox.git("commit", "--quiet", "--message=first")
    if staged:
        sandbox.put(STAGED, b"as it is staged\n")
        sandbox.git("add", STAGED)
        sandbox.put(STAGED, b"as it is on the disk\n")
    return sandbox


def blob(data: bytes) -> str:
    return hashlib.sha1(b"blob %d\0" % len(data) + data).hexdigest()


def litter(sandbox: Sandbox, *, own: bool = False) -> list[str]:
    """Return what a write must not leave behind: temporary files, an intent, locks.

    With `own` this includes what only Donna uses inside git's folder, which is harmless and is removed by her next
    write.
    """
    left = [each for pattern in _LITTER for each in sandbox.git_dir.rglob(pattern) if own or not _is_own(sandbox, each)]
    left += sandbox.vault.rglob(".donna-*")
    left += [sandbox.intent] if sandbox.intent.exists() else []
    return [str(each.relative_to(sandbox.base)) for each in left]


def _is_own(sandbox: Sandbox, path: Path) -> bool:
    inside = path.relative_to(sandbox.git_dir)
    return path.name.startswith("donna-index") or inside.parts[:2] == ("refs", "donna")


@dataclass(slots=True)
class VaultModel:
    """The expected state of the vault, for a caller that is notified of every finished operation."""

    sandbox: Sandbox
    notes: Notes
    acknowledged: list[str] = field(default_factory=list)
    index: bytes = b""
    head: str = ""
    done: list[Notes] = field(default_factory=list)
    undone: list[Notes] = field(default_factory=list)

    @classmethod
    def of(cls, sandbox: Sandbox) -> VaultModel:
        """Return the model of a vault in which everything that Donna did can still be undone."""
        index, head = sandbox.git("ls-files", "--stage", "-z"), (sandbox.git_dir / "HEAD").read_text()
        return cls(sandbox, sandbox.notes(), sandbox.operations(), index, head)

    def check(self, *possible: Notes, sound: bool = False) -> int:
        """Check every promise, and that the vault is as before or entirely as after one of `possible`. Return which.

        `sound` checks more, right after an undisturbed write.
        """
        left = litter(self.sandbox, own=sound)
        assert not left, left
        found = self.sandbox.notes()
        states = [self.notes, *possible]
        assert found in states, {
            path: [each.get(path) for each in (found, *states)]
            for path in {*found, *(path for state in states for path in state)}
            if any(each.get(path) != found.get(path) for each in states)
        }
        operations = self.sandbox.operations()
        alike = [each for each, state in enumerate(states) if state == found]
        number = alike[-1 if len(operations) > len(self.acknowledged) else 0]  # two undo steps may change nothing
        records = self.sandbox.operations("refs/donna/operations")
        assert operations[: len(self.acknowledged)] == self.acknowledged, (operations, self.acknowledged)
        assert len(operations) == len(self.acknowledged) + (number > 0), (number, operations, self.acknowledged)
        assert operations == records, (operations, records)
        self._check_git(found)
        if sound:
            self.sandbox.git("fsck", "--strict", "--no-dangling", "--no-progress")
        return number

    def _check_git(self, found: Notes) -> None:
        wanted = {path: blob(data) for path, data in found.items()}
        tree, head = self.sandbox.tree(), (self.sandbox.git_dir / "HEAD").read_text()
        assert head == self.head, head
        if STAGED in found:
            shown = self.sandbox.git("diff", "--cached", "--name-only", "-z").decode()
            assert shown == f"{STAGED}\0", shown
            entry = self.sandbox.git("ls-files", "--stage", "-z", STAGED)
            assert entry in self.index, entry
            wanted[STAGED] = blob(b"as it is in the branch\n")
        else:
            status = self.sandbox.git("status", "--porcelain", "--untracked-files=all").decode()
            assert not status, status
        assert tree == wanted, (tree, wanted)

    def after(self, call: Sequence[str]) -> Notes:
        """Return the notes after an operation, by independent rules."""
        kind, *rest = call
        if kind == "write":
            return {**self.notes, rest[0]: rest[1].encode()}
        if kind == "delete":
            return {path: data for path, data in self.notes.items() if path != rest[0]}
        if kind == "move":
            return _moved(self.notes, *rest)
        stack = self.done if kind == "undo" else self.undone
        return stack[-int(rest[0])] if int(rest[0]) <= len(stack) else self.notes

    def acknowledge(self, call: Sequence[str], operation: str) -> None:
        """Record that an operation was acknowledged, or found to be done."""
        after, before = self.after(call), self.notes
        self.acknowledged.append(operation)
        if call[0] in ("undo", "redo"):
            source, target = (self.done, self.undone) if call[0] == "undo" else (self.undone, self.done)
            for _ in range(int(call[1])):
                target.append(before)
                before = source.pop()
        else:
            self.done.append(before)
            self.undone.clear()
        self.notes = after


def _moved(notes: Notes, src: str, dst: str) -> Notes:
    """Return the notes after a move. Links are bare names here, and no two notes have the same one."""
    old, new = (f"[[{Path(path).stem}".encode() for path in (src, dst))
    renamed = {dst if path == src else path: data for path, data in notes.items()}
    return {
        path: data.replace(old + b"]]", new + b"]]").replace(old + b"|", new + b"|") for path, data in renamed.items()
    }


class CallRunner:
    """A writer that runs calls given as tuples."""

    def __init__(
        self,
        sandbox: Sandbox,
        reached: Callable[[Step], None] = lambda _: None,
        *,
        home: str = "state",
        on_recovered: Callable[[VaultWriteError], None] = lambda _: None,
    ) -> None:
        self._done: list[str] = []
        self.writer = sandbox.writer(
            reached, lambda outcome, *_: self._done.append(outcome.operation), home=home, on_recovered=on_recovered
        )

    def do(self, call: Sequence[str]) -> str:
        """Run a call. Return the operation's id, or nothing if there was nothing to do."""
        kind, *rest = call
        before = len(self._done)
        if kind == "write":
            self.writer.write(*rest, replace=True)
        elif kind in ("undo", "redo"):
            (self.writer.undo_last if kind == "undo" else self.writer.redo)(int(rest[0]))
        else:
            (self.writer.delete if kind == "delete" else self.writer.move)(*rest)
        return "".join(self._done[before:])


CALLS: dict[str, tuple[str, ...]] = {
    "write new": ("write", "Inbox/new/folder/n.md", "# New\n\nWith a [[t0]] in it.\n"),
    "write over": ("write", "Inbox/s0.md", "---\ntitle: Source\n---\nSaid anew. See [[t1]].\n" * 40),
    "delete": ("delete", "Projects/deep/s1.md"),
    "move": ("move", "Inbox/t0.md", "Projects/deep/t9.md"),
    "undo": ("undo", "2"),
    "redo": ("redo", "2"),
}
"""One operation of each kind, for a vault of `prepared`."""


def prepared(base: Path, name: str, *, staged: bool = False) -> VaultModel:
    """Create a vault in which the operation of this name can run."""
    template = _template(name, staged)
    return replace(copy.deepcopy(template), sandbox=template.sandbox.copy(base))


@cache
def _template(name: str, staged: bool) -> VaultModel:
    base = new_folder(in_memory())
    atexit.register(shutil.rmtree, base)
    vault_model = VaultModel.of(new_sandbox(base, staged=staged))
    hand = CallRunner(vault_model.sandbox)
    first = [CALLS["write over"], CALLS["move"]] if name in ("undo", "redo") else []
    for call in [*first, *([CALLS["undo"]] if name == "redo" else [])]:
        vault_model.acknowledge(call, hand.do(call))
    return vault_model
