"""Write the reference pages, and the default settings file, from the code that they describe.

python docs/generate.py [--check]
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

os.environ["COLUMNS"] = "100"

import typer
from typer.core import TyperGroup
from typer.main import get_command

from docs.keys import keys_markdown
from docs.settings import default_file, markdown_reference
from docs.walks import walks_markdown
from donna_tui.agents.tools.catalogue import TOOLS, Tool
from donna_tui.cli.main import app
from donna_tui.cli.output import ExitCode, exit_code
from donna_tui.tui.lib.error_messages import REASONS
from donna_tui.types.errors import Reason

ROOT = Path(__file__).resolve().parent.parent

KEYS_HEAD = """# Keys

The keys of every action in the app, by screen. `?` in the app lists those that work where you are.

`ui.keymap` in your [settings](config.md) selects a preset, and `ui.keys` changes single keys by the names in the column
*Action*; `donna keys --check` checks them.

"""

SETTINGS_HEAD = """# Settings

Every setting with its default. Your own are in `memory.yaml`; `donna config path` prints where, and `donna config show`
lists what is in effect and where it is set. Each of these overrides the ones before it:

1. the defaults
2. your `memory.yaml`
3. `.donna/memory.yaml` in the vault, only for the settings that have an entry in the last column
4. a variable such as `DONNA_RETRIEVAL__DEFAULT_K=12`: block and name, with two underscores between them

A name that does not exist and a value that is not valid are errors, with file and line. Language models have a file of
their own, `models.yaml`: see [models.md](models.md).

"""

EXIT_WORDS = {
    ExitCode.FINE: "success",
    ExitCode.NOTHING_FOUND: "nothing was found: no relevant hit, or a list without rows",
    ExitCode.USAGE: "a command, setting or key is invalid",
    ExitCode.REFUSED: "refused; the reason code says why",
    ExitCode.DEGRADED: "done, but incomplete: the model is missing, or something needs attention",
    ExitCode.FAILED: "failed",
}


def pages() -> dict[Path, str]:
    """Return every generated file with its content."""
    return {
        ROOT / "config/memory.yaml": default_file(),
        ROOT / "docs/config.md": f"{SETTINGS_HEAD}{markdown_reference().strip()}\n",
        ROOT / "docs/keys.md": f"{KEYS_HEAD}{walks_markdown()}{keys_markdown()}",
        ROOT / "docs/tools.md": "\n".join(tools_reference()) + "\n",
        ROOT / "docs/cli.md": "\n".join(cli_reference()) + "\n",
    }


def cli_reference() -> Iterator[str]:
    """Yield the page of the command line: exit codes, reason codes, and the help of every command."""
    yield "# Command line\n"
    yield "Every command with its options. Results are printed on stdout, messages on stderr. With `--json` a command"
    yield 'prints one object; an error is `{"ok": false, "reason", "message", "hint"}`.\n'
    yield "## Exit codes\n\n| Code | Meaning |\n|---|---|"
    for code, words in EXIT_WORDS.items():
        yield f"| {int(code)} | {words} |"
    yield "\n## Reason codes\n\n[promises.md](promises.md#when-something-is-refused) has those of refused writes.\n"
    yield "| Code | Exit | Meaning |\n|---|---|---|"
    for reason in Reason:
        yield f"| `{reason}` | {int(exit_code(reason))} | {REASONS[reason].name} |"
    yield from help_pages()


TOOLS_HEAD = """# Tools for agents

The arguments and results of every tool of `donna mcp`; [agents.md](agents.md) says how to connect an agent. A tool
returns the fields below and `"ok": true`, or `{"ok": false, "reason", "message", "hint"}`, with a reason code of
[cli.md](cli.md#reason-codes). Tools read and write only this vault and Donna's data on this machine.

An argument with `?` may be omitted; its default, if any, is in parentheses."""


def tools_reference() -> Iterator[str]:
    """Yield the page of the tools: arguments and results, from the models that the server publishes."""
    yield TOOLS_HEAD
    for tool in TOOLS:
        yield f"\n## {tool.name}\n\n{tool.description}\n"
        yield f"*{'; '.join(_nature(tool))}.*\n"
        yield "| Argument | Type | Meaning |\n|---|---|---|"
        yield from _fields(tool.takes.model_json_schema())
        result = tool.gives.model_json_schema(mode="serialization")
        yield "\n| Result | Type | Meaning |\n|---|---|---|"
        yield from _fields(result)
        for name, row in result.get("$defs", {}).items():
            if "properties" in row:
                yield f"\n| {name} | Type | Meaning |\n|---|---|---|"
                yield from _fields(row)


def _nature(tool: Tool) -> Iterator[str]:
    yield "Only with `--write`" if tool.writes else "Read-only"
    if tool.destroys:
        yield "may replace or remove text, which can be undone"
    yield "a repeated call has no further effect" if tool.repeats else "a repeated call has a further effect"


def _fields(schema: dict[str, Any]) -> Iterator[str]:
    needed = schema.get("required", [])
    for name, field in schema.get("properties", {}).items():
        if name != "ok":
            value = "true" if field.get("default") is True else field.get("default")
            default = "" if name in needed or value in (None, "", [], False) else f" ({value})"
            meaning = f"{field.get('description', '')}{default}".strip()
            yield f"| `{name}`{'' if name in needed else ' ?'} | {_kind(field)} | {meaning} |"


def _kind(field: dict[str, Any]) -> str:
    if "anyOf" in field:
        return " or ".join(_kind(each) for each in field["anyOf"])
    if "$ref" in field:
        return str(field["$ref"]).rpartition("/")[2]
    if "enum" in field:
        return ", ".join(str(each) for each in field["enum"])
    if field.get("type") == "array":
        return f"list of {_kind(field['items'])}"
    low, high = field.get("minimum"), field.get("maximum")
    bounds = f" {low}–{high}" if low is not None and high is not None else f" from {low}" if low is not None else ""
    return f"{field.get('type', 'any')}{bounds}"


def help_pages() -> Iterator[str]:
    """Yield the help text of `donna` and of each of its commands."""
    command = get_command(app)
    width = {"terminal_width": 100, "max_content_width": 100}
    context = typer.Context(command, info_name="donna", **width, **command.context_settings)
    yield f"\n## donna\n\n```text\n{command.get_help(context).strip()}\n```"
    yield from pages_below(command, context)


def help_page(name: str, verb: Any, parent: typer.Context) -> Iterator[str]:
    """Yield the help text of a command and its subcommands."""
    context = typer.Context(verb, info_name=name, parent=parent, terminal_width=100, max_content_width=100)
    yield f"\n## {context.command_path}\n\n```text\n{verb.get_help(context).strip()}\n```"
    yield from pages_below(verb, context)


def pages_below(group: Any, context: typer.Context) -> Iterator[str]:
    """Yield the help texts of a group's commands, importing them; nothing for a command."""
    for name in sorted(group.list_commands(context)) if isinstance(group, TyperGroup) else ():
        verb: Any = group.get_command(context, name)
        if not verb.hidden:
            yield from help_page(name, verb, context)


def main() -> None:
    """Write all pages, or check with `--check` that they are up to date."""
    stale = [path for path, text in pages().items() if not path.exists() or path.read_text(encoding="utf-8") != text]
    if "--check" in sys.argv:
        for path in stale:
            print(f"{path.relative_to(ROOT)} is out of date: run make docs", file=sys.stderr)
        sys.exit(bool(stale))
    for path in stale:
        path.write_text(pages()[path], encoding="utf-8")
        print(f"wrote {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
