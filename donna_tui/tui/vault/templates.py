"""Templates for new notes, from the vault's folder for templates, with title, date and time filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from donna_tui.types.notes import NoteRow

FOLDER = "templates"

_FIELD = re.compile(r"\{\{\s*(title|date|time)\s*(?::([^{}\n]{1,60}))?\s*\}\}", re.IGNORECASE)
_TOKEN = re.compile(r"\[([^\]]*)\]|YYYY|YY|MMMM|MMM|MM|M|DD|D|dddd|ddd|HH|H|hh|mm|ss|A|a|WW")
_PATTERNS = {
    "YYYY": "%Y",
    "YY": "%y",
    "MMMM": "%B",
    "MMM": "%b",
    "MM": "%m",
    "DD": "%d",
    "dddd": "%A",
    "ddd": "%a",
    "HH": "%H",
    "hh": "%I",
    "mm": "%M",
    "ss": "%S",
    "A": "%p",
    "WW": "%V",
}
_USUAL = {"date": "YYYY-MM-DD", "time": "HH:mm"}


def templates_of(notes: Iterable[NoteRow]) -> list[str]:
    return sorted(note.path for note in notes if note.path.split("/")[0].casefold() == FOLDER and "/" in note.path)


def fill(template: str, *, title: str, now: datetime) -> str:
    """Fill a template for a new note. The fields and formats are those of Obsidian's templates (moment.js tokens)."""

    def value(found: re.Match[str]) -> str:
        name = found[1].lower()
        return title if name == "title" else formatted(now, found[2] or _USUAL[name])

    return _FIELD.sub(value, template)


def formatted(now: datetime, pattern: str) -> str:
    """Format a time with moment.js tokens; other text is copied."""

    def value(found: re.Match[str]) -> str:
        token = found[0]
        if token.startswith("["):
            return found[1]
        single = {"M": now.month, "D": now.day, "H": now.hour, "a": now.strftime("%p").lower()}
        return str(single[token]) if token in single else now.strftime(_PATTERNS[token])

    return _TOKEN.sub(value, pattern)
