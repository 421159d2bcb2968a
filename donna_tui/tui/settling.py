"""How the app looks for garbage once it has started: often and little at a time."""

from __future__ import annotations

import gc

from donna_tui.events import EngineEvent, ModelPhase, ModelStateChanged

COLLECT_AFTER = (10_000, 5, 2)
"""Textual's drawn lines refer to themselves, so only the collector frees them. With the figures of the start none that
had outlived two of its looks was freed in the first ten minutes of use, 20 MB by then, and its longest look held up the
screen for 240 ms. With these it is 110 ms at the most, and all looks together take as long as before.
"""

_LOADED = (ModelPhase.READY, ModelPhase.MISSING, ModelPhase.FAILED)


class Settling:
    """A listener for the engine of an app. When the model is there, or it is clear that none is, all that stays is
    loaded: the collector leaves that alone from then on, and frees early what comes and goes. Once a process.
    """

    def __init__(self) -> None:
        self._settled = False

    def __call__(self, event: EngineEvent) -> None:
        if self._settled or not isinstance(event, ModelStateChanged) or event.phase not in _LOADED:
            return
        self._settled = True
        gc.collect(0)  # older garbage, 3 MB, stays: to look for it takes 75 ms, just when the first question is typed
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)
