"""The state of the vault at a glance: a headline, how far the index is, what is going on, how fast."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.status import Status
from donna_tui.tui.summary import doing, headline, is_working
from donna_tui.tui.widgets.event_row import MARKS
from donna_tui.tui.widgets.progress_bar import ProgressBar
from donna_tui.tui.widgets.sparkline_row import SparklineRow


class Overview(Vertical):
    """Draws a `Status`. The graph is there only while passages are being read by the model."""

    def compose(self) -> ComposeResult:
        yield Static(id="headline", markup=False)
        yield ProgressBar()
        yield Static(id="doing", markup=False)
        yield SparklineRow()

    def show(self, status: Status) -> None:
        """Draw another moment."""
        line = headline(status)
        text = Content.assemble((f"{MARKS[line.tone]} ", f".tone--{line.tone}"), (line.text, ".tone--title"))
        self.query_one("#headline", Static).update(text)
        self.query_one("#doing", Static).update(Content(doing(status)))
        coverage = status.coverage
        self.query_one(ProgressBar).show(meaning=coverage.vectors, words=coverage.text, total=coverage.notes)
        self.query_one(SparklineRow).values = status.throughput
        self.set_class(is_working(status), "-working")
