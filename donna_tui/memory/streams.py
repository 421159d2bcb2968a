"""Reads exports piece by piece: the lines of a JSONL file, or the elements of one JSON array, whatever is in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, BinaryIO

from donna_tui.memories import BadLine
from donna_tui.records import dataclass

READ_BYTES = 1 << 20
LONGEST_LINE = 32_000_000
"""Bytes of a line of JSONL, or of one conversation of an array; a longer one is told and passed over."""

_MARK = re.compile(rb'["\\{}\[\]\n,]')
_IN_STRING = re.compile(rb'["\\\n]')


@dataclass(frozen=True, slots=True)
class Piece:
    """A value with the line on which it begins (1-based) and how many bytes of the file are read by then."""

    line: int
    value: Any
    read: int


def first_byte(file: BinaryIO) -> bytes:
    """The first byte that is neither white space nor a byte order mark; the file is at its start afterwards."""
    head = file.read(64)
    while head and not head.lstrip(b"\xef\xbb\xbf \t\r\n"):
        head = file.read(64)
    file.seek(0)
    return head.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]


def json_lines(file: BinaryIO) -> Iterator[Piece | BadLine]:
    """Each line that is JSON, and each that is not with the reason. Blank lines are passed over."""
    number = read = 0
    while line := file.readline(LONGEST_LINE):
        number += 1
        read += len(line)
        if len(line) >= LONGEST_LINE and not line.endswith(b"\n"):
            read += _skip_line(file)
            yield BadLine(number, f"the line is longer than {LONGEST_LINE:,} bytes")
            continue
        text = line.strip(b"\xef\xbb\xbf \t\r\n" if number == 1 else b" \t\r\n")
        if text:
            yield _parsed(text, number, read)


def array_elements(file: BinaryIO) -> Iterator[Piece | BadLine]:
    """Each element of the JSON array that the file is; an end that is missing is told."""
    scanner = _Scanner()
    while block := file.read(READ_BYTES):
        yield from scanner.feed(block)
    yield from scanner.end()


class _Scanner:
    """Finds where the elements of an array begin and end, without looking into them. It takes linear time."""

    def __init__(self) -> None:
        self._line = self._began = 1
        self._depth = self._read = self._size = 0
        self._quoted = self._escaped = False
        self._parts: list[bytes] = []

    def feed(self, block: bytes) -> Iterator[Piece | BadLine]:
        """The elements that end in this block."""
        start, at = 0, int(self._escaped)
        self._escaped = False
        while found := (_IN_STRING if self._quoted else _MARK).search(block, at):
            at = found.end()
            mark = found.group()
            if mark == b"\n":
                self._line += 1
            elif mark == b"\\":
                self._escaped = at == len(block)
                at += 1
            elif mark == b'"':
                self._quoted = not self._quoted
            elif self._divides(mark):
                self._take(block[start : found.start()])
                start = at
                yield from self._element(self._read + at)
        self._take(block[start:])
        self._read += len(block)

    def _divides(self, mark: bytes) -> bool:
        """Whether this mark is one of the array itself: its brackets, or a comma between its elements."""
        if mark in b"[{":
            self._depth += 1
            return self._depth == 1
        if mark in b"]}":
            self._depth -= 1
            return self._depth == 0
        return self._depth == 1

    def _take(self, part: bytes) -> None:
        text = part.lstrip()
        if not text and not self._size:
            return
        if not self._size:
            self._began = self._line - text.count(b"\n")
        self._size += len(part)
        if self._size <= LONGEST_LINE:
            self._parts.append(part)

    def _element(self, read: int) -> Iterator[Piece | BadLine]:
        """What was taken since the last mark; white space and a byte order mark are nothing."""
        text, size = b"".join(self._parts).strip(b"\xef\xbb\xbf \t\r\n"), self._size
        self._parts, self._size = [], 0
        if size > LONGEST_LINE:
            yield BadLine(self._began, f"the conversation is longer than {LONGEST_LINE:,} bytes")
        elif text:
            yield _parsed(text, self._began, read)

    def end(self) -> Iterator[BadLine]:
        """What is left when the file ends."""
        if self._depth > 0 and self._size:
            yield BadLine(self._began, "the file ends within a conversation")


def _parsed(text: bytes, line: int, read: int) -> Piece | BadLine:
    try:
        return Piece(line, json.loads(text.decode()), read)
    except UnicodeDecodeError:
        return BadLine(line, "it is not UTF-8")
    except RecursionError:
        return BadLine(line, "it is nested too deeply")
    except ValueError:
        return BadLine(line, "it is not JSON")


def _skip_line(file: BinaryIO) -> int:
    """Pass over the rest of a line, a piece at a time; how many bytes that was."""
    skipped = 0
    while part := file.readline(READ_BYTES):
        skipped += len(part)
        if part.endswith(b"\n"):
            break
    return skipped
