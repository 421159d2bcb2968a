"""Where a text may be cut or taken up again without hurting a word."""

from __future__ import annotations

import re

_BLANK_LINE = re.compile(r"(?>\r\n|\r|\n)[ \t]*(?>\r\n|\r|\n)")
_LINE_END = re.compile(r"(?>\r\n|\r|\n)")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s|[。！？]")
_CLAUSE_END = re.compile(r"[。！？、，；：]")
_SPACE = re.compile(r"\s*")


def skip_space(text: str, offset: int) -> int:
    """The offset of the first character from `offset` on that is not white space."""
    found = _SPACE.match(text, offset)
    return found.end() if found else offset


def trim_end(text: str, start: int, end: int) -> int:
    """The end of `text[start:end]` without the white space at its end."""
    return start + len(text[start:end].rstrip())


def best_cut(text: str, start: int, middle: int, limit: int) -> int | None:
    """The best place to end a passage of which `text[start:limit]` is the new part; None inside a single word.

    Past `middle`, a blank line is better than a line end and that better than a sentence end; any space is the last
    choice. `start` is where a word begins, and the result is beyond it.
    """
    low = max(start + 1, middle)
    for boundary in (_BLANK_LINE, _LINE_END, _SENTENCE_END):
        cut = _last(boundary, text, low, limit)
        if cut is not None:
            return cut
    return _last_space(text, start, limit)


def forced_cut(text: str, middle: int, limit: int) -> int:
    """Where to cut a word that is longer than a passage: after a mark of scripts without spaces, or at the limit."""
    return _last(_CLAUSE_END, text, middle, limit) or limit


def overlap_start(text: str, low: int, high: int) -> int:
    """Where the next passage may begin so as to repeat the end of the last one, `text[low:high]`, or `high`.

    A line is better than a sentence, and that better than a word.
    """
    for boundary in (_LINE_END, _SENTENCE_END, None):
        start = _first_after(boundary, text, low, high)
        if start < high:
            return start
    return high


def _last(boundary: re.Pattern[str], text: str, low: int, high: int) -> int | None:
    end = None
    for found in boundary.finditer(text, low, high):
        end = found.end()
    return end


def _last_space(text: str, start: int, limit: int) -> int | None:
    part = text[start:limit]
    if part[-1].isspace():
        return limit
    if limit < len(text) and text[limit].isspace():
        return limit
    words = part.rsplit(None, 1)
    return limit - len(words[1]) if len(words) == 2 else None


def _first_after(boundary: re.Pattern[str] | None, text: str, low: int, high: int) -> int:
    if boundary is None:
        return _word_start(text, low, high)
    found = boundary.search(text, low - 1, high)
    return skip_space(text, found.end()) if found else high


def _word_start(text: str, low: int, high: int) -> int:
    while low < high and not text[low - 1].isspace():
        low += 1
    return skip_space(text, low)
