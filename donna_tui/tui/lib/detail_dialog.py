"""Show one problem or one event in full, however long its path and message are."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import VerticalScroll
from textual.content import Content
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.dialogs import Modal
from donna_tui.tui.lib.error_messages import reason_title
from donna_tui.tui.lib.humanize import moment, next_try
from donna_tui.types.status import Problem

if TYPE_CHECKING:
    from donna_tui.tui.activity.log import LogRow

Facts = tuple[tuple[str, str], ...]
_LONGEST = 4_000


class DetailScreen(Modal[None]):
    """Facts under a title; escape, enter or a click outside closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,enter,q,space", "dismiss", show=False),
        action_binding("app.quit", "app.leave"),
    ]

    def __init__(self, title: str, facts: Facts) -> None:
        super().__init__(classes="dialog")
        self._heading = title
        self._facts = facts

    @classmethod
    def of_problem(cls, problem: Problem) -> DetailScreen:
        facts = (
            ("", clean_line(problem.message)),
            ("What helps", clean_line(problem.hint)),
            ("Note", clean_line(problem.path)),
            ("Since", moment(problem.since) if problem.since else ""),
            ("Next try", next_try(problem.next_try)),
        )
        return cls(reason_title(problem.reason), facts)

    @classmethod
    def of_row(cls, row: LogRow) -> DetailScreen:
        """Return the dialog for a row of the log; its sentence is already sanitised."""
        sentence = row.sentence
        facts = (
            ("", sentence.detail),
            ("Note", sentence.path),
            ("Time spent", sentence.stages or sentence.took),
            ("When", moment(row.at)),
        )
        return cls(sentence.what, facts)

    def compose(self) -> ComposeResult:
        with VerticalScroll(classes="detail-box") as box:
            box.border_title = Content(self._heading)
            box.border_subtitle = Content("esc close")
            for label, text in self._facts:
                if label and text:
                    yield Static(Content(label), classes="detail-label")
                if text:
                    yield Static(Content(text[:_LONGEST]), classes="detail-text")
