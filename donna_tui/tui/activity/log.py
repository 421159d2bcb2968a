"""The event log: the last events in a ring buffer, filtered, of which only the visible ones are drawn."""

from __future__ import annotations

from bisect import bisect_left
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widgets import Input, Static

from donna_tui.tui.lib.dialogs import DetailScreen
from donna_tui.tui.lib.event_messages import Kind, Sentence, Tone, describe, not_listed
from donna_tui.tui.lib.humanize import clock, count, moment, shorten_path
from donna_tui.tui.lib.inputs import LineInput, SectionTabs
from donna_tui.tui.lib.lines import ItemList, set_content_height
from donna_tui.types.events import EngineEvent

KEPT_ROWS = 2_000
_TYPING_SECONDS = 3.0


@dataclass(frozen=True, slots=True)
class LogRow:
    """A row of the log. `number` increases by one per row; `times` counts searches in quick succession."""

    number: int
    at: float
    sentence: Sentence
    times: int = 1


class EventRing:
    """A ring buffer of at most `capacity` rows. While paused, new rows are stored but not shown."""

    def __init__(self, capacity: int = KEPT_ROWS) -> None:
        self._rows: deque[LogRow] = deque(maxlen=capacity)
        self._next = 0
        self._words: list[str] = []
        self._kind: Kind | None = None
        self._paused_at: int | None = None
        self._shown: Sequence[LogRow] | None = ()

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def shown(self) -> Sequence[LogRow]:
        """Return the rows that pass the filter, oldest first; another list after each change."""
        if self._shown is None:
            end = self._next if self._paused_at is None else self._paused_at
            self._shown = [row for row in self._rows if row.number < end and self._passes(row.sentence)]
        return self._shown

    @property
    def filtered(self) -> bool:
        return bool(self._words) or self._kind is not None

    @property
    def paused(self) -> bool:
        return self._paused_at is not None

    @property
    def waiting(self) -> int:
        return 0 if self._paused_at is None else self._next - self._paused_at

    def add(self, at: float, sentence: Sentence) -> None:
        """Append a row. Searches in quick succession, as caused by typing, are merged into one row."""
        last = self._rows[-1] if self._rows and sentence.kind is Kind.SEARCHES else None
        if last is not None and last.sentence.kind is Kind.SEARCHES and at - last.at <= _TYPING_SECONDS:
            self._rows[-1] = replace(last, at=at, sentence=sentence, times=last.times + 1)
        else:
            self._rows.append(LogRow(self._next, at, sentence))
            self._next += 1
        if not self.paused:
            self._shown = None

    def narrow(self, text: str = "", kind: Kind | None = None) -> None:
        """Show only rows of `kind` that contain every word of `text`, ignoring case."""
        self._words, self._kind, self._shown = text.casefold().split(), kind, None

    def pause(self) -> None:
        self._shown = self.shown  # rows that are dropped meanwhile stay
        self._paused_at = self._next

    def resume(self) -> None:
        self._paused_at = self._shown = None

    def index_of(self, number: int) -> int:
        """Return the index of the shown row `number`, or of the next one after it."""
        return bisect_left(self.shown, number, key=lambda row: row.number)

    def _passes(self, sentence: Sentence) -> bool:
        if self._kind not in (None, sentence.kind):
            return False
        whole = f"{sentence.what} {sentence.path} {sentence.detail}".casefold() if self._words else ""
        return all(word in whole for word in self._words)


_TIME = 8
_WHAT = 19
_TOOK = 7
_STAGES = 40
_GAP = "  "
_MAX_PATH = 56
MARKS = {Tone.GOOD: "●", Tone.PLAIN: "○", Tone.QUIET: "·", Tone.WARNING: "▲", Tone.ERROR: "✕"}


@dataclass(frozen=True, slots=True)
class Columns:
    """Widths in cells: the path, everything after it, and within that the times on the right, if there is room."""

    path: int
    rest: int
    times: int


def columns(width: int) -> Columns:
    """Divide a row of `width` cells after the time and the event."""
    room = max(0, width - _TIME - len(_GAP) - len("● ") - _WHAT - len(_GAP))
    times = _STAGES if room >= 112 else _TOOK if room >= 64 else 0
    path = min(room, _MAX_PATH, max(20, (room - times) * 44 // 100))
    return Columns(path, max(0, room - path - len(_GAP)), times)


def row_content(row: LogRow, width: int) -> Content:
    """Format a row, exactly `width` cells wide; without a path the detail takes its place."""
    sentence, widths = row.sentence, columns(width)
    what = Content(f"{sentence.what} × {row.times}" if row.times > 1 else sentence.what)
    times = sentence.stages or sentence.took if widths.times == _STAGES else sentence.took if widths.times else ""
    parts = [
        Content.styled(clock(row.at), Tone.QUIET),
        Content.assemble((MARKS[sentence.tone], sentence.tone), " ", what.truncate(_WHAT, ellipsis=True, pad=True)),
        *([Content(shorten_path(sentence.path, widths.path)).truncate(widths.path, pad=True)] if sentence.path else []),
        _detail_and_times(sentence, times, widths),
    ]
    return Content(_GAP).join(parts).truncate(width, pad=True)


def _detail_and_times(sentence: Sentence, times: str, widths: Columns) -> Content:
    room = widths.rest if sentence.path else widths.rest + widths.path + len(_GAP)
    tone = sentence.tone if sentence.tone in (Tone.WARNING, Tone.ERROR) else Tone.QUIET
    detail = Content.styled(sentence.detail, tone)
    if not times:
        return detail.truncate(room, ellipsis=True, pad=True)
    left = max(0, room - max(len(times), _TOOK) - len(_GAP))
    right = Content.styled(times.rjust(room - left), Tone.QUIET)
    return Content.assemble(detail.truncate(left, ellipsis=True, pad=True), right)


KINDS: tuple[Kind | None, ...] = (None, *Kind)


class LogFilter(Horizontal):
    """The filter of the log. Posts `Changed` whenever the filter changes."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down", "kind(1)", show=False),
        Binding("up", "kind(-1)", show=False),
    ]

    field = query_one(LineInput)
    choice = query_one(SectionTabs)

    @dataclass
    class Changed(Message):
        text: str
        kind: Kind | None

    def compose(self) -> ComposeResult:
        yield Static(Content("❯"), classes="prompt")
        yield LineInput(placeholder="text to find  ↑↓ kind", compact=True)
        yield SectionTabs("everything", *Kind, gap=2)

    def on_mount(self) -> None:
        self.choice.can_focus = False

    def clear(self) -> None:
        with self.field.prevent(Input.Changed):
            self.field.value = ""
        with self.choice.prevent(SectionTabs.Chosen):
            self.choice.chosen = 0
        self._report()

    def action_kind(self, by: int) -> None:
        self.choice.action_choose(by)

    def on_section_tabs_chosen(self, event: SectionTabs.Chosen) -> None:
        event.stop()
        self._report()

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._report()

    def _report(self) -> None:
        self.post_message(self.Changed(self.field.value, KINDS[self.choice.chosen]))


_MARGIN = 1
"""Cells between a row and the scroll bar."""


class EventLog(ItemList[LogRow]):
    """Rows of an `EventRing`. Without a cursor, which is then after the last row, the log follows new events."""

    has_cursor = False

    class Changed(Message):
        """Posted when rows, filter, pause or position change, so that the title of the log may be outdated."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self.ring = EventRing()
        self.following = True
        """Set while the log scrolls to new rows."""

    def add(self, happened: tuple[EngineEvent, ...], *, missed: int = 0, draw: bool = True) -> None:
        """Append events that are described for people, in one redraw; `missed` earlier events are no longer known.

        While the log is hidden nothing is drawn; it is drawn when it is shown.
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
        self._rows_changed()

    def state_words(self) -> str:
        """Describe whether the log is paused, filtered, or not at its end."""
        held = f"paused · {count(self.ring.waiting)} waiting" if self.ring.paused else ""
        narrowed = f"{count(len(self.ring.shown))} of {count(len(self.ring))}" if self.ring.filtered else ""
        scrolled = "" if self.following or held else "scrolled back"
        return " · ".join(part for part in (held, narrowed, scrolled) if part)

    def narrow(self, text: str, kind: Kind | None) -> None:
        self.ring.narrow(text, kind)
        self.follow()

    def toggle_pause(self) -> None:
        if self.ring.paused:
            self.ring.resume()
            self.follow()
        else:
            self.ring.pause()
            self._rows_changed()

    def follow(self) -> None:
        self.has_cursor = False
        self.following = True
        self._rows_changed()

    def select(self, index: int) -> None:
        """Select a row; after the last one the log follows new events again."""
        if index >= self.row_count:
            self.follow()
        else:
            super().select(index)

    def cursor_moved(self) -> None:
        self.following = False
        self.refresh()
        self.post_message(self.Changed())

    def action_last(self) -> None:
        self.follow()

    def open_selected(self) -> None:
        row = self.selected or (self.items[-1] if self.items else None)
        if row is not None:
            said = row.sentence
            times = ("Time spent", said.stages or said.took), ("When", moment(row.at))
            self.app.push_screen(DetailScreen(said.what, (("", said.detail), ("Note", said.path), *times)))

    def line(self, index: int, width: int) -> Content:
        return row_content(self.items[index], max(0, width - _MARGIN))

    def _show_cursor(self) -> None:
        if self.has_cursor:
            super()._show_cursor()

    def watch_scroll_y(self, old_value: float, new_value: float) -> None:
        super().watch_scroll_y(old_value, new_value)
        following = not self.has_cursor and new_value >= self.max_scroll_y
        if following != self.following:
            self.following = following
            self.post_message(self.Changed())

    def on_resize(self) -> None:
        self._rows_changed()

    def _rows_changed(self) -> None:
        """Draw the rows that are shown now. The log stays at its end if it follows, and else at its first visible row,
        although rows above it are dropped.
        """
        following, top = self.following, self.scroll_offset.y
        first = self.items[top].number if top < self.line_count else 0
        selected = self.selected
        self.items = self.ring.shown
        self.selected_index = self.row_count
        if selected is not None and self.items:
            self.selected_index = min(self.ring.index_of(selected.number), self.row_count - 1)
        set_content_height(self, self.line_count)
        self.scroll_to(y=self.max_scroll_y if following else self.ring.index_of(first), animate=False, force=True)
        self.following = following
        self.refresh()
        self.post_message(self.Changed())
