"""Parse the query syntax: words, "exact phrases", -words and `key:value` filters. No input is an error."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta
from functools import lru_cache

from donna_tui.index.filters import Scope, quoted
from donna_tui.search.sections import DECISIONS_HEADING, TASKS_HEADING
from donna_tui.text.dates import (
    GERMAN_MONTHS,
    GERMAN_WEEKDAYS,
    MONTH,
    MONTHS,
    WEEKDAYS,
    date_word,
    month_number,
    ordinal,
)
from donna_tui.text.encodable import encodable
from donna_tui.text.fuzzy import nearest
from donna_tui.text.words import MEETING, ONE_ON_ONE, PUNCTUATION, STOP_WORDS, indexed_words, segments
from donna_tui.types.search import FilterProblem, Filters

_MONTH = rf"(?P<month>{MONTH})\.?"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_ANY_YEAR = r"(?:19|20)\d\d"
_YEAR = rf"(?P<year>{_ANY_YEAR})"
_FORMS = (
    rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
    rf"\b{_DAY}\.?\s+(?:of\s+)?{_MONTH}(?=\W|$)(?:,?\s+{_YEAR}\b)?",
    rf"\b{_MONTH},?\s+{_YEAR}\b",
    rf"\b{_YEAR}[-/](?P<number>0[1-9]|1[0-2])(?:[-/](?P<day>0[1-9]|[12]\d|3[01]))?\b",
    rf"\b{_DAY}\.\s?(?P<number>0?[1-9]|1[0-2])\.\s?{_YEAR}\b",
    rf"(?<![\w.,]){_DAY}\.(?P<number>0?[1-9]|1[0-2])\.(?!\s?\d|\w)",
    rf"\b{_DAY}/(?P<number>0?[1-9]|1[0-2])/{_YEAR}\b",
    rf"\b(?P<number>0?[1-9]|1[0-2])/{_DAY}/{_YEAR}\b",
)
"""Forms of dates."""


def date_phrases(text: str) -> tuple[str, ...]:
    """Return the phrases by which the dates in `text` are found in a keyword index that treats hyphens as spaces.

    They can also be found in other places: “10 13” is a date and a time. `date_pattern` is exact.
    """
    return tuple(dict.fromkeys(phrase for parts in _dates_in(text) for phrase in _phrases(*parts)))


def date_words(text: str) -> tuple[str, ...]:
    """Return the words by which the keyword index finds notes of the dates in `text` (`Document.search_title`)."""
    dates = _dates_in(text)
    return tuple(dict.fromkeys(date_word(month, f"{day:02}" if day else "", year) for month, day, year in dates))


def _names_of(month: str) -> tuple[list[str], list[str]]:
    """Return the names of a month by its number, and their abbreviations: those in English, and the German ones."""
    both = (MONTHS[int(month) - 1].lower(), GERMAN_MONTHS[int(month) - 1].lower())
    english, german = ([name, name[:3], *(["sept"] if name == "september" else [])] for name in both)
    return english, german


def _phrases(month: str, day: int, year: str) -> Iterator[str]:
    english, german = _names_of(month)
    names = (*english, *german)
    if day:
        yield f"{year} {month} {day:02}" if year else f"{month} {day:02}"
        yield from (f"{each} {number}" for each in english for number in (day, ordinal(day)))
        yield from (f"{ordinal(day)} {each}" for each in english)
        yield from (f"{day} {each}" for each in names)
        if year:
            yield from dict.fromkeys((f"{day:02} {month} {year}", f"{day} {int(month)} {year}"))
    elif year:
        yield f"{year} {month}"
        yield from (f"{each} {year}" for each in names)


def date_pattern(text: str) -> re.Pattern[str] | None:
    """Return the pattern of the dates in `text` in words joined by spaces, in lower case; None if there are none.

    A day of another year than that of the question does not match, nor a day without a year in a note whose own date
    (`date_words`) is of another year, nor a time such as 10:13.
    """
    months = defaultdict[tuple[str, str], list[int]](list)
    for month, day, year in _dates_in(text):
        months[month, year].append(day)
    forms = [form for (month, year), days in months.items() for form in _forms_of(month, days, year)]
    return re.compile(rf"\b(?:{'|'.join(forms)})\b") if forms else None


def _forms_of(month: str, days: Sequence[int], year: str) -> Iterator[str]:
    """Yield the forms of some days of a month; 0 is the month itself, with its year."""
    english, german = _names_of(month)
    name = f"(?:{'|'.join(dict.fromkeys((*english, *german)))})"
    if 0 in days and year:
        yield date_word(month, "", year)
        yield f"(?:{year} {month}|{name} {year})"
    if not any(days):
        return
    padded, number = (f"(?:{'|'.join(format(day, form) for day in days if day)})" for form in ("02", ""))
    yield date_word(month, padded, year)
    yield f"{year or _ANY_YEAR} {month} {padded}"
    # neither in “2023-05-06, 2024-01-01” nor in “12:03 2026-04-01”
    yield rf"(?<!\d\d\d\d )0?{number} 0?{int(month)} {year or _ANY_YEAR}(?! (?:0[1-9]|1[0-2]) [0-3]\d\b)"
    day = f"{number}(?:st|nd|rd|th)?"
    named = f"(?:{name} {day}|{day} (?:of )?{name})"
    yield f"{named} {year}" if year else named
    if year:
        another = rf"(?!{year}){_ANY_YEAR}y\d"  # the beginning of the note's own date, if it is of another year
        yield rf"\A(?!.*\b{another}).*\b{named}\b(?! {_ANY_YEAR}\b)"


def _dates_in(text: str) -> Iterator[tuple[str, int, str]]:
    """Yield the dates in `text`: their month, day and year; two for 3/12/2026."""
    return map(_date_parts, _matches_in(text))


def _matches_in(text: str) -> list[re.Match[str]]:
    """Return the matches of the forms of dates in a text, of overlapping ones the one with a day and a year, as in
    “Apollo 11 July 20 1969”, else the first: “5 June” in “5 June 20”.
    """
    if not re.search("[1-9]", text):  # so that the forms are compiled for the first text with a number
        return []
    found = [match for form in _FORMS for match in re.finditer(form, text, re.IGNORECASE)]
    found.sort(key=lambda match: (not all(_date_parts(match)), match.start(), -match.end()))
    kept: list[re.Match[str]] = []
    for match in found:
        place = bisect_right(kept, match.span(), key=re.Match.span)
        is_after = place == 0 or kept[place - 1].span() == match.span() or kept[place - 1].end() <= match.start()
        if is_after and (place == len(kept) or match.end() <= kept[place].start()):
            kept.insert(place, match)
    return kept


def _date_parts(match: re.Match[str]) -> tuple[str, int, str]:
    """Return the number of the month, the day and the year; 0 and an empty text if they are not named."""
    parts = match.groupdict()
    return f"{_month_in(parts):02}", int(parts.get("day") or 0), parts.get("year") or ""


def _month_in(parts: Mapping[str, str | None]) -> int:
    return int(parts.get("number") or 0) or month_number(str(parts["month"]))


_NEAR_DAYS = {"yesterday": -1, "vorgestern": -2, "gestern": -1, "today": 0, "heute": 0, "tomorrow": 1}
_WEEKDAYS = tuple(map(str.lower, (*WEEKDAYS, *GERMAN_WEEKDAYS)))
_SHIFTS = {"l": -1, "n": 1}
"""The offsets of “last” and “next” in weeks, months or years, in English and German, by their first letters."""

_ALONE = rf"\A(?=(?:{'|'.join((*MONTHS, *GERMAN_MONTHS))})\W*\Z)"
"""The beginning of a question that is only the name of a month."""

_ONLY_GERMAN = rf"(?:{'|'.join(name for name in GERMAN_MONTHS if name not in MONTHS)})\b"
"""Not the months of “in Mai Chau” and “in Juli Zeh's novel”."""

_OF_A_PERIOD = rf"\w+\s+(?:des|der|vom|vor|im\s+(?:{MONTH}|monat|jahr))\b"
"""Match the rest of “letzter Freitag im Monat”: a weekday of that month, not one relative to today."""

_RELATIVE = re.compile(
    rf"\b(?:(?P<near>(?a:{'|'.join(_NEAR_DAYS)}))"
    r"|(?P<which>last|this|next|letzte[mnrs]?|diese[mnrs]?|nächste[mnrs]?)"
    r"\s+(?P<period>week|month|year|woche|monat|jahr)"
    rf"|(?P<turn>last|this|next|on|am(?=\s+\w+tag|\s+mittwoch)|letzte[mnr]?(?!\s+{_OF_A_PERIOD})"
    rf"|diese[mnr]?|nächste[mnr]?)\s+(?P<weekday>(?a:{'|'.join(_WEEKDAYS)}))"
    rf"|(?:(?:in|during|(?P<past>last))\s+(?!{_ONLY_GERMAN})|im\s+|{_ALONE}){_MONTH}(?![\w'’-]))\b(?!\s+of\b)",
    re.IGNORECASE,
)
"""`(?a:` because “ſ” and “ı” are “s” and “i” in other case, but not in the names that are looked up."""
_ASKS_HOW_TO = re.compile(r"\W*how (?:to|do)\b", re.IGNORECASE)


def relative_dates(text: str, today: date) -> tuple[tuple[str, ...], str]:
    """Return the expressions in a question that name days relative to today, such as “last week”, and the days and
    months that they name, in ISO 8601.

    There are none beside another date, nor in a question about how to do something, and a word such as “Yesterday” that
    is capitalised within a question is a name.
    """
    if _ASKS_HOW_TO.match(text) or next(_dates_in(text), None):
        return (), ""
    found = [match for match in _RELATIVE.finditer(text) if not match.start() or not match[0].istitle()]
    return tuple(match[0] for match in found), " ".join(each for match in found for each in _iso_dates(match, today))


def _iso_dates(match: re.Match[str], today: date) -> list[str]:
    """Return the days or the months that an expression names.

    A week begins on Monday. A weekday is the last and the next one, with “this” only today if it is today. A month by
    its name is the latest, with “last” the latest before this month.
    """
    parts = {name: (value or "").lower() for name, value in match.groupdict().items()}
    shift = _SHIFTS.get((parts["which"] or parts["turn"])[:1], 0)
    if parts["month"]:
        month = _month_in(parts)
        return [f"{today.year - (month > today.month - bool(parts['past']))}-{month:02}"]
    if parts["period"] in ("year", "jahr"):
        return [f"{today.year + shift}-{month:02}" for month in range(1, 13)]
    if parts["period"].startswith("mo"):
        months = 12 * today.year + today.month - 1 + shift
        return [f"{months // 12}-{months % 12 + 1:02}"]
    if parts["period"]:
        offsets = [7 * shift - today.weekday() + day for day in range(7)]
    elif parts["weekday"]:
        ahead = _WEEKDAYS.index(parts["weekday"]) % 7 - today.weekday()
        furthest = 6 if parts["turn"].startswith(("this", "diese")) else 7
        days = range(-furthest, furthest + 1)
        offsets = [day for day in days if (day - ahead) % 7 == 0 and (not shift or day * shift > 0)]
    else:
        offsets = [_NEAR_DAYS[parts["near"]]]
    return [(today + timedelta(days=offset)).isoformat() for offset in offsets]


_UNITS = r"(?:day|week|month|year|hour|time)s?|minuten?|tag(?:en?)?|wochen?|monat(?:en?)?|jahr(?:en?)?|stunden?"
_SERIES = (
    rf"{MEETING}|minutes|(?:retro|retrospective|stand-?up|sync|review|note)s?|(?:week|dai)(?:ly|lies|lys)"
    r"|(?:committee|group|workshop)s?|jours? fixes?|ausschuss|gruppe"
    r"|entry|entries|1-1s?|notiz(?:en)?"
)
"""Kinds of meetings and notes."""
_SAYS_LATEST = re.compile("latest|newest|recent|last|neueste|letzte", re.IGNORECASE)
_LATEST = (
    rf"(?:\b(?P<newest>latest|newest|most recent|neueste[mnrs]?)\s+(?!\d(?!-1\b)|(?:{_UNITS})\b)"
    r"|(?:\A\W*|\b(?:the|our|my|at|for|from|in|of|since|d(?:as|e[mnr]|ie)|im|beim|seit|vom|zum|(?:mein|unser)(?:e[mnrs]?)?"
    rf"|{DECISIONS_HEADING}|{TASKS_HEADING})\s+)"
    rf"(?P<last>last|letzte[mnrs]?)\s+(?=(?:(?!(?:{_UNITS}|of|in|on|from|for|der|des|few)\b)[^\W\d][\w'’-]*\s+){{0,2}}"
    rf"[\w-]*(?:{_SERIES})\b))(?P<rest>.+)"
)


def is_kind_of_note(word: str) -> bool:
    """Return whether a word is a kind of meetings or notes, such as “retro”."""
    return re.fullmatch(_SERIES, word, re.IGNORECASE) is not None


def latest_of(query: Query) -> tuple[str, list[str]]:
    """Return an expression such as “latest” in a question, and the words after it that may name a series of notes.

    Nothing if the question names a date or asks how to do something. “Last” counts only if a kind of meeting or note
    follows within three words. “1:1” and the like are returned as “1-1”.
    """
    asked = " ".join(query.words)
    text = ONE_ON_ONE.sub("1-1", asked)
    match = re.search(_LATEST, text, re.IGNORECASE) if _SAYS_LATEST.search(text) else None
    if match is None or query.relative or _ASKS_HOW_TO.match(text) or next(_dates_in(asked), None):
        return "", []
    words = without_joined(match["rest"]).split()
    expression = match["newest"] or match["last"]
    is_german = expression.lower().startswith(("neu", "letzt"))
    weak = STOP_WORDS | ASKING_WORDS | (_GERMAN | _GERMAN_ELSEWHERE if is_german else frozenset())
    bare = [word.strip(f"{PUNCTUATION}()") for word in words if not _is_weak(word, weak)]
    strong = [word for word in bare if _LETTER.search(word) or word == "1-1"]
    return expression, strong


def without_dates(text: str) -> str:
    """Remove the dates from `text`."""
    for start, end in reversed(dict.fromkeys(match.span() for match in _matches_in(text))):
        text = f"{text[:start]} {text[end:]}"
    return text


KEYS = ("path", "tag", "type", "in", "before", "after")

_PART = re.compile(
    r'(?P<minus>(?<!\S)-(?="|[^\W\d]{2}|[^\x00-\u2122]))?'
    rf'(?:(?P<key>{"|".join(KEYS)}):)?(?:"(?P<quoted>[^"]*)"?|(?P<plain>[^\s"]+))',
    re.IGNORECASE,
)
_WORD = re.compile(r"\w", re.UNICODE)
_LETTER = re.compile(r"[^\W\d]")
_LONGEST_ECHO = 40
"""Maximum number of characters of a text without words that are repeated in the message about it."""
_OPENING = re.compile('-?"?')
"""The characters with which an excluded word or a phrase begins."""
_BARE_KEYS = frozenset(f"{key}:" for key in KEYS)

_GERMAN = frozenset(
    "auch aufs beim bist darf das dein deine deinem deinen deiner dem der diese diesem diesen dieser dürfen ein"
    " eine einem einen einer für fürs gab gemacht habe haben hatte hatten hattest ich ihre ihrem ihren ihrer im"
    " ist kann kannst keine keinen konnte konnten können mein meine meinem meinen meiner mich musste mussten"
    " möchte nur sehr sich sind sollte sollten und uns unser unsere unserem unseren unserer viel viele vielen vom"
    " von wann waren warum wegen welche welchem welchen welcher welches wem wen wer werden weshalb wie wieso"
    " wieviel wir wird wofür woher wohin wollte wollten womit worden worüber wurde wurden zum zur über".split()
)
"""Stop words of German that are not words of English: a question with one of them is German."""

_GERMAN_ELSEWHERE = frozenset(
    "ab am ans auf aus bei bin bis dann dass den des die dies doch du durch er es gibt hast hat ihm ihn ihnen"
    " ihr ins man mir mit nach ob oder oft sein seine sie um unter vor war will wo zu".split()
)
"""Its stop words that may mean something in English, as “die”, “war” and “MIT” do."""

ASKING_WORDS = frozenset(
    "already bereits currently describe described discuss discussed discussion explain explained many mention"
    " mentioned much muss musst müssen noch said say says schon soll sollen still summarise summarize summary"
    " talk talked tell think thought told yet".split()
)
"""Words that express the request rather than its subject; like stop words they count only if there are no others."""

_JOINED = re.compile(r"(?<=\w)['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
_NEGATED = re.compile(r"n['’]t\W*\Z", re.IGNORECASE)


def without_joined(text: str) -> str:
    """Remove possessive endings, and verbs that are joined to the word before: “Priya's”, “who's”, “we've”."""
    return _JOINED.sub("", text)


def _is_weak(word: str, weak: frozenset[str]) -> bool:
    """Return whether a word is one of some stop words, or a negated auxiliary verb, such as “isn't”."""
    return word.lower().strip(PUNCTUATION) in weak or _NEGATED.search(word) is not None


def without_stop_words(words: Sequence[str]) -> tuple[str, ...]:
    """Return the words that are not stop words, without joined endings."""
    is_german = any(_is_weak(word, _GERMAN) for word in words)
    stop_words = STOP_WORDS | _GERMAN | _GERMAN_ELSEWHERE if is_german else STOP_WORDS
    return tuple(word for word in map(without_joined, words) if not _is_weak(word, stop_words))


@lru_cache(maxsize=64)
def _strong(words: tuple[str, ...]) -> tuple[str, ...]:
    """Return the words that carry meaning, without joined endings; all words if none does."""
    rest = without_stop_words(words) or tuple(map(without_joined, words))
    return tuple(word for word in rest if not _is_weak(word, ASKING_WORDS)) or rest


SENTENCE = 4
"""Number of words from which a query is a sentence: phrases in quotation marks are then quoted, not required."""


@dataclass(frozen=True, slots=True)
class Query:
    """A parsed query: words and phrases to search for, words to exclude, and filters."""

    words: tuple[str, ...] = ()
    phrases: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    filters: Filters = field(default_factory=Filters)
    """The filters of the request, narrowed by those in the text."""
    problems: tuple[FilterProblem, ...] = ()
    """Unknown filters, and filters with an invalid date."""
    relative: tuple[str, ...] = ()
    """The expressions in the words that name days relative to today, such as “last week”."""
    days: str = ""
    """The days and months that they name, in ISO 8601."""
    newest: str = ""
    """The id of the note that “the latest” names; `days` is its date."""
    spellings: tuple[tuple[str, str], ...] = ()
    """Words of the question, each with its other spelling if the vault has both, such as “Mueller” and “Müller”."""
    prefix: str = ""
    """The last word if it is only the beginning of one."""

    @property
    def text(self) -> str:
        """Return the text to embed: the question without its operators."""
        return " ".join((*self.words, *self.phrases))

    @property
    def dated(self) -> str:
        """Return the text with the dates of the question; it has relative ones or others."""
        return self.days or self.text

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the words and phrases that carry meaning; stop words only if there are no others."""
        quoted_words = () if self.required_phrases else " ".join(self.phrases).split()
        return (*_strong((*self.words, *quoted_words)), *self.phrases)

    @property
    def last_word(self) -> str:
        """Return the last word, which may be a prefix while the user types; empty if it is not searched for, or ends a
        relative date.
        """
        terms = self.terms
        if not self.words or self.phrases or terms[-1] != self.words[-1] or self.text.endswith(self.relative):
            return ""
        return self.words[-1]

    @property
    def literals(self) -> tuple[str, ...]:
        """Return FTS5 strings of which a keyword match contains at least one: terms, their segments, and dates.

        A date with points or slashes, such as 12.3.2026, is also searched for as it is.
        The dates of a relative expression are one string, as a passage has one of them.
        """
        terms = self.terms
        others = (other for _, other in self.spellings)
        words = (*filter(_WORD.search, self._undated), *others, *indexed_words(" ".join(terms)))
        # July and Juli have the same stem in the index, and would count twice
        phrases = {phrase.replace("y", "i"): phrase for phrase in date_phrases(self.dated)}.values()
        dates = (*phrases, *date_words(self.dated))
        if self.relative:
            return (*map(quoted, dict.fromkeys(words)), f"({' OR '.join(map(quoted, dates))})")
        return tuple(map(quoted, dict.fromkeys((*words, *dates))))

    @property
    def _undated(self) -> tuple[str, ...]:
        """Return the terms without the numbers of dates, which are in many other texts."""
        terms = self.terms
        rest = without_dates(" ".join(terms)).split()
        return tuple(
            term
            for term in terms
            if term in rest or term in self.phrases or _LETTER.search(term) or re.search(r"[./]\d", term)
        )

    @property
    def marked(self) -> tuple[str, ...]:
        """Return the terms to mark in a passage: the dates as phrases, then the others. “03 12” may also be a time."""
        dates = (phrase for phrase in date_phrases(self.dated) if len(phrase) > len("03 12"))
        return (*dates, *self._undated, *(other for _, other in self.spellings))

    @property
    def required_phrases(self) -> tuple[str, ...]:
        """Return the phrases that every hit contains verbatim."""
        return self.phrases if len(self.words) < SENTENCE else ()

    @property
    def scope(self) -> Scope:
        """Return the filters, required phrases and excluded words, which apply inside both legs."""
        return Scope(self.filters, self.required_phrases, self.without)


def parse_query(text: str, filters: Filters | None = None, *, now: datetime | None = None) -> Query:
    """Parse user input. A filter without a value, with an invalid date, or after a minus, is ignored.

    `now` is in local time; without a time zone each date is interpreted with its own offset from UTC.
    """
    words: list[str] = []
    phrases: list[str] = []
    without: list[str] = []
    problems: list[FilterProblem] = []
    narrowed = filters or Filters()
    for match in _PART.finditer(encodable(text)):
        value = (match["quoted"] if match["quoted"] is not None else match["plain"]).strip()
        if match["key"]:
            if not match["minus"]:
                narrowed = _narrow(narrowed, match["key"].lower(), value, now or datetime.now(), problems)
        elif not (_WORD.search(value) or segments(value)) or value.lower() in _BARE_KEYS:
            continue
        elif match["minus"]:
            without.append(value)
        elif match["quoted"] is not None:
            phrases.append(value)
        else:
            words.append(value)
            problems += _unknown_key(value)
    asked = text.strip()[:_LONGEST_ECHO]
    is_empty = not (words or phrases or without or problems or narrowed.any_set)
    if is_empty and not _OPENING.fullmatch(asked):
        missing = "add a value" if _BARE_KEYS.issuperset(text.lower().split()) else "there is no word to search for"
        problems.append(FilterProblem(asked, missing))
    relative = relative_dates(" ".join(words), (now or datetime.now()).date())
    return Query(tuple(words), tuple(phrases), tuple(without), narrowed, tuple(problems), *relative)


OTHER_KEYS = {
    "folder": "path", "file": "path", "dir": "path", "tags": "tag", "kind": "type", "source": "in",
    "since": "after", "from": "after", "until": "before", "to": "before", "date": "after", "on": "after",
    **dict.fromkeys(("is", "has", "status", "author", "title", "subject", "content", "line", "block", "section"), ""),
}  # fmt: skip
"""Filters of other programs: the names of these filters there, and filters that Donna does not have."""

_KEYED = re.compile(r"([A-Za-z]{2,10}):(?!//)(\S+)")


def _unknown_key(word: str) -> list[FilterProblem]:
    """Report a word that looks like a filter with a misspelt key, or with a key of another program."""
    match = _KEYED.fullmatch(word)
    if match is None:
        return []
    key = match[1].lower()
    meant = OTHER_KEYS[key] if key in OTHER_KEYS else nearest(key, KEYS)
    if not meant and key not in OTHER_KEYS:
        return []
    near = f"{meant}:{match[2]}" if meant else ""
    return [FilterProblem(word, "unknown filter, searched for as a word", near)]


def _narrow(filters: Filters, key: str, value: str, now: datetime, problems: list[FilterProblem]) -> Filters:
    if not value:
        return filters
    if key == "path":
        return replace(filters, path_parts=(*filters.path_parts, value))
    if key == "tag":
        return replace(filters, tags=(*filters.tags, value))
    if key == "type":
        return replace(filters, note_type=value)
    if key == "in":
        return replace(filters, sources=(*filters.sources, value.lower()))
    moment = parse_day(value, now)
    if moment is None:
        problems.append(FilterProblem(f"{key}:{value}", "this is not a date", f"{key}:{now:%Y-%m-%d}"))
        return filters
    return replace(filters, before=moment) if key == "before" else replace(filters, after=moment)


def parse_day(value: str, now: datetime) -> float | None:
    """Return local midnight (Unix time) of `2026-03-12`, `2026-03`, `2026`, `today`, `yesterday`, `7d`; else None."""
    midnight = now.replace(hour=0, minute=0, second=0, microsecond=0)
    folded = value.lower()
    if folded in ("today", "yesterday"):
        return (midnight - timedelta(days=folded == "yesterday")).timestamp()
    if re.fullmatch(r"\d{1,4}d", folded):
        return (midnight - timedelta(days=int(folded[:-1]))).timestamp()
    for pattern in ("%Y-%m-%d", "%Y-%m", "%Y"):
        try:
            return datetime.strptime(value, pattern).replace(tzinfo=now.tzinfo).timestamp()
        except (ValueError, OverflowError):
            continue
    return None
