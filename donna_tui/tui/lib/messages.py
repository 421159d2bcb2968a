"""Define the Textual messages between screens: engine events, and requests to the main screen."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import TYPE_CHECKING

from textual.message import Message

from donna_tui.tui.lib.action import Pane
from donna_tui.types.status import Status

if TYPE_CHECKING:  # places imports this module, and events are not needed for the first frame
    from donna_tui.tui.lib.places import Place
    from donna_tui.types.events import EngineEvent


@dataclass
class EngineEvents(Message, bubble=False):
    """The events since the last batch, in order. `dropped` events arrived too fast to keep; the status counts them."""

    events: tuple[EngineEvent, ...]
    dropped: int = 0


@dataclass
class StatusChanged(Message, bubble=False):
    """The newest snapshot of the engine. It replaces an older one in the queue."""

    status: Status

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StatusChanged)


class ActionsChanged(Message):
    """The possible actions of a pane may have changed, so the footer must be redrawn."""


class ChooseSpace(Message):
    """A request to choose another space."""


@dataclass
class OpenDraft(Message):
    """A request to review the draft of this id."""

    identity: str


@dataclass
class OpenNote(Message):
    """A request to show the note at this path in the Vault, at a line (1-based)."""

    path: str
    line: int = 1


@dataclass
class OpenMeeting(Message):
    """A request to show a meeting that begins on this local day."""

    identity: str
    day: datetime.date


@dataclass
class GoTo(Message):
    """A request to show another screen."""

    pane: Pane


@dataclass
class RememberPlace(Message):
    """A request to add the place being left to the navigation history."""

    place: Place


@dataclass
class EditNote(Message):
    """A request to open the note at this path in the editor, at a line (1-based)."""

    path: str
    line: int


@dataclass(kw_only=True)
class StepBack(Message):
    """A request to undo the last change of the vault, or to redo the last undone one."""

    redo: bool = False
