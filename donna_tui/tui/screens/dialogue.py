"""What dialogues share: keys of the registry end in one place, lists move, and a click beside one leaves it."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.binding import Binding, BindingType
from textual.screen import ModalScreen

from donna_tui.tui.actions import ACTIONS
from donna_tui.tui.bindings import action_binding
from donna_tui.tui.keysheet import Keys, key_name

T = TypeVar("T")


class Dialogue(ModalScreen[T | None], Generic[T]):
    """A window over the screen. Escape or a click beside it leaves with None."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "leave", show=False),
        action_binding("app.quit", "app.leave"),
    ]

    def __init__(self, keys: Keys) -> None:
        super().__init__(classes="dialogue")
        self._keys = keys

    async def action_run(self, action_id: str) -> None:
        """Do what an action of the registry says; those for lists act on what has the focus."""
        action = ACTIONS[action_id]
        if action.context != "list":
            await self.app.run_action(action.method.removeprefix("action_"), self)
            return
        what = action.method.removeprefix("action_list_")
        name = {"down": "cursor_down", "up": "cursor_up"}.get(what, what)
        if self.focused is not None and hasattr(self.focused, f"action_{name}"):
            await self.app.run_action(name, self.focused)

    def action_leave(self) -> None:
        """Leave without doing anything."""
        self.dismiss(None)

    def on_click(self, event: events.Click) -> None:
        """A click beside the window leaves it."""
        if event.widget is self:
            self.action_leave()

    def shown(self, action_id: str) -> str:
        """The key of an action, as it is shown."""
        return key_name(self._keys[action_id][0])
