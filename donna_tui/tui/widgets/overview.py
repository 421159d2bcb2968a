"""The state of the vault at a glance: a headline, how far the index is, what is going on, how fast."""

from __future__ import annotations

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.errors import DonnaError
from donna_tui.safety.terminal import clean_line
from donna_tui.status import Status
from donna_tui.tui.sentences import Tone
from donna_tui.tui.summary import Line, doing, headline, is_working, since_start
from donna_tui.tui.widgets.event_row import MARKS
from donna_tui.tui.widgets.progress_bar import ProgressBar
from donna_tui.tui.widgets.sparkline_row import SparklineRow


class Overview(Vertical):
    """Draws a `Status`. The graph is there only while passages are being read by the model."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="headline"):
            yield Static(id="headline-mark", markup=False)
            yield Static(id="headline-text", markup=False)
        yield ProgressBar()
        yield Static(id="doing", markup=False)
        yield SparklineRow()
        yield Static(id="since-start", markup=False)

    def on_mount(self) -> None:
        self._say(Line(Tone.QUIET, "Opening the vault …"))

    def refuse(self, error: DonnaError) -> None:
        """Say why there is nothing to draw."""
        self._say(Line(Tone.ERROR, clean_line(error.message)), clean_line(error.hint or ""))

    def show(self, status: Status) -> None:
        """Draw another moment."""
        self._say(headline(status), doing(status))
        self.query_one("#since-start", Static).update(Content(since_start(status)))
        coverage = status.coverage
        self.query_one(ProgressBar).show(meaning=coverage.vectors, words=coverage.text, total=coverage.notes)
        self.query_one(SparklineRow).values = status.throughput
        self.set_class(is_working(status), "-working")

    def _say(self, line: Line, below: str = "") -> None:
        self.query_one("#headline-mark", Static).update(Content.styled(MARKS[line.tone], f".tone--{line.tone}"))
        self.query_one("#headline-text", Static).update(Content.styled(line.text, ".tone--title"))
        self.query_one("#doing", Static).update(Content(below))
