"""What dialogues share: keys of the registry end in one place, lists move, and a click beside one leaves it."""

from __future__ import annotations

from typing import ClassVar, Generic, TypeVar

from textual.binding import Binding, BindingType

from donna_tui.tui.actions import ACTIONS
from donna_tui.tui.bindings import action_binding
from donna_tui.tui.keysheet import Keys, key_name
from donna_tui.tui.widgets.modal import Modal

T = TypeVar("T")


class Dialogue(Modal[T], Generic[T]):
    """A window over the screen. Escape or a click beside it leaves with None, by way of `action_leave`."""

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

    def shown(self, action_id: str) -> str:
        """The key of an action, as it is shown."""
        return key_name(self._keys[action_id][0])
