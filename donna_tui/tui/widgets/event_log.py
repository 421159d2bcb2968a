"""The event log: draws only the rows in sight, follows the newest one until the reader looks back."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.content import Content
from textual.geometry import Size
from textual.message import Message
from textual.scroll_view import ScrollView
from textual.strip import Strip
from textual.style import Style

from donna_tui.events import EngineEvent
from donna_tui.tui.bindings import bindings
from donna_tui.tui.humanize import count
from donna_tui.tui.sentences import Kind, Tone
from donna_tui.tui.widgets.event_ring import EventRing, LogRow
from donna_tui.tui.widgets.event_row import row_content
from donna_tui.tui.widgets.strips import content_strip
from donna_tui.tui.wording import describe, not_listed

_MARGIN = 1
"""Cells between a row and the scroll bar."""


class EventLog(ScrollView, can_focus=True, inherit_bindings=False):
    """Rows of an `EventRing`. A row can be selected; with none selected the log follows what happens."""

    BINDINGS = bindings("list")
    COMPONENT_CLASSES: ClassVar[set[str]] = {f"tone--{tone}" for tone in Tone} | {"log--selected", "log--empty"}

    class Changed(Message):
        """Rows, filter, pause or position changed, so that the title around the log may be out of date."""

    class Opened(Message):
        """A row was chosen to be read in full."""

        def __init__(self, row: LogRow) -> None:
            super().__init__()
            self.row = row

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.ring = EventRing()
        self.empty_text = ""
        self._selected: int | None = None
        self._following = True

    @property
    def following(self) -> bool:
        """Whether the newest row is in sight and stays so."""
        return self._following

    @property
    def selected(self) -> LogRow | None:
        """The row under the cursor."""
        if self._selected is None or not self.ring.shown:
            return None
        return self.ring.shown[self._cursor_index()]

    def add(self, happened: tuple[EngineEvent, ...], *, missed: int = 0, draw: bool = True) -> None:
        """Append what is for people, in one redraw; `missed` events came before and are not known any more.

        Out of sight nothing needs to be drawn: it is when the log is shown.
        """
        if missed and happened:
            self.ring.add(happened[0].at, not_listed(missed))
        for event in happened:
            sentence = describe(event)
            if sentence is not None:
                self.ring.add(event.at, sentence)
        if draw:
            self._rows_changed()

    def on_show(self) -> None:
        """Show what happened meanwhile."""
        self._rows_changed()

    def state_words(self) -> str:
        """What the reader must know about the log: that it is held, narrowed, or not at its end."""
        held = f"held · {count(self.ring.waiting)} waiting" if self.ring.paused else ""
        narrowed = f"{count(len(self.ring.shown))} of {count(len(self.ring))}" if self.ring.filtered else ""
        looking_back = "" if self._following or held else "looking back"
        return " · ".join(part for part in (held, narrowed, looking_back) if part)

    def narrow(self, text: str, kind: Kind | None) -> None:
        """Show only rows with these words, of this kind."""
        self.ring.narrow(text, kind)
        self.follow()

    def toggle_pause(self) -> None:
        """Hold the log still, or go on."""
        if self.ring.paused:
            self.ring.resume()
            self.follow()
        else:
            self.ring.pause()
            self._rows_changed()

    def follow(self) -> None:
        """Select nothing and go to the newest row."""
        self._selected = None
        self._following = True
        self._rows_changed()

    def action_cursor_down(self) -> None:
        """Select the next row; past the last one the log follows again."""
        self._move(1)

    def action_cursor_up(self) -> None:
        """Select the previous row."""
        self._move(-1)

    def action_page_down(self) -> None:
        """Select the row one page further on."""
        self._move(self._page())

    def action_page_up(self) -> None:
        """Select the row one page back."""
        self._move(-self._page())

    def action_first(self) -> None:
        """Select the oldest row."""
        self._move(-len(self.ring.shown))

    def action_last(self) -> None:
        """Follow the newest row."""
        self.follow()

    def open_selected(self) -> None:
        """Show the selected row, or the newest one, in full."""
        row = self.selected or (self.ring.shown[-1] if self.ring.shown else None)
        if row is not None:
            self.post_message(self.Opened(row))

    def render_line(self, y: int) -> Strip:
        width = self.scrollable_content_region.width
        index = y + self.scroll_offset.y
        if not self.ring.shown:
            return self._empty_line(y, width)
        if index >= len(self.ring.shown):
            return Strip.blank(width, self.rich_style)
        row = self.ring.shown[index]
        is_selected = row.number == self._selected
        base = self.get_visual_style("log--selected") if is_selected else self.visual_style
        return content_strip(row_content(row, max(0, width - _MARGIN)), base, self._style_of, width)

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        following = self._selected is None and new_value >= self.max_scroll_y
        if following != self._following:
            self._following = following
            self.post_message(self.Changed())

    def watch_show_vertical_scrollbar(self, shown: bool) -> None:
        """A scroll bar that appears after the log was scrolled does not know yet where it stands."""
        if shown:
            self.vertical_scrollbar.position = self.scroll_y

    def on_resize(self) -> None:
        """Keep the newest row in sight when the room changes."""
        self._rows_changed()

    def on_click(self, event: events.Click) -> None:
        """Select the row that was clicked; a second click opens it."""
        offset = event.get_content_offset(self)
        index = (offset.y if offset is not None else event.y) + self.scroll_offset.y
        if index < len(self.ring.shown):
            self._select(index)
            if event.chain == 2:
                self.open_selected()

    def _rows_changed(self) -> None:
        following, cut = self._following, self.ring.taken_from_top()
        height = len(self.ring.shown)
        self.virtual_size = Size(self.scrollable_content_region.width, height)
        if following:
            self.scroll_to(y=self.max_scroll_y, animate=False, force=True)
            self._following = True
        elif cut:
            self.scroll_to(y=max(0, self.scroll_offset.y - cut), animate=False, force=True)
        self.refresh()
        self.post_message(self.Changed())

    def _move(self, by: int) -> None:
        last = len(self.ring.shown) - 1
        if last < 0:
            return
        start = last + (by < 0) if self._selected is None else self._cursor_index()
        if start + by > last:
            self.follow()
        else:
            self._select(max(0, start + by))

    def _select(self, index: int) -> None:
        self._selected = self.ring.shown[index].number
        self._following = False
        top, page = self.scroll_offset.y, max(1, self.size.height)
        self.scroll_to(y=min(max(top, index - page + 1), index), animate=False, force=True)
        self.refresh()
        self.post_message(self.Changed())

    def _cursor_index(self) -> int:
        index = self.ring.index_of(self._selected or 0)
        return min(index, len(self.ring.shown) - 1)

    def _page(self) -> int:
        return max(1, self.size.height - 1)

    def _empty_line(self, y: int, width: int) -> Strip:
        if y != max(0, self.size.height // 2 - 1) or not width:
            return Strip.blank(width, self.rich_style)
        text = Content(self.empty_text).truncate(width, ellipsis=True).center(width)
        return content_strip(text, self.get_visual_style("log--empty"), self._style_of, width)

    def _style_of(self, name: str | Style) -> Style:
        return name if isinstance(name, Style) else self.get_visual_style(name.removeprefix("."), partial=True)
