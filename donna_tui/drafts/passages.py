"""Collect the passages that a draft may cite: hits and notes of the index, numbered in the order of their addition."""

from __future__ import annotations

import datetime
import json
import math
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from donna_tui.index.database import Database
from donna_tui.types.drafts import Evidence
from donna_tui.types.search import ME, Hit, MemorySource
from donna_tui.vault.note.read import DRAFT_KEY
from donna_tui.vault.obsidian import is_template

LONGEST_TEXT = 4_000

_IS_NOTE = f"source_type = '{MemorySource.VAULT.value}' AND user_id = '{ME}' AND deleted_at IS NULL"
_KEYS = (
    "json_extract(metadata_json, '$.frontmatter.idempotency_key'),"
    " json_extract(metadata_json, '$.frontmatter.donna_id')"
)
"""The keys of the occasion in the frontmatter of a draft, and of an approved note."""


@dataclass(slots=True)
class Passages:
    """Collect evidence.

    A passage that was added before keeps its number; `private` are those that must stay on this machine.
    """

    taken: list[Evidence] = field(default_factory=list)
    private: set[int] = field(default_factory=set)
    _numbers: dict[tuple[str, int, int, str], int] = field(default_factory=dict)

    def add_hits(self, hits: Iterable[Hit]) -> list[Evidence]:
        return [
            self.add(Evidence(
                number=0, source_type=hit.source_type, path=hit.path, title=hit.title, heading_path=hit.heading_path,
                start_line=hit.start_line, end_line=hit.end_line, text=hit.content, score=hit.score,
            ), sensitive=hit.sensitive)
            for hit in hits
        ]  # fmt: skip

    def add(self, passage: Evidence, *, sensitive: bool) -> Evidence:
        """Add one passage under its own number."""
        place = (passage.path, passage.start_line, passage.end_line, passage.text[:LONGEST_TEXT])
        known = self._numbers.get(place)
        if known is not None:
            return self.taken[known - 1]
        numbered = replace(passage, number=len(self.taken) + 1, text=passage.text[:LONGEST_TEXT])
        self.taken.append(numbered)
        self._numbers[place] = numbered.number
        if sensitive:
            self.private.add(numbered.number)
        return numbered


def is_draft(metadata: dict[str, Any]) -> bool:
    """Check whether the metadata of a document marks an unapproved draft."""
    front = metadata.get("frontmatter")
    return isinstance(front, dict) and bool(front.get(DRAFT_KEY))


@dataclass(frozen=True, slots=True)
class IndexedNote:
    """A note as the index has it. `heading` is the one below which all of its passages are, if there is one.

    Of a running note, with a section for each meeting, `section` is the day of one of them; it is also the note's date.
    Of a daily note, it is the heading of the section about a meeting, as is `title`.
    """

    path: str
    title: str
    modified_at: float
    front: dict[str, Any]
    sensitive: bool
    heading: str = ""
    section: datetime.date | str | None = None


_FIELDS = " OR ".join(f"content GLOB '*{field}*'" for field in ("{{date", "{{time", "{{title", "<% tp.", "<%[*] "))
"""The condition for a passage with fields of Obsidian's templates or of Templater."""


def approved_notes(
    database: Database,
    templates: Collection[str] = (),
    dated: tuple[float, float] = (-math.inf, math.inf),
    folder: str = "",
) -> Iterator[IndexedNote]:
    """Yield the notes of the index without drafts and templates; `templates` are folders of templates.

    With `dated`, those whose date is between two Unix times; with `folder`, those below it.
    """
    for path, title, modified_at, metadata, sensitive, heading, has_fields in database.rows(
        "SELECT source_id, title, modified_at, metadata_json, sensitive, (SELECT min(top)"  # noqa: S608
        " FROM (SELECT coalesce(json_extract(heading_path, '$[0]'), '') AS top FROM memory_chunks"
        " WHERE document_id = d.id) HAVING min(top) = max(top)), json_extract(metadata_json, '$.frontmatter.type') ="
        f" 'meeting' AND EXISTS (SELECT 1 FROM memory_chunks WHERE document_id = d.id AND ({_FIELDS}))"
        f" FROM memory_documents d WHERE {_IS_NOTE} AND dated_at >= ?1 AND dated_at < ?2"
        " AND substr(source_id, 1, length(?3)) = ?3 ORDER BY source_id",
        (*dated, f"{folder}/" if folder else ""),
    ):
        known = json.loads(metadata or "{}")
        if not (is_draft(known) or is_template(path, templates, has_fields=bool(has_fields))):
            front = known.get("frontmatter")
            known_front = front if isinstance(front, dict) else {}
            yield IndexedNote(path, title or "", modified_at, known_front, bool(sensitive), heading or "")


def notes_of_key(database: Database, key: str) -> list[str]:
    """Return the paths of the notes that were written for this occasion."""
    sql = f"SELECT source_id FROM memory_documents WHERE {_IS_NOTE} AND ? IN ({_KEYS}) ORDER BY source_id"  # noqa: S608
    return database.column(sql, (key,))


def paths_of_keys(database: Database, keys: Sequence[str]) -> dict[str, str]:
    wanted = f"{_IS_NOTE} AND k.value IN ({_KEYS})"
    sql = f"SELECT k.value, source_id FROM memory_documents, json_each(?) k WHERE {wanted}"  # noqa: S608
    return dict(database.rows(sql, (json.dumps(keys),)))


def is_noted(database: Database, event_id: str, series_id: str, start: float) -> bool:
    """Check whether a note names this calendar event, or one of the same series that starts in the same minute."""
    front = "json_extract(metadata_json, '$.frontmatter.{}')"
    event, series, begins = (front.format(name) for name in ("calendar_event_id", "series_id", "event_start"))
    same = f"({event} = ? OR (? != '' AND {series} = ? AND unixepoch({begins}) / 60 = ?))"
    sql = f"SELECT 1 FROM memory_documents WHERE {_IS_NOTE} AND {same} LIMIT 1"  # noqa: S608
    return bool(database.rows(sql, (event_id, series_id, series_id, int(start // 60))))


def is_any_private(database: Database, paths: Sequence[str]) -> bool:
    """Check whether one of these notes must not leave this machine."""
    listed = "source_id IN (SELECT value FROM json_each(?))"
    sql = f"SELECT 1 FROM memory_documents WHERE {_IS_NOTE} AND sensitive AND {listed} LIMIT 1"  # noqa: S608
    return bool(database.rows(sql, (json.dumps(paths),)))
