"""Tune the garbage collector: after the start, collect in small steps, and only while the app is idle."""

from __future__ import annotations

import asyncio
import gc
from typing import TYPE_CHECKING

from donna_tui.types.status import ModelPhase

if TYPE_CHECKING:
    from donna_tui.types.events import EngineEvent

COLLECT_AFTER = (10_000, 5, 2)
"""The thresholds of the three generations after the start.

Textual's strips contain reference cycles, so only the collector frees them; with the thresholds of the start, it runs
too rarely, and then blocks the screen for too long. See docs/performance.md.
"""

MAX_FROZEN_GARBAGE = 50_000
"""Young objects that are frozen without a collection: more have piled up only if the model is loaded late."""

PAUSES = ((1, 0.1), (2, 0.5))
"""Pairs of the oldest generation to collect and the seconds after a key, if no other key follows. By then its results
and the preview are drawn.

A collection takes 5 ms for the youngest generation, 20 and 55 ms for the others, and would otherwise run while an
answer is computed: the slowest of twenty keys is answered 20 ms sooner.
"""

_LOADED = (ModelPhase.READY, ModelPhase.MISSING, ModelPhase.FAILED)


class GcTuning:
    """An engine listener that freezes the heap once. When the model is loaded, or known to be unavailable, all
    permanent objects exist: the collector ignores them from then on, and frees short-lived ones early. Runs once per
    process.
    """

    def __init__(self) -> None:
        self._is_frozen = False
        self._waiting: list[asyncio.TimerHandle] = []

    def __call__(self, event: EngineEvent) -> None:
        from donna_tui.types.events import ModelStateChanged

        if self._is_frozen or not isinstance(event, ModelStateChanged) or event.phase not in _LOADED:
            return
        self._is_frozen = True
        if gc.get_count()[0] > MAX_FROZEN_GARBAGE:
            gc.collect(0)
        gc.freeze()  # with the garbage so far, 1.5 MB: collecting it takes 50 ms, just when the first question is typed
        gc.set_threshold(*COLLECT_AFTER)

    def pressed(self) -> None:
        """Schedule collections after a key press, for when its answer is drawn, not while the next one is."""
        while self._waiting:
            self._waiting.pop().cancel()
        if self._is_frozen:
            later = asyncio.get_running_loop().call_later
            self._waiting = [later(seconds, collect_due, oldest) for oldest, seconds in PAUSES]


def collect_due(oldest: int) -> None:
    """Collect the youngest generation, and the older ones up to `oldest` whose threshold is reached."""
    counts = gc.get_count()
    due = (older for older in range(1, oldest + 1) if counts[older] >= COLLECT_AFTER[older])
    gc.collect(max(due, default=0))
