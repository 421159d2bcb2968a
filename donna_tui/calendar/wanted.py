"""Decide which meetings get a draft by themselves (SPEC D10)."""

from __future__ import annotations

from collections.abc import Collection

from donna_tui.config.calendars import Notes
from donna_tui.drafting import Meeting


def why_no_draft(meeting: Meeting, me: Collection[str], rule: Notes, without_notes: Collection[str]) -> str:
    """Why no draft of a meeting is written by itself, in a sentence; empty if one is.

    `me` are the user's names and addresses; where they are not known, one of the people invited is taken for the user.
    `rule` is that of its calendar, `without_notes` the series that the user
    wants no notes of. A draft can be asked for in any case.
    """
    if without_notes and {meeting.series_id, meeting.event_id} & set(without_notes):
        return "You want no notes of this series." if meeting.series_id else "You want no notes of this meeting."
    if rule == "never":
        return "Meetings of this calendar get no notes."
    if meeting.cancelled:
        return "It was cancelled."
    if meeting.all_day:
        return "It takes whole days."
    own = {each.strip().casefold() for each in me}
    mine = [each for each in meeting.attendees if {each.name.casefold(), each.email.casefold()} & own]
    if any(each.declined for each in mine):
        return "You declined it."
    if rule == "meetings" and len(meeting.attendees) - len(mine) < (1 if own else 2):
        return "Nobody else is invited."
    return ""
