"""Which meetings get a draft automatically."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.calendar.mirror import series_without_notes, want_notes
from donna_tui.calendar.poller import ONLY_PERHAPS_ME, why_no_draft
from donna_tui.config.calendars import Notes
from donna_tui.memory.database import open_db
from donna_tui.types.drafts import Attendee, Meeting
from tests.unit.calendar_parts import meeting, utc

ME = ("Ana Lima", "ana@example.org")
ANA, BEN = Attendee("Ana", "Ana@Example.org"), Attendee("Ben Lee", "ben@example.org")
WEEKLY = meeting("weekly/1", utc(2024, 5, 20, 9), series_id="weekly", attendees=(ANA, BEN))


@pytest.mark.parametrize(
    ("found", "rule", "why"),
    [
        (WEEKLY, "meetings", ""),
        (WEEKLY, "never", "Notes are turned off for this calendar."),
        (replace(WEEKLY, cancelled=True), "all", "It was cancelled."),
        (replace(WEEKLY, all_day=True), "all", "It is an all-day event."),
        (replace(WEEKLY, attendees=(ANA,)), "meetings", "No one else is invited."),
        (replace(WEEKLY, attendees=()), "meetings", "No one else is invited."),
        (replace(WEEKLY, attendees=()), "all", ""),
        (replace(WEEKLY, attendees=(replace(ANA, declined=True), BEN)), "all", "You declined it."),
        (replace(WEEKLY, attendees=(ANA, replace(BEN, declined=True))), "meetings", ""),
    ],
)
def test_a_draft_is_for_a_meeting_with_others_that_was_accepted(found: Meeting, rule: Notes, why: str) -> None:
    assert why_no_draft(found, ME, rule, ()) == why


def test_a_series_can_be_left_without_notes_and_be_wanted_again(tmp_path: Path) -> None:
    db = open_db(tmp_path)
    try:
        want_notes(db, WEEKLY, wanted=False)
        want_notes(db, WEEKLY, wanted=False)
        unwanted = series_without_notes(db.database)
        assert unwanted == {"weekly"}
        other = replace(WEEKLY, event_id="weekly/2")
        assert why_no_draft(other, ME, "all", unwanted) == "Notes are turned off for this series."
        assert why_no_draft(replace(WEEKLY, series_id="", event_id="one"), ME, "all", unwanted) == ""
        want_notes(db, WEEKLY, wanted=True)
        assert series_without_notes(db.database) == frozenset()
    finally:
        db.close()


def test_unnamed_user_is_counted_among_the_attendees() -> None:
    assert why_no_draft(WEEKLY, (), "meetings", ()) == ""
    assert why_no_draft(replace(WEEKLY, attendees=(BEN,)), (), "meetings", ()) == ONLY_PERHAPS_ME
    assert why_no_draft(replace(WEEKLY, attendees=(BEN,)), ME, "meetings", ()) == ""
