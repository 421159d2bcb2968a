"""Implement `donna conflicts`: list and resolve the conflict copies of sync programs."""

from __future__ import annotations

from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, AssumeYes, SpaceOption, new_app
from donna_tui.cli.output import emit, print_message, require_found
from donna_tui.cli.write import agreed_to, apply_and_report, can_show_diff, open_writer_of
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.conflicts import Keep
from donna_tui.vault.write.file_names import EVERYWHERE

app = new_app("List the conflict copies of sync programs. Each is listed with its note.")


@app.callback(invoke_without_command=True, no_args_is_help=False)
def conflicts(context: typer.Context, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Print the list, unless a command is named."""
    if context.invoked_subcommand is not None:
        source = context.get_parameter_source("space")
        if as_json or (source and source.name == "COMMANDLINE"):
            raise DonnaError(Reason.USAGE, f"--space and --json belong after {context.invoked_subcommand}")
        return
    copies = open_writer_of(space).resolver.copies()
    rows = [{"id": copy, "path": copy, "note": note} for copy, note in copies]
    emit({"conflicts": rows}, [f"{copy}  of  {note}" for copy, note in copies], as_json=as_json)
    require_found(rows, "no conflict copies")


@app.command("resolve")
def resolve(
    path: Annotated[str, typer.Argument(help="The path of the conflict copy within the vault.")],
    keep: Annotated[Keep, typer.Option("--keep", help="mine is the note, theirs the copy; both merges them.")],
    agreed: AssumeYes = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Keep one version or both, and delete the copy. It is one operation; the diff is shown first."""
    asks = not agreed and can_show_diff(as_json)
    writer = open_writer_of(space, allowlist=(EVERYWHERE,) if asks else None)
    plan = writer.resolver.plan(writer.resolver.conflict(path), keep)
    if not agreed_to(plan, agreed=agreed, as_json=as_json):
        return print_message("Nothing was changed.")
    apply_and_report(writer, plan, agreed=agreed, as_json=as_json)
