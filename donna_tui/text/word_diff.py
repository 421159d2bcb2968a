"""Compare two lines word by word, and pair the lines of two versions."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence

from donna_tui.text.merge import common_runs

Spans = tuple[tuple[int, int], ...]
"""Half-open character ranges, in order."""

ALIKE = 0.4
"""Minimum share of common words for which two lines are shown as an edit of one line."""

LONGEST_LINE = 4_000
_MAX_PAIRS = 900
_MAX_WORD_EDITS = 200

_UNSPACED_RANGES = "\u0e00-\u0e7f\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff"
_TOKEN = re.compile(rf"[{_UNSPACED_RANGES}]|[^\W{_UNSPACED_RANGES}]+|\s+|[^\w\s]")


def changed_words(before: str, after: str) -> tuple[Spans, Spans]:
    """Return the ranges of each line that the other one lacks; nothing if the lines are too different or long."""
    if max(len(before), len(after)) > LONGEST_LINE or alikeness(before, after) < ALIKE:
        return (), ()
    old, new = ([match.span() for match in _TOKEN.finditer(line)] for line in (before, after))
    runs = common_runs([before[a:b] for a, b in old], [after[a:b] for a, b in new], _MAX_WORD_EDITS)
    kept_old = {run.left + step for run in runs for step in range(run.size)}
    kept_new = {run.right + step for run in runs for step in range(run.size)}
    return _ranges(old, kept_old), _ranges(new, kept_new)


def alikeness(before: str, after: str) -> float:
    """Return the share of words that two lines have in common, from 0 to 1."""
    if before == after:
        return 1.0
    old, new = _words(before), _words(after)
    whole = old.total() + new.total()
    return 2 * (old & new).total() / whole if whole else 0.0


def partners(before: Sequence[str], after: Sequence[str]) -> Iterator[tuple[int, int]]:
    """Pair lines that are versions of each other, in order on both sides, maximising their total similarity.

    This is a global alignment (Needleman and Wunsch, 1970) without a penalty for gaps.
    """
    if len(before) * len(after) > _MAX_PAIRS:
        yield from zip(range(len(before)), range(len(after)), strict=False)
        return
    scores = [[_score(old, new) for new in after] for old in before]
    best = [[0.0] * (len(after) + 1) for _ in range(len(before) + 1)]
    for i in range(len(before) - 1, -1, -1):
        for j in range(len(after) - 1, -1, -1):
            best[i][j] = max(best[i + 1][j], best[i][j + 1], scores[i][j] + best[i + 1][j + 1])
    i = j = 0
    while i < len(before) and j < len(after):
        if scores[i][j] and best[i][j] == scores[i][j] + best[i + 1][j + 1]:
            yield i, j
            i, j = i + 1, j + 1
        elif best[i][j] == best[i + 1][j]:
            i += 1
        else:
            j += 1


def _score(old: str, new: str) -> float:
    score = alikeness(old[:LONGEST_LINE], new[:LONGEST_LINE])
    return score if score >= ALIKE else 0.0


def _words(line: str) -> Counter[str]:
    return Counter(word for word in _TOKEN.findall(line) if not word.isspace())


def _ranges(places: Sequence[tuple[int, int]], kept: set[int]) -> Spans:
    """Return the places that are not kept, with touching ones joined."""
    joined: list[tuple[int, int]] = []
    for index, (start, end) in enumerate(places):
        if index in kept:
            continue
        if joined and joined[-1][1] == start:
            joined[-1] = joined[-1][0], end
        else:
            joined.append((start, end))
    return tuple(joined)
