"""The note of the selected result: its place, its text with the passage marked, and its backlinks."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from textual import events, work
from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import line_range
from donna_tui.tui.lib.backend import Backend, Passage
from donna_tui.tui.lib.containers import Panel, name_panel
from donna_tui.tui.lib.inputs import set_label
from donna_tui.tui.lib.jump import JumpTarget
from donna_tui.tui.lib.markdown import FollowLink, LinkFollowed, LinkRef, link_in, spots_of
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.search.wording import note_at
from donna_tui.types.errors import DonnaError
from donna_tui.types.search import Hit

if TYPE_CHECKING:
    from donna_tui.types.events import EngineEvent

_MOST_LINKS = 6


PAUSE = 0.03
"""Seconds that a result is selected before its section is read, so that scrolling through the list reads nothing."""


class Preview(Panel):
    """A preview of the selected result. It keeps the last section until the next is loaded, to avoid flicker."""

    head = query_one("#preview-head", Static)
    view = query_one("#preview-text", PassageView)
    foot = query_one("#preview-foot", Static)

    def compose(self) -> ComposeResult:
        yield Static(id="preview-head")
        yield PassageView(id="preview-text")
        yield Static(id="preview-foot")

    def __init__(self, *, id: str) -> None:  # noqa: A002
        super().__init__("Note", id=id)
        self._backend: Backend | None = None
        self._hit: Hit | None = None
        self._timer: Timer | None = None

    def jump_targets(self) -> Iterator[JumpTarget]:
        """Yield the visible links and backlinks."""
        yield from self.view.jump_targets()
        foot, (x, y) = self.foot.content, self.foot.content_region.offset
        if isinstance(foot, Content) and self.foot.is_on_screen and self.foot.content_region:
            for number, row in enumerate(foot.wrap(max(1, self.foot.content_region.width))):
                for spot in spots_of(row, x, y + number):
                    yield JumpTarget(spot.x, spot.y, partial(self.view.follow, spot.ref))

    def on_click(self, event: events.Click) -> None:
        """Follow a backlink."""
        ref = link_in(event.style.meta)
        if ref is not None:
            event.stop()
            self.view.follow(ref)

    def on_link_followed(self, event: LinkFollowed) -> None:
        """Post the link with the note that it belongs to."""
        event.stop()
        if self._hit is not None:
            self.post_message(FollowLink(note_at(self._hit.source_type, self._hit.path) or self._hit.path, event.ref))

    def connect(self, backend: Backend) -> None:
        """Connect to the backend."""
        self._backend = backend

    def follow(self, hit: Hit | None) -> None:
        """Show the section of a hit, or nothing, after a short delay that skips hits selected only briefly."""
        self._hit = hit
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(PAUSE, self._load)

    def changed(self, happened: tuple[EngineEvent, ...]) -> None:
        """Read the section again if its note was indexed again."""
        from donna_tui.types.events import NoteIndexed

        hit = self._hit
        if hit is not None and any(isinstance(each, NoteIndexed) and each.path == hit.path for each in happened):
            self._load()

    def _load(self) -> None:
        if self._hit is None:
            self._clear()
        elif self._backend is not None:
            self._read(self._backend, self._hit)

    def _clear(self) -> None:
        name_panel(self, "Note")
        _set_text(self.head, Content(""))
        _set_text(self.foot, Content(""))
        self.view.show("")

    @work(group="preview", exclusive=True)
    async def _read(self, backend: Backend, hit: Hit) -> None:
        try:
            passage = await backend.passage(hit.path, hit.start_line, hit.end_line, hit.space)
        except DonnaError as error:
            if hit is self._hit:
                self.fail(hit, error.message, error.hint or "")
            return
        if hit is self._hit:
            self.show(hit, passage)

    def show(self, hit: Hit, passage: Passage) -> None:
        """Show the note of a hit with its passage marked."""
        from donna_tui.search.snippets import words_in

        self._head(hit, passage.heading_path, sensitive=passage.sensitive)
        first = passage.start_line
        mark = range(passage.mark_start - first, passage.mark_end - first + 1)
        self.view.show(passage.text, mark, words_in(hit.snippet))
        _set_text(self.foot, footing(passage))

    def fail(self, hit: Hit, message: str, hint: str) -> None:
        """Show why a note cannot be shown."""
        self._head(hit, hit.heading_path, sensitive=hit.sensitive)
        self.view.show("\n\n".join(filter(None, (message, hint))))
        _set_text(self.foot, Content(""))

    def _head(self, hit: Hit, headings: tuple[str, ...], *, sensitive: bool) -> None:
        name_panel(self, f"{clean_line(placed(hit))}:{line_range(hit)}")
        _set_text(self.head, heading(headings, sensitive=sensitive))


def _set_text(label: Static, content: Content) -> None:
    """Update a text, and lay out the screen only if it needs another number of lines."""
    width, before = label.content_size.width, label.content

    def lines(text: Content) -> int:
        return len(text.wrap(width)) if width and text else 0

    set_label(label, content, layout=not isinstance(before, Content) or lines(before) != lines(content))


def placed(hit: Hit) -> str:
    """Format the path of a hit, prefixed by its space if several were searched."""
    return " › ".join(filter(None, (hit.space, hit.path)))


def heading(headings: tuple[str, ...], *, sensitive: bool) -> Content:
    """Format the headings of the section, with a mark if the note is local only."""
    trail = " › ".join(clean_line(each) for each in headings)
    return Content.assemble((trail, "$text-muted"), ("  local only" if sensitive else "", "$text-warning"))


def footing(passage: Passage) -> Content:
    """Format the backlinks of the note, with a hint if it is longer than what is shown."""
    shown = passage.linked_from[:_MOST_LINKS]
    names = [Content.styled(clean_line(PurePosixPath(path).stem), LinkRef("note", path).style) for path in shown]
    more = len(passage.linked_from) - len(names)
    linked = Content(" · ").join([*names, *([Content(f"{more} more")] if more else [])])
    parts = [
        *([Content.styled("The note is longer; ↵ opens it whole.", "$text-muted")] if passage.truncated else []),
        *(
            [Content.assemble(("linked from  ", "$text-disabled"), linked.stylize_before("$text-muted"))]
            if linked
            else []
        ),
    ]
    return Content("\n").join(parts)
