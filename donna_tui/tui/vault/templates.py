"""Templates for new notes, from the vault's folder for templates, with title, date and time filled in."""

from __future__ import annotations

import re
from collections.abc import Iterable
from datetime import datetime

from donna_tui.types.notes import NoteRow
from donna_tui.vault.obsidian import formatted

FOLDER = "templates"

_FIELD = re.compile(r"\{\{\s*(title|date|time)\s*(?::([^{}\n]{1,60}))?\s*\}\}", re.IGNORECASE)
_USUAL = {"date": "YYYY-MM-DD", "time": "HH:mm"}


def templates_of(notes: Iterable[NoteRow]) -> list[str]:
    return sorted(note.path for note in notes if note.path.split("/")[0].casefold() == FOLDER and "/" in note.path)


def fill(template: str, *, title: str, now: datetime) -> str:
    """Fill a template for a new note. The fields and formats are those of Obsidian's templates (moment.js tokens)."""

    def value(match: re.Match[str]) -> str:
        name = match[1].lower()
        return title if name == "title" else formatted(now, match[2] or _USUAL[name])

    return _FIELD.sub(value, template)
