"""Implement `donna log`, `diff`, `undo` and `redo`: list, show and restore changes."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, astuple
from heapq import merge
from typing import TYPE_CHECKING, Annotated, Any

import typer

from donna_tui.cli.options import AsJson, AssumeYes, SpaceOption, new_app
from donna_tui.cli.output import emit, print_message, require_found
from donna_tui.cli.session import open_session, run_with_engine
from donna_tui.cli.write import agreed_to, apply, diff_lines, open_writer_of, outcome_fields, summary_lines
from donna_tui.text.plural import plural
from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.types.memory import SessionChange
from donna_tui.vault.client import NOTE_ENDINGS
from donna_tui.vault.git.operations import each_operation, stacks
from donna_tui.vault.note.read import DRAFT_KEY
from donna_tui.vault.write.changes import Change, Operation, OperationKind, Plan, Revision, etag_of, whole_sessions
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
    """List changes: Donna's operations and other commits. Each has its author and time.

    Those of private notes, and of other devices over WebDAV, are not commits of the branch. They are listed while they
    can be undone or redone.
    """
    writer = open_writer_of(space)
    found = writer.history.revisions(path, limit=count)
    has_repository = writer.repo.find() is not None
    known = stacks(tuple(each_operation(writer.repo, writer.repo.record())) if has_repository else ())
    of_path = [each for each in (*known.undoable, *known.redoable) if path in ("", *each.paths)]
    found = _with_unpublished(found, of_path)[:count]
    if path and not found and has_repository and writer.history.outside_change(path) is None:
        raise _no_note(path)
    undone = {operation.id for operation in known.redoable}
    rows = [_row(revision, undone) for revision in found]
    emit({"operations": rows}, map(_line, rows), as_json=as_json)
    require_found(rows, "no history yet")


@app.command("diff")
def diff(
    what: Annotated[str, typer.Argument(metavar="OP|PATH", help="An operation, a commit or a note.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the changes of an operation, or those not in git.

    For a note, or without a name, these are the changes on disk since the last commit.
    """
    changes = _changes(open_writer_of(space), what)
    rows = [_change(change) for change in changes]
    lines = [line for change in changes for line in diff_lines(change)]
    emit({"changes": rows}, lines, as_json=as_json)
    require_found(rows, "no difference")


def _changes(writer: VaultWriter, what: str) -> Sequence[Change]:
    if not what:
        writer.repo.location()  # raises without a repository
        return writer.history.outside_changes(sorted(writer.history.outside()))
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


def _with_unpublished(revisions: Sequence[Revision], known: Sequence[Operation]) -> list[Revision]:
    """Insert the operations that are not in the branch, by their times, and keep the order of the branch."""
    listed = {each.operation.id for each in revisions if each.operation}
    others = [
        Revision(commit=each.commit, at=each.at, author="", subject=each.subject, paths=each.paths, operation=each)
        for each in sorted(known, key=lambda each: each.id, reverse=True)
        if each.id not in listed
    ]

    def moment(each: Revision) -> tuple[float, str]:
        return each.at, each.operation.id if each.operation else ""

    return [*merge(revisions, others, key=moment, reverse=True)]


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
    by_donna = "Donna" if row["actor"] == "donna" else f"Donna for {row['actor']}"
    who = by_donna if row["by_donna"] else row["actor"]
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
WHERE_SESSIONS_ARE = "`donna log` shows those that changed notes, `donna memories` those that remembered something"

Steps = Annotated[
    int | None, typer.Argument(metavar="N", help="The number of operations, as one step; by default one.", min=1)
]
AgentSession = Annotated[
    str | None,
    typer.Option(
        "--session",
        metavar="ID",
        help="All changes that an agent made in this session; `donna log` and `donna memories` show sessions.",
    ),
]


@app.command("undo")
def undo(
    n: Steps = None,
    session: AgentSession = None,
    agreed: AssumeYes = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Undo Donna's last operations, or a session of an agent. The diff is shown first."""
    if session is not None:
        return _restore_session(OperationKind.UNDO, session, n, space, agreed=agreed, as_json=as_json)
    n = n or 1
    writer = open_writer_of(space, allowlist=(EVERYWHERE,))
    with _naming_next_step():
        plan = writer.undo_planner.undo(n)
    by_agents = [operation.id for operation in writer.undoable()[:n] if operation.session]
    _restore(writer, plan, space, {}, by_agents, agreed=agreed, as_json=as_json)


@app.command("redo")
def redo(
    n: Steps = None,
    session: AgentSession = None,
    agreed: AssumeYes = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Redo the last undone operations, or a session of an agent. The diff is shown first."""
    if session is not None:
        return _restore_session(OperationKind.REDO, session, n, space, agreed=agreed, as_json=as_json)
    n = n or 1
    writer = open_writer_of(space, allowlist=(EVERYWHERE,))
    with _naming_next_step():
        plan = writer.undo_planner.redo(n)
    redoable = writer.redoable()
    sessions = {
        session: [operation.id for operation in redoable[:n] if operation.session == session]
        for session in sorted(whole_sessions(redoable, n))
    }
    _restore(writer, plan, space, sessions, agreed=agreed, as_json=as_json)


@contextlib.contextmanager
def _naming_next_step() -> Iterator[None]:
    """Say how to go on if a note was changed since the operation to undo or redo; the app compares its versions."""
    try:
        yield
    except VaultWriteError as error:
        if error.reason is not Reason.UNDO_CONFLICT or error.hint:
            raise
        hint = "discard that change, for example with git restore, or press z in the app to compare the versions"
        raise VaultWriteError(error.reason, error.message, hint=hint, path=error.path) from error


def _restore(
    writer: VaultWriter,
    plan: Plan,
    space: str | None,
    sessions: Mapping[str, Sequence[str]],
    by_agents: Sequence[str] = (),
    *,
    agreed: bool,
    as_json: bool,
) -> None:
    """Apply an undo or redo after showing its diff, and report it.

    Drafts follow it, and the memory of these sessions, with the operations of each that are redone. An undo of
    operations `by_agents` also undoes what was redone with them.
    """
    if not agreed_to(plan, agreed=agreed, as_json=as_json):
        return print_message("Nothing was changed.")
    outcome = apply(writer, plan, agreed=agreed, as_json=as_json)
    sides = (side for change in plan.changes for side in (change.before, change.after))
    change = SessionChange()
    if sessions or by_agents or any(data is not None and DRAFT_KEY.encode() in data for data in sides):
        try:
            change = _follow(plan.kind, space, sessions, by_agents)
        except DonnaError as error:
            message = f"the notes are restored, but the drafts and memories are not: {error.message}"
            raise DonnaError(error.reason, message, hint=error.hint) from error
    emit({**outcome_fields(plan, outcome), **asdict(change)}, summary_lines(plan, outcome), as_json=as_json)
    _report(plan.kind, change)


def _restore_session(
    kind: OperationKind, identity: str, n: int | None, space: str | None, *, agreed: bool, as_json: bool
) -> None:
    """Undo or redo an agent's session: its writes and its changes to the memory. Raises DonnaError without consent."""
    from donna_tui.engine.memory_service import session_of

    if n is not None:
        raise DonnaError(Reason.USAGE, "a number and --session cannot be used together")
    identity = session_of(identity.strip())
    if not identity:
        raise DonnaError(Reason.USAGE, "no session given", hint=WHERE_SESSIONS_ARE)
    writer = open_writer_of(space, allowlist=(EVERYWHERE,))
    with _naming_next_step():
        plan = writer.undo_planner.session_plan(kind, identity)
    if plan:
        _restore(writer, plan, space, {identity: plan.redoes}, agreed=agreed, as_json=as_json)
        return
    if not _is_session(kind, writer, identity, space):
        raise DonnaError(Reason.MISSING, f"there is no session {identity}", hint=WHERE_SESSIONS_ARE)
    if not agreed:
        message = f"no note of this session can be {kind}ne"
        raise DonnaError(Reason.USAGE, message, hint=f"--yes {kind}es its changes to the memory")
    # an earlier redo may have redone only the notes
    undoable = writer.undoable() if kind is OperationKind.REDO and writer.repo.find() else ()
    redone = [operation.id for operation in undoable if operation.session == identity]
    change = _follow(kind, space, {identity: redone})
    if change == SessionChange():
        reason = Reason.NOTHING_TO_REDO if kind is OperationKind.REDO else Reason.NOTHING_TO_UNDO
        raise VaultWriteError(reason, f"nothing of this session can be {kind}ne")
    emit({"session": identity, **asdict(change)}, (), as_json=as_json)
    _report(kind, change)


def _is_session(kind: OperationKind, writer: VaultWriter, identity: str, space: str | None) -> bool:
    """Check whether a session of an agent changed notes or the memory."""
    operations = each_operation(writer.repo, writer.repo.record()) if writer.repo.find() else ()
    if any(operation.session == identity for operation in operations):
        return True
    return run_with_engine(
        open_session(space), f"donna {kind}", lambda engine: engine.memory.has_session(identity), semantic=False
    )


def _follow(
    kind: OperationKind, space: str | None, sessions: Mapping[str, Sequence[str]], by_agents: Sequence[str] = ()
) -> SessionChange:
    """Undo or redo the changes of these sessions to the memory, and update drafts and the corrections from them."""

    async def follow(engine: Engine) -> SessionChange:
        await engine.drafts.drafts()
        memory, is_redo = engine.memory, kind is OperationKind.REDO
        changes = [
            astuple(await (memory.redo_session(session, redone) if is_redo else memory.undo_session(session)))
            for session, redone in sessions.items()
        ]
        if by_agents and await memory.undo_redone(by_agents):
            print_message("donna: the agent's changes to the memory are undone too")
        await memory.wait_until_indexed(INDEX_WAIT_SECONDS)
        return SessionChange(*map(sum, zip((0, 0, 0), *changes, strict=True)))

    return run_with_engine(open_session(space), f"donna {kind}", follow, semantic=False)


def _report(kind: OperationKind, change: SessionChange) -> None:
    forgot, restored, stored = (
        ("forgot {} again", "restored {} of the session", "restored {} of the session")
        if kind is OperationKind.REDO
        else ("forgot {} of the session", "restored {} that the session had forgotten", "removed {} of the session")
    )
    for number, noun, many, done in (
        (change.forgotten, "memory", "memories", forgot),
        (change.restored, "memory", "memories", restored),
        (change.messages, "message", "messages", stored),
    ):
        if number:
            print_message(f"donna: {done.format(plural(number, noun, many))}")
