"""The last line of a window: its keys and what they do, as many as fit."""

from __future__ import annotations

from collections.abc import Iterator

from rich.cells import cell_len
from textual.content import Content
from textual.widget import Widget

from donna_tui.tui.keysheet import Keys, shown_key

_GAP = 3
Item = tuple[str, str]
"""An action of the registry, or a key as it is shown; and what it does."""


class KeyLine(Widget):
    """Items in the order of their importance: what does not fit is left out from the end. Words can replace them."""

    def __init__(self, keys: Keys, *items: Item, typing: bool = False) -> None:
        super().__init__(classes="key-line")
        self._items = [(self._key(keys, name, typing=typing), does) for name, does in items]
        self._words = ""

    @property
    def items(self) -> tuple[Item, ...]:
        """The keys as they are shown, and what they do."""
        return tuple(self._items)

    def say(self, words: str) -> None:
        """Show a sentence instead of the keys."""
        self._words = words
        self.refresh()

    def render(self) -> Content:
        if self._words:
            return Content.styled(self._words, "$text-warning")
        shown = (Content.assemble((key, "$accent"), (f" {does}", "$text-muted")) for key, does in self._fitting())
        return Content(" " * _GAP).join(shown)

    def _fitting(self) -> Iterator[Item]:
        room = self.content_size.width + _GAP
        for key, does in self._items:
            room -= cell_len(key) + 1 + cell_len(does) + _GAP
            if room < 0:
                return
            yield key, does

    def _key(self, keys: Keys, name: str, *, typing: bool) -> str:
        return shown_key(keys[name], typing=typing) if name in keys else name
