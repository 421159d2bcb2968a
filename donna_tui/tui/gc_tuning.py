"""Collect garbage after the start in small steps, and only while the app is idle."""

from __future__ import annotations

import asyncio
import gc

from donna_tui.types.events import EngineEvent, ModelPhase, ModelStateChanged

COLLECT_AFTER = (10_000, 5, 2)
"""Textual's drawn lines refer to themselves, so only the collector frees them. With the figures of the start none that
had outlived two of its looks was freed in the first ten minutes of use, 20 MB by then, and its longest look held up the
screen for 240 ms. With these it is 110 ms at the most, and all looks together take as long as before.
"""

PAUSES = ((1, 0.1), (2, 0.5))
"""The oldest generation that is looked through so many seconds after a key, if no other follows: by then its results
and the section beside them are drawn. A look takes 5 ms for the youngest, 20 and 55 ms for the others, and would else
be taken while an answer is made: the slowest of twenty keys is answered 20 ms sooner.
"""

_LOADED = (ModelPhase.READY, ModelPhase.MISSING, ModelPhase.FAILED)


class GcTuning:
    """A listener for the engine of an app. When the model is there, or it is clear that none is, all that stays is
    loaded: the collector leaves that alone from then on, and frees early what comes and goes. Once a process.
    """

    def __init__(self) -> None:
        self._settled = False
        self._waiting: list[asyncio.TimerHandle] = []

    def __call__(self, event: EngineEvent) -> None:
        if self._settled or not isinstance(event, ModelStateChanged) or event.phase not in _LOADED:
            return
        self._settled = True
        gc.collect(0)  # older garbage, 3 MB, stays: to look for it takes 75 ms, just when the first question is typed
        gc.freeze()
        gc.set_threshold(*COLLECT_AFTER)

    def pressed(self) -> None:
        """A key was pressed: look for garbage when its answer is there, rather than while the next one is drawn."""
        while self._waiting:
            self._waiting.pop().cancel()
        if self._settled:
            later = asyncio.get_running_loop().call_later
            self._waiting = [later(seconds, collect_due, oldest) for oldest, seconds in PAUSES]


def collect_due(oldest: int) -> None:
    """Collect the youngest generation, and what is due of the older ones up to `oldest`."""
    counts = gc.get_count()
    gc.collect(max(each for each in range(oldest + 1) if not each or counts[each] >= COLLECT_AFTER[each]))
