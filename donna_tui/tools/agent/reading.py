"""`memory_get`, `vault_read`, `vault_list` and `vault_links`: notes as they are on disk now."""

from __future__ import annotations

import asyncio

from donna_tui.index.database import Database
from donna_tui.index.documents import draft_paths, link_key
from donna_tui.safety.terminal import clean, clean_line
from donna_tui.text.lines import each_line
from donna_tui.text.markdown import split_sections
from donna_tui.tools.agent.access import Access, Known, public_notes
from donna_tui.tools.agent.noteshapes import (
    LinkAsked,
    LinkGiven,
    ListAsked,
    ListGiven,
    Note,
    ReadAsked,
    ReadGiven,
    Section,
)
from donna_tui.tools.agent.shapes import GetAsked, GetGiven, iso_time
from donna_tui.tools.agent.workspace import Workspace
from donna_tui.tools.remembered import Found, read_remembered
from donna_tui.vault.client import VaultNote
from donna_tui.vault.link_index import LinkIndex
from donna_tui.vault.link_spans import LinkKind, find_links

PREFIX = "vault:"


async def memory_get(space: Workspace, asked: GetAsked) -> GetGiven:
    """Lines of a note, or of a conversation or memory that a search found. Raises VaultReadError."""
    path = asked.path.removeprefix(PREFIX)
    found: Found | None = await space.read(lambda database: _remembered(database, path, space.access))
    if found and found.note and not await asyncio.to_thread(space.access.sees, found.note):
        found = None  # as if there were nothing of that name
    if found and not found.note:
        return _lines_of(found.passage.text, asked, path=path, title=found.passage.title)
    note = await asyncio.to_thread(space.access.read, found.note if found else path)
    return _lines_of(note.text, asked, path=note.path, title=note.title)


async def vault_read(space: Workspace, asked: ReadAsked) -> ReadGiven:
    """A whole note, byte for byte, with the etag of this version. Raises VaultReadError."""
    note = await asyncio.to_thread(space.access.read, asked.path.removeprefix(PREFIX))
    return ReadGiven(
        path=note.path,
        title=clean_line(note.title),
        text=note.text,
        etag=note.etag,
        tags=tuple(map(clean_line, note.tags)),
        type=clean_line(note.note_type),
        sections=tuple(
            Section(
                heading_path=tuple(map(clean_line, each.heading_path)),
                start_line=each.start_line,
                end_line=each.end_line,
            )
            for each in split_sections(note.text, note.body_start)
        ),
    )


async def vault_list(space: Workspace, asked: ListAsked) -> ListGiven:
    """The notes below a folder; `draft_list` has the drafts. Raises VaultReadError for a folder outside the vault."""
    known: Known = await space.read(public_notes)
    drafts: set[str] = await space.read(draft_paths)
    folder = asked.folder.removeprefix(PREFIX).strip("/")
    below = await asyncio.to_thread(lambda: list(space.access.notes(known, folder)))
    found = [each for each in below if each.path not in drafts]
    depth = len(folder) + 1 if folder else 0
    wanted = sorted(
        (each for each in found if asked.recursive or "/" not in each.path[depth:]), key=lambda each: each.path
    )
    notes = tuple(
        Note(path=each.path, size=each.size, modified=iso_time(each.mtime_ns / 1e9))
        for each in wanted[asked.offset : asked.offset + asked.limit]
    )
    return ListGiven(notes=notes, count=len(notes), total=len(wanted))


async def vault_links(space: Workspace, asked: LinkAsked) -> LinkGiven:
    """The notes that a note links to, and those that link to it. Raises VaultReadError."""
    path = asked.path.removeprefix(PREFIX)
    note = await asyncio.to_thread(space.access.read, path)
    known: Known = await space.read(public_notes)
    candidates: list[str] = await space.read(lambda database: _naming(database, path))
    links, back = await asyncio.to_thread(_linked, space.access, note, known, candidates)
    return LinkGiven(path=path, links=links, linked_from=back)


def _linked(
    access: Access, note: VaultNote, known: Known, candidates: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Where links lead is decided as if the notes that this client may not see were not there."""
    index = LinkIndex({each.path for each in access.notes(known)})
    back = []
    for path in candidates:
        if path != note.path and access.sees(path) and note.path in _targets(index, access.read(path)):
            back.append(path)
    return tuple(sorted(_targets(index, note) - {note.path})), tuple(sorted(back))


def _targets(index: LinkIndex, note: VaultNote) -> set[str]:
    found = (
        index.find(each.target, note.path) if each.kind is LinkKind.WIKI else index.find_url(each.target, note.path)
        for each in find_links(note.text)
    )
    return {hit.path for hit in found if hit}


def _naming(database: Database, path: str) -> list[str]:
    """The notes with a link whose last part is the name of a note."""
    rows = database.rows(
        "SELECT DISTINCT d.source_id FROM links l JOIN memory_documents d ON d.id = l.document_id"
        " WHERE l.target = ? AND d.source_type = 'vault' AND d.is_draft = 0",
        (link_key(path),),
    )
    return [each for (each,) in rows]


def _remembered(database: Database, identity: str, access: Access) -> Found | None:
    """What is no note, unless anything of it is private and this client may not see that."""
    found = read_remembered(database, identity)
    if found is None or access.sensitive:
        return found
    session = identity.rpartition(":")[0]
    private = database.value(
        "SELECT count(*) FROM memory_documents WHERE sensitive AND source_type <> 'vault'"
        " AND (source_id = ? OR (source_type = 'chat' AND source_id >= ? AND source_id < ?))",
        (identity, f"{session}:", f"{session};"),
    )
    return None if private or found.passage.sensitive else found


def _lines_of(text: str, asked: GetAsked, *, path: str, title: str) -> GetGiven:
    lines = [_visible(text[low:high]) for low, high, _ in each_line(text)]
    first = min(asked.from_, len(lines) + 1)
    shown = lines[first - 1 : first - 1 + asked.lines]
    return GetGiven(
        path=path,
        title=clean_line(title),
        text="\n".join(shown),
        start_line=first,
        end_line=first + len(shown) - 1,
        total_lines=len(lines),
    )


def _visible(line: str) -> str:
    """A line in which nothing hides; its tabs stay."""
    return "\t".join(map(clean, line.split("\t")))
