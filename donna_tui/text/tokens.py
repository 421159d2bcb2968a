"""Count tokens: the chunker's protocol for tokenizers, and an estimate for when there is none."""

from __future__ import annotations

import re
import unicodedata
from typing import Protocol


class TokenCounter(Protocol):
    """The chunker's interface to a tokenizer. `name` changes whenever its counts may."""

    @property
    def name(self) -> str: ...

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return half-open character offsets of the tokens of `text`, in order, without special tokens."""
        ...


_PIECE = re.compile(r"[A-Za-zÀ-ÖØ-öø-ɏ]{1,4}|[0-9]{1,2}|\S")


class EstimatedTokens:
    """Estimated tokens without a vocabulary: four Latin letters, two digits or one other character each.

    Prose gets slightly more tokens than from WordPiece. No text has more than four real tokens for each estimated one,
    because a WordPiece token is at least one letter of the decomposed text.
    """

    name = "estimate-1"

    def spans(self, text: str) -> list[tuple[int, int]]:
        spans = [match.span() for match in _PIECE.finditer(text)]
        if text.isascii() or unicodedata.is_normalized("NFD", text):
            return spans
        return [span for span in spans for _ in range(_weight(text, *span))]


def _weight(text: str, start: int, end: int) -> int:
    """Return the tokens of a piece: characters that WordPiece decomposes, such as Hangul syllables, count per part."""
    if end - start > 1 or text[start] <= "ɏ":
        return 1
    return len(unicodedata.normalize("NFD", text[start]))
