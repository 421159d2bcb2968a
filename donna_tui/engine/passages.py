"""Read the text around a hit: of a note, a chat, a task or a memory."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Sequence
from dataclasses import dataclass

from donna_tui.index.database import Database
from donna_tui.index.documents import linking_to
from donna_tui.index.readers import Readers
from donna_tui.safety.classify import Sensitivity
from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import split_sections
from donna_tui.types.search import ME
from donna_tui.vault.client import VaultClient, VaultNote
from donna_tui.vault.note.read import iso_date

LONGEST_PASSAGE = 16_000
"""Maximum number of characters shown; a longer note is cut around its marked lines, at headings if possible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Passage:
    """A note, or a part of it, with marked lines. Lines are 1-based and inclusive.

    `text` is lines `start_line` to `end_line` of the file. `heading_path` leads to the section of the first marked
    line.
    """

    path: str
    title: str
    heading_path: tuple[str, ...]
    text: str
    start_line: int
    end_line: int
    mark_start: int
    mark_end: int
    truncated: bool
    linked_from: tuple[str, ...]
    sensitive: bool


def read_passage(
    client: VaultClient, path: str, start_line: int, end_line: int, linked_from: tuple[str, ...] = ()
) -> Passage:
    """Read a note from disk and mark some lines, clamped to its present length. Raises VaultReadError."""
    note = client.read(path)
    starts = line_starts(note.text)
    first = max(1, min(start_line, len(starts)))
    last = max(first, min(end_line, len(starts)))
    sections = split_sections(note.text, note.body_start)
    inside = [each for each in sections if each.start <= starts[first - 1]]
    section = inside[-1] if inside else next(iter(sections), None)  # the frontmatter belongs to the first
    low, high = _window(note, starts[first - 1], starts[last] if last < len(starts) else len(note.text))
    return Passage(
        path=path,
        title=note.title,
        heading_path=section.heading_path if section else (),
        text=note.text[low:high].rstrip("\r\n"),
        start_line=line_of(starts, low),
        end_line=line_of(starts, max(low, high - 1)),
        mark_start=first,
        mark_end=last,
        truncated=(low, high) != (0, len(note.text)),
        linked_from=linked_from,
        sensitive=note.sensitivity is not Sensitivity.PUBLIC,
    )


def _window(note: VaultNote, low: int, high: int) -> tuple[int, int]:
    """Return the range of the whole note, or of the context of the marked lines if it is too long to show."""
    text = note.text
    if len(text) <= LONGEST_PASSAGE:
        return 0, len(text)
    room = max(0, LONGEST_PASSAGE - (high - low)) // 2
    first, last = max(0, low - room), min(len(text), high + room)
    starts = [section.start for section in split_sections(text, note.body_start)]
    begin = next((start for start in starts if first <= start <= low), text.rfind("\n", 0, first) + 1)
    end = text.find("\n", last)
    return begin, (len(text) if end < 0 else end + 1)


TURNS_AROUND = 6
"""Turns shown before and after the marked ones."""


@dataclass(frozen=True, slots=True)
class RememberedPassage:
    """A document that is not a note. `note` is the path of the note that contains it, with its lines, if any."""

    passage: Passage
    note: str = ""
    lines: tuple[int, int] = (1, 1)
    is_chat: bool = False


def read_remembered(database: Database, source_id: str) -> RememberedPassage | None:
    """Read a chat, a task, a correction or a memory from the index by its source's id; None if it has none."""
    rows = database.rows(
        "SELECT id, source_type, title, sensitive, metadata_json FROM memory_documents"
        " WHERE user_id = ? AND source_type IN ('chat', 'task', 'correction', 'memory') AND source_id = ?",
        (ME, source_id),
    )
    if not rows:
        return None
    document, source, title, sensitive, metadata = rows[0]
    known = json.loads(metadata or "{}")
    turns: list[int] | None = known["turns"] if source == "chat" else None
    own = "SELECT start_line, content FROM memory_chunks WHERE document_id = ? ORDER BY chunk_index"
    texts = _turns_around(database, source_id, turns) if turns else list(database.rows(own, (document,)))
    passage = _passage(source_id, title, texts, turns, sensitive=bool(sensitive))
    return RememberedPassage(passage, known.get("note", ""), tuple(known.get("lines", (1, 1))), source == "chat")


def _turns_around(database: Database, source_id: str, turns: list[int]) -> list[tuple[int, str]]:
    """Return some turns and those around them, each with its speaker, the first one of a day with that day."""
    session, (first, last) = source_id.rpartition(":")[0], turns
    rows = database.rows(
        "SELECT c.start_line, d.dated_at, c.heading_path, c.content FROM memory_documents d"
        " JOIN memory_chunks c ON c.document_id = d.id WHERE d.user_id = ? AND d.source_type = 'chat'"
        " AND d.source_id >= ? AND d.source_id < ? AND json_extract(d.metadata_json, '$.session_id') = ?"
        " AND c.start_line BETWEEN ? AND ? ORDER BY c.start_line, c.chunk_index",
        (ME, f"{session}:", f"{session};", session, first - TURNS_AROUND, last + TURNS_AROUND),  # `;` is after `:`
    )
    found: list[tuple[int, str]] = []
    before = ""
    for line, at, heading, content in rows:
        day = iso_date(at)
        found.append((line, f"{f'{day} ' if day != before else ''}{' '.join(json.loads(heading))}: {content}"))
        before = day
    return found


def _passage(
    source_id: str, title: str, texts: Sequence[tuple[int, str]], turns: list[int] | None, *, sensitive: bool
) -> Passage:
    lines: list[str] = []
    marked: list[int] = []
    for number, text in texts:
        part = text.split("\n")
        if turns is None or turns[0] <= number <= turns[1]:
            marked += range(len(lines) + 1, len(lines) + len(part) + 1)
        lines += [*part, *([""] if turns else [])]
    return Passage(
        path=source_id,
        title=title,
        heading_path=(),
        text="\n".join(lines).rstrip("\n"),
        start_line=1,
        end_line=max(1, len(lines)),
        mark_start=min(marked, default=1),
        mark_end=max(marked, default=1),
        truncated=False,
        linked_from=(),
        sensitive=sensitive,
    )


async def passage_in(readers: Readers, client: VaultClient, path: str, lines: tuple[int, int]) -> Passage:
    """Read the section around some lines from disk, or the context of a hit that is no note. Raises VaultReadError."""
    remembered = await readers.run(lambda database, _: read_remembered(database, path))
    if remembered and not remembered.note:
        return remembered.passage
    note, (first, last) = (remembered.note, remembered.lines) if remembered else (path, lines)
    links = await readers.run(lambda database, _: linking_to(database, note))
    return await asyncio.to_thread(read_passage, client, note, first, last, links)
