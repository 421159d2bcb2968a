"""Define the Textual messages that carry engine events to the screens."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from textual.message import Message

from donna_tui.tui.lib.action import Pane
from donna_tui.types.status import Status

if TYPE_CHECKING:  # places imports this module, and events are not needed for the first frame
    from donna_tui.tui.lib.places import Place
    from donna_tui.types.events import EngineEvent


class EngineEvents(Message, bubble=False):
    """The events since the last batch, in order. `dropped` events arrived too fast to keep; the status counts them."""

    def __init__(self, events: tuple[EngineEvent, ...], dropped: int = 0) -> None:
        super().__init__()
        self.events = events
        self.dropped = dropped


class StatusChanged(Message, bubble=False):
    """The newest snapshot of the engine. It replaces an older one in the queue."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StatusChanged)


class ActionsChanged(Message):
    """The possible actions of a pane may have changed, so the footer must be redrawn."""


class ChooseSpace(Message):
    """A request to choose another space."""


class OpenDraft(Message):
    """A request to review the draft of this id."""

    def __init__(self, identity: str) -> None:
        super().__init__()
        self.identity = identity


class OpenNote(Message):
    """A request to show the note at this path in the Vault, at a line (1-based)."""

    def __init__(self, path: str, line: int = 1) -> None:
        super().__init__()
        self.path = path
        self.line = line


class OpenMeeting(Message):
    """A request to show a meeting that begins on this local day."""

    def __init__(self, identity: str, day: datetime.date) -> None:
        super().__init__()
        self.identity = identity
        self.day = day


class GoTo(Message):
    """A request to show another screen."""

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self.pane = pane


class RememberPlace(Message):
    """A request to add the place being left to the navigation history."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place


class EditNote(Message):
    """A request to open the note at this path in the editor, at a line (1-based)."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__()
        self.path = path
        self.line = line


class StepBack(Message):
    """A request to undo the last change of the vault, or to redo the last undone one."""

    def __init__(self, *, redo: bool = False) -> None:
        super().__init__()
        self.redo = redo
