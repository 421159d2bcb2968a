"""Follow folders of growing session logs, such as Claude Code's. Only whole lines are read; a restart resumes."""

from __future__ import annotations

import io
import json
import os
import stat
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from donna_tui.memory.importers import LONGEST_LINE, Import

READ_AT_ONCE = 8_000_000
"""Bytes of a log that are imported in one step."""

STATE_FILE = "chat-watch.json"


def claude_code_folder() -> Path:
    """Return the folder of Claude Code's session logs."""
    configured = os.environ.get("CLAUDE_CONFIG_DIR")
    return (Path(configured).expanduser() if configured else Path.home() / ".claude") / "projects"


@dataclass(frozen=True, slots=True)
class Mark:
    """A read position in a log: the offset after the last whole line, and the inode of the file."""

    inode: int
    offset: int


class LogFolder:
    """The logs below a folder, with the read position of each. Every method blocks.

    The positions are kept in a file of the space's state folder. Without them everything is read again, which adds no
    turn twice, because each has its own id.
    """

    def __init__(self, folder: Path, state: Path) -> None:
        self.folder, self._state = folder, state / STATE_FILE
        self._marks = self._read_marks()

    def read_new(self, importing: Import) -> Iterator[int]:
        """Import the new lines in steps, yielding the number of bytes of each step."""
        for path in sorted(self.folder.rglob("*.jsonl")):
            yield from self._read_file(path, importing)

    def _read_file(self, path: Path, importing: Import) -> Iterator[int]:
        """Import the new lines of a log, from its start if it was truncated or replaced.

        The position is saved once the turns are stored.
        """
        try:
            found = path.lstat()
            if not stat.S_ISREG(found.st_mode):
                return
            known = self._marks.get(str(path))
            fits = known is not None and known.inode == found.st_ino and known.offset <= found.st_size
            offset = known.offset if known and fits else 0
            if offset == found.st_size:
                return
            with path.open("rb") as file:
                file.seek(offset)
                while lines := _whole_lines(file):
                    importing.add(io.BytesIO(lines))
                    offset += len(lines)
                    self._record(path, Mark(found.st_ino, offset))
                    yield len(lines)
        except OSError:
            return  # missing or unreadable now; the next round tries again

    def _record(self, path: Path, mark: Mark) -> None:
        self._marks[str(path)] = mark
        pending = self._state.with_suffix(".new")
        pending.write_text(
            json.dumps({name: [each.inode, each.offset] for name, each in self._marks.items()}), encoding="utf-8"
        )
        pending.replace(self._state)

    def _read_marks(self) -> dict[str, Mark]:
        try:
            stored = json.loads(self._state.read_text(encoding="utf-8"))
            return {str(path): Mark(int(inode), int(offset)) for path, (inode, offset) in stored.items()}
        except (OSError, ValueError, TypeError, AttributeError):
            return {}


def _whole_lines(file: io.BufferedReader) -> bytes:
    """Read the next complete lines; an incomplete last line is left for later.

    A line longer than any message is returned in part, and is then reported as malformed.
    """
    data = file.read(READ_AT_ONCE)
    while data and b"\n" not in data and len(data) < LONGEST_LINE:
        more = file.read(READ_AT_ONCE)
        if not more:
            return b""
        data += more
    end = data.rfind(b"\n") + 1
    if not end:
        return data if len(data) >= LONGEST_LINE else b""
    file.seek(end - len(data), os.SEEK_CUR)
    return data[:end]
