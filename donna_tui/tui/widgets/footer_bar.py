"""The bottom line: what one can do here, with its keys; what is not possible now is dimmed, mostly."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from rich.cells import cell_len
from textual import events
from textual.content import Content
from textual.message import Message
from textual.widget import Widget

from donna_tui.tui.action import Action, ActionState
from donna_tui.tui.actions import ACTIONS, active_contexts, title_here
from donna_tui.tui.keysheet import DEFAULT_KEYS, Keys, shown_key

MOST_ITEMS = 8
_GAP = 2
_ALWAYS_LAST = ("app.keys", "app.help")


def footer_actions(state: ActionState, keys: Keys, room: int) -> list[tuple[Action, str]]:
    """Actions with the key to show, the nearest first, as many as fit; the way to all the others always fits last."""
    contexts = active_contexts(state)
    there = _differing((action for action in ACTIONS.values() if action.footer and action.context in contexts), state)
    shown = [action for action in there if not (action.hides and action.why_not(state))]
    usable = [(action, key) for action in shown if (key := shown_key(keys[action.id], typing=state.typing))]
    last = [item for item in usable if item[0].id in _ALWAYS_LAST][:1]
    left = room - sum(_width(item, state) for item in last)
    kept: list[tuple[Action, str]] = []
    for item in usable:
        if item[0].id not in _ALWAYS_LAST and left >= _width(item, state) and len(kept) < MOST_ITEMS - 1:
            kept.append(item)
            left -= _width(item, state)
    return kept + last


def _differing(actions: Iterable[Action], state: ActionState) -> list[Action]:
    """The actions without those that do here what an earlier one does."""
    return list({title_here(action, state): action for action in reversed(list(actions))}.values())[::-1]


class FooterBar(Widget):
    """Draws the actions of an `ActionState`; a click runs one."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"footer--key", "footer--title", "footer--off"}

    class Clicked(Message):
        """An action was clicked."""

        def __init__(self, action_id: str) -> None:
            super().__init__()
            self.action_id = action_id

    def __init__(self, keys: Keys = DEFAULT_KEYS) -> None:
        super().__init__(id="footer")
        self._keys = keys
        self._state = ActionState()
        self._covered_by: tuple[tuple[str, str], ...] = ()

    def show(self, state: ActionState) -> None:
        """Show what is possible in another state."""
        if state != self._state:
            self._state = state
            self.refresh()

    def cover(self, keys: tuple[tuple[str, str], ...]) -> None:
        """Show the keys of a window that is in front; none when it is closed."""
        self._covered_by = keys
        self.refresh()

    def render(self) -> Content:
        if self._covered_by:
            items = (
                Content.assemble((key, ".footer--key"), (f" {does}", ".footer--title"))
                for key, does in self._covered_by
            )
            return Content(" " * _GAP).join(items)
        return Content(" " * _GAP).join(self._item(action, key) for action, key in self._items())

    def on_click(self, event: events.Click) -> None:
        """Run the action under the mouse."""
        offset = event.get_content_offset(self)
        for start, end, action in self._places():
            if offset is not None and start <= offset.x < end:
                self.post_message(self.Clicked(action.id))

    def _items(self) -> list[tuple[Action, str]]:
        return footer_actions(self._state, self._keys, self.content_size.width + _GAP)

    def _item(self, action: Action, key: str) -> Content:
        if action.why_not(self._state):
            return Content.styled(f"{key} {title_here(action, self._state)}", ".footer--off")
        return Content.assemble((key, ".footer--key"), (f" {title_here(action, self._state)}", ".footer--title"))

    def _places(self) -> Iterator[tuple[int, int, Action]]:
        start = 0
        for item in self._items():
            yield start, start + _width(item, self._state) - _GAP, item[0]
            start += _width(item, self._state)


def _width(item: tuple[Action, str], state: ActionState) -> int:
    action, key = item
    return cell_len(key) + 1 + cell_len(title_here(action, state)) + _GAP
