"""Keep the visited places, to navigate back and forward as in a browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from donna_tui.tui.lib.action import Pane

if TYPE_CHECKING:
    from donna_tui.tui.search.wording import Question

MAX_PLACES = 200


@dataclass(frozen=True, slots=True)
class NotePlace:
    """A line (1-based) of a note in the Vault."""

    path: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class QuestionPlace:
    """A question, with the id of the selected passage among its answers."""

    question: Question
    passage: str = ""


@dataclass(frozen=True, slots=True)
class ScreenPlace:
    pane: Pane


Place = NotePlace | QuestionPlace | ScreenPlace


class Places:
    """The back and forward stacks."""

    def __init__(self) -> None:
        self._behind: list[Place] = []
        self._ahead: list[Place] = []

    def push_back(self, here: Place) -> None:
        self._ahead.clear()
        if not self._behind or self._behind[-1] != here:
            self._behind = [*self._behind[1 - MAX_PLACES :], here]

    def back(self, here: Place) -> Place | None:
        """Return the previous place, or None. Places equal to the current one are skipped."""
        return _step(self._behind, self._ahead, here)

    def forward(self, here: Place) -> Place | None:
        return _step(self._ahead, self._behind, here)


def _step(source: list[Place], target: list[Place], here: Place) -> Place | None:
    while source:
        place = source.pop()
        if _stop(place) != _stop(here):
            target.append(here)
            return place
    return None


def _stop(place: Place) -> object:
    """Return the key by which two places are the same stop: another row of the same answer is not a separate one."""
    if isinstance(place, NotePlace):
        return place.path, place.line
    return (place.question.text, place.question.like) if isinstance(place, QuestionPlace) else place.pane
