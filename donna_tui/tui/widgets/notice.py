"""A calm sentence in the middle of an empty space: what is going on, and the key that helps."""

from __future__ import annotations

from rich.cells import cell_len
from textual.content import Content
from textual.widgets import Static

from donna_tui.records import dataclass
from donna_tui.tui.keysheet import DEFAULT_KEYS, Keys, shown_key


@dataclass(frozen=True, slots=True)
class Words:
    """What a notice says. All of it is safe to show.

    `examples` are things to type and what they mean; `actions` are ids of actions that help, and what each one does.
    """

    title: str
    text: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    actions: tuple[tuple[str, str], ...] = ()
    is_error: bool = False


class Notice(Static, can_focus=True):
    """Shows `Words`. It takes the focus like the list in whose place it stands, so that letters are keys here too."""

    def __init__(self, *, keys: Keys = DEFAULT_KEYS, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._keys = keys
        self._words = Words("")

    def say(self, words: Words) -> None:
        """Replace what is shown. It takes all the room there is, so nothing has to be laid out anew."""
        if words != self._words:
            self._words = words
            self.update(notice_content(words, self._keys), layout=False)


def notice_content(words: Words, keys: Keys) -> Content:
    """What a notice shows, with the keys of its actions."""
    helps = (*words.examples, *((_key(keys[action]), does) for action, does in words.actions))
    parts = [
        Content.styled(words.title, "bold $text-error" if words.is_error else "bold"),
        *([Content.styled(words.text, "$text-muted")] if words.text else []),
        *([_table(helps)] if helps else []),
    ]
    return Content("\n\n").join(parts)


def _key(keys: tuple[str, ...]) -> str:
    """A key that works in the search box too, if the action has one."""
    return shown_key(keys, typing=True) or shown_key(keys, typing=False)


def _table(rows: tuple[tuple[str, str], ...]) -> Content:
    """Rows of equal width, so that they stay in line when they are centred."""
    left, right = (max(cell_len(row[column]) for row in rows) for column in (0, 1))
    lines = (
        Content.assemble(
            (name + " " * (left - cell_len(name)), "$accent"),
            "   ",
            (does + " " * (right - cell_len(does)), "$text-muted"),
        )
        for name, does in rows
    )
    return Content("\n").join(lines)
