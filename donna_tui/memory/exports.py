"""The exports of ChatGPT and Claude: each value is a whole conversation."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from donna_tui.memories import BadLine
from donna_tui.memory.values import Found, LeftOut, get, made_turn, moment_of, name_of, text_blocks, title_of


def chatgpt_turns(value: Mapping[str, Any], line: int) -> Iterator[Found]:
    """The branch that the conversation ended on. Messages of other branches were replaced by their author."""
    nodes = value["mapping"]
    identity = value.get("conversation_id") or value.get("id")
    if not isinstance(nodes, dict) or not isinstance(identity, str):
        yield BadLine(line, "the conversation has no messages or no id")
        return
    branch = _branch(nodes, value.get("current_node"))
    shared = {"session": name_of(f"chatgpt/{identity}"), "title": title_of(value.get("title"))}
    for place, (node, message) in enumerate(branch, 1):
        yield _chatgpt_turn(message, line, shared, place, node)
    others = sum(isinstance(get(node, "message"), dict) for node in nodes.values()) - len(branch)
    if others > 0:
        yield LeftOut(others)


def _branch(nodes: Mapping[str, Any], last: Any) -> list[tuple[str, Mapping[str, Any]]]:
    """The messages from the root to the last node; without one, to the last leaf. Circles end the walk."""
    if not isinstance(last, str) or last not in nodes:
        leaves = [key for key, node in nodes.items() if not get(node, "children")]
        last = leaves[-1] if leaves else None
    found: list[tuple[str, Mapping[str, Any]]] = []
    seen: set[str] = set()
    while isinstance(last, str) and last in nodes and last not in seen:
        seen.add(last)
        message = get(nodes[last], "message")
        if isinstance(message, dict):
            found.append((last, message))
        last = get(nodes[last], "parent")
    return found[::-1]


def _chatgpt_turn(message: Mapping[str, Any], line: int, shared: dict[str, str], place: int, node: str) -> Found:
    role = get(message.get("author"), "role")
    hidden = get(message.get("metadata"), "is_visually_hidden_from_conversation")
    content = message.get("content")
    kind = get(content, "content_type")
    if role not in ("user", "assistant") or hidden or kind not in ("text", "multimodal_text", "code", None):
        return LeftOut()
    if message.get("recipient") not in (None, "all"):
        return LeftOut()
    parts = get(content, "parts")
    words = [part for part in parts if isinstance(part, str)] if isinstance(parts, list) else []
    return made_turn(
        line, **shared, role=role, speaker=role, text="\n\n".join(words), at=moment_of(message.get("create_time")),
        turn=place, mark=node,
    )  # fmt: skip


def claude_turns(value: Mapping[str, Any], line: int) -> Iterator[Found]:
    messages, identity = value["chat_messages"], value.get("uuid")
    if not isinstance(messages, list) or not isinstance(identity, str):
        yield BadLine(line, "the conversation has no messages or no uuid")
        return
    shared = {"session": name_of(f"claude/{identity}"), "title": title_of(value.get("name"))}
    for place, message in enumerate(messages, 1):
        if not isinstance(message, dict):
            yield BadLine(line, f"message {place} of the conversation is not an object")
            continue
        role = {"human": "user", "assistant": "assistant"}.get(str(message.get("sender")))
        mark = message.get("uuid")
        if role is None:
            yield LeftOut()
            continue
        yield made_turn(
            line, **shared, role=role, speaker=role, text=_claude_text(message),
            at=moment_of(message.get("created_at")), turn=place, mark=mark if isinstance(mark, str) else "",
        )  # fmt: skip


def _claude_text(message: Mapping[str, Any]) -> str:
    """The text blocks of a message; older exports have its text alone."""
    blocks = text_blocks(message.get("content"))
    text = message.get("text")
    return "\n\n".join(blocks) if blocks else text if isinstance(text, str) else ""
