"""Links in drawn text: what is written, where each can be jumped to, and the messages of following one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.style import Style

from donna_tui.tui.lib.jump import JumpTarget

_META = "donna_link"

_INDENT = " ▎"
"""Characters at the start of the continued rows of a paragraph or quotation."""

LinkForm = Literal["wiki", "url", "note"]


@dataclass(frozen=True, slots=True)
class LinkRef:
    """A link as written: in the brackets of a wikilink, or as a Markdown destination. The form `note` is internal: a
    path, with a line (1-based) and optionally a heading or block of that note.
    """

    form: LinkForm
    written: str
    line: int = 1
    fragment: str = ""

    @property
    def style(self) -> Style:
        """Return a style that attaches the link to its text and does not change its appearance."""
        return Style.from_meta({_META: (self.form, self.written, self.line, self.fragment)})


@dataclass
class FollowLink(Message):
    """A link that is written in the note at `path` is followed."""

    path: str
    ref: LinkRef


def link_in(meta: dict[str, Any]) -> LinkRef | None:
    found = meta.get(_META)
    return LinkRef(*found) if found is not None else None


def link_targets(
    rows: Iterable[tuple[int, Content]], x: int, follow: Callable[[LinkRef], object]
) -> Iterator[JumpTarget]:
    """Return the links of drawn rows that begin at `x`, each row with its `y`. A link that continues in the next row is
    one target.
    """
    last = None
    for y, row in rows:
        for span in row.spans:
            ref = link_in(dict(span.style.meta)) if isinstance(span.style, Style) else None
            if ref is None:
                continue
            before = row.plain[: span.start]
            if ref != last or before.strip(_INDENT):
                yield JumpTarget(x + cell_len(before), y, partial(follow, ref))
            last = ref
