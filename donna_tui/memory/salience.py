"""How salient a text is in itself: names, numbers, preferences and rare words (seed 002 §1.5).

The signals are rules rather than a model: a library for named entities brings a model of its own, weighs more than all
of Donna, and its verdict on a short chat message is no better. docs/memory.md has the reasons and the limits.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from donna_tui.memories import Importance, Signal
from donna_tui.search.dates import MONTHS
from donna_tui.search.query import STOP_WORDS
from donna_tui.text.tokens import TokenCounter

WEIGHTS = {Signal.ENTITY: 0.3, Signal.NUMBER: 0.2, Signal.PREFERENCE: 0.4, Signal.RARE: 0.1}
"""Of seed 002 §1.5; together 1.0."""

RARE_AVERAGE = 0.15
"""From that average on the words of a text are rare. A word counts 1 if the tokenizer, whose vocabulary is the most
frequent pieces of English, needs three pieces or more for it."""

RARE_PIECES = 3
LOOKED_AT = 4_000
"""Characters of a text that are looked at; a longer text has had its say by then."""

PREFERENCE = re.compile(
    r"\bI(?:'d| would)? (?:(?:really|much|strongly|usually|generally) )?(?:prefer|always|never|hate|dislike|detest|"
    r"can'?t stand|cannot stand|rather)\b|\bI'd rather\b|\bI would rather\b|\bmy (?:\w+ )?favou?rites?\b",
    re.IGNORECASE,
)

_DAYS = ("monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday")
_NUMBER = re.compile(
    rf"\d|\b(?:{'|'.join((*_DAYS, *(name for name in MONTHS if name not in ('march', 'may'))))})\b", re.IGNORECASE
)
_WORD = re.compile(r"[^\W\d_][\w’'-]*")
_SENTENCE_START = re.compile(r"(?:^|[.!?:;…]|\n)[\s\"'“”‘’(\[*_>#•-]*\Z")
_CALENDAR = frozenset((*_DAYS, *MONTHS, *(name[:3] for name in (*_DAYS, *MONTHS))))
_NO_NAMES = frozenset("i i'm i'll i've i'd i’m i’ll i’ve i’d ok okay mr mrs ms dr prof".split())
_TITLES = re.compile(r"\b(?:Mr|Mrs|Ms|Dr|Prof|Sir|Dame)\.? [^\W\d_a-z]")
_MIXED = re.compile(r"\b(?:[a-z]+[A-Z]\w*|[A-Z]+[a-z]+[A-Z]\w*|[A-Z]{2,6})\b")
"""Products and companies: GitHub, iPhone, AWS."""


def salience(text: str, counter: TokenCounter) -> Importance:
    """The signals in a text and the sum of their weights, from 0 to 1."""
    head = text[:LOOKED_AT]
    signals = tuple(_signals(head, counter))
    return Importance(round(sum((WEIGHTS[signal] for signal in signals), 0.0), 10), signals)


def has_preference(text: str) -> bool:
    """Whether somebody says what they prefer, always do, hate or like best."""
    return PREFERENCE.search(text) is not None


def _signals(text: str, counter: TokenCounter) -> Iterator[Signal]:
    if names_something(text):
        yield Signal.ENTITY
    if _NUMBER.search(text):
        yield Signal.NUMBER
    if has_preference(text):
        yield Signal.PREFERENCE
    if rarity(text, counter) >= RARE_AVERAGE:
        yield Signal.RARE


def names_something(text: str) -> bool:
    """Whether there is the name of a person, an organisation, a place or a product.

    A capitalised word is a name inside a sentence, or at its start if another one follows. Days and months are none.
    """
    if _TITLES.search(text) or any(not _is_ordinary(found.group()) for found in _MIXED.finditer(text)):
        return True
    words = list(_WORD.finditer(text))
    for number, found in enumerate(words):
        if not _could_be_name(found.group()):
            continue
        if not _SENTENCE_START.search(text, max(0, found.start() - 12), found.start()) and found.start() > 0:
            return True
        following = words[number + 1] if number + 1 < len(words) else None
        if following and following.start() == found.end() + 1 and _could_be_name(following.group()):
            return True
    return False


def rarity(text: str, counter: TokenCounter) -> float:
    """The share of rare words among those that carry meaning, from 0 to 1."""
    words = [word for word in (found.group() for found in _WORD.finditer(text)) if word.lower() not in STOP_WORDS]
    if not words:
        return 0.0
    return sum(len(counter.spans(word)) >= RARE_PIECES for word in words) / len(words)


def _could_be_name(word: str) -> bool:
    return word[0].isupper() and not _is_ordinary(word) and len(word) > 1


def _is_ordinary(word: str) -> bool:
    folded = word.lower()
    return folded in STOP_WORDS or folded in _NO_NAMES or folded in _CALENDAR
