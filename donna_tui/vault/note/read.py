"""Parse the frontmatter of a note, and derive title, aliases, tags, type, date and the words of other properties."""

from __future__ import annotations

import datetime
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from pathlib import PurePosixPath
from typing import Any

from donna_tui.safety.classify import Sensitivity, classify
from donna_tui.text.dates import MONTH, month_number
from donna_tui.text.lines import each_line

LARGEST_BLOCK = 64 * 1024
"""Maximum number of characters of frontmatter that are parsed as a whole; a larger block is data left by a program."""

DRAFT_KEY = "donna_draft"
"""Frontmatter key of a note that Donna wrote and nobody has approved yet."""

MAX_TAGS = 1_000

_OPENING = re.compile(r"---[ \t]*(?:\r\n?|\n|\Z)")
_CLOSING = re.compile(r"(?:---|\.\.\.)[ \t]*")
_BLANK_LINE = re.compile(r"[ \t]*[\r\n]")
_SIMPLE_LINE = re.compile(r"(?:title|aliases|tags|type|date|event_start|created|donna\w*):[ \t]+\S.*", re.IGNORECASE)
_INLINE_TAG = re.compile(r"(?<!\S)#([\w/-]{1,100})")
_BETWEEN_TAGS = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The frontmatter of a note. The body begins at offset `body_start` of its text.

    `data` is JSON-serialisable. `problem` says why the block cannot be parsed or is ambiguous, else it is empty; the
    block is excluded from the body either way. `present` is False for a note without frontmatter.
    """

    data: dict[str, Any]
    body_start: int
    problem: str
    present: bool

    def sensitivity(self, text: str, key: str) -> Sensitivity:
        """Classify the note with this frontmatter and text; `key` marks a note as sensitive."""
        return classify(self.data if self.present else None, text, key=key, broken=bool(self.problem))


ABSENT = Frontmatter({}, 0, "", False)


def parse_frontmatter(text: str) -> Frontmatter:
    """Parse the frontmatter of `text`, which excludes any byte order mark. Never raises; bounded on any input.

    An unterminated block is body, and so is prose between two thematic breaks.
    """
    opening = _OPENING.match(text)
    if not opening:
        return ABSENT
    for start, end, after in each_line(text, opening.end()):
        if _CLOSING.fullmatch(text, start, end):
            return _parse_block(text[opening.end() : start], after)
    return ABSENT


def is_by_donna(data: Mapping[str, Any]) -> bool:
    """Return whether this frontmatter is that of a note that Donna wrote, a draft or an approved one."""
    return data.get("autowritten_by") == "donna" or bool(data.get("donna_id"))


def title_of(data: Mapping[str, Any], path: str) -> str:
    """Return the title to show, on one line: the frontmatter's if it is text or a number, else the file name."""
    title = frontmatter_value(data, "title")
    shown = _one_row(title) if _is_word(title) else ""
    return shown or _one_row(PurePosixPath(path).stem) or path


def aliases_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    return _unique(_one_row(alias) for alias in _words(data, "aliases", "alias"))


def tags_of(data: Mapping[str, Any], body: str) -> tuple[str, ...]:
    """Return the tags of the note without `#`, unique regardless of case: from the frontmatter, then from the body."""
    listed = (tag for words in _words(data, "tags", "tag") for tag in _BETWEEN_TAGS.split(words))
    inline = (match[1] for match in _INLINE_TAG.finditer(body))
    return _unique(tag for raw in chain(listed, inline) if (tag := raw.strip("#/ ")) and not tag.isdecimal())


_NO_TEXT = re.compile(
    r"title|alias(?:es)?|tags?|type|cssclass(?:es)?|permalink|(?:donna|autowritten).*"
    r"|(?:date|last)?[ _-]*(?:modified|updated|created|changed|edited|mod|mtime|ctime)(?:[ _-]*(?:at|on|date|time))?"
    r"|(?:.*[_-])?(?:id|uid|uuid|key|hash)",
    re.IGNORECASE,
)
"""Names of properties that are found otherwise, or that are no text."""
_LINK = re.compile(r"\[\[(?:[^\]|]*/)?([^\]|/]*)(?:\|([^\]]*))?\]\]")
_WORD = re.compile(r"[^\W\d_]+(?:['’.&-][^\W\d_]+)*")
_CODE = re.compile(
    r"(?!\d{4}[-./]\d\d?(?:[-./]\d\d?)?(?:\Z|T)|\d\d?[-./]\d\d?[-./]\d{2,4}\Z|[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-)"
    r"(?=(?:\D*\d){3})(?=(?:[\W_]*[^\W_]){6})[^\W_][\w./-]*"
)
"""A serial number or the like: six letters and digits or more, three of them digits, but no date or UUID."""
_KEYED = re.compile(
    r"\d{4}-(?:0[1-9]|1[0-2])(?:-(?:0[1-9]|[12]\d|3[01]))?|[^\s@/:]+@[^\s@/:]+\.\w+"
    r"|(?!\d\d?[-./]\d\d?[-./]\d{2,4}\Z)(?=(?:\D*\d){7})[+(0][\d ()/.–-]{6,24}"
)
"""A day or a month, an e-mail address or a phone number."""
_AROUND_WORDS = "\"'“”‘’()[]{}<>*,;:!?."
LONGEST_PROPERTY, LONGEST_PROPERTIES, MAX_KEYED = 300, 600, 4
"""Maximum number of characters of one property that are read, and of all; and of days and the like of one property."""


def properties_of(data: Mapping[str, Any]) -> str:
    """Return the words of the text properties, such as an author, and the numbers that identify something, such as an
    ISBN. Days, months, phone numbers and e-mail addresses come with the name of their property, such as a birthday.
    Other numbers, URLs and ids are left out.
    """
    texts = (_LINK.sub(r"\1 \2", text) for _, values in text_properties(data) for text in values)
    words = (part.strip(_AROUND_WORDS) for text in texts for part in text.split())
    found = (word for word in words if _WORD.fullmatch(word) or _CODE.fullmatch(word))
    keyed = (
        (key, [value for value in values if _KEYED.fullmatch(value)][:MAX_KEYED])
        for key, values in text_properties(data)
        if key.lower() not in DATE_KEYS
    )
    named = (" ".join((key, *listed)) for key, listed in keyed if listed)
    return " ".join((*found, *named))[:LONGEST_PROPERTIES]


def text_properties(data: Mapping[str, Any]) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Yield the properties that are not found otherwise, with their values."""
    for key, value in data.items():
        if not _NO_TEXT.fullmatch(key):
            yield key, tuple(str(item)[:LONGEST_PROPERTY] for item in _items(value) if _is_word(item))


def note_type_of(data: Mapping[str, Any]) -> str:
    """Return the `type` of the note on one line, or an empty string."""
    note_type = frontmatter_value(data, "type")
    return _one_row(note_type) if _is_word(note_type) else ""


def _parse_block(block: str, body_start: int) -> Frontmatter:
    if len(block) > LARGEST_BLOCK:
        problem = f"the frontmatter is larger than {LARGEST_BLOCK // 1024} KiB; only its plain lines are read"
        return Frontmatter(_simple_lines(block), body_start, problem, True)
    from donna_tui.vault.note.yaml import YamlError, load_yaml  # imports PyYAML, not needed for an unchanged vault

    could_be_prose = bool(_BLANK_LINE.match(block))
    try:
        loaded = load_yaml(block)
    except YamlError as error:
        where = "" if error.line is None else f" (line {error.line + 2})"
        problem = f"the frontmatter {error}{where}"
        return ABSENT if could_be_prose else Frontmatter({}, body_start, problem, True)
    if loaded.value is None:
        return Frontmatter({}, body_start, "", True)
    if isinstance(loaded.value, dict):
        problem = "the frontmatter has the same key twice" if loaded.repeats_keys else ""
        return Frontmatter(loaded.value, body_start, problem, True)
    if could_be_prose or isinstance(loaded.value, str):
        return ABSENT
    return Frontmatter({}, body_start, "the frontmatter is not a list of “key: value” lines", True)


def _simple_lines(block: str) -> dict[str, Any]:
    """Parse the top-level lines of a block that is too large to parse whole, each line on its own."""
    from donna_tui.vault.note.yaml import YamlError, load_yaml

    data: dict[str, Any] = {}
    for start, end, _ in each_line(block):
        line = _SIMPLE_LINE.fullmatch(block, start, min(end, start + 1_000))
        if line and len(data) < MAX_TAGS:
            try:
                data |= load_yaml(line.group()).value
            except YamlError:
                continue
    return data


def frontmatter_value(data: Mapping[str, Any], *names: str) -> Any:
    """Return the value of the first key that equals one of `names` regardless of case."""
    return next((value for key, value in data.items() if key.casefold() in names), None)


def _words(data: Mapping[str, Any], *names: str) -> Iterator[str]:
    for item in _items(frontmatter_value(data, *names)):
        if _is_word(item):
            yield str(item)


def _items(value: object) -> list[object]:
    return value if isinstance(value, list) else [value]


def _is_word(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _one_row(value: object) -> str:
    return " ".join(str(value).split())


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for word in words:
        if word:
            seen.setdefault(word.casefold(), word)
        if len(seen) == MAX_TAGS:
            break
    return tuple(seen.values())


DATE_KEYS = ("date", "event_start", "created")
"""Frontmatter keys that date a note. The first one that holds a date wins."""

_MONTH = rf"(?P<month>{MONTH})\.?"
_YEAR = r"(?P<year>(?:19|20)\d\d)"
_DAY = r"(?P<day>[12]\d|3[01]|0?[1-9])"
_TIME = r"(?:[01]\d|2[0-3])[0-5]\d(?:[0-5]\d)?"

_IN_NAME = tuple(
    re.compile(form, re.IGNORECASE)
    for form in (
        rf"(?<![\d.-]){_YEAR}(?P<mark>[-_./])(?P<number>0[1-9]|1[0-2])(?P=mark)(?P<day>0[1-9]|[12]\d|3[01])(?!\d)",
        rf"(?<!\d){_YEAR}(?P<number>0[1-9]|1[0-2])(?P<day>0[1-9]|[12]\d|3[01])(?:{_TIME})?(?!\d)",
        rf"(?<![v\d.]){_DAY}\.(?P<number>0?[1-9]|1[0-2])\.{_YEAR}(?!\d)",
        rf"(?<![\d.-])(?P<day>1[3-9]|2\d|3[01])-(?P<number>0?[1-9]|1[0-2])-{_YEAR}(?!-?\d)",
        rf"(?<![\d.-])(?P<number>0?[1-9]|1[0-2])-(?P<day>1[3-9]|2\d|3[01])-{_YEAR}(?!-?\d)",
        rf"(?<![\w.]){_DAY}(?:st|nd|rd|th|\.)?[ _-]+(?:of )?{_MONTH},?[ _-]+{_YEAR}(?!\d)",
        rf"(?<!\w){_MONTH}[ _-]+{_DAY}(?:st|nd|rd|th)?,?[ _-]+{_YEAR}(?!\d)",
        rf"(?<!\d){_YEAR}-?w(?P<week>0[1-9]|[1-4]\d|5[0-3])(?!\d)",
        rf"(?<![\d.-]){_YEAR}-(?P<number>0[1-9]|1[0-2])(?![\d-])",
    )
)
"""`2026-03-12`, `20260312` (a time of day may follow), `12.03.2026`, `24-11-2026`, `11-24-2026`, `12 March 2026`,
`March 12, 2026`, `2026-W11`, `2026-03`. Both numbers of `12-03-2026` may be the month, so that it is no date."""

_NESTED = re.compile(rf"(?:^|/){_YEAR}/(?P<number>0[1-9]|1[0-2])/(?P<day>0[1-9]|[12]\d|3[01])(?!\d)[^/]*$")
"""A daily note in nested folders: `Journal/2026/03/12.md`."""


def note_date(frontmatter: Mapping[str, Any], path: str, mtime: float) -> float:
    """Return the date of a note, Unix time. A day is its local noon, to stay that day in other time zones."""
    for key in DATE_KEYS:
        found = _moment(frontmatter_value(frontmatter, key))
        if found is not None:
            return found
    day = next(_days_in(path), None)
    at = None if day is None else _timestamp(_noon(day))
    return mtime if at is None else at


def iso_date(at: float | None) -> str:
    """Format the local day of a moment as 2026-03-12, or return an empty string if there is none."""
    try:
        return datetime.datetime.fromtimestamp(at).date().isoformat() if at else ""
    except (ValueError, OverflowError, OSError):
        return ""


def _moment(value: object) -> float | None:
    """Convert a frontmatter value to a moment, of a list the first; None if it is not a date."""
    while isinstance(value, list):  # unquoted `[[2026-03-12]]` is a list in a list
        value = value[0] if value else None
    if isinstance(value, bool) or not isinstance(value, (str, int)):
        return None
    text = str(value).strip()[:100]
    try:
        moment = datetime.datetime.fromisoformat(text)
    except ValueError:
        day = next(_days_in(text), None)
        return None if day is None else _timestamp(_noon(day))
    is_day = len(text) <= len("2026-03-12")
    return _timestamp(_noon(moment.date()) if is_day else moment)


def _days_in(text: str) -> Iterator[datetime.date]:
    """Yield the valid days that a file name or a value contains, the most specific form first."""
    name = text.rsplit("/", 1)[-1]
    for form, within in (*((pattern, name) for pattern in _IN_NAME), (_NESTED, text)):
        for match in form.finditer(within):
            day = _day(match.groupdict())
            if day is not None:
                yield day


def _day(parts: Mapping[str, str | None]) -> datetime.date | None:
    year = int(parts["year"] or 0)
    try:
        if week := parts.get("week"):
            return datetime.date.fromisocalendar(year, int(week), 1)
        number = parts.get("number")
        month = int(number) if number else month_number(str(parts["month"]))
        return datetime.date(year, month, int(parts.get("day") or 1))
    except ValueError:
        return None


def _noon(day: datetime.date) -> datetime.datetime:
    return datetime.datetime.combine(day, datetime.time(12))


def _timestamp(moment: datetime.datetime) -> float | None:
    try:
        return moment.timestamp()
    except (ValueError, OverflowError, OSError):
        return None
