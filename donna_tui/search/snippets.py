"""The line that shows why a passage matched, with the matched words marked."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Sequence
from functools import lru_cache

from donna_tui.records import dataclass
from donna_tui.results import Snippet

WIDTH = 180
"""Characters of a snippet at the most."""

_WORD = re.compile(r"\w+")
_ENDINGS = ("ations", "ation", "ings", "ing", "ies", "ied", "ers", "er", "ed", "es", "ly", "s", "e", "y")
_SHORTEST_STEM = 3


@lru_cache(maxsize=50_000)
def stem(word: str) -> str:
    """A rough stem for marking: case, accents and common English endings do not count."""
    folded = "".join(char for char in unicodedata.normalize("NFKD", word.casefold()) if not unicodedata.combining(char))
    for ending in _ENDINGS:
        if folded.endswith(ending) and len(folded) - len(ending) >= _SHORTEST_STEM:
            return folded[: -len(ending)]
    return folded


@dataclass(frozen=True, slots=True)
class LateSnippet:
    """The excerpt of a passage, made when it is looked at: most results of a search are never in sight."""

    content: str
    terms: tuple[str, ...]
    partial: bool = False

    @property
    def text(self) -> str:
        return _made(self).text

    @property
    def marks(self) -> tuple[tuple[int, int], ...]:
        return _made(self).marks


@lru_cache(maxsize=64)
def _made(late: LateSnippet) -> Snippet:
    return make_snippet(late.content, late.terms, partial=late.partial)


def make_snippet(content: str, terms: Sequence[str], *, partial: bool = False) -> Snippet:
    """The stretch of `content` with the most different terms in it, as one line of text."""
    text = " ".join(_without_heading(content).split())
    stems = {stem(word) for term in terms for word in _WORD.findall(term)}
    beginning = _last_word(terms) if partial else ""
    found = [
        (match.start(), match.end(), key)
        for match in _WORD.finditer(text)
        if (key := stem(match.group())) in stems or (beginning and match.group().casefold().startswith(beginning))
    ]
    start = _best_start(text, found)
    end = min(len(text), start + WIDTH)
    shown = text[start:end]
    lead = "…" if start else ""
    marks = tuple(
        (low - start + len(lead), high - start + len(lead)) for low, high, _ in found if low >= start and high <= end
    )
    return Snippet(f"{lead}{shown}{'…' if end < len(text) else ''}", marks)


def _without_heading(content: str) -> str:
    first, _, rest = content.partition("\n")
    return rest if first.lstrip().startswith("#") and rest.strip() else content


def _last_word(terms: Sequence[str]) -> str:
    words = _WORD.findall(terms[-1]) if terms else []
    return words[-1].casefold() if words else ""


def _best_start(text: str, found: Sequence[tuple[int, int, str]]) -> int:
    """Where the window with the most different stems begins, at a word and with a little text before the first mark."""
    if not found or len(text) <= WIDTH:
        return 0
    best, best_count = 0, 0
    for index, (low, _, _) in enumerate(found):
        inside = {key for start, end, key in found[index : index + 40] if end <= low + WIDTH * 3 // 4}
        if len(inside) > best_count:
            best, best_count = low, len(inside)
    lead = max(0, best - WIDTH // 4)
    space = text.find(" ", lead, best)
    return 0 if lead == 0 else (space + 1 if space >= 0 else lead)
