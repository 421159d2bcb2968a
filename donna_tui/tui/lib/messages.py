"""Define the Textual messages that carry engine events to the screens."""

from __future__ import annotations

import datetime
from typing import TYPE_CHECKING

from textual.message import Message

from donna_tui.tui.lib.action import Pane
from donna_tui.types.events import EngineEvent
from donna_tui.types.status import Status

if TYPE_CHECKING:  # places know of questions, and what draws their answers posts messages
    from donna_tui.tui.lib.places import Place


class EngineMessage(Message, bubble=False):
    """Base of what the bridge posts to a pane. It goes to that pane and no further."""


class EngineEvents(EngineMessage):
    """What happened since the last batch, in order. `dropped` events came too fast to keep; the status counts them."""

    def __init__(self, events: tuple[EngineEvent, ...], dropped: int = 0) -> None:
        super().__init__()
        self.events = events
        self.dropped = dropped


class StatusChanged(EngineMessage):
    """The newest snapshot of the engine. One that still waits in a queue is replaced by a newer one."""

    def __init__(self, status: Status) -> None:
        super().__init__()
        self.status = status

    def can_replace(self, message: Message) -> bool:
        return isinstance(message, StatusChanged)


class ActionsChanged(Message):
    """A pane tells the main screen that other actions may be possible now, so that the footer is drawn again."""


class ChooseSpace(Message):
    """Somebody wants to go on with other notes."""


class OpenDraft(Message):
    """Somebody wants to review the draft of this id."""

    def __init__(self, identity: str) -> None:
        super().__init__()
        self.identity = identity


class OpenNote(Message):
    """Somebody wants to see the note at this path in the Vault, at a line (1-based) of it."""

    def __init__(self, path: str, line: int = 1) -> None:
        super().__init__()
        self.path = path
        self.line = line


class OpenMeeting(Message):
    """Somebody wants to see a meeting, which begins on this local day."""

    def __init__(self, identity: str, day: datetime.date) -> None:
        super().__init__()
        self.identity = identity
        self.day = day


class GoTo(Message):
    """Somebody wants to go to another screen."""

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self.pane = pane


class LeavePlace(Message):
    """Somebody leaves a place that the screens should be able to go back to."""

    def __init__(self, place: Place) -> None:
        super().__init__()
        self.place = place


class EditNote(Message):
    """Somebody wants the note at this path in their editor, at a line (1-based)."""

    def __init__(self, path: str, line: int) -> None:
        super().__init__()
        self.path = path
        self.line = line


class StepBack(Message):
    """The last change of the vault is to be undone, or what was undone last done again."""

    def __init__(self, *, redo: bool = False) -> None:
        super().__init__()
        self.redo = redo
