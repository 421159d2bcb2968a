"""The table of commands agrees with the files that it does not import until one of their commands is run."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
import typer
from typer.core import TyperGroup
from typer.main import get_command
from typer.testing import CliRunner

from donna_tui.cli.main import COMMANDS, Entry
from donna_tui.cli.main import app as donna
from donna_tui.cli.options import AsJson, new_app
from donna_tui.types.errors import DonnaError, Reason

GROUP = get_command(donna)
CONTEXT = typer.Context(GROUP, info_name="donna")
NEEDED = {"main", "options", "output", "failure"}


def named(name: str) -> typer.core.TyperCommand | TyperGroup:
    assert isinstance(GROUP, TyperGroup)
    found = GROUP.get_command(CONTEXT, name)
    assert isinstance(found, typer.core.TyperCommand | TyperGroup)
    return found


def imported(*args: str) -> set[str]:
    """Return the modules of the command line that a run imports."""
    code = (
        "import sys\nfrom donna_tui.cli.main import run_command_line\n"
        f"try:\n    run_command_line({list(args)!r})\nexcept SystemExit:\n    pass\n"
        "print('\\n' + ' '.join(each for each in sys.modules if each.startswith('donna_tui.cli.')))"
    )
    ran = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True, cwd=Path(__file__).parents[2]
    )
    return {each.rpartition(".")[2] for each in ran.stdout.splitlines()[-1].split()}


@pytest.mark.parametrize("name", COMMANDS)
def test_the_table_says_what_the_help_of_each_command_begins_with(name: str) -> None:
    assert named(name).get_short_help_str(1_000) == COMMANDS[name].help


def test_each_command_is_described_in_one_line_of_80_columns() -> None:
    groups = ["", *(name for name in COMMANDS if isinstance(named(name), TyperGroup))]
    helped = [CliRunner(env={"COLUMNS": "80"}).invoke(donna, [*name.split(), "--help"]).output for name in groups]
    listed = [text.partition("Commands:\n")[2].splitlines() for text in helped]
    assert all(listed)
    assert [line for lines in listed for line in lines if line.endswith("...") or line.startswith("   ")] == []


def test_a_command_of_a_file_with_several_is_built_alone() -> None:
    assert isinstance(named("chat"), TyperGroup)
    assert not isinstance(named("mv"), TyperGroup)
    assert "dst" in {each.name for each in named("mv").params}


def test_nothing_is_imported_to_list_the_commands_and_one_file_to_describe_one() -> None:
    assert imported("--help") <= NEEDED
    assert imported("keys", "--help") == (NEEDED & imported("--help")) | {"keys"}


@pytest.mark.parametrize("args", [[], ["~/notes"], ["--space", "notes"], ["open"]])
def test_without_a_command_it_is_the_one_that_opens(args: list[str]) -> None:
    result = CliRunner().invoke(donna, args)
    assert (result.exit_code, result.stdout) == (2, "")
    assert "the full-screen app needs a terminal" in result.stderr


app = new_app()


@app.command("greet")
def greet(name: str, as_json: AsJson = False) -> None:
    """Greet somebody. Politely."""
    if name == "nobody":
        raise DonnaError(Reason.MISSING, "nobody is there", hint="name somebody")
    print(f"Hello {name}")


def test_errors_of_all_commands_are_reported_in_the_same_form(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(COMMANDS, "greet", Entry(__name__, "Greet somebody."))
    assert CliRunner().invoke(donna, ["greet", "Ruth"]).stdout == "Hello Ruth\n"
    words = CliRunner().invoke(donna, ["greet", "nobody"])
    assert (words.exit_code, words.stdout) == (3, "")
    assert words.stderr == "donna: nobody is there\n       name somebody\n"
    as_json = CliRunner().invoke(donna, ["greet", "nobody", "--json"])
    assert (as_json.exit_code, as_json.stderr) == (3, "")
    assert (
        as_json.stdout == '{"ok": false, "reason": "missing", "message": "nobody is there", "hint": "name somebody"}\n'
    )
