"""Implement `donna mcp`: serve the tools for agents over standard streams or over HTTP on this machine."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import json
import logging
import os
import select
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from donna_tui.agents.guard import token_file, token_of
from donna_tui.agents.setup import server_command, setup_for, skill_file
from donna_tui.agents.tools.catalogue import TOOLS, call
from donna_tui.agents.tools.context import WRITES, Access, ClientSession, Quota, ToolContext, actor_of
from donna_tui.cli.demo_vault import demo_folder, make_demo
from donna_tui.cli.failure import require_open_streams
from donna_tui.cli.options import ERRORS_AS_JSON, SpaceOption, new_app
from donna_tui.cli.output import emit_lines, exit_code, json_text, print_message, require_found
from donna_tui.cli.search import run_with_index
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.engine.engine import Engine
from donna_tui.engine.vault_service import announce
from donna_tui.http.guard import OncePerMinute
from donna_tui.platform.paths import app_paths
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.open import indexed_client, open_writer

if TYPE_CHECKING:
    from donna_tui.agents.server import Dispatcher
    from donna_tui.agents.stdio import Wire

app = new_app()

WHAT = "donna mcp"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServerOptions:
    """The permissions of clients, and the transport."""

    write: bool
    quota: int
    allow_sensitive: bool
    allow_code: bool
    http: bool
    port: int

    @property
    def arguments(self) -> list[str]:
        """Return these options as words of a command line."""
        quota = ["--quota", str(self.quota)] if self.write and self.quota != WRITES else []
        granted = {"--write": self.write, "--allow-sensitive": self.allow_sensitive, "--allow-code": self.allow_code}
        return [*(flag for flag, given in granted.items() if given), *quota]


@app.command("mcp")
def mcp(
    context: typer.Context,
    http: Annotated[bool, typer.Option("--http", help="Serve over HTTP on this machine, not over stdio.")] = False,
    port: Annotated[
        int, typer.Option("--port", help="The port for --http; 0 picks a free one.", min=0, max=65535)
    ] = 8377,
    write: Annotated[
        bool, typer.Option("--write", help="Let clients remember, write notes and undo their own writes.")
    ] = False,
    quota: Annotated[int, typer.Option("--quota", help="The maximum number of writes per hour.", min=1)] = 50,
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
        str | None,
        typer.Option(
            "--setup",
            metavar="CLIENT",
            help="Print the configuration of a client: claude-code, claude-desktop or codex.",
        ),
    ] = None,
    skill: Annotated[bool, typer.Option("--skill", help="Print the skill file for agents.")] = False,
    call: Annotated[
        str | None, typer.Option("--call", metavar="TOOL", help="Call one tool and print its result.")
    ] = None,
    arguments: Annotated[
        str, typer.Argument(metavar="JSON", help="Arguments as a JSON object; plain text is the first argument.")
    ] = "",
    demo: Annotated[bool, typer.Option("--demo", help="Use a fresh demo vault.")] = False,
    space: SpaceOption = None,
) -> None:
    """Serve the tools for agents over MCP. They search, read and recall; with --write they also remember, write and
    undo.
    """
    options = ServerOptions(
        write=write, quota=quota, allow_sensitive=allow_sensitive, allow_code=allow_code, http=http, port=port
    )
    context.meta[ERRORS_AS_JSON] = call is not None
    if arguments and call is None:
        raise DonnaError(Reason.USAGE, "arguments are given, but no tool", hint="name it with --call")
    if setup is not None and (http or demo):
        message = f"--setup and {'--http' if http else '--demo'} cannot be used together"
        hint = "it configures a client that starts the server over stdio, for your own notes"
        raise DonnaError(Reason.USAGE, message, hint=hint)
    if skill:
        emit_lines([skill_file().rstrip("\n")])
    elif setup is not None:
        _print_setup(setup, options, space)
    elif call is not None:
        _print_answer(call, arguments, options, space, demo=demo)
    else:
        _run_server(options, space, demo=demo)


def _print_setup(client: str, options: ServerOptions, space: str | None) -> None:
    """Print the configuration of a client, and where to put it."""
    meant = open_session(space).space
    named = ["--space", meant.agent or str(meant.root)]
    setup = setup_for(client, server_command([*named, *options.arguments], os.environ))
    emit_lines([setup.text])
    print_message(setup.where)


def _print_answer(name: str, arguments: str, options: ServerOptions, space: str | None, *, demo: bool) -> None:
    """Call one tool like a client, and print its answer."""
    given = _object(name, arguments)
    session = open_session(_demo_space() if demo else space)

    async def work(engine: Engine) -> dict[str, Any]:
        client = ClientSession(actor_of(WHAT), Quota(options.quota))
        return await call(_context_of(engine, session, options, client), name, given)

    answer = run_with_index(session, WHAT, work)
    emit_lines([json_text(answer)])
    if not answer["ok"]:
        raise SystemExit(exit_code(Reason(answer["reason"])))
    require_found(answer.get("count", 1) or answer.get("folders"))


def _run_server(options: ServerOptions, space: str | None, *, demo: bool) -> None:
    """Serve until the client disconnects or the process is terminated."""
    if importlib.util.find_spec("mcp") is None:
        raise DonnaError(
            Reason.USAGE, "the MCP SDK is not installed", hint="pip install 'donna-tui[mcp]', or make install"
        )
    _log_to_stderr()
    wire = None
    if not options.http:
        require_open_streams("donna mcp", 0, 1)
        from donna_tui.agents.stdio import take_over_stdio

        if sys.stdin is not None and sys.stdin.isatty():
            print_message(
                "donna: an agent's program talks to this over stdin; `donna mcp --setup` says how to connect one"
            )

        wire = take_over_stdio()
    session = open_session(_demo_space() if demo else space)
    with contextlib.suppress(asyncio.CancelledError, KeyboardInterrupt):
        run(_serve(session, options, wire))


async def _serve(session: Session, options: ServerOptions, wire: Wire | None) -> None:
    from donna_tui.agents.server import Dispatcher, Sessions, build_server

    task = asyncio.current_task()
    if task:
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
    async with engine_for(session, WHAT, watch=True) as engine:  # it may have to keep the index up to date
        sessions = Sessions(Quota(options.quota), alone=wire is not None)
        service = Dispatcher(lambda client: _context_of(engine, session, options, client), sessions, options.write)
        if wire:
            from donna_tui.agents.stdio import serve_stdio

            await serve_stdio(build_server(service), wire)
        else:
            await _serve_http(service, session, options.port)


async def _serve_http(service: Dispatcher, session: Session, port: int) -> None:
    from donna_tui.agents.http import serve_http
    from donna_tui.agents.server import build_server

    state = session.space.state
    token = token_of(state)

    def ready(address: str) -> None:
        print_message(
            f"donna: serving {session.space.name} at {address}", f"       the token is in {token_file(state)}"
        )

    await serve_http(build_server(service), port=port, token=token, ready=ready)


def _context_of(engine: Engine, session: Session, options: ServerOptions, client: ClientSession) -> ToolContext:
    config, space = session.config, session.space
    hub = engine.hub
    return ToolContext(
        engine=engine,
        access=Access(indexed_client(config, space.root), options.allow_sensitive, options.allow_code),
        session=client,
        writer=open_writer(config, space, announce(hub), on_recovered=hub.report) if options.write else None,
        results=config.retrieval.default_k,
    )


def _object(tool: str, text: str) -> dict[str, Any]:
    """Parse the arguments of a call: a JSON object, or plain words as the first argument of the tool."""
    if not text:
        return {}
    if not text.lstrip().startswith(("{", "[")):
        names = next((each.takes.model_fields for each in TOOLS if each.name == tool), ())
        return {next(iter(names), "query"): text}
    try:
        loaded = json.loads(text)
    except ValueError:
        loaded = None
    if not isinstance(loaded, dict):
        raise DonnaError(Reason.USAGE, "the arguments are not a JSON object", hint="""as in '{"query": "redis"}'""")
    return loaded


def _demo_space() -> str:
    return str(make_demo(demo_folder(app_paths())))


def _log_to_stderr() -> None:
    """Print log records of libraries in one clean line each, without tracebacks, which may contain text of notes."""
    root = logging.getLogger()
    root.handlers[:] = [StderrHandler()]
    root.setLevel(logging.ERROR)


class StderrHandler(logging.Handler):
    """Report records on stderr, repeated ones once a minute, and none if stderr is not read, which would block."""

    def __init__(self) -> None:
        super().__init__()
        self._write = OncePerMinute(_write_if_read)

    def emit(self, record: logging.LogRecord) -> None:
        what = f" ({record.exc_info[0].__name__})" if record.exc_info and record.exc_info[0] else ""
        self._write(f"donna: {record.name}: {record.getMessage()}{what}")


def _write_if_read(line: str) -> None:
    with contextlib.suppress(OSError, ValueError):
        if sys.stderr is not None and select.select([], [sys.stderr], [], 0)[1]:
            print_message(line)
