"""The note of the selected result: its place, its text with the passage marked, and its backlinks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

from rich.cells import cell_len
from textual import events, work
from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer
from textual.widget import Widget

from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import line_range
from donna_tui.text.markdown import plain_text
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.containers import Panel, name_panel
from donna_tui.tui.lib.error_messages import sentence
from donna_tui.tui.lib.jump import JumpTarget
from donna_tui.tui.lib.links import FollowLink, LinkRef, link_in, link_targets
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.search.results import shortened
from donna_tui.tui.vault.parts_pane import LOAD_DELAY
from donna_tui.types.errors import DonnaError
from donna_tui.types.search import Hit

if TYPE_CHECKING:
    from donna_tui.engine.passages import Passage
    from donna_tui.types.events import EngineEvent

_MAX_LINKS = 12
_LINKED_FROM, _BETWEEN = "linked from  ", " · "
_HINTS = ("↵ opens the whole note", "↵ whole note", "")
_LINK_CELLS = 40
"""Cells left for the backlinks: enough to recognise a long name, and for the number of the others."""

_GAP = 2
"""Cells between the backlinks and the hint."""


class FittedLine(Widget):
    """One line of text, made for its width when it is drawn. Changing the text causes no layout."""

    _fit: Callable[[int], Content] | None = None

    def show(self, fit: Callable[[int], Content] | None = None) -> None:
        """Show the text that `fit` returns for a width in cells, or none."""
        self._fit = fit
        self.refresh()

    def render(self) -> Content:
        return self._fit(self.content_size.width) if self._fit else Content("")


class Preview(Panel):
    """A preview of the selected result. It keeps the last section until the next is loaded, to avoid flicker.

    The lines above and below the text have a fixed height, so that the screen is not laid out while you type.
    """

    head = query_one("#preview-head", FittedLine)
    view = query_one("#preview-text", PassageView)
    foot = query_one("#preview-foot", FittedLine)

    _backend: Backend | None = None
    _hit: Hit | None = None
    _timer: Timer | None = None

    def compose(self) -> ComposeResult:
        yield FittedLine(id="preview-head")
        yield PassageView(id="preview-text")
        yield FittedLine(id="preview-foot")

    def jump_targets(self) -> Iterator[JumpTarget]:
        yield from self.view.jump_targets()
        if self.foot.is_on_screen and self.foot.content_region:
            x, y = self.foot.content_region.offset
            yield from link_targets([(y, self.foot.render())], x, self.view.follow)

    def on_click(self, event: events.Click) -> None:
        ref = link_in(event.style.meta)
        if ref is not None:
            event.stop()
            self.post_message(FollowLink(self.view.path, ref))  # one that the view sends would end at this widget

    def connect(self, backend: Backend) -> None:
        self._backend = backend

    def follow(self, hit: Hit | None) -> None:
        """Show the section of a hit, or nothing, after a short delay that skips hits selected only briefly."""
        self._hit = hit
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(LOAD_DELAY, self._load)

    def changed(self, happened: tuple[EngineEvent, ...]) -> None:
        from donna_tui.types.events import ChangedElsewhere, NoteIndexed

        hit = self._hit
        if hit is not None and any(
            isinstance(posted, ChangedElsewhere) or (isinstance(posted, NoteIndexed) and posted.path == hit.cited_path)
            for posted in happened
        ):
            self._load()

    def _load(self) -> None:
        if self._hit is None:
            self._clear()
        elif self._backend is not None:
            self._read(self._backend, self._hit)

    def _clear(self) -> None:
        name_panel(self, "Note")
        self.head.show()
        self.foot.show()
        self.view.show("")

    @work(group="preview", exclusive=True)
    async def _read(self, backend: Backend, hit: Hit) -> None:
        try:
            passage = await backend.passage(hit.path, hit.start_line, hit.end_line, hit.space)
            await asyncio.to_thread(self.view.prepare, passage.text)
        except DonnaError as error:
            if hit is self._hit:
                self._head(hit, hit.heading_path, sensitive=hit.sensitive)
                self.view.show("\n\n".join(filter(None, (sentence(error.message), sentence(error.hint or "")))))
                self.foot.show()
            return
        if hit is self._hit:
            self.show(hit, passage)

    def show(self, hit: Hit, passage: Passage) -> None:
        from donna_tui.search.snippets import words_to_mark_in

        self._head(hit, passage.heading_path, sensitive=passage.sensitive)
        self.view.show_passage(passage, words_to_mark_in(hit.snippet))
        self.foot.show(partial(backlinks, passage.linked_from, truncated=passage.truncated))

    def _head(self, hit: Hit, headings: tuple[str, ...], *, sensitive: bool) -> None:
        self.view.path = hit.cited_path
        place = " › ".join(filter(None, (hit.space, hit.cited_path)))
        name_panel(self, f"{clean_line(place)}:{line_range(hit)}")
        self.head.show(partial(heading, headings, sensitive=sensitive))


def heading(headings: tuple[str, ...], width: int, *, sensitive: bool) -> Content:
    """Format the headings of a section, without the outer ones if they do not fit, and a mark if it is private."""
    mark = Content.styled("  private" if sensitive else "", "$text-warning")
    room = width - mark.cell_length
    names = [clean_line(plain_text(each)) for each in headings]
    trails = (" › ".join(["…"] * (left > 0) + names[left:]) for left in range(len(names)))
    trail = next((shorter for shorter in trails if cell_len(shorter) <= room), shortened(" ".join(names[-1:]), room))
    return Content.assemble((trail, "$text-muted"), mark)


def backlinks(paths: tuple[str, ...], width: int, *, truncated: bool) -> Content:
    """Format as many backlinks as fit, and at the end of the line a hint if the note is longer than what is shown.

    The hint is shortened or left out where it would leave less than the backlinks need, at most `_LINK_CELLS`.
    """
    names = [clean_line(PurePosixPath(path).stem) for path in paths[:_MAX_LINKS]]
    needed = min(_LINK_CELLS, cell_len(_LINKED_FROM + _BETWEEN.join(names))) if names else 0

    def room(hint: str) -> int:
        return max(width - (cell_len(hint) + _GAP if hint else 0), 1)

    hint = next((text for text in _HINTS if room(text) >= needed), "") if truncated else ""
    linked = _linked_from(paths, names, room(hint)) if paths else Content("")
    return Content.assemble(
        linked, " " * (width - linked.cell_length - cell_len(hint)) if hint else "", (hint, "$text-muted")
    )


def _linked_from(paths: tuple[str, ...], names: list[str], room: int) -> Content:
    """Format the links to the first notes, at least one, and the number of the others; a single name is shortened."""

    def others(shown: int) -> tuple[str, ...]:
        return (f"{len(paths) - shown} more",) if len(paths) > shown else ()

    def cells(shown: int) -> int:
        return cell_len(_LINKED_FROM + _BETWEEN.join((*names[:shown], *others(shown))))

    shown = next((number for number in range(len(names), 1, -1) if cells(number) <= room), 1)
    if cells(shown) > room:
        names[0] = shortened(names[0], max(room - cells(shown) + cell_len(names[0]), 1))
    links = [
        Content.styled(name, LinkRef("note", path).style) for name, path in zip(names[:shown], paths, strict=False)
    ]
    linked = Content(_BETWEEN).join([*links, *map(Content, others(shown))])
    line = Content.assemble((_LINKED_FROM, "$text-disabled"), linked.stylize_before("$text-muted"))
    return line.truncate(room, ellipsis=True)
