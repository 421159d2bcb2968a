"""Keep the visited places, to navigate back and forward as in a browser."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from donna_tui.tui.lib.action import Pane

MAX_PLACES = 200


@dataclass(frozen=True, slots=True)
class Place:
    """A screen, or a `stop` on it: a line of a note, or a question. `show` shows it, once the screen is shown."""

    pane: Pane
    stop: object = None
    show: Callable[[], object] = field(default=lambda: None, compare=False)


class Places:
    """The back and forward stacks."""

    def __init__(self) -> None:
        self._behind: list[Place] = []
        self._ahead: list[Place] = []

    def push_back(self, here: Place) -> None:
        self._ahead.clear()
        before = self._behind[:-1] if self._behind[-1:] == [here] else self._behind
        self._behind = [*before[1 - MAX_PLACES :], here]

    def back(self, here: Place) -> Place | None:
        """Return the previous place, or None. Places equal to the current one are skipped."""
        return _step(self._behind, self._ahead, here)

    def forward(self, here: Place) -> Place | None:
        return _step(self._ahead, self._behind, here)


def _step(source: list[Place], target: list[Place], here: Place) -> Place | None:
    while source:
        place = source.pop()
        if place != here:
            target.append(here)
            return place
    return None
