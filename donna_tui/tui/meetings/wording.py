"""The texts and the agenda of the Meetings screen, without widgets."""

from __future__ import annotations

import datetime
from collections.abc import Iterable
from dataclasses import dataclass, replace

from donna_tui.text.plural import first_of
from donna_tui.tui.lib.error_messages import lowered, sentence
from donna_tui.tui.lib.humanize import moment, near_day, one_line, plural
from donna_tui.tui.lib.inputs import NoticeText
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.types.drafts import CalendarRow, MeetingRow, MeetingState

LOADING = NoticeText("Loading your meetings …", is_loading=True)
NO_CALENDAR = NoticeText(
    "Donna follows no calendar yet.",
    "Before each meeting Donna writes a brief, which becomes its note. Add a calendar: a file, a folder, an address or "
    "a CalDAV account.",
    examples=(("donna meetings import FILE", "read an .ics file once"),),
    actions=(("meetings.add", "add a calendar"),),
)

_BRIEF_TEXT = "Its brief is ready: type your notes into it, and approve it afterwards."


_DAYS_OF_WEEK = 7
WITH_PREVIEW = (MeetingState.COMING, MeetingState.NOW, MeetingState.ENDED, MeetingState.DUE, MeetingState.FAILED)
_STATE_TEXTS = {
    MeetingState.COMING: "Its brief is written shortly before it begins; this is what it would say now.",
    MeetingState.NOW: "This is what its brief would say.",
    MeetingState.ENDED: "Over, without a note. This is what the note would say.",
    MeetingState.DUE: "Over; its draft will be written soon. This is what it would say now.",
    MeetingState.DRAFTED: "Its draft is waiting in Review.",
    MeetingState.WRITTEN: "Its note has been written.",
    MeetingState.REJECTED: "Its draft was rejected, so none is written automatically again.",
    MeetingState.FAILED: "Its draft could not be written.",
    MeetingState.CANCELLED: "It was cancelled: no note is written.",
}


@dataclass(frozen=True, slots=True)
class Agenda:
    """A local day, or the week from Monday on that contains it."""

    day: datetime.date
    is_week: bool = True

    @property
    def first(self) -> datetime.date:
        return self.day - datetime.timedelta(self.day.weekday()) if self.is_week else self.day

    @property
    def length(self) -> int:
        return _DAYS_OF_WEEK if self.is_week else 1

    @property
    def bounds(self) -> tuple[float, float]:
        """Return the start of the span and of the next one: Unix times of local midnights."""
        return midnight(self.first), midnight(self.first + datetime.timedelta(self.length))

    def step(self, by: int) -> Agenda:
        """Move by a number of days or weeks; return itself beyond the range of dates."""
        try:
            moved = replace(self, day=self.day + datetime.timedelta(by * self.length))
            _ = moved.bounds
        except (OverflowError, ValueError, OSError):
            return self
        return moved

    def title(self, today: datetime.date) -> str:
        """Format the span: `Fri 20 Nov 2026, today`, or `Week 47 · 16 Nov – 22 Nov 2026`."""
        if not self.is_week:
            return day_title(self.day, today)
        last = self.first + datetime.timedelta(_DAYS_OF_WEEK - 1)
        this = ", this week" if self.first <= today <= last else ""
        return f"Week {self.first.isocalendar().week}{this} · {_short(self.first)} – {_short(last)} {last.year}"


def midnight(day: datetime.date) -> float:
    """Return the Unix time at which a local day begins. Raises OverflowError, ValueError or OSError out of range."""
    return datetime.datetime.combine(day, datetime.time()).astimezone().timestamp()


def day_title(day: datetime.date, today: datetime.date) -> str:
    """Format a day: `Fri 20 Nov 2026, today`."""
    near = near_day(day, today)
    return f"{day:%a} {_short(day)} {day.year}{f', {near}' if near else ''}"


def calendars_line(calendars: Iterable[CalendarRow]) -> tuple[str, str]:
    """Format the followed calendars with the time of the last reading; and the problems of any of them."""
    rows = tuple(calendars)
    fine = [row for row in rows if not row.problem]
    read = max((row.fetched_at for row in fine if row.fetched_at is not None), default=None)
    names = first_of([one_line(row.name) for row in fine], 4, " · ")
    when = f", read {moment(read)}" if read is not None else ", not read yet" if fine else ""
    problems = " ".join(f"{one_line(row.name)}: {sentence(one_line(row.problem))}" for row in rows if row.problem)
    return f"{names}{when}", problems


def state_text(row: MeetingRow, now: float, *, being_written: bool) -> str:
    if being_written:
        return "Its draft is being written …"
    if row.unwanted and row.state in (MeetingState.COMING, MeetingState.NOW, MeetingState.ENDED, MeetingState.DUE):
        write = shown_key("meetings.write")
        return f"No draft is written automatically: {lowered(row.unwanted)} {write} writes one anyway."
    if row.meeting.cancelled and row.state is not MeetingState.CANCELLED:
        return " ".join(filter(None, (sentence(one_line(row.detail)) or "It was cancelled.", _key_hint(row))))
    is_brief = row.state is MeetingState.DRAFTED and row.meeting.end.timestamp() > now
    parts = [
        _BRIEF_TEXT if is_brief else _STATE_TEXTS[row.state],
        sentence(one_line(row.detail)) if row.detail else "",
        _key_hint(row),
    ]
    return " ".join(filter(None, parts))


def _key_hint(row: MeetingRow) -> str:
    if row.state in (MeetingState.DRAFTED, MeetingState.WRITTEN):
        return f"{shown_key('meetings.open')} opens it."
    if row.state in (MeetingState.FAILED, MeetingState.ENDED):
        return f"{shown_key('meetings.write')} writes the draft now."
    return ""


def is_in_review(row: MeetingRow) -> bool:
    return bool(row.draft) and row.state in (MeetingState.DRAFTED, MeetingState.FAILED)


def why_no_note(row: MeetingRow | None) -> str:
    if row is None or row.path or is_in_review(row):
        return ""
    if row.state is MeetingState.CANCELLED:
        return "It was cancelled: it has no note."
    return f"It has no draft or note yet. {shown_key('meetings.write')} writes the draft now."


def why_no_draft_now(row: MeetingRow | None, *, being_written: bool) -> str:
    if being_written:
        return "Its draft is being written."
    if row is not None and row.state in (MeetingState.DRAFTED, MeetingState.WRITTEN):
        what = "a draft" if row.state is MeetingState.DRAFTED else "a note"
        return f"It already has {what}. {shown_key('meetings.open')} opens it."
    return "It was cancelled." if row is not None and row.state is MeetingState.CANCELLED else ""


def rests_on(number: int) -> str:
    return f"{plural(number, 'source')}" if number else "no source was found"


def _short(day: datetime.date) -> str:
    return f"{day.day} {day:%b}"
