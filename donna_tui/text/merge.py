"""Compare two texts by the shortest edit script, and merge two edits of one text (diff3).

A three-way merge splits the texts at the lines that all three share. In each stretch between them, a change by one
side is taken; different changes by both sides are a conflict. Example:

    base     mine      theirs    result
    milk     milk      milk      milk
    eggs     6 eggs    eggs      6 eggs     changed in mine only
    bread    bread     bread     bread
    tea      tea       coffee    coffee     changed in theirs only

With `12 eggs` in theirs, the second line is a conflict: `merge_texts` reports the collision (2, 2), and `marked_text`
puts git's conflict markers around both versions. Adjacent changed lines are one stretch.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass

from donna_tui.text.lines import split_lines

MAX_EDITS = 1_000
"""Limit of the edits searched for; beyond it, only items that occur once on both sides are used as anchors."""

_MAX_EDITS_IN_A_GAP = 100


@dataclass(frozen=True, slots=True)
class EqualRun:
    """A run of `size` equal items, from index `left` of one sequence and `right` of the other."""

    left: int
    right: int
    size: int


def common_runs(left: Sequence[Hashable], right: Sequence[Hashable], most_edits: int = MAX_EDITS) -> list[EqualRun]:
    """Return what two sequences have in common, in order, as maximal runs.

    The result is the longest common subsequence if that takes at most `most_edits` edits (E. Myers, "An O(ND)
    difference algorithm and its variations", 1986), and a shorter one otherwise. Takes at most about `most_edits`² + n
    steps.
    """
    start, end = shared_ends(left, right)
    middle = slice(start, len(left) - end), slice(start, len(right) - end)
    numbers: dict[Hashable, int] = {}  # which are faster to compare
    first = [numbers.setdefault(item, len(numbers)) for item in left[middle[0]]]
    second = [numbers.setdefault(item, len(numbers)) for item in right[middle[1]]]
    pairs = _shortest(first, second, most_edits)
    if pairs is None:
        pairs = list(_between_anchors(first, second))
    whole = [(index, index) for index in range(start)]
    whole += [(a + start, b + start) for a, b in pairs]
    whole += [(len(left) - back, len(right) - back) for back in range(end, 0, -1)]
    return list(_runs(whole))


def shared_ends(left: Sequence[Hashable], right: Sequence[Hashable]) -> tuple[int, int]:
    """Return the numbers of equal items at the start, and at the end of the rest."""
    most = min(len(left), len(right))
    start = next((index for index in range(most) if left[index] != right[index]), most)
    most -= start
    end = next((back for back in range(most) if left[-1 - back] != right[-1 - back]), most)
    return start, end


_Path = tuple[int, int, int, "_Path | None"]
"""A run of equal items, from a start to an end in the left sequence, its diagonal, and the path before it."""


def _shortest(left: list[int], right: list[int], most_edits: int) -> list[tuple[int, int]] | None:
    """Return the pairs of equal items of a shortest edit script; None if it takes more than `most_edits` edits."""
    limit = min(most_edits, len(left) + len(right))
    middle = limit + 1
    reach = [0] * (2 * limit + 3)
    paths: list[_Path | None] = [None] * len(reach)
    for edits in range(limit + 1):
        for diagonal in range(-edits, edits + 1, 2):
            # begin right of, or below, the furthest path so far
            place = middle + diagonal
            is_down = diagonal == -edits or (diagonal != edits and reach[place - 1] < reach[place + 1])
            before = place + 1 if is_down else place - 1
            start = x = reach[before] if is_down else reach[before] + 1
            while x < len(left) and x - diagonal < len(right) and left[x] == right[x - diagonal]:
                x += 1
            reach[place] = x
            paths[place] = (start, x, diagonal, paths[before]) if x > start else paths[before]
            if x >= len(left) and x - diagonal >= len(right):
                return _pairs_of(paths[place])
    return None


def _pairs_of(path: _Path | None) -> list[tuple[int, int]]:
    pairs: list[tuple[int, int]] = []
    while path:
        start, end, diagonal, path = path
        pairs += ((x, x - diagonal) for x in range(end - 1, start - 1, -1))
    return pairs[::-1]


def _between_anchors(left: list[int], right: list[int]) -> Iterator[tuple[int, int]]:
    """Yield pairs of equal items, aligned by the items that occur once on both sides (patience diff)."""
    once = {item for item, number in Counter(left).items() if number == 1}
    once &= {item for item, number in Counter(right).items() if number == 1}
    place = {item: index for index, item in enumerate(right) if item in once}
    anchors = _longest_rising([(index, place[item]) for index, item in enumerate(left) if item in once])
    x = y = 0
    for a, b in (*anchors, (len(left), len(right))):
        inside = _shortest(left[x:a], right[y:b], _MAX_EDITS_IN_A_GAP)
        yield from ((x + i, y + j) for i, j in inside or ())
        if a < len(left):
            yield a, b
        x, y = a + 1, b + 1


def _longest_rising(pairs: list[tuple[int, int]]) -> list[tuple[int, int]]:
    """Return the longest subsequence whose second numbers increase (patience sorting)."""
    ends: list[int] = []
    places: list[int] = []
    before: list[int] = []
    for index, (_, value) in enumerate(pairs):
        at = bisect_left(ends, value)
        ends[at : at + 1] = [value]
        places[at : at + 1] = [index]
        before.append(places[at - 1] if at else -1)
    chosen: list[tuple[int, int]] = []
    index = places[-1] if places else -1
    while index >= 0:
        chosen.append(pairs[index])
        index = before[index]
    return chosen[::-1]


def _runs(pairs: list[tuple[int, int]]) -> Iterator[EqualRun]:
    start = 0
    for index in range(1, len(pairs) + 1):
        if index == len(pairs) or pairs[index] != (pairs[index - 1][0] + 1, pairs[index - 1][1] + 1):
            yield EqualRun(*pairs[start], index - start)
            start = index


_MARKERS = tuple(re.compile(pattern) for pattern in (rb"<{7}(?: |$)", rb"={7}$", rb">{7}(?: |$)"))
"""The lines that git writes around the two sides of a conflict, in order."""


@dataclass(frozen=True, slots=True)
class Merge:
    """The result of a merge. `text` is empty if there are `collisions`: the first and last line (1-based) in the other
    text that both changed. A collision of removed lines has its last line before its first.
    """

    text: str
    collisions: tuple[tuple[int, int], ...] = ()

    @property
    def is_clean(self) -> bool:
        return not self.collisions


def merge_texts(base: str, mine: str, theirs: str) -> Merge:
    """Apply what `mine` changed in `base` to `theirs` (diff3). Edits of adjacent lines conflict unless equal."""
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
    """Combine both texts, with git's conflict markers around the lines that both changed."""
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
    """Yield what precedes each shared stretch (mine, the merged lines or None, theirs), and the stretch itself."""
    old, own, other = (split_lines(text, keep_ends=True) for text in (base, mine, theirs))
    here = (0, 0, 0)
    for start, size in shared_stretches(old, own, other):
        parts = old[here[0] : start[0]], own[here[1] : start[1]], other[here[2] : start[2]]
        yield parts[1], _choose(*parts), parts[2], other[start[2] : start[2] + size]
        here = (start[0] + size, start[1] + size, start[2] + size)


def _choose(old: list[str], own: list[str], other: list[str]) -> list[str] | None:
    """Merge a stretch that is not the same in all three texts; None if both sides changed it differently."""
    if own in (old, other):
        return other
    return own if other == old else None


def shared_stretches(old: list[str], own: list[str], other: list[str]) -> Iterator[tuple[tuple[int, int, int], int]]:
    """Yield the stretches that are the same in all three texts: their starts and size. The last one is empty."""
    one, two = common_runs(old, own), common_runs(old, other)
    while one and two:
        first, second = one[0], two[0]
        start = max(first.left, second.left)
        end = min(first.left + first.size, second.left + second.size)
        if start < end:
            yield (start, start + _shift(first), start + _shift(second)), end - start
        (one if first.left + first.size <= end else two).pop(0)
    yield (len(old), len(own), len(other)), 0


def _shift(run: EqualRun) -> int:
    return run.right - run.left


def has_conflict_markers(data: bytes) -> bool:
    """Return whether there is a conflict marked by git: all three markers in order. Takes linear time."""
    lines = iter(data.splitlines() if b"<<<<<<<" in data else ())  # each marker is looked for after the one before
    return all(any(marker.match(line) for line in lines) for marker in _MARKERS)
