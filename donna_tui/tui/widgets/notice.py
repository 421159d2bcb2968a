"""A calm sentence in the middle of an empty space: what is going on, and the key that helps."""

from __future__ import annotations

from dataclasses import dataclass

from textual.content import Content
from textual.widgets import Static


@dataclass(frozen=True, slots=True)
class Words:
    """What a notice says. All of it is safe to show. `keys` are pairs of a key and what it does."""

    title: str
    text: str = ""
    keys: tuple[tuple[str, str], ...] = ()
    is_error: bool = False


class Notice(Static, can_focus=False):
    """Shows `Words`."""

    def say(self, words: Words) -> None:
        """Replace what is shown."""
        keys = (Content.assemble((key, "bold $accent"), "  ", (does, "$text-muted")) for key, does in words.keys)
        parts = [
            Content.styled(words.title, "bold $text-error" if words.is_error else "bold"),
            *([Content.styled(words.text, "$text-muted")] if words.text else []),
            *([Content("\n").join(keys)] if words.keys else []),
        ]
        self.update(Content("\n\n").join(parts))
