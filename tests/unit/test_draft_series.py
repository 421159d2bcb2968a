"""Which notes belong to the same meeting, and which of them its people may read."""

from __future__ import annotations

import datetime
import json
from dataclasses import replace
from pathlib import Path
from typing import Any, cast

import pytest

from donna_tui.drafts.passages import IndexedNote, approved_notes
from donna_tui.drafts.series import (
    Earlier,
    Invited,
    background_notes,
    earlier_notes,
    is_meeting_note,
    names_of_people,
    notes_by_meeting,
    path_after,
    title_key,
)
from donna_tui.index.database import Database
from donna_tui.types.drafts import Attendee, Meeting
from donna_tui.vault.note.read import parse_frontmatter
from tests.unit.index_parts import note, open_store

DAY = datetime.date(2026, 2, 10)


class Notes:
    """The documents of an index."""

    def __init__(self, **notes: dict[str, Any]) -> None:
        self._notes = notes

    def rows(self, sql: str, parameters: object = ()) -> list[tuple[Any, ...]]:
        return [
            (
                front.get("_path", f"Meetings/{name}.md"),
                front.get("title", name),
                0.0,
                json.dumps({"frontmatter": {key: value for key, value in front.items() if key[0] != "_"}}),
                int(front.get("donna") == "local-only"),
                front.get("_heading", ""),
                0,
            )
            for name, front in self._notes.items()
        ]


def invited(title: str, *people: str, me: tuple[str, ...] = (), **details: Any) -> Invited:
    start = datetime.datetime(2026, 2, 10, 9, tzinfo=datetime.UTC)
    known: dict[str, Any] = {"event_id": "now", "start": start, "end": start, "day": DAY, **details}
    meeting = Meeting(calendar="c", title=title, attendees=tuple(Attendee(each) for each in people), **known)
    return Invited.to(meeting, me)


def found(notes: Notes, meeting: Invited) -> list[str]:
    return [each.note.title for each in earlier_notes(cast(Database, notes), meeting)]


def at(day: int, *people: str, **front: Any) -> dict[str, Any]:
    return {"type": "meeting", "date": f"2026-01-{day:02d}", "attendees": [f"[[{each}]]" for each in people], **front}


def test_the_series_counts_whatever_the_title_says() -> None:
    notes = Notes(
        one=at(5, series_id="s", title="Old name"),
        two=at(6, calendar_event_id="s/20260106", title="Other name"),
        three=at(7, title="Else"),
    )
    assert found(notes, invited("New name", "Ana", "Ben", series_id="s")) == ["Other name", "Old name"]


@pytest.mark.parametrize(
    ("name", "title"),
    [
        ("2026-01-05 Platform weekly", "Platform weekly"),
        ("2026-01-05-platform-weekly", "Platform weekly (W07)"),
        ("24-11-2026 Platform weekly", "Platform weekly"),
        ("Platform weekly, 5 January 2026", "Platform Weekly meeting"),
        ("20260105 platform_weekly notes", "platform weekly 10 February 2026"),
        ("2026-01-05 Budget", "Budget / me"),
    ],
)
def test_the_same_title_is_known_without_dates(name: str, title: str) -> None:
    assert title_key(name) == title_key(title)
    assert found(Notes(**{name: {"date": "2026-01-05"}}), invited(title, "Ana")) == [name]


def test_the_first_heading_of_a_note_is_a_title_of_it() -> None:
    notes = Notes(
        old={"date": "2026-01-05", "title": "Ops weekly planning"},
        new={"date": "2026-01-12", "title": "2026-01-12-ops-sync", "_heading": "Ops weekly planning"},
    )
    assert found(notes, invited("Ops weekly planning", "Ana"))[0] == "2026-01-12-ops-sync"


@pytest.mark.parametrize(
    ("text", "heading"),
    [
        ("# Ops weekly\n\nwords\n\n## Costs\n\nmore words\n", "Ops weekly"),
        ("# Team sync\n\nwords\n\n# Doctor\n\nmore words\n", ""),
        ("words\n\n# Team sync\n\nmore words\n", ""),
        ("words\n", ""),
    ],
)
def test_only_a_heading_above_the_whole_note_is_a_title_of_it(tmp_path: Path, text: str, heading: str) -> None:
    store = open_store(tmp_path / "index.db")
    store.upsert(note("Daily/2026-01-12.md", text))
    assert [each.heading for each in approved_notes(store.database)] == [heading]
    store.database.close()


def test_title_of_stop_words_only_keeps_its_words() -> None:
    assert title_key("where the where") == {"where"}
    assert title_key("Planning") != title_key("where the where")


def test_a_daily_note_is_not_of_the_meeting_called_daily() -> None:
    notes = Notes(
        diary={"_path": "Daily/2026-02-09.md", "title": "Sunday", "_heading": "Daily"},
        stand_up={"_path": "Work/2026-02-06 Daily.md", "type": "meeting"},
    )
    assert found(notes, invited("Daily", "Ana", "Ben")) == ["stand_up"]


@pytest.mark.parametrize(
    ("path", "front", "is_diary"),
    [
        ("Standups/2026-02-05.md", {"_heading": "Daily"}, False),
        ("Standups/Daily 2026-02-05.md", {}, False),
        ("Work/2026-02-05.md", {"series": "Daily"}, False),
        ("Team daily/2026-02-05.md", {}, False),
        ("Team daily/2026-02-05.md", {"_heading": "Daily"}, False),
        ("Daily/2026-02-05.md", {}, True),
        ("Daily/2026-02-05.md", {"attendees": ["Ana", "Ben"]}, False),
        ("Daily/2026-02-05.md", {"attendees": ["Mara"]}, True),
        ("01 - Daily Notes/2026/02/2026-02-05.md", {"_heading": "Daily"}, True),
        ("Diaries/2026-02-05.md", {"_heading": "Daily"}, True),
        ("Mein Logbuch/2026-02-05.md", {"_heading": "Daily"}, True),
        ("2026/2026-02-05 Thursday.md", {"_heading": "Daily"}, True),
    ],
)
def test_a_note_outside_a_diary_is_of_the_meeting_called_daily(
    path: str, front: dict[str, Any], is_diary: bool
) -> None:
    notes = Notes(note={"_path": path, **front})
    assert found(notes, invited("Daily", "Ana", "Ben", me=("Mara",))) == ([] if is_diary else ["note"])


@pytest.mark.parametrize(
    ("folder", "days", "quoted"),
    [
        ("Team Beta", (6, 8), 0),
        ("Kestrel", (2, 4), 4),
        ("Inbox", (6, 1), 4),
        ("Meetings", (6, 8), 4),
        ("Archive/Old", (6, 8), 4),
        ("Team Alpha", (6, 8), 4),
    ],
)
def test_the_stand_ups_of_two_teams_are_not_mixed(folder: str, days: tuple[int, int], quoted: int) -> None:
    paths = [f"Team Alpha/2026-01-0{day} Stand-up.md" for day in (5, 7)]
    paths += [f"{folder}/2026-01-0{day} Stand-up.md" for day in days]
    notes = Notes(**{path: {"_path": path} for path in paths})
    assert len(found(notes, invited("Stand-up", "Ana", "Ben"))) == quoted
    board = Notes(**{path: {"_path": path.replace("Stand-up", "Gateway review board")} for path in paths})
    assert len(found(board, invited("Gateway review board", "Ana", "Ben"))) == 4
    assert len(found(notes, invited("Team Alpha stand-up", "Ana", "Ben"))) == (4 if folder == "Team Alpha" else 2)


@pytest.mark.parametrize(
    ("folders", "quoted"),
    [
        *(
            (folders, 3)
            for folders in (
                "Gateway/Sprint 12|Gateway/Sprint 13|Gateway/Sprint 14",
                "Work/Week 03|Work/Week 04|Work/2026-W05",
                "Work/Woche 3|Work/Woche 4|Work/KW5",
                "Meetings/2026-01-15 Retro|Meetings/2026-01-22 Retro|Meetings/2026-01-29 Retro",
                "Work/H1 2025|Work/H2 2025|Work/Q1 2026",
                "2026/Januar|2026/Februar|2026/März",
                "Work/08 August|Work/2026-09|Work/07 Juli",
                "Projects/Gateway|Projects/Gateway|Projects/Gateway/Retros",
                "Projects/Gateway/Retros|Projects/Gateway|Projects/Gateway/2026",
            )
        ),
        *(
            (folders, 0)
            for folders in (
                "Team A|Team B|Team A",
                "Team 1|Team 2|Team 1",
                "2025/Team A|2025/Team B|2026/Team A",
                "Team A/2025|Team B/2025|Team A/2026",
                "Team A/Sprint 1|Team B/Sprint 1|Team A/Sprint 2",
                "Work/Team A|Work/Team B|Work",
            )
        ),
    ],
)
def test_folders_of_a_period_are_no_teams(folders: str, quoted: int) -> None:
    paths = [f"{folder}/2026-01-0{day} Retro.md" for day, folder in enumerate(folders.split("|"), 1)]
    assert len(found(Notes(**{path: {"_path": path} for path in paths}), invited("Retro", "Ana", "Ben"))) == quoted


@pytest.mark.parametrize("title", ["Retro", "Weekly sync", "Sprint planning", "All hands", "Bi-weekly", "Post-mortem"])
def test_the_meetings_that_every_team_has_are_not_mixed(title: str) -> None:
    alpha, beta = ({"_path": f"Team {team}/2026-01-0{day} {title}.md"} for team, day in (("Alpha", 5), ("Beta", 8)))
    assert found(Notes(alpha=alpha, beta=beta), invited(title, "Ana", "Ben")) == []
    years = {day: {"_path": f"Gateway/{day[:4]}/01 January/{day} {title}.md"} for day in ("2025-01-30", "2026-01-06")}
    assert len(found(Notes(**years), invited(title, "Ana", "Ben"))) == 2
    named = at(9, "Ana", "Ben", _path=f"Team Beta/2026-01-09 {title}.md")
    assert found(Notes(alpha=alpha, named=named), invited(title, "Ana", "Ben")) == ["named"]


def test_unrelated_notes_are_not_matched_to_a_meeting() -> None:
    notes = Notes(gateway=at(5, "Ana", "Ben"), notes_on_planning={"date": "2026-01-06"})
    assert found(notes, invited("Planning of the gateway", "Cleo", "Dana")) == []


def test_meeting_without_a_title_match_is_matched_by_attendees() -> None:
    notes = Notes(one=at(5, "Ana", "Ben"), two=at(6, "Ana", "Ben", "Cleo"))
    assert found(notes, invited("Something else", "Ben", "Ana")) == ["one"]


def test_the_aliases_of_a_page_are_names_of_its_person() -> None:
    pages = {
        "Ingrid": {"_path": "People/Ingrid.md", "aliases": ["Ingrid Halvorsen", "Halvorsen, Ingrid"]},
        "Ana Lima": {"_path": "People/Ana Lima.md", "alias": "Ana"},
        "Ana Berg": {"_path": "People/Ana Berg.md", "aliases": ["Ana"]},
    }
    notes = Notes(one=at(5, "Ingrid", title="1:1"), two=at(6, "Ana", title="1:1"), **pages)
    known = names_of_people(cast(Database, notes))
    for name, quoted in (("Ingrid Halvorsen", ["one"]), ("Halvorsen, Ingrid", ["one"]), ("Ana Lima", [])):
        meeting = Invited.to(invited("1:1", name).meeting, (), known)
        assert [each.note.path for each in earlier_notes(cast(Database, notes), meeting)] == [
            f"Meetings/{each}.md" for each in quoted
        ]


def event(title: str, day: int, *people: str, series: str = "") -> Meeting:
    at = datetime.datetime(2026, 1, day, 9, tzinfo=datetime.UTC)
    return Meeting(
        event_id=f"{title}{day}", calendar="c", title=title, start=at, end=at, day=at.date(), series_id=series,
        attendees=tuple(map(Attendee, people)),
    )  # fmt: skip


def test_the_calendar_tells_which_of_two_meetings_with_one_title_a_note_is_of() -> None:
    notes = Notes(
        ours={"date": "2026-01-06", "title": "Weekly"},
        theirs={"date": "2026-01-07", "title": "Weekly"},
        unplanned={"date": "2026-01-05", "title": "Weekly"},
    )
    calendar = (event("Weekly", 6, "Ana", "Ben", series="a"), event("Weekly", 7, "Cleo", "Dee", series="b"))
    asked = replace(invited("Weekly", "Ana", "Ben", series_id="a"), calendar=calendar)
    assert [each.note.path for each in earlier_notes(cast(Database, notes), asked)] == [
        "Meetings/ours.md",
        "Meetings/unplanned.md",
    ]


def test_the_note_of_a_renamed_occurrence_is_of_its_series() -> None:
    notes = Notes(
        old={"date": "2026-01-05", "title": "Design sync"},
        new={"date": "2026-01-12", "title": "Design sync with Nordlys"},
        other={"date": "2026-01-13", "title": "Design sync with Nordlys"},
    )
    calendar = (event("Design sync", 5, series="s"), event("Design sync with Nordlys", 12, series="s"))
    asked = replace(invited("Design sync", "Ana", series_id="s"), calendar=calendar)
    assert found(notes, asked) == ["Design sync with Nordlys", "Design sync"]


def test_of_two_meetings_with_one_title_on_one_day_each_has_the_note_with_its_people() -> None:
    notes = Notes(pump=at(6, "Jo", "Sam", title="Risk review"), software=at(6, "Jo", "Pia", title="Risk review"))
    calendar = (event("Risk review", 6, "Jo", "Sam", series="a"), event("Risk review", 6, "Jo", "Pia", series="b"))
    for people, series, path in (("Jo", "Sam"), "a", "pump"), (("Jo", "Pia"), "b", "software"):
        asked = replace(invited("Risk review", *people, series_id=series), calendar=calendar)
        assert [each.note.path for each in earlier_notes(cast(Database, notes), asked)] == [f"Meetings/{path}.md"]


@pytest.mark.parametrize(
    ("title", "then", "quoted"),
    [
        ("Clinic", ("Bea", "Kai"), True),  # Bea was ill
        ("Clinic", ("Kai",), False),  # Bea was not invited
        ("Clinic", ("Kai", "Zoe"), False),
        ("Interview", ("Bea", "Kai"), False),
    ],
)
def test_a_meeting_in_which_one_person_came_was_no_one_to_one_if_the_others_were_invited(
    title: str, then: tuple[str, ...], quoted: bool
) -> None:
    asked = replace(invited(title, "Bea", "Kai", series_id="s"), calendar=(event(title, 6, *then, series="s"),))
    assert found(Notes(last=at(6, "Kai", title=title)), asked) == ([title] if quoted else [])


def test_a_note_belongs_to_the_only_meeting_of_its_day_with_exactly_its_people() -> None:
    note_of_ben = IndexedNote("1on1/2026-02-10 Ben.md", "1:1 Ben", 0.0, {"attendees": ["Ben"]}, False)
    one, other = invited("Ben / Sam 1:1", "Ben"), invited("Lunch", "Ben", event_id="other")
    assert notes_by_meeting([one], [note_of_ben]) == {"now": note_of_ben}
    assert notes_by_meeting([invited("Talk", "Ben"), replace(other, key=one.key)], [note_of_ben]) == {}
    assert notes_by_meeting([invited("Review", "Ben", "Ana")], [note_of_ben]) == {}


def test_first_names_in_a_note_are_those_of_the_people_who_are_invited_to_a_meeting_of_its_title() -> None:
    note_of_day = IndexedNote("Study/2026-02-10 Study.md", "Study", 0.0, {"participants": ["Selin", "Raphael"]}, False)
    people = ("Selin Aksoy", "Raphael Dubler")
    assert notes_by_meeting([invited("Study", *people)], [note_of_day]) == {"now": note_of_day}
    assert notes_by_meeting([invited("Study", "Selin Aksoy", "Selin Berg", "Raphael Otto")], [note_of_day]) == {}
    assert notes_by_meeting([invited("Study", "Selina Aksoy", "Rafael Dubler")], [note_of_day]) == {}
    assert notes_by_meeting([invited("1:1", "Selin Aksoy")], [replace(note_of_day, front={"with": "Selin"})]) == {}


def test_a_name_with_brackets_is_known_in_the_note_of_a_draft() -> None:
    front = {"type": "meeting", "date": "2026-01-05", "attendees": [r"Eve \[External\]"]}
    assert found(Notes(one=front), invited("Something else", "Eve [External]")) == ["one"]


def test_later_note_is_not_matched_as_an_earlier_meeting() -> None:
    assert found(Notes(weekly={"date": "2026-02-11"}), invited("Weekly", "Ana")) == []


@pytest.mark.parametrize(
    ("people", "quoted"),
    [(("Ben",), True), (("Ana",), False), (("Ben", "Ana", "Cleo"), False)],
)
def test_a_one_to_one_is_for_its_two_people(people: tuple[str, ...], quoted: bool) -> None:
    notes = Notes(one=at(5, "Ben", title="1:1"))
    assert bool(found(notes, invited("1:1", *people))) is quoted


def test_a_one_to_one_without_people_is_for_the_only_person_of_that_name() -> None:
    notes = {"one": {"date": "2026-01-05", "title": "Anna 1on1"}}
    meeting = invited("1:1 Anna", "Anna Smith")
    assert found(Notes(**notes), meeting) == ["Anna 1on1"]
    assert found(Notes(**notes, plan=at(6, "Anna", "Anna Smith")), meeting) == ["Anna 1on1"]
    assert found(Notes(**notes, plan=at(6, "Anna Berg", "Ben Koch")), meeting) == []


def test_the_title_of_a_one_to_one_is_the_same_without_the_name_of_the_user() -> None:
    notes = Notes(
        ours=at(5, "Ana Lima", title="1:1 Ana"),
        theirs=at(8, "Ana Lima", title="Mara Quist"),
        later=at(9, "Ana Lima", title="Design sync"),
    )
    me = ("Mara Quist", "mara@example.org")
    assert found(notes, invited("1:1 Ana / Mara", "Ana Lima", "Mara Quist", me=me)) == ["1:1 Ana"]


def test_a_note_of_an_interview_is_not_quoted_to_a_third_person() -> None:
    notes = Notes(one={"date": "2026-01-05", "title": "Interview Jane Doe"})
    assert found(notes, invited("Interview Jane Doe", "Mara", "Jane Doe", "Ben")) == []
    assert found(notes, invited("Interview Jane Doe", "Mara", "Jane Doe", "Ben", me=("Mara",))) == []
    assert found(notes, invited("Interview Jane Doe", "Mara", "Jane Doe", me=("Mara",))) == ["Interview Jane Doe"]


def test_a_note_of_a_lunch_with_somebody_is_not_quoted_to_a_third_person() -> None:
    notes = Notes(one={"date": "2026-01-05", "title": "Lunch with Karl"})
    assert found(notes, invited("Lunch with Karl", "Mara", "Karl Ott", "Ana")) == []
    assert found(notes, invited("Lunch with Karl", "Mara", "Karl Ott")) == []
    assert found(notes, invited("Lunch with Karl", "Mara", "Karl Ott", me=("Mara",))) == ["Lunch with Karl"]
    assert found(notes, invited("Lunch with Karl", "Karl Ott")) == ["Lunch with Karl"]


@pytest.mark.parametrize(
    "title",
    [
        "Dinner with Ben",
        "Career talk with Ben",
        "Zoom with Ben Long",
        "Mittagessen mit Ben",
        "Déjeuner avec Ben",
        "walk-with-ben",
        "Ben / Kim",
        "Ben's check-in",
    ],
)
def test_a_note_with_somebody_is_quoted_only_to_that_person(title: str) -> None:
    notes = Notes(one={"date": "2026-01-05", "title": title})
    assert found(notes, invited(title, "Kim", "Ben", "Dave", me=("Kim",))) == []
    assert found(notes, invited(title, "Kim", "Ben", me=("Kim",))) == [title]


@pytest.mark.parametrize(
    ("path", "text", "is_left_out"),
    [
        ("Meetings/Template.md", "---\ntype: meeting\n---\n# Weekly\n", True),
        ("10 Vorlagen/Meeting.md", "---\ntype: meeting\n---\n# Weekly\n", True),
        ("Forms/Weekly.md", "# Weekly\n", True),
        ("My Templates/Weekly.md", "# Weekly\n", True),
        ("Meetings/Weekly.md", "---\ntype: meeting\n---\n# {{title}}\n\n- Costs\n", True),
        ("Meetings/Weekly.md", '---\ntype: meeting\n---\n# Weekly\n\n<% tp.date.now("YYYY") %>\n', True),
        ("Meetings/Weekly.md", "---\ntype: meeting\n---\n# Weekly\n\n- 50% of {{costs}}\n", False),
        ("Meetings/2026-01-05 Weekly.md", "---\ntype: meeting\n---\n# Weekly\n\n- We fill in {{title}}\n", False),
        ("Meetings/2026-01-05 Template.md", "---\ntype: meeting\n---\n# Weekly\n", False),
        ("Notes/Obsidian.md", "# Templates\n\n- {{title}} is the title\n", False),
        ("Formsheets/Weekly.md", "# Weekly\n", False),
    ],
)
def test_a_template_is_no_note_of_a_meeting(tmp_path: Path, path: str, text: str, is_left_out: bool) -> None:
    store = open_store(tmp_path / "index.db")
    store.upsert(note(path, text, metadata={"frontmatter": parse_frontmatter(text).data}))
    assert [each.path for each in approved_notes(store.database, ("Forms",))] == ([] if is_left_out else [path])
    store.database.close()


@pytest.mark.parametrize(
    ("path", "front", "is_meeting"),
    [
        ("Meetings/Template.md", {"created": "2026-11-26"}, False),
        ("Meetings/2026-11-26 Roof.md", {}, True),
        ("Work/2026-11-26.md", {"participants": ["Ana", "me"]}, True),
        ("Arbeit/2026-11-26.md", {"teilnehmer": ["Ana"]}, True),
        ("1on1/2026-11-26 Ana.md", {}, True),
        ("1:1s/2026-11-26.md", {}, True),
        ("Work/2026-11-26 1-1 Ana.md", {}, True),
        ("Retro/2026-11-26 Retro.md", {}, True),
        ("Work/20261126_Team_Stand-up.md", {}, True),
        ("Globex/Call with Ana 2026-11-26.md", {}, True),
        ("Arbeit/2026-11-26 Teambesprechung.md", {}, True),
        ("Arbeit/Vorstandssitzung 2026-11-26.md", {}, True),
        ("Work/2026-11-26 Team meeting notes.md", {}, True),
        ("Home/2026-11-26 Dinner in 30 minutes.md", {}, False),
        ("Work/2026-11-26 Prepare for meeting.md", {}, False),
        ("Work/2026-11-26 API calls.md", {}, False),
        ("Work/2026-11-26 Sync.md", {}, False),
        ("Privat/2026-11-26 Freunde treffen.md", {}, False),
        ("Retro/Retro.md", {"date": "2026-11-26"}, False),
        ("Work/2026-11-26 Call the plumber.md", {}, False),
        ("Work/2026-11-26 Meeting rooms to book.md", {}, False),
        ("Work/2026-11-26 Roll-calls and rosters.md", {}, False),
        ("Home/2026-11-26 Installation.md", {}, False),
        ("Journal/2026/1/1 Berlin/2026-11-26 walk.md", {}, False),
        ("Album 1x1/2026-11-26.md", {}, False),
        ("Chapter 1-1/2026-11-26 x.md", {}, False),
        ("Daily/2026-11-26.md", {"participants": ["me"]}, False),
        ("Daily/2026-11-26.md", {"attendees": ["[[Kim Lee]]"]}, False),
    ],
)
def test_a_note_is_of_a_meeting_by_its_people_or_by_its_path_and_day(
    path: str, front: dict[str, Any], is_meeting: bool
) -> None:
    assert is_meeting_note(IndexedNote(path, path, 0.0, front, False), ["Kim Lee"]) is is_meeting


def test_the_user_is_not_one_of_the_others() -> None:
    notes = Notes(one=at(5, "Ben", title="1:1"))
    assert found(notes, invited("1-1", "Mara", "Ben", me=("Mara",))) == ["1:1"]
    assert found(notes, invited("1-1", "Mara", "Ana", me=("Mara",))) == []


@pytest.mark.parametrize("title", ["Customer call", "Interview", "Catch-up", "Intro call"])
def test_generic_title_matches_only_with_the_same_people(title: str) -> None:
    notes = Notes(one=at(5, "Dana", "Ben", title=title))
    assert found(notes, invited(title, "Erik", "Ben")) == []
    assert found(notes, invited(title, "Dana", "Ben")) == [title]


def test_a_private_note_is_for_no_meeting_with_others() -> None:
    notes = Notes(one=at(5, "Ana", "Ben", donna="local-only", title="Weekly"))
    assert found(notes, invited("Weekly", "Ana", "Ben")) == []
    assert found(notes, invited("Weekly")) == ["Weekly"]


def test_an_older_note_is_not_the_last_one_because_the_last_is_private() -> None:
    notes = Notes(old=at(5, title="Weekly"), new=at(12, title="Weekly", donna="local-only"))
    assert found(notes, invited("Weekly", "Ana", "Ben")) == []


def test_a_project_note_is_background_where_the_title_names_it() -> None:
    notes = Notes(
        Offsite={"_path": "Projects/Offsite.md"},
        overview={"_path": "Projects/Import/overview.md"},
        Budget={"_path": "Notes/Budget.md"},
        Salaries={"_path": "Projects/Salaries.md", "donna": "local-only"},
    )
    names = [
        [each.path for each in background_notes(cast(Database, notes), invited(title, "Ana", "Ben"))]
        for title in ("Offsite planning", "Import handover", "Budget", "Salaries round", "Weekly")
    ]
    assert names == [["Projects/Offsite.md"], ["Projects/Import/overview.md"], [], [], []]


@pytest.mark.parametrize(
    ("last", "path"),
    [
        ("Work/Team/2026-01-05 weekly.md", "Work/Team/2026-02-10 weekly.md"),
        ("Meetings/weekly 20260105.md", "Meetings/weekly 20260210.md"),
        ("2026/01/2026.01.05 weekly.md", "2026/02/2026.02.10 weekly.md"),
        ("Protokolle/05.01.2026 Jour fixe.md", "Protokolle/10.02.2026 Jour fixe.md"),
        ("Meetings/weekly.md", ""),
    ],
)
def test_a_note_is_named_and_placed_as_the_last_one(last: str, path: str) -> None:
    earlier = Earlier(IndexedNote(last, "weekly", 0.0, {}, False), datetime.date(2026, 1, 5))
    assert path_after(earlier, DAY) == path
