"""Whole bullets and sentences of a note are quoted with their own lines, later statements before earlier ones."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.drafts.blocks import Block, Role, blocks_of, is_quotable
from donna_tui.drafts.drafters import sentence_spans
from donna_tui.drafts.passages import IndexedNote
from donna_tui.drafts.quotes import Points, Read, open_boxes, points_of

WEEKLY = """# Weekly

## Notes
- The cut-over is planned for 2 December
- Cleo measured the queue on one node
  and Ben L. saw the same in Lisbon
- Costs were not discussed today

## Decisions
- The cut-over moves to 4 December
- We keep one queue per region

## Action items
- [ ] Write the runbook ⏫ 📅 2026-01-27 ^runbook
- [x] Announce the end of the importer

## Open questions
- Who pays for the second region?
"""


def quoted(text: str, *agenda: str) -> Points:
    return points_of(blocks_of(text), agenda)


def texts(blocks: tuple[Block, ...] | list[Block]) -> list[str]:
    return [block.text for block in blocks]


def read(path: str, text: str) -> Read:
    return Read(note=IndexedNote(path, path, 0.0, {}, False), text=text, blocks=tuple(blocks_of(text)))


def test_decisions_come_first_and_what_they_replace_is_not_quoted() -> None:
    points = quoted(WEEKLY)
    assert texts(points.decisions) == ["The cut-over moves to 4 December", "We keep one queue per region"]
    assert not any("2 December" in each for each in texts(points.notes))


def test_a_bullet_is_quoted_whole_with_its_own_lines() -> None:
    (bullet,) = [each for each in quoted(WEEKLY).notes if "Cleo" in each.text]
    assert bullet.text == "Cleo measured the queue on one node and Ben L. saw the same in Lisbon"
    assert (bullet.start_line, bullet.end_line) == (5, 6)
    assert [(each.start_line, each.end_line) for each in quoted(WEEKLY).decisions] == [(10, 10), (11, 11)]


def test_check_boxes_are_no_quotes_and_open_questions_are() -> None:
    points = quoted(WEEKLY)
    said = [*texts(points.decisions), *texts(points.notes), *texts(points.actions), *texts(points.questions)]
    assert not any("runbook" in each or "Announce" in each for each in said)
    assert texts(points.questions) == ["Who pays for the second region?"]


def test_open_boxes_are_carried_over_once_without_marks_of_plugins() -> None:
    boxes = open_boxes([read("b.md", WEEKLY), read("a.md", WEEKLY)], 10)
    assert [(note.note.path, block.text, block.due) for note, block in boxes] == [
        ("b.md", "Write the runbook", "2026-01-27")
    ]


def test_what_a_later_note_closed_is_not_carried_over() -> None:
    later = WEEKLY.replace("- [ ] Write", "- [x] Write")
    assert open_boxes([read("b.md", later), read("a.md", WEEKLY)], 10) == []
    assert len(open_boxes([read("b.md", WEEKLY), read("a.md", later)], 10)) == 1


@pytest.mark.parametrize(
    ("earlier", "later", "is_replaced"),
    [
        ("The launch is on 3 May", "The launch is moved to 10 May", True),
        ("The launch is on 3 May", "The launch is on 10 May", True),
        ("We use Redis for the sessions", "We use SQLite instead of Redis for the sessions", True),
        ("The old importer stays until March", "The old importer is no longer needed", True),
        ("Release 20.11 is on 9 January", "Release 21.6 is on 15 January", False),
        ("The office opens on 3 May", "The launch is on 10 May", False),
        ("Ana writes the report by Friday", "Ben writes the guide by Monday", False),
        ("We keep one queue per region", "We keep one rota per team", False),
    ],
)
def test_a_later_decision_about_the_same_replaces_an_earlier_one(earlier: str, later: str, is_replaced: bool) -> None:
    said = texts(quoted(f"## Decisions\n- {earlier}\n- {later}\n").decisions)
    assert said == ([later] if is_replaced else [earlier, later])


def test_what_was_struck_out_is_not_quoted() -> None:
    assert texts(quoted("## Decisions\n- ~~Three hires~~\n- One ~~or two~~ hire for support\n").decisions) == [
        "One hire for support"
    ]


def test_the_agenda_orders_what_is_quoted() -> None:
    text = "## Notes\n- Costs went up by a tenth\n- The hut is booked for May\n- Redis is gone since Monday\n"
    assert texts(quoted(text, "Redis", "The hut").notes) == [
        "Redis is gone since Monday",
        "The hut is booked for May",
        "Costs went up by a tenth",
    ]


def test_a_nested_bullet_is_quoted_below_its_own() -> None:
    text = "## Notes\n- Website redesign\n  - Geoffrey agreed to a new text\n- Something else happened there\n"
    assert [(each.depth, each.text) for each in quoted(text).notes] == [
        (0, "Website redesign"),
        (1, "Geoffrey agreed to a new text"),
        (0, "Something else happened there"),
    ]


@pytest.mark.parametrize(
    "line",
    [
        "select split_part(name, '-', 2) from invoices",
        "`kubectl rollout undo deploy/worker`",
        "2026-01-12 07:14:03 ERROR worker stopped unexpectedly",
        "07:14:03 worker stopped unexpectedly",
        "The call of T::m() is slow",
        "Join: https://meet.example/abc",
        "Join Zoom Meeting",
        "Dial by your location",
        "Click `+GoogleCalendar` at the bottom right to add to your own Google calendar.",
        "Meeting ID: 123 456 789",
        "No announcements this week",
        "https://github.com/openjs-foundation/cross-project-council/labels/waiting-on-board",
        "skipped, not enough time this week",
        "Decision: none",
        "Skipped for this week",
        "No updates from the board",
        "None",
        "N/A",
    ],
)
def test_what_says_nothing_is_not_quoted(line: str) -> None:
    assert texts(quoted(f"## Decisions\n- {line}\n- We keep one queue\n").decisions) == ["We keep one queue"]


@pytest.mark.parametrize(
    "line",
    [
        "No deploys on Fridays",
        "Yes to the second data centre",
        "Same venue as last year",
        "Done means merged and deployed",
        "Nothing is deleted before the audit",
        "Skip the retro in December",
        "Notes go to the wiki from now on",
        "No objections from the 8 members",
        "No changes before the audit, please",
        "Docker images move to another registry",
        "npm does not have a policy for long-term support",
        "Public beta: 3 May",
        "Return policy: 30 days",
        "Select a vendor from the shortlist by Friday",
        "Queue moves from region A -> region B",
        "Recording of customer calls needs consent",
        "Location: Lisbon",
        "Budget 2026: 120,000.00",
        "Redis: no",
    ],
)
def test_a_decision_in_ordinary_words_is_quoted(line: str) -> None:
    assert texts(quoted(f"## Decisions\n- {line}\n").decisions) == [line]


def test_only_a_name_before_it_makes_to_an_outcome() -> None:
    remarks = "".join(f"- remark {word} made to us about costs\n" for word in "abcdefghijkl")
    text = f"## Notes\n{remarks}- Ruben to write the runbook\n"
    assert "Ruben to write the runbook" in texts(quoted(text).notes)


def test_a_paragraph_that_reports_a_decision_is_quoted_beside_bullets() -> None:
    text = (
        "## Notes\n- The queue was slow again\n- Costs went up by a tenth\n\nWe agreed to buy two more disks for the queue."
        "\n\nAction: Cleo orders two disks for the queue\n"
    )
    points = quoted(text)
    assert "We agreed to buy two more disks for the queue." in texts(points.notes)
    assert texts(points.actions) == ["Action: Cleo orders two disks for the queue"]


def test_a_day_that_means_another_one_at_the_next_meeting_is_not_quoted() -> None:
    text = "## Notes\n- The vote on the logo ends this Friday\n- The queue was slow again\n- Costs went up by a tenth\n"
    assert texts(quoted(text).notes) == ["The queue was slow again", "Costs went up by a tenth"]


def test_remarks_without_content_are_not_quoted() -> None:
    text = "## Notes\n- Rafael: nothing to discuss in the public meeting\n- Costs went up by a tenth\n"
    assert texts(quoted(text).notes) == ["Costs went up by a tenth"]


def test_a_line_with_a_reference_is_quoted_if_it_says_enough() -> None:
    text = "## Notes\n- Tobie to open an issue on the broader inclusion conversation: #1197\n- Plan to release #12\n"
    text += "- Check and update the example links of the charter template #1069\n"
    assert texts(quoted(text).notes) == ["Tobie to open an issue on the broader inclusion conversation: #1197"]


def test_code_tables_quotations_and_lists_of_people_are_not_quoted() -> None:
    text = (
        "## Attendees\n- Ana Lima\n\n## Notes\n```sql\nselect 1;\n```\n> Somebody else said so\n\n| a | b |\n|---|---|\n"
        "| 1 | 2 |\n\n%%\n- hidden\n%%\n\n- The queue is fast now\n"
    )
    points = quoted(text)
    assert texts(points.notes) == ["The queue is fast now"]
    assert points.decisions == points.actions == points.questions == ()


def test_the_words_of_a_link_and_the_useful_part_of_an_address_stay() -> None:
    text = (
        "## Decisions\n- Close [#818](https://x.example/1) and https://github.com/nodejs/admin/issues/814?x=1 today\n"
    )
    assert texts(quoted(text).decisions) == ["Close #818 and github.com/nodejs/admin/issues/814 today"]


def test_of_a_transcript_only_the_topics_are_listed() -> None:
    speech = "\n\n".join(f"ABC: We talked about the number {number} for a long time." for number in range(30))
    points = quoted(f"# Plenary\n\n## Queues\n\n{speech}\n\n## Costs\n\n{speech}\n")
    assert points.notes == ()
    assert points.topics == (("Plenary", "Queues"), ("Plenary", "Costs"))


def test_an_agenda_is_not_quoted_where_there_are_minutes_beside_it() -> None:
    points = quoted("## Agenda\n- Look at the costs of the hut\n\n## Meeting notes\n- The hut is booked for May\n")
    assert texts(points.notes) == ["The hut is booked for May"]
    points = quoted("## Agenda\n- The hut is booked for May\n")
    assert texts(points.notes) == ["The hut is booked for May"]


OWN = """# Weekly

Wednesday, 14 January 2026, 10:00–11:00 · Lisbon

## Attendees

- [[Ana Lima]]

## Agenda

- Redis
  - Ana asked who switches it off

## Last time

[[Meetings/a|a]], 7 January 2026

Decisions:

- We keep \\#redis

## Still open from last time

- Write the runbook ([[Meetings/a|a]])

## Notes

- Redis costs more than the rest \\#costs

## Decisions

- Redis goes in March

## Action items

- [ ] Tell the team

## Related

- [[Projects/Redis|Redis]]
"""


def test_of_a_note_of_donnas_only_what_the_person_wrote_is_read() -> None:
    blocks = blocks_of(OWN, own=True)
    assert texts(blocks) == [
        "Ana asked who switches it off",
        "Redis costs more than the rest #costs",
        "Redis goes in March",
        "Tell the team",
    ]


@pytest.mark.parametrize(
    ("text", "sentences"),
    [
        ("It works (Ben L. said so). We ship.", ["It works (Ben L. said so).", "We ship."]),
        ("Ask Prof. Kern, e.g. Today. Or Dr. Ode.", ["Ask Prof. Kern, e.g. Today.", "Or Dr. Ode."]),
        ("B. Long agreed. So did A. Lima.", ["B. Long agreed.", "So did A. Lima."]),
        ("One. Two! Three? Four", ["One.", "Two!", "Three?", "Four"]),
        ("Version 1.2 is out. 3 remain.", ["Version 1.2 is out.", "3 remain."]),
        ("会議は終わった。次は五月。", ["会議は終わった。", "次は五月。"]),
    ],
)
def test_sentences(text: str, sentences: list[str]) -> None:
    assert [text[start:end] for start, end in sentence_spans(text)] == sentences


MARKS = st.text(alphabet="abA .\n-*[]()#<>%`!?|:/1~$\\\t>", max_size=300)


@given(MARKS)
def test_any_text_has_blocks_with_its_own_lines(text: str) -> None:
    blocks = blocks_of(text)
    points_of(blocks, ["a b"])
    for block in blocks:
        is_quotable(block)
        assert 1 <= block.start_line <= block.end_line <= text.count("\n") + 1
        assert block.parent < len(blocks)
        assert block.role in Role


def test_a_deadline_is_quoted_before_other_things_to_do() -> None:
    others = "".join(f"- Need to cover part {number} of the program\n" for number in range(20))
    notes = texts(list(quoted(f"# Call\n\n## Funding\n{others}- Deadline is next Friday\n").notes))
    assert "Deadline is next Friday" in notes
