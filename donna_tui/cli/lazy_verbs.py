"""Reduce the command line to the requested command: building all of them takes as long as a search."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Sequence
from copy import copy
from pathlib import Path

from typer import Typer
from typer.main import get_command_name
from typer.models import CommandInfo, TyperInfo

ABOUT_ALL = frozenset({"--help", "-h", "--version"})
"""The options of the program as a whole."""


LIKENESS = 0.7
"""How alike a misspelt verb is to the one that was meant, from 0 to 1."""


def reduced_to_verb(app: Typer, args: Sequence[str], otherwise: str) -> Typer:
    """Return the app with the command or group named first in `args`, or else with `otherwise`."""
    if args and args[0] in ABOUT_ALL:
        return app
    verbs = {_name(each): each for each in _verbs(app)}
    wanted = verbs[args[0] if args and args[0] in verbs else otherwise]
    reduced = copy(app)
    reduced.registered_commands = [wanted] if isinstance(wanted, CommandInfo) else []
    reduced.registered_groups = [wanted] if isinstance(wanted, TyperInfo) else []
    return reduced


def verb_meant(app: Typer, args: Sequence[str]) -> str:
    """Return the verb that the first of `args` misspells; empty if it is a verb, a folder, or nothing similar."""
    if not args or args[0].startswith("-") or "/" in args[0]:
        return ""
    names = list(map(_name, _verbs(app)))
    near = [] if args[0] in names else difflib.get_close_matches(args[0].lower(), names, 1, LIKENESS)
    return near[0] if near and not Path(args[0]).exists() else ""


def _verbs(app: Typer) -> Iterator[CommandInfo | TyperInfo]:
    """Yield its own commands and groups, and those of unnamed sub-apps."""
    yield from app.registered_commands
    for group in app.registered_groups:
        if group.name and isinstance(group.name, str):
            yield group
        elif group.typer_instance is not None:
            yield from _verbs(group.typer_instance)


def _name(verb: CommandInfo | TyperInfo) -> str:
    if isinstance(verb, CommandInfo) and verb.callback is not None:
        return verb.name or get_command_name(verb.callback.__name__)
    return verb.name or ""
