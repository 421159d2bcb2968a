"""Define the commands for memories other than notes: facts, chats and tasks."""

from __future__ import annotations

from typing import Annotated

import typer

from donna_tui.cli.output import guarded
from donna_tui.cli.vault import Agreed, AsJson, SpaceOption

memory_app = typer.Typer()
chat_app = typer.Typer(no_args_is_help=True, help="Chats: import, list and summarise them.")
task_app = typer.Typer(no_args_is_help=True, help="Tasks: the check boxes of your notes.")
memory_app.add_typer(chat_app, name="chat")
memory_app.add_typer(task_app, name="task")

Type = Annotated[
    str, typer.Option("--type", help="working, episodic, semantic or procedural; by default Donna decides.")
]


@memory_app.command()
def remember(
    text: Annotated[str, typer.Argument(help="What to remember; - reads it from stdin.")],
    kind: Type = "",
    pin: Annotated[bool, typer.Option("--pin", help="Give it the highest importance.")] = False,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Keep it on this machine.")] = False,
    yes: Annotated[bool, typer.Option("--yes", "-y", help="Replace a preference on the same subject.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Remember something that is not in a note."""
    from donna_tui.cli.remember import run_remember

    with guarded(as_json):
        run_remember(text, kind, space, pin=pin, sensitive=sensitive, agreed=yes, as_json=as_json)


@memory_app.command()
def memories(
    text: Annotated[str, typer.Argument(help="Only memories that contain this text, in any case.")] = "",
    kind: Annotated[list[str] | None, typer.Option("--type", help="Only memories of this type.")] = None,
    user: Annotated[str, typer.Option("--user", help="Memories of this user; your own by default.")] = "",
    limit: Annotated[int, typer.Option("--limit", help="The number of memories per page.", min=1, max=1_000)] = 50,
    offset: Annotated[int, typer.Option("--offset", help="The number of memories to skip.", min=0)] = 0,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List memories other than notes, latest first, one page at a time."""
    from donna_tui.cli.remember import run_memories

    with guarded(as_json):
        run_memories(text, tuple(kind or ()), user, space, limit=limit, offset=offset, as_json=as_json)


@memory_app.command()
def forget(
    identity: Annotated[str, typer.Argument(metavar="ID", help="The id of a memory, a chat or a correction.")],
    for_good: Annotated[
        bool, typer.Option("--for-good", help="Erase its text, also from the backups. This cannot be undone.")
    ] = False,
    undo: Annotated[bool, typer.Option("--undo", help="Restore what was forgotten.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Forget a memory, so that it is neither found nor recalled. To forget a note, delete it."""
    from donna_tui.cli.remember import run_forget

    with guarded(as_json):
        run_forget(identity, space, for_good=for_good, undo=undo, as_json=as_json)


@memory_app.command()
def recall(
    query: Annotated[str, typer.Argument(help="The subject or question to find memories for.")],
    budget: Annotated[
        int, typer.Option("--budget", help="The limit of tokens; -1 for the configured default.", min=-1)
    ] = -1,
    k: Annotated[int, typer.Option("-k", help="The limit of memories; 0 for the configured default.", min=0)] = 0,
    kind: Annotated[list[str] | None, typer.Option("--type", help="Only memories of this type.")] = None,
    everything: Annotated[bool, typer.Option("--all", help="Include turns of summarised conversations.")] = False,
    prompt: Annotated[bool, typer.Option("--prompt", help="Print only the block for a prompt.")] = False,
    local: Annotated[
        bool,
        typer.Option("--local", help="Include local-only memories in --prompt and --json."),
    ] = False,
    user: Annotated[str, typer.Option("--user", help="Memories of this user; your own by default.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Select the memories for a prompt within a token budget, and print what was left out and why."""
    from donna_tui.cli.recall import Recalled, run_recall

    with guarded(as_json):
        options = Recalled(
            query=query,
            budget=budget,
            k=k,
            kinds=tuple(kind or ()),
            everything=everything,
            prompt=prompt,
            local=local,
            user=user,
        )
        run_recall(options, space, as_json=as_json)


@memory_app.command()
def backfill(
    source: Annotated[str, typer.Option("--source", help="vault, chat, task, correction, memory or all.")] = "all",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Index documents again from their sources. Repeating it changes nothing."""
    from donna_tui.cli.backfill import run_backfill

    with guarded(as_json):
        run_backfill(source, space, as_json=as_json)


@chat_app.command("import")
def chat_import(
    files: Annotated[
        list[str],
        typer.Argument(
            metavar="FILE…",
            help="Turns as JSON lines, exports of ChatGPT or Claude, Claude Code logs, or folders of them.",
        ),
    ],
    user: Annotated[
        str,
        typer.Option(
            "--user", help="Only turns with this user_id, as your own; by default all turns, stored per user."
        ),
    ] = "",
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Keep these chats on this machine.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Import chats. Repeating it imports only what is new."""
    from donna_tui.cli.chat import run_import

    with guarded(as_json):
        run_import(files, user, space, sensitive=sensitive, as_json=as_json)


@chat_app.command("watch")
def chat_watch(
    folder: Annotated[
        str, typer.Option("--folder", help="A folder of session logs; that of Claude Code by default.")
    ] = "",
    once: Annotated[bool, typer.Option("--once", help="Import what is new and exit.")] = False,
    sensitive: Annotated[bool, typer.Option("--sensitive", help="Keep these chats on this machine.")] = False,
    space: SpaceOption = None,
) -> None:
    """Follow Claude Code's session logs, and store each message when it is written. Resumes after a restart."""
    from donna_tui.cli.chat import run_watch

    with guarded(as_json=False):
        run_watch(folder, space, once=once, sensitive=sensitive)


@chat_app.command("suggestions")
def chat_suggestions(
    accept: Annotated[str, typer.Option("--accept", metavar="ID", help="Remember this preference.")] = "",
    dismiss: Annotated[str, typer.Option("--dismiss", metavar="ID", help="Do not suggest it again.")] = "",
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List the preferences that were stated in chats, to remember or to dismiss."""
    from donna_tui.cli.chat import run_suggestions

    with guarded(as_json):
        run_suggestions(accept, dismiss, space, as_json=as_json)


@chat_app.command("list")
def chat_list(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """List the conversations."""
    from donna_tui.cli.chat import run_list

    with guarded(as_json):
        run_list(space, as_json=as_json)


@chat_app.command()
def compress(space: SpaceOption = None, as_json: AsJson = False) -> None:
    """Summarise the oldest conversations beyond recall.compression_threshold. Their turns are preserved."""
    from donna_tui.cli.chat import run_compress

    with guarded(as_json):
        run_compress(space, as_json=as_json)


@chat_app.command()
def expand(
    session: Annotated[str, typer.Argument(help="The name of a conversation; `donna chat list` shows it.")],
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Undo the summary of a conversation, so that its turns are recalled again."""
    from donna_tui.cli.chat import run_expand

    with guarded(as_json):
        run_expand(session, space, as_json=as_json)


@task_app.command("add")
def task_add(
    text: Annotated[str, typer.Argument(help="The text of the task.")],
    note: Annotated[str, typer.Option("--note", help="The note to add the check box to.")] = "Inbox/Tasks.md",
    due: Annotated[str, typer.Option("--due", help="The deadline, such as 2026-03-12.")] = "",
    priority: Annotated[str, typer.Option("--priority", help="highest, high, medium, low or lowest.")] = "",
    yes: Agreed = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Write a check box to a note: one operation, which `donna undo` reverts."""
    from donna_tui.cli.task import run_add

    with guarded(as_json):
        run_add(text, note, due, priority, space, agreed=yes, as_json=as_json)


@task_app.command("done")
def task_done(
    identity: Annotated[str, typer.Argument(metavar="ID", help="The id of a task, or the beginning of it.")],
    yes: Agreed = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """Check a check box: one operation, which `donna undo` reverts."""
    from donna_tui.cli.task import run_done

    with guarded(as_json):
        run_done(identity, space, agreed=yes, as_json=as_json)


@task_app.command("list")
def task_list(
    everything: Annotated[bool, typer.Option("--all", help="Include tasks that are done or cancelled.")] = False,
    space: SpaceOption = None,
    as_json: AsJson = False,
) -> None:
    """List tasks, earliest deadline first."""
    from donna_tui.cli.task import run_list

    with guarded(as_json):
        run_list(space, everything=everything, as_json=as_json)
