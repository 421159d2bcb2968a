"""Implement `donna chat`: import, follow, list and summarise conversations."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from donna_tui.cli.options import AsJson, SpaceOption, new_app
from donna_tui.cli.output import ExitCode, emit, emit_lines, print_message, require_found
from donna_tui.cli.progress import bar, draw, shown_progress
from donna_tui.cli.remember import emit_memories
from donna_tui.cli.session import Session, engine_for, open_session, run, run_with_engine
from donna_tui.engine.engine import Engine
from donna_tui.memory.importers import LogFolder, claude_code_folder, exports_in, size_of
from donna_tui.platform.paths import expanded
from donna_tui.text.plural import plural
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import ConversationRow, ImportReport, MemoryChunk, Suggestion
from donna_tui.types.search import ME
from donna_tui.vault.note.read import iso_date

app = new_app("Chats: import, list and summarise them.")

Sensitive = Annotated[bool, typer.Option("--sensitive", help="Mark these chats as private: keep them on this machine.")]

SHOWN_LINES = 20
MAX_SUGGESTIONS = 200
POLL_SECONDS = 2.0
"""Seconds between two scans of a followed folder."""

QUIET_SECONDS = 900.0
"""Seconds without a message after which a conversation is closed, and its last message becomes a memory."""


@app.command("import")
def chat_import(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE",
            help="Turns as JSON lines, exports of ChatGPT or Claude, Claude Code logs, or folders of them.",
        ),
    ],
    user: Annotated[
        str,
        typer.Option(
            "--user", help="Import only turns with this user_id, as your own; by default all turns, each for its user."
        ),
    ] = "",
    sensitive: Sensitive = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Import chats. Repeating it imports only what is new."""
    if not all(files):
        raise DonnaError(Reason.USAGE, "no file given", hint="donna chat import conversations.json")
    paths = [found for file in files for found in exports_in(expanded(Path(file)))]
    if not paths:
        raise DonnaError(Reason.MISSING, "there are no chats in this folder", hint="exports are *.jsonl, *.json, *.zip")
    imported = run(_import(open_session(space), paths, user, sensitive=sensitive))
    is_failed = bool(imported.messages) and not imported.report.sessions
    if not is_failed:
        emit(_fields(files, imported), _chat_report(imported), as_json=as_json)
    for message in imported.messages[:SHOWN_LINES]:
        print_message(f"donna: {message}")
    if len(imported.messages) > SHOWN_LINES or imported.report.malformed > len(imported.report.bad):
        print_message("donna: there are more invalid lines")
    if is_failed:
        raise DonnaError(Reason.UNREADABLE, f"nothing was imported: {imported.messages[0]}")
    if not imported.indexed:
        print_message("donna: the chats are stored; the running Donna process adds them to the index")
    if imported.messages:
        raise SystemExit(ExitCode.DEGRADED)


@dataclass(frozen=True, slots=True)
class Imported:
    """The result of an import of several files, with new summaries and the number of suggestions."""

    report: ImportReport
    messages: tuple[str, ...]
    summaries: tuple[MemoryChunk, ...]
    suggestions: int
    indexed: bool


async def _import(session: Session, paths: Sequence[Path], user: str, *, sensitive: bool) -> Imported:
    """Import files. One that cannot be read is skipped, unless it is the only one."""
    reports: list[ImportReport] = []
    messages: list[str] = []
    async with engine_for(session, "donna chat import") as engine:
        service = engine.memory
        for path in paths:
            try:
                with _progress(path) as on_progress:
                    report = await service.import_chat(path, user=user, sensitive=sensitive, on_progress=on_progress)
            except DonnaError as error:
                if len(paths) == 1:
                    raise
                messages.append(error.message)
                continue
            reports.append(report)
            where = f"{path}, " if len(paths) > 1 else ""
            messages += [f"{where}line {bad.number}: {bad.why}" for bad in report.bad]
        summaries = await service.compress_due()
        suggestions = await service.suggestions(limit=MAX_SUGGESTIONS)
        with shown_progress(engine):
            indexed = await service.wait_until_indexed()
    return Imported(_total(reports), tuple(messages), summaries, len(suggestions), indexed)


def _total(reports: Sequence[ImportReport]) -> ImportReport:
    return ImportReport(
        format=", ".join(dict.fromkeys(report.format for report in reports)) or "unknown",
        bad=tuple(bad for report in reports for bad in report.bad),
        sessions=sum(report.sessions for report in reports),
        turns=sum(report.turns for report in reports),
        known=sum(report.known for report in reports),
        left_out=sum(report.left_out for report in reports),
        malformed=sum(report.malformed for report in reports),
    )


@contextlib.contextmanager
def _progress(file: Path) -> Iterator[Callable[[tuple[int, int]], None]]:
    """Show a progress bar of the import, if stderr is a terminal."""
    size = size_of(file)
    if not (sys.stderr.isatty() and size):
        yield lambda _: None
        return

    def show(progress: tuple[int, int]) -> None:
        share = min(1.0, progress[0] / size)
        draw(f"{plural(progress[1], 'turn')} {bar(share)} {share:.0%}")

    try:
        yield show
    finally:
        draw("")


def _fields(files: Sequence[str], imported: Imported) -> dict[str, Any]:
    return {
        "file": files[0],
        "files": list(files),
        **{name: value for name, value in asdict(imported.report).items() if name != "bad"},
        "summarized": [memory.session_id for memory in imported.summaries],
        "suggestions": imported.suggestions,
        "indexed": imported.indexed,
        "problems": [
            {"id": f"line {bad.number}", "line": bad.number, "message": bad.why} for bad in imported.report.bad
        ],
        "messages": list(imported.messages),
    }


def _chat_report(imported: Imported) -> Iterator[str]:
    report = imported.report
    kind = f" ({report.format})" if report.sessions else ""
    yield f"{plural(report.turns, 'turn')} of {plural(report.sessions, 'conversation')}{kind}"
    if report.known:
        yield f"{report.known:,} already imported"
    if report.left_out:
        yield f"{report.left_out:,} skipped: output of tools, other branches, messages without text"
    yield from _afterwards(imported.summaries, imported.suggestions)


def _afterwards(summaries: Sequence[MemoryChunk], suggestions: int) -> Iterator[str]:
    if summaries:
        yield f"{plural(len(summaries), 'old conversation')} summarised; `donna chat expand SESSION` undoes it"
    if suggestions:
        yield f"{plural(suggestions, 'preference')} found in chats: `donna chat suggestions` lists them"


@app.command("watch")
def chat_watch(
    folder: Annotated[
        str, typer.Option("--folder", help="A folder of session logs; that of Claude Code by default.")
    ] = "",
    once: Annotated[bool, typer.Option("--once", help="Import what is new and exit.")] = False,
    sensitive: Sensitive = False,
    space: SpaceOption = None,
) -> None:
    """Follow Claude Code's session logs, and store new messages. Resumes after a restart."""
    place = expanded(Path(folder)) if folder else claude_code_folder()
    if not place.is_dir():
        raise DonnaError(Reason.MISSING, f"there is no folder {place}", hint="choose another with --folder")
    session = open_session(space)
    with contextlib.suppress(KeyboardInterrupt):
        run(_watch(session, place, once=once, sensitive=sensitive))


async def _watch(session: Session, folder: Path, *, once: bool, sensitive: bool) -> None:
    async with engine_for(session, "donna chat watch") as engine:
        service = engine.memory
        logs = LogFolder(folder, session.space.state)
        if not once:
            print_message(f"donna: following {folder}; ctrl+c to stop")
        offered = set(await service.suggestions(limit=MAX_SUGGESTIONS))
        while True:
            report = await service.follow(logs, sensitive=sensitive)
            closed = await service.close_quiet_conversations(time.time() - QUIET_SECONDS)
            if report.turns or report.malformed:
                malformed = f", {plural(report.malformed, 'line')} not valid" if report.malformed else ""
                emit_lines([f"{plural(report.turns, 'turn')} of {plural(report.sessions, 'conversation')}{malformed}"])
            if report.turns or closed:
                before, offered = offered, set(await service.suggestions(limit=MAX_SUGGESTIONS))
                emit_lines(_afterwards(await service.compress_due(), len(offered - before)))
            if once:
                await service.wait_until_indexed()
                return
            await asyncio.sleep(POLL_SECONDS)


@app.command("suggestions")
def chat_suggestions(
    accept: Annotated[str, typer.Option("--accept", metavar="ID", help="Remember this preference.")] = "",
    dismiss: Annotated[str, typer.Option("--dismiss", metavar="ID", help="Do not suggest this preference again.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List preferences stated in chats, to remember or dismiss."""
    if accept and dismiss:
        raise DonnaError(Reason.USAGE, "--accept and --dismiss cannot be used together")

    async def work(engine: Engine) -> list[tuple[Suggestion, tuple[str, ...]]]:
        """Return suggestions, each with the preferences that it would replace, or the one that was answered."""
        service = engine.memory
        suggestions = await service.suggestions(limit=MAX_SUGGESTIONS)
        found = [(suggestion, await service.replaced_by(suggestion)) for suggestion in suggestions]
        if not accept and not dismiss:
            return found
        answered = await service.answer_suggestion(accept or dismiss, accepted=bool(accept))
        return [(answered, next((texts for each, texts in found if accept == each.id), ()))]

    found = run_with_engine(open_session(space), "donna chat suggestions", work)
    done = "accepted" if accept else "dismissed" if dismiss else ""
    rows = [{**asdict(each), "replaces": replaced} for each, replaced in found]
    lines = (line for each, replaced in found for line in _suggestion_lines(each, replaced, done))
    emit({"count": len(found), "suggestions": rows, "answered": done}, lines, as_json=as_json)
    require_found(found, "no suggestions")


def _suggestion_lines(one: Suggestion, replaced: Sequence[str], done: str) -> Iterator[str]:
    yield f"{one.id:>4}  {one.text}" if not done else f"{done}: {one.text}"
    for text in replaced:
        yield f"      {'replaced' if done else 'replaces'} “{' '.join(text.split())}”"
    yield f"      chat:{one.session}:{one.turn}  {iso_date(one.at)}".rstrip()


@app.command("list")
def chat_list(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """List the conversations."""
    found = run_with_engine(open_session(space), "donna chat list", lambda engine: engine.memory.conversations(None))
    rows = [{"id": f"chat:{each.name}", **asdict(each)} for each in found]
    emit({"count": len(rows), "conversations": rows}, map(_conversation_line, found), as_json=as_json)
    require_found(found, "no conversations")


def _conversation_line(row: ConversationRow) -> str:
    state = "(forgotten)" if not row.turns else "(summarised)" if row.summary else ""
    user = f"({row.user_id})" if row.user_id != ME else ""
    described = "  ".join(filter(None, (row.name, row.title, user, state)))
    return f"{iso_date(row.started_at):10}  {row.turns:>5}  {described}"


@app.command("compress")
def chat_compress(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Summarise the oldest conversations if there are many.

    At most recall.compression_threshold conversations are left without a summary; no turn is removed.
    """
    session = open_session(space)

    async def work(engine: Engine) -> tuple[MemoryChunk, ...]:
        summaries = await engine.memory.compress_due()
        with shown_progress(engine):
            await engine.memory.wait_until_indexed()
        return summaries

    summaries = run_with_engine(session, "donna chat compress", work)
    emit_memories(summaries, as_json=as_json)
    most = session.config.recall.compression_threshold
    require_found(summaries, f"nothing to summarise: no more than {most} conversations lack a summary")


@app.command("expand")
def chat_expand(
    session: Annotated[str, typer.Argument(help="The name of a conversation; `donna chat list` shows it.")],
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Undo the summary of a conversation. Its turns are recalled again."""

    async def work(engine: Engine) -> bool:
        changed = await engine.memory.expand(session.removeprefix("chat:"))
        await engine.memory.wait_until_indexed()
        return changed

    changed = run_with_engine(open_session(space), "donna chat expand", work)
    message = f"{session}: {'its turns are recalled again' if changed else 'it has no summary'}"
    emit({"id": session, "changed": changed}, [message], as_json=as_json)
    require_found(changed)
