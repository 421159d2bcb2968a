"""Patch faults of Textual 8 that end, hang or delay the app, or misdirect keys.

Importing this module applies the patches.
"""

from __future__ import annotations

from collections.abc import Iterable
from contextlib import suppress
from weakref import WeakKeyDictionary

from textual import events
from textual._compositor import Compositor, CompositorMap
from textual._xterm_parser import XTermParser
from textual.dom import NoScreen
from textual.drivers._writer_thread import WriterThread
from textual.geometry import Region
from textual.message import Message
from textual.strip import Strip
from textual.widget import Widget
from textual.widgets._toast import Toast

SHORTEST_TOAST_SECONDS = 0.001


def _time_left(toast: Toast) -> float:
    """Return the seconds until a message is removed, never less than the shortest time.

    A message that expires while it is created would get a timer of negative length, whose loop in Textual never returns
    to the event loop.
    """
    return max(toast._notification.time_left, SHORTEST_TOAST_SECONDS)


_parse_extended_key = XTermParser._parse_extended_key


def _parsed_key(parser: XTermParser, sequence: str) -> list[events.Key] | None:
    """Parse a key sequence of Kitty's protocol. A malformed one is none, where Textual raises ValueError."""
    try:
        return _parse_extended_key(parser, sequence)
    except ValueError:
        return None


_ESCAPE, _PASTE_START, _PASTE_END = "\x1b", "\x1b[200~", "\x1b[201~"
_feed = XTermParser.feed
_pastes: WeakKeyDictionary[XTermParser, tuple[bool, str]] = WeakKeyDictionary()
"""Map a parser to its state: in a paste or not, and the end of its input, if that may begin a mark of a paste."""


def _feed_pasted(parser: XTermParser, data: str) -> Iterable[Message]:
    """Feed input with ␛ in place of each escape character in a paste: Textual runs the characters after it as keys."""
    is_pasting, held = _pastes.get(parser, (False, ""))
    rest, safe, fed = held + data, "", 0 if is_pasting else len(held)
    found = bool(data)
    while found:
        sequence = _PASTE_END if is_pasting else _PASTE_START
        text, mark, rest = rest.partition(sequence)
        found = bool(mark)
        if not found:
            held = next((text[-size:] for size in range(5, 0, -1) if sequence.startswith(text[-size:])), "")
            _pastes[parser] = is_pasting, held
        if is_pasting:
            text = (text if found else text.removesuffix(held)).replace(_ESCAPE, "␛")
        safe += text + mark
        is_pasting ^= found
    return _feed(parser, safe[fed:]) if len(safe) > fed or not data else ()


def _write_queued(thread: WriterThread) -> None:
    """Write what is queued until the end. Once the terminal is gone, discard it: Textual's thread would end, and the
    app would wait forever for room in the queue instead of noticing that and ending.
    """
    queue, file, is_gone = thread._queue, thread._file, False
    while (text := queue.get()) is not None:
        if is_gone:
            continue
        try:
            file.write(text)
            if queue.empty():
                file.flush()
        except (OSError, ValueError):
            is_gone = True
    with suppress(OSError, ValueError):
        file.flush()


_build_map = Compositor.full_map.fget  # type: ignore[attr-defined]


def _full_map(compositor: Compositor) -> CompositorMap:
    """Return the places of all widgets, built again if they are outdated, and redraw those of widgets that are gone.

    Textual redraws only what differs between two layouts. If the map was built again in between, a message that had
    expired stayed on the screen.
    """
    if not compositor._full_map_invalidated:
        return compositor._full_map
    before = compositor._full_map
    found: CompositorMap = _build_map(compositor)
    gone = (before[widget].visible_region for widget in before.keys() - found.keys())
    compositor._dirty_regions.update(region for region in gone if region)
    return found


def _renders(compositor: Compositor, crop: Region | None = None) -> Iterable[tuple[Region, Region, list[Strip]]]:
    """Render the widgets in a part of the screen. Textual renders all whose container is partly in it: the header, the
    footer and the bars for each letter, a quarter of the time of a frame.
    """
    for widget, (region, clip) in compositor.visible_widgets.items():
        visible = region.intersection(clip)
        if visible and (crop is None or crop.overlaps(visible)):
            yield region, clip, widget.render_lines(visible.translate(-region.offset))


_focus_later = Widget.focus


def _focus(widget: Widget, scroll_visible: bool = True) -> Widget:
    """Focus a widget at once, or later if it cannot be focused yet. Textual always does it later, so that keys that
    are queued already go to the widget that had the focus before.
    """
    with suppress(NoScreen):
        screen = widget.screen
        screen.set_focus(widget, scroll_visible)
        if screen.focused is widget:
            return widget
    return _focus_later(widget, scroll_visible)


Toast._timeout = property(_time_left, lambda toast, seconds: None)  # type: ignore[assignment]
XTermParser._parse_extended_key = _parsed_key  # type: ignore[assignment]
XTermParser.feed = _feed_pasted  # type: ignore[assignment]
Compositor.full_map = property(_full_map)  # type: ignore[assignment]
Compositor._get_renders = _renders  # type: ignore[method-assign, assignment]
WriterThread.run = _write_queued  # type: ignore[assignment]
Widget.focus = _focus  # type: ignore[assignment]
