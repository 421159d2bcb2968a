"""Keys as people read them: names of keys, and the tables of `donna keys` and of the key reference."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from donna_tui.records import dataclass
from donna_tui.tui.action import ACTIVE_IN, Action, Context
from donna_tui.tui.actions import ACTIONS

Keys = Mapping[str, tuple[str, ...]]
"""Action id → keys, in Textual's names; the first one is the one to show."""

DEFAULT_KEYS: Keys = {action.id: action.keys for action in ACTIONS.values()}

_NAMES = {
    "enter": "↵",
    "escape": "esc",
    "up": "↑",
    "down": "↓",
    "left": "←",
    "right": "→",
    "pageup": "pgup",
    "pagedown": "pgdn",
    "comma": ",",
}


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One action as a row of the key table."""

    where: str
    keys: str
    title: str
    help: str
    id: str


def key_name(key: str) -> str:
    """A key as it is shown: `↵` for `enter`, `ctrl+p` as it is."""
    modifiers, plus, last = key.rpartition("+") if len(key) > 1 else ("", "", key)
    return modifiers + plus + _NAMES.get(last, last)


def key_names(keys: Iterable[str]) -> str:
    """Several keys as they are shown."""
    return " ".join(key_name(key) for key in keys)


def is_printable(key: str) -> bool:
    """Whether the key puts a character into a text input, so that it cannot mean anything else there."""
    return len(key) == 1 or key in ("space", "comma")


def shown_key(keys: tuple[str, ...], *, typing: bool) -> str:
    """The first key that works now, as it is shown; empty if none does."""
    return next((key_name(key) for key in keys if not (typing and is_printable(key))), "")


def keys_table(keys: Keys = DEFAULT_KEYS) -> list[KeyRow]:
    """Every action with its keys, grouped by where they work."""
    order: list[Context] = list(ACTIVE_IN)
    actions = sorted(ACTIONS.values(), key=lambda action: order.index(action.context))
    return [_row(action, keys) for action in actions]


def keys_markdown(keys: Keys = DEFAULT_KEYS) -> str:
    """The key reference: one Markdown table for each place in which keys work."""
    lines: list[str] = []
    where = ""
    for row in keys_table(keys):
        if row.where != where:
            where = row.where
            lines += ["", f"## {where[0].upper()}{where[1:]}", "", "| Keys | Does | Action |", "|---|---|---|"]
        names = " ".join(f"`{name}`" for name in row.keys.split(" "))
        lines.append(f"| {names} | **{row.title}**: {row.help} | `{row.id}` |")
    return "\n".join(lines[1:]) + "\n"


def _row(action: Action, keys: Keys) -> KeyRow:
    return KeyRow(ACTIVE_IN[action.context], key_names(keys[action.id]), action.title, action.help, action.id)
