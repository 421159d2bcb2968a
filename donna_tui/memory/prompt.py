"""The `<memory>` block of a prompt (seed 002 §4). What a memory says can neither end it nor pass for another memory."""

from __future__ import annotations

import re
from collections.abc import Iterable

from donna_tui.memories import MemoryChunk, MemoryType
from donna_tui.safety.terminal import clean

OPENING, CLOSING = "<memory>", "</memory>"
CONTINUED = "  "
"""Before each line of a memory but its first, so that only a memory begins at the left edge."""

_ANGLES = str.maketrans({"<": "&lt;", ">": "&gt;", "＜": "&lt;", "＞": "&gt;", "﹤": "&lt;", "﹥": "&gt;"})
_LABEL = re.compile(rf"^(\s*)\[(?=\s*(?:{'|'.join(MemoryType)})\s*\])", re.IGNORECASE)
_LINE_BREAKS = re.compile(r"[\v\f\x1c-\x1e\x85\u2028\u2029]")


def assemble(memories: Iterable[MemoryChunk]) -> str:
    """The block, a memory after the other with its type; empty without memories."""
    lines = [memory_line(memory) for memory in memories]
    return "\n".join((OPENING, *lines, CLOSING)) if lines else ""


def memory_line(memory: MemoryChunk) -> str:
    """One memory as it stands in the block."""
    return f"[{memory.memory_type.upper()}] {harmless(memory.content)}"


def harmless(text: str) -> str:
    """Text without anything that the reader of a prompt could take for a tag or a label of the block.

    Angle brackets become entities, a label at the start of a line loses its bracket, and characters that hide or
    reorder text are shown, as on a terminal.
    """
    shown = clean(_LINE_BREAKS.sub("\n", text)).translate(_ANGLES)
    lines = [_LABEL.sub(r"\1(", line) for line in shown.strip().split("\n")]
    return f"\n{CONTINUED}".join(lines)
