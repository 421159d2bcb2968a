"""Patch faults of Textual 8 that end or hang the app, or misdirect keys. Importing this module applies the patches."""

from __future__ import annotations

from contextlib import suppress

from textual import events
from textual._xterm_parser import XTermParser
from textual.dom import NoScreen
from textual.drivers._writer_thread import WriterThread
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
WriterThread.run = _write_queued  # type: ignore[assignment]
Widget.focus = _focus  # type: ignore[assignment]
