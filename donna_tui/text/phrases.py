"""Whether a text holds an exact phrase: these very words in this order, whatever stands between them but words."""

from __future__ import annotations

import re
import unicodedata
from functools import lru_cache

from donna_tui.text.segments import EMOJI, is_unspaced

_PARTS = re.compile(rf"[^\W_]+|[{EMOJI}]")
_ACCENTS = re.compile("[\u0300-\u036f]")


def holds_phrase(phrase: str, *texts: str | None) -> bool:
    """Whether one of some texts holds the words of a phrase side by side, regardless of case, accents and Markdown."""
    pattern = _pattern(phrase)
    return pattern is None or any(pattern.search(_folded(text)) for text in texts if text)


@lru_cache(maxsize=64)
def _pattern(phrase: str) -> re.Pattern[str] | None:
    """Words in unspaced scripts may be part of a longer run of characters; others are whole words."""
    words = _PARTS.findall(_folded(phrase))
    if not words:
        return None
    start = "" if is_unspaced(words[0][0]) else r"(?<![^\W_])"
    end = "" if is_unspaced(words[-1][-1]) else r"(?![^\W_])"
    return re.compile(start + r"[\W_]+".join(map(re.escape, words)) + end)


def _folded(text: str) -> str:
    folded = text.casefold()
    if folded.isascii():
        return folded
    return unicodedata.normalize("NFC", _ACCENTS.sub("", unicodedata.normalize("NFKD", folded)))
