"""Define the commands that change a vault and show its history."""

from __future__ import annotations

from typing import Annotated

import typer

from donna_tui.cli.output import guarded

AsJson = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
SpaceOption = Annotated[
    str | None,
    typer.Option(
        "--space", envvar="DONNA_VAULT", help="A folder of notes, the name of a space, or an agent.", metavar="SPACE"
    ),
]
Etag = Annotated[str | None, typer.Option("--etag", help="The version that you read; `donna get --json` prints it.")]
Agreed = Annotated[bool, typer.Option("--yes", help="Create a git repository in the vault if it has none.")]
AssumeYes = Annotated[bool, typer.Option("--yes", help="Do not ask for confirmation.")]
Steps = Annotated[int, typer.Argument(metavar="[N]", help="The number of operations, as one step.", min=1)]

vault_app = typer.Typer()


@vault_app.command()
def write(
    path: Annotated[str, typer.Argument(help="The path of the note within the vault.")],
    source: Annotated[str, typer.Option("--from", metavar="FILE", help="Read the text from a file, not stdin.")] = "",
    etag: Etag = None,
    replace: Annotated[
        bool, typer.Option("--replace", help="Replace the whole note: frontmatter that the text omits is removed.")
    ] = False,
    yes: Agreed = False,
    track: Annotated[
        bool, typer.Option("--track", help="Commit the note even if it is not in git because it was private.")
    ] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Write a note: one commit, one undo step. Frontmatter keys that the text omits are preserved."""
    from donna_tui.cli.write import run_write

    with guarded(as_json):
        run_write(path, source, etag, space, replace=replace, agreed=yes, track=track, as_json=as_json)


@vault_app.command()
def rm(
    path: Annotated[str, typer.Argument(help="The path of the note, or of a folder, within the vault.")],
    etag: Etag = None,
    yes: Agreed = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Delete a note, or all notes in a folder. Their text stays in git; `donna undo` restores it."""
    from donna_tui.cli.write import run_rm

    with guarded(as_json):
        run_rm(path, etag, space, agreed=yes, as_json=as_json)


@vault_app.command()
def mv(
    src: Annotated[str, typer.Argument(help="The current path of the note or folder.")],
    dst: Annotated[str, typer.Argument(help="Its new path, or a folder with a slash at the end.")],
    etag: Etag = None,
    links: Annotated[bool, typer.Option("--links/--no-links", help="Rewrite the links to the note.")] = True,
    yes: Agreed = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Move or rename a note or a folder, and rewrite the links to it, as one operation."""
    from donna_tui.cli.write import run_mv

    with guarded(as_json):
        run_mv(src, dst, etag, space, links=links, agreed=yes, as_json=as_json)


@vault_app.command()
def log(
    path: Annotated[str, typer.Argument(help="Only revisions of this note.")] = "",
    count: Annotated[int, typer.Option("-n", help="The number of changes.", min=1)] = 30,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List changes with author and time: Donna's operations and other commits."""
    from donna_tui.cli.history import run_log

    with guarded(as_json):
        run_log(path, count, space, as_json=as_json)


@vault_app.command()
def diff(
    what: Annotated[str, typer.Argument(metavar="[OP|PATH]", help="An operation, a commit or a note.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Show the changes of an operation; for a note, or without a name, those on disk that are not in git."""
    from donna_tui.cli.history import run_diff

    with guarded(as_json):
        run_diff(what, space, as_json=as_json)


@vault_app.command()
def undo(
    n: Steps = 1,
    session: Annotated[
        str,
        typer.Option(
            "--session", metavar="ID", help="Everything that this session of an agent did; `donna log` lists it."
        ),
    ] = "",
    yes: AssumeYes = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Undo Donna's last operations, or all of an agent's session, after showing the diff."""
    from donna_tui.cli.undo import run_undo, run_undo_session
    from donna_tui.vault.write.changes import OperationKind

    with guarded(as_json):
        if session:
            run_undo_session(session, space, agreed=yes, as_json=as_json)
        else:
            run_undo(OperationKind.UNDO, n, space, agreed=yes, as_json=as_json)


@vault_app.command()
def redo(n: Steps = 1, yes: AssumeYes = False, space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Redo the last undone operations, after showing the diff."""
    from donna_tui.cli.undo import run_undo
    from donna_tui.vault.write.changes import OperationKind

    with guarded(as_json):
        run_undo(OperationKind.REDO, n, space, agreed=yes, as_json=as_json)
