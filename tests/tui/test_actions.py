"""The registry of actions: complete, consistent, and every action reachable and explained."""

from __future__ import annotations

import pkgutil
import re
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import replace
from importlib import import_module

import pytest
from textual.dom import DOMNode

from docs.keys import keys_markdown
from donna_tui import tui
from donna_tui.tui.app import DonnaApp
from donna_tui.tui.lib.action import ACTIVE_IN, ActionState
from donna_tui.tui.lib.actions import ACTIONS, active_contexts
from donna_tui.tui.lib.keymap import is_printable, key_name, keys_table
from donna_tui.tui.lib.panes import PANES
from donna_tui.tui.memory.dialogs import ForgetScreen, SuggestionScreen
from donna_tui.tui.shell.bars import footer_actions
from donna_tui.tui.shell.main import MainScreen
from donna_tui.tui.shell.windows import Palette, key_choices, palette_choices
from donna_tui.tui.vault.conflict_dialogs import ConflictCopyDialog, ConflictScreen
from donna_tui.tui.vault.plan_dialog import PlanScreen
from tests.tui import scenarios
from tests.tui.driving import driving, notices

VIEWS = {entry.action for entry in PANES.values()}


@pytest.mark.parametrize("action", ACTIONS.values(), ids=lambda action: action.id)
def test_every_action_has_a_method_where_it_is_looked_for(action: object) -> None:
    assert action.keys
    assert action.context in ACTIVE_IN
    assert action.help.endswith(".")
    for field in action.needs.split():
        assert isinstance(replace(action, needs=field).why_not(ActionState()), str), (
            f"{field} is no field, or lacks a text"
        )
    assert getattr(ActionState(), action.unless or "typing") is False
    places = {
        **{
            context: getattr(import_module(entry.module), entry.widget)
            for entry in PANES.values()
            for context in entry.contexts
        },
        "forget": ForgetScreen,
        "suggestion": SuggestionScreen,
        "plan": PlanScreen,
        "conflict": ConflictScreen,
        "resolve": ConflictCopyDialog,
    }
    if action.context != "list" and action.id not in VIEWS:
        panes = [getattr(import_module(entry.module), entry.widget) for entry in PANES.values()]
        owners = panes if action.id == "view.zoom" else [places.get(action.context, MainScreen)]
        assert [owner.__name__ for owner in owners if not hasattr(owner, action.method)] == []


def widgets() -> Iterator[type[DOMNode]]:
    """Return every class of the interface that may have bindings."""
    for module in pkgutil.walk_packages(tui.__path__, f"{tui.__name__}."):
        loaded = import_module(module.name)
        for each in vars(loaded).values():
            if isinstance(each, type) and issubclass(each, DOMNode) and each.__module__ == module.name:
                yield each


@pytest.mark.parametrize("widget", widgets(), ids=lambda widget: widget.__name__)
def test_every_binding_runs_an_action_that_exists(widget: type[DOMNode]) -> None:
    for binding in vars(widget).get("BINDINGS", []):
        space, name = re.match(r"(?:(app|screen)\.)?(\w+)", binding.action).groups()  # type: ignore[union-attr]
        places = {"app": (DonnaApp,), "screen": (MainScreen, widget)}.get(space, (widget,))
        assert any(hasattr(place, f"action_{name}") for place in places), binding.action


def test_ids_and_texts_hold_no_markup() -> None:
    for action in ACTIONS.values():
        assert not set(action.title + action.help) & set("[]")


def test_text_input_actions_are_not_bound_to_printable_keys() -> None:
    for action in ACTIONS.values():
        if action.context.endswith(".input"):
            assert not any(map(is_printable, action.keys))


def test_nearest_context_comes_first() -> None:
    assert active_contexts(ActionState(typing=True))[0] == "search.input"
    assert "list" not in active_contexts(ActionState(typing=True))
    assert active_contexts(ActionState(pane="activity"))[0] == "activity"


def test_the_footer_shows_only_keys_that_work_while_typing() -> None:
    shown = footer_actions(ActionState(typing=True, selected=True), room=200)
    assert shown
    assert all(len(key) > 1 or not key.isascii() for _, key in shown)


@pytest.mark.parametrize("pane", PANES)
@pytest.mark.parametrize("typing", [False, True])
def test_the_footer_offers_only_what_is_possible_now(pane: str, typing: bool) -> None:
    state = ActionState(pane=pane, typing=typing, zoomable=False)
    shown = [action for action, _ in footer_actions(state, room=400)]
    assert shown
    assert not [action.id for action in shown if action.why_not(state)]


@pytest.mark.parametrize("room", [10, 40, 80, 120, 300])
def test_the_footer_fits_and_always_ends_with_the_way_to_all_keys(room: int) -> None:
    shown = footer_actions(ActionState(selected=True), room=room)
    assert len(shown) <= 8
    assert shown[-1][0].id == "app.keys"
    assert len(shown) == 1 or sum(len(key) + 1 + len(action.title) + 2 for action, key in shown) <= room


def test_the_key_list_has_three_sections_and_gives_the_reason_for_what_is_not_possible() -> None:
    choices = list(key_choices(ActionState(running=True)))
    assert list(dict.fromkeys(choice.section for choice in choices)) == [
        "Here",
        "Everywhere",
        "Moving",
    ]
    more = next(choice for choice in choices if choice.value == "search.more")
    assert more.objection == "No result is selected."


def test_the_palette_lists_every_action_once_with_where_it_works_and_other_themes() -> None:
    choices = {choice.value: choice for choice in palette_choices(ActionState(), "donna-dark")}
    values = [choice.value for choice in palette_choices(ActionState(), "donna-dark")]
    assert len(values) == len(choices)
    assert "search.filter" in values
    assert {value.removeprefix("elsewhere:") for value in values if not value.startswith("theme:")} == set(ACTIONS)
    assert choices["elsewhere:activity.retry"].note.startswith("Works in Activity: ")
    assert choices["elsewhere:plan.apply"].objection == "Works in the preview of a change."
    assert "theme:donna-light" in values
    assert "theme:donna-dark" not in values


def test_the_key_table_and_its_markdown_name_every_action() -> None:
    assert {row.id for row in keys_table()} == set(ACTIONS)
    markdown = keys_markdown()
    assert all(f"`{name}`" in markdown for name in ACTIONS)
    assert markdown.startswith("## Everywhere\n")


@pytest.mark.parametrize(
    ("key", "shown"),
    [("enter", "↵"), ("ctrl+p", "ctrl+p"), ("+", "+"), ("pagedown", "pgdn"), ("shift+tab", "shift+tab")],
)
def test_key_name_formats_keys_for_display(key: str, shown: str) -> None:
    assert key_name(key) == shown


async def test_a_disabled_action_says_why() -> None:
    async with driving(scenarios.empty()) as donna:
        await donna.press("enter")
        assert "No result is selected." in notices(donna.app)


@pytest.mark.parametrize("typed", ["q", "wq", "x", ":q"])
def test_palette_finds_quit_for_vi_quit_commands(typed: str) -> None:
    palette = Palette(ActionState(), "donna-dark")
    assert [choice.value for choice, _ in palette.found(typed)] == ["app.quit"]
    assert len(palette.found("se")) > 1


@pytest.mark.parametrize("typed", ["/suspend", ":suspend", "/ suspend"])
def test_a_command_may_begin_as_in_other_programs(typed: str) -> None:
    palette = Palette(ActionState(), "donna-dark")
    assert palette.found(typed)[0][0].value == "app.suspend"


def test_of_actions_of_the_same_name_the_one_that_works_here_is_first() -> None:
    palette = Palette(ActionState(pane="search"), "donna-dark")
    assert palette.found("undo")[0][0].value == "search.undo"
    assert palette.found("discard edit")[0][0].value == "elsewhere:vault.discard"


async def test_the_palette_does_not_run_what_is_not_possible_now() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.press("ctrl+p")
        palette = await donna.window(Palette)
        await donna.type("more like this")
        await donna.press("enter")
        assert donna.app.screen is palette
        assert "No result is selected." in donna.screen_text()


@pytest.mark.slow
async def test_the_palette_runs_what_is_picked() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.press("ctrl+p")
        await donna.type("activity")
        await donna.press("enter")
        await donna.until(lambda: donna.main.header.active == "activity", "the screen changed")
        await donna.press("ctrl+p")
        await donna.type("theme donna-light")
        await donna.press("enter")
        await donna.until(lambda: donna.app.theme == "donna-light", "the theme changed")


@pytest.mark.slow
async def test_a_footer_item_can_be_clicked() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.press("escape")
        at = donna.screen_text().splitlines()[-1].index("? keys")
        await donna.pilot.click("#footer", offset=(at, 0))
        await donna.until(lambda: donna.app.screen is not donna.main, "the key list opens")


def test_the_registry_needs_no_screen_library() -> None:
    code = (
        "import sys, donna_tui.tui.lib.actions, donna_tui.tui.lib.keymap\n"
        "sys.exit(' '.join(name for name in ('textual', 'rich', 'pydantic') if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
