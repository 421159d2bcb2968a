"""Implement `donna draft`: list, show, approve, reject, edit and write drafts."""

from __future__ import annotations

import asyncio
import datetime
import os
import shlex
import subprocess
from collections.abc import Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, AssumeYes, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit, named_day, print_message, require_found
from donna_tui.cli.search import run_with_index
from donna_tui.cli.session import Session, open_session
from donna_tui.cli.write import agreed_to, agrees_to_repository, outcome_fields, writer_for
from donna_tui.engine.draft_service import DraftService
from donna_tui.engine.engine import Engine
from donna_tui.engine.skill_runner import skill_names
from donna_tui.text.plural import plural
from donna_tui.types.drafts import Draft, DraftRow, DraftState
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.notes import Edit
from donna_tui.vault.edit_drafts import EditDrafts, edited_text
from donna_tui.vault.write.changes import OperationKind, Outcome, Plan, has_etag
from donna_tui.vault.write.file_names import EVERYWHERE

app = new_app("Drafts: approve or reject notes that Donna wrote.")

Identity = Annotated[str, typer.Argument(metavar="DRAFT", help="The id of the draft, or the path of its note.")]

WHAT = "donna draft"
_REPORTED = ("id", "operation", "commit", "changed", "paths", "remarks")


@app.command("list")
def draft_list(
    everything: Annotated[bool, typer.Option("--all", help="Include those that were approved or rejected.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List waiting drafts, and failed ones with the reason."""
    rows = run_with_index(open_session(space), WHAT, lambda engine: engine.drafts.drafts(everything=everything))
    _print_rows(rows, "no drafts", as_json=as_json)


@app.command("show")
def draft_show(named: Identity, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Print a draft with its sources."""
    draft = run_with_index(open_session(space), WHAT, lambda engine: _draft(engine.drafts, named))
    fields = {
        **asdict(draft.row),
        "text": draft.text,
        "etag": draft.etag,
        "remarks": draft.remarks,
        "evidence": [asdict(passage) for passage in draft.evidence],
        "claims": [asdict(claim) for claim in draft.claims],
        "hunks": [asdict(hunk) for hunk in draft.hunks],
    }
    emit(fields, _shown(draft), as_json=as_json)


@app.command("approve")
def draft_approve(
    named: Identity,
    without: Annotated[
        list[int] | None,
        typer.Option("--without", help="Exclude the hunk with this number; `donna draft show` prints the numbers."),
    ] = None,
    etag: Annotated[
        str | None, typer.Option("--etag", help="The version that you read; `donna draft show --json` prints it.")
    ] = None,
    agreed: AssumeYes = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Approve a draft as a note: one commit, one undo step.

    The numbers of `--without` apply to one version of the draft, so `--yes`, which shows no diff, requires `--etag`.
    """
    if without and agreed and etag is None:
        hint = "give the version that you read, as printed by `donna draft show --json`"
        raise DonnaError(Reason.USAGE, "--without and --yes need --etag", hint=hint)

    async def decide(engine: Engine) -> tuple[Plan, Outcome | None]:
        row = await _row(engine.drafts, named)
        plan = await engine.drafts.plan_approval(row.id, without=frozenset(without or ()), etag=etag)
        agrees = agreed_to(plan, agreed=agreed, as_json=as_json)
        return plan, await engine.drafts.approve(row.id, plan) if agrees else None

    _report(*run_with_index(open_session(space), WHAT, decide), as_json=as_json)


@app.command("reject")
def draft_reject(
    named: Identity, agreed: AssumeYes = False, space: SpaceOption = None, as_json: AsJson = False
) -> None:
    """Reject a draft; none is written for this occasion again. `donna undo` restores it."""

    async def decide(engine: Engine) -> tuple[Plan, Outcome | None]:
        row = await _row(engine.drafts, named)
        plan = await engine.drafts.plan_rejection(row.id)
        agrees = agreed_to(plan, agreed=agreed, as_json=as_json)
        return plan, await engine.drafts.reject(row.id, plan) if agrees else None

    _report(*run_with_index(open_session(space), WHAT, decide), as_json=as_json)


@app.command("edit")
def draft_edit(named: Identity, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Open a draft in $EDITOR, and write it as one operation."""
    session = open_session(space)
    draft = run_with_index(session, WHAT, lambda engine: _draft(engine.drafts, named))
    if draft.row.state is not DraftState.WAITING:
        raise DonnaError(Reason.NOT_A_DRAFT, "this draft is no longer waiting")
    unsaved = EditDrafts(session.space.state / "edits")
    copy = unsaved.begin(Edit(draft.row.path, draft.text, draft.etag, draft.text))
    text = _edited(copy)
    writer = writer_for(session, allowlist=(EVERYWHERE,))
    try:
        plan = writer.planner.write(draft.row.path, text, expected=has_etag(draft.etag), replace=True)
        outcome = writer.apply(plan)
    except DonnaError as error:
        message = f"{error.message}; your text is in {copy}"
        raise DonnaError(error.reason, message, hint=error.hint) from error
    unsaved.drop(draft.row.path)
    _report(plan, outcome, as_json=as_json)


@app.command("redraft")
@app.command("regenerate", hidden=True)
def draft_redraft(named: Identity, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Redraft from the current notes, or retry a failed draft."""
    session = open_session(space)

    async def again(engine: Engine) -> DraftRow:
        row = await engine.drafts.regenerate((await _row(engine.drafts, named)).id)
        return await completed(session, engine, row, as_json=as_json)

    print_row(run_with_index(session, WHAT, again), as_json=as_json)


@app.command("new")
def draft_new(
    skill: Annotated[str, typer.Argument(help="daily_reflection, commitment_log, weekly_review or person_profile.")],
    day: Annotated[str, typer.Option("--day", metavar="DAY", help="A day such as 2026-03-12; today by default.")] = "",
    person: Annotated[str, typer.Option("--person", metavar="NAME", help="The person, for person_profile.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Write the draft of a day or a week now. For meetings use `donna meetings write`."""
    if skill not in (known := skill_names()):
        raise DonnaError(Reason.USAGE, f"there is no skill {skill}", hint=f"the skills are {', '.join(known)}")
    if person and skill != "person_profile":
        raise DonnaError(Reason.USAGE, "--person applies to person_profile only")
    wanted = named_day(day) if day else datetime.date.today()
    if wanted.year in (datetime.MINYEAR, datetime.MAXYEAR):  # the week around it would be outside the calendar
        raise DonnaError(Reason.USAGE, f"no draft can be written for {wanted}")
    session = open_session(space)

    async def write(engine: Engine) -> tuple[DraftRow, ...]:
        results = await engine.drafts.write_new(skill, wanted, person=person)
        ids = {result.draft for result in results}
        rows = [row for row in await engine.drafts.drafts(everything=True) if row.id in ids]
        return tuple([await completed(session, engine, row, as_json=as_json) for row in rows])

    rows = run_with_index(session, WHAT, write)
    _print_rows(rows, f"donna: nothing to draft: {_missing(session, skill, wanted, person)}", as_json=as_json)
    if any(row.state is DraftState.FAILED for row in rows):
        raise SystemExit(ExitCode.FAILED)


def _missing(session: Session, skill: str, day: datetime.date, person: str) -> str:
    """Return why there is no draft."""
    if person:
        return f"no note, task or chat says more about {person} than the name"
    if skill == "person_profile":
        often = session.config.skills.person_profile
        days = plural(often.lookback_days, "day")
        times = often.trigger_mentions_threshold
        return f"nobody without a page of yours was mentioned {times} times in the last {days}; use --person NAME"
    if skill == "commitment_log":
        return f"there are no promises or open tasks in the notes and chats of {day}"
    span = f"in the week of {day}" if skill == "weekly_review" else f"on {day}"
    return f"there is nothing to quote in notes, meetings, tasks or chats {span}"


async def completed(session: Session, engine: Engine, row: DraftRow, *, as_json: bool) -> DraftRow:
    """Print the remarks on a draft, or ask whether to create the repository that a failed one needs, and write it."""
    if row.state is DraftState.WAITING:
        print_message(*(await engine.drafts.draft(row.id)).remarks)
    if row.state is not DraftState.FAILED or row.reason != Reason.NO_REPOSITORY:
        return row
    if not agrees_to_repository(as_json):
        then = f"donna draft redraft {row.id}"
        print_message(f"donna: run git init in the vault, or agree when Donna asks, and then: {then}")
        return row
    await asyncio.to_thread(writer_for(session).init_if_missing)
    return await engine.drafts.regenerate(row.id)


def _print_rows(rows: tuple[DraftRow, ...], none: str, *, as_json: bool) -> None:
    found = {"count": len(rows), "drafts": [asdict(row) for row in rows]}
    emit(found, map(row_line, rows), as_json=as_json)
    require_found(rows, none)


def print_row(row: DraftRow, *, as_json: bool) -> None:
    """Print the row of a draft; exit with 5 if it failed."""
    emit(asdict(row), [row_line(row)], as_json=as_json)
    if row.state is DraftState.FAILED:
        raise SystemExit(ExitCode.FAILED)


def row_line(row: DraftRow) -> str:
    if row.state is DraftState.FAILED:
        return f"{row.id}  failed    {row.title}: {row.detail}"
    moves = f" → {row.target}" if row.path != row.target else ""
    return f"{row.id}  {row.state.value:<8}  {row.title}  ({row.path}{moves})"


async def _row(service: DraftService, named: str) -> DraftRow:
    if not named:  # as from an unset variable of a script: every id begins with it
        raise DonnaError(Reason.USAGE, "no draft given", hint="donna draft list shows the ids")
    rows = await service.drafts(everything=True)
    found = [row for row in rows if named in (row.id, row.path)] or [row for row in rows if row.id.startswith(named)]
    if len(found) != 1:
        message = f"there is no draft {named}" if not found else f"several drafts begin with {named}"
        raise DonnaError(Reason.MISSING if not found else Reason.USAGE, message, hint="donna draft list shows the ids")
    return found[0]


async def _draft(service: DraftService, named: str) -> Draft:
    return await service.draft((await _row(service, named)).id)


def _report(plan: Plan, outcome: Outcome | None, *, as_json: bool) -> None:
    if outcome is None:
        return print_message("Nothing was changed.")
    fields = {name: value for name, value in outcome_fields(plan, outcome).items() if name in _REPORTED}
    summary = f"{plan.subject} · operation {outcome.operation} · commit {outcome.commit[:12]}"
    lines = [summary, *plan.remarks] if outcome.changed else ["Nothing was changed."]
    if not outcome.changed and plan.kind is OperationKind.DELETE:
        lines = ["Rejected. There was no note to delete."]
    emit(fields, lines, as_json=as_json)


def _shown(draft: Draft) -> Iterator[str]:
    numbers = {claim.start_line: "".join(f"[{number}]" for number in claim.evidence) for claim in draft.claims}
    hunks = {hunk.start_line: str(hunk.number) for hunk in draft.hunks}
    yield row_line(draft.row)
    yield from draft.remarks
    for number, line in enumerate(draft.text.splitlines(), 1):
        yield f"{hunks.get(number, ''):>4}  {line}{' ' if number in numbers else ''}{numbers.get(number, '')}"
    for passage in draft.evidence:
        place = f"{passage.cited_path}:{passage.start_line}"
        yield f"[{passage.number}] {' › '.join((passage.title, *passage.heading_path))} ({place})"


def _edited(file: Path) -> str:
    """Return the text of a file after the user has edited it. The file is kept. Raises DonnaError if that fails."""
    editor = os.environ.get("VISUAL") or os.environ.get("EDITOR")
    if not editor:
        raise DonnaError(Reason.USAGE, "there is no editor", hint="set $EDITOR")
    try:
        code = subprocess.call([*shlex.split(editor), str(file)])  # noqa: S603 - the user's own editor
    except (OSError, ValueError):
        raise DonnaError(Reason.USAGE, "the editor cannot be started", hint="check $EDITOR") from None
    if code != 0:
        raise DonnaError(Reason.USAGE, "the editor exited with an error; nothing was changed", hint=f"see {file}")
    return edited_text(file)
