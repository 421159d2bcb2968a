"""Implement `donna write`, `rm` and `mv`, each as one operation that `donna undo` reverts."""

from __future__ import annotations

import dataclasses
import os
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from donna_tui.cli.failure import require_open_streams
from donna_tui.cli.options import AsJson, MayInitialise, SpaceOption, new_app
from donna_tui.cli.output import emit, emit_lines, print_message, print_problem
from donna_tui.cli.session import Session, open_session
from donna_tui.safety.terminal import clean_line
from donna_tui.text.plural import plural
from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.vault.client import NOTE_ENDINGS
from donna_tui.vault.links.rewrite import SHOWN_IN_REMARKS
from donna_tui.vault.note.diff import as_unified, diff_bytes
from donna_tui.vault.open import open_writer
from donna_tui.vault.write.changes import Change, OperationKind, Outcome, Plan, Precondition, any_version, has_etag
from donna_tui.vault.write.file_names import EVERYWHERE, check_place
from donna_tui.vault.write.writer import VaultWriter

app = new_app()

Etag = Annotated[str | None, typer.Option("--etag", help="The version that you read; `donna get --json` prints it.")]

UNCHANGED, UNMOVED = "no change: the note already has this text", "no change: it is there already"


@app.command("write")
def write(
    path: Annotated[str, typer.Argument(help="The path of the note within the vault.")],
    source: Annotated[
        str | None, typer.Option("--from", metavar="FILE", help="Read the text from a file, not stdin.")
    ] = None,
    etag: Etag = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the whole note: frontmatter that the text omits is removed.")
    ] = False,
    agreed: MayInitialise = False,
    track: Annotated[
        bool, typer.Option("--track", help="Commit the note even if it is not in git because it was private.")
    ] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Write a note: one commit, one undo step. Frontmatter keys that the text omits are preserved."""
    session = open_session(space)
    content = given_text(source)
    if source is None and not content:  # the command before the pipe may have failed
        raise DonnaError(Reason.USAGE, "there is no text on stdin", hint="--from /dev/null writes an empty note")

    def planned(writer: VaultWriter) -> Plan:
        try:
            plan = writer.planner.write(path, content, expected=has_etag(etag), replace=replace)
        except VaultWriteError as error:
            if error.reason is not Reason.CONFLICT or etag is not None:
                raise
            hint = "to change it, give the version that you read: --etag, as printed by `donna get --json`"
            raise VaultWriteError(Reason.CONFLICT, f"the note {path} already exists", hint=hint, path=path) from error
        return dataclasses.replace(plan, may_track=track)

    carry_out(session, planned, agreed=agreed, as_json=as_json)


@app.command("rm")
def rm(
    path: Annotated[str, typer.Argument(help="The path of the note, or of a folder, within the vault.")],
    etag: Etag = None,
    agreed: Annotated[
        bool, typer.Option("--yes", help="Do not ask, and create a git repository in the vault if it has none.")
    ] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Delete a note, or all notes in a folder. Their text stays in git; `donna undo` restores it.

    In a terminal it asks before it deletes a folder, and, even with --yes, outside of safety.path_allowlist.
    """
    session, is_folder = open_session(space), False

    def planned(writer: VaultWriter) -> Plan:
        nonlocal is_folder
        is_folder = _is_folder(writer, session, path, etag)
        if is_folder:
            return writer.planner.delete_all([path.rstrip("/")])
        return writer.planner.delete(path, expected=_precondition(etag))

    def question(plan: Plan) -> str:
        notes = plural(sum(change.after is None for change in plan.changes), "note")
        return f"Delete {notes} in {clean_line(path.rstrip('/'))}? [y/N] " if is_folder else ""

    carry_out(session, planned, agreed=agreed, as_json=as_json, question=question)


@app.command("mv")
def mv(
    src: Annotated[str, typer.Argument(help="The current path of the note or folder.")],
    dst: Annotated[str, typer.Argument(help="Its new path, or a folder with a slash at the end.")],
    etag: Etag = None,
    links: Annotated[bool, typer.Option("--links/--no-links", help="Rewrite the links to the note.")] = True,
    agreed: MayInitialise = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Move or rename a note or a folder, and rewrite links to it. One operation, which `donna undo` reverts."""
    session = open_session(space)
    target = f"{dst}{Path(src).name}" if dst.endswith("/") else dst

    def planned(writer: VaultWriter) -> Plan:
        if _is_folder(writer, session, src, etag):
            return writer.planner.move_folder(src.rstrip("/"), target, links=links)
        return writer.planner.move(src, target, expected=_precondition(etag), links=links)

    carry_out(session, planned, agreed=agreed, as_json=as_json)


def _is_folder(writer: VaultWriter, session: Session, path: str, etag: str | None) -> bool:
    """Return whether a path is a folder, not a note. Raises DonnaError if it is neither, or a folder with an etag."""
    if writer.is_folder(path):
        if etag is not None:
            raise DonnaError(Reason.USAGE, f"{path} is a folder, and only notes have an etag")
        return True
    place = check_place(path.rstrip("/") or path)
    if not path.lower().endswith(NOTE_ENDINGS) and not os.path.lexists(session.space.root.joinpath(*place)):
        raise VaultWriteError(Reason.MISSING, f"there is no note or folder {path}", path=path)
    return False


def open_writer_of(space: str | None, *, allowlist: Sequence[str] | None = None) -> VaultWriter:
    return writer_for(open_session(space), allowlist=allowlist)


def writer_for(session: Session, *, allowlist: Sequence[str] | None = None) -> VaultWriter:
    """Open the writer of a session. It reports interrupted writes on stderr."""

    def report(trouble: VaultWriteError) -> None:
        print_problem(f"{trouble.path}: {trouble.message}", trouble.hint)

    return open_writer(session.config, session.space, on_recovered=report, allowlist=allowlist)


def carry_out(
    session: Session,
    planned: Callable[[VaultWriter], Plan],
    *,
    agreed: bool,
    as_json: bool,
    question: Callable[[Plan], str] = lambda _plan: "",
) -> None:
    """Plan and apply an operation, after a `question` at a terminal if it returns one, and report it.

    A person at a terminal may write outside of `safety.path_allowlist`, after seeing the diff.
    """
    writer = writer_for(session)
    try:
        plan = planned(writer)
        asked = "" if agreed or not can_show_diff(as_json) else question(plan)
        if asked and not _confirmed(asked):
            return print_message("Nothing was changed.")
    except VaultWriteError as error:
        if error.reason is not Reason.OUTSIDE_ALLOWLIST or not can_show_diff(as_json):
            raise
        writer = writer_for(session, allowlist=(EVERYWHERE,))
        plan = planned(writer)
        if not agreed_to(plan, agreed=False, as_json=as_json):
            return print_message("Nothing was changed.")
    apply_and_report(writer, plan, agreed=agreed, as_json=as_json)


def apply_and_report(writer: VaultWriter, plan: Plan, *, agreed: bool, as_json: bool) -> None:
    outcome = apply(writer, plan, agreed=agreed, as_json=as_json)
    emit(outcome_fields(plan, outcome), summary_lines(plan, outcome), as_json=as_json)


def apply(writer: VaultWriter, plan: Plan, *, agreed: bool, as_json: bool) -> Outcome:
    """Apply a plan, after asking for the consent that it needs. Raises VaultWriteError without it."""
    try:
        return writer.apply(plan)
    except VaultWriteError as error:
        if error.reason is Reason.WOULD_TRACK:
            plan = _with_consent(plan, error, as_json)
        elif error.reason is Reason.NO_REPOSITORY and (agreed or agrees_to_repository(as_json)):
            writer.init_if_missing()
        else:
            raise
        return writer.apply(plan)


def agreed_to(plan: Plan, *, agreed: bool, as_json: bool) -> bool:
    """Show a diff and ask whether to apply it. Raises DonnaError if `agreed` is False and there is no terminal."""
    if agreed:
        return True
    if not can_show_diff(as_json):
        raise DonnaError(Reason.USAGE, f"{plan.subject}: needs confirmation", hint="--yes confirms it without asking")
    emit_lines(clean_line(line) for change in plan.changes for line in diff_lines(change))
    return _confirmed(f"{clean_line(plan.subject)}? [y/N] ")


def can_show_diff(as_json: bool) -> bool:
    """Return whether there is somebody to ask who sees the diff, which is printed to stdout."""
    return _can_ask(as_json) and sys.stdout.isatty()


def diff_lines(change: Change) -> list[str]:
    return as_unified(diff_bytes(change.path, change.before, change.after)).splitlines()


def _can_ask(as_json: bool) -> bool:
    return not as_json and sys.stdin.isatty() and sys.stderr.isatty()


def agrees_to_repository(as_json: bool) -> bool:
    """Ask for consent to create a repository; return False without a terminal."""
    if not _can_ask(as_json):
        return False
    print_message(
        "This vault is not in a git repository yet. Donna records every change in git, so that it can be undone."
    )
    return _confirmed("Create a repository in the vault? [y/N] ")


def _with_consent(plan: Plan, error: VaultWriteError, as_json: bool) -> Plan:
    """Ask whether a note that was private may be committed. Raises `error` without consent."""
    if _can_ask(as_json):
        print_message(f"{error.path}: {error.message}.")
        if _confirmed("Commit it to the branch? [y/N] "):
            return dataclasses.replace(plan, may_track=True)
    hint = "donna write --track commits it, and in a terminal Donna asks; or keep the note marked as private"
    raise VaultWriteError(error.reason, error.message, hint=hint, path=error.path) from error


def _confirmed(question: str) -> bool:
    sys.stderr.write(question)
    sys.stderr.flush()
    return sys.stdin.readline().strip().lower() in ("y", "yes")


def given_text(source: str | None = None) -> str:
    """Read the text for a command from a file, or from stdin. Raises DonnaError unless it is readable and UTF-8."""
    if source is None:
        require_open_streams("reading the text", 0)
    try:
        data = sys.stdin.buffer.read() if source is None else Path(source).read_bytes()
    except OSError as error:
        raise DonnaError(Reason.USAGE, f"{source} cannot be read ({error.strerror})") from error
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError:
        raise VaultWriteError(Reason.ENCODING, "the text is not UTF-8") from None


def _precondition(etag: str | None) -> Precondition:
    return any_version if etag is None else has_etag(etag)


def outcome_fields(plan: Plan, outcome: Outcome) -> dict[str, Any]:
    return {
        "id": outcome.operation or None,
        "operation": outcome.operation or None,
        "commit": outcome.commit,
        "changed": outcome.changed,
        "kind": outcome.kind.value,
        "paths": list(outcome.paths),
        "etags": list(outcome.etags),
        "etag": next((etag for etag in outcome.etags if etag), None),
        "remarks": list(plan.remarks),
        "record_only": list(outcome.record_only),
        "links_not_rewritten": list(plan.unread),
    }


def summary_lines(plan: Plan, outcome: Outcome) -> list[str]:
    if not outcome.changed:
        return [UNMOVED if outcome.kind is OperationKind.MOVE else UNCHANGED]
    where = "record" if len(outcome.record_only) == len(outcome.paths) > 0 else "commit"
    summary = f"{plan.subject} · operation {outcome.operation} · {where} {outcome.commit[:12]}"
    linked = plan.linked if outcome.kind is OperationKind.MOVE else 0
    links = [f"links rewritten in {plural(linked, 'note')}"] if linked > 0 else []
    unread = [f"  not read: {path}" for path in plan.unread] if len(plan.unread) > SHOWN_IN_REMARKS else []
    names = ", ".join(outcome.record_only[:3]) + (" …" if len(outcome.record_only) > 3 else "")
    private = [
        f"private: {names}. The change is in refs/donna/operations and can be undone; your branch does not contain it"
    ]
    return [summary, *links, *plan.remarks, *unread, *(private if outcome.record_only else [])]
