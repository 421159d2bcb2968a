"""Load and check key bindings: defaults, presets and the user's own keys."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from donna_tui.platform.paths import resource
from donna_tui.tui.lib.action import ACTIVE_IN, Context
from donna_tui.tui.lib.actions import ACTIONS, TAKES_FROM
from donna_tui.tui.lib.panes import PANES
from donna_tui.types.errors import ConfigError, Reason

Keys = Mapping[str, tuple[str, ...]]
"""Action id → keys, in Textual's names; the first one is displayed."""

DEFAULT_KEYS: Keys = {action.id: action.keys for action in ACTIONS.values()}

_IN_USE: ContextVar[Keys] = ContextVar("keys", default=DEFAULT_KEYS)
"""The keys of the running app. All of its tasks inherit them, as they inherit the app in Textual."""

_NAMES = {
    "enter": "↵", "escape": "esc", "up": "↑", "down": "↓", "left": "←", "right": "→", "pageup": "pgup",
    "pagedown": "pgdn", "comma": ",",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class KeyRow:
    """One action as a row of the key table. `common` says that the footer shows it."""

    where: str
    keys: str
    title: str
    help: str
    id: str
    common: bool


def key_name(key: str) -> str:
    """Format a key for display: `↵` for `enter`, `ctrl+p` unchanged."""
    modifiers, plus, last = key.rpartition("+") if len(key) > 1 else ("", "", key)
    return modifiers + plus + _NAMES.get(last, last)


def key_names(keys: Iterable[str]) -> str:
    return " ".join(key_name(key) for key in keys)


def is_printable(key: str) -> bool:
    """Check whether the key enters a character in a text input, so that it cannot be a binding there."""
    return len(key) == 1 or key in ("space", "comma")


def use_keys(keys: Keys) -> None:
    """Set the keys of the app that runs in this context."""
    _IN_USE.set(keys)


def keys_of(action_id: str) -> tuple[str, ...]:
    """Return the keys of an action in this app."""
    return _IN_USE.get()[action_id]


def shown_key(action_id: str, *, typing: bool = False) -> str:
    """Return the first key of an action that works now, formatted for display; empty if none does."""
    return next((key_name(key) for key in keys_of(action_id) if not (typing and is_printable(key))), "")


def anywhere_key(action_id: str) -> str:
    """Return a key of an action that also works in a text input, if there is one."""
    return shown_key(action_id, typing=True) or shown_key(action_id)


def keys_table(keys: Keys = DEFAULT_KEYS) -> list[KeyRow]:
    """List every action with its keys, grouped by context, those in the footer first."""
    order: list[Context] = list(ACTIVE_IN)
    actions = sorted(ACTIONS.values(), key=lambda action: (order.index(action.context), not action.footer))
    return [
        KeyRow(
            ACTIVE_IN[action.context], key_names(keys[action.id]), action.title, action.help, action.id, action.footer
        )
        for action in actions
    ]


PRESETS = ("default", "vim", "emacs")

_PANE_CONTEXTS = tuple(context for entry in PANES.values() for context in entry.contexts)
_INPUTS: frozenset[Context] = frozenset(entry.contexts[-1] for entry in PANES.values() if entry.has_input)


_OVERLAPS: dict[Context, frozenset[Context]] = {
    "global": frozenset(("global", "list", *_PANE_CONTEXTS)),
    **{
        context: frozenset(("global", *entry.contexts, *(() if context in _INPUTS else ("list",))))
        for entry in PANES.values()
        for context in entry.contexts
    },
    "list": frozenset(("global", "list", "plan", "conflict", "resolve", *PANES)),
    "plan": frozenset(("list", "plan", "conflict")),
    "conflict": frozenset(("list", "plan", "conflict")),
    "resolve": frozenset(("list", "resolve")),
    "forget": frozenset(("forget",)),
    "suggestion": frozenset(("suggestion",)),
}
"""The contexts whose keys may be active together with those of a context."""

_SAME_BYTES = {"ctrl+i": "tab", "ctrl+m": "enter", "ctrl+h": "backspace", "ctrl+j": "enter", "ctrl+[": "escape"}

_ARROWS = frozenset(("up", "down", "left", "right", "home", "end", "pageup", "pagedown", "delete", "insert"))
_NAMED = _ARROWS | {"enter", "tab", "escape", "space", "comma", "backspace", *(f"f{n}" for n in range(1, 13))}
_SPELLED = {
    "slash": "/", "colon": ":", "plus": "+", "minus": "-", "question_mark": "?", "apostrophe": "'", "semicolon": ";",
    "full_stop": ".", "underscore": "_", "backslash": "\\", ",": "comma", " ": "space", "esc": "escape",
    "pgup": "pageup", "pgdn": "pagedown",
}  # fmt: skip

_TAKEN_BY = {
    "ctrl+a": "GNU screen", "ctrl+b": "tmux", "ctrl+c": "the terminal", "ctrl+g": "Zellij", "ctrl+n": "Zellij",
    "ctrl+o": "Zellij", "ctrl+p": "Zellij", "ctrl+q": "flow control", "ctrl+s": "flow control", "ctrl+t": "Zellij",
    "f1": "some terminals", "f10": "some terminals", "f11": "most terminals",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Keymap:
    """The effective keys, by action id; `warnings` are lines about keys that may not reach the app."""

    keys: Keys
    warnings: tuple[str, ...] = ()


DEFAULT_KEYMAP = Keymap(DEFAULT_KEYS)


def load_keymap(preset: str = "default", own: Mapping[str, Iterable[str]] | None = None) -> Keymap:
    """Merge the defaults, a preset (or a YAML file with one) and the user's own keys.

    Raises ConfigError (KEYMAP_INVALID) that lists all errors, one line each: a stable name for scripts, and a sentence.
    """
    overlay = {**read_preset(preset), **{name: tuple(keys) for name, keys in (own or {}).items()}}
    faults = list(check_overlay(overlay))
    known = {name: tuple(map(canonical, keys)) for name, keys in overlay.items() if name in ACTIONS}
    keys = {**DEFAULT_KEYS, **known}
    faults += check_keys(keys, changed=frozenset(known))
    if faults:
        raise ConfigError(
            Reason.KEYMAP_INVALID,
            "\n".join(faults),
            hint="Change ui.keymap or ui.keys; `donna keys` lists every action and its keys.",
        )
    return Keymap(keys, tuple(check_taken(keys)))


def read_preset(preset: str) -> dict[str, tuple[str, ...]]:
    """Read a preset that is included with Donna, or a file in the same form: `action: [key, …]`.

    Raises ConfigError (KEYMAP_INVALID) if there is no such preset or file, or it has another form.
    """
    if preset == "default":
        return {}
    import yaml

    path = resource("config", "keymaps", f"{preset}.yaml") if preset in PRESETS else Path(preset).expanduser()
    try:
        data = yaml.safe_load(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        near = difflib.get_close_matches(preset, PRESETS, 1)
        meant = f" Did you mean {near[0]}?" if near else f" The presets are {', '.join(PRESETS)}."
        message = f"The keymap {preset!r} is neither a preset nor a file that can be read.{meant}"
        raise ConfigError(Reason.KEYMAP_INVALID, message) from error
    except yaml.YAMLError as error:
        raise ConfigError(Reason.KEYMAP_INVALID, f"The keymap file {path} is not valid YAML.") from error
    return _key_lists(data, path)


def canonical(key: str) -> str:
    """Normalise the spelling of a key: `/` for `slash`, `ctrl+p` for `Ctrl+P`."""
    if len(key) == 1:
        return _SPELLED.get(key, key)
    lowered = key.lower()
    return _SPELLED.get(lowered, lowered)


def check_overlay(overlay: Mapping[str, Iterable[str]]) -> Iterator[str]:
    """Report errors of the mapping itself: unknown actions, and keys that no terminal sends."""
    for name, keys in overlay.items():
        if name not in ACTIONS:
            near = difflib.get_close_matches(name, ACTIONS, 1)
            yield f"unknown_action: {name} is not an action." + (f" Did you mean {near[0]}?" if near else "")
            continue
        if not tuple(keys):
            yield f"no_key: {name} has no key; leave the line out to keep its default."
        yield from filter(None, (check_key(name, key) for key in keys))


def check_key(name: str, written: str) -> str:
    """Return the error of a key of an action; empty if there is none."""
    key = canonical(written)
    if key in _SAME_BYTES:
        return f"unsendable_key: {written} for {name}: terminals send the same bytes as for {_SAME_BYTES[key]}."
    if ACTIONS[name].context in _INPUTS and is_printable(key):
        return f"key_while_typing: {written} for {name}: in the search box this types the character."
    if _is_sendable(key):
        return ""
    if re.fullmatch(r"((ctrl|shift|alt|super)\+)*[^+]+", key) and "+" in key:
        hint = f" Write {key[-1].upper()} instead." if re.fullmatch(r"shift\+[a-z]", key) else ""
        return f"unsendable_key: {written} for {name}: most terminals cannot send this.{hint}"
    return f"unknown_key: {written} for {name} is not a key."


def check_keys(keys: Keys, *, changed: frozenset[str]) -> Iterator[str]:
    """Report keys of the changed actions that are bound to another action of an overlapping context too."""
    names = sorted(keys, key=lambda name: name not in changed)
    for index, name in enumerate(names[: len(changed)]):
        for other in names[index + 1 :]:
            gives_way = TAKES_FROM.get(name) == other or TAKES_FROM.get(other) == name
            if gives_way or ACTIONS[other].context not in _OVERLAPS[ACTIONS[name].context]:
                continue
            for key in sorted(set(keys[name]) & set(keys[other])):
                yield f"stolen_key: {key_name(key)} for {name} is already used by {other}, which works there too."


def check_taken(keys: Keys) -> Iterator[str]:
    """Warn about actions whose every key is commonly reserved by a multiplexer or terminal."""
    for name, own in keys.items():
        owners = [_TAKEN_BY.get(key) for key in own]
        if own and all(owners):
            yield f"{name} has only {' '.join(own)}, which {owners[0]} may intercept; give it a second key."


def _is_sendable(key: str) -> bool:
    if len(key) == 1:
        return key.isprintable()
    if key in _NAMED or key == "shift+tab":
        return True
    if re.fullmatch(r"ctrl\+[a-z]|alt\+[a-z0-9]", key):
        return True
    modifiers, _, last = key.rpartition("+")
    return last in _ARROWS and modifiers in ("ctrl", "shift", "alt", "ctrl+shift")


def _key_lists(data: Any, path: Path) -> dict[str, tuple[str, ...]]:
    if data is None:
        return {}
    if not isinstance(data, dict) or not all(isinstance(name, str) for name in data):
        raise ConfigError(Reason.KEYMAP_INVALID, f"The keymap file {path} must map actions to lists of keys.")
    lists = {name: tuple(keys) if isinstance(keys, list) else (keys,) for name, keys in data.items()}
    for name, keys in lists.items():
        if not all(isinstance(key, str) and key for key in keys):
            message = f"The keymap file {path} gives {name} something that is not a key; put keys in quotation marks."
            raise ConfigError(Reason.KEYMAP_INVALID, message)
    return lists
