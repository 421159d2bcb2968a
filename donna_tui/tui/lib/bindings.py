"""Build Textual bindings from the registry of actions."""

from __future__ import annotations

from textual.binding import Binding, BindingType

from donna_tui.tui.lib.action import Context
from donna_tui.tui.lib.actions import ACTIONS, BEFORE_INPUTS, TAKES_FROM, actions_in
from donna_tui.tui.lib.keymap import DEFAULT_KEYS, Keymap


def bindings(*contexts: Context) -> list[BindingType]:
    """Build the bindings for every action of some contexts. A keymap replaces their keys by action id."""
    return [action_binding(action.id, f"screen.run({action.id!r})") for action in actions_in(*contexts)]


def action_binding(action_id: str, does: str) -> Binding:
    """Build a binding with the keys of one action that runs the Textual action `does`."""
    action = ACTIONS[action_id]
    goes_first = action_id in TAKES_FROM or action_id in BEFORE_INPUTS
    return Binding(action.defaults, does, action.title, id=action.id, show=False, priority=goes_first)


def textual_keymap(keymap: Keymap) -> dict[str, str]:
    """Return the changes of a keymap in the form that `App.set_keymap` takes."""
    return {name: ",".join(keys) for name, keys in keymap.keys.items() if keys != DEFAULT_KEYS[name]}
