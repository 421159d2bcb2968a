"""The Activity screen: the state of the index, recent events, problems, and performance figures."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace

from textual import work
from textual.app import ComposeResult
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.content import Content
from textual.getters import query_one

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.activity import figures
from donna_tui.tui.activity.log import EventLog, LogFilter
from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.dialogs import DetailScreen, Facts, RefusalScreen, one_dialog, showing_errors
from donna_tui.tui.lib.error_messages import REASONS, Refusal, reason_title, sentence
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.humanize import count, moment, next_try
from donna_tui.tui.lib.inputs import SectionTabs
from donna_tui.tui.lib.lines import CursorView, RowList
from donna_tui.tui.lib.messages import ActionsChanged, EngineEvents, StatusChanged
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.status import Problem, Status

ROOMY = (100, 24)
"""Cells and lines of the pane from which all its parts are visible at once."""

_SECTIONS = ("-log", "-problems", "-figures")


class ActivityPane(Vertical):
    """Draw every `Status` and every event from the bridge; there is no work while nothing happens."""

    BINDINGS = bindings("activity")

    overview = query_one(figures.Overview)
    log_filter = query_one(LogFilter)
    event_log = query_one("#log", EventLog)
    problems = query_one("#problems", figures.ProblemList)
    sections = query_one("#sections", SectionTabs)

    def __init__(self, programs: ExternalPrograms) -> None:
        super().__init__(id="activity", classes="-log -calm -unknown")
        self._backend: Backend | None = None
        self._status: Status | None = None

    def compose(self) -> ComposeResult:
        yield SectionTabs(id="sections")
        with Horizontal(id="band"):
            yield figures.Overview(id="overview", classes="panel part")
            with VerticalScroll(id="coverage", classes="panel part figures", can_focus=False):
                yield figures.FigureTable(id="coverage-figures")
            with VerticalScroll(id="facts", classes="panel part figures", can_focus=False):
                yield figures.FigureTable(id="latency-figures")
                yield figures.FigureTable(id="engine-figures")
        with Vertical(id="log-part", classes="panel part"):
            yield LogFilter(id="log-filter")
            yield EventLog(id="log")
        yield figures.ProblemList(id="problems", classes="panel part")

    def on_mount(self) -> None:
        self.log_filter.field.focus_after = lambda: self.event_log
        for selector, title in (("#overview", "Index"), ("#coverage", "Notes"), ("#facts", "Performance")):
            self.query_one(selector).border_title = Content(title)
        self._show_log()
        self._show_sections()

    def connect(self, backend: Backend) -> None:
        self._backend = backend
        self._set_status(backend.status())

    def cannot_open(self, error: DonnaError) -> None:
        self.overview.refuse(error)
        self.event_log.empty_text = "The log starts once the vault is open."

    def action_state(self, base: ActionState) -> ActionState:
        problem = self.problems.selected
        problems = self._status.problems if self._status is not None else ()
        return replace(
            base,
            problem=problem is not None,
            retryable=problem is not None and problem.retryable,
            # only missing notes can be accepted by resuming, unlike a missing folder
            paused=any(each.reason is Reason.MASS_DISAPPEARANCE for each in problems),
        )

    def focus_first(self) -> None:
        self.remove_class("-zoomed")
        self._draw()
        if self.has_class("-compact"):
            (self.event_log, self.problems, self.sections)[self.sections.chosen].focus()
        else:
            self.event_log.focus()

    def on_show(self) -> None:
        self._draw()

    def go_back(self) -> None:
        """Close the filter, or follow the log."""
        if self.has_class("-filtering"):
            self.log_filter.clear()
            self.remove_class("-filtering")
            self.event_log.focus()
        elif not self.event_log.following:
            self.event_log.follow()

    def on_resize(self) -> None:
        """Show one part at a time if there is no room for all."""
        self.set_class(self.size.width < ROOMY[0] or self.size.height < ROOMY[1], "-compact")
        self._show_log()
        self._show_sections()

    def on_status_changed(self, event: StatusChanged) -> None:
        self._set_status(event.status)

    def on_engine_events(self, event: EngineEvents) -> None:
        self.event_log.add(event.events, missed=event.dropped, draw=self.display)

    def on_event_log_changed(self, event: EventLog.Changed) -> None:
        event.stop()
        if self.display:
            self._show_log()

    def on_cursor_view_opened(self, event: CursorView.Opened) -> None:
        event.stop()
        self.action_activity_details()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        event.stop()
        self.post_message(ActionsChanged())

    def on_log_filter_changed(self, event: LogFilter.Changed) -> None:
        event.stop()
        self.event_log.narrow(event.text, event.kind)

    def on_section_tabs_chosen(self, event: SectionTabs.Chosen) -> None:
        event.stop()
        for index, name in enumerate(_SECTIONS):
            self.set_class(index == event.index, name)

    def action_activity_details(self) -> None:
        problem = self.problems.selected
        if self.screen.focused is not self.problems:
            self.event_log.open_selected()
        elif problem is not None:
            self.app.push_screen(DetailScreen(reason_title(problem.reason), facts_of(problem)))

    def action_view_zoom(self) -> None:
        self.toggle_class("-zoomed")
        self.set_class(self.screen.focused is self.problems, "-on-problems")

    def action_activity_pause(self) -> None:
        self.event_log.toggle_pause()

    def action_activity_filter(self) -> None:
        self.sections.chosen = 0
        self.remove_class("-on-problems")
        self.add_class("-filtering")
        self.log_filter.field.focus()

    action_search_focus = action_activity_filter

    def action_activity_retry(self) -> None:
        problem = self.problems.selected
        if problem is not None and self._backend is not None:
            self._request(lambda backend: backend.retry(problem.path))

    def action_activity_retry_all(self) -> None:
        self._request(lambda backend: backend.retry(), "Rescanning the vault and retrying failed notes.")

    @one_dialog("resume")
    async def action_activity_resume(self) -> None:
        """Ask before the missing notes leave the index, named in the problem."""
        problems = self._status.problems if self._status is not None else ()
        messages = (each.message for each in problems if each.reason is Reason.MASS_DISAPPEARANCE)
        step = "This removes them from the index. No file is changed; if a note reappears, it is indexed again."
        refusal = Refusal("Were these notes deleted?", sentence(next(messages, "")), step)
        if await self.app.push_screen_wait(RefusalScreen(refusal, does="remove from the index")):
            self._request(lambda backend: backend.resume())

    @work(group="request")
    async def _request(self, request: Callable[[Backend], Awaitable[None]], words: str = "") -> None:
        with showing_errors(self):
            if self._backend is not None:
                await request(self._backend)
                if words:
                    self.notify(words, timeout=4)

    def _set_status(self, status: Status) -> None:
        """Store the status, and draw it if visible: while an index is built there are ten per second."""
        self._status = status
        if self.display:
            self._draw()

    def _draw(self) -> None:
        status = self._status
        if status is None:
            return
        self.remove_class("-unknown")
        self.overview.show(status)
        self.query_one("#coverage-figures", figures.FigureTable).figures = tuple(figures.coverage_figures(status))
        self.query_one("#latency-figures", figures.FigureTable).figures = tuple(figures.latency_figures(status))
        self.query_one("#engine-figures", figures.FigureTable).figures = tuple(figures.engine_figures(status))
        if status.problems != self.problems.items:
            self.problems.set_items(status.problems, otherwise=self.problems.selected_index)
        self.set_class(not status.problems, "-calm")
        self._show_log()
        self._show_sections()
        self.post_message(ActionsChanged())

    def _show_sections(self) -> None:
        number = len(self._status.problems) if self._status is not None else 0
        attention = f"Needs attention {count(number)}" if number else "Needs attention"
        self.sections.names = ("Events", attention, "Figures")
        self.problems.border_title = Content("" if self.has_class("-compact") else attention)

    def _show_log(self) -> None:
        part, ring = self.query_one("#log-part"), self.event_log.ring
        state = Content(self.event_log.state_words())
        part.border_title = state if self.has_class("-compact") else Content("Events")
        part.border_subtitle = state
        if ring.filtered:
            self.event_log.empty_text = "No event matches the filter."
        elif self._status is None:
            self.event_log.empty_text = "Changes to your notes will be listed here."
        else:
            self.event_log.empty_text = "No events yet. Save a note, and it appears here."


def facts_of(problem: Problem) -> Facts:
    return (
        ("", sentence(problem.message)),
        ("What helps", sentence(problem.hint) or (REASONS[problem.reason].step if problem.path else "")),
        ("Note", clean_line(problem.path)),
        ("Since", moment(problem.since) if problem.since else ""),
        ("Next try", next_try(problem.next_try)),
    )
