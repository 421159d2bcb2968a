"""Where the files that ship with Donna are: inside the installed package, or beside it in a checkout."""

from __future__ import annotations

from pathlib import Path

_PACKAGE = Path(__file__).resolve().parent


def resource(*parts: str) -> Path:
    """The path of a shipped file or folder below `styles`, `config` or `vault_templates`.

    Raises FileNotFoundError if it is in neither place: then the installation is incomplete.
    """
    for base in (_PACKAGE / "_data", _PACKAGE.parent):
        candidate = base.joinpath(*parts)
        if candidate.exists():
            return candidate
    raise FileNotFoundError(f"Donna's own file {'/'.join(parts)} is missing; install Donna again")


def style_sheet(name: str) -> Path:
    """The path of a style sheet. Raises FileNotFoundError."""
    return resource("styles", f"{name}.tcss")
