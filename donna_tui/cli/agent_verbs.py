"""Define the command for agents and other programs."""

from __future__ import annotations

from typing import Annotated

import typer

from donna_tui.cli.output import guarded
from donna_tui.cli.vault import SpaceOption

agent_app = typer.Typer()


@agent_app.command("mcp")
def mcp(
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP on this machine, not over stdio.")] = False,
    port: Annotated[
        int, typer.Option("--port", help="The port for --http; 0 picks a free one.", min=0, max=65535)
    ] = 8377,
    write: Annotated[
        bool, typer.Option("--write", help="Let clients remember, write notes and undo their own writes.")
    ] = False,
    quota: Annotated[int, typer.Option("--quota", help="The limit of writes per hour.", min=1)] = 50,
    allow_sensitive: Annotated[
        bool,
        typer.Option(
            "--allow-sensitive", help="Let clients see private notes, even if their model is on another machine."
        ),
    ] = False,
    allow_code: Annotated[
        bool,
        typer.Option("--allow-code", help="Let clients write code that Obsidian plugins run: Templater, DataviewJS."),
    ] = False,
    setup: Annotated[
        str,
        typer.Option(
            "--setup",
            metavar="CLIENT",
            help="Print the configuration of a client: claude-code, claude-desktop or codex.",
        ),
    ] = "",
    skill: Annotated[bool, typer.Option("--skill", help="Print the skill file for agents.")] = False,
    call: Annotated[
        tuple[str, str],
        typer.Option(
            "--call", metavar="TOOL JSON", help="Call one tool and print its result; plain words are a query."
        ),
    ] = ("", ""),
    demo: Annotated[bool, typer.Option("--demo", help="Use a fresh demo vault.")] = False,
    space: SpaceOption = None,
) -> None:
    """Serve the tools for agents over MCP: search, read, recall; with --write also remember, write and undo."""
    from donna_tui.cli.mcp import Served, run_call, run_server, run_setup, run_skill

    served = Served(
        write=write, quota=quota, allow_sensitive=allow_sensitive, allow_code=allow_code, http=http, port=port
    )
    with guarded(as_json=bool(call[0])):
        if skill:
            run_skill()
        elif setup:
            run_setup(setup, served, space)
        elif call[0]:
            run_call(call[0], call[1], served, space, demo=demo)
        else:
            run_server(served, space, demo=demo)
