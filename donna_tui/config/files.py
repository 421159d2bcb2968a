"""Opens settings files: bounded, never blocking, and without following links inside a vault."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from donna_tui.config.document import Document, parse_document
from donna_tui.config.origin import Layer, Origin, invalid
from donna_tui.errors import ConfigError, Reason

MAX_BYTES = 64 * 1024

FILE_NAME = "memory.yaml"
SPACE_FOLDER = ".donna"


def space_file(root: Path) -> Path:
    """Where the space at `root` keeps settings of its own."""
    return root / SPACE_FOLDER / FILE_NAME


def is_folder(path: Path) -> bool:
    """Whether there is a folder at `path` that can be looked at."""
    try:
        return path.is_dir()
    except OSError:
        return False


def read_file(file: Path, layer: Layer) -> Document | None:
    """The settings in `file`, or None if there is no such file. Raises ConfigError."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(file, error.strerror) from error
    return _document(descriptor, file, layer)


def read_space_file(root: Path) -> Document | None:
    """The settings that the space at `root` brings along, read without following links; None if it has none."""
    file = space_file(root)
    flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
    try:
        folder = os.open(file.parent, flags | os.O_DIRECTORY)
        try:
            descriptor = os.open(file.name, flags, dir_fd=folder)
        finally:
            os.close(folder)
    except FileNotFoundError:
        return None
    except OSError as error:
        if not is_folder(root):
            return None
        raise _unreadable(file, f"{error.strerror}; links are not followed here") from error
    return _document(descriptor, file, "space")


def _document(descriptor: int, file: Path, layer: Layer) -> Document:
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise _unreadable(file, "not a regular file")
        with open(descriptor, "rb", closefd=False) as stream:
            content = stream.read(MAX_BYTES + 1)
    except OSError as error:
        raise _unreadable(file, error.strerror) from error
    finally:
        os.close(descriptor)
    origin = Origin(layer, str(file))
    if len(content) > MAX_BYTES:
        raise invalid(origin, f"the file is larger than {MAX_BYTES // 1024} KiB")
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise invalid(Origin(layer, str(file), line), "the file is not UTF-8 text") from error
    return parse_document(text, origin)


def _unreadable(file: Path, why: str | None) -> ConfigError:
    return ConfigError(Reason.CONFIG_INVALID, f"{file}: cannot be read ({why})")
