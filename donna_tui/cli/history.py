"""Implement `donna log`, `diff`, `undo` and `redo`: list, show and restore changes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Any

import typer

from donna_tui.cli.options import AsJson, AssumeYes, SpaceOption, new_app
from donna_tui.cli.output import emit, print_message, require_found
from donna_tui.cli.session import open_session, run_with_engine
from donna_tui.cli.write import agreed_to, carry_out, carry_out_if_agreed, diff_lines, open_writer_of
from donna_tui.text.plural import plural
from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.types.memory import SessionChange
from donna_tui.vault.client import NOTE_ENDINGS
from donna_tui.vault.note.read import DRAFT_KEY
from donna_tui.vault.write.changes import Change, Plan, Revision, etag_of, whole_sessions
from donna_tui.vault.write.file_names import EVERYWHERE
from donna_tui.vault.write.writer import VaultWriter

if TYPE_CHECKING:
    from donna_tui.engine.engine import Engine

app = new_app()


@app.command("log")
def log(
    path: Annotated[str, typer.Argument(help="Only revisions of this note.")] = "",
    count: Annotated[int, typer.Option("-n", help="The number of changes.", min=1)] = 30,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List changes with author and time: Donna's operations and other commits."""
    writer = open_writer_of(space)
    found = writer.history.revisions(path, limit=count)
    if path and not found and writer.repo.find() and writer.history.outside_change(path) is None:
        raise _no_note(path)
    undone = {operation.id for operation in writer.redoable()} if found else set()
    rows = [_row(revision, undone) for revision in found]
    emit({"operations": rows}, map(_line, rows), as_json=as_json)
    require_found(rows, "no history yet")


@app.command("diff")
def diff(
    what: Annotated[str, typer.Argument(metavar="[OP|PATH]", help="An operation, a commit or a note.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the changes of an operation; for a note, or without a name, those on disk that are not in git."""
    changes = _changes(open_writer_of(space), what)
    rows = [_change(change) for change in changes]
    lines = [line for change in changes for line in diff_lines(change)]
    emit({"changes": rows}, lines, as_json=as_json)
    require_found(rows, "no difference")


def _changes(writer: VaultWriter, what: str) -> Sequence[Change]:
    if not what:
        found = (writer.history.outside_change(path) for path in sorted(writer.history.outside()))
        return [change for change in found if change]
    if what.lower().endswith(NOTE_ENDINGS):
        change = writer.history.outside_change(what)
        if change is None and not writer.history.revisions(what, limit=1):
            raise _no_note(what)
        return [change] if change else []
    known = writer.undo_planner.operation_changes(what)
    if known is not None:
        return known
    try:
        return writer.history.changes(what)
    except DonnaError as error:
        message = "there is no note, operation or commit with that name"
        raise DonnaError(Reason.MISSING, message, hint="`donna log` lists them") from error


def _no_note(path: str) -> DonnaError:
    return DonnaError(Reason.MISSING, f"{path}: there is no such note, on disk or in git")


def _row(revision: Revision, undone: set[str]) -> dict[str, Any]:
    operation = revision.operation
    return {
        "id": operation.id if operation else revision.commit,
        "operation": operation.id if operation else None,
        "commit": revision.commit,
        "at": revision.at,
        "kind": operation.kind.value if operation else "commit",
        "actor": operation.actor if operation else revision.author,
        "session": operation.session if operation else "",
        "by_donna": operation is not None,
        "undone": bool(operation and operation.id in undone),
        "subject": revision.subject,
        "paths": list(revision.paths),
    }


def _line(row: dict[str, Any]) -> str:
    when = time.strftime("%Y-%m-%d %H:%M", time.localtime(row["at"]))
    who = f"Donna for {row['actor']}" if row["by_donna"] else row["actor"]
    name = row["operation"] or row["commit"][:12]
    session = f"  (session {row['session']})" if row["session"] else ""
    return f"{name:20}  {when}  {who:16}  {row['subject']}{session}{'  (undone)' if row['undone'] else ''}"


def _change(change: Change) -> dict[str, Any]:
    return {
        "id": change.path,
        "path": change.path,
        "before": None if change.before is None else etag_of(change.before),
        "after": None if change.after is None else etag_of(change.after),
        "diff": "\n".join(diff_lines(change)),
    }


INDEX_WAIT_SECONDS = 10.0

MAX_CHANGES = 100_000
"""Maximum number of changes in which a session is looked up."""

Steps = Annotated[int, typer.Argument(metavar="[N]", help="The number of operations, as one step.", min=1)]
AgentSession = Annotated[
    str,
    typer.Option(
        "--session", metavar="ID", help="Everything that this session of an agent did; `donna log` shows sessions."
    ),
]


@app.command("undo")
def undo(
    n: Steps = 1,
    session: AgentSession = "",
    agreed: AssumeYes = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Undo Donna's last operations, or all of an agent's session, after showing the diff."""
    if session:
        return _restore_session(session, space, redo=False, agreed=agreed, as_json=as_json)
    writer = open_writer_of(space, allowlist=(EVERYWHERE,))
    _restore(writer, writer.undo_planner.undo(n), space, agreed=agreed, as_json=as_json)


@app.command("redo")
def redo(
    n: Steps = 1,
    session: AgentSession = "",
    agreed: AssumeYes = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Redo the last undone operations, or all of an agent's session, after showing the diff."""
    if session:
        return _restore_session(session, space, redo=True, agreed=agreed, as_json=as_json)
    writer = open_writer_of(space, allowlist=(EVERYWHERE,))
    plan = writer.undo_planner.redo(n)
    sessions = whole_sessions(writer.redoable(), n)
    if _restore(writer, plan, space, agreed=agreed, as_json=as_json):
        for identity in sorted(sessions):
            _report(_change_memories(space, identity, redo=True), redo=True)


def _restore(writer: VaultWriter, plan: Plan, space: str | None, *, agreed: bool, as_json: bool) -> bool:
    """Apply an undo or redo after showing its diff, and let drafts follow; return whether it was applied."""

    async def follow_drafts(engine: Engine) -> None:
        """Update the list of drafts, and the corrections from their approvals, to the vault."""
        await engine.drafts.drafts()
        await engine.memory.wait_until_indexed(INDEX_WAIT_SECONDS)

    sides = (side for change in plan.changes for side in (change.before, change.after))
    applied = carry_out_if_agreed(writer, plan, agreed=agreed, as_json=as_json)
    if applied and any(data is not None and DRAFT_KEY.encode() in data for data in sides):
        run_with_engine(open_session(space), f"donna {plan.kind}", follow_drafts, semantic=False)
    return applied


def _restore_session(identity: str, space: str | None, *, redo: bool, agreed: bool, as_json: bool) -> None:
    """Undo or redo an agent's session: its writes and its changes of the memory. Raises DonnaError without consent."""
    writer = open_writer_of(space)
    plan = _session_plan(writer, identity, redo=redo)
    if plan and not agreed_to(plan, agreed=agreed, as_json=as_json):
        print_message("Nothing was changed.")
        return
    verb = "redo" if redo else "undo"
    if plan is None and not _is_session(writer, identity, space):
        message = f"there is no session {identity}"
        raise DonnaError(Reason.MISSING, message, hint="`donna log` shows those that changed notes")
    if plan is None and not agreed:
        message = f"no note of this session can be {verb}ne"
        raise DonnaError(Reason.USAGE, message, hint=f"--yes {verb}es its changes of the memory")
    if plan:
        carry_out(writer, plan, agreed=False, as_json=as_json)
    change = _change_memories(space, identity, redo=redo)
    _report(change, redo=redo)
    if plan is None and change == SessionChange():
        reason = Reason.NOTHING_TO_REDO if redo else Reason.NOTHING_TO_UNDO
        raise VaultWriteError(reason, f"nothing of this session can be {verb}ne")
    if plan is None:
        emit({"session": identity, **asdict(change)}, (), as_json=as_json)


def _is_session(writer: VaultWriter, identity: str, space: str | None) -> bool:
    """Check whether a session of an agent changed notes or the memory."""
    changes = writer.history.revisions("", limit=MAX_CHANGES)
    if any(change.operation and change.operation.session == identity for change in changes):
        return True
    return run_with_engine(
        open_session(space), "donna undo", lambda engine: engine.memory.has_session(identity), semantic=False
    )


def _session_plan(writer: VaultWriter, identity: str, *, redo: bool) -> Plan | None:
    try:
        return writer.undo_planner.redo_session(identity) if redo else writer.undo_planner.undo_session(identity)
    except VaultWriteError as error:
        if error.reason not in (Reason.NOTHING_TO_UNDO, Reason.NOTHING_TO_REDO, Reason.NO_REPOSITORY):
            raise
        return None


def _change_memories(space: str | None, identity: str, *, redo: bool) -> SessionChange:
    from donna_tui.agents.tools.memory import undo_or_redo_memories

    return run_with_engine(
        open_session(space),
        "donna redo" if redo else "donna undo",
        lambda engine: undo_or_redo_memories(engine.memory, identity, redo=redo),
        semantic=False,
    )


def _report(change: SessionChange, *, redo: bool) -> None:
    forgotten, restored, messages = (
        ("forgotten again", "of this session remembered again", "restored that it had stored")
        if redo
        else ("of this session forgotten", "restored that it had forgotten", "removed that it had stored")
    )
    for number, noun, many, done in (
        (change.forgotten, "memory", "memories", forgotten),
        (change.restored, "memory", "memories", restored),
        (change.messages, "message", "messages", messages),
    ):
        if number:
            print_message(f"donna: {plural(number, noun, many)} {done}")
