"""The palette and the key list: both pick an action, by its name or by its key."""

from __future__ import annotations

from collections.abc import Iterator

from donna_tui.tui.action import Action, ActionState, Context
from donna_tui.tui.actions import ACTIONS, TAKES_FROM, active_contexts
from donna_tui.tui.keysheet import Keys, key_name, key_names
from donna_tui.tui.screens.picker import Choice, Picker
from donna_tui.tui.themes import THEME_NAMES

THEME = "theme:"
_KEY_WIDTH = 12
_SECTIONS: tuple[tuple[str, tuple[Context, ...]], ...] = (
    (
        "Here",
        ("search.input", "search", "vault.input", "vault", "review", "meetings", "memory.input", "memory", "activity"),
    ),
    ("Everywhere", ("global",)),
    ("Moving", ("list",)),
)


class Palette(Picker[str]):
    """Every action of this screen and every theme, by name. Picks an action id, or `theme:` and a name."""

    def __init__(self, state: ActionState, keys: Keys, theme: str) -> None:
        super().__init__(
            "Actions", palette_choices(state, keys, theme), placeholder="what to do", mark_width=_KEY_WIDTH
        )


class KeyList(Picker[str]):
    """The keys that work here, in three sections; picking one does it."""

    def __init__(self, state: ActionState, keys: Keys) -> None:
        super().__init__("Keys", key_choices(state, keys), placeholder="a key or what it does", mark_width=_KEY_WIDTH)


def palette_choices(state: ActionState, keys: Keys, theme: str) -> Iterator[Choice[str]]:
    """Actions as `noun: title` with their key, then the themes that are not in use."""
    for action in ACTIONS.values():
        if action.context in (*active_contexts(state), state.pane) and action.context not in (
            "list",
            "search.input",
            "vault.input",
            "memory.input",
        ):
            mark = key_name(keys[action.id][0])
            yield _choice(action, state, title=f"{action.group}: {action.title}", mark=mark)
    for name in THEME_NAMES:
        if name != theme:
            yield Choice(value=f"{THEME}{name}", title=f"theme: {name}", note="Change the colours.")


def key_choices(state: ActionState, keys: Keys) -> Iterator[Choice[str]]:
    """Every action whose keys work here, with all of its keys."""
    active = active_contexts(state)
    for section, contexts in _SECTIONS:
        for action in ACTIONS.values():
            if action.context in contexts and action.context in active:
                mark = key_names(_keys_left(action, keys, active)[:2])
                yield _choice(action, state, title=action.title, mark=mark, section=section)


def _keys_left(action: Action, keys: Keys, active: tuple[Context, ...]) -> tuple[str, ...]:
    """The keys of an action, without those that another one keeps here."""
    takers = (name for name, loser in TAKES_FROM.items() if loser == action.id and ACTIONS[name].context in active)
    taken = {key for name in takers for key in keys[name]}
    return tuple(key for key in keys[action.id] if key not in taken)


def _choice(action: Action, state: ActionState, *, title: str, mark: str, section: str = "") -> Choice[str]:
    objection = action.why_not(state)
    return Choice(value=action.id, title=title, note=action.help, mark=mark, section=section, objection=objection)
