"""Composes an answer from passages alone, without any language model: their own sentences, each with its passage.

A sentence weighs the words that many of the passages use, more those that the occasion is about, and less what says
the same as one that is taken already (maximal marginal relevance, Carbonell and Goldstein 1998).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence

from donna_tui.drafting import Evidence
from donna_tui.drafts.sentences import Sentence, sentences_of, stems_of

SUMMARY, LISTED = 5, 6
"""Sentences of a summary, and of a list."""

SAME = 0.6
"""Share of words in common from which two sentences say the same."""

ABOUT = 2.0
"""How much more a word weighs that the occasion is about."""

LEANING, DECIDED = 0.6, 1.5
"""What a sentence weighs that begins with a pronoun or in the middle of a thought, and one that was decided."""

LOOKED_AT = 2_000


class Extract:
    """What passages say, chosen once for all parts of an answer: no sentence stands in two of them."""

    def __init__(self, passages: Sequence[Evidence], about: str) -> None:
        self._about = stems_of(about)
        self._sentences = sentences_of(passages)[:LOOKED_AT]
        self._often = Counter(stem for sentence in self._sentences for stem in sentence.stems)
        self._taken: list[Sentence] = []

    def promises(self, most: int = LISTED) -> list[str]:
        """What somebody is to do; open check boxes first."""
        found = [sentence for sentence in self._sentences if sentence.promises]
        return self._take(sorted(found, key=lambda each: (each.box != " ", -self._weight(each))), most)

    def questions(self, most: int = LISTED) -> list[str]:
        """What is left open."""
        return self._take(self._by_weight(sentence for sentence in self._sentences if sentence.asks), most)

    def summary(self, most: int = SUMMARY) -> list[str]:
        """What the passages say mostly, in their order."""
        found = [sentence for sentence in self._sentences if sentence.box in ("", "x", "X")]
        return self._take(self._by_weight(found), most, in_order=True)

    def _by_weight(self, sentences: Iterable[Sentence]) -> list[Sentence]:
        return sorted(sentences, key=lambda each: -self._weight(each))

    def _weight(self, sentence: Sentence) -> float:
        words = sum(math.log1p(self._often[stem]) * (ABOUT if stem in self._about else 1.0) for stem in sentence.stems)
        telling = DECIDED if sentence.decides else 1.0 if sentence.stands_alone else LEANING
        return telling * words / math.sqrt(len(sentence.stems) + 4)

    def _take(self, ranked: Sequence[Sentence], most: int, *, in_order: bool = False) -> list[str]:
        chosen: list[Sentence] = []
        for sentence in ranked:
            if len(chosen) == most:
                break
            if not any(_alike(sentence, other) for other in (*self._taken, *chosen)):
                chosen.append(sentence)
        self._taken += chosen
        if in_order:
            places = {id(sentence): place for place, sentence in enumerate(self._sentences)}
            chosen.sort(key=lambda each: places[id(each)])
        return [cited(sentence.text, sentence.evidence) for sentence in chosen]


def cited(text: str, *numbers: int) -> str:
    """A statement with the numbers of its passages, in the form of all answers."""
    return " ".join((text, "".join(f"[{number}]" for number in numbers)))


def _alike(one: Sentence, other: Sentence) -> bool:
    return len(one.stems & other.stems) >= SAME * min(len(one.stems), len(other.stems))
