"""Find the earlier notes of a meeting: of the same series, else with the same title, else with the same people.

Search results never fill gaps. A note of a 1:1, an interview or the like is used only for its own participants, and a
private note for no meeting with others. `Gatherer` reads these notes, and whatever else a draft is based on.
"""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections import Counter
from collections.abc import Awaitable, Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from enum import IntEnum
from pathlib import PurePosixPath
from typing import Any, Protocol, TypeVar

from donna_tui.config.models import MemoryConfig
from donna_tui.drafts.drafters import Corrected
from donna_tui.drafts.passages import IndexedNote, approved_notes, is_draft
from donna_tui.drafts.people import FOLDER, untitled
from donna_tui.drafts.text import words_only
from donna_tui.index.database import Database
from donna_tui.index.names import NameKind
from donna_tui.search.ranking import stems_of
from donna_tui.text.dates import MONTH, WEEKDAYS
from donna_tui.text.words import ONE_ON_ONE
from donna_tui.types.drafts import Meeting
from donna_tui.types.search import ME, Filters, Hit, MemorySource, SearchOutcome, SearchRequest
from donna_tui.vault.client import VaultClient
from donna_tui.vault.note.read import aliases_of, note_date

MAX_BACKGROUND = 3
"""Maximum number of project notes that a draft mentions."""

SMALL_GROUP, SAME_GROUP, SAME_CROWD = 6, 0.6, 1 / 3
"""Thresholds for two meetings with one title to be the same.

Up to `SMALL_GROUP` people, `SAME_GROUP` of all of them must be at both; in a larger group, `SAME_CROWD` of the smaller
one.
"""

_ATTENDEE_KEYS = ("attendees", "participants", "teilnehmer")
PEOPLE_KEYS = (*_ATTENDEE_KEYS, "people", "with")

_DATES = re.compile(
    r"(?<!\d)(?:19|20)\d\d[-_./]?(?:0[1-9]|1[0-2])[-_./]?(?:0[1-9]|[12]\d|3[01])(?!\d)"
    rf"|\b\d{{1,2}}(?:st|nd|rd|th|\.)? (?:{MONTH})\b(?:,? (?:19|20)\d\d)?"
    rf"|\b(?:{MONTH}) \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? (?:19|20)\d\d)?"
    rf"|\b(?:{MONTH}) (?:19|20)\d\d\b|\b\d{{1,2}}[./]\d{{1,2}}[./](?:\d\d){{1,2}}\b"
    r"|\b\d{1,2}-\d{1,2}-(?:19|20)\d\d\b|(?<!\d)(?:19|20)\d\d(?!\d)"
    r"|\b(?:week|kw|cw|sprint|no\.?|nr\.?|w)[ ]?#?\d{1,3}\b|#\d+",
    re.IGNORECASE,
)
_DAY = re.compile(r"(?<!\d)((?:19|20)\d\d)[-_.]?(0[1-9]|1[0-2])[-_.]?(0[1-9]|[12]\d|3[01])(?!\d)")
_GERMAN_DAY = re.compile(r"(?<!\d)(?:0?[1-9]|[12]\d|3[01])\.(?:0?[1-9]|1[0-2])\.(?:19|20)\d\d(?!\d)")
_ONE_ON_ONE_FOLDER = re.compile(r"\b1(?::|[- ]?on[- ]?)1s?\b", re.IGNORECASE)
_NAMED_MEETING = re.compile(
    r"\A(?!.*\b(?:a|an|the|for|no|by|before|after|to|cancelled|missed|prepare)\b)\W*(?:\w+\W+){0,2}"
    r"(?:meeting|retro|stand-?up|kick-?off|jour fixe|(?:team|projekt|status|wochen|dienst)?besprechung"
    r"|(?:\w+s)?sitzung|teammeeting)(?:[ -]notes|protokoll)?\W*\Z"
    r"|\A\W*(?:call|meeting|besprechung|sitzung)\s+(?:with|mit)\b",
    re.IGNORECASE,
)
"""The name of a meeting, without dates."""

_POSSESSIVE = re.compile(r"(?<=\w)['’]s\b", re.IGNORECASE)
_WORD, _NAME_WORD = re.compile(r"1:1|\w+"), re.compile(r"[^\W_]+")
_FILLER = frozenset({"meeting", "meetings", "notes", "note", "minutes", "re", "fwd", "fw", "aw", "wg"})
_LITTLE = frozenset({"the", "a", "an", "of", "with", "and", "for", "on", "at", "to", "me", "und", "mit", "de"})
_PERSONAL = frozenset(
    {
        "1:1", "interview", "interviews", "candidate", "screening", "performance", "appraisal", "feedback", "coaching",
        "mentoring", "salary", "personal", "hr",
    }
)  # fmt: skip
"""Title words of meetings that are confidential to their participants."""

_ANYBODY = _PERSONAL | {
    "call", "chat", "catch", "up", "catchup", "intro", "introduction", "coffee", "lunch", "customer", "client",
    "vendor", "partner", "supplier", "demo", "follow", "followup", "sync", "review", "check", "in", "onboarding",
}  # fmt: skip
"""Title words of meetings with anybody: a title of these alone does not identify a meeting."""

_DIARY = frozenset(
    {"daily", "dailies", "dailynotes", "journal", "journals", "diary", "diaries", "log", "logbuch", "tagebuch"}
)
"""Words in the names of folders of daily notes, which are not those of a meeting called “Daily”."""

_TEAM = frozenset({"team", "teams", "standup", "standups", "scrum"})
"""Words in the names of a team's daily meetings, and of the folders of their notes."""

_EVERY_TEAM = _TEAM | _DIARY | _ANYBODY | {
    "stand", "ups", "weekly", "biweekly", "monthly", "retro", "retros", "retrospective", "sprint", "planning",
    "refinement", "grooming", "status", "update", "updates", "kickoff", "kick", "off", "jour", "fixe", "besprechung",
    "retrospektive", "sprintplanung", "backlog", "all", "hands", "bi", "wochenbesprechung", "teammeeting", "iteration",
    "post", "mortem",
}  # fmt: skip
"""Title words of meetings that every team has: a title of these alone does not say which team it is."""

_PERIOD = re.compile(
    r"\b(?:(?:week|woche|sprint|iteration|quarter|quartal) ?\d*|(?:[qhw]|kw|cw|fy) ?\d{1,4}|(?:19|20)\d\d"
    rf"|{MONTH})\b",
    re.IGNORECASE,
)
"""A year, quarter, month, week or sprint in the name of a folder."""

DAY_NAMES = frozenset(
    "monday tuesday wednesday thursday friday saturday sunday montag dienstag mittwoch donnerstag freitag samstag"
    " sonnabend sonntag lundi mardi mercredi jeudi vendredi samedi dimanche lunes martes miércoles jueves viernes"
    " sábado domingo".split()
)
"""Words that the name of a daily note may contain besides the day."""

_ANY_TEAM = frozenset({"inbox", "archive", "archiv"})
"""Names of folders with the notes of several teams."""

_MEETING_FOLDER = re.compile(
    r"\A(?:meetings|meeting notes|minutes|besprechungen|sitzungen|protokolle|besprechungsnotizen)\Z", re.IGNORECASE
)
"""Names of folders of the notes of meetings."""

WITH = re.compile(r"(?:^|[\W_])(?:with|mit|avec|con)[\W_]+(.+)", re.IGNORECASE)
"""The end of a title that names with whom the meeting is."""

OVERVIEWS = frozenset({"overview", "index", "readme", "plan", "notes", "home", "summary", "project"})
"""Names of notes that are named after their folder."""


class Match(IntEnum):
    """The reason why an earlier note belongs to the meeting."""

    SERIES = 0
    TITLE = 1
    PEOPLE = 2


@dataclass(frozen=True, slots=True)
class Earlier:
    """An earlier meeting: its note, its day, and the kind of match."""

    note: IndexedNote
    day: datetime.date
    match: Match = Match.TITLE


@dataclass(frozen=True, slots=True, kw_only=True)
class Invited:
    """The identifying features of a meeting. `people` are the others, without the user.

    `namesakes` are the words in the names of further people whom notes name. `other_names` are those of the people who
    are invited, with their names in the invitation. `calendar` are the earlier events of its series or with its title.
    """

    meeting: Meeting
    key: frozenset[str]
    people: frozenset[str]
    me: frozenset[str] = field(default_factory=frozenset)
    namesakes: frozenset[str] = field(default_factory=frozenset)
    other_names: Mapping[str, str] = field(default_factory=dict)
    calendar: tuple[Meeting, ...] = ()

    @classmethod
    def to(cls, meeting: Meeting, me: Collection[str], known: Iterable[Collection[str]] = ()) -> Invited:
        """Extract the people and the title key of a meeting; `me` are the user's names and addresses, `known` the names
        of each person with a page.
        """
        mine = frozenset(person_key(name) for name in me)
        others = {
            person_key(attendee.name or attendee.email)
            for attendee in meeting.attendees
            if person_key(attendee.name) not in mine and not (attendee.email and person_key(attendee.email) in mine)
        }
        people = frozenset(others - {""})
        other_names = {
            name: invited for names in known for invited in people.intersection(names) for name in {*names} - people
        }
        return cls(meeting=meeting, key=title_key(meeting.title, mine), people=people, me=mine, other_names=other_names)

    def people_at(self, note: IndexedNote) -> frozenset[str]:
        """Return the other people whom a note lists, by their names in the invitation."""
        people = people_of(note.front)
        if note.section and not people and _is_filed(note, _ONE_ON_ONE_FOLDER):  # `1on1/Ben.md`
            people = frozenset({person_key(PurePosixPath(note.path).stem)})
        return frozenset(self.other_names.get(name, name) for name in people - self.me)


def names_of_people(index: Database) -> list[frozenset[str]]:
    """Return the names of each person with a page: its file name and its aliases, without those of several people."""
    names = [
        frozenset(map(person_key, (PurePosixPath(note.path).stem, *aliases_of(note.front))))
        for note in approved_notes(index, folder=FOLDER)
    ]
    often = Counter(name for each in names for name in each)
    return [frozenset(name for name in each if often[name] == 1) for each in names]


def earlier_notes(index: Database, invited: Invited, templates: Collection[str] = ()) -> list[Earlier]:
    """Return the earlier notes of a meeting, latest first: of its series or title or, failing these, of its people.

    Empty if the latest of them must not be quoted to the people of this meeting, or is perhaps of another meeting.
    """
    found: dict[Match, list[Earlier]] = {match: [] for match in Match}
    notes = list(with_sections(index, approved_notes(index, templates)))
    # The words in the full names of people whom notes name, or who have a page, and who are not invited.
    people = people_in(notes) | {
        person_key(PurePosixPath(note.path).stem) for note in notes if note.path.startswith(f"{FOLDER}/")
    }
    others = people - invited.people - invited.me - invited.other_names.keys()
    words = frozenset(word for person in others if " " in person for word in person.split())
    invited = replace(invited, namesakes=words)
    for note in notes:
        day = day_in(note.path, note.front)
        if day is None or not _is_before(note, day, invited.meeting):
            continue
        match = match_of(note, invited)
        if match is not None:
            found[match].append(Earlier(note, day, match))
    best = [*found[Match.SERIES], *found[Match.TITLE]] or _in_daily_notes(index, notes, invited) or found[Match.PEOPLE]
    best.sort(key=lambda each: (each.day, str(each.note.front.get("event_start", "")), each.note.path), reverse=True)
    best = _of_one_team(best, invited.key) if invited.key <= _EVERY_TEAM else best
    if best and not _may_be_quoted(best[0], invited):
        return []
    return [earlier for earlier in best if _may_be_quoted(earlier, invited)]


def with_sections(index: Database, notes: Iterable[IndexedNote]) -> Iterator[IndexedNote]:
    """Yield notes; in place of a running note of meetings, its sections with a day in their heading."""
    for note in notes:
        days = set[datetime.date]()
        if _may_be_running(note):
            days = {day for name in _headings(index, note) if (day := day_of(name))}
        for day in sorted(days):
            yield replace(note, front={**note.front, "date": day.isoformat()}, section=day)
        if not days:
            yield note


def _headings(index: Database, note: IndexedNote) -> list[str]:
    sql = (
        "SELECT n.name FROM note_names n JOIN memory_documents d ON d.id = n.document_id"
        " WHERE d.source_type = 'vault' AND d.source_id = ? AND n.kind = ?"
    )
    return index.column(sql, (note.path, int(NameKind.HEADING)))


def _in_daily_notes(index: Database, notes: Iterable[IndexedNote], invited: Invited) -> list[Earlier]:
    """Return the sections of daily notes with the title of a meeting as their heading. A title that every team has is
    that of the meeting if the calendar has one on this day.
    """
    found = []
    of_calendar = {event.day for event in invited.calendar}
    for note in notes:
        day, words = day_of(note.path), title_key(PurePosixPath(note.path).stem)
        is_certain = day in of_calendar or not invited.key <= _EVERY_TEAM
        if day and is_certain and words <= DAY_NAMES and _is_before(note, day, invited.meeting):
            for name in _headings(index, note):
                section = replace(note, title=name, heading=name, section=name)
                if name != note.heading and title_key(name, invited.me) == invited.key and match_of(section, invited):
                    found.append(Earlier(section, day))
    return found


def _may_be_running(note: IndexedNote) -> bool:
    """Check by its folder, name or properties whether a note without a day may have the minutes of several meetings."""
    is_marked = note.front.get("type") == "meeting" or any(note.front.get(key) for key in _ATTENDEE_KEYS)
    is_named = ONE_ON_ONE.search(PurePosixPath(note.path).stem) is not None
    is_minutes = is_marked or is_named or _is_filed(note, _ONE_ON_ONE_FOLDER, _MEETING_FOLDER)
    return is_minutes and day_in(note.path, note.front) is None


def _is_filed(note: IndexedNote, *folders: re.Pattern[str]) -> bool:
    parts = PurePosixPath(note.path).parts[:-1]
    return any(pattern.search(part) for pattern in folders for part in parts)


def _of_one_team(best: list[Earlier], key: frozenset[str]) -> list[Earlier]:
    """Leave out the notes that name nobody if the notes, latest first, are of several teams.

    They are if those of two folders are of the same time, or the folder of the last has no other: it may be the first
    of another team. A folder inside another is of the same team; one such as Inbox or Meetings may have the notes of
    any team.
    """
    named = [(team, each.day) for each in best if (team := _team_of(each.note, key))]
    days_of_last = [day for team, day in named if team == named[0][0]]
    moved = min(days_of_last) if len(days_of_last) > 1 else datetime.date.min
    teams = [team for team, day in named if day >= moved]
    innermost = max(teams, key=len, default=())
    if all(innermost[: len(team)] == team for team in teams):
        return best
    return [each for each in best if each.match is not Match.TITLE or people_of(each.note.front)]


def _team_of(note: IndexedNote, key: frozenset[str]) -> tuple[tuple[str, ...], ...]:
    """Return the words in the folders of a note; empty if they have notes of any team.

    Dates, periods and the words of the title (`key`) are left out, but not the number in “Team 1”.
    """
    left_out = (_FILLER | key) - _TEAM
    folders = []
    for part in PurePosixPath(note.path).parent.parts:
        bare = _PERIOD.sub(" ", _DATES.sub(" ", " ".join(_NAME_WORD.findall(part))))
        words = tuple(word for word in bare.casefold().split() if word not in left_out)
        if not all(word.isdigit() for word in words):
            folders.append(words)
    return () if any(_ANY_TEAM.intersection(words) for words in folders) else tuple(folders)


def _may_be_quoted(earlier: Earlier, invited: Invited) -> bool:
    """Apply `may_be_quoted`; the series of a 1:1 is with the same person even if its notes name nobody. One in which
    only one person came was no 1:1 if the calendar says that all others were invited.
    """
    note, series = earlier.note, invited.meeting.series_id
    if earlier.match is Match.SERIES and not note.sensitive:
        came = invited.people_at(note)
        of_day = (event for event in invited.calendar if (event.day, event.series_id) == (earlier.day, series))
        were_invited = any(came < Invited.to(event, invited.me).people >= invited.people for event in of_day)
        if not people_of(note.front) or (were_invited and not invited.key & _PERSONAL):
            return True
    return may_be_quoted(note, invited)


def may_be_quoted(note: IndexedNote, invited: Invited) -> bool:
    """Check whether the people of a meeting may read the content of a note."""
    if not invited.people:
        return True
    people = invited.people_at(note)
    names_me = not invited.me and bool(note.front.get("calendar_event_id"))  # an invitation lists the user, too
    is_between_two = bool(people) and len(people) <= (2 if names_me else 1)
    if note.sensitive:
        return is_between_two and _are_the_same(invited, people)
    titles = (note.title, PurePosixPath(note.path).stem)
    is_with_somebody = not people and any(_is_with_somebody(title, invited) for title in titles)
    if is_between_two or is_with_somebody or any(_PERSONAL & title_key(title) for title in titles):
        return _are_the_same(invited, people) if people else _title_names_all(invited)
    return True


def _is_with_somebody(title: str, invited: Invited) -> bool:
    """Check whether a title such as “Lunch with Ben” or “Ben / Kim” is that of a meeting with an invited person."""
    names, mine = ({word for each in people for word in each.split()} for people in (invited.people, invited.me))
    key, after = title_key(title), WITH.search(title)
    with_whom = title_key(after[1]) if after else frozenset()
    is_named = with_whom & names and len(with_whom - names - mine) <= 1  # perhaps with a surname
    return bool(is_named or (key & names and key - names - mine <= _ANYBODY))


def _title_names_all(invited: Invited) -> bool:
    """Check whether the title of a meeting names all others, as “1:1 Ben” does, and no other Ben is known.

    Whether somebody unnamed is the user is only clear in the invitation of a 1:1.
    """
    named = {each for each in invited.people if (invited.key & frozenset(each.split())) - invited.namesakes}
    unnamed = len(invited.people) - len(named) - ("1:1" in invited.key and not invited.me)
    return bool(named) and unnamed <= 0


def background_notes(index: Database, invited: Invited, templates: Collection[str] = ()) -> list[IndexedNote]:
    """Return project notes whose name is in the title of the meeting: `Projects/Offsite.md` for “Offsite planning”."""
    title = stems_of(" ".join(invited.key - _ANYBODY))
    if not title:
        return []
    found = []
    for note in approved_notes(index, templates):
        name = stems_of(_project_name(note))
        if name and (name <= title or (title <= name and len(title) > 1)) and may_be_quoted(note, invited):
            found.append((len(name ^ title), note.path, note))
    return [note for _, _, note in sorted(found, key=lambda each: each[:2])][:MAX_BACKGROUND]


def page_of_other(index: Database, invited: Invited) -> IndexedNote | None:
    """Return the page of the other person of a meeting of two; None if there is none, or if it is private."""
    names = {*invited.people, *invited.other_names}
    pages = (
        note for note in approved_notes(index, folder=FOLDER) if person_key(PurePosixPath(note.path).stem) in names
    )
    return next((note for note in pages if len(invited.people) == 1 and not note.sensitive), None)


def notes_by_meeting(meetings: Sequence[Invited], notes: Sequence[IndexedNote]) -> dict[str, IndexedNote]:
    """Return the notes of meetings by event id: those of its day, and of its series or with its title, or else with its
    people, if only one meeting and one note of the day have them.
    """
    free = list(notes)
    found: dict[str, IndexedNote] = {}

    def matching(invited: Invited, *matches: Match) -> list[IndexedNote]:
        of_day = (note for note in free if day_in(note.path, note.front) == invited.meeting.day)
        return [note for note in of_day if match_of(note, invited) in matches]

    def take(invited: Invited, note: IndexedNote) -> None:
        found[invited.meeting.event_id] = note
        free.remove(note)

    for invited in meetings:
        if same := matching(invited, Match.SERIES, Match.TITLE):
            take(invited, same[0])
    often = Counter((invited.meeting.day, invited.people) for invited in meetings)
    for invited in meetings:
        same = matching(invited, Match.PEOPLE) if invited.meeting.event_id not in found else []
        if len(same) == 1 and often[invited.meeting.day, invited.people] == 1:
            take(invited, same[0])
    return found


def own_notes(
    index: Database, meetings: Sequence[Invited], taken: Collection[str] = (), templates: Collection[str] = ()
) -> dict[str, str]:
    """Return the paths of the notes that the user wrote for meetings, by event id. The paths in `taken` are not
    considered: they are notes of other meetings.
    """
    days = [invited.meeting.day for invited in meetings]
    if not days:
        return {}
    ends = min(days), max(days) + datetime.timedelta(days=1)
    start, end = (datetime.datetime.combine(day, datetime.time()).timestamp() for day in ends)
    dated = approved_notes(index, templates, (start, end))
    found = notes_by_meeting(meetings, [note for note in dated if note.path not in taken])
    return {event_id: note.path for event_id, note in found.items()}


def path_after(last: Earlier, day: datetime.date) -> str:
    """Return the path of the last note of a series with the day replaced; empty if its name has no day."""
    path = PurePosixPath(last.note.path)
    written = _DAY.search(path.stem) or _GERMAN_DAY.search(path.stem)
    if written is None or _DAY.search(path.stem, written.end()):
        return ""
    parts = (f"{day.year:04d}", f"{day.month:02d}", f"{day.day:02d}")
    if written.re is _GERMAN_DAY:
        dated = ".".join(reversed(parts))
    else:
        marks = re.split(r"\d+", written[0])[1:3] if len(re.findall(r"\d+", written[0])) == len(parts) else ["", ""]
        dated = "".join(part + mark for part, mark in zip(parts, [*marks, ""], strict=True))
    renamed = f"{path.stem[: written.start()]}{dated}{path.stem[written.end() :]}.md"
    folders = _folders_after(path.parent, last.day, day)
    return str(folders / renamed)


def day_in(path: str, front: dict[str, Any]) -> datetime.date | None:
    """Return the day that a note is about, from its frontmatter or name; None if they have none."""
    at = note_date(front, path, 0.0)
    return datetime.datetime.fromtimestamp(at).date() if at else None


def day_of(name: str) -> datetime.date | None:
    """Return the day in the name of a note, or in a heading; None if there is none."""
    return day_in(name, {})


def title_key(title: str, me: Iterable[str] = ()) -> frozenset[str]:
    """Return the words of a title without dates, serial numbers and generic words, and of a 1:1 without the names of
    the user (`me`).
    """
    bare = _DATES.sub(" ", words_only(title.replace("_", " "), 300))
    words = _WORD.findall(ONE_ON_ONE.sub(" 1:1 ", _POSSESSIVE.sub("", bare)).casefold())
    known = frozenset(unicodedata.normalize("NFC", word) for word in words if word not in _LITTLE)
    mine = {word for name in me for word in name.split()} if "1:1" in known else set()
    return known - _FILLER - mine


def people_of(front: dict[str, Any]) -> frozenset[str]:
    for key in PEOPLE_KEYS:
        value = front.get(key)
        if value:
            listed = value if isinstance(value, list) else re.split(r"[,;]", str(value))
            return frozenset(filter(None, (person_key(str(person)) for person in listed)))
    return frozenset()


def people_in(notes: Iterable[IndexedNote]) -> set[str]:
    return {person for note in notes for person in people_of(note.front)}


def person_key(name: str) -> str:
    """Normalise a name for comparison: a link is its target, an address the part before the @, without escapes and
    academic titles.
    """
    link = re.search(r"\[\[([^\[\]|]+)", name)
    words = link[1].rpartition("/")[2].removesuffix(".md") if link else name.replace("\\", "")
    words = re.sub(r"<[^<>]*>|\([^()]*\)", " ", words).strip() or words.strip("<> ")
    words = words.removeprefix("mailto:").partition("@")[0] or words
    return " ".join(unicodedata.normalize("NFC", re.sub(r"[._-]+", " ", untitled(words))).casefold().split())


def _is_before(note: IndexedNote, day: datetime.date, meeting: Meeting) -> bool:
    if note.front.get("calendar_event_id") == meeting.event_id or day > meeting.day:
        return False
    if day < meeting.day:
        return True
    try:
        start = datetime.datetime.fromisoformat(str(note.front.get("event_start")))
    except ValueError:
        return False
    return start.tzinfo is not None and start < meeting.start


def match_of(note: IndexedNote, invited: Invited) -> Match | None:
    """Return why a note belongs to the meetings of this series, title or people; None if it does not."""
    meeting, people = invited.meeting, invited.people_at(note)
    event = str(note.front.get("calendar_event_id") or "")
    named = (note.front.get("series_id"), note.front.get("series"), event.rpartition("/")[0], event.rpartition("_")[0])
    if meeting.series_id and meeting.series_id in {str(each or "") for each in named}:
        return Match.SERIES
    is_diary = invited.key <= _DIARY and _is_in_diary(note) and not is_meeting_note(note, invited.me)
    keys = set(_title_keys(note, invited.me))
    of_day = [event for event in invited.calendar if event.day == day_in(note.path, note.front)]
    of_series = [event for event in of_day if meeting.series_id and event.series_id == meeting.series_id]
    titles_of_day = {title_key(event.title, invited.me) for event in of_series}
    is_ours = len(of_day) == len(of_series) or not people or _is_same_meeting(invited, people)
    if keys & titles_of_day and is_ours:  # such as an occurrence that was renamed
        return Match.SERIES
    has_title = invited.key and invited.key in keys and not is_diary
    if has_title and _is_same_meeting(invited, people) and (people or not of_day or _is_one_of(invited, of_day)):
        return Match.TITLE
    if people and people == invited.people and is_meeting_note(note):
        return Match.PEOPLE
    return None


def _is_one_of(invited: Invited, events: Iterable[Meeting]) -> bool:
    """Check by their people whether a meeting is another one of some events with its title."""
    return any(_is_same_meeting(invited, Invited.to(event, invited.me).people) for event in events)


def _is_in_diary(note: IndexedNote) -> bool:
    """Check whether a note is in a folder of daily notes, or is named only by its day and in no folder with a name.

    A folder of a team, as `Team daily`, has the notes of its meetings.
    """
    path = PurePosixPath(note.path)
    folders = title_key(" ".join(path.parent.parts))
    is_unnamed = all(word.isdigit() or word.title() in WEEKDAYS for word in folders | title_key(path.stem))
    return is_unnamed or bool(folders & _DIARY and not folders & _TEAM)


def _title_keys(note: IndexedNote, me: Collection[str]) -> Iterator[frozenset[str]]:
    path = PurePosixPath(note.path)
    for title in (
        note.title, note.heading, path.stem, f"{path.parent.name} {path.stem}", str(note.front.get("series") or ""),
        *aliases_of(note.front),
    ):  # fmt: skip
        key = title_key(title, me)
        if key:
            yield key
            if key - _TEAM <= _DIARY:
                yield key - _TEAM


def _is_same_meeting(invited: Invited, people: frozenset[str]) -> bool:
    """Check by their people, perhaps listed by first names, whether notes of this title are of the same meeting."""
    if invited.key <= _ANYBODY:
        return bool(people) and _are_the_same(invited, people)
    named = {name: [each for each in invited.people if name in each.split()] for name in people}
    people = frozenset(whole[0] if len(whole) == 1 else name for name, whole in named.items())
    if not people or not invited.people or people <= invited.people or invited.people <= people:
        return True
    common, smaller = len(people & invited.people), min(len(people), len(invited.people))
    if max(len(people), len(invited.people)) <= SMALL_GROUP:
        return common > SAME_GROUP * len(people | invited.people)
    return common >= SAME_CROWD * smaller


def _are_the_same(invited: Invited, people: frozenset[str]) -> bool:
    """Check whether a meeting has the people of a note. The note of a 1:1 omits its writer."""
    if people == invited.people:
        return True
    is_one_on_one = "1:1" in invited.key and len(invited.people) <= 2 and not invited.me
    return is_one_on_one and bool(people) and people < invited.people


def is_meeting_note(note: IndexedNote, me: Collection[str] = ()) -> bool:
    """Check whether the frontmatter of a note is that of a meeting, or its path: with a day in its name, if it is in
    `Meetings`, or the rest of the name is that of a meeting or a 1:1.

    A list of people makes it one if somebody else than the user (`me`: names and addresses) is in it.
    """
    front, path = note.front, PurePosixPath(note.path)
    if front.get("type") == "meeting" or front.get("calendar_event_id") or front.get("event_start"):
        return True
    is_listed = any(front.get(key) for key in _ATTENDEE_KEYS)
    if is_listed and people_of(front) - {"me", *map(person_key, me)}:
        return True
    is_named = "1:1" in title_key(path.stem) or _NAMED_MEETING.search(_DATES.sub(" ", path.stem.replace("_", " ")))
    is_filed = _is_filed(note, _ONE_ON_ONE_FOLDER, _MEETING_FOLDER)
    return bool(is_named or is_filed) and bool(note.section or day_of(path.name))


def _project_name(note: IndexedNote) -> str:
    """Return the name of a project note without dates; empty for other notes. An overview is named after its folder."""
    path = PurePosixPath(note.path)
    in_projects = any(part.casefold() in ("projects", "project", "projekte", "areas") for part in path.parts[:-1])
    if not (in_projects or note.front.get("type") == "project") or day_in(path.name, {}):
        return ""
    named = path.parent.name if path.stem.casefold() in OVERVIEWS else path.stem
    return " ".join(title_key(named))


def _folders_after(folder: PurePosixPath, old: datetime.date, new: datetime.date) -> PurePosixPath:
    """Replace year and month in the folders of a note by those of another day."""
    parts = list(folder.parts)
    for place, part in enumerate(parts):
        if part == f"{old.year:04d}":
            parts[place] = f"{new.year:04d}"
        elif place and parts[place - 1] == f"{new.year:04d}" and part == f"{old.month:02d}":
            parts[place] = f"{new.month:02d}"
        elif part == f"{old.year:04d}-{old.month:02d}":
            parts[place] = f"{new.year:04d}-{new.month:02d}"
    return PurePosixPath(*parts)


DAYS_OF_CALENDAR = datetime.timedelta(days=200)
"""Time before a meeting in which the calendar shows which of several meetings with its title a note belongs to."""

Search = Callable[[SearchRequest, int], Awaitable[SearchOutcome]]
Read = Callable[[Callable[[Database], Any]], Awaitable[Any]]


class Marked(Protocol):
    """Anything that may be private."""

    @property
    def sensitive(self) -> bool: ...


M = TypeVar("M", bound=Marked)


def allowed(found: Iterable[M], *, remote: bool) -> list[M]:
    """Return what may be given to the drafter: a remote model gets nothing private."""
    return [each for each in found if not (remote and each.sensitive)]


@dataclass(frozen=True, slots=True, kw_only=True)
class Gatherer:
    """Read what a draft is based on. With `remote` the drafter is a remote model, so nothing private is read.

    `meetings` lists the events of the calendar between two Unix times, `corrections` the recent ones of a task type.
    `texts_at` returns notes as they were at a Unix time, or None if the history does not reach back to it. `zone` is
    that of the user, which determines the day of a meeting. `templates` are the folders of templates in Obsidian's
    settings.
    """

    search: Search
    read: Read
    meetings: Callable[[float, float], Awaitable[list[Meeting]]]
    corrections: Callable[[str], Awaitable[list[Corrected]]]
    texts_at: Callable[[Sequence[str], float], dict[str, str] | None]
    client: VaultClient
    config: MemoryConfig
    zone: datetime.tzinfo
    remote: bool
    templates: tuple[str, ...]

    @property
    def me(self) -> tuple[str, ...]:
        """Return the names and addresses of the user."""
        return self.config.me

    async def hits(self, about: str, source: MemorySource, most: int) -> list[Hit]:
        """Return the best passages of one source, without drafts."""
        if most < 1 or not about.strip():
            return []
        filters = Filters(user_id=ME, sources=(source.value,), sensitive=False if self.remote else None)
        words = " ".join(re.findall(r"\w+", words_only(about, 300)))  # without query syntax
        outcome = await self.search(SearchRequest(text=words, filters=filters), 2 * most)
        return [hit for hit in outcome.hits if not is_draft(hit.metadata)][:most]

    async def own_chats(self, about: str, most: int) -> list[Hit]:
        """Return the user's own turns about a subject in chats."""
        hits = await self.hits(about, MemorySource.CHAT, 3 * most)
        return [hit for hit in hits if hit.metadata.get("role", "user") == "user"][:most]

    async def invited(self, *meetings: Meeting) -> list[Invited]:
        known = await self.read(names_of_people)
        return [Invited.to(meeting, self.me, known) for meeting in meetings]

    async def earlier(self, meeting: Meeting) -> list[Earlier]:
        """Return the notes of the earlier meetings, latest first."""
        (invited,) = await self.invited(meeting)
        events = await self.meetings((meeting.start - DAYS_OF_CALENDAR).timestamp(), meeting.start.timestamp())
        related = (
            event
            for event in events
            if not event.cancelled
            and (
                (meeting.series_id and event.series_id == meeting.series_id)
                or title_key(event.title, invited.me) == invited.key
            )
        )
        invited = replace(invited, calendar=tuple(related))
        found: list[Earlier] = await self.read(lambda index: earlier_notes(index, invited, self.templates))
        if found and self.remote and found[0].note.sensitive:
            return []
        return [earlier for earlier in found if not (self.remote and earlier.note.sensitive)]

    async def background(self, invited: Invited) -> list[IndexedNote]:
        found: list[IndexedNote] = await self.read(lambda index: background_notes(index, invited, self.templates))
        return allowed(found, remote=self.remote)
