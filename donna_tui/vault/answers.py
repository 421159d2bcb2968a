"""Reads what git answers about objects: the bytes of blobs, and the entries of trees."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

_ABSENT = re.compile(rb"^.* (?:missing|ambiguous)$")


def each_blob(output: bytes) -> Iterator[bytes | None]:
    """The blobs that `cat-file --batch` prints; None for what git does not have, or what is no blob."""
    position = 0
    while position < len(output):
        end = output.index(b"\n", position)
        header = output[position:end]
        if _ABSENT.match(header):
            yield None
            position = end + 1
            continue
        size = int(header.rsplit(b" ", 1)[1])
        yield output[end + 1 : end + 1 + size] if b" blob " in header else None
        position = end + size + 2


def each_entry(output: bytes) -> Iterator[tuple[str, str]]:
    """The path and the id of each blob that `ls-tree -z` prints."""
    for entry in output.split(b"\0"):
        meta, _, path = entry.partition(b"\t")
        if meta.split(b" ")[1:2] == [b"blob"]:
            yield os.fsdecode(path), meta.split(b" ")[2].decode("ascii")
