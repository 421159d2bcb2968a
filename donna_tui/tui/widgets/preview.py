"""The section behind the selected result: where it stands, its text with the passage marked, and who links to it."""

from __future__ import annotations

from pathlib import PurePosixPath

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Static

from donna_tui.results import Hit
from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import line_range
from donna_tui.tui.backend import Passage
from donna_tui.tui.widgets.passage_view import PassageView

_MOST_LINKS = 6


class Preview(Vertical):
    """Shows one passage at a time. It keeps the last one until the next one is there, so nothing flickers."""

    head = query_one("#preview-head", Static)
    view = query_one("#preview-text", PassageView)
    foot = query_one("#preview-foot", Static)

    def compose(self) -> ComposeResult:
        yield Static(id="preview-head")
        yield PassageView(id="preview-text")
        yield Static(id="preview-foot")

    def clear(self) -> None:
        """Show nothing."""
        self.head.update(Content(""))
        self.foot.update(Content(""))
        self.view.show("")

    def show(self, hit: Hit, passage: Passage) -> None:
        """Show the section that holds a hit."""
        self.head.update(heading(hit.path, line_range(hit), passage.heading_path, sensitive=passage.sensitive))
        first = passage.start_line
        self.view.show(passage.text, range(passage.mark_start - first, passage.mark_end - first + 1))
        self.foot.update(footing(passage))

    def fail(self, hit: Hit, message: str, hint: str) -> None:
        """Say why a section cannot be shown."""
        self.head.update(heading(hit.path, line_range(hit), hit.heading_path, sensitive=hit.sensitive))
        self.view.show("\n\n".join(filter(None, (message, hint))))
        self.foot.update(Content(""))


def heading(path: str, lines: str, headings: tuple[str, ...], *, sensitive: bool) -> Content:
    """Path and lines, and below them the headings that lead to the section."""
    trail = " › ".join(clean_line(each) for each in headings)
    private = (" · local only", "$text-warning") if sensitive else ""
    return Content.assemble(
        (clean_line(path), "$text-muted"), (f":{lines}", "$text-disabled"), private, "\n", (trail, "bold")
    )


def footing(passage: Passage) -> Content:
    """The notes that link to the section's note, and whether the section is longer than what is shown."""
    names = [clean_line(PurePosixPath(path).stem) for path in passage.linked_from[:_MOST_LINKS]]
    more = len(passage.linked_from) - len(names)
    linked = " · ".join([*names, *([f"{more} more"] if more else [])])
    parts = [
        *([Content.styled("The section goes on; ↵ opens it whole.", "$text-muted")] if passage.truncated else []),
        *([Content.assemble(("linked from  ", "$text-disabled"), (linked, "$text-muted"))] if linked else []),
    ]
    return Content("\n").join(parts)
