"""Implement `donna get`."""

from __future__ import annotations

import contextlib
from typing import Annotated

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import emit, print_message
from donna_tui.cli.session import Session, open_session
from donna_tui.safety.classify import Sensitivity
from donna_tui.search.citations import cited_lines
from donna_tui.text.lines import split_lines
from donna_tui.text.markdown import split_sections
from donna_tui.text.plural import plural
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.vault.client import VaultNote
from donna_tui.vault.open import indexed_client, open_writer

app = new_app()


@app.command("get")
def get(
    path: Annotated[str, typer.Argument(help="The path of a note within the vault, or a citation with its lines.")],
    start: Annotated[int | None, typer.Option("--from", help="The first line to print.", min=1)] = None,
    count: Annotated[int | None, typer.Option("--lines", help="The number of lines to print.", min=1)] = None,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Print a note, or some lines of it."""
    cited_space, path, first, last = cited_lines(path)
    if start is None:
        start = first
        count = last - first + 1 if last is not None and count is None else count
    note = _read(open_session(cited_space or space), path)
    lines = split_lines(note.text)
    shown = lines[start - 1 : None if count is None else start - 1 + count]
    fields = {
        "path": note.path,
        "title": note.title,
        "text": "\n".join(shown),
        "start_line": start,
        "end_line": start + len(shown) - 1,
        "total_lines": len(lines),
        "etag": note.etag,
        "mtime_ns": str(note.mtime_ns),
        "size": note.size,
        "sensitive": note.sensitivity is not Sensitivity.PUBLIC,
        "frontmatter": note.frontmatter.data,
        "problem": note.frontmatter.problem,
        "lossy": note.lossy,
        "sections": [
            {"heading_path": list(section.heading_path), "start_line": section.start_line, "end_line": section.end_line}
            for section in split_sections(note.text, note.body_start)
        ],
    }
    emit(fields, shown, as_json=as_json)
    if note.lossy:
        print_message("donna: bytes that are not text are shown as �")
    if start > max(1, len(lines)):
        print_message(f"donna: the note has only {plural(len(lines), 'line')}")


def _read(session: Session, path: str) -> VaultNote:
    try:
        return indexed_client(session.config, session.space.root).read(path)
    except VaultReadError as error:
        if error.reason is Reason.ROOT_MISSING:
            raise
        message, hint = error.message, error.hint
        if error.reason is Reason.NOT_MARKDOWN:
            hint = f"{hint}; `donna mcp --call memory_get` reads messages and memories"
        if error.reason is Reason.MISSING:
            with contextlib.suppress(DonnaError):
                history = open_writer(session.config, session.space).history
                hint = history.whereabouts(path) or hint
                message = "this note no longer exists" if history.revisions(path, limit=1) else message
        raise VaultReadError(error.reason, f"{path}: {message}" if path else message, hint=hint) from error
