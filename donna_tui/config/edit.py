"""Add an item to a list in the user's settings file, and leave every other byte of it as it is."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from donna_tui.config.document import parse_document
from donna_tui.config.origin import Origin, invalid
from donna_tui.errors import DonnaError, Reason
from donna_tui.paths import private_folder


def add_item(file: Path, key: str, item: Mapping[str, Any]) -> None:
    """Append `item` to the list at the top-level `key` of a settings file, which is made if it is missing.

    The file is replaced at once, readable by its owner only. Raises ConfigError if the file is not valid as it is, and
    DonnaError (`io_error`, `disk_full`) if it cannot be written.
    """
    try:
        text = file.read_text(encoding="utf-8") if file.exists() else ""
        changed = with_item(text, key, item, Origin("user", str(file)))
        _replace(file, changed)
    except OSError as error:
        raise DonnaError(Reason.IO_ERROR, f"{file} cannot be written ({error.strerror})") from error
    except UnicodeDecodeError as error:
        raise invalid(Origin("user", str(file)), "the file is not UTF-8 text") from error


def with_item(text: str, key: str, item: Mapping[str, Any], origin: Origin) -> str:
    """`text` with one more item in the list at `key`. Comments, order and spelling of the rest stay.

    Raises ConfigError if the text is not valid YAML, or has something else than a list there.
    """
    before = parse_document(text, origin).data  # bounded, as every settings file is read
    listed = before.get(key)
    if listed is not None and not isinstance(listed, list):
        raise invalid(origin, f"{key} is not a list")
    line = yaml.safe_dump(dict(item), default_flow_style=True, sort_keys=False, allow_unicode=True, width=100_000)
    entry = f"- {line.strip()}\n"
    if key not in before:
        changed = f"{_ended(text)}{key}:\n  {entry}"
    else:
        changed = _inserted(text, key, entry, is_empty=not listed)
    after = parse_document(changed, origin).data
    if after != {**before, key: [*(listed or ()), dict(item)]}:
        raise invalid(origin, f"Donna cannot add to {key} as it is written there; add this line: {entry.strip()}")
    return changed


def _inserted(text: str, key: str, entry: str, *, is_empty: bool) -> str:
    root: Any = yaml.compose(text, yaml.SafeLoader)
    name, node = next((name, value) for name, value in root.value if name.value == key)
    whole = _ended(text)
    if is_empty:
        end = whole.index("\n", node.end_mark.index)
        comment = whole[node.end_mark.index : end].lstrip(":")
        return f"{whole[: name.end_mark.index]}:{comment}\n  {entry}{whole[end + 1 :]}"
    if node.flow_style:
        close = node.end_mark.index - 1
        return f"{text[:close].rstrip().removesuffix(',')}, {entry.removeprefix('- ').strip()}{text[close:]}"
    place = whole.index("\n", _last(node).end_mark.index) + 1
    return f"{whole[:place]}{' ' * node.start_mark.column}{entry}{whole[place:]}"


def _last(node: Any) -> Any:
    """The scalar or flow collection that a block collection ends with: its own end lies behind comments."""
    while not getattr(node, "flow_style", True) and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node


def _ended(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"


def _replace(file: Path, text: str) -> None:
    private_folder(file.parent)
    descriptor, name = tempfile.mkstemp(prefix=".donna-", dir=file.parent)  # mode 0600
    try:
        with os.fdopen(descriptor, "w", encoding="utf-8", newline="") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        Path(name).replace(file)
    except BaseException:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        raise
