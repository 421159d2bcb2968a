"""Words for scripts that put no spaces between them: overlapping pairs of characters, which a keyword index can find.

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


def segments(text: str) -> list[str]:
    """The pairs of characters of each such stretch of `text`, in order; one character that stands alone is itself."""
    return [segment for run in _UNSPACED.findall(text) for segment in _pairs(run)]


def _pairs(run: str) -> list[str]:
    return [first + second for first, second in pairwise(run)] or [run]
