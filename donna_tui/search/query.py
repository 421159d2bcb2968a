"""Parse the query syntax: words, "exact phrases", -words and `key:value` filters. No input is an error."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from donna_tui.index.keyword import quoted
from donna_tui.text.dates import MONTH, MONTHS, month_number
from donna_tui.text.fuzzy import nearest
from donna_tui.text.words import segments, spaced
from donna_tui.types.search import FilterProblem, Filters

_MONTH = rf"(?P<month>{MONTH})\.?"
_DAY = r"(?P<day>0?[1-9]|[12]\d|3[01])(?:st|nd|rd|th)?"
_ANY_YEAR = r"(?:19|20)\d\d"
_YEAR = rf"(?P<year>{_ANY_YEAR})"
_FORMS = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"\b{_MONTH}\s+{_DAY}\b(?:,?\s+{_YEAR}\b)?",
        rf"\b{_DAY}\.?\s+(?:of\s+)?{_MONTH}(?=\W|$)(?:,?\s+{_YEAR}\b)?",
        rf"\b{_MONTH},?\s+{_YEAR}\b",
        rf"\b{_YEAR}[-/](?P<number>0[1-9]|1[0-2])(?:[-/](?P<day>0[1-9]|[12]\d|3[01]))?\b",
        rf"\b{_DAY}\.\s?(?P<number>0?[1-9]|1[0-2])\.\s?{_YEAR}\b",
    )
)


def date_phrases(text: str) -> tuple[str, ...]:
    """Return the phrases by which the dates in `text` are found in a keyword index that treats hyphens as spaces.

    They can also be found in other places: “10 13” is a date and a time. `date_pattern` is exact.
    """
    return tuple(dict.fromkeys(phrase for parts in _dates_in(text) for phrase in _names(*parts)))


def date_words(text: str) -> tuple[str, ...]:
    """Return the words by which the keyword index finds notes of the dates in `text` (`Document.search_title`)."""
    return tuple(dict.fromkeys(_date_word(*parts) for parts in _dates_in(text)))


def _date_word(month: str, name: str, day: int, year: str) -> str:
    return f"{f'{year}y' if year else ''}{month}m{f'{day:02}d' if day else ''}"


def _names(month: str, name: str, day: int, year: str) -> Iterator[str]:
    if day:
        yield f"{year} {month} {day:02}" if year else f"{month} {day:02}"
        yield f"{name} {day}"
        yield f"{day} {name}"
    elif year:
        yield f"{year} {month}"
        yield f"{name} {year}"


def date_pattern(text: str) -> re.Pattern[str] | None:
    """Return the pattern of the dates in `text` in words joined by spaces, in lower case; None if there are none.

    A day of another year than that of the question does not match, nor a day without a year in a note whose own date
    (`date_words`) is of another year, nor a time such as 10:13.
    """
    forms = dict.fromkeys(form for parts in _dates_in(text) for form in _forms_of(*parts))
    return re.compile(rf"\b(?:{'|'.join(forms)})\b") if forms else None


def other_year_pattern(text: str) -> re.Pattern[str] | None:
    """Return the pattern of the days in `text` that name a year, in any passage of a note of another year."""
    forms = [
        rf"(?={_own_date_of_another(year)}).*\b(?:{'|'.join(_forms_of(month, name, day, ''))})"
        for month, name, day, year in _dates_in(text)
        if day and year
    ]
    return re.compile(rf"\A(?:{'|'.join(forms)})\b") if forms else None


def _own_date_of_another(year: str) -> str:
    """Return the pattern of a text with the `date_words` of another year."""
    return rf".*\b(?!{year}){_ANY_YEAR}y\d"


def _forms_of(month: str, name: str, day: int, year: str) -> Iterator[str]:
    yield _date_word(month, name, day, year)
    if day:
        yield f"{year or _ANY_YEAR} {month} {day:02}"
        if not year:
            yield f"{name} {day}|{day} {name}"
            return
        yield f"(?:{name} {day}|{day} {name}) {year}"
        yield rf"\A(?!{_own_date_of_another(year)}).*\b(?:{name} {day}|{day} {name})\b(?! {_ANY_YEAR}\b)"
    elif year:
        yield f"(?:{year} {month}|{name} {year})"


def _dates_in(text: str) -> Iterator[tuple[str, str, int, str]]:
    """Yield the dates in `text`; not a month as well as a day of it, as in “13 October 2023”."""
    taken: set[int] = set()
    for form in _FORMS:
        for match in form.finditer(text):
            if taken.isdisjoint(range(*match.span())):
                taken.update(range(*match.span()))
                yield _date_parts(match)


def _date_parts(match: re.Match[str]) -> tuple[str, str, int, str]:
    """Return the number and the name of the month, the day and the year; 0 and an empty text if they are not named."""
    parts = match.groupdict()
    month = int(parts.get("number") or 0) or month_number(str(parts["month"]))
    return f"{month:02}", MONTHS[month - 1].lower(), int(parts.get("day") or 0), parts.get("year") or ""


def without_dates(text: str) -> str:
    """Remove the dates from `text`."""
    for form in _FORMS:
        text = form.sub(" ", text)
    return text


KEYS = ("path", "tag", "type", "in", "before", "after")

_PART = re.compile(
    r'(?P<minus>(?<!\S)-(?="|[^\W\d]{2}|[^\x00-\u2122]))?'
    rf'(?:(?P<key>{"|".join(KEYS)}):)?(?:"(?P<quoted>[^"]*)"?|(?P<plain>[^\s"]+))',
    re.IGNORECASE,
)
_WORD = re.compile(r"\w", re.UNICODE)
_LETTER = re.compile(r"[^\W\d]")
_BARE_KEYS = frozenset(f"{key}:" for key in KEYS)

STOP_WORDS = frozenset(
    "a about am an and any are as at be been being but by can could did do does doing done for from had has have having"
    " he her hers him his how i if in into is it its just me my of on or our ours she should so some such than that the"
    " their them then there these they this those to too us was we were what when where which while who whom whose why"
    " will with would you your yours".split()
)

ASKING_WORDS = frozenset(
    "describe described discuss discussed discussion explain explained mention mentioned said say says summarise"
    " summarize summary talk talked tell think thought told".split()
)
"""Words that express the request rather than its subject; like stop words they count only if there are no others."""

_JOINED = re.compile(r"(?<=\w)['’](?:s|re|ve|ll|d|m)\b", re.IGNORECASE)
_NEGATED = re.compile(r"n['’]t\W*\Z", re.IGNORECASE)


def without_joined(text: str) -> str:
    """Remove possessive endings, and verbs that are joined to the word before: “Priya's”, “who's”, “we've”."""
    return _JOINED.sub("", text)


def _is_weak(word: str, weak: frozenset[str]) -> bool:
    """Return whether a word is one of some stop words, or a negated auxiliary verb, such as “isn't”."""
    return word.lower().strip("?!.,;:") in weak or _NEGATED.search(word) is not None


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

    @property
    def text(self) -> str:
        """Return the text to embed: the question without its operators."""
        return " ".join((*self.words, *self.phrases))

    @property
    def terms(self) -> tuple[str, ...]:
        """Return the words and phrases that carry meaning; stop words only if there are no others."""
        quoted_words = () if self._demanding else tuple(word for phrase in self.phrases for word in phrase.split())
        words = tuple(map(without_joined, (*self.words, *quoted_words)))
        for weak in (STOP_WORDS | ASKING_WORDS, STOP_WORDS):
            strong = tuple(word for word in words if not _is_weak(word, weak))
            if strong:
                break
        return (*(strong or words), *self.phrases)

    @property
    def _demanding(self) -> bool:
        return len(self.words) < SENTENCE

    @property
    def begun(self) -> str:
        """Return the last word, which may be incomplete while the user types; empty if it is not searched for."""
        terms = self.terms
        return self.words[-1] if self.words and not self.phrases and terms[-1] == self.words[-1] else ""

    @property
    def literals(self) -> tuple[str, ...]:
        """Return FTS5 strings of which a keyword match contains at least one: terms, their segments, and dates.

        The numbers of a date are not searched for by themselves, as they are in many other texts. A date with points,
        such as 12.3.2026, is also searched for as it is, and so is a possessive form.
        """
        terms = self.terms
        rest = without_dates(" ".join(terms)).split()
        words = (
            term
            for term in terms
            if _WORD.search(term) and (term in rest or _LETTER.search(term) or "." in term.rstrip("."))
        )
        owned = (word for word in self.words if (bare := without_joined(word)) != word and bare in terms)
        wanted = dict.fromkeys(
            (*words, *owned, *segments(" ".join(terms)), *date_phrases(self.text), *date_words(self.text))
        )
        return tuple(map(quoted, wanted))

    @property
    def required(self) -> tuple[str, ...]:
        """Return FTS5 expressions that every hit matches, for its required phrases; the index contains stems."""
        return tuple(map(_indexed, self.demanded))

    @property
    def demanded(self) -> tuple[str, ...]:
        """Return the phrases that every hit contains verbatim."""
        return self.phrases if self._demanding else ()

    @property
    def forbidden(self) -> tuple[str, ...]:
        """Return FTS5 expressions that no hit matches."""
        return tuple(map(_indexed, self.without))


def _indexed(text: str) -> str:
    """Build an FTS5 expression for the indexed form of a text: its words, and the segments of unspaced scripts."""
    pairs = segments(text)
    if not pairs:
        return quoted(text)
    rest = spaced(text)
    parts = [*map(quoted, pairs), *([quoted(rest)] if _WORD.search(rest) else [])]
    return f"({' AND '.join(parts)})"


def parse_query(text: str, filters: Filters | None = None, *, now: datetime | None = None) -> Query:
    """Parse user input. A filter without a value, with an invalid date, or after a minus, is ignored.

    `now` is in local time; without a time zone each date is interpreted with its own offset from UTC.
    """
    words: list[str] = []
    phrases: list[str] = []
    without: list[str] = []
    problems: list[FilterProblem] = []
    narrowed = filters or Filters()
    for match in _PART.finditer(readable(text)):
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
    return Query(tuple(words), tuple(phrases), tuple(without), narrowed, tuple(problems))


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


def readable(text: str) -> str:
    """Replace unpaired surrogates by `?`, because SQLite and the model accept none."""
    return text.encode("utf-8", "replace").decode()


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
