"""Implement `donna serve-webdav`: serve the vault over WebDAV, and index what clients change."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import emit, print_message
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.cli.write import writer_for
from donna_tui.platform.paths import private_folder
from donna_tui.platform.spaces import SpaceLock
from donna_tui.types.errors import DonnaError, Reason, SpaceError
from donna_tui.vault.include import GlobSet
from donna_tui.vault.paths import VaultRoot
from donna_tui.vault.write.file_names import EVERYWHERE
from donna_tui.webdav.files import ServedTree, private_files
from donna_tui.webdav.gate import USER, VARIABLE, Password, given_password, make_password, stored_password
from donna_tui.webdav.upload import Preimages, sweep

if TYPE_CHECKING:
    from donna_tui.webdav.server import WebdavServer


app = new_app()


@app.command("serve-webdav")
def serve_webdav(
    port: Annotated[int, typer.Option("--port", help="The port; 0 picks a free one.", min=0, max=65_535)] = 8732,
    host: Annotated[
        str, typer.Option("--host", help="The address to listen on; one that other machines can reach needs TLS.")
    ] = "127.0.0.1",
    certificate: Annotated[
        Path | None, typer.Option("--cert", metavar="FILE", help="The certificate for TLS, as PEM.")
    ] = None,
    key: Annotated[
        Path | None, typer.Option("--key", metavar="FILE", help="The private key of the certificate, as PEM.")
    ] = None,
    password_file: Annotated[
        Path | None,
        typer.Option("--password-file", metavar="FILE", help="A file with the password, readable only by you."),
    ] = None,
    new_password: Annotated[
        bool, typer.Option("--new-password", help="Generate another password and show it once.")
    ] = False,
    read_only: Annotated[bool, typer.Option("--read-only", help="Allow clients to read only.")] = False,
    with_private: Annotated[bool, typer.Option("--with-private", help="Serve private notes as well.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Serve the vault over WebDAV, to sync it with other devices. The password may be in DONNA_WEBDAV_PASSWORD."""
    session = open_session(space)
    if session.space.agent:
        message = "the workspace of an agent is not served: it contains more than the memory"
        hint = f"donna mcp --space {session.space.agent} serves its memory to programs"
        raise DonnaError(Reason.USAGE, message, hint=hint)
    if not session.space.root.is_dir():
        raise SpaceError(Reason.ROOT_MISSING, f"the vault {session.space.root} does not exist", hint="mount the disk")
    folder = private_folder(session.space.state / "webdav")
    lock = SpaceLock(folder)
    if not lock.acquire("donna serve-webdav"):
        raise SpaceError(Reason.BUSY, f"this vault is already served by {lock.owner() or 'another process'}")
    with lock:
        try:
            from donna_tui.webdav.server import Address, WebdavServer
        except ModuleNotFoundError as error:
            message = f"serving over WebDAV needs a package that is not installed ({error.name})"
            raise DonnaError(Reason.USAGE, message, hint="pip install 'donna-tui[webdav]'") from error
        address = Address(host=host, port=port, certificate=certificate, key=key)
        tree = _served_tree(session, with_private=with_private)
        password = _password(folder, password_file, renew=new_password)
        server = WebdavServer(
            tree, password, address, read_only=read_only, on_trouble=lambda trouble: print_message(f"donna: {trouble}")
        )
        run(_serve(session, server, as_json=as_json))


def _served_tree(session: Session, *, with_private: bool) -> ServedTree:
    safety, root = session.config.safety, VaultRoot(session.space.root)
    private = private_files(root, max_bytes=safety.max_read_bytes, key=safety.sensitive_frontmatter_key)
    withheld = (lambda _: False) if with_private else private
    writer = writer_for(session, allowlist=(EVERYWHERE,))
    tree = ServedTree(root, GlobSet(session.config.vault.ignore_globs), withheld, Preimages(root, writer).keep)
    writer.record_interrupted()
    sweep(session.space.root)
    return tree


def _password(folder: Path, file: Path | None, *, renew: bool) -> Password:
    known = given_password(os.environ, file) or (None if renew else stored_password(folder))
    if known is not None:
        return known
    if not sys.stderr.isatty():
        hint = f"start it once in a terminal, set {VARIABLE}, or name a --password-file"
        raise DonnaError(Reason.USAGE, "there is no password yet, and no terminal to show a new one", hint=hint)
    text, password = make_password(folder)
    print_message(
        f"The password, shown only once: {text}", "Only its hash is stored; --new-password generates another."
    )
    return password


async def _serve(session: Session, server: WebdavServer, *, as_json: bool) -> None:
    ended = asyncio.Event()
    loop = asyncio.get_running_loop()
    for number in (signal.SIGINT, signal.SIGTERM):
        loop.add_signal_handler(number, ended.set)
    async with engine_for(session, "donna serve-webdav", watch=True):
        url = server.open()
        emit({"url": url, "user": USER}, [f"{url}  user {USER}; ctrl+c to stop"], as_json=as_json)
        serving = asyncio.create_task(asyncio.to_thread(server.serve))
        await asyncio.wait({serving, asyncio.create_task(ended.wait())}, return_when=asyncio.FIRST_COMPLETED)
        await asyncio.to_thread(server.stop)
        await serving
