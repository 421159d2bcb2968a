"""Words for what a keyword index does not take for words: scripts without spaces, as overlapping pairs of characters,
and emoji, each as a word of letters and digits that stands for it.

Pairs do as well as a dictionary for retrieval in Chinese and Japanese, and need none (Nie, Gao, Zhang and Zhou,
“On the use of words and n-grams for Chinese information retrieval”, 2000).
"""

from __future__ import annotations

import re
from itertools import pairwise

_UNSPACED = re.compile(
    "["
    "\u0e00-\u0eff"  # Thai, Lao
    "\u1000-\u109f"  # Burmese
    "\u1780-\u17ff"  # Khmer
    "\u3040-\u30ff\u31f0-\u31ff"  # Hiragana, Katakana
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"  # Han
    "\uac00-\ud7af"  # Hangul: its particles are written onto the word
    "]+"
)

EMOJI = "\u2300-\u23ff\u2600-\u27bf\u2b05-\u2b55\U0001f000-\U0001f3fa\U0001f400-\U0001faff"
"""Ranges of a character class: symbols that people write as emoji, without skin tones and other modifiers."""

_EMOJI = re.compile(f"[{EMOJI}]")


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
