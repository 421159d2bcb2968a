"""Meetings in one vault of customer calls, 1:1s and interviews: what each draft quotes is for its people."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.drafts import drafted, mixed, mixed_notes, source_of, words
from bench.program import Home

pytestmark = pytest.mark.usefixtures("alone")

TELLING = ("m01", "m05", "m07", "m09", "m12", "m15")
"""A weekly, a call, two 1:1s, an interview and a board meeting; `python -m bench.drafts` drafts all thirty."""


@pytest.mark.slow
async def test_nothing_leaks_from_one_meeting_into_another(tmp_path: Path) -> None:
    found, drafts = await mixed(Home(tmp_path / "home"), None, TELLING)
    assert drafts == len(TELLING)
    assert (found.leaks, found.wrong, found.missing) == ([], [], [])
    assert all(found.lasts)
    assert all(found.found)


def test_expected_values_are_parsed_from_notes_and_drafts() -> None:
    weekly = source_of(mixed_notes()["Meetings/2026-01-13-platform-weekly.md"])
    assert words("The cut-over moves to 4 December.") in weekly.decisions
    assert weekly.boxes == [
        words("Write the runbook for the queue (Cleo)"),
        words("Ask finance about the second region (Ana)"),
    ]
    assert words("Cleo measured the new queue: 4,000 messages a second on one node (Ben L.") not in weekly.units
    draft = drafted(
        "# A\n\n## Last time\n\n[[a|b]], 1 May 2026\n\nNotes:\n\n- One \\#two\n\n## Open tasks\n\n- Pay ([[c]])\n"
    )
    assert (draft.last, draft.quoted, draft.carried) == ("a.md", ("One #two",), ("Pay",))
