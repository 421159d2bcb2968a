"""`GitRepo`: the repository that contains a vault. Reads it and moves its branch, but never writes its index."""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.command import GitCommand, GitResult, each_blob, each_entry, failed, refusal
from donna_tui.vault.git.trust import Located, check_files, check_rule_files, locate, not_trusted
from donna_tui.vault.write.changes import REGULAR_FILE

OWN_REFS = "refs/donna"

MAX_NAMED = 100
"""Maximum number of files that are named in the arguments of git, instead of asking for all."""

PATIENCE_SECONDS = 5.0
"""Seconds to wait for a lock that another program holds on the repository."""

_IN_PROGRESS = {
    "MERGE_HEAD": "a merge",
    "rebase-merge": "a rebase",
    "rebase-apply": "a rebase",
    "CHERRY_PICK_HEAD": "a cherry-pick",
    "REVERT_HEAD": "a revert",
    "sequencer": "a cherry-pick or a revert",
    "BISECT_LOG": "a bisect",
}
_NO = frozenset({"false", "no", "off", "0", ""})
_OF_THE_USER = ("core.attributesFile", "core.autocrlf")
_WHERE = ("--is-inside-work-tree", "--absolute-git-dir", "--show-object-format", "--git-common-dir", "--show-prefix")


@dataclass(frozen=True, slots=True)
class RepoLocation:
    """The location of a repository: git folder, common folder of its work trees, and vault path in the work tree."""

    git_dir: Path
    common_dir: Path
    prefix: str
    object_format: str

    @property
    def refs(self) -> str:
        """Return the namespace of Donna's refs: one per vault in a repository, so that undo is limited to it."""
        if self.git_dir == self.common_dir and not self.prefix:
            return OWN_REFS
        which = "" if self.git_dir == self.common_dir else self.git_dir.name
        return f"{OWN_REFS}/{hashlib.sha256(os.fsencode(f'{which}/{self.prefix}')).hexdigest()[:16]}"

    @property
    def records(self) -> str:
        """Return the ref of a chain of commits, one per operation, which protects old and new bytes from `git gc`."""
        return f"{self.refs}/operations"

    def pending(self, home: str, what: str) -> str:
        """Return the ref that protects the objects of a write in progress; `home` is the name of its state folder."""
        return f"{self.refs}/pending/{home}/{what}"

    def full(self, path: str) -> str:
        return self.prefix + path


@dataclass(frozen=True, slots=True)
class RefState:
    """The checked out commit, and the last record of Donna.

    `ref` is the ref to move (`HEAD` when detached), `commit` is None before the first commit, `record` before the first
    operation.
    """

    ref: str
    commit: str | None
    record: str | None


class GitRepo:
    """Git for one vault. Every method blocks and raises VaultWriteError with a reason."""

    def __init__(self, vault: Path) -> None:
        self._vault = vault.absolute()
        self._location: RepoLocation | None = None
        self._located: Located | None = None
        self._settings: tuple[object, Mapping[str, str]] | None = None
        self.command = GitCommand(vault)
        self.newest = "", ""
        """A record and the id of its operation, which never changes: the newest of those read last."""

    def init_if_missing(self) -> bool:
        """Create a repository, after the user agreed, unless the vault is in one. Return whether it was created.

        It gets no `user.name`: Donna names the author of its own commits with each, and those of the user are theirs.
        """
        if self.find() is not None:
            return False
        self.command.run("init", "--quiet", "--template=")
        return True

    def find(self) -> RepoLocation | None:
        """Locate the repository; return None if there is none. Raises VaultWriteError for one that cannot be used.

        The files that git may open are checked on every call, since a sync program can change them at any time. Every
        operation calls this or `location` once before it runs git.
        """
        if self._location is not None and self._located is not None and self._is_where_it_was(self._located):
            check_files(self._located, with_loose=False)
            return self._location
        self._location = None
        located = locate(self._vault)
        if located is not None:
            check_files(located, with_loose=True)
        found = self.command.run("rev-parse", *_WHERE, check=False)
        if found.status:
            if "not a git repository (or any" in found.first_error:
                return None
            raise refusal("rev-parse", found.first_error)
        inside, git_dir, object_format, common, prefix, *more = _lines(found)
        if inside != "true":
            raise failed("the vault is inside a .git folder or a bare repository")
        if len(more) != 1:
            raise failed("the name of a folder above the vault contains a line break")
        location = RepoLocation(Path(git_dir).resolve(), (self._vault / common).resolve(), prefix, object_format)
        if located is None or (location.git_dir, location.common_dir) != (located.git_dir, located.common_dir):
            raise not_trusted("git uses another repository than the one above the vault", "run git status there")
        self._location, self._located = location, located
        return location

    def _is_where_it_was(self, located: Located) -> bool:
        """Return whether the repository still exists, and no other one is nested between it and the vault."""
        has_own = (self._vault / ".git").exists()
        is_own = located.top == self._vault.resolve()
        return has_own == is_own and located.is_there() and (located.git_dir / "HEAD").exists()

    def location(self) -> RepoLocation:
        """Locate the repository as `find` does. Raises VaultWriteError (`no_repository`) if there is none."""
        location = self.find()
        if location is None:
            message = "the vault has no history yet: it is not a git repository"
            hint = "let Donna create one before the first change (in scripts: --yes), or run git init in its folder"
            raise VaultWriteError(Reason.NO_REPOSITORY, message, hint=hint)
        return location

    def _checked(self) -> RepoLocation:
        """Return the location that the operation has checked, or check it now."""
        return self._location or self.location()

    def tip(self) -> RefState:
        branch = self.command.run("symbolic-ref", "--quiet", "HEAD", check=False)
        if branch.status not in (0, 1):
            raise refusal("symbolic-ref", branch.first_error)
        commit, record = self._objects(["HEAD^{commit}", f"{self._checked().records}^{{commit}}"])
        return RefState(branch.line if branch.status == 0 else "HEAD", commit, record)

    def record(self) -> str | None:
        return self._objects([f"{self._checked().records}^{{commit}}"])[0]

    def _objects(self, names: Sequence[str]) -> list[str | None]:
        given = "".join(f"{name}\n" for name in names).encode()
        answer = self.command.run("cat-file", "--batch-check=%(objectname)", given=given)
        return [None if " " in line else line for line in _lines(answer)[: len(names)]]

    def check_at_rest(self, location: RepoLocation) -> None:
        """Raise VaultWriteError (`git_busy`) while a merge, rebase or the like is in progress."""
        for name, what in _IN_PROGRESS.items():
            if (location.git_dir / name).exists():
                hint = "finish or abort it with git, then try again"
                raise VaultWriteError(Reason.GIT_BUSY, f"{what} is in progress in this repository", hint=hint)

    def ignored(self, paths: Sequence[str]) -> list[str]:
        """Return those of these vault paths that git ignores and does not track."""
        check_rule_files(self.rule_folders(paths), ".gitignore")
        given = b"".join(f"./{path}\0".encode() for path in paths)
        answer = self.command.run("check-ignore", "-z", "--stdin", given=given, literal=False, check=False)
        if answer.status not in (0, 1):
            raise refusal("check-ignore", answer.first_error)
        return [entry.decode().removeprefix("./") for entry in answer.output.split(b"\0") if entry]

    def ignores_vault(self, location: RepoLocation) -> bool:
        """Return whether the vault is in a larger repository, such as one for dotfiles, that ignores all of it."""
        return bool(location.prefix and self.ignored(["note.md"]))

    def rule_folders(self, paths: Iterable[str]) -> list[Path]:
        """Return the folders whose rule files apply to these vault paths, from the top of the work tree down."""
        vault = self._vault.resolve()
        prefix = self._checked().prefix
        above = len(prefix.strip("/").split("/")) if prefix else 0
        inside = {Path(path).parent for path in paths}
        below = {each for folder in inside for each in (folder, *folder.parents)} - {Path()}
        return [*reversed(vault.parents[:above]), vault, *(vault / folder for folder in sorted(below))]

    def left_out(self, location: RepoLocation, paths: Sequence[str]) -> list[str]:
        """Return those of these vault paths that are in git but excluded from disk by a sparse checkout."""
        if not paths or not (location.git_dir / "info" / "sparse-checkout").exists():
            return []
        answer = self.command.run("ls-files", "-z", "-t", "--cached", "--", *paths)
        entries = (os.fsdecode(entry).partition(" ") for entry in answer.output.split(b"\0"))
        return [path for tag, _, path in entries if tag == "S"]

    def fast_import(self, stream: bytes) -> list[str]:
        """Run `git fast-import`. Return the ids that the `get-mark` lines of the stream ask for, in order."""
        answer = self.command.run("fast-import", "--quiet", "--force", "--done", given=stream)
        return answer.output.decode("ascii").split()

    def advance(self, tip: RefState, commit: str, record: str, message: str) -> bool:
        """Move the branch and the chain of operations in one transaction. Return False if either has moved meanwhile.

        The branch is left unchanged if it is at `commit` already. Waits for locks of other programs; raises
        VaultWriteError (`git_locked`) if one is not released.
        """
        branch = [] if commit == (tip.commit or "") else [(tip.ref, commit, tip.commit)]
        return self._update(message, *branch, (self._checked().records, record, tip.record))

    def append_record(self, previous: str | None, record: str, message: str, *, drop: str = "") -> bool:
        """Move only the chain of operations, if it is at `previous`, and delete `drop`. Raises VaultWriteError."""
        return self._update(message, (self._checked().records, record, previous), drop=drop)

    def drop_ref(self, ref: str) -> None:
        """Delete a ref of Donna. Failures are ignored: a remaining ref only retains unused objects."""
        self.command.run("update-ref", "--no-deref", "-d", ref, check=False)

    def _update(self, message: str, *moves: tuple[str, str, str | None], drop: str = "") -> bool:
        """Compare and swap refs in one transaction: each move has a name, the new commit and the expected old one."""
        zero = "0" * len(moves[0][1])
        updates = "".join(f"update {ref}\0{new}\0{old or zero}\0" for ref, new, old in moves)
        updates += f"delete {drop}\0\0" if drop else ""
        given = f"start\0{updates}prepare\0commit\0".encode()
        arguments = ("update-ref", "--no-deref", "-m", message, "--stdin", "-z")
        deadline, pause = time.monotonic() + PATIENCE_SECONDS, 0.02
        while True:
            answer = self.command.run(*arguments, given=given, check=False)
            if answer.status == 0:
                return True
            if "but expected" in answer.first_error or "already exists" in answer.first_error:
                return False
            if ".lock'" not in answer.first_error or time.monotonic() + pause > deadline:
                raise refusal("update-ref", answer.first_error)
            time.sleep(pause)  # another program holds a lock
            pause = min(pause * 2, 0.5)

    def blobs(self, ids: Sequence[str]) -> list[bytes | None]:
        """Return the bytes of blobs, or None for each that git does not have."""
        given = b"".join(blob.encode("ascii") + b"\n" for blob in ids)
        output = self.command.run("cat-file", "--batch", given=given).output if ids else b""
        return list(each_blob(output))

    def images(self, ids: Iterable[str | None]) -> dict[str | None, bytes | None]:
        """Return the bytes of blobs by id; None for each that git does not have."""
        known = [blob for blob in ids if blob]
        return dict(zip(known, self.blobs(known), strict=True))

    def existing(self, ids: Sequence[str]) -> set[str]:
        return {blob for blob in self._objects(ids) if blob}

    def known(self, tip: RefState, location: RepoLocation, paths: Sequence[str]) -> set[str]:
        """Return those of these vault paths that are in the last commit."""
        if tip.commit is None:
            return set()
        full = {location.full(path): path for path in paths}
        output = self.command.run("ls-tree", "-z", "--full-tree", tip.commit, "--", *full).output
        return {full[path] for path, _ in each_entry(output) if path in full}

    def blob_id(self, commit: str, path: str) -> str | None:
        output = self.command.run("ls-tree", "-z", "--full-tree", commit, "--", path).output
        return dict(each_entry(output)).get(path)

    def stored(self, commit: str, paths: Sequence[str]) -> dict[str, tuple[int, str]]:
        """Return the modes and the blobs of those of these files of the repository that a commit has, or of all."""
        few = paths if len(paths) <= MAX_NAMED else ()
        output = self.command.run("ls-tree", "-r", "-z", "--full-tree", commit, "--", *few).output
        modes = {os.fsdecode(entry.partition(b"\t")[2]): int(entry[:6], 8) for entry in output.split(b"\0") if entry}
        return {path: (modes[path], blob) for path, blob in each_entry(output)}

    def knows_modes(self) -> bool:
        """Return whether the file system supports the executable bit. If not, all files may look executable."""
        return self.find() is None or self.settings().get("core.filemode", "true").lower() not in _NO

    def composes_names(self) -> bool:
        """Return whether git, as on macOS, tracks the composed form of a name that is decomposed on disk."""
        return self.settings().get("core.precomposeunicode", "false").lower() not in _NO

    def settings(self) -> Mapping[str, str]:
        """Return the settings of the user and the repository that affect how files are stored, by lower-case name."""
        location, home = self._checked(), Path(os.environ.get("HOME", "/"))
        own = Path(os.environ.get("XDG_CONFIG_HOME") or home / ".config") / "git/config"
        files = (location.common_dir / "config", location.git_dir / "config.worktree", home / ".gitconfig", own)
        known = tuple(map(_stamp, files))
        if self._settings is None or self._settings[0] != known:
            pattern = r"^core\.(attributesfile|autocrlf|filemode|precomposeunicode)$"
            answer = self.command.run("config", "-z", "--get-regexp", pattern, as_configured=_OF_THE_USER, check=False)
            entries = (os.fsdecode(entry).partition("\n") for entry in answer.output.split(b"\0") if entry)
            self._settings = known, {name.lower(): value if has_one else "true" for name, has_one, value in entries}
        return self._settings[1]

    def mode(self, path: str) -> int:
        """Return the mode of a note in the last commit, or that of a regular file if it is not there."""
        found = self.command.run("ls-tree", "-z", "HEAD", "--", path, check=False).output
        return int(found[:6], 8) if found.startswith(b"100") else REGULAR_FILE

    def all_blob_ids(self, commit: str, location: RepoLocation) -> dict[str, str]:
        """Return the blob of every file below the vault in a commit, by vault path."""
        where = [f"{commit}:{location.prefix.rstrip('/')}"] if location.prefix else [commit]
        answer = self.command.run("ls-tree", "-r", "-z", "--full-tree", *where, check=False)
        return dict(each_entry(answer.output)) if answer.status == 0 else {}


def _lines(answer: GitResult) -> list[str]:
    return answer.output.decode("utf-8", "surrogateescape").split("\n")


def _stamp(file: Path) -> tuple[int, int, int] | None:
    """Return the metadata that changes when a file is written, or None if there is no file."""
    try:
        found = file.stat()
    except OSError:
        return None
    return found.st_ino, found.st_size, found.st_mtime_ns
