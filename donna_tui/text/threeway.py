"""Merges two edits of the same text, line by line, where they do not touch."""

from __future__ import annotations

import re
from collections.abc import Iterator

from donna_tui.records import dataclass
from donna_tui.text.lines import each_line
from donna_tui.text.matching import Run, common_runs

_MARKERS = tuple(re.compile(pattern) for pattern in (rb"<{7}(?: |$)", rb"={7}$", rb">{7}(?: |$)"))
"""The lines that git puts around the two sides of a conflict, in their order."""


@dataclass(frozen=True, slots=True)
class Merge:
    """What came of a merge. `text` is empty where `collisions` is not: lines (1-based) of the other text, first and
    last, that both changed. A collision of removed lines has its last line before its first.
    """

    text: str
    collisions: tuple[tuple[int, int], ...] = ()

    @property
    def is_clean(self) -> bool:
        """Whether the edits do not touch."""
        return not self.collisions


def merge_texts(base: str, mine: str, theirs: str) -> Merge:
    """`theirs` with everything that `mine` changed in `base` (the algorithm of diff3).

    Edits of neighbouring lines count as touching each other, unless both are the same.
    """
    merged: list[str] = []
    collisions: list[tuple[int, int]] = []
    line = 1
    for _, chosen, others, shared in _stretches(base, mine, theirs):
        if chosen is None:
            collisions.append((line, line + len(others) - 1))
        merged += [*(chosen or []), *shared]
        line += len(others) + len(shared)
    return Merge("", tuple(collisions)) if collisions else Merge("".join(merged))


def marked_text(base: str, mine: str, theirs: str, *, names: tuple[str, str] = ("mine", "theirs")) -> str:
    """Both texts in one, with git's conflict markers around the lines that both changed."""
    marked: list[str] = []
    for own, chosen, others, shared in _stretches(base, mine, theirs):
        if chosen is None:
            sides = (f"<<<<<<< {names[0]}\n", own, "=======\n", others, f">>>>>>> {names[1]}\n")
            marked += ["".join(map(_ended, side)) if isinstance(side, list) else side for side in sides]
        else:
            marked += chosen
        marked += shared
    return "".join(marked)


def _ended(line: str) -> str:
    return line if line.endswith(("\n", "\r")) else f"{line}\n"


def _stretches(base: str, mine: str, theirs: str) -> Iterator[tuple[list[str], list[str] | None, list[str], list[str]]]:
    """Before each shared stretch: my lines, what all sides become together if that is clear, their lines; then it."""
    old, own, other = ([text[start:after] for start, _, after in each_line(text)] for text in (base, mine, theirs))
    here = (0, 0, 0)
    for start, size in shared_stretches(old, own, other):
        parts = old[here[0] : start[0]], own[here[1] : start[1]], other[here[2] : start[2]]
        yield parts[1], _choose(*parts), parts[2], other[start[2] : start[2] + size]
        here = (start[0] + size, start[1] + size, start[2] + size)


def _choose(old: list[str], own: list[str], other: list[str]) -> list[str] | None:
    """What a stretch becomes that is not the same in all three; None if both sides changed it differently."""
    if own in (old, other):
        return other
    return own if other == old else None


def shared_stretches(old: list[str], own: list[str], other: list[str]) -> Iterator[tuple[tuple[int, int, int], int]]:
    """Stretches that are the same in all three: where they begin, and their size. The last one is empty."""
    one, two = common_runs(old, own), common_runs(old, other)
    while one and two:
        first, second = one[0], two[0]
        start = max(first.left, second.left)
        end = min(first.left + first.size, second.left + second.size)
        if start < end:
            yield (start, start + _shift(first), start + _shift(second)), end - start
        (one if first.left + first.size <= end else two).pop(0)
    yield (len(old), len(own), len(other)), 0


def _shift(run: Run) -> int:
    return run.right - run.left


def has_conflict_markers(data: bytes) -> bool:
    """Check for a conflict as git marks it: all three markers in order. Takes linear time."""
    if b"<<<<<<<" not in data:
        return False
    wanted = 0
    for line in data.splitlines():
        if _MARKERS[wanted].match(line):
            wanted += 1
        if wanted == len(_MARKERS):
            return True
    return False
