"""The texts of the Activity screen: a headline, the current work, and the figures of the engine's status."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.error_messages import reason_words
from donna_tui.tui.lib.event_messages import WATCHER, Tone
from donna_tui.tui.lib.humanize import clock, count, estimate, milliseconds, percent, plural, size
from donna_tui.types.status import Latency, ModelPhase, Status

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
    return _STATES.get(status.state, _running)(status)


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
        *([Figure("Local only", (count(coverage.sensitive), ""), Tone.QUIET)] if coverage.sensitive else []),
        *([Figure("Failed", (count(coverage.failed), ""), Tone.ERROR)] if coverage.failed else []),
        *([Figure("Left out", (count(left_out), ""), Tone.QUIET)] if left_out else []),
        *(Figure(f"  {reason_words(code)}", (count(number), ""), Tone.QUIET) for code, number in reasons if number),
    ]


def latency_figures(status: Status) -> list[Figure]:
    """Return the latencies of searches and edits: median and 95th percentile."""
    return [
        Figure("", ("median", "p95"), Tone.QUIET),
        _latency("Search answered", status.search_latency),
        _latency("Saved → keyword", status.keyword_after_save),
        _latency("Saved → semantic", status.semantic_after_save),
    ]


def engine_figures(status: Status) -> list[Figure]:
    """Return the components of the engine, and its paths."""
    model = clean_line(status.model) or _MODEL_SHORT[status.model_phase]
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
    return Line(Tone.GOOD, f"{_found(status)}{_keyword_only(status)}")


def _progress(status: Status) -> str:
    parts = [f"{_found(status)} by keyword"]
    if status.model_phase is ModelPhase.READY:
        parts.append(f"{percent(status.coverage.vectors, status.coverage.notes)} by semantic search")
    else:
        parts.append(_MODEL_WORDS[status.model_phase])
    if status.seconds_left is not None:
        parts.append(f"{estimate(status.seconds_left)} left")
    return ", ".join(parts)


def _found(status: Status) -> str:
    text, notes = status.coverage.text, status.coverage.notes
    return f"{'All' if text >= notes else f'{count(text)} of'} {plural(notes, 'note')} can be found"


def _keyword_only(status: Status) -> str:
    ready = status.model_phase is ModelPhase.READY
    return "" if ready else f" by keyword; {_MODEL_WORDS[status.model_phase]}"


def _with_detail(tone: Tone, words: str) -> Callable[[Status], Line]:
    def line(status: Status) -> Line:
        detail = clean_line(status.state_detail)
        return Line(tone, f"{words}: {detail}" if detail else words)

    return line


_MODEL_WORDS = {
    ModelPhase.MISSING: "semantic search is not installed",
    ModelPhase.PREPARING: "the model is being prepared",
    ModelPhase.LOADING: "the model is being loaded",
    ModelPhase.READY: "ready",
    ModelPhase.FAILED: "the model failed",
}
_MODEL_SHORT = {
    ModelPhase.MISSING: "not installed",
    ModelPhase.PREPARING: "being prepared",
    ModelPhase.LOADING: "being loaded",
    ModelPhase.READY: "ready",
    ModelPhase.FAILED: "failed",
}
_STATES: dict[str, Callable[[Status], Line]] = {
    "starting": _with_detail(Tone.QUIET, "Opening the vault"),
    "paused": _with_detail(Tone.WARNING, "Paused"),
    "failed": _with_detail(Tone.ERROR, "Stopped by an error"),
    "stopping": _with_detail(Tone.QUIET, "Closing"),
    "stopped": _with_detail(Tone.QUIET, "Closed"),
    "read_only": _with_detail(Tone.WARNING, "Read-only"),
}
