"""Tools that read, list and write notes, and list drafts."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import re
from collections.abc import Iterable

from donna_tui.agents.tools import schemas
from donna_tui.agents.tools.context import Access, Known, ToolContext, missing, public_notes
from donna_tui.agents.tools.memory import INDEX_WAIT_SECONDS
from donna_tui.engine.passages import LONGEST_PASSAGE, Passage, RememberedPassage, read_remembered
from donna_tui.index.database import Database
from donna_tui.index.documents import draft_paths, link_key
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.executable import adds_executable
from donna_tui.safety.terminal import clean, clean_line
from donna_tui.text.lines import each_line, line_of, line_starts, split_lines
from donna_tui.text.markdown import DELIMITER_ROW, split_sections
from donna_tui.text.plural import plural
from donna_tui.types.drafts import Draft, DraftRow
from donna_tui.types.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.types.memory import SessionChange
from donna_tui.types.search import MemorySource
from donna_tui.vault.client import VaultNote, decode
from donna_tui.vault.links.resolve import LinkIndex
from donna_tui.vault.links.rewrite import destination_of
from donna_tui.vault.links.spans import find_links
from donna_tui.vault.note.read import parse_frontmatter
from donna_tui.vault.write.changes import Change, OperationKind, Outcome, Plan, has_etag
from donna_tui.vault.write.writer import VaultWriter

_REMEMBERED = tuple(f"{source}:" for source in MemorySource if source is not MemorySource.VAULT)
"""The beginnings of the ids of memories."""


async def memory_get(context: ToolContext, args: schemas.GetArgs) -> schemas.GetOutput:
    """Return lines of a note or a memory, or the turns around those of a conversation. Raises VaultReadError."""
    found: RememberedPassage | None = await context.read(
        lambda database: (
            _remembered(database, args.path, context.access)
            or _remembered(database, args.path.partition(":")[2], context.access)
        )  # an id, such as memory:4f1c0a
    )
    if found and found.note and not await asyncio.to_thread(context.access.sees, found.note):
        found = None  # as if nothing of that name existed
    if found and not found.note:
        shown, wanted = found.passage, _around(found.passage) if found.is_chat else args
        return _lines_of(shown.text, wanted, path=shown.path, title=shown.title)
    if not found and args.path.startswith(_REMEMBERED) and not args.path.endswith(".md"):
        raise DonnaError(Reason.MISSING, "there is no such memory", hint="memory_list returns the ids")
    note = await asyncio.to_thread(context.access.read, found.note if found else args.path)
    return _lines_of(note.text, args, path=note.path, title=note.title)


async def vault_read(context: ToolContext, args: schemas.ReadArgs) -> schemas.ReadOutput:
    """Return a whole note, byte for byte, with the etag of this version. Raises VaultReadError."""
    note = await asyncio.to_thread(context.access.read, args.path)
    return schemas.ReadOutput(
        path=note.path,
        title=note.title,
        text=note.text,
        etag=note.etag,
        tags=note.tags,
        type=note.note_type,
        sections=split_sections(note.text, note.body_start),
        note=NOT_TEXT if note.lossy else "",
    )


NOT_TEXT = "bytes that are not text are shown as �, so an agent cannot change this note"


async def vault_list(context: ToolContext, args: schemas.ListArgs) -> schemas.ListOutput:
    """Return the notes below a folder, without drafts. Raises VaultReadError for a folder outside the vault."""
    known: Known = await context.read(public_notes)
    drafts: set[str] = await context.read(draft_paths)
    folder = args.folder.strip("/")
    below = await asyncio.to_thread(lambda: list(context.access.notes(known, folder)))
    found = [note for note in below if note.path not in drafts]
    depth = len(folder) + 1 if folder else 0
    inside = [(note, note.path.find("/", depth)) for note in found]
    wanted = sorted((note for note, slash in inside if args.recursive or slash < 0), key=lambda each: each.path)
    notes = tuple(
        schemas.Note(path=note.path, size=note.size, modified=note.mtime_ns / 1e9)
        for note in wanted[args.offset : args.offset + args.limit]
    )
    folders = () if args.recursive else sorted({note.path[:slash] for note, slash in inside if slash >= 0})
    return schemas.ListOutput(notes=notes, count=len(notes), total=len(wanted), folders=tuple(folders))


async def vault_links(context: ToolContext, args: schemas.LinkArgs) -> schemas.LinkOutput:
    path = args.path
    note = await asyncio.to_thread(context.access.read, path)
    await context.engine.freshen()
    known: Known = await context.read(public_notes)
    candidates: list[str] = await context.read(lambda database: _naming(database, path))
    links, back = await asyncio.to_thread(_linked, context.access, note, known, candidates)
    return schemas.LinkOutput(path=path, links=links, linked_from=back)


def _linked(
    access: Access, note: VaultNote, known: Known, candidates: list[str]
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """Resolve links as if notes invisible to this client did not exist."""
    index = LinkIndex({each.path for each in access.notes(known)})
    back = []
    for path in candidates:
        if path != note.path and access.sees(path) and note.path in _targets(index, access.read(path)):
            back.append(path)
    return tuple(sorted(_targets(index, note) - {note.path})), tuple(sorted(back))


def _targets(index: LinkIndex, note: VaultNote) -> set[str]:
    return {path for link in find_links(note.text) if (path := destination_of(link, note.path, index))}


def _naming(database: Database, path: str) -> list[str]:
    """Return the notes with a link whose last part is the name of a note."""
    return database.column(
        "SELECT DISTINCT d.source_id FROM links l JOIN memory_documents d ON d.id = l.document_id"
        " WHERE l.target = ? AND d.source_type = 'vault' AND d.is_draft = 0",
        (link_key(path),),
    )


def _remembered(database: Database, identity: str, access: Access) -> RememberedPassage | None:
    """Return a memory that is not a note, unless a part of it is private and this client may not see that."""
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


def _around(passage: Passage) -> schemas.GetArgs:
    """Return a request for the lines around the marked ones, as many as are not too long."""
    starts = line_starts(passage.text)
    marked = starts[min(passage.mark_start, len(starts)) - 1]
    first = line_of(starts, max(0, marked - LONGEST_PASSAGE // 4))
    last = line_of(starts, marked + LONGEST_PASSAGE * 3 // 4)
    return schemas.GetArgs(path=passage.path, from_=first, lines=min(schemas.MAX_LINES, last - first + 1))


def _lines_of(text: str, args: schemas.GetArgs, *, path: str, title: str) -> schemas.GetOutput:
    lines = [_visible(line) for line in split_lines(text)]
    first = min(args.from_, len(lines) + 1)
    shown = lines[first - 1 : first - 1 + args.lines]
    beyond = f"there is no line {args.from_}: {plural(len(lines), 'line')} in all" if lines else "it is empty"
    return schemas.GetOutput(
        path=path,
        title=title,
        text="\n".join(shown),
        start_line=first,
        end_line=first + len(shown) - 1,
        total_lines=len(lines),
        note="" if shown else beyond,
    )


def _visible(line: str) -> str:
    """Sanitise a line, keeping its tabs."""
    return "\t".join(map(clean, line.split("\t")))


NOT_FREE = "a note cannot be written to this path"
NO_HISTORY = (
    "this workspace is not in a git repository, so nothing could be undone; an agent is not allowed to create one"
)
WHO_CHANGES = "the owner has to change it"
WHO_COMPARES = "tell the owner, who can compare the versions and undo it in the app"
WHO_AGREES = (
    "ask the owner to run git init in the workspace, or to open it with donna, write a note and"
    " agree to create a repository; then try again"
)


async def vault_write(context: ToolContext, args: schemas.WriteArgs) -> schemas.WriteOutput:
    """Write a note as one operation in the name of this client. Raises DonnaError."""
    session, writer = context.session, _writer(context)
    async with session.turn:
        with session.quota.taken():
            plan = await asyncio.to_thread(_planned, context, writer, args)
            outcome = await _applied(context, writer, plan)
        if not outcome.changed:
            session.quota.give_back()
    return schemas.WriteOutput(
        path=args.path,
        changed=outcome.changed,
        operation=outcome.operation,
        etag=next(iter(outcome.etags), args.etag or ""),
        session=session.id,
        writes_left=session.quota.left,
        remarks=plan.remarks,
    )


async def vault_section(context: ToolContext, args: schemas.SectionArgs) -> schemas.WriteOutput:
    """Append to one section of a note, or replace its own text, as one operation. Raises DonnaError."""
    note = await asyncio.to_thread(context.access.read, args.path)
    if note.etag != args.etag:
        raise VaultWriteError(Reason.CONFLICT, "the note has changed", hint="read it again", path=note.path)
    text = with_section(note.text, note.body_start, args)
    return await vault_write(context, schemas.WriteArgs(path=note.path, content=text, etag=args.etag, replace=True))


def with_section(text: str, body_start: int, args: schemas.SectionArgs) -> str:
    """Return a text with one section changed. Raises DonnaError: `missing` without it, `usage` if it is ambiguous."""
    wanted = _as_shown(args.heading_path)
    found = [section for section in split_sections(text, body_start) if _as_shown(section.heading_path) == wanted]
    if len(found) > 1:
        raise DonnaError(Reason.USAGE, f"the note has {len(found)} sections with that name", hint="use vault_write")
    if not found and wanted:
        raise DonnaError(Reason.MISSING, "the note has no such section", hint="vault_read returns the heading paths")
    start, end = (found[0].body_start, found[0].end) if found else (body_start, body_start)
    newline = "\r\n" if "\r\n" in text else "\n"
    content = args.content.replace("\r\n", "\n").rstrip("\n").replace("\n", newline)
    own_start = min(end, next((low for low, high, _ in each_line(text, start) if text[low:high].strip()), end))
    own = text[own_start:end].rstrip()
    if args.mode == "replace" or not own:
        content = content.lstrip("\r\n")
    elif content:
        content = f"{own}{newline}{'' if _continues(own, content) else newline}{content}"
    else:
        return text
    before, after = text[: own_start if content else start], text[end:]
    before = before if not before or before.endswith(("\n", "\r")) else f"{before}{newline}"
    gap = f"{newline}{newline}" if after else newline
    return f"{before}{content}{gap}{after}" if content else f"{before}{newline if after else ''}{after}"


_BLOCK = re.compile(
    r"(?P<rule>(?:[-*_][ \t]*){3,}$|=+[ \t]*$)|(?P<item>(?:[-+*]|\d{1,9}[.)])[ \t])|(?P<row>\|)|(?P<quote>>)"
    r"|(?P<heading>#{1,6}[ \t])|(?P<fence>```|~~~)"
)
_CALLOUT = re.compile(r">[ \t]*\[!")


def _as_shown(headings: Iterable[str]) -> tuple[str, ...]:
    return tuple(map(clean_line, headings))


def _continues(own: str, content: str) -> bool:
    """Return whether a text continues the last block of a section, such as a list, or says itself where it begins.

    Any other text would become part of that block without an empty line between them.
    """
    first, second = (*split_lines(content), "")[:2]
    last = [line for line in split_lines(own) if line[:1].strip()][-1:]
    begins = _CALLOUT.match(first) or (first.startswith("|") and DELIMITER_ROW.match(second))
    return not first[:1].strip() or (not begins and _kind(first) == _kind("".join(last)))


def _kind(line: str) -> str | None:
    match = _BLOCK.match(line)
    return match and match.lastgroup


async def vault_undo_last(context: ToolContext, args: schemas.UndoArgs) -> schemas.UndoOutput:
    """Undo the last operations of this session, and of no other. Raises DonnaError."""
    session, writer, memory = context.session, _writer(context), context.engine.memory
    wanted = None if args.everything else args.n
    async with session.turn:
        plan = await asyncio.to_thread(_undoing, writer, session.id, wanted)
        if plan:
            await _applied(context, writer, plan)
        memories = SessionChange()
        if args.everything:
            memories = await memory.undo_session(session.id)
            await memory.wait_until_indexed(INDEX_WAIT_SECONDS)
        if plan is None and memories == SessionChange():
            hint = None if args.everything else "everything: true also undoes its changes to the memory"
            raise DonnaError(Reason.NOTHING_TO_UNDO, "there is nothing of this session to undo", hint=hint)
    undone, paths = (plan.undoes, plan.paths) if plan else ((), ())
    return schemas.UndoOutput(undone=undone, paths=paths, **dataclasses.asdict(memories))


def _undoing(writer: VaultWriter, session: str, wanted: int | None) -> Plan | None:
    """Return the plan, or None if there is nothing to undo. Raises VaultWriteError on a conflict."""
    try:
        return writer.undo_planner.session_plan(OperationKind.UNDO, session, wanted)
    except VaultWriteError as error:
        # name the conflicting note: the notes of this session's operations are its own
        message = f"{error.message} ({error.path})" if error.path else error.message
        hint = WHO_COMPARES if error.reason is Reason.UNDO_CONFLICT else error.hint
        raise VaultWriteError(error.reason, message, hint=hint, path=error.path) from None


def _writer(context: ToolContext) -> VaultWriter:
    if context.writer is None:
        raise DonnaError(Reason.USAGE, "this client is not allowed to write", hint="donna mcp --write allows it")
    return context.writer


def _planned(context: ToolContext, writer: VaultWriter, args: schemas.WriteArgs) -> Plan:
    """Plan a write without revealing notes that are invisible to this client."""
    path, access = args.path, context.access
    writer.rules.check_path(path)
    if not access.client.is_note(path):
        raise VaultWriteError(Reason.OUTSIDE_ALLOWLIST, "notes of this space cannot be stored here", path=path)
    _check_version(context, path, args.etag)
    if problem := parse_frontmatter(args.content).problem:
        message = f"the frontmatter of this text cannot be read: {problem}"
        raise VaultWriteError(Reason.INVALID_FRONTMATTER, message, hint="correct its YAML", path=path)
    _check_public(writer, path, args.content.encode("utf-8", "replace"), hint="omit the mark from its frontmatter")
    try:
        plan = writer.planner.write(path, args.content, expected=has_etag(args.etag), replace=args.replace)
    except VaultWriteError as error:
        if args.etag is None and error.reason is Reason.CONFLICT:  # it would name an invisible note of a similar name
            raise _not_free(path) from None
        if error.reason is Reason.SENSITIVE:
            raise VaultWriteError(error.reason, error.message, hint=WHO_CHANGES, path=path) from None
        raise
    for change in plan.changes:
        for data in (change.before, change.after):
            _check_public(writer, path, data, hint=WHO_CHANGES)
        if not access.executable:
            _check_inert(path, change)
    return plan


def _check_version(context: ToolContext, path: str, etag: str | None) -> None:
    """Raise for a version of an invisible note, as for a missing one, and for a note whose text is not all shown."""
    note = None
    with contextlib.suppress(VaultReadError):
        note = context.access.read(path)
    if note and etag is None:
        hint = "read it, and give the etag that you got"
        raise VaultWriteError(Reason.CONFLICT, "a note with that name already exists", hint=hint, path=path)
    if note and note.lossy:
        raise VaultWriteError(Reason.ENCODING, NOT_TEXT, hint="the owner can convert it to UTF-8", path=path)
    if note:
        return
    if etag is not None:
        raise missing("omit the etag to write a new note; vault_list lists the notes")
    if _is_taken(context, path):
        raise _not_free(path)


def _is_taken(context: ToolContext, path: str) -> bool:
    try:
        context.access.client.stat(path)
    except VaultReadError as error:
        return error.reason is not Reason.MISSING
    return True


def _not_free(path: str) -> VaultWriteError:
    hint = "choose another name, in a folder as vault_list spells it"
    return VaultWriteError(Reason.CONFLICT, NOT_FREE, hint=hint, path=path)


def _check_public(writer: VaultWriter, path: str, data: bytes | None, *, hint: str) -> None:
    """Raise VaultWriteError (`sensitive`): only a person decides whether a note is private."""
    if data is not None and writer.rules.sensitivity(path, data) is not Sensitivity.PUBLIC:
        message = "an agent is not allowed to write private notes or to make a note private"
        raise VaultWriteError(Reason.SENSITIVE, message, hint=hint, path=path)


def _check_inert(path: str, change: Change) -> None:
    """Raise VaultWriteError (`executable`) for code that a plugin would execute and that was not in the note before.

    Undo needs no such check: the text it restores was in the note before this client changed it, or passed here.
    """
    before, after = (decode(data)[0] if data else "" for data in (change.before, change.after))
    if adds_executable(before, after):
        message = "an agent is not allowed to write code that Obsidian plugins run: <% … %>, dataviewjs blocks, `$= …`"
        hint = "describe it in words; the owner can allow it: donna mcp --write --allow-code"
        raise VaultWriteError(Reason.EXECUTABLE, message, hint=hint, path=path)


async def _applied(context: ToolContext, writer: VaultWriter, plan: Plan) -> Outcome:
    """Apply a plan completely, even if the call is cancelled."""
    session = context.session
    work = asyncio.to_thread(writer.apply, plan, actor=session.actor, session=session.id)
    try:
        return await asyncio.shield(asyncio.ensure_future(work))
    except VaultWriteError as error:
        if error.reason is Reason.NO_REPOSITORY:
            raise VaultWriteError(error.reason, NO_HISTORY, hint=WHO_AGREES, path=error.path) from None
        raise


async def draft_list(context: ToolContext, args: schemas.DraftsArgs) -> schemas.DraftsOutput:
    """Return the drafts that this client may see: neither they nor their evidence are private."""
    service = context.engine.drafts
    rows = await service.drafts(everything=args.everything)
    if not context.access.sensitive:
        rows = tuple([row for row in rows if await _is_public(context, row)])
    return schemas.DraftsOutput(drafts=rows, count=len(rows))


async def _is_public(context: ToolContext, row: DraftRow) -> bool:
    try:
        draft = await context.engine.drafts.draft(row.id)
    except DonnaError:
        return False  # its sensitivity is unknown
    return await asyncio.to_thread(_all_public, context.access, row, draft)


def _all_public(access: Access, row: DraftRow, draft: Draft) -> bool:
    front = parse_frontmatter(draft.text)
    if front.sensitivity(draft.text, access.client.sensitive_key) is not Sensitivity.PUBLIC:
        return False
    there: list[str] = []
    for path in filter(None, {row.path, row.target}):
        with contextlib.suppress(DonnaError):  # nothing is there
            access.client.stat(path)
            there.append(path)
    notes = {passage.path for passage in draft.evidence if passage.source_type == MemorySource.VAULT}
    return all(access.sees(path) for path in (*there, *notes))
