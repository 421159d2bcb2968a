"""Counting tokens: what the chunker needs from a tokenizer, and an estimate for when there is none."""

from __future__ import annotations

import re
import unicodedata
from typing import Protocol


class TokenCounter(Protocol):
    """A tokenizer as the chunker sees it. `name` changes whenever its counts may."""

    @property
    def name(self) -> str: ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Half-open character offsets of the tokens of `text`, in order, without special tokens."""
        ...


_PIECE = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]{1,4}|[0-9]{1,2}|\S")


class EstimatedTokens(TokenCounter):
    """Tokens guessed without a vocabulary: four Latin letters, two digits or one other character each.

    Prose gets some more tokens than WordPiece gives it. No text has more than four real tokens for each estimated one,
    because a WordPiece token is at least one letter of the decomposed text.
    """

    @property
    def name(self) -> str:
        return "estimate-1"

    def spans(self, text: str) -> list[tuple[int, int]]:
        spans = [found.span() for found in _PIECE.finditer(text)]
        if text.isascii() or unicodedata.is_normalized("NFD", text):
            return spans
        return [span for span in spans for _ in range(_weight(text, *span))]


def _weight(text: str, start: int, end: int) -> int:
    """Tokens for one piece: a character that WordPiece decomposes, such as a Hangul syllable, counts with its parts."""
    if end - start > 1 or text[start] <= "ɏ":
        return 1
    return len(unicodedata.normalize("NFD", text[start]))
