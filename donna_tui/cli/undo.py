"""Implement `donna undo` and `donna redo`: show the change, ask for consent, and apply it."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, AssumeYes, SpaceOption, new_app
from donna_tui.cli.output import emit, print_message
from donna_tui.cli.session import engine_for, open_session, run
from donna_tui.cli.write import agreed_to, carry_out, carry_out_if_agreed, open_writer_of
from donna_tui.text.plural import plural
from donna_tui.types.errors import DonnaError, Reason, VaultWriteError
from donna_tui.types.memory import SessionUndone
from donna_tui.vault.note.read import DRAFT_KEY
from donna_tui.vault.write.changes import Plan
from donna_tui.vault.write.file_names import EVERYWHERE
from donna_tui.vault.write.writer import VaultWriter

app = new_app()

INDEX_WAIT_SECONDS = 10.0

Steps = Annotated[int, typer.Argument(metavar="[N]", help="The number of operations, as one step.", min=1)]


@app.command("undo")
def undo(
    n: Steps = 1,
    session: Annotated[
        str,
        typer.Option("--session", metavar="ID", help="All that this session of an agent did; see `donna log`."),
    ] = "",
    agreed: AssumeYes = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Undo Donna's last operations, or all of an agent's session, after showing the diff."""
    if session:
        return _undo_session(session, space, agreed=agreed, as_json=as_json)
    writer = open_writer_of(space, allowlist=(EVERYWHERE,))
    _restore(writer, writer.restorer.undo(n), space, agreed=agreed, as_json=as_json)


@app.command("redo")
def redo(n: Steps = 1, agreed: AssumeYes = False, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Redo the last undone operations, after showing the diff."""
    writer = open_writer_of(space, allowlist=(EVERYWHERE,))
    _restore(writer, writer.restorer.redo(n), space, agreed=agreed, as_json=as_json)


def _restore(writer: VaultWriter, plan: Plan, space: str | None, *, agreed: bool, as_json: bool) -> None:
    """Apply an undo or redo after showing its diff. If it is of a draft, what Donna learned from it follows."""
    sides = (side for change in plan.changes for side in (change.before, change.after))
    if carry_out_if_agreed(writer, plan, agreed=agreed, as_json=as_json) and any(map(_may_be_draft, sides)):
        run(_follow_drafts(space))


def _may_be_draft(data: bytes | None) -> bool:
    return data is not None and DRAFT_KEY.encode() in data


async def _follow_drafts(space: str | None) -> None:
    """Bring the list of drafts, and the corrections from their approvals, to the state of the vault."""
    async with engine_for(open_session(space), "donna undo", by_meaning=False) as engine:
        await engine.drafts.drafts()
        await engine.memory.wait_until_indexed(INDEX_WAIT_SECONDS)


def _undo_session(identity: str, space: str | None, *, agreed: bool, as_json: bool) -> None:
    """Undo the writes of an agent's session, and what it did to the memory. Raises DonnaError without consent."""
    writer = open_writer_of(space)
    plan = _session_plan(writer, identity)
    if plan and not agreed_to(plan, agreed=agreed, as_json=as_json):
        print_message("Nothing was changed.")
        return
    if plan is None and not agreed:
        raise DonnaError(Reason.USAGE, "this session wrote no note; --yes undoes what it did to the memory")
    if plan:
        carry_out(writer, plan, agreed=False, as_json=as_json)
    undone = run(_undo_memories(space, identity))
    if undone.forgotten:
        print_message(f"donna: {plural(undone.forgotten, 'memory', 'memories')} of this session forgotten")
    if undone.restored:
        print_message(f"donna: {plural(undone.restored, 'memory', 'memories')} restored that it had forgotten")
    if undone.messages:
        print_message(f"donna: {plural(undone.messages, 'message')} removed that it had stored")
    if plan is None and undone == SessionUndone():
        raise VaultWriteError(Reason.NOTHING_TO_UNDO, "there is nothing of this session to undo")
    if plan is None:
        emit({"session": identity, **asdict(undone)}, as_json=as_json, human=list)


def _session_plan(writer: VaultWriter, identity: str) -> Plan | None:
    try:
        return writer.restorer.undo_session(identity)
    except VaultWriteError as error:
        if error.reason not in (Reason.NOTHING_TO_UNDO, Reason.NO_REPOSITORY):
            raise
        return None


async def _undo_memories(space: str | None, identity: str) -> SessionUndone:
    from donna_tui.agents.tools.memory import undo_memories

    async with engine_for(open_session(space), "donna undo") as engine:
        return await undo_memories(engine.memory, identity)
