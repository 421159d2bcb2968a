"""Links in drawn text: each carries what it leads to, so that a click, a label or a key can follow it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, Literal

from rich.cells import cell_len
from textual.content import Content
from textual.message import Message
from textual.style import Style

from donna_tui.records import dataclass

LinkForm = Literal["wiki", "url", "note"]


@dataclass(frozen=True, slots=True)
class LinkRef:
    """A link as it is written: in the brackets of a wikilink, or as a Markdown destination. The form `note` is Donna's
    own: a path, with a line (1-based) and perhaps a heading or block in that note.
    """

    form: LinkForm
    written: str
    line: int = 1
    fragment: str = ""

    @property
    def style(self) -> Style:
        """A style for the text of the link, which changes nothing that is seen."""
        return Style.from_meta({_META: (self.form, self.written, self.line, self.fragment)})


@dataclass(frozen=True, slots=True)
class LinkSpot:
    """The cell of the screen at which a link begins."""

    x: int
    y: int
    ref: LinkRef


class LinkFollowed(Message):
    """Somebody follows a link in a text. The widget that knows which note the text is of handles it."""

    def __init__(self, ref: LinkRef) -> None:
        super().__init__()
        self.ref = ref


class FollowLink(Message):
    """Somebody follows a link that is written in the note at `path`."""

    def __init__(self, path: str, ref: LinkRef) -> None:
        super().__init__()
        self.path = path
        self.ref = ref


def link_in(meta: dict[str, Any]) -> LinkRef | None:
    """The link that a style's meta names, if any."""
    found = meta.get(_META)
    return LinkRef(*found) if found is not None else None


def spots_of(row: Content, x: int, y: int) -> Iterator[LinkSpot]:
    """The links of a drawn row that begins at a cell."""
    for span in row.spans:
        ref = link_in(dict(span.style.meta)) if isinstance(span.style, Style) else None
        if ref is not None:
            yield LinkSpot(x + cell_len(row.plain[: span.start]), y, ref)


_META = "donna_link"
