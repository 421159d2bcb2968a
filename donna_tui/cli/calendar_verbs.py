"""Define the commands for meetings."""

from __future__ import annotations

from typing import Annotated

import typer

from donna_tui.cli.output import guarded
from donna_tui.cli.vault import AsJson, SpaceOption

meetings_app = typer.Typer(no_args_is_help=True, help="Meetings from your calendars and from calendar files.")


@meetings_app.command("list")
def meetings_list(
    start: Annotated[
        str, typer.Option("--from", metavar="DAY", help="The first day, such as 2026-03-12; today by default.")
    ] = "",
    days: Annotated[int, typer.Option("--days", help="The number of days.", min=1, max=3660)] = 7,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List the meetings of some days, after reading the followed calendars."""
    from donna_tui.cli.meetings import run_list

    with guarded(as_json):
        run_list(start, days, space, as_json=as_json)


@meetings_app.command("import")
def meetings_import(
    path: Annotated[str, typer.Argument(metavar="FILE", help="An .ics file, or a folder of such files.")],
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Import a calendar file once: ten years back and one ahead. Repeating it imports only changes."""
    from donna_tui.cli.meetings import run_import

    with guarded(as_json):
        run_import(path, space, as_json=as_json)


@meetings_app.command("connect")
def meetings_connect(
    name: Annotated[str, typer.Argument(help="The name of a Google calendar in your settings.")],
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Allow Donna to read a Google calendar: open the printed URL, and allow access."""
    from donna_tui.cli.meetings import run_connect

    with guarded(as_json):
        run_connect(name, space, as_json=as_json)


@meetings_app.command("write")
def meetings_write(
    event: Annotated[str, typer.Argument(metavar="EVENT_ID", help="The id of the meeting; list --json shows it.")],
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Write the draft of a meeting now, whether or not it has ended."""
    from donna_tui.cli.meetings import run_write

    with guarded(as_json):
        run_write(event, space, as_json=as_json)
