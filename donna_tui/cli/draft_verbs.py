"""Define the commands for drafts."""

from __future__ import annotations

from typing import Annotated

import typer

from donna_tui.cli.output import guarded
from donna_tui.cli.vault import AsJson, SpaceOption

draft_app = typer.Typer(no_args_is_help=True, help="Drafts: notes that Donna wrote, and that you approve or reject.")

Identity = Annotated[str, typer.Argument(metavar="DRAFT", help="Its id, or the path of its note.")]
Agreed = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]


@draft_app.command("list")
def draft_list(
    everything: Annotated[bool, typer.Option("--all", help="Include those that were approved or rejected.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List waiting drafts, and failed ones with the reason."""
    from donna_tui.cli.draft import run_list

    with guarded(as_json):
        run_list(space, everything=everything, as_json=as_json)


@draft_app.command("show")
def draft_show(draft: Identity, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Print a draft with its sources."""
    from donna_tui.cli.draft import run_show

    with guarded(as_json):
        run_show(draft, space, as_json=as_json)


@draft_app.command("approve")
def draft_approve(
    draft: Identity,
    without: Annotated[
        list[int] | None, typer.Option("--without", help="Omit the part of this number; `donna draft show` prints it.")
    ] = None,
    agreed: Agreed = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Approve a draft as a note: one commit, which `donna undo` reverts."""
    from donna_tui.cli.draft import run_approve

    with guarded(as_json):
        run_approve(draft, without or [], space, agreed=agreed, as_json=as_json)


@draft_app.command("reject")
def draft_reject(draft: Identity, agreed: Agreed = False, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Reject a draft; none is written for this occasion again. `donna undo` restores it."""
    from donna_tui.cli.draft import run_reject

    with guarded(as_json):
        run_reject(draft, space, agreed=agreed, as_json=as_json)


@draft_app.command("edit")
def draft_edit(draft: Identity, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Open a draft in $EDITOR, and write it as one operation."""
    from donna_tui.cli.draft import run_edit

    with guarded(as_json):
        run_edit(draft, space, as_json=as_json)


@draft_app.command("regenerate")
def draft_regenerate(draft: Identity, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Compose a draft again from the current notes, or retry a failed one."""
    from donna_tui.cli.draft import run_regenerate

    with guarded(as_json):
        run_regenerate(draft, space, as_json=as_json)


@draft_app.command("new")
def draft_new(
    skill: Annotated[str, typer.Argument(help="daily_reflection, commitment_log, weekly_review or person_profile.")],
    day: Annotated[str, typer.Option("--day", metavar="DAY", help="A day such as 2026-03-12; today by default.")] = "",
    person: Annotated[str, typer.Option("--person", metavar="NAME", help="The person, for person_profile.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Write the draft of a day or a week now. For meetings use `donna meetings write`."""
    from donna_tui.cli.draft import run_new

    with guarded(as_json):
        run_new(skill, day, person, space, as_json=as_json)
