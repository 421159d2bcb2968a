"""The list of problems: what is wrong, where, what to do, and when it is retried."""

from __future__ import annotations

from textual.content import Content
from textual.widgets.option_list import Option

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.activity.log import MARKS
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.error_messages import reason_title
from donna_tui.tui.lib.event_messages import Tone
from donna_tui.tui.lib.humanize import count, next_try
from donna_tui.tui.lib.inputs import OptionRows, ValueOption
from donna_tui.types.errors import Reason
from donna_tui.types.status import Problem

SHOWN_PROBLEMS = 200
_LONGEST_TEXT = 400
_BEARABLE = (Reason.MODEL_MISSING, Reason.WATCHER_DEGRADED, Reason.BUSY)


def tone_of(problem: Problem) -> Tone:
    """Return the severity of a problem: highest for the whole vault, lowest for a file that is left out on purpose."""
    if not problem.path:
        return Tone.WARNING if problem.reason in _BEARABLE else Tone.ERROR
    return Tone.WARNING if problem.retryable else Tone.QUIET


def problem_content(problem: Problem) -> Content:
    """Format a problem in two or three lines."""
    tone = tone_of(problem)
    again = f"  next try {next_try(problem.next_try)}" if problem.next_try is not None else ""
    title = Content.assemble(
        (f"{MARKS[tone]} ", f".tone--{tone}"),
        (reason_title(problem.reason), ".tone--title"),
        f"  {clean_line(problem.path[:_LONGEST_TEXT])}" if problem.path else "",
        (again, f".tone--{Tone.QUIET}"),
    )
    message = Content.styled(f"  {clean_line(problem.message[:_LONGEST_TEXT])}", f".tone--{Tone.QUIET}")
    hint = clean_line(problem.hint[:_LONGEST_TEXT])
    return Content("\n").join([title, message, *([Content(f"  {hint}")] if hint else [])])


def problem_of(option: Option | None) -> Problem | None:
    """Return the problem of a row; None for the row that counts the rest."""
    return option.value if isinstance(option, ValueOption) else None


class ProblemList(OptionRows, inherit_bindings=False):
    """The current problems of the engine; the selected one stays selected when others are added or removed."""

    BINDINGS = bindings("list")

    def __init__(self, *, id: str | None = None, classes: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id, classes=classes, markup=False, compact=True)
        self._problems: tuple[Problem, ...] = ()

    @property
    def selected(self) -> Problem | None:
        """Return the problem under the cursor."""
        return problem_of(self.highlighted_option)

    def show(self, problems: tuple[Problem, ...]) -> None:
        """Replace the list. Nothing is drawn if nothing changed."""
        if problems == self._problems:
            return
        before = self.selected
        self._problems = problems
        shown = problems[:SHOWN_PROBLEMS]
        rest = len(problems) - len(shown)
        more = [Option(Content(f"  and {count(rest)} more"), disabled=True)] if rest else []
        self.set_options([*(ValueOption(problem_content(each), each) for each in shown), *more])
        if shown:
            same = (index for index, each in enumerate(shown) if before is not None and each.id == before.id)
            self.highlighted = next(same, min(self.highlighted or 0, len(shown) - 1))

    def action_last(self) -> None:
        """Select the last problem, and scroll to the row that counts the rest."""
        super().action_last()
        self.scroll_end(animate=False)
