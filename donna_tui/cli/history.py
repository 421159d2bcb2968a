"""Implement `donna log` and `donna diff`: list and show changes."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import Annotated, Any

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import emit, require_found
from donna_tui.cli.write import diff_lines, open_writer_of
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.client import NOTE_ENDINGS
from donna_tui.vault.write.changes import Change, Revision, etag_of
from donna_tui.vault.write.writer import VaultWriter

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
    undone = {each.id for each in writer.redoable()} if found else set()
    rows = [_row(revision, undone) for revision in found]
    emit({"operations": rows}, as_json=as_json, human=lambda: [_line(row) for row in rows])
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
    emit({"changes": rows}, as_json=as_json, human=lambda: lines)
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
    known = writer.restorer.operation_changes(what)
    if known is not None:
        return known
    try:
        return writer.history.changes(what)
    except DonnaError as error:
        message = "there is no note, operation or commit of that name"
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
