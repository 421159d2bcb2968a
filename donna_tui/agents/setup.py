"""Generate the configuration of MCP clients, and read the skill file for agents."""

from __future__ import annotations

import json
import shlex
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from donna_tui.text.encodable import encodable
from donna_tui.types.errors import DonnaError, Reason

NAME = "donna"


@dataclass(frozen=True, slots=True)
class Command:
    """The command by which a client starts the server: program, arguments, and required variables."""

    words: tuple[str, ...]
    environ: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Setup:
    text: str
    where: str


def server_command(arguments: Sequence[str], environ: Mapping[str, str]) -> Command:
    """Return the command that starts this installation of Donna, from any folder."""
    sibling = Path(sys.executable).with_name("donna")
    found = str(sibling) if sibling.exists() else shutil.which("donna")
    program = (found,) if found else (sys.executable, "-m", "donna_tui")
    exported = {name: value for name, value in environ.items() if name == "DONNA_HOME" and value}
    return Command((*program, "mcp", *arguments), exported)


def setup_for(client: str, command: Command) -> Setup:
    """Return the configuration for a client. Raises DonnaError for an unknown one."""
    make = CLIENTS.get(client)
    if make is None:
        raise DonnaError(Reason.USAGE, f"there is no client {client}", hint=f"the clients are {', '.join(CLIENTS)}")
    return make(command)


def skill_file() -> str:
    return Path(__file__).with_name("SKILL.md").read_text(encoding="utf-8")


_ON_WRITING = "## When to remember"


def skill_text(*, write: bool) -> str:
    """Return the skill file without its head, as server instructions: without `write` up to the part about writing."""
    text = skill_file().split("\n---\n", 1)[-1]
    return (text if write else text.partition(_ON_WRITING)[0]).strip()


def _claude_code(command: Command) -> Setup:
    variables = [word for name, value in command.environ.items() for word in ("--env", f"{name}={value}")]
    words = ("claude", "mcp", "add", "--scope", "user", NAME, *variables, "--", *command.words)
    return Setup(shlex.join(words), "Run this once in a terminal; `claude mcp list` then shows it.")


def _claude_desktop(command: Command) -> Setup:
    program, *arguments = command.words
    server = {"command": program, "args": arguments, **({"env": dict(command.environ)} if command.environ else {})}
    text = json.dumps({"mcpServers": {NAME: server}}, indent=2, ensure_ascii=True)
    where = "Settings, Developer, Edit Config: add this to claude_desktop_config.json, and start Claude Desktop again."
    return Setup(text, where)


def _codex(command: Command) -> Setup:
    program, *arguments = command.words
    lines = [f"[mcp_servers.{NAME}]", f"command = {_toml(program)}", f"args = [{', '.join(map(_toml, arguments))}]"]
    if command.environ:
        pairs = (f"{name} = {_toml(value)}" for name, value in command.environ.items())
        lines.append(f"env = {{ {', '.join(pairs)} }}")
    return Setup("\n".join(lines), "Put this into ~/.codex/config.toml, and start Codex again.")


def _toml(text: str) -> str:
    """Quote a basic string of TOML: as in JSON, except for DEL and lone surrogates."""
    quoted = json.dumps(encodable(text), ensure_ascii=False)
    return quoted.replace("\x7f", "\\u007f")


CLIENTS: dict[str, Callable[[Command], Setup]] = {
    "claude-code": _claude_code,
    "claude-desktop": _claude_desktop,
    "codex": _codex,
}
