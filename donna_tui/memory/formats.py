"""What chats look like in files: lines of turns, the exports of ChatGPT and Claude, and Claude Code's session logs.

Sources: the `conversations.json` that the data exports of chatgpt.com and claude.ai hold, and the files below
`~/.claude/projects`. None of them is documented; what is read here is what these programs write in 2025 and 2026.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from donna_tui.memories import BadLine
from donna_tui.memory.chat import ROLES
from donna_tui.memory.exports import chatgpt_turns, claude_turns
from donna_tui.memory.values import Found, LeftOut, get, made_turn, moment_of, name_of, text_blocks, title_of

_ASSISTANTS = frozenset({"assistant", "ai", "bot", "model", "gpt", "chatgpt", "claude"})
_USERS = frozenset({"user", "human", "me"})
_NO_TURNS = frozenset({"file-history-snapshot", "progress", "queue-operation", "last-prompt", "mode", "attachment"})


def turns_of(value: Any, line: int) -> Iterator[Found]:
    """The turns of one JSON value, whatever format it is of."""
    if not isinstance(value, dict):
        yield BadLine(line, "it is not an object")
    elif "mapping" in value:
        yield from chatgpt_turns(value, line)
    elif "chat_messages" in value:
        yield from claude_turns(value, line)
    elif "sessionId" in value or (value.get("type") == "summary" and "leafUuid" in value):
        yield from _claude_code(value, line)
    elif str(value.get("type")) in _NO_TURNS:
        yield LeftOut()
    else:
        yield _plain_turn(value, line)


def format_of(value: Any) -> str:
    """The name of a value's format, in words."""
    if not isinstance(value, dict):
        return "unknown"
    if "mapping" in value:
        return "ChatGPT export"
    if "chat_messages" in value:
        return "Claude export"
    return "Claude Code session" if "sessionId" in value or "leafUuid" in value else "turns"


# Lines of turns


def _plain_turn(value: Mapping[str, Any], line: int) -> Found:
    session, text = value.get("session_id"), value.get("text", value.get("content"))
    named = value.get("role") or value.get("speaker")
    if not isinstance(session, str | int) or isinstance(session, bool) or not str(session).strip():
        return BadLine(line, "there is no session_id")
    if not isinstance(text, str):
        return BadLine(line, "there is no text")
    if not isinstance(named, str) or not named.strip():
        return BadLine(line, "there is neither role nor speaker")
    turn, at = value.get("turn"), value.get("timestamp")
    if turn is not None and (not isinstance(turn, int) or isinstance(turn, bool) or abs(turn) > 2**53):
        return BadLine(line, "turn is not a whole number")
    moment = moment_of(at)
    if at is not None and moment is None:
        return BadLine(line, "timestamp is not a time")
    role = _role(named)
    speaker = value.get("speaker") if isinstance(value.get("speaker"), str) else named
    return made_turn(
        line, session=name_of(str(session)), role=role, speaker=_speaker(str(speaker), role), text=text, at=moment,
        turn=turn, origin=name_of(str(value.get("user_id") or "")), title=title_of(value.get("title")),
    )  # fmt: skip


def _role(named: str) -> str:
    folded = named.strip().casefold()
    if folded in _ASSISTANTS:
        return "assistant"
    return folded if folded in ROLES else "user"


def _speaker(named: str, role: str) -> str:
    folded = named.strip().casefold()
    return role if folded in _ASSISTANTS | _USERS | frozenset(ROLES) else name_of(named)


# Claude Code


def _claude_code(value: Mapping[str, Any], line: int) -> Iterator[Found]:
    """A line of a session log. Output of tools, thoughts, side chains and what the program says itself are left out."""
    message = value.get("message")
    role = get(message, "role")
    aside = value.get("isSidechain") or value.get("isMeta") or value.get("isCompactSummary")
    if value.get("type") not in ("user", "assistant") or role not in ("user", "assistant") or aside:
        yield LeftOut()
        return
    content = get(message, "content")
    blocks = [content] if isinstance(content, str) else text_blocks(content)
    mark = value.get("uuid")
    if not blocks or not isinstance(value.get("sessionId"), str):
        yield LeftOut()
        return
    yield made_turn(
        line, session=name_of(f"claude-code/{value['sessionId']}"), role=role, speaker=role, text="\n\n".join(blocks),
        at=moment_of(value.get("timestamp")), mark=mark if isinstance(mark, str) else "",
        title=title_of(_folder(value.get("cwd"))),
    )  # fmt: skip


def _folder(path: Any) -> str:
    name = path.replace("\\", "/").rstrip("/").rpartition("/")[2] if isinstance(path, str) else ""
    return f"Claude Code in {name}" if name else ""
