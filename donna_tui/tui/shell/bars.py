"""The header with the screens, the status strip, and the footer with the keys."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from rich.cells import cell_len
from textual.app import ComposeResult
from textual.containers import Horizontal
from textual.content import Content
from textual.reactive import reactive
from textual.style import Style
from textual.widget import Widget
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.action import Action, ActionState, Pane
from donna_tui.tui.lib.actions import ACTIONS, active_contexts, title_here
from donna_tui.tui.lib.error_messages import lowered
from donna_tui.tui.lib.humanize import count, estimate, milliseconds, percent, plural
from donna_tui.tui.lib.inputs import bar, fitting, key_words
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.messages import ChooseSpace, GoTo
from donna_tui.tui.lib.panes import PANES
from donna_tui.types.status import Coverage, ModelPhase, Status

_MIN_FOR_NAMES = 78
"""Cells below which only the current screen shows its name."""

_CIRCLED = "①②③④⑤⑥⑦⑧⑨⑩⑪⑫⑬⑭⑮⑯⑰⑱⑲⑳"


class Tab(Static):
    """The key and name of a screen, and the number of its pending items."""

    waiting: reactive[int] = reactive(0, layout=True)
    is_short: reactive[bool] = reactive(False, layout=True)

    def __init__(self, pane: Pane) -> None:
        super().__init__(id=f"tab-{pane}", classes="tab")
        self.pane = pane

    def render(self) -> Content:
        entry = PANES[self.pane]
        name = "" if self.is_short and not self.has_class("-active") else f" {entry.title}"
        key = shown_key(entry.action)
        return Content.assemble((key, "$text-disabled"), name, (counted(self.waiting), "$text-accent"))

    def on_click(self) -> None:
        self.post_message(GoTo(self.pane))


class SpaceName(Static):
    def on_click(self) -> None:
        self.post_message(ChooseSpace())


class HeaderBar(Horizontal):
    active: reactive[Pane] = reactive[Pane]("search")

    def __init__(self, space: str) -> None:
        super().__init__(id="header")
        self._space = space

    def compose(self) -> ComposeResult:
        yield Static(Content("Donna"), id="brand")
        yield SpaceName(self._space_name(), id="space")
        yield from map(Tab, PANES)

    def name_space(self, space: str) -> None:
        if space != self._space:
            self._space = space
            self.query_one("#space", Static).update(self._space_name())

    def watch_active(self, active: Pane) -> None:
        for tab in self.query(Tab):
            tab.set_class(tab.pane == active, "-active")
            tab.refresh(layout=True)

    def on_resize(self) -> None:
        """Show only the name of the current screen if there is little room."""
        for tab in self.query(Tab):
            tab.is_short = self.size.width < _MIN_FOR_NAMES

    def _space_name(self) -> Content:
        return Content(f"─ {clean_line(self._space)}" if self._space else "")


def counted(number: int) -> str:
    """Format a number for a label: ` ③`; empty for zero."""
    if number <= 0:
        return ""
    return f" {_CIRCLED[number - 1]}" if number <= len(_CIRCLED) else f" ({number})"


MAX_ITEMS = 8
_GAP = 2
_ALWAYS_LAST = ("app.keys", "app.help")


def footer_actions(state: ActionState, room: int) -> list[tuple[Action, str]]:
    """Return as many possible actions as fit, with their keys, nearest context first; the key list is always last."""
    contexts = active_contexts(state)
    there = (action for action in ACTIONS.values() if action.footer and action.context in contexts)
    possible = _differing((action for action in there if not action.why_not(state)), state)
    usable = [(action, key) for action in possible if (key := shown_key(action.id, typing=state.typing))]
    last = [item for item in usable if item[0].id in _ALWAYS_LAST][:1]
    left = room - sum(_width(item, state) for item in last)
    first: list[tuple[Action, str]] = []
    for item in usable:
        if item[0].id not in _ALWAYS_LAST and left >= _width(item, state) and len(first) < MAX_ITEMS - 1:
            first.append(item)
            left -= _width(item, state)
    return first + last


def _differing(actions: Iterable[Action], state: ActionState) -> list[Action]:
    """Return the actions without those that do the same here as an earlier one."""
    return list({title_here(action, state): action for action in reversed(list(actions))}.values())[::-1]


class FooterBar(Widget):
    """Draw the actions of an `ActionState`; a click runs one."""

    auto_links = False  # no other colour under the mouse

    _state = ActionState()
    _covered_by: tuple[tuple[str, str], ...] = ()

    def show(self, state: ActionState) -> None:
        if state != self._state:
            self._state = state
            self.refresh()

    def cover(self, keys: tuple[tuple[str, str], ...]) -> None:
        """Show the keys of a window that is in front; none when it is closed."""
        self._covered_by = keys
        self.refresh()

    def render(self) -> Content:
        if self._covered_by:
            items = fitting(self._covered_by, self.content_size.width, _GAP)
            return Content(" " * _GAP).join(map(key_words, items))
        fitting_actions = footer_actions(self._state, self.content_size.width + _GAP)
        return Content(" " * _GAP).join(self._item(action, key) for action, key in fitting_actions)

    def _item(self, action: Action, key: str) -> Content:
        item = key_words((key, title_here(action, self._state)))
        return item.stylize(Style.from_meta({"@click": f"screen.run({action.id!r})"}))


def _width(item: tuple[Action, str], state: ActionState) -> int:
    action, key = item
    return cell_len(key) + 1 + cell_len(title_here(action, state)) + _GAP


_BAR_CELLS = 12
_SEPARATOR = " · "
_LOADING = {ModelPhase.PREPARING: "semantic: preparing the model", ModelPhase.LOADING: "semantic: loading the model"}
_KEYWORD_ONLY = {ModelPhase.MISSING: "keyword only: no model", ModelPhase.FAILED: "keyword only: the model failed"}
_STATES = {
    "starting": "opening the vault",
    "paused": "paused: see Activity",
    "read_only": "the index is maintained by another Donna process",
    "stopping": "finishing",
    "stopped": "stopped",
    "failed": "stopped by an error",
}


def no_model_to_get(status: Status | None) -> str:
    """Explain why the embedding model cannot be downloaded now; empty if it can."""
    if status is None or status.model_phase in (ModelPhase.MISSING, ModelPhase.FAILED):
        return ""
    if status.model_phase is ModelPhase.READY:
        return "The model for semantic search is installed."
    return f"Wait a moment: {clean_line(status.model_detail) or 'the model is being loaded'}."


@dataclass(frozen=True, slots=True)
class StatusPart:
    """A part of the strip. If there is no room, the part with the highest `rank` is omitted first."""

    content: Content
    rank: int


def facts(status: Status) -> Iterator[StatusPart]:
    cover = status.coverage
    if state := _STATES.get(status.state):
        tone = "$warning" if status.state in ("paused", "failed") else "$foreground"
        yield StatusPart(Content.styled(state, tone), 0)
    if _is_unknown(status):
        yield StatusPart(Content.styled("reading the folder …", "$foreground"), 2)
    elif _is_building(cover):
        yield from _progress(status)
    else:
        yield StatusPart(Content.styled(plural(cover.notes, "note"), "$foreground"), 2)
    if cover.notes:
        yield StatusPart(_semantic(status), 3)
    if (saved := status.keyword_after_save.p50) is not None:
        yield StatusPart(Content(f"saved→found {milliseconds(saved)}"), 6)
    if status.problems:
        yield StatusPart(Content.styled(plural(len(status.problems), "problem"), "$warning"), 1)


def strip_content(status: Status, room: int) -> Content:
    fitting = list(facts(status))
    while len(fitting) > 1 and _length(fitting) > room:
        fitting.remove(max(fitting, key=lambda fact: fact.rank))
    return Content(_SEPARATOR).join(fact.content for fact in fitting).truncate(max(room, 1), ellipsis=True)


def _is_unknown(status: Status) -> bool:
    is_young = status.state in ("running", "starting") and status.last_reconcile is None
    return is_young and not status.coverage.notes


def _is_building(cover: Coverage) -> bool:
    return cover.text + cover.failed < cover.notes


def _progress(status: Status) -> Iterator[StatusPart]:
    cover = status.coverage
    head = Content.styled(f"indexing {count(cover.text)} of {plural(cover.notes, 'note')}", "$foreground")
    drawn = bar(cover.vectors, cover.text, cover.notes, _BAR_CELLS)
    yield StatusPart(head, 2)
    yield StatusPart(Content.assemble(drawn, f" {percent(cover.text, cover.notes)}"), 5)
    if status.seconds_left is not None:
        yield StatusPart(Content(f"{estimate(status.seconds_left)} left"), 4)


def _semantic(status: Status) -> Content:
    cover = status.coverage
    keyword = "" if _is_building(cover) else f"keyword ready{_SEPARATOR}"
    if status.model_phase is ModelPhase.PREPARING and status.model_detail:
        return Content(f"{keyword}{lowered(clean_line(status.model_detail))}")
    if (phase := _LOADING.get(status.model_phase)) is not None:
        return Content(f"{keyword}{phase}")
    if (phase := _KEYWORD_ONLY.get(status.model_phase)) is not None:
        return Content.styled(phase, "$warning")
    if cover.vectors + cover.failed < cover.notes:
        at_rest = not _is_building(cover) and status.seconds_left is not None
        left = f", {estimate(status.seconds_left or 0)} left" if at_rest else ""
        return Content(f"{keyword}semantic {percent(cover.vectors, cover.notes)}{left}")
    return Content("keyword and semantic ready")


def _length(fitting: list[StatusPart]) -> int:
    return sum(fact.content.cell_length for fact in fitting) + cell_len(_SEPARATOR) * (len(fitting) - 1)


class StatusStrip(Widget):
    """Show the newest `Status`, or that the vault is being opened."""

    status: reactive[Status | None] = reactive[Status | None](None)
    trouble: reactive[str] = reactive("")

    def __init__(self, expected: int = 0, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        self._expected = expected

    def on_click(self) -> None:
        self.post_message(GoTo("activity"))

    def render(self) -> Content:
        if self.trouble:
            return Content.styled(clean_line(self.trouble), "$warning")
        if self._expected and (self.status is None or _is_unknown(self.status)):
            drawn = bar(0, 0, self._expected, _BAR_CELLS)
            return Content.assemble((f"indexing {plural(self._expected, 'note')}", "$foreground"), _SEPARATOR, drawn)
        if self.status is None:
            return Content("opening the vault …")
        return strip_content(self.status, self.content_size.width)
