"""Words for what a keyword index does not take for words: scripts without spaces, as overlapping pairs of characters,
and emoji, each as a word of letters and digits that stands for it.

Pairs do as well as a dictionary for retrieval in Chinese and Japanese, and need none (Nie, Gao, Zhang and Zhou,
“On the use of words and n-grams for Chinese information retrieval”, 2000).
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator
from itertools import pairwise

_SCRIPTS = (
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7af"  # Hangul: its particles are written onto the word
)
_UNSPACED = re.compile(f"[{_SCRIPTS}]+")
_HIRAGANA = re.compile("[\u3040-\u309f]+")

EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
"""Ranges of a character class: symbols that people write as emoji, without skin tones and other modifiers."""

_EMOJI = re.compile(f"[{EMOJI}]")
_PIECE = re.compile(rf"(?P<unspaced>[{_SCRIPTS}]+|[{EMOJI}])|(?:(?![{_SCRIPTS}])\w)+")


def is_unspaced(char: str) -> bool:
    """Whether a character is of a script without spaces, or an emoji: it may touch another word."""
    return bool(_UNSPACED.match(char) or _EMOJI.match(char))


def spaced(text: str) -> str:
    """What is left of a text without unspaced scripts and emoji."""
    return text if text.isascii() else _EMOJI.sub(" ", _UNSPACED.sub(" ", text))


def segments(text: str) -> list[str]:
    """The pairs of characters of each unspaced stretch of `text`, in order, then a word for each emoji.

    One character that stands alone is itself.
    """
    if text.isascii():
        return []
    pairs = [segment for run in _UNSPACED.findall(text) for segment in _pairs(run)]
    return pairs + [f"emoji{ord(char):x}" for char in _EMOJI.findall(text)]


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)] or [run]


def pieces(text: str) -> Iterator[tuple[int, int, bool]]:
    """The words of a text, unspaced stretches and emoji by themselves: each range, and whether it is unspaced."""
    for found in _PIECE.finditer(text):
        yield found.start(), found.end(), found["unspaced"] is not None


def telling(run: str) -> list[str]:
    """The pairs of an unspaced stretch that are worth marking: no particles and endings, unless it has no others."""
    pairs = _pairs(run)
    return [pair for pair in pairs if not _HIRAGANA.fullmatch(pair)] or pairs


def stretches(run: str, pairs: Collection[str]) -> Iterator[tuple[int, int]]:
    """The ranges of an unspaced stretch that some pairs, or single characters, cover; ranges that touch are one."""
    start = end = 0
    for at in range(len(run)):
        length = next((len(part) for part in (run[at : at + 2], run[at]) if part in pairs), 0)
        if length and at > end:
            if end > start:
                yield start, end
            start = at
        end = max(end, at + length) if length else end
    if end > start:
        yield start, end
