"""The start page of the Search screen, and the facts it shows. Facts that fail to load are left out."""

from __future__ import annotations

import datetime
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial, partialmethod
from time import time
from typing import TYPE_CHECKING, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.widget import Widget

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import BlankColumn, BlankRow, make_panel
from donna_tui.tui.lib.humanize import age, local_day, near_day, plural, task_title
from donna_tui.tui.lib.jump import JumpTarget
from donna_tui.tui.lib.lines import row_of
from donna_tui.tui.lib.messages import ActionsChanged, GoTo, OpenMeeting, OpenNote
from donna_tui.types.errors import DonnaError
from donna_tui.types.search import NameMatch
from donna_tui.types.status import Status

if TYPE_CHECKING:
    from donna_tui.types.drafts import MeetingRow
    from donna_tui.types.memory import TaskRow

MAX_RECENT = 40
MAX_TASKS = 20
_PARENT = 16
"""Characters of the title of a task that are shown before that of its sub-task, in half of the screen."""

_BORDERS = 2
_ROOM_FOR_SYNTAX = 26

SYNTAX = (
    ('"two words"', "this exact phrase"),
    ("-word", "without it"),
    ("path:Projects", "path contains this"),
    ("tag:idea", "with this tag"),
    ("type:meeting", "notes of this type"),
    ("after:7d", "from the last week"),
)


@dataclass
class RepeatSearch(Message):
    """Posted when a question is chosen to be asked again."""

    question: str


@dataclass(frozen=True, slots=True)
class StartLine:
    """A line with content aligned right. `opens` builds the message that opens it, if it can be opened."""

    text: Content
    side: Content = field(default_factory=Content)
    opens: Callable[[], Message] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class StartFacts:
    """The unformatted data of the start page, from the engine."""

    recent: tuple[NameMatch, ...] = ()
    questions: tuple[str, ...] = ()
    example: str = ""
    tasks: tuple[TaskRow, ...] = ()
    meetings: tuple[MeetingRow, ...] = ()
    drafts: int = 0


class StartPanel(Widget):
    """Lines in a titled box, as many as fit its height."""

    def __init__(self, title: str, *, id: str) -> None:  # noqa: A002
        super().__init__(id=id)
        make_panel(self, title)
        self.lines: tuple[StartLine, ...] = ()
        self._selected: int | None = None

    def show(self, lines: tuple[StartLine, ...], selected: int | None) -> None:
        if (lines, selected) != (self.lines, self._selected):
            self.lines, self._selected = lines, selected
            self.refresh()

    def render(self) -> Content:
        width = self.content_size.width
        return Content("\n").join(self._row(index, line, width) for index, line in enumerate(self.lines))

    def on_click(self, event: events.Click) -> None:
        offset = event.get_content_offset(self)
        opens = self.lines[offset.y].opens if offset is not None and offset.y < len(self.lines) else None
        if opens is not None:
            event.stop()
            self.post_message(opens())

    def _row(self, index: int, line: StartLine, width: int) -> Content:
        is_selected = index == self._selected
        mark = Content.styled("▌", "$accent") if is_selected else Content(" ")
        row = Content.assemble(mark, row_of(line.text, line.side, max(width - 1, 1)))
        return row.stylize_before("bold on $row-selected") if is_selected else row


class StartPage(BlankColumn, can_focus=True, inherit_bindings=False):
    """Panels with one cursor for all of their lines, which moves even while the search box has the focus."""

    BINDINGS = bindings("list")

    recent = query_one("#start-recent", StartPanel)
    searches = query_one("#start-searches", StartPanel)
    upcoming = query_one("#start-upcoming", StartPanel)
    example = query_one("#start-try", StartPanel)

    def __init__(self, first_notes: tuple[NameMatch, ...] = ()) -> None:
        super().__init__(id="start")
        self.facts = StartFacts(recent=first_notes)
        self._status: Status | None = None
        self._now = 0.0
        self._cursor: int | None = None

    def compose(self) -> ComposeResult:
        with BlankRow(id="start-columns"):
            with BlankColumn(classes="start-column"):
                yield StartPanel("Recent", id="start-recent")
                yield StartPanel("Recent searches", id="start-searches")
            with BlankColumn(classes="start-column"):
                yield StartPanel("Coming up", id="start-upcoming")
                yield StartPanel("Try", id="start-try")

    @property
    def selected(self) -> StartLine | None:
        lines = [line for _, _, line in self._openable()]
        return lines[self._cursor] if self._cursor is not None and self._cursor < len(lines) else None

    def show(self, facts: StartFacts, status: Status | None, now: float) -> None:
        self.facts, self._status, self._now = facts, status, now
        self._lay_out()

    def leave(self) -> None:
        self._put(None)

    def open_selected(self) -> bool:
        """Open the line under the cursor. Return False if there is none."""
        line = self.selected
        if line is None or line.opens is None:
            return False
        self._open(line.opens)
        return True

    def jump_targets(self) -> list[JumpTarget]:
        return [
            JumpTarget(panel.content_region.x, panel.content_region.y + row, partial(self._open, line.opens))
            for panel, row, line in self._openable()
            if line.opens is not None
        ]

    def on_focus(self) -> None:
        if self._cursor is None:
            self._put(0)

    def on_resize(self) -> None:
        self._lay_out()

    def action_cursor_down(self) -> None:
        self._put(0 if self._cursor is None else self._cursor + 1)

    def action_cursor_up(self) -> None:
        """Move the cursor up; above the first line it is removed if the search box has the focus."""
        if self._cursor:
            self._put(self._cursor - 1)
        elif not self.has_focus:
            self._put(None)

    def action_last(self) -> None:
        self._put(len(self._openable()) - 1)

    def _turn(self, by: int) -> None:
        places = self._openable()
        firsts = [number for number, (_, row, _) in enumerate(places) if row == 0]
        here = max((first for first in firsts if first <= (self._cursor or 0)), default=0)
        self._put(firsts[max(0, min(firsts.index(here) + by, len(firsts) - 1))] if firsts else None)

    action_page_down = partialmethod(_turn, 1)
    action_page_up = partialmethod(_turn, -1)

    def _open(self, opens: Callable[[], Message]) -> None:
        """Post the message later, as from this widget: Textual lets no message bubble past the widget that sends it."""
        self.call_later(lambda: self.post_message(opens()))

    def _put(self, cursor: int | None) -> None:
        count = len(self._openable())
        self._cursor = max(0, min(cursor, count - 1)) if cursor is not None and count else None
        self._draw()
        self.post_message(ActionsChanged())

    action_first = partialmethod(_put, 0)

    def _panels(self) -> tuple[StartPanel, ...]:
        return (self.recent, self.searches, self.upcoming, self.example)

    def _openable(self) -> list[tuple[StartPanel, int, StartLine]]:
        """Return panel, row and line of everything that can be opened, in the order of the cursor."""
        return [
            (panel, row, line)
            for panel in self._panels()
            if panel.display
            for row, line in enumerate(panel.lines)
            if line.opens is not None
        ]

    def _lay_out(self) -> None:
        room = max(self.size.height, 4)
        facts, now, status = self.facts, self._now, self._status
        searches = tuple(
            StartLine(Content(clean_line(question)), opens=partial(RepeatSearch, question))
            for question in facts.questions[: max(2, (room - 2 * _BORDERS) // 3)]
        )
        recent = _recent(facts.recent[: room - _BORDERS - (len(searches) + _BORDERS if searches else 0)], now)
        tried = _tried(facts.example, with_syntax=self.size.height >= _ROOM_FOR_SYNTAX)
        upcoming = _upcoming(facts, now)[: room - _BORDERS - (len(tried) + _BORDERS if tried else 0)]
        self._fill(self.searches, searches)
        self._fill(self.example, tried)
        self.recent.show(recent or (StartLine(_opening(status)),), None)
        is_read = status is not None and status.last_reconcile is not None and not status.queued
        nothing = "Nothing is due." if is_read else ""
        self.upcoming.show(upcoming or (StartLine(Content.styled(nothing, "$text-disabled")),), None)
        self._draw()

    def _fill(self, panel: StartPanel, lines: tuple[StartLine, ...]) -> None:
        """Fit a panel to its lines, and hide it if there are none."""
        panel.show(lines, None)
        height = len(lines) + _BORDERS
        if panel.display != bool(lines) or panel.styles.height is None or panel.styles.height.value != height:
            panel.display = bool(lines)
            panel.styles.height = height

    def _draw(self) -> None:
        places = self._openable()
        if self._cursor is not None:
            self._cursor = min(self._cursor, len(places) - 1) if places else None
        at = places[self._cursor][:2] if self._cursor is not None else None
        for panel in self._panels():
            panel.show(panel.lines, at[1] if at is not None and at[0] is panel else None)


def _recent(notes: Iterable[NameMatch], now: float) -> tuple[StartLine, ...]:
    """Format the notes changed last, with their folder if it fits."""
    return tuple(
        StartLine(
            Content.assemble(
                clean_line(note.name), (f"  {clean_line(note.path.rpartition('/')[0])}", "$text-disabled")
            ),
            Content.styled(age(note.modified_at, now), "$text-disabled"),
            partial(OpenNote, note.path),
        )
        for note in notes
    )


def _tried(example: str, *, with_syntax: bool) -> tuple[StartLine, ...]:
    question = Content.styled(f"“{clean_line(example)}”", "$text-accent")
    searches = [StartLine(question, opens=partial(RepeatSearch, example))] if example else []
    width = max(len(name) for name, _ in SYNTAX)
    syntax = (
        StartLine(Content.assemble((name.ljust(width), "$text-muted"), (f"  {does}", "$text-disabled")))
        for name, does in SYNTAX
    )
    return (*searches, *(syntax if with_syntax else ()))


def _upcoming(facts: StartFacts, now: float) -> tuple[StartLine, ...]:
    """Format the number of waiting drafts, the next meetings, and the due tasks."""
    today = local_day(now)
    drafts = Content.styled(f"{plural(facts.drafts, 'draft')} to review", "$text-accent")
    return (
        *([StartLine(drafts, opens=partial(GoTo, "review"))] if facts.drafts else []),
        *(_meeting(row, today) for row in facts.meetings),
        *(_task(task, today) for task in facts.tasks),
    )


def _meeting(row: MeetingRow, today: datetime.date) -> StartLine:
    meeting = row.meeting
    hour = "all day" if meeting.all_day else f"{meeting.start.astimezone():%H:%M}"
    when = Content.styled(f"{hour} ".ljust(7), "$text-accent" if meeting.day == today else "$text-muted")
    side = "" if meeting.day == today else _day_words(meeting.day, today)
    return StartLine(
        Content.assemble(when, clean_line(meeting.title)),
        Content.styled(" · ".join(filter(None, (side, "draft" if row.draft else ""))), "$text-disabled"),
        partial(OpenMeeting, meeting.event_id, meeting.day),
    )


def _task(task: TaskRow, today: datetime.date) -> StartLine:
    from donna_tui.tui.lib.markdown import inline

    title = task_title(inline(task.parent).plain, inline(task.title).plain, _PARENT)
    due = today
    with suppress(ValueError):
        due = datetime.date.fromisoformat(task.due)
    side = Content.styled(_day_words(due, today), "$text-warning" if due < today else "$text-disabled")
    return StartLine(Content.assemble(("☐ ", "$text-muted"), title), side, partial(OpenNote, task.note, task.line))


def _day_words(day: datetime.date, today: datetime.date) -> str:
    written = f"{day:%a}" if 1 < (day - today).days < 7 else f"{day:%d %b}".lstrip("0")
    return near_day(day, today) or written


def _opening(status: Status | None) -> Content:
    is_open = status is not None and status.state not in ("starting", "")
    return Content.styled("Reading the folder …" if is_open else "Opening the vault …", "$text-muted")


T = TypeVar("T")

_RUNNING_SECONDS, _AHEAD_SECONDS = 3600.0, 7 * 86_400.0
_MAX_MEETINGS = 6


async def start_facts(backend: Backend, known: StartFacts, *, in_full: bool) -> AsyncIterator[StartFacts]:
    """Yield facts in growing numbers: notes and questions first; with `in_full`, the memory and calendar next."""
    facts = replace(
        known,
        recent=await _or_default(backend.recent_notes(MAX_RECENT), known.recent),
        questions=await _or_default(backend.questions(), known.questions),
    )
    yield facts
    if not in_full:
        return
    facts = replace(facts, tasks=await _or_default(backend.tasks_due(MAX_TASKS), ()))
    if not facts.example:
        facts = replace(facts, example=await _or_default(backend.example_question(), ""))
    yield facts
    yield await _with_drafts(backend, facts)


async def _with_drafts(backend: Backend, facts: StartFacts) -> StartFacts:
    from donna_tui.types.drafts import DraftState, MeetingState

    now = time()
    try:
        drafts = await backend.drafts.drafts()
        meetings = await backend.calendar.meetings(now - _RUNNING_SECONDS, now + _AHEAD_SECONDS)
    except DonnaError:
        return replace(facts, drafts=0, meetings=())
    waiting = sum(draft.state is DraftState.WAITING for draft in drafts)
    upcoming = [
        row for row in meetings if row.meeting.end.timestamp() > now and row.state is not MeetingState.CANCELLED
    ]
    return replace(facts, drafts=waiting, meetings=tuple(upcoming[:_MAX_MEETINGS]))


async def _or_default(answer: Awaitable[T], otherwise: T) -> T:
    try:
        return await answer
    except DonnaError:
        return otherwise
