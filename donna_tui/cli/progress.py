"""Draw the progress of indexing on stderr."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING

from donna_tui.text.plural import plural
from donna_tui.types.events import EngineEvent, IndexProgress, ModelStateChanged
from donna_tui.types.status import ModelPhase

if TYPE_CHECKING:
    from donna_tui.engine.engine import Engine

WIDTH = 24


@contextlib.contextmanager
def shown_progress(engine: Engine) -> Iterator[None]:
    """Draw a progress line while the engine works; nothing if stderr is not a terminal."""
    if not sys.stderr.isatty():
        yield
        return
    drawn = False

    def listen(event: EngineEvent) -> None:
        nonlocal drawn
        if line := progress_line(event):
            drawn = True
            draw(line)

    unsubscribe = engine.subscribe(listen)
    try:
        yield
    finally:
        unsubscribe()
        if drawn:
            draw("")


def draw(line: str) -> None:
    """Draw a line on stderr in place of the last one; an empty one clears it."""
    sys.stderr.write(f"\r\x1b[2K{line}")
    sys.stderr.flush()


def bar(share: float) -> str:
    return f"▕{'█' * int(share * WIDTH):<{WIDTH}}▏"


def progress_line(event: EngineEvent) -> str:
    """Return the progress line of an event; empty if it has none."""
    if isinstance(event, ModelStateChanged) and event.phase is ModelPhase.PREPARING:
        return "Preparing the model for this machine (only once) …"
    if not isinstance(event, IndexProgress) or event.chunks_embedded >= event.chunks:
        return ""
    share = event.chunks_embedded / event.chunks
    left = "" if event.seconds_left is None else f" · {event.seconds_left:.0f} s left"
    return f"{event.text_done} of {plural(event.notes, 'note')} {bar(share)} {share:.0%}{left}"
