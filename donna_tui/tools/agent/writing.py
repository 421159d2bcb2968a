"""`vault_write` and `vault_undo_last`: an agent's changes, each one operation in its name that can be taken back."""

from __future__ import annotations

import asyncio

from donna_tui.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.executable import adds_executable
from donna_tui.text.markdown import split_sections
from donna_tui.tools.agent.access import missing
from donna_tui.tools.agent.noteshapes import SectionAsked, UndoAsked, UndoGiven, WriteAsked, WriteGiven
from donna_tui.tools.agent.remembering import forget_session
from donna_tui.tools.agent.workspace import Workspace
from donna_tui.vault.changes import Change, Outcome, Plan
from donna_tui.vault.client import decode
from donna_tui.vault.seen import expecting
from donna_tui.vault.writer import VaultWriter

NOT_FREE = "no note can be written under this name"
NO_HISTORY = "this workspace is not in a git repository, so nothing could be undone; an agent may not create one"
WHO_AGREES = (
    "ask the person whose notes these are: they run git init in the workspace, or open it with donna, write a note and"
    " agree to create a repository; then try again"
)


async def vault_write(space: Workspace, asked: WriteAsked) -> WriteGiven:
    """Write a note: one operation in the name of this client. Raises DonnaError."""
    session, writer = space.session, _writer(space)
    async with session.turn:
        session.quota.take()  # before the work, so that a call which is cancelled counts as well
        try:
            plan = await asyncio.to_thread(_planned, space, writer, asked)
            outcome = await _applied(space, writer, plan)
        except DonnaError:
            session.quota.give_back()
            raise
        if not outcome.changed:
            session.quota.give_back()
    return WriteGiven(
        path=asked.path,
        changed=outcome.changed,
        operation=outcome.operation,
        etag=next(iter(outcome.etags), asked.etag or ""),
        session=session.id,
        writes_left=session.quota.left,
        remarks=plan.remarks,
    )


async def vault_section(space: Workspace, asked: SectionAsked) -> WriteGiven:
    """Append to one section of a note, or replace its own text: one operation. Raises DonnaError."""
    note = await asyncio.to_thread(space.access.read, asked.path)
    if note.lossy:
        raise VaultWriteError(Reason.ENCODING, f"{note.path} is not all UTF-8", hint="the owner has to change it")
    if note.etag != asked.etag:
        raise VaultWriteError(Reason.CONFLICT, "the note has changed", hint="read it again", path=note.path)
    text = with_section(note.text, note.body_start, asked)
    return await vault_write(space, WriteAsked(path=note.path, content=text, etag=asked.etag, replace=True))


def with_section(text: str, body_start: int, asked: SectionAsked) -> str:
    """The text of a note with one section changed. Raises DonnaError (`missing`) if it has no such section, and
    (`usage`) if it has several of that name.
    """
    wanted = tuple(asked.heading_path)
    found = [each for each in split_sections(text, body_start) if each.heading_path == wanted]
    if len(found) > 1:
        raise DonnaError(Reason.USAGE, f"the note has {len(found)} sections of that name", hint="use vault_write")
    if not found and wanted:
        raise DonnaError(Reason.MISSING, "the note has no such section", hint="vault_read gives the heading paths")
    start, end = (found[0].body_start, found[0].end) if found else (body_start, body_start)
    newline = "\r\n" if "\r\n" in text else "\n"
    content = newline.join(asked.content.strip("\r\n").splitlines())
    before, own, after = text[:start], text[start:end].rstrip(), text[end:]
    if asked.mode == "append" and own:
        content = f"{own}{newline}{content}"
    before = before if not before or before.endswith(("\n", "\r")) else f"{before}{newline}"
    gap = f"{newline}{newline}" if after else newline
    return f"{before}{content}{gap}{after}" if content else f"{before}{newline if after else ''}{after}"


async def vault_undo_last(space: Workspace, asked: UndoAsked) -> UndoGiven:
    """Take back the last operations of this session, and of no other. Raises DonnaError."""
    session, writer = space.session, _writer(space)
    wanted = None if asked.everything else asked.n
    async with session.turn:
        plan, why_not = await asyncio.to_thread(_undoing, writer, session.id, wanted)
        if plan:
            await _applied(space, writer, plan)
        forgotten = await forget_session(space.host.memory, session.id) if asked.everything else 0
        if why_not and not forgotten:
            raise why_not
    undone, paths = (plan.undoes, plan.paths) if plan else ((), ())
    return UndoGiven(undone=undone, paths=paths, forgotten=forgotten)


def _undoing(writer: VaultWriter, session: str, wanted: int | None) -> tuple[Plan | None, VaultWriteError | None]:
    """The plan, or why there is nothing to plan. Raises VaultWriteError if something stands in the way."""
    try:
        return writer.restorer.undo_session(session, wanted), None
    except VaultWriteError as error:
        if error.reason in (Reason.NOTHING_TO_UNDO, Reason.NO_REPOSITORY):
            return None, error
        raise _named(error) from None


def _writer(space: Workspace) -> VaultWriter:
    if space.writer is None:
        raise DonnaError(Reason.USAGE, "this client may not write", hint="donna mcp --write lets it")
    return space.writer


def _planned(space: Workspace, writer: VaultWriter, asked: WriteAsked) -> Plan:
    """The plan of a write that says nothing of notes which this client may not see."""
    path, access = asked.path, space.access
    writer.rules.check_path(path)
    if not access.client.is_note(path):
        raise VaultWriteError(Reason.OUTSIDE_ALLOWLIST, "this is no place for notes of this space", path=path)
    _check_version(space, path, asked.etag)
    try:
        plan = writer.planner.write(path, asked.content, seen=expecting(asked.etag), replace=asked.replace)
    except VaultWriteError as error:
        if asked.etag is None and error.reason is Reason.CONFLICT:  # it would name a note that is nearly of that name
            raise _not_free(path) from None
        raise
    for change in plan.changes:
        for data in (change.before, change.after):
            _check_public(writer, path, data)
        if not access.executable:
            _check_inert(path, change)
    return plan


def _check_version(space: Workspace, path: str, etag: str | None) -> None:
    """Raises for a version of a note that this client may not see, as for one that is not there."""
    if space.access.sees(path):
        if etag is None:
            hint = "read it, and give the etag of what you have read"
            raise VaultWriteError(Reason.CONFLICT, "there is a note of that name already", hint=hint, path=path)
    elif etag is not None:
        raise missing()
    elif _is_taken(space, path):
        raise _not_free(path)


def _is_taken(space: Workspace, path: str) -> bool:
    """Whether anything is there, whatever it is."""
    try:
        space.access.client.stat(path)
    except VaultReadError as error:
        return error.reason is not Reason.MISSING
    return True


def _not_free(path: str) -> VaultWriteError:
    return VaultWriteError(Reason.CONFLICT, NOT_FREE, hint="choose another name", path=path)


def _check_public(writer: VaultWriter, path: str, data: bytes | None) -> None:
    """Raises VaultWriteError (`sensitive`): whether a note is private is for a person to say."""
    if data is not None and writer.rules.sensitivity(path, data) is not Sensitivity.PUBLIC:
        message = "an agent does not write private notes, and does not make a note private"
        raise VaultWriteError(Reason.SENSITIVE, message, hint="leave its frontmatter without such a mark", path=path)


def _check_inert(path: str, change: Change) -> None:
    """Raises VaultWriteError (`executable`) for code that a plugin would run and that was not in the note before.

    Undo needs no such check: what it restores was in the note before this client changed it, or passed here.
    """
    before, after = (decode(data)[0] if data else "" for data in (change.before, change.after))
    if adds_executable(before, after):
        message = "an agent does not write what Obsidian's plugins run: <% … %>, dataviewjs blocks, `$= …`"
        hint = "describe it in words; the person at the keyboard can allow it: donna mcp --write --allow-code"
        raise VaultWriteError(Reason.EXECUTABLE, message, hint=hint, path=path)


def _named(error: VaultWriteError) -> VaultWriteError:
    """The notes of this session's operations are its own, so the one that stands in the way may be named."""
    message = f"{error.message} ({error.path})" if error.path else error.message
    return VaultWriteError(error.reason, message, hint=error.hint, path=error.path)


async def _applied(space: Workspace, writer: VaultWriter, plan: Plan) -> Outcome:
    """Carried out to its end whatever becomes of the call."""
    session = space.session
    work = asyncio.to_thread(writer.apply, plan, actor=session.actor, session=session.id)
    try:
        return await asyncio.shield(asyncio.ensure_future(work))
    except VaultWriteError as error:
        if error.reason is Reason.NO_REPOSITORY:
            raise VaultWriteError(error.reason, NO_HISTORY, hint=WHO_AGREES, path=error.path) from None
        raise
