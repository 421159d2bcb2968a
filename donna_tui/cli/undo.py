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
from donna_tui.types.memory import SessionChange
from donna_tui.vault.note.read import DRAFT_KEY
from donna_tui.vault.write.changes import Plan
from donna_tui.vault.write.file_names import EVERYWHERE
from donna_tui.vault.write.writer import VaultWriter

app = new_app()

INDEX_WAIT_SECONDS = 10.0

Steps = Annotated[int, typer.Argument(metavar="[N]", help="The number of operations, as one step.", min=1)]
AgentSession = Annotated[
    str, typer.Option("--session", metavar="ID", help="All that this session of an agent did; see `donna log`.")
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
    _restore(writer, writer.restorer.undo(n), space, agreed=agreed, as_json=as_json)


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
    plan = writer.restorer.redo(n)
    sessions = [each.session for each in writer.redoable()]
    if _restore(writer, plan, space, agreed=agreed, as_json=as_json):
        for identity in sorted({*sessions[:n]} - {*sessions[n:], ""}):  # of which nothing is left to redo
            _report(run(_change_memories(space, identity, redo=True)), redo=True)


def _restore(writer: VaultWriter, plan: Plan, space: str | None, *, agreed: bool, as_json: bool) -> bool:
    """Apply an undo or redo after showing its diff. If it is of a draft, what Donna learned from it follows.

    Return whether it was applied.
    """
    sides = (side for change in plan.changes for side in (change.before, change.after))
    applied = carry_out_if_agreed(writer, plan, agreed=agreed, as_json=as_json)
    if applied and any(map(_may_be_draft, sides)):
        run(_follow_drafts(space, f"donna {plan.kind}"))
    return applied


def _may_be_draft(data: bytes | None) -> bool:
    return data is not None and DRAFT_KEY.encode() in data


async def _follow_drafts(space: str | None, what: str) -> None:
    """Bring the list of drafts, and the corrections from their approvals, to the state of the vault."""
    async with engine_for(open_session(space), what, semantic=False) as engine:
        await engine.drafts.drafts()
        await engine.memory.wait_until_indexed(INDEX_WAIT_SECONDS)


def _restore_session(identity: str, space: str | None, *, redo: bool, agreed: bool, as_json: bool) -> None:
    """Undo or redo an agent's session: its writes and its changes of the memory. Raises DonnaError without consent."""
    writer = open_writer_of(space)
    plan = _session_plan(writer, identity, redo=redo)
    if plan and not agreed_to(plan, agreed=agreed, as_json=as_json):
        print_message("Nothing was changed.")
        return
    verb = "redo" if redo else "undo"
    if plan is None and not agreed:
        message = f"there is no note of this session to {verb}"
        raise DonnaError(Reason.USAGE, message, hint=f"--yes {verb}es what it did to the memory")
    if plan:
        carry_out(writer, plan, agreed=False, as_json=as_json)
    change = run(_change_memories(space, identity, redo=redo))
    _report(change, redo=redo)
    if plan is None and change == SessionChange():
        reason = Reason.NOTHING_TO_REDO if redo else Reason.NOTHING_TO_UNDO
        raise VaultWriteError(reason, f"there is nothing of this session to {verb}")
    if plan is None:
        emit({"session": identity, **asdict(change)}, as_json=as_json, human=list)


def _session_plan(writer: VaultWriter, identity: str, *, redo: bool) -> Plan | None:
    try:
        return writer.restorer.redo_session(identity) if redo else writer.restorer.undo_session(identity)
    except VaultWriteError as error:
        if error.reason not in (Reason.NOTHING_TO_UNDO, Reason.NOTHING_TO_REDO, Reason.NO_REPOSITORY):
            raise
        return None


async def _change_memories(space: str | None, identity: str, *, redo: bool) -> SessionChange:
    from donna_tui.agents.tools.memory import undo_or_redo_memories

    async with engine_for(open_session(space), "donna redo" if redo else "donna undo", semantic=False) as engine:
        return await undo_or_redo_memories(engine.memory, identity, redo=redo)


def _report(change: SessionChange, *, redo: bool) -> None:
    forgotten, restored, messages = (
        ("forgotten again", "of this session remembered again", "restored that it had stored")
        if redo
        else ("of this session forgotten", "restored that it had forgotten", "removed that it had stored")
    )
    if change.forgotten:
        print_message(f"donna: {plural(change.forgotten, 'memory', 'memories')} {forgotten}")
    if change.restored:
        print_message(f"donna: {plural(change.restored, 'memory', 'memories')} {restored}")
    if change.messages:
        print_message(f"donna: {plural(change.messages, 'message')} {messages}")
