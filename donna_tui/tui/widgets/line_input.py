"""An input for one line: still, and safe to paste into."""

from __future__ import annotations

from typing import ClassVar

from textual import events
from textual.actions import SkipAction
from textual.geometry import Size
from textual.reactive import Reactive
from textual.widgets import Input

from donna_tui.safety.terminal import clean_line


class LineInput(Input):
    """Its cursor does not blink. Pasted lines become one, without what a terminal would obey."""

    LONGEST_PASTE: ClassVar[int] = 1_000

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))
    """How long the text is. Textual lays out the whole screen whenever that changes, at every key."""

    def on_mount(self) -> None:
        self.cursor_blink = False

    def action_cursor_left_word(self, select: bool = False) -> None:
        """At the beginning the key goes on to what is around, where it goes back."""
        if not select and self.cursor_position == 0:
            raise SkipAction
        super().action_cursor_left_word(select)

    def action_cursor_right_word(self, select: bool = False) -> None:
        """At the end the key goes on to what is around, where it goes forward."""
        if not select and self.cursor_position == len(self.value):
            raise SkipAction
        super().action_cursor_right_word(select)

    async def _on_key(self, event: events.Key) -> None:
        """What a key does here it does at once: by way of the app it would come after letters that were typed later.

        A key with nothing to do here, such as copy with nothing selected, goes on to what is around.
        """
        active = None if event.is_printable else self.screen.active_bindings.get(event.key)
        if active is None or active.node is not self or not active.enabled:
            return
        if await self.app.run_action(active.binding.action, self):
            event.stop()
            event.prevent_default()

    def on_paste(self, event: events.Paste) -> None:
        """Instead of what Textual does with it."""
        event.stop()
        event.prevent_default()
        lines = event.text[: self.LONGEST_PASTE].splitlines()
        if lines:
            several = (stripped for line in lines if (stripped := line.strip()))
            self.insert_text_at_cursor(clean_line(" ".join(several) if len(lines) > 1 else lines[0]))
