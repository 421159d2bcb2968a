"""Links in drawn text: what is written, the cell at which each begins, and the messages of following one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.style import Style

_META = "donna_link"

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


@dataclass(frozen=True, slots=True)
class LinkSpot:
    """The cell of the screen at which a link begins."""

    x: int
    y: int
    ref: LinkRef


@dataclass
class LinkFollowed(Message):
    """A link in a text is followed. The widget with the path of the note handles it."""

    ref: LinkRef


@dataclass
class FollowLink(Message):
    """A link that is written in the note at `path` is followed."""

    path: str
    ref: LinkRef


def link_in(meta: dict[str, Any]) -> LinkRef | None:
    found = meta.get(_META)
    return LinkRef(*found) if found is not None else None


def spots_of(row: Content, x: int, y: int) -> Iterator[LinkSpot]:
    """Return the links of a drawn row that begins at a cell."""
    for span in row.spans:
        ref = link_in(dict(span.style.meta)) if isinstance(span.style, Style) else None
        if ref is not None:
            yield LinkSpot(x + cell_len(row.plain[: span.start]), y, ref)
