"""A meeting with the state of its note, as the agenda shows it."""

from __future__ import annotations

import datetime

from donna_tui.drafting import DraftState, Meeting, MeetingRow, MeetingState
from donna_tui.drafts import queue
from donna_tui.drafts.queue import Entry

SOON_SECONDS = 180.0
"""A meeting that has ended since is looked at in a moment."""

_STATES = {
    DraftState.WAITING.value: MeetingState.DRAFTED,
    DraftState.APPROVED.value: MeetingState.WRITTEN,
    DraftState.REJECTED.value: MeetingState.REJECTED,
    DraftState.FAILED.value: MeetingState.FAILED,
    DraftState.GONE.value: MeetingState.REJECTED,
    queue.COMPOSING: MeetingState.DUE,
    queue.READY: MeetingState.DUE,
}


def meeting_row(meeting: Meeting, entry: Entry | None, note: str, now: datetime.datetime) -> MeetingRow:
    """The row; `note` is the path of a note of the meeting that the queue does not know, or empty."""
    if entry is not None:
        row = entry.row()
        return MeetingRow(meeting=meeting, state=_STATES[entry.state], detail=row.detail, draft=entry.id, path=row.path)
    if note:
        return MeetingRow(meeting=meeting, state=MeetingState.WRITTEN, path=note)
    return MeetingRow(meeting=meeting, state=_state(meeting, now))


def _state(meeting: Meeting, now: datetime.datetime) -> MeetingState:
    if meeting.cancelled:
        return MeetingState.CANCELLED
    if now < meeting.start:
        return MeetingState.COMING
    if now < meeting.end:
        return MeetingState.NOW
    just_over = (now - meeting.end).total_seconds() < SOON_SECONDS
    return MeetingState.DUE if just_over and not meeting.all_day else MeetingState.ENDED
