"""Define the commands of `donna`: a table of the files that implement them, each imported when its command is named."""

from __future__ import annotations

import difflib
import re
from collections.abc import Sequence
from copy import copy
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any, NamedTuple, cast

import typer
from typer.core import TyperCommand, TyperGroup
from typer.main import get_command

from donna_tui.cli.options import ERRORS_AS_JSON
from donna_tui.cli.output import ExitCode, fail, print_message
from donna_tui.types.errors import ConfigError, DonnaError, Reason


class Entry(NamedTuple):
    """A command or a group: the module with its `app`, and the first sentence of its help."""

    module: str
    help: str


COMMANDS = {
    "open": Entry(".tui", "Open the full-screen app (what `donna SPACE` does)."),
    "demo": Entry(".tui", "Open the full-screen app on a fresh demo vault."),
    "index": Entry(".index", "Update the index, and return when it is complete."),
    "search": Entry(".search", "Search, and print passages with their citations."),
    "why-not": Entry(".search", "Explain why a note is not among the hits of a search."),
    "get": Entry(".get", "Print a note, or some lines of it."),
    "status": Entry(".status", "Show the progress of the index, and its problems."),
    "spaces": Entry(".status", "List vaults and memories of agents, each with its state."),
    "doctor": Entry(".status", "Check the installation, the model, the vault and the index."),
    "eval": Entry(".eval", "Measure the quality of search, compared with grep."),
    "keys": Entry(".keys", "Print every action with its keys."),
    "config": Entry(".config", "Settings: which are in effect, and where they are set."),
    "write": Entry(".write", "Write a note: one commit, one undo step."),
    "rm": Entry(".write", "Delete a note, or all notes in a folder."),
    "mv": Entry(".write", "Move or rename a note or a folder, and rewrite links to it."),
    "log": Entry(".history", "List changes: Donna's operations and other commits."),
    "diff": Entry(".history", "Show the changes of an operation, or those not in git."),
    "undo": Entry(".history", "Undo Donna's last operations, or a session of an agent."),
    "redo": Entry(".history", "Redo the last undone operations, or a session of an agent."),
    "remember": Entry(".remember", "Remember something that is not in a note."),
    "memories": Entry(".remember", "List memories other than notes, latest first, in pages."),
    "forget": Entry(".remember", "Forget a memory, so that it is neither found nor recalled."),
    "recall": Entry(".remember", "Select the memories for a prompt within a token budget."),
    "backfill": Entry(".index", "Index documents again from their sources."),
    "chat": Entry(".chat", "Chats: import, list and summarise them."),
    "task": Entry(".task", "Tasks: the check boxes of your notes."),
    "mcp": Entry(".mcp", "Serve the tools for agents over MCP."),
    "draft": Entry(".draft", "Drafts: approve or reject notes that Donna wrote."),
    "meetings": Entry(".meetings", "Meetings from your calendars and from calendar files."),
    "calendar": Entry(".calendar", "Calendars: add, list and test them."),
    "model": Entry(".model", "Models: install the embedding model, test language models."),
    "serve-webdav": Entry(".serve_webdav", "Serve the vault over WebDAV, to sync it with other devices."),
    "conflicts": Entry(".conflicts", "List the conflict copies of sync programs."),
}

OPEN = "open"
"""The command that is run if none is named."""

ABOUT_ALL = frozenset({"--help", "-h", "--version"})
"""The options of the program as a whole."""

IMPLIED_OPEN = "donna.space_opened"
"""The key of the context under which the first argument is stored, if it is not a command."""

LIKENESS = 0.7
"""The minimum similarity of a misspelt command to the one that is suggested, from 0 to 1."""


class Commands(TyperGroup):
    """The table as a group: imports a command when it is named, opens the app if none is, and reports errors."""

    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        own = copy(import_module(COMMANDS[cmd_name].module, __package__).app)
        named = [command for command in own.registered_commands if command.name == cmd_name]
        own.registered_commands = named or own.registered_commands
        return get_command(own)

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """Write the list of commands from the table, importing none."""
        listed = [TyperCommand(name, help=entry.help) for name, entry in COMMANDS.items()]
        TyperGroup(commands=listed).format_commands(ctx, formatter)

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Expand `donna`, `donna SPACE` and `donna --space SPACE` to `donna open …`."""
        if not args or (args[0] not in COMMANDS and args[0] not in ABOUT_ALL):
            ctx.meta[IMPLIED_OPEN] = args[0] if args else ""
            args = [OPEN, *args]
        return super().parse_args(ctx, args)

    def invoke(self, ctx: Any) -> Any:
        """Run the named command, and report an error in the format that its options request."""
        as_json = "--json" in ctx.args or "--call" in ctx.args
        try:
            return super().invoke(ctx)
        except DonnaError as error:
            fail(error, as_json=ctx.meta.get(ERRORS_AS_JSON, False))
        except USAGE_ERROR as error:
            if error.ctx is not None and error.message == error.ctx.get_help():  # a group without a command
                print_message(*error.message.splitlines())
                raise SystemExit(ExitCode.USAGE) from None
            if re.match("No such option: -(?!-)", error.message):
                error.message += "; put -- before words that begin with a dash"
            name = ctx.meta.get(IMPLIED_OPEN)
            if name and not name.startswith("-") and not Path(name).exists() and not _is_space(name):
                fail(DonnaError(Reason.USAGE, _no_command(name), hint="donna --help lists the commands"), as_json)
            fail(_usage(error), as_json=as_json)


USAGE_ERROR = cast("type[typer.BadParameter]", typer.BadParameter.__mro__[1])
"""The error of options and arguments that typer cannot parse. Typer exports only its subclass."""


def _usage(error: typer.BadParameter) -> DonnaError:
    """Convert an error of typer, without the wording of the library that validates values."""
    message = error.format_message().removesuffix(".")
    message = " ".join(message.split()).replace("Value error, ", "").replace("Input should", "it must")
    message = message[:1].lower() + message[1:].partition(", unable to")[0]
    path = error.ctx.command_path if error.ctx else "donna"
    return DonnaError(Reason.USAGE, message, hint=f"{path} --help describes it")


app = typer.Typer(
    cls=Commands,
    help="Search and edit a folder of Markdown notes. `donna SPACE` opens the app; the commands are for the shell.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def run_command_line(args: Sequence[str]) -> None:
    """Run the command line. Always raises SystemExit."""
    meant = _command_meant(args)
    if meant and not _is_space(args[0]):
        print_message(f"donna: {_no_command(args[0])}", f"       Did you mean donna {meant}?")
        raise SystemExit(ExitCode.USAGE)
    app(args, prog_name="donna")


def _no_command(name: str) -> str:
    return f"there is no command {name}, and no folder with that name"


def _command_meant(args: Sequence[str]) -> str:
    """Return the command that the first of `args` is a misspelling of, unless that is a command or a folder itself."""
    if not args or args[0].startswith("-") or "/" in args[0] or args[0] in COMMANDS:
        return ""
    near = difflib.get_close_matches(args[0].lower(), COMMANDS, 1, LIKENESS)
    return near[0] if near and not Path(args[0]).exists() else ""


def _is_space(name: str) -> bool:
    """Return whether a space has this name: a vault that was open before, or an agent."""
    from donna_tui.config.load import load_trusted
    from donna_tui.platform.paths import app_paths
    from donna_tui.platform.spaces import known_spaces

    try:
        agent = load_trusted().config.agents.agent(name)
    except ConfigError:  # which the command itself reports
        agent = None
    return agent is not None or any(space.name == name for space in known_spaces(app_paths()))


def _version(options: bool) -> None:
    if options:
        from donna_tui import __version__

        typer.echo(f"donna {__version__}")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Search and edit a folder of Markdown notes."""
