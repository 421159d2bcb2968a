"""`VaultClient`: list and read the notes of a vault, and report why a file is not a note."""

from __future__ import annotations

import hashlib
import os
import re
from collections import deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from donna_tui.safety.classify import Sensitivity
from donna_tui.text.lines import split_lines
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.vault.conflicts import is_conflict_copy
from donna_tui.vault.include import EVERYTHING, GlobSet, Include
from donna_tui.vault.note.read import (
    Frontmatter,
    aliases_of,
    note_date,
    note_type_of,
    parse_frontmatter,
    tags_of,
    title_of,
)
from donna_tui.vault.paths import IS_LINK, VaultRoot, check_relative, refused

NOTE_ENDINGS = (".md", ".markdown")
DEFAULT_MAX_BYTES = 2_000_000

MAX_REPLACED = 0.3
"""Maximum share of bytes outside UTF-8 in a note that still counts as text. Latin-1 prose has up to a sixth."""

MAX_ZEROS = 0.1
"""Maximum share of NUL characters in a note that still counts as text. UTF-16 without a BOM has a half."""

TEMPORARY = re.compile(r"~$|^~syncthing~|\.(?:tmp|icloud|swp|part)$|^#.*#$", re.IGNORECASE)
_BOMS = (
    (b"\xff\xfe\0\0", "utf-32-le"),  # before UTF-16, whose BOM is a prefix of this one
    (b"\0\0\xfe\xff", "utf-32-be"),
    (b"\xff\xfe", "utf-16-le"),
    (b"\xfe\xff", "utf-16-be"),
)


@dataclass(frozen=True, slots=True)
class NoteStat:
    """The metadata that detects a changed file. Times are integer nanoseconds, size is bytes."""

    path: str
    size: int
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(frozen=True, slots=True)
class ScannedFile:
    """One file of the vault: a note, or, with a reason and a message, a file that is not indexed."""

    path: str
    stat: NoteStat | None
    reason: Reason | None = None
    message: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class VaultNote:
    """A note as read. `text` is the whole decoded file without its BOM; the body begins at `body_start`.

    `etag` is the sha256 of the bytes, in hex. `lossy` is set if some bytes were not text and were replaced.
    """

    path: str
    text: str
    frontmatter: Frontmatter
    title: str
    aliases: tuple[str, ...]
    tags: tuple[str, ...]
    note_type: str
    stat: NoteStat
    etag: str
    sensitivity: Sensitivity
    lossy: bool

    @property
    def body_start(self) -> int:
        return self.frontmatter.body_start

    @property
    def content(self) -> str:
        return self.text[self.body_start :]

    @property
    def mtime(self) -> float:
        return self.stat.mtime_ns / 1e9

    @property
    def dated_at(self) -> float:
        """Return the date of the note, Unix seconds: from its frontmatter or name, else the modification time."""
        return note_date(self.frontmatter.data, self.path, self.mtime)

    @property
    def mtime_ns(self) -> int:
        return self.stat.mtime_ns

    @property
    def size(self) -> int:
        return self.stat.size


class VaultClient:
    """Read access to one vault. Every method blocks; all may be called from several threads at once.

    Files that `include` excludes are neither read nor listed; folders that cannot contain a source are not opened.
    """

    def __init__(
        self,
        root: Path,
        *,
        ignore: Iterable[str] = (),
        max_bytes: int = DEFAULT_MAX_BYTES,
        sensitive_key: str = "donna_sensitive",
        include: Include = EVERYTHING,
    ) -> None:
        self.root = root
        self._root = VaultRoot(root)
        self.include = include
        self._ignore = GlobSet(ignore)
        self._max_bytes = max_bytes
        self.sensitive_key = sensitive_key

    def read(self, path: str) -> VaultNote:
        """Read a note. Raises VaultReadError with the reason if it is not a note, or cannot or must not be read."""
        self._check_name(path)
        with self._root.open(path) as descriptor:
            before, data = self._read_once(path, descriptor)
            if _stat(path, os.fstat(descriptor)) != before:  # the file changed in between: read it once more
                before, data = self._read_once(path, descriptor)
        text, lossy = decode(data)
        frontmatter = parse_frontmatter(text)
        return VaultNote(
            path=path,
            text=text,
            frontmatter=frontmatter,
            title=title_of(frontmatter.data, path),
            aliases=aliases_of(frontmatter.data),
            tags=tags_of(frontmatter.data, text[frontmatter.body_start :]),
            note_type=note_type_of(frontmatter.data),
            stat=before,
            etag=hashlib.sha256(data).hexdigest(),
            sensitivity=frontmatter.sensitivity(text, self.sensitive_key),
            lossy=lossy,
        )

    def try_read(self, path: str) -> VaultNote | None:
        try:
            return self.read(path)
        except VaultReadError:
            return None

    def stat(self, path: str) -> NoteStat:
        """Return the stat of a note. Raises VaultReadError as `read` does."""
        self._check_name(path)
        with self._root.open(path) as descriptor:
            return _stat(path, os.fstat(descriptor))

    def is_gone(self, path: str) -> bool:
        """Return whether there is nothing at a path, whatever its name."""
        try:
            *folders, name = check_relative(path)
            with self._root.open_folder(folders) as folder:
                os.stat(name, dir_fd=folder, follow_symlinks=False)
        except FileNotFoundError:
            return True
        except VaultReadError as error:
            return error.reason is Reason.MISSING
        except OSError:
            return False
        return False

    def list(self, folder: str = "", recursive: bool = True) -> Sequence[str]:
        """Return the paths of the notes below a folder, sorted. Raises VaultReadError if the vault is missing."""
        prefix = f"{folder.strip('/')}/" if folder.strip("/") else ""
        paths = [entry.path for entry in self.scan(folder) if entry.reason is None]
        return sorted(path for path in paths if recursive or "/" not in path[len(prefix) :])

    def extract_links(self, path: str) -> Sequence[str]:
        from donna_tui.vault.links.spans import extract_links

        return extract_links(self.read(path).content)

    def is_note(self, path: str) -> bool:
        """Return whether a path names a note, by its name alone: the same rule as in `scan` and `read`."""
        try:
            self._check_name(path)
        except DonnaError:
            return False
        return True

    def ignores(self, path: str) -> bool:
        return self._ignore.matches(path)

    def scan(self, folder: str = "") -> Iterator[ScannedFile]:
        """Yield all notes below a folder, or the one at that path, and files that look like notes but are not indexed.

        Links are never followed. Raises VaultReadError if the vault is missing or `folder` is not below it.
        """
        prefix = folder.strip("/")
        if any(part.startswith(".") and part != ".." for part in prefix.split("/")):
            return
        waiting = deque([prefix])
        if not self.include.holds_folder(prefix):
            yield from self._included_files(prefix)
            waiting = deque(self.include.folders if not prefix else ())
        while waiting:
            yield from self._scan_folder(waiting.pop(), waiting)

    def _included_files(self, prefix: str) -> Iterator[ScannedFile]:
        """Yield the files included by name, without listing their folders."""
        if prefix:
            check_relative(prefix)
        with self._root.open_folder():
            found = [file for file in self.include.files if prefix in ("", file)]
        for file in found:
            yield from self._single(file)

    def _scan_folder(self, folder: str, waiting: deque[str]) -> Iterator[ScannedFile]:
        """Yield the entries of one folder, and append its subfolders to `waiting`."""
        try:
            parts = check_relative(folder) if folder else []
            with self._root.open_folder(parts) as descriptor, os.scandir(descriptor) as found:
                inside = [self._visit(folder, each, waiting) for each in sorted(found, key=lambda entry: entry.name)]
        except VaultReadError as error:
            if not folder or error.reason is Reason.ROOT_MISSING or ".." in folder.split("/"):
                raise
            if error.reason is not Reason.MISSING:
                yield _left_out(folder, error)
            elif self.is_note(folder):
                yield from self._single(folder)
        except OSError as error:
            if not folder:
                raise refused(error) from error
            why = f"the folder cannot be read ({error.strerror})"
            yield _left_out(folder, VaultReadError(Reason.UNREADABLE, why))
        else:
            yield from (entry for entry in inside if entry)

    def _visit(self, folder: str, each: os.DirEntry[str], waiting: deque[str]) -> ScannedFile | None:
        path = f"{folder}/{each.name}" if folder else each.name
        if each.name.startswith(".") or self._ignore.matches(path):
            return None
        if each.is_dir(follow_symlinks=False):
            waiting.append(path)
            return None
        if _looks_like_note(each.name):
            return self._entry(path, each)
        if each.is_symlink() and "." not in each.name:
            return _left_out(path, VaultReadError(Reason.PATH_ESCAPE, IS_LINK))
        return None

    def _single(self, path: str) -> Iterator[ScannedFile]:
        try:
            yield self._judge(self.stat(path))
        except VaultReadError as error:
            if error.reason is not Reason.MISSING:
                yield _left_out(path, error)

    def _entry(self, path: str, each: os.DirEntry[str]) -> ScannedFile | None:
        try:
            self._check_name(path)
            if each.is_symlink():
                raise VaultReadError(Reason.PATH_ESCAPE, IS_LINK)
            stat = each.stat(follow_symlinks=False)
            if not each.is_file(follow_symlinks=False):
                raise VaultReadError(Reason.NOT_REGULAR, "it is not a regular file")
            return self._judge(_stat(path, stat))
        except FileNotFoundError:
            return None
        except OSError as error:
            return _left_out(path, refused(error))
        except VaultReadError as error:
            return _left_out(path, error)

    def _judge(self, stat: NoteStat) -> ScannedFile:
        if stat.size > self._max_bytes:
            return ScannedFile(stat.path, stat, Reason.TOO_LARGE, too_large(stat.size, self._max_bytes))
        return ScannedFile(stat.path, stat)

    def _check_name(self, path: str) -> None:
        parts = check_relative(path)
        if any(part.startswith(".") for part in parts) or self._ignore.matches(path):
            raise VaultReadError(Reason.IGNORED, "it is in a hidden or ignored folder")
        if not self.include.holds(path):
            raise VaultReadError(Reason.IGNORED, "it is not a source of this memory")
        if not _looks_like_note(parts[-1]):
            raise VaultReadError(Reason.NOT_MARKDOWN, "it is not a Markdown file", hint="a note's name ends with .md")
        if is_conflict_copy(parts[-1]):
            raise VaultReadError(Reason.CONFLICT_COPY, "it is a conflict copy left by a sync program")

    def _read_once(self, path: str, descriptor: int) -> tuple[NoteStat, bytes]:
        before = _stat(path, os.fstat(descriptor))
        if before.size > self._max_bytes:
            raise VaultReadError(Reason.TOO_LARGE, too_large(before.size, self._max_bytes))
        try:
            os.lseek(descriptor, 0, os.SEEK_SET)
            with os.fdopen(os.dup(descriptor), "rb") as file:
                return before, file.read(self._max_bytes)
        except OSError as error:
            raise refused(error) from error


def decode(data: bytes) -> tuple[str, bool]:
    """Decode bytes to text, and return whether any were lost. Raises VaultReadError (`not_text`) for other content."""
    for mark, encoding in _BOMS:
        if data.startswith(mark):
            text = data[len(mark) :].decode(encoding, "replace")
            return text.replace("\0", "\ufffd"), "\ufffd" in text
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = data.decode("utf-8-sig", "replace")
    replaced, zeros = text.count("\ufffd"), text.count("\0")
    if replaced > len(text) * MAX_REPLACED or zeros > len(text) * MAX_ZEROS:
        raise VaultReadError(Reason.NOT_TEXT, "it is not a text file")
    return text.replace("\0", "\ufffd"), replaced + zeros > 0


def lines_of(data: bytes, *, keep_ends: bool = False) -> list[str]:
    """Split a note into lines; none if it is not text."""
    try:
        return split_lines(decode(data)[0], keep_ends=keep_ends)
    except VaultReadError:
        return []


def too_large(size: int, limit: int) -> str:
    return f"it has {size / 1e6:.1f} MB; notes up to {limit / 1e6:.1f} MB are indexed (safety.max_read_bytes)"


def _looks_like_note(name: str) -> bool:
    return name.lower().endswith(NOTE_ENDINGS) and not TEMPORARY.search(name)


def _left_out(path: str, error: VaultReadError) -> ScannedFile:
    """Return the entry of a file that is not indexed, with a path that a database and a screen can show: bytes that are
    not UTF-8 are escaped with backslashes.
    """
    return ScannedFile(path.encode("utf-8", "backslashreplace").decode(), None, error.reason, error.message)


def _stat(path: str, stat: os.stat_result) -> NoteStat:
    return NoteStat(path, stat.st_size, stat.st_mtime_ns, stat.st_ctime_ns, stat.st_ino)
