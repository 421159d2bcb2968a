"""The command palette and the key list: both pick an action, by its name or by its key."""

from __future__ import annotations

from collections.abc import Iterator

from donna_tui.text.fuzzy import FuzzyMatch
from donna_tui.tui.lib.action import ACTIVE_IN, Action, ActionState, Context, Pane
from donna_tui.tui.lib.actions import ACTIONS, TAKES_FROM, active_contexts, title_here
from donna_tui.tui.lib.keymap import key_names, keys_of, shown_key
from donna_tui.tui.lib.panes import PANES
from donna_tui.tui.lib.picker import Choice, Picker
from donna_tui.tui.themes import THEME_NAMES

THEME, ELSEWHERE = "theme:", "elsewhere:"
LEAVES = frozenset(("q", "q!", "qa", "wq", "wqa", "x", "xa", "quit", "exit"))
"""Commands after a colon that quit."""

_KEY_WIDTH = 12
_WORKS_HERE = 0.25
"""More than a longer title lowers a score, and less than a better match raises it."""
_SECTIONS: tuple[tuple[str, tuple[Context, ...]], ...] = (
    ("Here", tuple(context for entry in PANES.values() for context in reversed(entry.contexts))),
    ("Everywhere", ("global",)),
    ("Moving", ("list",)),
)


class Palette(Picker[str]):
    """Every action of every screen and every theme, by name. Picks an action id, `elsewhere:` and an action id, or
    `theme:` and a name. The commands that exit vi exit Donna, which saves unsaved edits.
    """

    def __init__(self, state: ActionState, theme: str) -> None:
        super().__init__(
            "Actions", palette_choices(state, theme), placeholder="name of an action", mark_width=_KEY_WIDTH
        )

    def found(self, query: str) -> list[tuple[Choice[str], FuzzyMatch]]:
        if query.strip().removeprefix(":") in LEAVES:
            return [(choice, FuzzyMatch(0.0, ())) for choice in self.choices if choice.value == "app.quit"]
        query = query.lstrip(" /:")  # with which commands begin in other programs
        found = super().found(query)
        return sorted(found, key=_order) if query else found


class KeyList(Picker[str]):
    """The keys that work here, in three sections; picking one runs its action."""

    def __init__(self, state: ActionState) -> None:
        super().__init__("Keys", key_choices(state), placeholder="a key or what it does", mark_width=_KEY_WIDTH)


def _order(found: tuple[Choice[str], FuzzyMatch]) -> float:
    """Order actions by their score; of several that match equally well, those that work here are first."""
    choice, match = found
    return -match.score - _WORKS_HERE * (not choice.value.startswith(ELSEWHERE))


def palette_choices(state: ActionState, theme: str) -> Iterator[Choice[str]]:
    """Return every action as `noun: title` with its key, those that work here first; then the other themes.

    Picking an action of another screen only shows that screen, because its target is not visible yet.
    """
    here = (*active_contexts(state), state.pane)
    for action in sorted(ACTIONS.values(), key=lambda action: _rank(action, here)):
        mark, title = shown_key(action.id), f"{action.group}: {action.title}"
        if action.context in here:
            yield _choice(action, state, title=title, mark=mark)
            continue
        pane = pane_of(action)
        yield Choice(
            value=f"{ELSEWHERE}{action.id}",
            title=title,
            note=f"{_where(action)}: {action.help}",
            mark=mark,
            objection="" if pane else f"{_where(action)}.",
        )
    for name in THEME_NAMES:
        if name != theme:
            yield Choice(value=f"{THEME}{name}", title=f"theme: {name}", note="Change the theme.")


def key_choices(state: ActionState) -> Iterator[Choice[str]]:
    """Return every action whose keys work here, with all of its keys."""
    active = active_contexts(state)
    for section, contexts in _SECTIONS:
        for action in ACTIONS.values():
            if action.context in contexts and action.context in active:
                mark = key_names(_keys_left(action, active)[:2])
                yield _choice(action, state, title=title_here(action, state), mark=mark, section=section)


def pane_of(action: Action) -> Pane | None:
    name = action.context.removesuffix(".input")
    return name if name in PANES else None


def _where(action: Action) -> str:
    where = ACTIVE_IN[action.context]
    return f"Works in {where}" if pane_of(action) or action.context == "list" else f"Works in the {where}"


def _rank(action: Action, here: tuple[Context, ...]) -> int:
    """Rank an action: those of this screen, global ones, those for lists, those of other screens."""
    if action.context not in here:
        return 3
    return {"global": 1, "list": 2}.get(action.context, 0)


def _keys_left(action: Action, active: tuple[Context, ...]) -> tuple[str, ...]:
    """Return the keys of an action, without those that another action takes here."""
    takers = (name for name, loser in TAKES_FROM.items() if loser == action.id and ACTIONS[name].context in active)
    taken = {key for name in takers for key in keys_of(name)}
    return tuple(key for key in keys_of(action.id) if key not in taken)


def _choice(action: Action, state: ActionState, *, title: str, mark: str, section: str = "") -> Choice[str]:
    objection = action.why_not(state)
    return Choice(value=action.id, title=title, note=action.help, mark=mark, section=section, objection=objection)
