"""The line one types in, with the mode, the scope and the number of results beside it."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.bindings import bindings
from donna_tui.tui.widgets.line_input import LineInput
from donna_tui.tui.widgets.telling import tell


class SearchInput(LineInput):
    """An input whose up and down keys move the list of results."""

    BINDINGS = bindings("search.input")


class SearchBar(Horizontal):
    """Prompt, input and facts about the search."""

    input = query_one(SearchInput)
    facts = query_one("#search-facts", Static)

    def compose(self) -> ComposeResult:
        yield Static(Content("❯"), id="search-prompt")
        yield SearchInput(placeholder="Search your notes", compact=True, select_on_focus=False, id="search-input")
        yield Static(id="search-facts")

    def state(self, *facts: str) -> None:
        """Show facts about the search, in order."""
        tell(self.facts, Content.styled(" · ".join(clean_line(fact) for fact in facts if fact), "$text-muted"))
