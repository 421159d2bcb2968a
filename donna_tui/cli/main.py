"""Define the commands of `donna`. Slow imports are deferred to the command that needs them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from donna_tui.cli.agent_verbs import agent_app
from donna_tui.cli.calendar import calendar_app
from donna_tui.cli.calendar_verbs import meetings_app
from donna_tui.cli.config import config_app
from donna_tui.cli.draft_verbs import draft_app
from donna_tui.cli.lazy_verbs import ABOUT_ALL, reduced_to_verb, verb_meant
from donna_tui.cli.memory import memory_app
from donna_tui.cli.model import model_app
from donna_tui.cli.output import ExitCode, guarded, print_message
from donna_tui.cli.sync_verbs import sync_app
from donna_tui.cli.vault import AsJson, SpaceOption, vault_app
from donna_tui.types.errors import ConfigError

OPEN = "open"
"""The command that is run if none is named."""


class OpensByDefault(TyperGroup):
    """Expand `donna`, `donna SPACE` and `donna --space SPACE` to `donna open …`."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Insert `open` before arguments that do not begin with a command."""
        if not args or (args[0] not in self.commands and args[0] not in ABOUT_ALL):
            args = [OPEN, *args]
        return super().parse_args(ctx, args)


app = typer.Typer(
    cls=OpensByDefault,
    help="The memory of your vault, in the terminal. `donna SPACE` opens it; every screen has its own commands.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
    context_settings={"help_option_names": ["-h", "--help"]},
)
app.add_typer(config_app, name="config")
app.add_typer(vault_app)
app.add_typer(memory_app)
app.add_typer(agent_app)
app.add_typer(draft_app, name="draft")
app.add_typer(meetings_app, name="meetings")
app.add_typer(calendar_app, name="calendar")
app.add_typer(model_app, name="model")
app.add_typer(sync_app)


def run_command_line(args: Sequence[str]) -> None:
    """Run the command line. Always raises SystemExit."""
    meant = verb_meant(app, args)
    if meant and not _is_space(args[0]):
        print_message(
            f"donna: there is no command {args[0]}, and no folder of that name", f"       Did you mean donna {meant}?"
        )
        raise SystemExit(ExitCode.USAGE)
    reduced_to_verb(app, args, OPEN)(args, prog_name="donna")


def _is_space(name: str) -> bool:
    """Return whether a space has this name: a vault that was open before, or an agent."""
    import os

    from donna_tui.config.load import load_trusted
    from donna_tui.platform.paths import app_paths
    from donna_tui.platform.spaces import known_spaces

    try:
        agent = load_trusted().config.agents.agent(name)
    except ConfigError:  # which the verb itself reports
        agent = None
    return agent is not None or any(space.name == name for space in known_spaces(app_paths(os.environ)))


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
    """The memory of your vault, in the terminal."""


@app.command(OPEN)
def open_space(
    where: Annotated[
        str | None, typer.Argument(metavar="[SPACE]", help="A folder of notes, or the name of a space.")
    ] = None,
    space: SpaceOption = None,
) -> None:
    """Open the full-screen app (what `donna SPACE` does)."""
    from donna_tui.cli.tui import run_tui

    with guarded(as_json=False):
        run_tui(where or space)


@app.command()
def demo() -> None:
    """Open the full-screen app on a fresh demo vault."""
    from donna_tui.cli.tui import run_demo

    with guarded(as_json=False):
        run_demo()


@app.command()
def index(
    full: Annotated[
        bool, typer.Option("--full", help="Read every note again; missing notes count as deleted.")
    ] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Update the index now, and return when text and vectors are complete."""
    from donna_tui.cli.index import run_index

    with guarded(as_json):
        run_index(space, full=full, as_json=as_json)


@app.command()
def search(
    query: Annotated[str, typer.Argument(help='Words, "phrases", -words and filters such as path: or tag:.')] = "",
    k: Annotated[int, typer.Option("-k", help="The number of hits; 0 for the configured default.", min=0)] = 0,
    mode: Annotated[str, typer.Option("--mode", help="hybrid, semantic or keyword.")] = "hybrid",
    source: Annotated[list[str] | None, typer.Option("--source", help="Only this kind of document.")] = None,
    path: Annotated[str, typer.Option("--path", help="Only in this folder.")] = "",
    near: Annotated[bool, typer.Option("--near", help="Show near misses as well.")] = False,
    everywhere: Annotated[bool, typer.Option("--everywhere", help="Search all spaces.")] = False,
    batch: Annotated[
        str, typer.Option("--batch", help="A file of questions, one JSON object per line; - for stdin.")
    ] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Search, and print passages with their citations."""
    from donna_tui.cli.search import SearchOptions, run_batch, run_search

    with guarded(as_json):
        options = SearchOptions(
            k=k, mode=mode, sources=tuple(source or ()), path=path, near=near, everywhere=everywhere
        )
        if batch:
            run_batch(batch, options, space)
        else:
            run_search(query, options, space, as_json=as_json)


@app.command("why-not")
def why_not(
    note: Annotated[str, typer.Argument(help="The path of a note within the vault.")],
    query: Annotated[str, typer.Argument(help="The question that did not find it.")],
    k: Annotated[int, typer.Option("-k", help="The number of hits; 0 for the configured default.", min=0)] = 0,
    mode: Annotated[str, typer.Option("--mode", help="hybrid, semantic or keyword.")] = "hybrid",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Explain why a note is not among the hits of a search."""
    from donna_tui.cli.search import SearchOptions, run_why_not

    with guarded(as_json):
        run_why_not(note, query, SearchOptions(k=k, mode=mode, sources=(), path="", near=False), space, as_json=as_json)


@app.command()
def get(
    path: Annotated[str, typer.Argument(help="The path of a note within the vault.")],
    start: Annotated[int, typer.Option("--from", help="The first line to print.", min=1)] = 1,
    lines: Annotated[int | None, typer.Option("--lines", help="The number of lines to print.", min=1)] = None,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Print a note, or some lines of it."""
    from donna_tui.cli.get import run_get

    with guarded(as_json):
        run_get(path, start, lines, space, as_json=as_json)


@app.command()
def status(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Show the progress of the index, skipped files with reasons, and problems."""
    from donna_tui.cli.status import run_status

    with guarded(as_json):
        run_status(space, as_json=as_json)


@app.command()
def spaces(as_json: AsJson = False) -> None:
    """List the known vaults and memories of agents with their state."""
    from donna_tui.cli.status import run_spaces

    with guarded(as_json):
        run_spaces(as_json=as_json)


@app.command()
def doctor(
    repair: Annotated[bool, typer.Option("--repair", help="Set a damaged index aside and build a new one.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Examine the installation, the model, the vault and the index."""
    from donna_tui.cli.doctor import run_doctor

    with guarded(as_json):
        run_doctor(space, repair=repair, as_json=as_json)


@app.command("eval")
def evaluate(
    folders: Annotated[
        list[str], typer.Argument(metavar="DIR", help="A vault, or a folder with vault/ and files of questions.")
    ],
    mode: Annotated[str, typer.Option("--mode", help="Only hybrid, semantic, keyword or grep.")] = "",
    turns: Annotated[
        bool, typer.Option("--turns", help="Search turns of turns.jsonl, imported as chats, instead of notes.")
    ] = False,
    by_kind: Annotated[bool, typer.Option("--by-kind", help="Print a line for each kind of question too.")] = False,
    as_json: AsJson = False,
) -> None:
    """Measure the quality of search, compared with its single legs and plain grep."""
    from donna_tui.cli.eval import run_eval

    with guarded(as_json):
        run_eval(folders, mode, turns=turns, by_kind=by_kind, as_json=as_json)


@app.command()
def keys(
    check: Annotated[bool, typer.Option("--check", help="Only check the configured keys.")] = False,
    as_json: AsJson = False,
) -> None:
    """Print every action with its keys."""
    from donna_tui.cli.keys import run_keys

    with guarded(as_json):
        run_keys(check=check, as_json=as_json)
