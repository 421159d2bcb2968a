"""The texts, figures and problems of the Activity screen: headline, tables, sparklines, and the state of the index."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from operator import attrgetter

from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.activity.log import MARKS
from donna_tui.tui.lib.error_messages import reason_title, reason_words, sentence
from donna_tui.tui.lib.event_messages import ENGINE_STATES, WATCHER, Tone
from donna_tui.tui.lib.humanize import (
    clock,
    count,
    estimate,
    milliseconds,
    next_try,
    percent,
    plural,
    shorten_path,
    size,
)
from donna_tui.tui.lib.inputs import ProgressBar
from donna_tui.tui.lib.lines import ItemList, row_of
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.status import Latency, ModelPhase, Problem, Status

_RECENT = 5


@dataclass(frozen=True, slots=True)
class Line:
    """A sentence with its tone, sanitised."""

    tone: Tone
    text: str


@dataclass(frozen=True, slots=True)
class Figure:
    """A row of a table: a label and one or more values. Values are cut at the front if `is_path` is set."""

    label: str
    values: tuple[str, ...]
    tone: Tone = Tone.PLAIN
    is_path: bool = False


def is_working(status: Status) -> bool:
    """Return whether there are notes that are not completely indexed yet."""
    coverage = status.coverage
    if status.state != "running":
        return False
    missing_meaning = status.model_phase is ModelPhase.READY and coverage.vectors < coverage.text
    return status.queued > 0 or missing_meaning or coverage.text + coverage.failed < coverage.notes


def headline(status: Status) -> Line:
    """Return the headline: the progress of the vault, or what prevents it."""
    if status.state in ("running", ""):
        return _running(status)
    tone, words = ENGINE_STATES[status.state]
    detail = clean_line(status.state_detail)
    return Line(tone, f"{words}: {detail}" if detail else words)


def doing(status: Status) -> str:
    """Describe the current work, or the time of the last comparison with the folder."""
    if is_working(status):
        speed = speed_now(status)
        rate = f"{plural(round(speed), 'passage')} a second" if speed >= 1 else ""
        return " · ".join(part for part in (f"{count(status.queued)} waiting" if status.queued else "", rate) if part)
    if status.last_reconcile is None:
        return ""
    return f"Nothing waiting · rescanned at {clock(status.last_reconcile)}"


def since_start(status: Status) -> str:
    """Describe the model's work since the start of Donna; an unchanged vault needs none."""
    new, known = status.embedded_this_run, status.reused_this_run
    if not new and not known:
        return "Nothing embedded since the start" if status.coverage.vectors else ""
    reused = f", {count(known)} reused" if known else ""
    return f"{plural(new, 'passage')} embedded since the start{reused}"


def speed_now(status: Status) -> float:
    """Return the passages per second over the last full seconds in which there was work."""
    recent = [value for value in status.throughput[-_RECENT - 1 : -1] if value > 0]
    return sum(recent) / len(recent) if recent else 0.0


def coverage_figures(status: Status) -> list[Figure]:
    """Return the numbers of notes by how they can be found, and of files left out by reason."""
    coverage = status.coverage
    left_out = sum(coverage.skipped.values())
    reasons = sorted(coverage.skipped.items(), key=lambda item: -item[1])
    words = percent(coverage.text, coverage.notes) if coverage.notes else ""
    meaning = percent(coverage.vectors, coverage.notes) if coverage.notes else ""
    return [
        Figure("Notes", (count(coverage.notes), "")),
        Figure("Keyword", (count(coverage.text), words)),
        Figure("Semantic", (count(coverage.vectors), meaning)),
        Figure("Passages", (count(coverage.chunks), ""), Tone.QUIET),
        *([Figure("Private", (count(coverage.sensitive), ""), Tone.QUIET)] if coverage.sensitive else []),
        *([Figure("Failed", (count(coverage.failed), ""), Tone.ERROR)] if coverage.failed else []),
        *([Figure("Left out", (count(left_out), ""), Tone.QUIET)] if left_out else []),
        *(Figure(f"  {reason_words(code)}", (count(number), ""), Tone.QUIET) for code, number in reasons if number),
    ]


def latency_figures(status: Status) -> list[Figure]:
    return [
        Figure("", ("median", "p95"), Tone.QUIET),
        _latency("Search answered", status.search_latency),
        _latency("Saved → keyword", status.keyword_after_save),
        _latency("Saved → semantic", status.semantic_after_save),
    ]


def engine_figures(status: Status) -> list[Figure]:
    model = clean_line(status.model) or _MODEL[status.model_phase][1]
    watcher = WATCHER.get(status.watcher, clean_line(status.watcher))
    degraded = status.watcher != "native"
    return [
        Figure("Model", (model,), Tone.PLAIN if status.model_phase is ModelPhase.READY else Tone.WARNING),
        Figure("Vectors", (clean_line(status.vector_engine) or "–",)),
        Figure("Changes seen", (watcher,), Tone.WARNING if degraded else Tone.PLAIN),
        *([Figure("Maintained by", (clean_line(status.owner),), Tone.WARNING)] if status.state == "read_only" else []),
        Figure("Index", (size(status.database_bytes),)),
        Figure("", (clean_line(status.database),), Tone.QUIET, is_path=True),
        Figure("Log file", (clean_line(status.log_file),), Tone.QUIET, is_path=True),
    ]


def _latency(label: str, latency: Latency) -> Figure:
    tone = Tone.PLAIN if latency.samples else Tone.QUIET
    return Figure(label, (milliseconds(latency.p50), milliseconds(latency.p95)), tone)


def _running(status: Status) -> Line:
    coverage = status.coverage
    if coverage.notes == 0 and status.last_reconcile is None:
        return Line(Tone.PLAIN, "Reading the folder")
    if coverage.notes == 0:
        return Line(Tone.QUIET, "No notes yet. The first one that you save appears here.")
    if is_working(status):
        return Line(Tone.PLAIN, _progress(status))
    if coverage.failed:
        return Line(Tone.WARNING, f"{_found(status)}, {coverage.failed:,} could not be read{_keyword_only(status)}")
    if any(problem.reason is Reason.MASS_DISAPPEARANCE for problem in status.problems):
        return Line(Tone.WARNING, f"{_found(status)}, but many are missing from the vault")
    return Line(Tone.GOOD, f"{_found(status)}{_keyword_only(status)}")


def _progress(status: Status) -> str:
    parts = [f"{_found(status)} by keyword"]
    if status.model_phase is ModelPhase.READY:
        parts.append(f"{percent(status.coverage.vectors, status.coverage.notes)} by semantic search")
    else:
        parts.append(" ".join(_MODEL[status.model_phase]))
    if status.seconds_left is not None:
        parts.append(f"{estimate(status.seconds_left)} left")
    return ", ".join(parts)


def _found(status: Status) -> str:
    text, notes = status.coverage.text, status.coverage.notes
    share = f"{count(text)} of " if text < notes else "All " if notes > 1 else ""
    return f"{share}{plural(notes, 'note')} can be found"


def _keyword_only(status: Status) -> str:
    ready = status.model_phase is ModelPhase.READY
    return "" if ready else f" by keyword; {' '.join(_MODEL[status.model_phase])}"


_MODEL = {
    ModelPhase.MISSING: ("semantic search is", "not installed"),
    ModelPhase.PREPARING: ("the model is", "being prepared"),
    ModelPhase.LOADING: ("the model is", "being loaded"),
    ModelPhase.READY: ("the model is", "ready"),
    ModelPhase.FAILED: ("the model", "failed"),
}
"""The state of the model as a sentence; its second part is enough beside the word “Model”."""


_GAP = 2


def table_lines(figures: Sequence[Figure], width: int) -> list[Content]:
    """Format each figure in `width` cells. Several values form right-aligned columns."""
    columns = max((len(figure.values) for figure in figures), default=0)
    widths = [
        max((len(figure.values[column]) for figure in figures if 1 < len(figure.values) > column), default=0)
        for column in range(columns)
    ]
    labels = max((len(figure.label) for figure in figures if len(figure.values) == 1), default=0)
    return [_line(figure, width, widths, labels) for figure in figures]


class FigureTable(Widget):
    """Draw `table_lines` over the whole width, one row per figure."""

    figures: reactive[tuple[Figure, ...]] = reactive((), layout=True)

    def render(self) -> Content:
        return Content("\n").join(table_lines(self.figures, self.content_size.width))


def _line(figure: Figure, width: int, widths: list[int], labels: int) -> Content:
    label = Content.styled(figure.label, f".line--{Tone.QUIET}")
    if len(figure.values) == 1:
        labels = labels + _GAP if figure.label else 0
        room = max(0, width - labels)
        value = shorten_path(figure.values[0], room) if figure.is_path else figure.values[0]
        cut = Content.styled(value, f".line--{figure.tone}").truncate(room, ellipsis=True)
        return Content.assemble(label.truncate(labels, pad=True), cut).truncate(width)
    values = [
        Content.styled(value.rjust(cells), f".line--{figure.tone}")
        for value, cells in zip(figure.values, widths, strict=False)
    ]
    return row_of(label, Content(" ") + Content(" " * _GAP).join(values), width)


_BLOCKS = " ▁▂▃▄▅▆▇█"
_STEPS = len(_BLOCKS) - 1


def spark_lines(values: Sequence[float], width: int, height: int) -> list[str]:
    """Format the last `width` values as `height` lines of blocks, newest on the right, with a block if positive."""
    shown = [max(0.0, value) for value in values[-width:]] if width > 0 else []
    peak = max(shown, default=0.0)
    heights = [max(1, round(value / peak * height * _STEPS)) if value > 0 else 0 for value in shown]
    lines = []
    for row in reversed(range(height)):
        line = "".join(_BLOCKS[min(_STEPS, max(0, level - row * _STEPS))] for level in heights)
        lines.append(line.rjust(width))
    return lines


class SparklineRow(Widget):
    """Draw `spark_lines` over the whole size, above a base line."""

    values: reactive[tuple[float, ...]] = reactive(())

    def render(self) -> Content:
        width, height = self.content_size
        *upper, last = spark_lines(self.values, width, max(1, height))
        rows = [Content.styled(line, "$accent") for line in upper]
        bottom = (("▁", "$border-blurred") if block == " " else (block, "$accent") for block in last)
        return Content("\n").join([*rows, Content.assemble(*bottom)])


class Overview(Vertical):
    """Draw a `Status`. The graph is visible only while passages are being embedded."""

    def compose(self) -> ComposeResult:
        with Horizontal(id="headline"):
            yield Static(id="headline-mark", markup=False)
            yield Static(id="headline-text", markup=False)
        yield ProgressBar()
        yield Static(id="doing", markup=False)
        yield SparklineRow()
        yield Static(id="since-start", markup=False)

    def on_mount(self) -> None:
        self._show_headline(Line(Tone.QUIET, "Opening the vault …"))

    def refuse(self, error: DonnaError) -> None:
        self._show_headline(Line(Tone.ERROR, sentence(error.message)), sentence(error.hint or ""))

    def show(self, status: Status) -> None:
        self._show_headline(headline(status), doing(status))
        self.query_one("#since-start", Static).update(Content(since_start(status)))
        coverage = status.coverage
        self.query_one(ProgressBar).counts = (coverage.vectors, coverage.text, coverage.notes)
        self.query_one(SparklineRow).values = status.throughput
        self.set_class(is_working(status), "-working")

    def _show_headline(self, line: Line, below: str = "") -> None:
        self.query_one("#headline-mark", Static).update(Content.styled(MARKS[line.tone], f".line--{line.tone}"))
        self.query_one("#headline-text", Static).update(Content.styled(line.text, ".line--strong"))
        self.query_one("#doing", Static).update(Content(below))


_LONGEST_TEXT = 400
_BEARABLE = (Reason.MODEL_MISSING, Reason.WATCHER_DEGRADED, Reason.BUSY)


def tone_of(problem: Problem) -> Tone:
    """Return the severity of a problem: highest for the whole vault, lowest for a file that is left out on purpose."""
    if not problem.path:
        return Tone.WARNING if problem.reason in _BEARABLE else Tone.ERROR
    return Tone.WARNING if problem.retryable else Tone.QUIET


def problem_content(problem: Problem) -> Content:
    tone = tone_of(problem)
    again = f"  next try {next_try(problem.next_try)}" if problem.next_try is not None else ""
    title = Content.assemble(
        (f"{MARKS[tone]} ", tone),
        (reason_title(problem.reason), "strong"),
        f"  {clean_line(problem.path[:_LONGEST_TEXT])}" if problem.path else "",
        (again, Tone.QUIET),
    )
    message = Content.styled(f"  {sentence(problem.message[:_LONGEST_TEXT])}", Tone.QUIET)
    hint = clean_line(problem.hint[:_LONGEST_TEXT])
    return Content("\n").join([title, message, *([Content(f"  {hint}")] if hint else [])])


class ProblemList(ItemList[Problem]):
    """The current problems of the engine, each with its message and hint."""

    row_height = 3
    key = attrgetter("id")

    def row_part(self, index: int, part: int, width: int) -> Content:
        lines = problem_content(self.items[index]).split("\n")
        return lines[part].truncate(width, ellipsis=True, pad=True) if part < len(lines) else Content("")
