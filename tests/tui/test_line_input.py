"""The single-line input: keys act in the order in which they were typed, however busy its surroundings are."""

from __future__ import annotations

import asyncio

from textual import events
from textual.app import App, ComposeResult
from textual.containers import Container
from textual.widgets import Input

from donna_tui.tui.lib.inputs import LineInput


class Busy(Container):
    """Handles every change slowly, like a list that is redrawn under load."""

    async def on_input_changed(self, event: Input.Changed) -> None:
        await asyncio.sleep(0.05)


class BusyApp(App[None]):
    def compose(self) -> ComposeResult:
        with Busy():
            yield LineInput()


async def test_editing_keys_and_letters_are_handled_in_typing_order() -> None:
    app = BusyApp()
    async with app.run_test() as pilot:
        field = app.query_one(LineInput)
        field.focus()
        await pilot.pause()
        for key, character in (("a", "a"), ("backspace", "\x7f"), ("b", "b"), ("home", None), ("c", "c")):
            app.post_message(events.Key(key, character))
        await pilot.pause(0.5)
        assert field.value == "cb"


class TwoInputs(App[None]):
    def compose(self) -> ComposeResult:
        yield LineInput(id="first")
        yield LineInput(id="next")


async def test_keys_typed_after_a_focus_change_reach_the_new_focus() -> None:
    app = TwoInputs()
    async with app.run_test() as pilot:
        first, following = app.query_one("#first", LineInput), app.query_one("#next", LineInput)
        first.focus_after = lambda: following
        first.focus()
        await pilot.pause()
        for key, character in (("a", "a"), ("enter", "\r"), ("b", "b"), ("c", "c")):
            first.post_message(events.Key(key, character))  # queued before the first was handled
        await pilot.pause(0.3)
        assert (first.value, following.value) == ("a", "bc")
