"""Recognise questions about what was decided, or what is still to be done, and the passages that list it, by the usual
headings and labels of minutes, which drafts use too.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

DECISIONS_HEADING = (
    r"(?:(?:key|our|main|final|the) )?(?:decisions?(?: made| taken| log)?|decided|agreed|agreements?|resolutions?"
    r"|conclusions?|outcomes?)(?: and (?:next steps|actions))?|entscheidungen|beschlüsse|vereinbart|vereinbarungen"
    r"|décisions(?: prises)?|decisiones(?: tomadas)?|acuerdos"
)
TASKS_HEADING = (
    r"action (?:items?|points?)|actions|next steps?|to[- ]?dos?|follow[- ]?ups?|tasks|my tasks|aufgaben"
    r"|nächste schritte|maßnahmen|à faire|tâches|prochaines étapes|tareas|por hacer|próximos pasos"
)
"""Patterns of whole headings, without the punctuation at their ends."""

DECISION_LABEL = (
    r"decision|decided|resolution|resolved|conclusion|agreed|entscheidung|entschieden|beschluss|beschlossen|vereinbart"
    r"|vereinbarung|einigung|festgelegt|festlegung|décision|décidé|decisión|decidido|acuerdo|acordado"
)
TASK_LABEL = r"action(?: item| point)?s?|next steps?|to-?do|follow[- ]?up|aufgabe|à faire|tâche|tarea"
"""Patterns of the words before the colon of a line."""

_NAME = r"@?(?!(?:This|That|These|They|The|There|It|We|Das|Die|Der|Es|Wir)\b)[A-ZÀ-Þ][\w.'’-]*(?: [A-ZÀ-Þ][\w.'’-]*)?"
TASK_LINE = (
    r"(?-i:^[^\w\n]*(?:(?:TODO|ToDo)\b(?![ -]?[Ll]ist(?:en?|s)?\b| apps?\b)"
    r"|(?:AI:|AP:?|ACTION|[Aa]ction(?: item)? ?[–—-])[*_ ]{0,4}(?:[–—-] )?"
    rf"{_NAME}(?:(?:,| and| &|/) ?{_NAME})?(?: ?[:–—]| -+ | (?:to|will)\b(?! be\b))))"
)
"""Match a line that says whose task it is: “TODO(Kim): …”, “AI: Kim – …”, but not “AI: it is too early”."""


@dataclass(frozen=True, slots=True)
class MinutesSection:
    """A section of minutes. A passage lists it below a heading that `heading` matches, or in a line that `line` does.

    `asks` matches a question about it. The words of its groups say nothing about the subject of the question, so they
    need not be in the passages that answer it. A passage in which only lines match `done` does not list it.
    """

    asks: re.Pattern[str]
    heading: re.Pattern[str]
    line: re.Pattern[str]
    done: re.Pattern[str] | None = None

    def is_in(self, heading_path: Sequence[str], text: str) -> bool:
        """Return whether a passage lists the section, not only in a comment."""
        text = _COMMENT.sub("", text)
        if self.line.search(text):
            return True
        is_done = self.done is not None and self.done.search(text) is not None
        return not is_done and any(map(self.heading.fullmatch, heading_path))

    def owners_in(self, text: str) -> str:
        """Return the words with which the open check boxes of a text name whose they are, such as “Priya: order it”."""
        return " ".join(map(" ".join, _OWNERS.findall(text))) if self.done else ""


_COMMENT = re.compile(r"%%.*?(?:%%|\Z)|<!--.*?(?:-->|\Z)", re.DOTALL)
_OWNERS = re.compile(
    r"^[ \t>]*(?:[-*+]|\d+[.)])[ \t]+\[ \][ \t]+(?:[^\w\n]{0,6}((?:[\w.'’-]{1,60}/)?[\w.'’-]{1,60}(?: [\w.'’-]{1,60})?"
    r"(?:\|[^\]\n]{0,40})?)[^\w\n]{0,4}:\s"
    r"|[^\n]*?(?:(?<!\w)@(\w+)|\(([^()\n]{1,40})\)[ \t]*$))",
    re.MULTILINE,
)
"""Names before a colon, perhaps in a link, after “@”, and in parentheses at the end."""

_DECISION = r"decisions?|conclusions?|entscheidung(?:en)?|beschl(?:uss|üsse)"
_OPEN = r"open|unfinished|outstanding|overdue|pending|remaining|offene[nr]?|überfällige[nr]?"
_TODO = r"tasks?|to-?dos?|action items?|actions|aufgaben"
_TASK = rf"{_TODO}|points|items|punkte"
_OWN = r"tasks|to-?dos?|aufgaben"
_ABOUT = r"about|for|from|in|of|on|regarding|with|am|aus|bei|der|des|für|im|mit|über|vom?|zu[mr]?"
_ALL = r"\A\W*(?:(?:what|which|show|list|are|me|my|our|all|the|there|any|key|still|alle|die|unsere)\s+)*"

DECISIONS = MinutesSection(
    asks=re.compile(
        rf"\b(?:which|what|welche[nrs]?)\s+({_DECISION}|agreements?)\s+(?:are|did|do|has|have|is|was|were|wurden?"
        r"|gab es|gibt es|haben wir|sind|waren)\b"
        r"|\b(?:i|we|they|team|group|board|committee|council|was|were|been)\b.{0,80}\b(decided?|agreed?)\b"
        r"|\bwhat\s+(?:did|had|has|have)\b.{0,80}\b(decided?|agreed?)\b"
        r"|\b(haben wir|wir haben|wurden?)\b.{0,80}\b(beschlossen|entschieden|vereinbart)\b"
        rf"|{_ALL}({_DECISION})\s+(?:{_ABOUT})\b|\boutcomes?\s+of\b"
        r"|\A\W*(decisions|beschlüsse)(?:\s+[^\W\d]\w*){1,3}\W*\Z|\A\W*(?:\w+\s+){1,3}(decisions|beschlüsse)\W*\Z",
        re.IGNORECASE,
    ),
    heading=re.compile(rf"[\W\d]*(?:{DECISIONS_HEADING})[\W\d]*", re.IGNORECASE),
    line=re.compile(
        rf"^\W*(?:(?:{DECISION_LABEL})\W{{0,3}}:"
        r"|(?:\d\d?:\d\d\W+)?(?:(?:we|I) )?(?:decided|agreed) (?:not )?(?:to|that|on|against)\b)",
        re.IGNORECASE | re.MULTILINE,
    ),
)
TASKS = MinutesSection(
    asks=re.compile(
        rf"{_ALL}((?:{_OPEN})\s+(?:{_TASK})|action items?|next steps?|nächsten? schritte)(?:\W*\Z|\s+(?:{_ABOUT})\b)"
        rf"|{_ALL}((?:{_OPEN})\s+(?:{_OWN}|action items))(?:\s+[^\W\d]\w*){{1,3}}\W*\Z"
        r"|\bwhat(?:['’]s| is| was) ((?:still|left) (?:open|to (?:be done|do)))\b"
        r"|\b(?:what|which)\b.{0,40}\b(?:do|does)\b.{0,40}\b(still (?:have|need) to(?: do)?)\b"
        rf"|\b(?:what|which|welche)\s+({_TODO})\s+(?:are|is|sind|were)(?:\s+(still|noch))?\s+(left|offen|{_OPEN})\b"
        rf"|\A\W*(?:\w+\s+){{0,2}}(?:\w+['’]s?|my|our|all|meine|unsere|alle)\s+((?:(?:{_OPEN})\s+)?(?:{_OWN}))\W*\Z"
        rf"|{_ALL}({_OWN})\s+(?:for|of|from|für|von)\b|\A\W*(?:\w+\s+){{1,3}}(action items?|next steps?)\W*\Z"
        r"|\bwhat\s+(?:(?:do|does|did)\b.{0,40}\b((?:have|need) to do)|(should|must)\b.{0,40}\b(do))"
        r"(?:\W*\Z|\s+(next)\W*\Z|\s+(?:this|next|today|tomorrow|before|by)\b)"
        r"|\bwas\s+(muss|müssen|soll|sollen)\b.{0,40}\b(?:(tun|erledigen)\W*\Z|(noch)\b)",
        re.IGNORECASE,
    ),
    heading=re.compile(rf"[\W\d]*(?:{TASKS_HEADING})[\W\d]*", re.IGNORECASE),
    line=re.compile(
        rf"^[ \t>]*(?:[-*+]|\d+[.)])\s+\[ \]\s|^[^\w\n]*(?:{TASK_LABEL})\W{{0,3}}:|{TASK_LINE}",
        re.IGNORECASE | re.MULTILINE,
    ),
    done=re.compile(r"^[\s>]*(?:[-*+]|\d+[.)])\s+\[[xX-]\]\s", re.MULTILINE),
)


_HOW_TO = re.compile(r"\W*(?:how (?:to|do|does|can|should)|wie)\b", re.IGNORECASE)
"""The beginning of a question about how to do something, such as “how to open tasks”."""

LONGEST_QUESTION = 400
"""Number of characters of a question that are considered: a longer text is a passage and not a question."""


@lru_cache(maxsize=64)
def section_of(question: str) -> tuple[MinutesSection | None, frozenset[str]]:
    """Return the section that a question is about, and the words by which it asks for it, in lower case."""
    asked = question[:LONGEST_QUESTION]
    for section in () if _HOW_TO.match(asked) else (DECISIONS, TASKS):
        if match := section.asks.search(asked):
            return section, frozenset(" ".join(filter(None, match.groups())).lower().split())
    return None, frozenset()
