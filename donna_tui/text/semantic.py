"""Split plain text semantically: at paragraphs, and within long ones at sentences (seed 002 §1.3)."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from donna_tui.text.chunker import CHARS_PER_TOKEN, best_cut, forced_cut, skip_space, token_starts, trim_end
from donna_tui.text.tokens import TokenCounter

LEAST_TOKENS, MOST_TOKENS = 50, 300

Span = tuple[int, int]
"""Half-open character offsets."""

_PARAGRAPH_END = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_END = re.compile(r"[.!?][\"'”’»)\]]*\s+")


def chunk_semantic(
    text: str, counter: TokenCounter, *, least: int = LEAST_TOKENS, most: int = MOST_TOKENS
) -> list[Span]:
    """Split `text` into pieces, in order, each of at most `most` tokens.

    Pieces of fewer than `least` tokens are merged with an adjacent one if both fit into one. White space around a piece
    belongs to none.
    """
    pieces = _Pieces(text, counter, most)
    return pieces.merged(list(pieces.sentences()), least)


class _Pieces:
    def __init__(self, text: str, counter: TokenCounter, most: int) -> None:
        self._text, self._counter, self._most = text, counter, most
        self._most_chars = CHARS_PER_TOKEN * most
        self._tokens = list(token_starts(text, 0, len(text), counter))

    def sentences(self) -> Iterator[Span]:
        """Yield paragraphs; the sentences of those that are too long; parts of sentences that are too long."""
        for paragraph in self._paragraphs():
            if self._fits(*paragraph):
                yield paragraph
                continue
            for low, high in self._sentences_of(*paragraph):
                yield from [(low, high)] if self._fits(low, high) else self._parts(low, high)

    def merged(self, pieces: Sequence[Span], least: int) -> list[Span]:
        """Join each short piece to the next one, or if that does not fit to the previous one."""
        joined: list[Span] = []
        for low, high in pieces:
            if joined and self._count(*joined[-1]) < least:
                if self._fits(joined[-1][0], high):
                    joined[-1] = (joined[-1][0], high)
                    continue
                self._join_last(joined)
            joined.append((low, high))
        if joined and self._count(*joined[-1]) < least:
            self._join_last(joined)
        return joined

    def _join_last(self, joined: list[Span]) -> None:
        """Join the last piece to the one before it, if that fits."""
        if len(joined) > 1 and self._fits(joined[-2][0], joined[-1][1]):
            _, end = joined.pop()
            joined[-1] = (joined[-1][0], end)

    def _paragraphs(self) -> Iterator[Span]:
        start = skip_space(self._text, 0)
        for found in _PARAGRAPH_END.finditer(self._text, start):
            yield start, trim_end(self._text, start, found.start())
            start = found.end()
        end = trim_end(self._text, start, len(self._text))
        if start < end:
            yield start, end

    def _sentences_of(self, low: int, high: int) -> Iterator[Span]:
        start = low
        for found in _SENTENCE_END.finditer(self._text, low, high):
            if found.end() < high and self._text[found.end()].isupper():
                yield start, trim_end(self._text, start, found.end())
                start = found.end()
        if start < high:
            yield start, high

    def _parts(self, low: int, high: int) -> Iterator[Span]:
        while low < high:
            end = self._furthest(low, high)
            yield low, end
            low = min(skip_space(self._text, end), high)

    def _furthest(self, low: int, high: int) -> int:
        """Return where a part ends, counting its tokens again, which may differ after a split word."""
        after = bisect_left(self._tokens, low) + self._most
        limit = self._tokens[after] if after < len(self._tokens) else high
        limit = max(low + 1, min(limit, low + self._most_chars, high))
        while True:
            middle = (low + limit) // 2
            cut = limit if limit == high else best_cut(self._text, low, middle, limit)
            end = trim_end(self._text, low, cut or forced_cut(self._text, middle, limit))
            if end - low <= 1 or len(self._counter.spans(self._text[low:end])) <= self._most:
                return max(end, low + 1)
            limit = low + max(1, (end - low) // 2)

    def _fits(self, low: int, high: int) -> bool:
        return high - low <= self._most_chars and self._count(low, high) <= self._most

    def _count(self, low: int, high: int) -> int:
        return bisect_left(self._tokens, high) - bisect_left(self._tokens, low)
