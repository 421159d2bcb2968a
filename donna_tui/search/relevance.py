"""Whether the best passages answer a question at all, or nothing in the vault is relevant to it."""

from __future__ import annotations

import re
from collections.abc import Iterable

from donna_tui.memories import MemorySource
from donna_tui.records import dataclass
from donna_tui.search.dates import date_phrases, without_dates
from donna_tui.search.query import Query
from donna_tui.search.snippets import stem
from donna_tui.text.segments import segments

CLEAR_COSINE = 0.45
"""A passage that is so close in meaning is an answer even if it shares no word."""

SHORT_PASSAGE, CLEAR_COSINE_OF_SHORT = 200, 0.30
"""A one-line fact or a short note of up to so many characters says one thing, and a paraphrase of it scores less. Turns
of conversations are as short, but there are so many that some are always that close."""

LEAST_CONFIDENCE = 0.68
"""Cosine plus coverage that one of the best passages must reach otherwise."""

# All were measured on questions asked of the wrong vault, and on short passages; docs/retrieval.md has the figures.

LOOKED_AT = 10
"""Passages at the top of the list that are asked."""

_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class Wanted:
    """What a question asks for: word stems, and phrases that stand for the dates in it, which count as one more."""

    stems: frozenset[str]
    dates: tuple[str, ...] = ()
    begun: str = ""

    def coverage(self, text: str) -> float:
        """The share of it that a passage holds, from 0 to 1."""
        words = _stems(text)
        held = len(self.stems & words) + self.holds_date(text) + self._holds_beginning(words)
        return held / max(1, len(self.stems) + bool(self.dates) + bool(self.begun))

    def holds_date(self, text: str) -> bool:
        """Whether a passage is of a day that the question names."""
        plain = f" {' '.join(_WORD.findall(text.casefold()))} " if self.dates else ""
        return any(f" {phrase} " in plain for phrase in self.dates)

    def _holds_beginning(self, words: Iterable[str]) -> bool:
        return bool(self.begun) and any(word.startswith(self.begun) or self.begun.startswith(word) for word in words)


def wanted(query: Query, *, partial: bool) -> Wanted:
    """What a query asks for; its last word may be a beginning if it is `partial`."""
    begun = query.begun if partial else ""
    terms = [term for term in query.terms if term != begun]
    return Wanted(_stems(without_dates(" ".join(terms))), date_phrases(query.text), stem(begun) if begun else "")


def clear_cosine(content: str, source: str) -> float:
    """The cosine from which on a passage of a source answers a question by its meaning alone."""
    is_short = len(content) <= SHORT_PASSAGE and source != MemorySource.CHAT
    return CLEAR_COSINE_OF_SHORT if is_short else CLEAR_COSINE


def answers(asked_for: Wanted, cosine: float | None, text: str, clear: float = CLEAR_COSINE) -> bool:
    """Whether a passage is close enough to a question. It takes both legs to say no: one alone is never sure."""
    if (cosine is not None and cosine >= clear) or asked_for.holds_date(text):
        return True
    return (cosine or 0.0) + asked_for.coverage(text) >= LEAST_CONFIDENCE


def _stems(text: str) -> frozenset[str]:
    return frozenset((*map(stem, _WORD.findall(text)), *segments(text)))
