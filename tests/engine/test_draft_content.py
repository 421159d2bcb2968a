"""The content of drafts, with a real engine and a real vault in git: quotes, sources, privacy, weeks, days and people."""

from __future__ import annotations

import datetime
import os
from dataclasses import replace
from functools import partial
from pathlib import Path

import pytest

from donna_tui.config.models import MemoryConfig
from donna_tui.drafts.drafters import (
    AnswerRequest,
    Composed,
    Corrected,
    MeetingNoteAnswer,
    Prompts,
    corrected,
    payload_of,
)
from donna_tui.drafts.skills.meeting_note import agenda_of
from donna_tui.drafts.writer import NOTHING
from donna_tui.engine.skill_runner import SkillRunner, templates_dir
from donna_tui.types.drafts import Attendee, DraftState, Meeting
from donna_tui.types.errors import DonnaError, Reason
from tests.engine.draft_engines import LAST_TIME, NOTE, THIS_WEEK, DraftEngine, draft_engine, git, meeting

pytestmark = pytest.mark.usefixtures("alone")

WEEKLY = """---
type: meeting
date: 2024-01-10
---
# Gateway team

## Notes

- The cut-over is planned for 2 December
- Cleo measured the queue (Ben L. saw the same in Lisbon)

## Decisions

- The cut-over moves to 4 December
- We keep one queue per region

## Action items

- [ ] Write the runbook 📅 2024-01-20
- [x] Announce the end of the importer
"""
LAST = "Meetings/2024-01-10-gateway-team.md"


def section(text: str, name: str) -> list[str]:
    part = f"\n{text}".partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    return [line for line in part.splitlines() if line]


def statements(text: str, name: str) -> list[str]:
    """Return the lines of a section without their sources."""
    return [line.partition(" (")[0] for line in section(text, name)]


# Meetings


async def test_draft_truncates_a_long_attendee_list(tmp_path: Path) -> None:
    start = meeting().start
    people = (Attendee("Eve [External]"), *(Attendee(f"Person {number}") for number in range(300)))
    async with draft_engine(tmp_path) as here:
        await here.write(replace(meeting("All hands"), end=start, attendees=people))
        text = here.text(NOTE.replace("gateway-team", "all-hands"))
        assert f"17 January 2024, {start:%H:%M}\n" in text
        listed = section(text, "Attendees")
        assert (len(listed), listed[0], listed[-1]) == (101, r"- Eve \[External\]", "- and others")


async def test_somebody_known_only_by_an_address_is_no_link(tmp_path: Path) -> None:
    people = (
        Attendee("o", "o@example.org"),
        Attendee("p@example.org", "p@example.org"),
        Attendee("Bo", "b@example.org"),
    )
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting(attendees=people))
        assert section(here.text(NOTE), "Attendees") == ["- o@example.org", "- p@example.org", "- [[Bo]]"]
        assert (await here.engine.drafts.plan_approval(row.id)).paths == (NOTE, "People/Bo.md")


async def test_draft_quotes_decisions_first_and_only_the_latest_of_each(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, notes={LAST: WEEKLY}) as here:
        await here.write(meeting())
        assert section(here.text(NOTE), "Last time") == [
            "[[Meetings/2024-01-10-gateway-team|2024-01-10-gateway-team]], 10 January 2024",
            "Decisions:",
            "- The cut-over moves to 4 December",
            "- We keep one queue per region",
            "Notes:",
            "- Cleo measured the queue (Ben L. saw the same in Lisbon)",
        ]


async def test_what_is_below_a_heading_is_quoted_below_it(tmp_path: Path) -> None:
    retro = "# Gateway team\n\n## Stop\n\n- Daily stand-ups\n\n## Start\n\n- Pairing\n\n## Hiring\n\n### Decisions\n\n- Two people\n"
    async with draft_engine(tmp_path, notes={LAST: retro}) as here:
        await here.write(meeting())
        assert section(here.text(NOTE), "Last time")[1:] == [
            "Decisions (Hiring):",
            "- Two people",
            "Stop:",
            "- Daily stand-ups",
            "Start:",
            "- Pairing",
        ]


async def test_each_line_has_its_own_source(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, notes={LAST: WEEKLY}) as here:
        draft = await here.engine.drafts.draft((await here.write(meeting())).id)
        cited = {each.number: each for each in draft.evidence}
        lines = draft.text.splitlines()
        claims = {lines[each.start_line - 1]: [cited[number] for number in each.evidence] for each in draft.claims}
        for words in ("4 December", "one queue per region", "Ben L. saw", "Write the runbook"):
            ((line, (source,)),) = [each for each in claims.items() if words in each[0]]
            place = WEEKLY.splitlines()[source.start_line - 1 : source.end_line]
            assert len(place) == 1
            assert words in place[0], line
        assert len(draft.evidence) == 4


async def test_open_checkbox_is_carried_over_without_duplicating_its_task(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, notes={LAST: WEEKLY}) as here:
        row = await here.write(meeting())
        assert section(here.text(NOTE), "Still open from last time") == [
            "- Write the runbook, due 2024-01-20 ([[Meetings/2024-01-10-gateway-team|2024-01-10-gateway-team]])"
        ]
        assert "[ ]" not in here.text(NOTE)
        assert "Announce" not in here.text(NOTE)
        before = sorted(task.title for task in await here.engine.memory.tasks())
        await here.approve(row)
        await here.indexed()
        assert sorted(task.title for task in await here.engine.memory.tasks()) == before


async def test_a_sub_task_that_is_still_open_is_listed_after_its_parent(tmp_path: Path) -> None:
    text = f"{LAST_TIME}- [x] Return the machines\n  - [ ] send the parcel 📅 2024-01-20\n- By train\n  - [ ] buy tickets\n"
    async with draft_engine(tmp_path, notes={LAST: text}) as here:
        row = await here.write(meeting())
        listed = [line.partition(" ([[")[0] for line in section(here.text(row.path), "Still open from last time")]
        assert listed[2:] == ["- Return the machines › send the parcel, due 2024-01-20", "- buy tickets"]


async def test_a_task_that_a_daily_note_has_as_done_is_no_longer_open(tmp_path: Path) -> None:
    daily = "Daily/2024-01-12.md"
    last = (
        WEEKLY
        + "\n- [ ] **Ben** orders paper.\n- [ ] Water the plants 🔁 every week 📅 2024-01-18\n- [ ] Call the landlord\n"
    )
    notes = {
        LAST: last,
        daily: "# Friday\n\n- [x] ben orders paper\n- [x] Water the plants\n",
        "Daily/2024-01-09.md": "# Tuesday\n\n- [x] Call the landlord\n",
        "Projects/Gateway.md": "# Gateway\n\n- [ ] Renew the certificate\n- [ ] Rotate the keys\n",
        "Daily/2024-01-11.md": "# Thursday\n\n- [x] Rotate the keys\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        await here.write(meeting())
        open_now = [line.split(" (")[0] for line in section(here.text(NOTE), "Still open from last time")]
        assert open_now == [
            "- Write the runbook, due 2024-01-20",
            "- Water the plants, due 2024-01-18",
            "- Call the landlord",
        ]
        assert [line.split(" (")[0] for line in section(here.text(NOTE), "Open tasks")] == ["- Renew the certificate"]


async def test_a_customer_meeting_quotes_no_one_to_one_and_no_chat(tmp_path: Path) -> None:
    notes = {
        "Meetings/2024-01-15 1-1 Ben.md": "---\ntype: meeting\ndate: 2024-01-15\nattendees: ['[[Ben Long]]']\n---\n"
        "# 1:1 with Ben\n\n- Ben feels stretched by the Acme renewal\n\n- [ ] Find help for Ben before the Acme renewal\n",
        "Projects/Ideas.md": "# Ideas\n\nAcme renewal: ask for twice the price.\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        people = (Attendee("Dana Wolf"), Attendee("Ben Long"))
        row = await here.write(meeting("Acme renewal", attendees=people, description=""))
        text = here.text(row.path)
        for words in ("stretched", "Find help", "twice the price", "Last time", "Related"):
            assert words not in text
        assert "- [[Dana Wolf]]\n- [[Ben Long]]" in text
        assert "## Notes\n\n\n## Decisions\n\n\n## Action items\n" in text


@pytest.mark.slow
async def test_week_after_week_only_what_the_person_wrote_is_quoted(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, notes={LAST: WEEKLY}) as here:
        for week in range(3):
            day = THIS_WEEK + datetime.timedelta(weeks=week)
            event = meeting(event=f"gateway/{week}", day=day, series_id="gateway")
            row = await here.write(event)
            text = here.text(row.path)
            if week:
                assert section(text, "Last time")[1:] == [
                    "Decisions:",
                    f"- The report of week {week} is free",
                    "Notes:",
                    f"- We asked \\#finance in week {week} about T(1)",
                ]
                assert [line.split(" (")[0] for line in section(text, "Still open from last time")] == [
                    *(f"- Send the report of week {each}" for each in range(week, 0, -1)),
                    "- Write the runbook, due 2024-01-20",
                ]
            text = text.replace("## Notes\n", f"## Notes\n\n- We asked \\#finance in week {week + 1} about T(1)\n")
            text = text.replace("## Decisions\n", f"## Decisions\n\n- The report of week {week + 1} is free\n")
            text = text.replace("## Action items\n", f"## Action items\n\n- [ ] Send the report of week {week + 1}\n")
            here.sandbox.write(row.path, text)
            await here.approve(row)
            await here.indexed()


async def test_a_meeting_that_was_cancelled_is_not_the_last_time(tmp_path: Path) -> None:
    notes = {LAST: WEEKLY, "Meetings/2024-01-15-gateway-team.md": "# Gateway team\n\nCancelled, half of us are ill.\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        row = await here.write(meeting())
        assert section(here.text(row.path), "Last time")[0].endswith(", 10 January 2024")


async def test_without_a_note_of_its_own_a_meeting_quotes_its_section_of_a_daily_note(tmp_path: Path) -> None:
    text = (
        "## Stripe quarterly\n\nKim sends the contract by Friday.\n\n- [ ] Read it\n\n## Rest\n\n- Slept badly\n\n"
        "## Sprint planning\n\n- Plan my week\n\n## Roof repair\n\n- See the note\n"
    )
    notes = {"Daily/2024-01-16.md": text, "Meetings/2024-01-03 Roof repair.md": "- The slate is heavy\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        drafts = []
        for title in ("Stripe quarterly", "Sprint planning", "Roof repair"):
            row = await here.write(meeting(title, event=title))
            assert row.path.startswith("Meetings/2024-01-17")
            drafts.append(here.text(row.path))
        assert section(drafts[0], "Last time")[1:] == ["Notes:", "- Kim sends the contract by Friday."]
        assert section(drafts[0], "Still open from last time") == ["- Read it ([[Daily/2024-01-16|2024-01-16]])"]
        assert "## Last time" not in drafts[1]  # that of any team, or a plan of one's own
        assert section(drafts[2], "Last time")[1:] == ["Notes:", "- The slate is heavy"]


async def test_a_project_note_is_background(tmp_path: Path) -> None:
    offsite = (
        "# Offsite\n\nThe hut above Bergen is ours from 18 to 20 May.\n\n## Decisions\n\n- Everybody goes by train\n"
    )
    notes = {"Projects/Offsite.md": f"{offsite}\n- [ ] Collect dietary wishes\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        row = await here.write(meeting("Offsite planning"))
        text = here.text(row.path)
        assert section(text, "Background") == ["- [[Projects/Offsite|Offsite]]", "  - Everybody goes by train"]
        assert section(text, "Open tasks") == ["- Collect dietary wishes ([[Projects/Offsite|Offsite]])"]


async def test_a_project_that_was_cancelled_is_marked(tmp_path: Path) -> None:
    text = "---\nstatus: cancelled\n---\n- Everybody travels by train\n- [ ] Book a hotel\n"
    async with draft_engine(tmp_path, notes={"Projects/Offsite.md": text}) as here:
        row = await here.write(meeting("Offsite: lessons learned"))
        written = here.text(row.path)
        assert section(written, "Background")[0] == "- [[Projects/Offsite|Offsite]], cancelled"
        assert section(written, "Open tasks") == ["- Book a hotel ([[Projects/Offsite|Offsite]], cancelled)"]


INVITATION = """Hi all,<br>
Tagesordnung:
1. Redis
Wishes for next year
2. Costs &amp; owners of the second region
Join: https://zoom.example/j/123
Join Zoom Meeting
Dial by your location
        +1 646 558 8656 US (New York)
Meeting ID: 123 4567
Click Add to Google Calendar
https://meet.example/abc
Best regards
Mara
"""


async def test_agenda_omits_dial_in_details_and_courtesies(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting(description=INVITATION))
        assert section(here.text(row.path), "Agenda") == [
            "- Redis",
            "- Wishes for next year",
            "- Costs & owners of the second region",
        ]


@pytest.mark.parametrize(
    ("description", "agenda"),
    [
        ("Hi team,\nThanks, all, for the prep work.\nAgenda:\n- Budget\n- Hiring", ["Budget", "Hiring"]),
        ("- Best, worst and base case\n- Hiring", ["Best, worst and base case", "Hiring"]),
        ("<ul><li>Regards from Anna</li><li>Hiring</li></ul>Thanks, Ana Lima<br>CEO", ["Regards from Anna", "Hiring"]),
        ("- Hiring\nViele Grüße\nMara\n", ["Hiring"]),
        ("Please find the agenda below:\n- Hiring\nBis morgen!\nAna\n", ["Hiring"]),
        *(
            (line, [line])
            for line in (
                "Hope Foundation budget",
                "Please find a venue",
                "See you in Q4: travel plan",
                "Looking forward: 2027 planning",
                "Let me know budget",
                "Thank you cards for donors",
            )
        ),
    ],
)
def test_a_courtesy_ends_the_agenda_only_below_its_items(description: str, agenda: list[str]) -> None:
    assert agenda_of(meeting(description=description)) == agenda


@pytest.mark.parametrize(
    "courtesy",
    [
        "Thanks, all, for the prep work.",
        "Hi Ana, thank you for joining!",
        "Vielen Dank für eure Zeit",
        "I'm looking forward to it",
        "Ich freue mich auf euch!",
        "Let me know if the time does not work.",
        "Hope this works for everyone",
        "See you on Monday",
        "Please find the agenda attached",
    ],
)
def test_a_courtesy_is_no_agenda_item(courtesy: str) -> None:
    assert agenda_of(meeting(description=f"{courtesy}\nBudget\n{courtesy}")) == ["Budget"]
    assert agenda_of(meeting(description="- Thanks to the volunteers\n- Hope\n")) == [
        "Thanks to the volunteers",
        "Hope",
    ]


@pytest.mark.slow
async def test_a_note_is_named_and_placed_as_the_last_of_its_series(tmp_path: Path) -> None:
    notes = {LAST: "gone\n", "Projects/Gateway/2024-01-10 Gateway team.md": WEEKLY}
    async with draft_engine(tmp_path, notes=notes) as here:
        row = await here.write(meeting())
        assert row.path == "Projects/Gateway/2024-01-17 Gateway team.md"
        (here.root / "Elsewhere").mkdir()
        (here.root / "Projects/Gateway/2024-01-10 Gateway team.md").rename(here.root / "Elsewhere/2024-01-10 x.md")
        here.sandbox.write("Elsewhere/2024-01-10 x.md", WEEKLY.replace("date:", "series: other\ndate:"))
        await here.indexed()
        assert (await here.write(meeting("Other", event="other"))).path.startswith("Meetings/")


# Approving


async def test_approved_note_keeps_only_donna_id_of_the_generated_keys(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        await here.approve(row)
        front = here.front(NOTE)
        assert front["donna_id"] == "gateway-2"
        assert not {"idempotency_key", "autowritten_by", "autowritten_at", "donna_draft"} & set(front)
        assert front["calendar_event_id"] == "gateway-2"
        await here.indexed()
        assert (await here.engine.drafts.write_now("gateway-2")).state is DraftState.APPROVED
        await here.engine.memory.db.run(lambda db: db.database.run("DELETE FROM drafts"))
        before = here.notes()
        assert (await here.engine.drafts.write_now("gateway-2")).path == NOTE
        assert here.notes() == before


async def test_of_many_people_only_those_get_a_page_whom_the_note_names(tmp_path: Path) -> None:
    names = ("Ana Lima", "Bo", "Cy Moss", "Cy Roth", "Dee Dunn", "May Wong", "Will Stone")
    names = (*names, *(f"Guest {number}" for number in range(8)))
    notes = {
        LAST: "# Gateway team\n\n## Notes\n\n- Bob and Cy asked why Ana will measure Redis, and Dee Dunn did not\n"
        "- Will this be done in May\n"
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        row = await here.write(meeting(attendees=tuple(map(Attendee, names))))
        plan = await here.engine.drafts.plan_approval(row.id)
        assert plan.paths == (NOTE, "People/Ana Lima.md", "People/Dee Dunn.md")
        assert plan.remarks == ("Creates empty pages in People: Ana Lima, Dee Dunn.",)


async def test_an_attendee_is_linked_to_the_page_of_the_same_name_with_a_title(tmp_path: Path) -> None:
    pages = {"People/Prof. Dr. Ana Lima.md": "# Ana\n\nmine\n", "People/Dr. Moss.md": "# Moss\n\nmine\n"}
    async with draft_engine(tmp_path, notes=pages) as here:
        row = await here.write(meeting(attendees=(Attendee("Ana Lima"), Attendee("Cy Moss"))))
        assert here.front(row.path)["attendees"] == ["[[Prof. Dr. Ana Lima]]", "[[Cy Moss]]"]
        assert (await here.engine.drafts.plan_approval(row.id)).paths == (NOTE, "People/Cy Moss.md")


async def test_an_attendee_is_linked_to_the_page_that_has_the_name_as_an_alias(tmp_path: Path) -> None:
    pages = {
        "People/Ana.md": "---\naliases: [Ana Lima]\n---\nmine\n",
        "People/Cy.md": "---\naliases: [Cy Moss]\n---\nmine\n",
        "People/Cyril.md": "---\naliases: [Cy Moss]\n---\nmine\n",
    }
    async with draft_engine(tmp_path, notes=pages) as here:
        row = await here.write(meeting(attendees=(Attendee("Ana Lima"), Attendee("Cy Moss"))))
        assert here.front(row.path)["attendees"] == ["[[Ana]]", "[[Cy Moss]]"]
        assert (await here.engine.drafts.plan_approval(row.id)).paths == (NOTE, "People/Cy Moss.md")


async def test_people_get_no_page_where_that_is_switched_off(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, meeting_note={"person_pages": False}) as here:
        await here.approve(await here.write(meeting()))
        assert not any(path.startswith("People/") for path in here.notes())


async def test_people_get_no_page_where_git_ignores_them(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        here.sandbox.write(".gitignore", "People/\n")
        row = await here.write(meeting())
        plan = await here.engine.drafts.plan_approval(row.id)
        assert plan.paths == (NOTE,)
        await here.engine.drafts.approve(row.id, plan)
        assert not any(path.startswith("People/") for path in here.notes())


async def test_a_page_that_cannot_be_made_does_not_stop_an_approval(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        plan = await here.engine.drafts.plan_approval(row.id)
        assert "People/Bo.md" in plan.paths
        here.sandbox.write("People/Bo.md", "# Bo\n\nwritten meanwhile\n")
        await here.engine.drafts.approve(row.id, plan)
        assert "donna_draft" not in here.front(NOTE)
        assert here.text("People/Bo.md") == "# Bo\n\nwritten meanwhile\n"


# Models and templates


class RecordingModel:
    """A model that records what it is given, and is called once. It also states `more`."""

    remote = True

    def __init__(self, *more: str) -> None:
        self.task: AnswerRequest | None = None
        self.more = more

    async def compose(self, task: AnswerRequest) -> Composed:
        self.task = task
        said = [f"The cut-over is on 4 December. [{task.passages[0].number}]", *self.more]
        return Composed(
            MeetingNoteAnswer(summary=said, action_item_candidates=said, open_questions=[], links_suggested=[]), "m"
        )


async def test_model_prompt_includes_dates_and_the_user_but_no_checkboxes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = RecordingModel()
    monkeypatch.setattr(SkillRunner, "_drafter", model)
    notes = {
        LAST: WEEKLY,
        "Projects/Gateway.md": "---\ndate: 2024-01-02\n---\n# Gateway\n\nIt hands taps to the ledger of the city.\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        await here.write(meeting("Gateway team"))
        task = model.task
        assert task is not None
        payload = payload_of(task, Prompts(templates_dir(MemoryConfig()) / "prompts").system(task))
        told = "\n".join(each.text for each in payload.segments)
        assert "2024-01-10 · 2024-01-10-gateway-team › Gateway team › Decisions" in told
        assert "2024-01-02 · Gateway" in told
        assert "replaces an earlier one" in payload.system
        assert "Announce the end" not in told
        assert "[ ]" not in here.text(NOTE)


async def test_a_statement_of_a_model_that_no_passage_supports_is_marked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(SkillRunner, "_drafter", RecordingModel("The moon is made of cheese. [99]"))
    async with draft_engine(tmp_path, notes={LAST: WEEKLY}) as here:
        await here.write(meeting("Gateway team"))
        lines = here.text(NOTE).splitlines()
    assert lines.count("- The moon is made of cheese. (no source)") == 2
    assert "- The cut-over is on 4 December." in lines  # of the last meeting, which is named above
    answer = MeetingNoteAnswer(
        summary=["The moon is made of cheese. [99]"], action_item_candidates=[], open_questions=[], links_suggested=[]
    )
    learned = Corrected("- The moon is made of cheese. (no source)", "- The moon is made of rock.")
    assert corrected(answer, [learned]).model_dump()["summary"] == ["The moon is made of rock. [99]"]


def test_custom_prompt_template_overrides_the_default(tmp_path: Path) -> None:
    (tmp_path / "draft_meeting_note.md.j2").write_text("Write for {{ me }} about {{ about }}.\n")
    task = AnswerRequest(
        task_type="draft_meeting_note", about="Gateway", schema=MeetingNoteAnswer, passages=(), me="Mara Lind"
    )
    system = Prompts(tmp_path, templates_dir(MemoryConfig()) / "prompts").system(task)
    assert system.endswith("Write for Mara Lind about Gateway.")
    assert "one person, Mara Lind, from passages" in system
    (tmp_path / "draft_meeting_note.md.j2").write_text("{{ nothing }}\n")
    with pytest.raises(DonnaError) as caught:
        Prompts(tmp_path, templates_dir(MemoryConfig()) / "prompts").system(task)
    assert caught.value.reason is Reason.TEMPLATE_ERROR


async def test_the_frontmatter_of_a_template_is_merged_into_one_block(tmp_path: Path) -> None:
    templates = tmp_path / "templates"
    templates.mkdir()
    (templates / "meeting_note.md.j2").write_text(
        "---\ntags: [meeting]\ntype: evil\ndonna: public\ndonna_draft: false\nroom: {{ event.title }}\n---\n# {{ event.title }}\n"
    )
    async with draft_engine(tmp_path, templates=templates) as here:
        row = await here.write(meeting())
        front = here.front(row.path)
        assert (front["tags"], front["room"], front["type"]) == (["meeting"], "Gateway team", "meeting")
        assert front["donna_draft"] is True
        assert "donna" not in front
        assert here.text(row.path).count("\n---\n") == 1
        assert here.text(row.path).endswith("---\n# Gateway team\n")


# Days and weeks

DAILY = "# Wednesday\n\n- Painted the door with Ana\n- [ ] Buy ~~paint and~~ brushes\n- [ ] ~~Call Bo~~\n"
MINUTES = "---\ntype: meeting\ndate: 2024-01-16\n---\n# Board\n\n## Decisions\n\n- The board meets in May\n"
REVIEW = "# Week 2\n\n- It rained\n\n## Next week\n\n- Paint the door\n\n### Garden\n\n- [ ] Plant a tree\n- [x] Rest\n"


async def test_daily_reflection_uses_only_notes_of_its_day(tmp_path: Path) -> None:
    notes = {
        "Daily/2024-01-17.md": DAILY,
        "Daily/2024-01-18.md": "- Flew to the moon and back\n",
        "Log/17 Jan 2024.md": "- It snowed in Rome\n",
        "Taxes/2024-01-17 Taxes.md": "- Flew to the moon and back\n",
        "Meetings/2024-01-17 Roof.md": MINUTES.replace("2024-01-16", "2024-01-17"),
        "Inbox/Tasks.md": "- [ ] Buy milk ➕ 2024-01-17 📅 2024-03-10\n- [ ] Fly ➕ 2024-01-10 📅 2024-03-10\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        text = here.text(result.path)
        assert section(text, "Met") == ["- [[Meetings/2024-01-17 Roof|2024-01-17 Roof]]"]
        assert section(text, "Decided") == ["- The board meets in May ([[Meetings/2024-01-17 Roof|2024-01-17 Roof]])"]
        assert section(text, "Noted") == [
            "- Painted the door with Ana ([[Daily/2024-01-17|2024-01-17]])",
            "- It snowed in Rome ([[Log/17 Jan 2024|17 Jan 2024]])",
        ]
        assert [line.split(" (")[0] for line in section(text, "Still open")] == [
            "- Buy milk, due 2024-03-10",
            "- Buy brushes",
        ]
        assert "moon" not in text


async def test_a_review_counts_the_decisions_and_tasks_that_it_does_not_list(tmp_path: Path) -> None:
    decisions, tasks = ("".join(f"- {mark}{each} {number}\n" for number in range(20)) for mark, each in (
        ("", "Paint wall"), ("[ ] ", "Buy brush"),
    ))  # fmt: skip
    notes = {
        "Meetings/2024-01-16 Board.md": f"# Board\n\n## Decisions\n\n{decisions}",
        "Daily/2024-01-18.md": tasks,
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        text = here.text(result.path)
        assert section(text, "Decided")[-1] == "- and 14 more ([[Meetings/2024-01-16 Board|2024-01-16 Board]])"
        assert section(text, "Carried over")[-1] == "- and 5 more"
        assert [len(section(text, each)) for each in ("Decided", "Carried over")] == [7, 16]


async def test_a_week_reads_its_notes_its_boxes_and_the_last_review(tmp_path: Path) -> None:
    old = "".join(f"- [ ] Old task {number}\n" for number in range(20))
    notes = {
        "Daily/2024-01-17.md": DAILY,
        "Daily/2024-01-22.md": "- A thing of next week\n- [ ] A task of next week\n",
        "Meetings/2024-01-16 Board.md": MINUTES,
        "Reviews/2024-W02.md": REVIEW,
        "Projects/Log.md": "---\ndate: 2024-01-16\n---\n# Log\n\n## Decisions\n\n- A long tale of how it came about\n",
        "Daily/2024-01-16.md": "- [x] Wash the car ✅ 2024-01-16\n",
        "Daily/2024-01-15.md": "- [ ] Wash the car 📅 2024-01-16\n",
        "Daily/2024-01-18.md": "- [ ] Buy brushes\n",
        "Daily/2024-01-18 Shed.md": "- [ ] Buy brushes\n",
        "Projects/Paint.md": "---\ndate: 2024-01-17\n---\n- [ ] Buy brushes\n",
        "Projects/Flat.md": "- [ ] Renew the lease 📅 2024-01-28\n- [ ] Buy brushes 📅 2024-01-22\n- [ ] Move 📅 2024-01-29\n",
        "Projects/Old.md": f"---\ndate: 2023-05-01\n---\n{old}- [ ] Overdue thing 📅 2024-01-15\n",
        "Reviews/2024-W03.md": "---\ndate: 2024-01-21\n---\n# Week 3\n\n- A good week\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        text = here.text(result.path)
        assert "last week: [[Reviews/2024-W02|2024-W02]]" in text
        assert section(text, "Planned last week") == ["- Paint the door", "- Plant a tree"]
        assert section(text, "Decided") == ["- The board meets in May ([[Meetings/2024-01-16 Board|2024-01-16 Board]])"]
        assert section(text, "Noted") == ["- Painted the door with Ana ([[Daily/2024-01-17|2024-01-17]])"]
        assert section(text, "Carried over") == [
            "- Overdue thing, due 2024-01-15 ([[Projects/Old|Old]])",
            "- Buy brushes ([[Daily/2024-01-17|2024-01-17]])",
            "- Buy brushes ([[Daily/2024-01-18 Shed|2024-01-18 Shed]])",
            "- Buy brushes ([[Projects/Paint|Paint]])",
        ]
        assert section(text, "Next week") == [
            "- Buy brushes, due 2024-01-22 ([[Projects/Flat|Flat]])",
            "- Renew the lease, due 2024-01-28 ([[Projects/Flat|Flat]])",
        ]
        assert "next week" not in text.partition("## Planned")[2].lower().replace("## next week", "")


async def test_only_the_plans_of_a_review_with_a_title_are_quoted(tmp_path: Path) -> None:
    review = "# Plan and review\n\n- A good week\n\n## Done\n\n- Painted\n\n## Next week\n\n- Plant a tree\n"
    notes = {"Reviews/2024-W02.md": review, "Daily/2024-01-17.md": DAILY, "Templates/2024-W02.md": "## Plans\n- Form\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        assert section(here.text(result.path), "Planned last week") == ["- Plant a tree"]


async def test_a_week_reads_minutes_without_a_type_and_daily_notes_with_a_weekday(tmp_path: Path) -> None:
    notes = {
        "Daily/2024-01-17-Wednesday.md": DAILY,
        "Daily/2024-01-18-Shed.md": "- No note of a day\n",
        "Uni/Study group/2024-01-16.md": MINUTES.replace("type: meeting", "attendees: [Ana]").replace("Board", "Sheets")
        + "\n## Notes\n\n- Ana explained the proof\n",
        "Meetings/2024-01-18 Roof.md": "# Roof\n\n## Decisions\n\n- The roof is red\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        text = here.text(result.path)
        assert section(text, "Met") == [
            "- 2024-01-16: [[Uni/Study group/2024-01-16|Sheets]]",
            "- 2024-01-18: [[Meetings/2024-01-18 Roof|2024-01-18 Roof]]",
        ]
        assert statements(text, "Decided") == [
            "- The board meets in May",
            "- The roof is red",
        ]
        assert section(text, "Noted") == [
            "- Painted the door with Ana ([[Daily/2024-01-17-Wednesday|2024-01-17-Wednesday]])"
        ]


async def test_a_day_without_promises_has_only_its_open_tasks(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, notes={"Daily/2024-01-17.md": DAILY}) as here:
        (result,) = await here.engine.drafts.write_new("commitment_log", THIS_WEEK)
        assert here.text(result.path).partition("\n# ")[2] == (
            "Commitments, Wednesday, 17 January 2024\n\n## Open tasks\n\n"
            "- Buy brushes ([[Daily/2024-01-17|2024-01-17]])\n"
        )


async def test_promises_in_the_notes_of_a_day_are_commitments(tmp_path: Path) -> None:
    text = (
        "- I promised Ana the figures by Friday\n- Told Cleo I'd review her draft\n- I'll sleep early\n- Who promised it?\n"
        "- I have not promised anything\n- Ich habe nichts versprochen\n- Nobody promised\n- We promised nothing\n"
        "- I never said I promised\n- I didn't say I'll send it\n- She was promised a raise\n- It is the promised land\n"
        "- I was promised a refund\n- [ ] send Ben the deck\n\n## Work\n\nIch schicke Uwe das Angebot bis Montag.\n"
        "\n- Ich werde Lena die Fotos schicken\n- Ich schicke ihr nichts\n- Ich bringe Kuchen\n"
        "- Ich kümmere mich um den Saal\n\n## Calls\n\n- Priya about prices; she will send the tiers by Friday\n"
        "- Jo Park will write the FAQ before the launch\n- Jo will write a book\n- It will pay off by May\n- Jo writes books\n"
        "- They will send more\n- I heard that Bo promised Ana the flat\n- Angeblich hat Uwe zugesagt\n"
    )
    more = (
        "- Kim to fix the login by Friday\n- Kim agreed to host the dinner\n"
        "- Reply to Kim by Friday\n- I'll review it by 3 May, not by June\n- I promised Kim that nobody pays\n"
        "- Ich prüfe das bis Freitag\n- Uwe sagt zu, bis Montag zu liefern\n- Prices will be up by Friday\n"
        "- AI: Jo to call Dana by tomorrow\n- Action: Bo orders tea\n"
    )
    notes = {
        "Daily/2024-01-17.md": text,
        "Daily/2024-01-18.md": more,
        "Besprechungen/2024-01-17 Roof.md": (
            "# Roof\n\n- Bo promised the tiles for May\n\n## Action items\n\n- Bo: order the tiles\n"
        ),
        "Besprechungen/2024-01-18 Tent.md": (
            "- I heard Ana is ill and I promised to call\n- Heard from Dana: she promised the tent\n"
            "- Das Zelt gehört Uwe und er hat es versprochen\n- Jo sends Dana the keys by Monday\n"
            "- I said I'd answer by mid December\n- I'll review the plan tomorrow\n- Jo sends books\n"
        ),
        "Books/2024-01-17 Novel.md": "# Novel\n\n- She promised him the moon\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("commitment_log", THIS_WEEK)
        assert statements(here.text(result.path), "Promised") == [
            "- Bo promised the tiles for May",
            "- Bo: order the tiles",
            "- I promised Ana the figures by Friday",
            "- Told Cleo I'd review her draft",
            "- I was promised a refund",
            "- Work: Ich schicke Uwe das Angebot bis Montag.",
            "- Work: Ich werde Lena die Fotos schicken",
            "- Work: Ich kümmere mich um den Saal",
            "- Calls: Priya about prices; she will send the tiers by Friday",
            "- Calls: Jo Park will write the FAQ before the launch",
        ]
        (thursday,) = await here.engine.drafts.write_new("commitment_log", datetime.date(2024, 1, 18))
        assert statements(here.text(thursday.path), "Promised") == [
            "- I heard Ana is ill and I promised to call",
            "- Heard from Dana: she promised the tent",
            "- Das Zelt gehört Uwe und er hat es versprochen",
            "- Jo sends Dana the keys by Monday",
            "- I said I'd answer by mid December",
            "- I'll review the plan tomorrow",
            "- Kim to fix the login by Friday",
            "- Kim agreed to host the dinner",
            "- I'll review it by 3 May, not by June",
            "- I promised Kim that nobody pays",
            "- Ich prüfe das bis Freitag",
            "- Uwe sagt zu, bis Montag zu liefern",
            "- AI: Jo to call Dana by tomorrow",
            "- Action: Bo orders tea",
        ]
        assert section(here.text(result.path), "Open tasks") == [
            "- send Ben the deck ([[Daily/2024-01-17|2024-01-17]])"
        ]


async def test_promises_with_initials_and_short_days_are_commitments(tmp_path: Path) -> None:
    promised = [
        "JP to ring the men",
        "Hall: BL to do the rota",
        "Cy will speak to Dana by Fri re the tent",
        "Said I'd find two afternoons",
        "Cy owes me the rota",
        "me: read the draft before Fri",
        "Kathi testet das bis Fr",
    ]
    others = [
        "PR to add a retry", "JP to be told", "JP to Leeds by train", "Cy said I'd like the book", "Me: I slept until Fri",
        "Kathi bleibt bis Freitag", "Der Laden hat bis Freitag zu", "Bo sent it before Fri",
    ]  # fmt: skip
    notes = {
        "Daily/2024-01-17.md": "".join(f"- {each}\n" for each in (*promised, *others)),
        "People/Ben Long.md": "",
    }
    async with draft_engine(tmp_path, notes=notes, me=("Judith Pryce",)) as here:
        (result,) = await here.engine.drafts.write_new("commitment_log", THIS_WEEK)
        lines = statements(here.text(result.path), "Promised")
        assert lines == [f"- {each}" for each in promised]


async def test_a_week_lists_the_outcomes_of_meetings_that_say_who_came(tmp_path: Path) -> None:
    board = (
        "Present: Ana Lima (chair), Bo\n\n- We go with the red roof\n- The party moves to 3 May\n- Cy will call Dana by Friday\n"
        "- It is cold\n- AL to ring the men\n"
    )
    notes = {
        "School/2024-01-16 Board.md": board,
        "School/2024-01-17 Trip.md": "- We go with the bus\n",
        "School/Board.md": board,
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        text = here.text(result.path)
        assert section(text, "Met") == [
            "- 2024-01-16: [[School/2024-01-16 Board|2024-01-16 Board]]: We go with the red roof",
            "  - The party moves to 3 May",
        ]
        assert statements(text, "Promised") == [
            "- Cy will call Dana by Friday",
            "- AL to ring the men",
        ]


async def test_reviews_list_promises_and_open_boxes_of_running_notes_once(tmp_path: Path) -> None:
    minutes = (
        "---\ntype: meeting\n---\n# Roof\n\n- Slate is heavy\n\n## Decisions\n\n- Kim will send the bill by Friday\n\n"
        "## Action items\n\n- Ben orders the samples\n- [ ] Call the builder\n"
    )
    notes = {
        "Meetings/2024-01-17 Roof.md": minutes,
        "Daily/2024-01-17.md": "- I'll send Ana the plan\n- Painted the door red\n",
        "Books/2024-01-17 Novel.md": "- Ada promised the lantern\n",
        "1on1/Ana.md": "# Ana\n\n## 2024-01-17\n\n- [ ] Sign her form\n\n## 2024-01-03\n\n- [ ] Buy a chair\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        for skill in ("daily_reflection", "weekly_review"):
            (result,) = await here.engine.drafts.write_new(skill, THIS_WEEK)
            text = here.text(result.path)
            assert statements(text, "Promised") == [
                "- I'll send Ana the plan",
                "- Ben orders the samples",
            ]
            assert section(text, "Noted") == ["- Painted the door red ([[Daily/2024-01-17|2024-01-17]])"]
            assert text.count("Kim will send the bill") == 1
            assert "Sign her form" in text
            assert "Buy a chair" not in text


async def test_nothing_is_drafted_for_a_day_that_has_not_begun(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, clock=lambda: meeting().start.timestamp()) as here:
        new = here.engine.drafts.write_new
        for skill, day in (("daily_reflection", 18), ("commitment_log", 18), ("weekly_review", 22)):
            with pytest.raises(DonnaError, match="in the future"):
                await new(skill, datetime.date(2024, 1, day))
        (week,) = await new("weekly_review", datetime.date(2024, 1, 19))
        assert week.path == "WeeklyReview/2024-W03.md"


async def test_a_template_is_no_meeting_of_the_week(tmp_path: Path) -> None:
    form = (
        "---\ntype: meeting\ndate: 2024-01-16\n---\n# Weekly\n\n## Decisions\n\n- What did we decide?\n\n- [ ] Task\n"
    )
    notes = {
        "Meetings/Template.md": form,
        "Resources/Weekly.md": form,
        "Meetings/2024-01-16 Board.md": MINUTES,
    }
    (tmp_path / "vault/.obsidian").mkdir(parents=True)
    (tmp_path / "vault/.obsidian/templates.json").write_text('{"folder": "Resources"}')
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        text = here.text(result.path)
        assert section(text, "Met") == ["- 2024-01-16: [[Meetings/2024-01-16 Board|2024-01-16 Board]]"]
        assert "What did we decide?" not in text
        assert section(text, "Carried over") == []


async def test_a_meeting_is_listed_once_with_its_outcome(tmp_path: Path) -> None:
    notes = {
        "Meetings/Gateway team/2024-01-17 notes.md": "---\ntype: meeting\n---\n# Notes\n\n- Redis\n  - Bo spoke of it\n"
        "  - Ana will measure Redis\n- Costs\n  - Bo asked for more\n",
        "Meetings/2024-01-17 Roof.md": MINUTES.replace("2024-01-16", "2024-01-17"),
        "Meetings/Choir/2024-01-17 meeting.md": "We sang.\n",
        "Meetings/2024-01-17 Reading.md": "Cancelled\n",
    }
    limits = {"context_limits": {"meetings": 4}}
    async with draft_engine(tmp_path, notes=notes, daily_reflection=limits) as here:
        noon = datetime.datetime(2024, 1, 17, 12, tzinfo=datetime.UTC)
        await here.hold(meeting(), meeting("Dentist", "dentist-1", start=noon, end=noon))
        (day,) = await here.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        met = [
            "[[Meetings/Gateway team/2024-01-17 notes|Gateway team]]: Redis: Ana will measure Redis",
            "Dentist",
            "[[Meetings/2024-01-17 Roof|2024-01-17 Roof]]",
            "[[Meetings/Choir/2024-01-17 meeting|Choir 2024-01-17 meeting]]",
        ]
        assert section(here.text(day.path), "Met") == [f"- {line}" for line in met]
        (week,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        assert section(here.text(week.path), "Met") == [f"- 2024-01-17: {line}" for line in met]


RUNNING = """# {title}

Goals: grow.

## 2024-01-09

- Decision: the old plan holds

## 2024-01-16 – costs

### Decisions

- Bo gets the budget

### Action items

- [ ] {task}

## 2024-01-24

- Decision: of next week
"""


async def test_a_running_note_has_the_minutes_of_several_meetings(tmp_path: Path) -> None:
    notes = {
        "1on1/Bo.md": RUNNING.format(title="Bo", task="Bo: buy tea"),
        "Meetings/Standup.md": "## 2024-01-15\n\n- We agreed to ship\n\n## 2024-01-16\n\n- We agreed to wait\n",
        "Projects/Plan.md": "## 2024-01-16\n\n- Decision: no minutes\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        row = await here.write(meeting("Bo / Sam 1:1", attendees=(Attendee("Bo"),)))
        text = here.text(row.path)
        assert section(text, "Last time")[0] == "[[1on1/Bo|Bo]], 16 January 2024, with the same people"
        assert "- Bo gets the budget" in text
        assert section(text, "Still open from last time") == ["- Bo: buy tea ([[1on1/Bo|Bo]])"]
        assert not any(words in text for words in ("the old plan", "of next week", "Goals"))
        row = await here.write(meeting("Standup", "other", attendees=(Attendee("Bo"), Attendee("Cleo"))))
        assert "- We agreed to wait" in here.text(row.path)
        (week,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        text = here.text(week.path)
        assert section(text, "Met")[:3] == [
            "- 2024-01-15: [[Meetings/Standup|Standup]]",
            "- 2024-01-16: [[1on1/Bo|Bo]]",
            "- 2024-01-16: [[Meetings/Standup|Standup]]",
        ]
        assert statements(text, "Decided") == [
            "- We agreed to ship",
            "- Bo gets the budget",
            "- We agreed to wait",
        ]


async def test_only_meetings_that_took_place_are_met(tmp_path: Path) -> None:
    night = datetime.datetime(2024, 1, 16, 23, tzinfo=datetime.UTC)
    sam, declined = Attendee("Sam"), Attendee("Sam", declined=True)
    async with draft_engine(tmp_path, notes={}, me=["Sam"]) as here:
        await here.hold(
            meeting("Budget", "1", attendees=(sam, Attendee("Bo"))),
            meeting("Workshop", "2", attendees=(declined, Attendee("Bo"))),
            meeting("Focus time", "3", attendees=()),
            meeting("Bo is away", "4", attendees=(sam, Attendee("Bo")), all_day=True),
            meeting("Cutover", "5", attendees=(sam, Attendee("Bo")), start=night, day=night.date()),
        )
        (day,) = await here.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        assert section(here.text(day.path), "Met") == ["- Budget"]


async def test_a_meeting_with_a_note_is_listed_before_one_without(tmp_path: Path) -> None:
    notes = {"Meetings/2024-01-17 Roof.md": "# Roof\n\nThe tiles are red.\n"}
    limits = {"context_limits": {"meetings": 2}}
    async with draft_engine(tmp_path, notes=notes, daily_reflection=limits) as here:
        await here.hold(*(meeting(f"Talk {number}", f"talk-{number}") for number in range(3)))
        (day,) = await here.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        assert section(here.text(day.path), "Met") == [
            "- Talk 0",
            "- [[Meetings/2024-01-17 Roof|2024-01-17 Roof]]",
        ]


async def test_a_task_is_the_same_with_the_name_of_the_user_and_when_it_was_cancelled(tmp_path: Path) -> None:
    notes = {
        "Meetings/2024-01-16 Retro.md": "- [ ] Sam: tidy up\n- [ ] @Sam write to Kim\n- [ ] order tea (Sam)\n- [ ] Kim: pay\n",
        "Daily/2024-01-16 Tuesday.md": "- [ ] water the plants\n- [ ] mow\n",
        "Daily/2024-01-17 Wednesday.md": (
            "- [x] tidy up ✅ 2024-01-17\n- [x] write to Kim\n- [x] order tea\n- [x] pay\n- [-] water the plants\n- [ ] mow\n"
        ),
    }
    async with draft_engine(tmp_path, notes=notes, me=["Sam Carter"]) as here:
        (week,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        assert section(here.text(week.path), "Carried over") == [
            "- mow ([[Daily/2024-01-16 Tuesday|2024-01-16 Tuesday]])",
            "- Kim: pay ([[Meetings/2024-01-16 Retro|2024-01-16 Retro]])",
        ]


async def test_the_invitation_loses_who_declined_and_what_a_call_adds(tmp_path: Path) -> None:
    people = (Attendee("Sam Carter"), Attendee("Bo"), Attendee("Cleo", declined=True))
    text = "Release\nMore phone numbers: tel.meet/x\nLearn more about Meet at: support.example/x"
    async with draft_engine(tmp_path, me=["Sam Carter"]) as here:
        row = await here.write(
            meeting("Planning", attendees=people, description=text, location="Room 2; Microsoft Teams-Besprechung")
        )
        text = here.text(row.path)
        assert "10:00–11:00 · Room 2\n" in text
        assert section(text, "Attendees") == ["- [[Sam Carter]]", "- [[Bo]]"]
        assert section(text, "Agenda") == ["- Release"]
        assert (await here.engine.drafts.plan_approval(row.id)).paths == (row.target, "People/Bo.md")


async def test_a_meeting_with_a_note_of_the_user_is_listed_without_its_waiting_draft(tmp_path: Path) -> None:
    own = "Meetings/2024-01-17 Gateway.md"
    async with draft_engine(
        tmp_path, notes={own: "---\ntype: meeting\n---\n# Gateway team\n\nIt went well.\n"}
    ) as here:
        await here.write(meeting())
        await here.indexed()
        (week,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        listed = "- 2024-01-17: [[Meetings/2024-01-17 Gateway|2024-01-17 Gateway]]"
        assert section(here.text(week.path), "Met") == [listed]


async def test_decisions_in_the_note_of_an_event_are_listed(tmp_path: Path) -> None:
    note = "# Gateway team\n\n- Bo spoke of Redis\n\n## Decisions\n\n- Redis stays\n"
    async with draft_engine(tmp_path, notes={"Work/2024-01-17 Gateway team.md": note}) as here:
        await here.hold(meeting())
        (day,) = await here.engine.drafts.write_new("daily_reflection", THIS_WEEK)
        link = "[[Work/2024-01-17 Gateway team|2024-01-17 Gateway team]]"
        assert section(here.text(day.path), "Met") == [f"- {link}"]
        assert section(here.text(day.path), "Decided") == [f"- Redis stays ({link})"]


async def test_a_task_that_was_due_years_ago_is_not_carried_over(tmp_path: Path) -> None:
    notes = {"Projects/Old.md": "- [ ] Renew the domain 📅 2021-03-01\n- [ ] Pay the fee 📅 2024-01-02\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        assert section(here.text(result.path), "Carried over") == [
            "- Pay the fee, due 2024-01-02 ([[Projects/Old|Old]])"
        ]


async def test_a_task_that_was_done_in_another_note_is_not_carried_over(tmp_path: Path) -> None:
    notes = {
        "Daily/2024-01-02.md": "- [ ] Phone the bank 📅 2024-01-10\n",
        "Daily/2024-01-09.md": "- [x] Phone the bank ✅ 2024-01-09\n- [x] Pay the fee ✅ 2024-01-09\n",
        "Daily/2024-01-10.md": "- [ ] Pay the fee 📅 2024-01-10\n",
        "Daily/2024-01-17.md": "- [x] ask **[[Ben]]**.\n",
        "Work/2024-01-16 Weekly.md": "- [ ] Ask Ben\n- [ ] Send the plan 📅 2024-01-19\n",
        "Projects/Plan.md": "- [ ] Send the plan 📅 2024-01-19\n",
        **{f"Projects/{name}.md": "- [ ] Send the invoice 📅 2024-01-19\n" for name in ("Acme", "Globex")},
        "Meetings/2024-01-16 Ana.md": "- [x] Follow up\n",
        "Meetings/Firmware/2024-01-09 Controller.md": "- [ ] Measure it 📅 2024-01-11\n- [ ] Weigh it 📅 2024-01-10\n",
        "Meetings/Firmware/2024-01-16 Firmware.md": "- [x] Weigh it\n",
        "Other/2024-01-16 Firmware.md": "- [x] Measure it\n",
        "Meetings/2024-01-15 Ben.md": "- [ ] Follow up\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        assert section(here.text(result.path), "Carried over") == [
            "- Pay the fee, due 2024-01-10 ([[Daily/2024-01-10|2024-01-10]])",
            "- Measure it, due 2024-01-11 ([[Meetings/Firmware/2024-01-09 Controller|2024-01-09 Controller]])",
            "- Send the invoice, due 2024-01-19 ([[Projects/Acme|Acme]])",
            "- Send the invoice, due 2024-01-19 ([[Projects/Globex|Globex]])",
            "- Send the plan, due 2024-01-19 ([[Projects/Plan|Plan]])",
            "- Follow up ([[Meetings/2024-01-15 Ben|2024-01-15 Ben]])",
        ]


async def test_a_task_whose_deadline_was_moved_in_its_series_is_listed_once(tmp_path: Path) -> None:
    notes = {
        "Board/2024-01-02 Board.md": "- [ ] Order ten pumps 📅 2024-01-09\n- [ ] Ask Ben 🔁 every week 📅 2024-01-09\n",
        "Board/2024-01-09 Board.md": "- [ ] Order ten pumps 📅 2024-01-23\n- [ ] Ask Ben 🔁 every week 📅 2024-01-16\n",
        "Sales/2024-01-09 Sales.md": "- [ ] Order ten pumps 📅 2024-01-16\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        text = here.text(result.path)
        assert section(text, "Carried over") == [
            "- Ask Ben, due 2024-01-09 ([[Board/2024-01-02 Board|2024-01-02 Board]])",
            "- Ask Ben, due 2024-01-16 ([[Board/2024-01-09 Board|2024-01-09 Board]])",
            "- Order ten pumps, due 2024-01-16 ([[Sales/2024-01-09 Sales|2024-01-09 Sales]])",
        ]
        assert section(text, "Next week") == [
            "- Order ten pumps, due 2024-01-23 ([[Board/2024-01-09 Board|2024-01-09 Board]])"
        ]


async def test_a_task_without_a_deadline_is_listed_by_the_day_for_which_it_is_scheduled(tmp_path: Path) -> None:
    boxes = "- [ ] Paint the door ⏳ 2024-01-17\n- [ ] Book the train ⏳ 2024-01-24\n- [ ] Call Ben ⏳ 2024-02-24\n"
    boxes += "- [ ] Pay the rent ⏳ 2024-01-17 📅 2024-01-26\n"
    notes = {"Chores.md": boxes, "Done.md": "- [x] Buy paint ⏳ 2024-01-16 ✅ 2024-01-17\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        text = here.text(result.path)
        assert [section(text, name) for name in ("Done", "Next week")] == [
            ["- Buy paint ([[Done]])"],
            ["- Book the train, scheduled 2024-01-24 ([[Chores]])", "- Pay the rent, due 2024-01-26 ([[Chores]])"],
        ]
        assert section(text, "Carried over") == ["- Paint the door, scheduled 2024-01-17 ([[Chores]])"]


async def test_a_task_that_was_done_in_two_notes_on_one_day_is_listed_once(tmp_path: Path) -> None:
    notes = {
        "Daily/2024-01-17.md": "- [x] Send the offer ✅ 2024-01-17\n- [x] Buy milk\n",
        "Shop/2024-01-16 Shop.md": "- [x] Buy milk ✅ 2024-01-17\n",
        "Board/2024-01-16 Board.md": "- [x] Send the offer 📅 2024-01-19 ✅ 2024-01-17\n",
        **{f"Projects/{name}.md": "- [x] Send the invoice ✅ 2024-01-17\n" for name in ("Acme", "Globex")},
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        done = statements(here.text(result.path), "Done")
        assert sorted(done) == ["- Buy milk", "- Send the invoice", "- Send the invoice", "- Send the offer"]


async def test_an_open_task_of_a_cancelled_project_is_marked(tmp_path: Path) -> None:
    boxes = "- [ ] Pay the deposit 📅 2024-01-19\n- [x] Choose a hut ✅ 2024-01-16\n"
    notes = {
        "Projects/Skiing.md": f"---\nstatus: Cancelled\n---\n{boxes}",
        "Projects/Hiking.md": "---\nstatus: active\n---\n- [ ] Buy boots 📅 2024-01-19\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        text = here.text(result.path)
        assert section(text, "Carried over") == [
            "- Buy boots, due 2024-01-19 ([[Projects/Hiking|Hiking]])",
            "- Pay the deposit, due 2024-01-19 ([[Projects/Skiing|Skiing]], cancelled)",
        ]
        assert section(text, "Done") == ["- Choose a hut ([[Projects/Skiing|Skiing]])"]


async def test_a_review_lists_a_sub_task_after_its_parent(tmp_path: Path) -> None:
    text = (
        "- [ ] **Report** 📅 2024-01-19\n  - [ ] send it\n- [x] Invoice ✅ 2024-01-17\n  - [x] send it ✅ 2024-01-16\n"
    )
    next_week = "- [ ] Trip\n  - [ ] book it 📅 2024-01-24\n"
    async with draft_engine(tmp_path, notes={"Work.md": text, "Travel.md": next_week}) as here:
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        written = here.text(result.path)
        assert section(written, "Carried over") == [
            "- Report, due 2024-01-19 ([[Work]])",
            "- Report › send it ([[Work]])",
        ]
        assert section(written, "Done") == ["- Invoice ([[Work]])", "- Invoice › send it ([[Work]])"]
        assert section(written, "Next week") == ["- Trip › book it, due 2024-01-24 ([[Travel]])"]


async def test_the_tasks_of_a_week_are_not_those_of_its_monday(tmp_path: Path) -> None:
    notes = {
        "Plans/2024-W03.md": "- [ ] Call the bank\n- [x] Sow peas\n",
        "Daily/2024-01-15.md": "- It rained all day\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (day,) = await here.engine.drafts.write_new("daily_reflection", datetime.date(2024, 1, 15))
        assert "Plans" not in here.text(day.path)
        (week,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        assert section(here.text(week.path), "Carried over") == ["- Call the bank ([[Plans/2024-W03|2024-W03]])"]


async def test_reflection_and_review_are_skipped_without_relevant_notes(tmp_path: Path) -> None:
    notes = {"Books/Novel.md": "---\ndate: 2024-01-17\n---\n# Novel\n\nIt was a dark and stormy night.\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        for skill in ("daily_reflection", "weekly_review"):
            (result,) = await here.engine.drafts.write_new(skill, THIS_WEEK)
            assert (result.skipped, result.reason) == (True, NOTHING)


async def test_checkbox_without_a_date_is_dated_by_git_history(tmp_path: Path) -> None:
    async with draft_engine(tmp_path, notes={"Projects/House.md": "- [x] Old thing\n- [ ] Paint the fence\n"}) as here:

        def committed(text: str, day: str) -> None:
            here.sandbox.write("Projects/House.md", text)
            os.environ["GIT_COMMITTER_DATE"] = f"{day}T12:00:00Z"
            try:
                git(here.root, "-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-qam", day)
            finally:
                del os.environ["GIT_COMMITTER_DATE"]

        git(here.root, "checkout", "-q", "--orphan", "again")
        git(here.root, "add", "-A")
        committed("- [x] Old thing\n- [ ] Paint the fence\n", "2024-01-12")
        committed("- [x] Old thing\n- [x] Paint the fence\n- [ ] Plant a tree\n", "2024-01-16")
        committed("- [x] Old thing\n- [x] Paint the fence\n- [x] Plant a tree\n", "2024-01-23")
        await here.indexed()
        (result,) = await here.engine.drafts.write_new("weekly_review", THIS_WEEK)
        assert section(here.text(result.path), "Done") == ["- Paint the fence ([[Projects/House|House]])"]


@pytest.mark.parametrize(("days", "done"), [(0, ["Mow", "Rake"]), (14, ["Rake"])])
async def test_a_box_of_a_new_note_is_done_when_it_was_ticked(tmp_path: Path, days: int, done: list[str]) -> None:
    day = datetime.date.today() - datetime.timedelta(days=days)
    monday = day - datetime.timedelta(days=day.weekday())
    async with draft_engine(tmp_path, notes={}) as here:

        def committed(on: datetime.date, **notes: str) -> None:
            for name, text in notes.items():
                here.sandbox.write(f"Projects/{name}.md", text)
            os.environ["GIT_COMMITTER_DATE"] = f"{on}T12:00:00Z"
            try:
                git(here.root, "add", "-A")
                git(here.root, "-c", "user.name=u", "-c", "user.email=u@example.org", "commit", "-qm", "notes")
            finally:
                del os.environ["GIT_COMMITTER_DATE"]

        git(here.root, "checkout", "-q", "--orphan", "again")
        committed(monday - datetime.timedelta(days=3), House="- [x] Old thing\n")
        committed(monday, Garden="- [x] Rake\n- [ ] Mow\n")
        here.sandbox.write("Projects/Garden.md", "- [x] Rake\n- [x] Mow\n")
        here.sandbox.write("Projects/Shed.md", "- [x] Not in git\n")
        await here.indexed()
        (result,) = await here.engine.drafts.write_new("weekly_review", day)
        lines = section(here.text(result.path), "Done")
        assert sorted(lines) == [f"- {each} ([[Projects/Garden|Garden]])" for each in done]


# People

ALICE = "# Rocket\n\n- Met [[People/Alice]] about the rocket\n- Bo paid for lunch\n- [[People/Alice]] likes tea\n"


def recently(days: int = 1) -> str:
    return (datetime.date.today() - datetime.timedelta(days=days)).isoformat()


async def profiles(here: DraftEngine) -> list[str]:
    results = await here.engine.drafts.write_new("person_profile", datetime.date.today())
    return [result.path for result in results]


async def test_a_person_without_a_page_gets_one_with_only_what_is_about_them(tmp_path: Path) -> None:
    owned = "## Decisions\n\n| Decision | Owner |\n|---|---|\n| Lease a van | Alice |\n| Alice leaves in June | Zoe |\n"
    text = f"{ALICE}\n## Alice\n\n- Moves to Lisbon in May\n\n## Others\n\n- Nobody came\n\n{owned}"
    notes = {
        f"Daily/{recently()}.md": text,
        "Tasks.md": "- [ ] Send [[People/Alice]] the plan\n- [ ] Water the plants\n",
        "My Templates/Form.md": "- Alice of the form\n- [ ] Ask Alice of the form\n",
        f"Daily/{recently(20)}.md": "[[People/Zoe]] [[People/Zoe]] [[People/Zoe]] [[People/Zoe]]\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        assert await profiles(here) == ["Inbox/Alice.md"]
        text = here.text("Inbox/Alice.md")
        assert statements(text, "What I know") == [
            "- Met Alice about the rocket",
            "- Alice likes tea",
            "- Moves to Lisbon in May",
            "- Alice leaves in June – Zoe",
        ]
        assert section(text, "Between us") == ["- Send Alice the plan ([[Tasks]])"]


async def test_a_profile_lists_no_task_that_a_later_note_has_as_done(tmp_path: Path) -> None:
    first, then = recently(3), recently(1)
    boxes = "- [ ] Alice: order two machines\n- [ ] Alice: book the room\n- [ ] Alice: call Ben\n"
    later = f"- [x] alice: order **two** machines. ✅ {then}\n- [x] Alice: book the room\n"
    notes = {
        f"Meetings/{first} Machines.md": f"{boxes}- [ ] Alice: sign the lease\n",
        f"Meetings/{then} Machines.md": later,
        f"Meetings/{then} Office.md": "- [x] Alice: call Ben\n",
        f"Meetings/{recently(5)} Machines.md": "- [x] Alice: sign the lease\n",
        "Chores.md": f"- [ ] Pay Alice 🔁 every week 📅 {then}\n- [x] Pay Alice 🔁 every week ✅ {then}\n",
        f"Daily/{then}.md": f"- [x] Pay Alice ✅ {then}\n- [x] Report to Alice 📅 {first} ✅ {then}\n",
        f"Daily/{first}.md": f"- [ ] Report to Alice 📅 {first}\n",
        "Plan.md": f"- [ ] Report to Alice 📅 {then}\n- [ ] Greet Alice\n",
        f"Daily/{recently(20)}.md": "- [x] Greet Alice\n",
        f"Meetings/{first} Meeting.md": "- [ ] Alice: send the minutes\n",
        f"Meetings/{then} Notes.md": "- [x] Alice: send the minutes\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Alice")
        assert statements(here.text(result.path), "Between us") == [
            f"- Pay Alice, due {then}",
            f"- Report to Alice, due {then}",
            "- Alice: call Ben",
            "- Alice: sign the lease",
            "- Alice: send the minutes",
        ]


async def test_an_action_item_is_no_fact_and_pending_only_after_the_last_meeting(tmp_path: Path) -> None:
    first, then = recently(8), recently(1)
    notes = {
        f"Meetings/{first} Props.md": "- Alice owns the swords\n\n## Actions\n- Alice to find a samovar\n",
        f"Meetings/{then} Props.md": "## Actions\n- Alice to glue the letters\n  - Alice has the glue\n- Ben to sing\n",
        f"Meetings/{recently(3)} Office.md": "## Actions\n- Alice: order gloves\n- Alice: call Ben\n",
        f"Meetings/{recently(90)} Roof.md": "## Actions\n- Alice to mend the roof\n",
        f"Daily/{then}.md": f"- [x] Alice: call Ben ✅ {then}\n- [ ] Alice: order gloves\n- I promised Alice to send the plan\n",
        "1on1/Alice.md": f"## {first}\n- TODO Alice: ask Cy\n\n## {then}\n- TODO Alice: pay Cy\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Alice")
        text = here.text(result.path)
        assert statements(text, "What I know") == ["- Alice owns the swords"]
        assert sorted(statements(text, "Between us")) == [
            "- Alice to glue the letters",
            "- Alice: order gloves",
            "- I promised Alice to send the plan",
            "- TODO Alice: pay Cy",
        ]


async def test_a_profile_has_no_line_about_somebody_unnamed(tmp_path: Path) -> None:
    lines = "- He said so to Alice\n- Alice leads the team\n  - She told Zoe\n- IT gave Alice a laptop\n"
    lines += "- Alice: he is late\n- Called Alice: she is fine\n\nAlice\n"
    notes = {
        f"Daily/{recently()}.md": f"It was Alice. This week Alice is away.\n\n{lines}\n## Alice\n- She likes tea\n"
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Alice")
        assert statements(here.text(result.path), "What I know") == [
            "- This week Alice is away.",
            "- Alice leads the team",
            "- IT gave Alice a laptop",
            "- Called Alice: she is fine",
            "- She likes tea",
        ]


async def test_a_profile_has_a_title_with_the_surname_of_the_only_attendee_of_that_name(tmp_path: Path) -> None:
    def note(attendees: str, text: str) -> str:
        return f"---\ntype: meeting\nattendees: [{attendees}]\n---\n{text}\n"

    notes = {
        f"Meetings/{recently(1)} Maths.md": note(
            "Ida Sommer, Bo Lund", "Frau Sommer prüft das Buch. Sie ist zufrieden. Der Sommer war gut."
        ),
        f"Meetings/{recently(2)} Books.md": note("Ida Sommer, Bo Sommer", "Frau Sommer bestellt die Hefte."),
        f"Meetings/{recently(3)} Parents.md": note("Bo Lund", "Ida Sommer fehlt. Frau Sommer aus der 9c spendet."),
        "People/Ida Sommer.md": "",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Ida Sommer")
        assert [line.partition(" ([[")[0] for line in section(here.text(result.path), "What I know")] == [
            "- Frau Sommer prüft das Buch. Sie ist zufrieden.",
            "- Ida Sommer fehlt.",
        ]
        assert "stub" not in here.text(result.path)


async def test_a_profile_has_lines_with_an_alias_or_the_initials_of_an_attendee(tmp_path: Path) -> None:
    notes = {
        "People/Ruth Ellery.md": "---\naliases: [Rue]\n---\n",
        "Meetings/2024-01-16 Staff.md": "Ana, Rue, me\n\n- Rue has moved to Leeds\n",
        "Meetings/2024-01-17 Panel.md": "---\nattendees: [Ruth Ellery, Cy Moss]\n---\n- RE speaks to the panel in May\n",
        "Meetings/2024-01-17 Class.md": "---\nattendees: [Ruth Ellery, Rob East]\n---\n- RE has no room\n",
        "Daily/2024-01-17.md": "- RE lesson was moved\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", THIS_WEEK, person="Ruth Ellery")
        found = statements(here.text(result.path), "What I know")
        assert found == ["- RE speaks to the panel in May", "- Rue has moved to Leeds"]


async def test_a_profile_has_no_line_of_mere_links(tmp_path: Path) -> None:
    text = "[[Alice]] and [[Bo Lund]].\n\n- [[Alice]], [[Bo Lund]]\n- [[Alice]] (lead), [[Bo Lund]]\n"
    async with draft_engine(tmp_path, notes={"Home.md": text, "People/Alice.md": ""}) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Alice")
        assert [line.partition(" ([[")[0] for line in section(here.text(result.path), "What I know")] == [
            "- Alice (lead), Bo Lund"
        ]


async def test_a_profile_has_no_line_about_others_at_a_meeting_with_the_person(tmp_path: Path) -> None:
    text = (
        "# Annual review with Alice\n\nTo improve: delegate more, report in time.\n\nAlice doubts the budget.\n\n"
        "I will send her the plan.\n\n## 1:1 with Alice\n\n- Wants to go to the data team\n\n## Alice\n\n- Likes tea\n"
    )
    async with draft_engine(tmp_path, notes={"Work/Review.md": text, "People/Alice.md": ""}) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Alice")
        assert statements(here.text(result.path), "What I know") == [
            "- Alice doubts the budget.",
            "- Wants to go to the data team",
            "- Likes tea",
        ]
        assert "- I will send her the plan. (" in here.text(result.path)


async def test_a_first_name_of_two_people_is_that_of_the_one_who_attended(tmp_path: Path) -> None:
    front = "---\ntype: meeting\ndate: {}\nattendees: [{}]\n---\n"
    notes = {
        "Meetings/a.md": front.format("2024-01-15", "'[[Mark Weber]]', '[[Ana Lima]]'")
        + "# Platform\n\n- Mark moves the queue to NATS\n- Mark Otto gets access\n- [ ] Mark writes the runbook\n",
        "Meetings/b.md": front.format("2024-01-16", "'[[Mark Otto]]'") + "# Sales\n\n- Mark wants a discount\n",
        "Meetings/c.md": front.format("2024-01-16", "'[[Mark Otto]]', '[[Mark Weber]]'")
        + "# Both\n\n- Mark likes the plan\n",
        "Daily/2024-01-17.md": "# Wednesday\n\n- Lunch with Mark\n- [[Mark Weber]] plays chess\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        today = datetime.date.today()
        (result,) = await here.engine.drafts.write_new("person_profile", today, person="Mark Weber")
        text = here.text(result.path)
        assert [line.split(" (")[0] for line in section(text, "What I know")] == [
            "- Mark Weber plays chess",
            "- Mark moves the queue to NATS",
        ]
        assert [line.split(" (")[0] for line in section(text, "Between us")] == ["- Mark writes the runbook"]


async def test_a_profile_has_no_line_that_somebody_else_says(tmp_path: Path) -> None:
    lines = "## Alice\n- Moves to Lisbon\n- Ben: I go to Rome\n- Tea\n  - Alice, green tea is best\n  - Ben, I like coffee\n"
    said = "TL: Who pays? I am in Rome.\nAL: We do.\n\nA dog, too.\n\n"
    both = "## Alice and Ben\n- My sister lives in Porto\n- Alice has a dog\n"
    month = "## Alice, May 2026: what she will do\n- Learn Dutch\n"
    people = "participants: [Alice, Ben Long, May Wong, Will Smith]"
    later = f"Daily/{datetime.date.today() + datetime.timedelta(days=3)}.md"
    text = f"---\n{people}\n---\n{lines}\n{said}{both}{month}"
    notes = {f"Daily/{recently()}.md": text, later: "- Alice comes to tea\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Alice")
        assert statements(here.text(result.path), "What I know") == [
            "- Moves to Lisbon",
            "- Tea",
            "  - Alice, green tea is best",
            "- AL: We do.",
            "- A dog, too.",
            "- Alice has a dog",
            "- Learn Dutch",
        ]


async def test_a_profile_leaves_greetings_and_thanks_out(tmp_path: Path) -> None:
    text = (
        "**Alice:** Hey Mel! Good to see you!\n\n**Mel:** Thanks so much for the tip, Alice! Wow, Alice, that's awesome.\n\n"
        "**Alice:** Yeah, I painted the lake last year!\n\n- Hi Alice, lovely to see you\n"
        "- Thanks to Alice the roof is dry again\n- Good with children, Alice\n- Thanks to Alice and Bo for the report\n"
    )
    async with draft_engine(tmp_path, notes={f"Daily/{recently()}.md": text}) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Alice")
        assert statements(here.text(result.path), "What I know") == [
            "- Alice: Yeah, I painted the lake last year!",
            "- Thanks to Alice the roof is dry again",
            "- Good with children, Alice",
        ]


async def test_person_profile_needs_more_than_two_mentions(tmp_path: Path) -> None:
    notes = {f"Daily/{recently()}.md": ALICE, "People/Bo.md": "# Bo\n\nmine\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        assert await profiles(here) == []


async def test_a_profile_of_one_person_is_written_on_demand(tmp_path: Path) -> None:
    notes = {f"Daily/{recently()}.md": ALICE, "People/Bo.md": "mine\n", "People/Dr. Ida Holm.md": "mine\n"}
    async with draft_engine(tmp_path, notes=notes) as here:
        drafts = here.engine.drafts
        (result,) = await drafts.write_new("person_profile", datetime.date.today(), person="Alice")
        assert "Alice likes tea" in here.text(result.path)
        for person, page in (("bo", "People/Bo.md"), ("Ida Holm", "People/Dr. Ida Holm.md")):
            with pytest.raises(DonnaError) as caught:
                await drafts.write_new("person_profile", datetime.date.today(), person=person)
            assert caught.value.reason is Reason.CONFLICT
            assert page in caught.value.message


@pytest.mark.parametrize(
    ("front", "people", "is_listed"),
    [("", ("Ana Lima",), True), ("", ("Ana Lima", "Bo"), False), ("donna: local-only\n", ("Ana Lima",), False)],
)
async def test_the_open_tasks_on_the_page_of_the_other_person_are_listed_for_a_meeting_of_two(
    tmp_path: Path, front: str, people: tuple[str, ...], is_listed: bool
) -> None:
    tasks = "- [ ] Talk about the holidays\n- [x] Thank for the plan\n"
    notes = {"People/Ana.md": f"---\naliases: [Ana Lima]\n{front}---\n{tasks}"}
    async with draft_engine(tmp_path, notes=notes) as here:
        row = await here.write(meeting("1:1", attendees=tuple(map(Attendee, people))))
        line = "## Open tasks\n\n- Talk about the holidays ([[People/Ana|Ana]])\n"
        assert (line in here.text(row.path)) is is_listed
        assert "holidays" not in here.text(row.path) or is_listed
        assert "Thank" not in here.text(row.path)


async def test_a_profile_reads_the_notes_of_meetings_that_the_person_attended(tmp_path: Path) -> None:
    front = "---\nattendees: [Kim Solberg, {}]\n---\n"
    others = {f"Old/2020-01-02 {number}.md": "- Ed Berg and Ed Berg, see Ed Berg\n" for number in range(50)}
    notes = {
        f"Meetings/{recently()} Props.md": f"{front.format('Ed Berg')}- Ed builds four swords\n- The ED unit is full\n",
        f"Meetings/{recently(2)} Props.md": f"{front.format('Bo Lund')}- Ed is a name that two people have\n",
        "Meetings/2020-01-01 Props.md": f"{front.format('Ed Walsh')}- Kim is in Oslo\n",
    }
    async with draft_engine(tmp_path, notes=notes | others) as here:
        (result,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Ed Berg")
        written = here.text(result.path)
        assert "- Ed builds four swords (" in written
        assert "ED unit" not in written
        assert "two people" not in written


async def test_a_heading_with_a_first_name_is_about_the_person_and_a_word_is_no_name(tmp_path: Path) -> None:
    text = "## 1:1 Kim\n\n- Wants to go to the data team.\n\n## Rest\n\n- Will send the offer\n- Will Turner sings\n"
    people = "---\nattendees: ['[[Kim Solberg]]', '[[Will Turner]]']\n---\n- Hello\n"
    notes = {f"Daily/{recently()}.md": text, f"Meetings/{recently()} Fair.md": people}
    async with draft_engine(tmp_path, notes=notes) as here:
        new = partial(here.engine.drafts.write_new, "person_profile", datetime.date.today())
        (kim,) = await new(person="Kim Solberg")
        assert "Wants to go to the data team" in here.text(kim.path)
        (will,) = await new(person="Will Turner")
        assert "sings" in here.text(will.path)
        assert "the offer" not in here.text(will.path)


async def test_a_profile_reads_notes_with_the_first_name_and_what_is_below_it_by_day(tmp_path: Path) -> None:
    notes = {
        "People/Kim Solberg.md": "",
        "1on1/Kim.md": f"# Kim\n\n## {recently()}\n\n- Wants to go to the data team\n\nI have no numbers yet.\n",
        f"Standups/{recently()}.md": "**Kim**\n- on the tax ticket\n\n**Bo**\n- off on Wednesday\n",
        "Projects/Import.md": "The team is small.\n\nKim leads this since May.\n",
    }
    async with draft_engine(tmp_path, notes=notes) as here:
        (kim,) = await here.engine.drafts.write_new("person_profile", datetime.date.today(), person="Kim Solberg")
        assert "Wants to go to the data team" in here.text(kim.path)
        assert "Kim leads this since May" in here.text(kim.path)
        assert "on the tax ticket" in here.text(kim.path)
        assert "no numbers" not in here.text(kim.path)
        assert "Wednesday" not in here.text(kim.path)


async def test_a_profile_is_found_by_an_alias_and_has_what_is_said_of_it(tmp_path: Path) -> None:
    text = "- Robert Stone plays the bass\n- Cy met Bob at the fair\n- Robert Berg sings\n"
    page = "---\ntype: person\nstub: true\naliases: [Robert Stone]\n---\n# Bob\n"
    async with draft_engine(tmp_path, notes={f"Daily/{recently()}.md": text, "People/Bob.md": page}) as here:
        new = here.engine.drafts.write_new
        (result,) = await new("person_profile", datetime.date.today(), person="Robert Stone")
        written = here.text(result.path)
        assert result.path.rpartition("/")[2].startswith("Bob")
        assert "plays the bass" in written
        assert "Cy met Bob" in written
        assert "sings" not in written


async def test_a_name_of_people_who_have_a_page_is_no_other_person(tmp_path: Path) -> None:
    pages = {f"People/{name}.md": "mine\n" for name in ("Ana Lima", "Ana Roth", "Ben Lima")} | {"People/Lima.md": ""}
    text = "- Ana Lima leads the team\n- Ana Roth sings\n- Lima is a city\n- Ben is in Rome\n"
    async with draft_engine(tmp_path, notes={f"Daily/{recently()}.md": text, **pages}) as here:
        new = partial(here.engine.drafts.write_new, "person_profile", datetime.date.today())
        for name, full in (("Ana", "“Ana Lima” or “Ana Roth”"), ("ben", "“Ben Lima”")):
            with pytest.raises(DonnaError) as caught:
                await new(person=name)
            assert caught.value.reason is Reason.USAGE
            assert caught.value.message == f"“{name}” has no page: give the full name, such as {full}"
        (lima,) = await new(person="Lima")
        assert lima.draft


async def test_a_name_that_no_note_has_in_full_has_no_profile(tmp_path: Path) -> None:
    text = "- Nobody called support\n- Ana Lima leads the team\n- Ana likes tea\n"
    async with draft_engine(tmp_path, notes={f"Daily/{recently()}.md": text}) as here:
        new = partial(here.engine.drafts.write_new, "person_profile", datetime.date.today())
        (nobody,) = await new(person="Nobody Known")
        assert not nobody.draft
        (ana,) = await new(person="Ana Lima")
        assert "Ana likes tea" in here.text(ana.path)


async def test_previous_note_without_content_is_only_linked(tmp_path: Path) -> None:
    empty: Meeting = meeting()
    async with draft_engine(tmp_path, notes={LAST: LAST_TIME.partition("## Notes")[0]}) as here:
        await here.write(empty)
        assert section(here.text(NOTE), "Last time") == [
            "[[Meetings/2024-01-10-gateway-team|2024-01-10-gateway-team]], 10 January 2024"
        ]
