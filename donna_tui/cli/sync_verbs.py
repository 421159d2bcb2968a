"""Define the commands for vaults on several devices."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from donna_tui.cli.output import guarded
from donna_tui.cli.vault import AsJson, AssumeYes, SpaceOption
from donna_tui.vault.conflicts import Keep

sync_app = typer.Typer()
conflicts_app = typer.Typer(invoke_without_command=True)
sync_app.add_typer(conflicts_app, name="conflicts")


@sync_app.command("serve-webdav")
def serve_webdav(
    port: Annotated[int, typer.Option("--port", help="The port; 0 picks a free one.", min=0, max=65_535)] = 8732,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; other than this machine's it needs TLS.")
    ] = "127.0.0.1",
    cert: Annotated[
        Path | None, typer.Option("--cert", metavar="FILE", help="The certificate for TLS, as PEM.")
    ] = None,
    key: Annotated[Path | None, typer.Option("--key", metavar="FILE", help="Its key, as PEM.")] = None,
    password_file: Annotated[
        Path | None,
        typer.Option("--password-file", metavar="FILE", help="A file with the password, readable only by you."),
    ] = None,
    new_password: Annotated[
        bool, typer.Option("--new-password", help="Generate another password and show it once.")
    ] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Allow clients only to read.")] = False,
    with_private: Annotated[bool, typer.Option("--with-private", help="Serve private notes as well.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Serve the vault over WebDAV, to sync it with other devices. The password may be in DONNA_WEBDAV_PASSWORD."""
    from donna_tui.cli.serve_webdav import WebdavOptions, run_serve

    with guarded(as_json):
        options = WebdavOptions(
            host=host,
            port=port,
            certificate=cert,
            key=key,
            password_file=password_file,
            new_password=new_password,
            read_only=read_only,
            with_private=with_private,
        )
        run_serve(options, space, as_json=as_json)


@conflicts_app.callback()
def conflicts(context: typer.Context, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """List the conflict copies of sync programs, each with its note."""
    from donna_tui.cli.conflicts import run_list

    if context.invoked_subcommand is None:
        with guarded(as_json):
            run_list(space, as_json=as_json)


@conflicts_app.command()
def resolve(
    path: Annotated[str, typer.Argument(help="The path of the conflict copy within the vault.")],
    keep: Annotated[Keep, typer.Option("--keep", help="mine is the note, theirs the copy; both merges them.")],
    yes: AssumeYes = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Keep one version or both and drop the copy, as one operation, after showing the diff."""
    from donna_tui.cli.conflicts import run_resolve

    with guarded(as_json):
        run_resolve(path, keep, space, agreed=yes, as_json=as_json)
