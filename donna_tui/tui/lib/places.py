"""Keep the places that were visited, to navigate back and forward as in a browser."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from donna_tui.tui.lib.action import Pane

if TYPE_CHECKING:
    from donna_tui.tui.search.wording import Question

MOST = 200


@dataclass(frozen=True, slots=True)
class NotePlace:
    """A line (1-based) of a note in the Vault."""

    path: str
    line: int = 1


@dataclass(frozen=True, slots=True)
class QuestionPlace:
    """A question, with the id of the passage that was selected among its answers."""

    question: Question
    passage: str = ""


@dataclass(frozen=True, slots=True)
class ScreenPlace:
    """A screen as it is."""

    pane: Pane


Place = NotePlace | QuestionPlace | ScreenPlace


class Places:
    """Two stacks: what was left behind, and what was gone back from."""

    def __init__(self) -> None:
        self._behind: list[Place] = []
        self._ahead: list[Place] = []

    def leave(self, here: Place) -> None:
        """Remember a place that is left for a new one: from there on nothing is ahead."""
        self._ahead.clear()
        if not self._behind or self._behind[-1] != here:
            self._behind = [*self._behind[1 - MOST :], here]

    def back(self, here: Place) -> Place | None:
        """The place before; None if there is none. Places that are where one is count for none."""
        return _step(self._behind, self._ahead, here)

    def forward(self, here: Place) -> Place | None:
        """The place that one went back from; None if there is none."""
        return _step(self._ahead, self._behind, here)


def _step(source: list[Place], target: list[Place], here: Place) -> Place | None:
    while source:
        place = source.pop()
        if _stop(place) != _stop(here):
            target.append(here)
            return place
    return None


def _stop(place: Place) -> object:
    """What makes two places the same stop: another row of the same answer is none of its own."""
    if isinstance(place, NotePlace):
        return place.path, place.line
    return (place.question.text, place.question.like) if isinstance(place, QuestionPlace) else place.pane
