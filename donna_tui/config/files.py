"""Open settings files safely, and replace one atomically."""

from __future__ import annotations

import os
import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from donna_tui.config.document import Layer, Origin, SettingsFile, invalid
from donna_tui.platform.paths import is_full, private_folder, replace_durably
from donna_tui.types.errors import ConfigError, DonnaError, Reason

MAX_BYTES = 64 * 1024

FILE_NAME = "memory.yaml"
SPACE_FOLDER = ".donna"


def space_file(root: Path) -> Path:
    return root / SPACE_FOLDER / FILE_NAME


def is_folder(path: Path) -> bool:
    return os.path.isdir(path)  # noqa: PTH112 - unlike Path.is_dir, it never raises


def read_file(file: Path, layer: Layer) -> SettingsFile | None:
    """Read the settings in `file`; return None if it does not exist. Raises ConfigError."""
    try:
        descriptor = os.open(file, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise _unreadable(file, error.strerror) from error
    return _document(descriptor, file, layer)


def read_space_file(root: Path) -> SettingsFile | None:
    """Read the settings file of the space at `root`, without following links; None if absent. Raises ConfigError."""
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
        if not is_folder(root) or not os.access(root, os.X_OK):
            return None  # which is reported as a problem of the vault
        raise _unreadable(file, f"{error.strerror}; links are not followed here") from error
    return _document(descriptor, file, "space")


def _document(descriptor: int, file: Path, layer: Layer) -> SettingsFile:
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
    from donna_tui.config.yaml_text import parse_document  # imports PyYAML, which takes 10 ms

    return parse_document(text, origin)


def _unreadable(file: Path, why: str | None) -> ConfigError:
    return ConfigError(Reason.CONFIG_INVALID, f"{file}: cannot be read ({why})")


def add_item(file: Path, key: str, item: Mapping[str, Any]) -> None:
    """Append `item` to the list at the top-level `key` of a settings file, which is created if it is missing.

    The file, or the target of a symbolic link, is replaced atomically, readable by its owner only. Raises ConfigError
    if the existing file is invalid, and DonnaError (`io_error`, `disk_full`) if it cannot be written.
    """
    from donna_tui.config.yaml_text import with_item

    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        new_text = with_item(text, key, item, Origin("user", str(file)))
        private_folder(file.parent)
        replace_durably(Path(os.path.realpath(file)), new_text)
    except OSError as error:
        reason = Reason.DISK_FULL if is_full(error) else Reason.IO_ERROR
        raise DonnaError(reason, f"{file} cannot be written ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise invalid(Origin("user", str(file)), "the file is not UTF-8 text") from error
