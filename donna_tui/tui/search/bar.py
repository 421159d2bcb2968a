"""The search box with mode, scope and count."""

from __future__ import annotations

from rich.highlighter import Highlighter
from rich.text import Text
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import make_panel
from donna_tui.tui.lib.inputs import LineInput, set_label
from donna_tui.tui.lib.keymap import shown_key

_BETWEEN = " · "
_DIGITS = 3


class MarkedWords(Highlighter):
    """Underline filters that are invalid or match nothing."""

    words: tuple[str, ...] = ()

    def highlight(self, text: Text) -> None:
        """Underline the words; called by Textual each time the input is drawn."""
        folded = text.plain.lower()
        for word in self.words:
            start = folded.find(word.lower())
            if start >= 0:
                text.stylize("underline", start, start + len(word))


class SearchInput(LineInput):
    """An input whose up and down keys move the selection in the results."""

    BINDINGS = bindings("search.input")


class SearchBar(Horizontal):
    input = query_one(SearchInput)
    facts = query_one("#search-facts", Static)

    def __init__(self) -> None:
        super().__init__()
        make_panel(self, "Search")

    def compose(self) -> ComposeResult:
        key = shown_key("app.switch", typing=True)
        hint = f"  {key} switch note" if key else ""
        yield Static(Content("❯"), classes="prompt")
        yield SearchInput(
            placeholder=f"Search your notes{hint}", compact=True, select_on_focus=False, highlighter=MarkedWords()
        )
        yield Static(id="search-facts")

    def mark(self, words: tuple[str, ...]) -> None:
        marked = self.input.highlighter
        if isinstance(marked, MarkedWords) and marked.words != words:
            marked.words = words
            self.input.refresh()

    def state(self, mode: str, scope: str, found: int | None) -> None:
        """Show mode, scope and number of hits, with a fixed width for the number."""
        number = " " * (len(_BETWEEN) + _DIGITS) if found is None else f"{_BETWEEN}{found:>{_DIGITS}}"
        facts = Content.styled(f"{clean_line(mode)}{_BETWEEN}{clean_line(scope)}{number}", "$text-muted")
        before = self.facts.content
        grows = not isinstance(before, Content) or before.cell_length != facts.cell_length
        set_label(self.facts, facts, layout=grows)
