"""Imports chats: from a file into `memory.db`, some turns at a time, however large the file is."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

from donna_tui.memories import BadLine, ImportReport
from donna_tui.memory.archives import opened_parts, readable
from donna_tui.memory.conversations import NewTurn, Recorder
from donna_tui.memory.formats import format_of, turns_of
from donna_tui.memory.streams import Piece, array_elements, first_byte, json_lines
from donna_tui.memory.values import LeftOut
from donna_tui.records import dataclass

BATCH = 500
"""Turns of one transaction. What a report of progress counts is on the disk."""

SHOWN = 100
"""Malformed lines that are told one by one."""

Progress = tuple[int, int]
"""Bytes that are read, and turns that are new and stored."""


@dataclass(slots=True)
class Import:
    """One import. Step through `run`, then ask for the `report`; stopping between steps loses nothing stored."""

    recorder: Recorder
    user: str = ""
    """Only the turns of this person, where the file holds those of several."""

    _format: str = ""
    _left_out: int = 0
    _malformed: int = 0
    _bad: tuple[BadLine, ...] = ()

    def run(self, path: Path) -> Iterator[Progress]:
        """Import a file; tells how far it is after each batch. Raises DonnaError if the file cannot be read, and
        DatabaseError.
        """
        before = 0
        with readable(path):
            for file in opened_parts(path):
                for read, added in self._import(file):
                    yield before + read, added
                before += file.tell()
        self.recorder.close_sessions()

    def add(self, file: BinaryIO) -> None:
        """Import the lines of a log that goes on; its sessions stay open. Raises DatabaseError."""
        for _ in self._import(file):
            pass

    def _import(self, file: BinaryIO) -> Iterator[Progress]:
        pieces = array_elements(file) if first_byte(file) == b"[" else json_lines(file)
        batch: list[NewTurn] = []
        for piece in pieces:
            batch += self._turns(piece)
            if len(batch) >= BATCH:
                self.recorder.add(batch)
                batch = []
                yield (piece.read if isinstance(piece, Piece) else 0), self.recorder.added
        self.recorder.add(batch)
        yield file.tell(), self.recorder.added

    def _turns(self, piece: Piece | BadLine) -> Iterator[NewTurn]:
        if isinstance(piece, BadLine):
            self._tell(piece)
            return
        self._format = self._format or format_of(piece.value)
        for found in turns_of(piece.value, piece.line):
            if isinstance(found, BadLine):
                self._tell(found)
            elif isinstance(found, LeftOut):
                self._left_out += found.count
            elif self.user in ("", found.origin):
                yield found

    def _tell(self, bad: BadLine) -> None:
        self._malformed += 1
        if len(self._bad) < SHOWN:
            self._bad = (*self._bad, bad)

    @property
    def report(self) -> ImportReport:
        """What was imported so far."""
        return ImportReport(
            format=self._format or "unknown",
            sessions=len(self.recorder.sessions),
            turns=self.recorder.added,
            known=self.recorder.known,
            left_out=self._left_out,
            malformed=self._malformed,
            bad=self._bad,
        )
