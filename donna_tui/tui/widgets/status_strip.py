"""The line above the footer: how much of the vault can be found, for how long it still builds, what is wrong."""

from __future__ import annotations

from collections.abc import Iterator
from typing import ClassVar

from rich.cells import cell_len
from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

from donna_tui.events import ModelPhase
from donna_tui.records import dataclass
from donna_tui.safety.terminal import clean_line
from donna_tui.status import Coverage, Status
from donna_tui.tui.humanize import count, estimate, milliseconds, percent, plural
from donna_tui.tui.messages import GoTo
from donna_tui.tui.widgets.progress_bar import bar

_BAR_CELLS = 12
_SEPARATOR = " · "
_MEANING = {
    ModelPhase.MISSING: "meaning off: no model",
    ModelPhase.PREPARING: "meaning: preparing the model",
    ModelPhase.LOADING: "meaning: loading the model",
    ModelPhase.FAILED: "meaning off: the model failed",
}
_STATES = {
    "starting": "opening the vault",
    "paused": "paused: Activity says why",
    "read_only": "read only: another Donna keeps the index",
    "stopping": "finishing",
    "stopped": "stopped",
    "failed": "stopped by an error",
}


def no_model_to_get(status: Status | None) -> str:
    """Why the model for search by meaning cannot be downloaded now; empty if it can."""
    if status is None or status.model_phase in (ModelPhase.MISSING, ModelPhase.FAILED):
        return ""
    if status.model_phase is ModelPhase.READY:
        return "The model for search by meaning is installed."
    return f"Wait a moment: {clean_line(status.model_detail) or 'the model is being loaded'}."


@dataclass(frozen=True, slots=True)
class Fact:
    """A piece of the strip. Where there is no room, the highest `rank` goes first."""

    content: Content
    rank: int


def facts(status: Status) -> Iterator[Fact]:
    """What the strip can say, in the order in which it says it."""
    cover = status.coverage
    if state := _STATES.get(status.state):
        tone = ".strip--warning" if status.state in ("paused", "failed") else ".strip--strong"
        yield Fact(Content.styled(state, tone), 0)
    if _is_unknown(status):
        yield Fact(Content.styled("reading the folder …", ".strip--strong"), 2)
    else:
        yield from _progress(status) if _is_building(cover) else _at_rest(cover)
    if cover.notes:
        yield Fact(_meaning(status), 3)
    if (saved := status.keyword_after_save.p50) is not None:
        yield Fact(Content(f"saved→found {milliseconds(saved)}"), 6)
    if status.problems:
        yield Fact(Content.styled(plural(len(status.problems), "problem"), ".strip--warning"), 1)


def strip_content(status: Status, room: int) -> Content:
    """As many facts as fit into `room` cells."""
    kept = list(facts(status))
    while len(kept) > 1 and _length(kept) > room:
        kept.remove(max(kept, key=lambda fact: fact.rank))
    return Content(_SEPARATOR).join(fact.content for fact in kept).truncate(max(room, 1), ellipsis=True)


def _is_unknown(status: Status) -> bool:
    """Whether nobody has counted the notes yet."""
    is_young = status.state in ("running", "starting") and status.last_reconcile is None
    return is_young and not status.coverage.notes


def _is_building(cover: Coverage) -> bool:
    return cover.text + cover.failed < cover.notes


def _progress(status: Status) -> Iterator[Fact]:
    cover = status.coverage
    head = Content.styled(f"indexing {count(cover.text)} of {plural(cover.notes, 'note')}", ".strip--strong")
    drawn = bar(cover.vectors, cover.text, cover.notes, _BAR_CELLS)
    yield Fact(head, 2)
    yield Fact(Content.assemble(drawn, f" {percent(cover.text, cover.notes)}"), 5)
    if status.seconds_left is not None:
        yield Fact(Content(f"{estimate(status.seconds_left)} left"), 4)


def _at_rest(cover: Coverage) -> Iterator[Fact]:
    yield Fact(Content.styled(plural(cover.notes, "note"), ".strip--strong"), 2)


def _meaning(status: Status) -> Content:
    cover = status.coverage
    words = "" if _is_building(cover) else f"words ready{_SEPARATOR}"
    if status.model_phase is ModelPhase.PREPARING and status.model_detail:
        return Content(f"{words}{clean_line(status.model_detail)}")
    if (phase := _MEANING.get(status.model_phase)) is not None:
        return Content.styled(f"{words}{phase}", ".strip--warning" if "off" in phase else "")
    if cover.vectors + cover.failed < cover.notes:
        at_rest = not _is_building(cover) and status.seconds_left is not None
        left = f", {estimate(status.seconds_left or 0)} left" if at_rest else ""
        return Content(f"{words}meaning {percent(cover.vectors, cover.notes)}{left}")
    return Content("words and meaning ready")


def _length(kept: list[Fact]) -> int:
    return sum(fact.content.cell_length for fact in kept) + cell_len(_SEPARATOR) * (len(kept) - 1)


class StatusStrip(Widget):
    """Shows the newest `Status`, or that the vault is being opened."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {
        "strip--strong",
        "strip--warning",
        "bar--meaning",
        "bar--words",
        "bar--rest",
    }

    status: reactive[Status | None] = reactive[Status | None](None)
    trouble: reactive[str] = reactive("")

    def __init__(self, expected: int = 0, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._expected = expected

    def on_click(self) -> None:
        """Show the index in full."""
        self.post_message(GoTo("activity"))

    def render(self) -> Content:
        if self.trouble:
            return Content.styled(clean_line(self.trouble), ".strip--warning")
        if self._expected and (self.status is None or _is_unknown(self.status)):
            drawn = bar(0, 0, self._expected, _BAR_CELLS)
            return Content.assemble((f"indexing {plural(self._expected, 'note')}", ".strip--strong"), _SEPARATOR, drawn)
        if self.status is None:
            return Content("opening the vault …")
        return strip_content(self.status, self.content_size.width)
