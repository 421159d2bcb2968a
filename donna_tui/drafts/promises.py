"""Recognise promises and plans in a sentence, by who will do something or by when."""

from __future__ import annotations

import re
from collections.abc import Iterable

from donna_tui.text.dates import ANY_WEEKDAY, MONTH, WEEKDAY

DEADLINE = (
    r"\b(?:by|until|before|bis)(?: (?:the|this|next|zum|nächsten?|kommenden))?"
    rf" (?:(?:{ANY_WEEKDAY})\b|to(?:morrow|night)|noon|e\.?o\.?[dw]\b|then\b"
    r"|(?:end|start|beginning|middle) of"
    rf"|(?:mid|early|late)\b|ende|mitte|anfang|morgen|heute|week|month|woche|monat|kw"
    rf"|(?:{MONTH})\b|\d{{1,2}}(?:st|nd|rd|th)\b|\d{{1,2}}\.\d|\d{{1,2}}\.? (?:{MONTH})\b"
    r"|\d{1,2}(?::\d\d| ?[ap]\.?m\b| uhr\b)|\d{4}-\d\d)"
)
ON_DAY = (
    rf"(?:{DEADLINE}|\b(?:tomorrow|(?:next|this) week|morgen|(?:nächste|diese) woche"
    rf"|(?:on|am) (?:{ANY_WEEKDAY}))\b)"
)
"""A day by or on which something is to be done."""

ACTOR = (
    r"\b(?!(?:It|This|That|There|What|Who|Which|The|We|You|All|Every\w+|No\w*|Some\w+|Any\w+|Let|Please|Reply|Talk"
    r"|Speak|Write|Go|Return|Respond|Listen|Move|Report|Send|Back|Due|Next|Subject|Ask|Want|Need|Plan|Try)\b)"
    r"(?-i:[A-ZÀ-Þ])[\w'’-]+"
)
"""A name, or at least a word in upper case that is none of those that begin other sentences."""

DAY_OF_MONTH = rf"\d{{1,2}}(?:st|nd|rd|th|\.)? (?:{MONTH})\b|(?:{MONTH})\.? \d{{1,2}}(?:st|nd|rd|th)?\b"
FROM_NOW = r"(?:from now on|ab (?:jetzt|sofort))"
PLAN = re.compile(
    rf"(?:{ACTOR}(?: (?:and|&) {ACTOR})?(?: will| (?:is|are) going to)|I(?:['’]ll| will))\b(?! (?:be|not)\b)"
    rf"|(?!\d|(?:{WEEKDAY}|{MONTH}|next|nächste\w*|yesterday|gestern)\b)(?!.*\buntil\b)\w.*"
    rf"(?:{DEADLINE}|\b(?:{DAY_OF_MONTH}|(?:am|ab|vom|zum) \d{{1,2}}\.\d{{1,2}}\.))"
    rf"|(?:.* )?{FROM_NOW}\b|(?:from|ab) (?:{MONTH}|(?:next|nächste\w*) \w+)\b.*\b(?:we|wir)\b",
    re.IGNORECASE,
)
"""A sentence that says what somebody will do or what holds from now on, or names a day."""

_GIVES = "(?:send|give|get back|call|write|e-?mail|forward|share|deliver|bring|return|introduce|pay)"
_STATES = (
    "ist|war|hat|wird|bleibt|läuft|gilt|dauert|geht|hält|reicht|steht|liegt|sitzt|fehlt|wartet|wohnt|schläft|arbeitet"
    "|kommt|kostet|braucht|darf|kann|muss|soll|will"
)
"""German verbs after which “bis” means “until”, or that promise nothing."""

_PROMISE = re.compile(
    r"\b(?P<said>promised|I promise|versprochen|verspreche|versprach|zugesagt|sagt(?:e)?\b[^.;:]{0,60} zu\b)|\bI owe\b"
    rf"|{ACTOR} owes (?:me|us)\b"
    r"|(?:^|\bI )said (?:that )?I(?:['’](?:d|ll)| would| will) (?!(?:not|never|be|have|like|love|prefer|rather)\b)\w"
    rf"|^(?:me|ich)(?: ?=|:| [–—-]) (?!I\b|ich\b).*{DEADLINE}"
    r"|\b(?:told|assured|said to) \w+(?: \w+)? (?:that )?(?:I|we)(?:['’](?:d|ll)| would| will)\b"
    rf"|\bI(?:['’]ll| will) {_GIVES}\b|^I {_GIVES}s\b"
    rf"|\bI(?:['’]ll| will) (?!not\b|never\b|be\b)\w+\b.* {ON_DAY}"
    rf"|\bI(?:['’]d| would) (?!not\b|never\b|be\b)\w+\b.* {DEADLINE}"
    rf"|(?:[,;:] |\band )(?:s?he|they)(?:['’]ll| will) {_GIVES}\b.* {DEADLINE}"
    rf"|{ACTOR} will {_GIVES}\b.* (?:by|until|before) "
    rf"|{ACTOR} (?:agreed|offered|volunteered) to\b"
    rf"|{ACTOR} (?:will (?!not\b|never\b|be\b)\w+|{_GIVES}s)\b.* {ON_DAY}"
    rf"|(?:^|[:.] )\W*{ACTOR}(?: [A-ZÀ-Þ][\w'’-]+)? to (?!be\b)\w+ .*{DEADLINE}"
    r"|\bich (?:schicke|sende|gebe|bringe|liefere|zahle|rufe|melde)\b(?:.*\bbis\b| (?:dir|euch|ihm|ihr|ihnen)\b)"
    rf"|\bich \w+e\b.* {DEADLINE}|\bich übernehme\b"
    r"|\bich werde\b.*\b(?:schicken|senden|geben|bringen|liefern|zahlen|anrufen|zurückgeben)\b"
    r"|\bich (?:melde|kümmere) mich\b"
    rf"|{ACTOR} (?:schickt|sendet|gibt|bringt|liefert|zahlt|prüft|klärt|erstellt|schreibt|macht|besorgt|übernimmt)"
    rf"\b.* {DEADLINE}|{ACTOR} (?!(?:{_STATES})\b)[a-zß-ÿ]+t\b.* (?=bis\b){DEADLINE}",
    re.IGNORECASE,
)
"""A promise by or to the writer; one by somebody else must have a deadline, or say that it is a promise."""

_NEGATION = re.compile(
    r"n['’]t\b|\b(?:not|never|nobody|no one|nothing|nicht|nichts|nie|niemand|kein\w*)\b", re.IGNORECASE
)
_TO_OTHERS = re.compile(r"\bthe promised\b|(?<!\bI )(?<!\bwe )\b(?:was|were) promised\b", re.IGNORECASE)
"""A promise to others."""

_HEARSAY = re.compile(
    r"\b(?:hears?|heard(?! (?:back|from)\b)|rumou?r|they say|apparently|allegedly|supposedly|gehört(?=,)|angeblich)\b"
    r"(?:(?!\b(?:I|ich)\b)[^.!?;:])*$",
    re.IGNORECASE,
)
"""A promise of somebody else of which the writer only heard."""


def initials_of(names: Iterable[str]) -> frozenset[str]:
    """Return the initials of full names, such as “JP”, and names that are as short as these."""
    found = [name for name in names if "@" not in name]
    found += ["".join(word[0] for word in name.split()) for name in found]
    found += [word for name in found if name.isupper() for word in name.split()]
    return frozenset(each.upper() for each in found if each.isalpha() and 1 < len(each) < 4)


def is_promise(text: str, me: Iterable[str] = (), initials: Iterable[str] = ()) -> bool:
    """Check whether a line has a promise; `me` are the names of the user, `initials` those of people: “JP to ring Bo”.

    “Nothing is promised” and “I heard Bo promised it” have none, “I promised that nobody pays” has.
    """
    if listed := "|".join(map(re.escape, initials)):
        text = re.sub(rf"(^\W*|[:.;] )(?:{listed}) (?=to (?!be\b)[a-zß-ÿ])", r"\1I promised ", text)
    names = "|".join(re.escape(each) for name in me for each in (name, name.partition(" ")[0]) if each)
    text = re.sub(rf"^(?:{names}) (?=will\b|{_GIVES}s\b)", "I ", text) if names else text
    found = _PROMISE.search(text)
    if found is None or text.endswith("?") or _TO_OTHERS.search(text) or _HEARSAY.search(text, 0, found.end()):
        return False
    clause = max(text.rfind(mark, 0, found.start()) for mark in ",;:.") + 1
    before_comma = text[found.start() :].partition(",")[0]
    end = found.end("said") if found["said"] else found.start() + len(before_comma)
    return not (_NEGATION.search(text, clause, end) or _NEGATION.fullmatch(text[end:].strip(" .!")))
