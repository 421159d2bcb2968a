"""Recognise questions about what was decided, or what is still to be done, and the passages that list it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from donna_tui.text.minutes import DECISION_LABEL, DECISIONS_HEADING, TASK_LABEL, TASKS_HEADING


@dataclass(frozen=True, slots=True)
class Section:
    """A section of minutes. A passage lists it below a heading that `heading` matches, or in a line that `line` does.

    `asks` matches a question about it; the words of its groups say nothing about the subject of the question.
    """

    asks: re.Pattern[str]
    heading: re.Pattern[str]
    line: re.Pattern[str]

    def is_in(self, heading_path: Sequence[str], text: str) -> bool:
        """Return whether a passage lists the section."""
        return any(map(self.heading.fullmatch, heading_path)) or self.line.search(text) is not None


_GROUP = r"i|we|they|team|group|board|committee|council|was|were|been"
_DECIDED = r"decided?|agreed?|concluded?|approved?"
_DECISION = r"decisions?|conclusions?|entscheidung(?:en)?|beschl(?:uss|üsse)"
_REACHED = r"reach(?:ed)?|ma[dk]e|came|come|taken?|took"
_ABOUT = r"about|for|from|in|of|on|regarding|with|aus|bei|für|mit|über|vom?|zu[mr]?"

_HOW_TO = re.compile(r"\W*how (?:to|do|does|can|should)\b", re.IGNORECASE)
"""The beginning of a question how to do something, as “how to open tasks”."""

DECISIONS = Section(
    asks=re.compile(
        rf"\b(?:which|what|welche[nrs]?)\s+({_DECISION}|agreements?)\b(?:.*\b({_REACHED})\b)?"
        rf"|\b(?:{_GROUP})\b.*\b({_DECIDED})\b"
        r"|\b(haben wir|wir haben|wurden?)\b.*\b(beschlossen|entschieden|vereinbart)\b"
        rf"|\b({_DECISION})\s+(?:{_ABOUT})\b"
        r"|\w\W+(?:decisions|entscheidungen|beschlüsse)\W*\Z|\boutcomes?\s+of\b",
        re.IGNORECASE,
    ),
    heading=re.compile(rf"(?:{DECISIONS_HEADING})\W*", re.IGNORECASE),
    line=re.compile(rf"^\W*(?:{DECISION_LABEL})\W{{0,3}}:", re.IGNORECASE | re.MULTILINE),
)
TASKS = Section(
    asks=re.compile(
        r"\b((?:open|unfinished|outstanding|pending|remaining|offene[nr]?)\s+(?:tasks?|to-?dos?|action items?|actions"
        rf"|points|aufgaben|punkte))\b(?=\W*\Z|\s+(?:{_ABOUT})\b)"
        rf"|\b(action items?|next steps?|to-?dos?|nächsten? schritte)\s+(?:{_ABOUT})\b"
        r"|\bwhat(?:['’]s| is| was) (still (?:open|to (?:be done|do)))\b",
        re.IGNORECASE,
    ),
    heading=re.compile(rf"(?:{TASKS_HEADING})\W*", re.IGNORECASE),
    line=re.compile(rf"^\s*(?:[-*+]|\d+[.)])\s+\[ \]\s|^\W*(?:{TASK_LABEL})\W{{0,3}}:", re.IGNORECASE | re.MULTILINE),
)


@lru_cache(maxsize=64)
def section_of(question: str) -> tuple[Section | None, frozenset[str]]:
    """Return the section that a question is about, and the words by which it asks for it, in lower case."""
    for section in () if _HOW_TO.match(question) else (DECISIONS, TASKS):
        if match := section.asks.search(question):
            return section, frozenset(" ".join(filter(None, match.groups())).lower().split())
    return None, frozenset()
