"""Exports as people download them: a file, or a zip archive with the conversations in it."""

from __future__ import annotations

import contextlib
import fnmatch
import zipfile
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import BinaryIO, cast

from donna_tui.errors import DonnaError, Reason

CONVERSATIONS = ("conversations*.json", "*.jsonl")
"""What ChatGPT and Claude call the file with the chats (large exports have several), and logs."""

_ENCRYPTED = 0x1


def exports_in(path: Path) -> list[Path]:
    """The files to import from a path: itself, or the exports and logs below a folder, in order."""
    if not path.is_dir():
        return [path]
    patterns = (*CONVERSATIONS, "*.zip")
    return sorted(
        each
        for each in path.rglob("*")
        if any(fnmatch.fnmatchcase(each.name, pattern) for pattern in patterns)
        and each.is_file()
        and not each.is_symlink()
    )


def opened_parts(path: Path) -> Iterator[BinaryIO]:
    """The files of conversations of an export, one after the other; each is closed before the next is opened.

    Nothing is unpacked to the disk. To be used `readable`. Raises DonnaError (`usage`) if there are none.
    """
    if not zipfile.is_zipfile(path):
        with path.open("rb") as file:
            yield file
        return
    with zipfile.ZipFile(path) as archive:
        for member in _members(archive, path):
            with archive.open(member) as part:
                yield cast("BinaryIO", part)


@contextlib.contextmanager
def readable(path: Path) -> Iterator[None]:
    """Says in a DonnaError (`usage`) why a file or an archive cannot be opened or read on."""
    try:
        yield
    except OSError as error:
        raise _unreadable(path, error.strerror or "it is damaged") from error
    except (zipfile.BadZipFile, zlib.error, EOFError, NotImplementedError) as error:
        raise _unreadable(path, "the archive is damaged") from error


def size_of(path: Path) -> int:
    """The bytes that there are to read; 0 if that cannot be told."""
    try:
        if not zipfile.is_zipfile(path):
            return path.stat().st_size
        with zipfile.ZipFile(path) as archive:
            return sum(member.file_size for member in _members(archive, path))
    except (OSError, zipfile.BadZipFile, DonnaError):
        return 0


def _members(archive: zipfile.ZipFile, path: Path) -> list[zipfile.ZipInfo]:
    names = (PurePosixPath(member.filename).name for member in archive.infolist())
    found = [
        member
        for member, name in zip(archive.infolist(), names, strict=True)
        if any(fnmatch.fnmatchcase(name, pattern) for pattern in CONVERSATIONS)
    ]
    if not found:
        raise _unreadable(path, "the archive holds no conversations.json", hint="unpack it, and name the file")
    if any(member.flag_bits & _ENCRYPTED for member in found):
        raise _unreadable(path, "the archive is locked with a password")
    return sorted(found, key=lambda member: member.filename)


def _unreadable(path: Path, why: str, hint: str | None = None) -> DonnaError:
    return DonnaError(Reason.USAGE, f"{path} cannot be read ({why})", hint=hint)
