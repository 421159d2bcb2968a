"""Which kind of memory a text is, where nobody says so (seed 002 §1.6), and the key of a preference."""

from __future__ import annotations

import re

from donna_tui.memories import MemoryType
from donna_tui.memory.salience import PREFERENCE, has_preference
from donna_tui.search.query import STOP_WORDS

KEY_WORDS = 6
"""Words of a preference that name it at the most."""

_NOW = re.compile(
    r"\b(?:right now|at the moment|currently|for now|just now|this (?:session|conversation|chat)|(?:i am|i'm) now)\b",
    re.IGNORECASE,
)
_FACT = re.compile(
    r"^(?:(?:the |my |our |his |her |their |your )?[\w’'.-]+(?: [\w’'.-]+){0,4}?) "
    r"(?:is|are|am|was|were|has|have|had|works?|lives?|uses?|owns?|likes?|loves?|speaks?|runs?|means?|costs?|"
    r"belongs?|needs?|knows?|studies|teaches|plays?|contains?|supports?|reports?) \S+",
    re.IGNORECASE,
)
_LABELLED = re.compile(r"^\s*([^\W\d_][\w ’'/-]{1,40}):\s+\S")
_FAVOURITE = re.compile(r"\bmy ((?:\w+ )?favou?rite (?:\w+ ){0,3}?\w+) (?:is|are|was|remains?)\b", re.IGNORECASE)
_WORD = re.compile(r"\w+")


def route(text: str, hint: MemoryType | None = None) -> MemoryType:
    """The hint if there is one; else a preference is procedural, what is about now is working, a statement of one
    sentence about a subject is semantic, and everything else is episodic.
    """
    if hint is not None:
        return hint
    if has_preference(text):
        return MemoryType.PROCEDURAL
    if _NOW.search(text):
        return MemoryType.WORKING
    return MemoryType.SEMANTIC if _is_fact(text) else MemoryType.EPISODIC


def _is_fact(text: str) -> bool:
    statement = text.strip()
    one_sentence = not re.search(r"[.!?]\s+\S|\n", statement) and not statement.endswith("?")
    return one_sentence and _FACT.match(statement) is not None


def preference_key(text: str) -> str:
    """The name under which a procedural memory is kept; a later one of the same name takes its place.

    `Communication style: direct` is kept under its label, `My favourite colour is blue` under what is liked best, and
    anything else under the first words of the preference that carry meaning.
    """
    labelled = _LABELLED.match(text)
    if labelled:
        return _folded(labelled[1])
    favourite = _FAVOURITE.search(text)
    if favourite:
        return _folded(favourite[1].replace("favorite", "favourite"))
    found = PREFERENCE.search(text)
    words = _WORD.findall((text[found.start() :] if found else text).lower())
    telling = [word for word in words if word not in STOP_WORDS]
    return " ".join((telling or words)[:KEY_WORDS]) or _folded(text)


def _folded(text: str) -> str:
    return " ".join(text.casefold().split())
