"""Define the options that commands share, and how the files of commands declare them."""

from __future__ import annotations

from typing import Annotated

import typer

ERRORS_AS_JSON = "donna.errors_as_json"
"""The key of a context's `meta` that says how `main.Commands` reports an error."""


def new_app(help_text: str | None = None) -> typer.Typer:
    """Create the app of a file: a group of that help text, or commands of `donna` itself."""
    return typer.Typer(help=help_text, no_args_is_help=True, add_completion=False, rich_markup_mode=None)


def _report_as_json(context: typer.Context, as_json: bool) -> bool:
    context.meta[ERRORS_AS_JSON] = as_json
    return as_json


AsJson = Annotated[bool, typer.Option("--json", callback=_report_as_json, help="Print one JSON object.")]
SpaceOption = Annotated[
    str | None,
    typer.Option(
        "--space", envvar="DONNA_VAULT", help="A folder of notes, the name of a space, or an agent.", metavar="SPACE"
    ),
]
MayInitialise = Annotated[bool, typer.Option("--yes", help="Create a git repository in the vault if it has none.")]
AssumeYes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
