"""Draft the note of a meeting from its invitation, the last note of its series and open tasks."""

from __future__ import annotations

import asyncio
import datetime
import html
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePosixPath
from typing import Any

from donna_tui.config.models import MemoryConfig
from donna_tui.drafts.blocks import Block, Role, heading_role
from donna_tui.drafts.drafters import MeetingNoteAnswer
from donna_tui.drafts.page import Context, DraftJob
from donna_tui.drafts.passages import IndexedNote
from donna_tui.drafts.people import person_links
from donna_tui.drafts.quotes import LONG_PAST, Points, Read, open_boxes, points_of, says_cancelled, was_cancelled
from donna_tui.drafts.series import (
    OVERVIEWS,
    Earlier,
    Gatherer,
    Invited,
    Match,
    day_in,
    may_be_quoted,
    page_of_other,
    path_after,
    title_key,
)
from donna_tui.drafts.skills.cadence import Material, Span, below_parent, task_key, tasks_done_elsewhere
from donna_tui.drafts.text import inline, short_day, slug, when, wikilink, words_only
from donna_tui.types.drafts import Evidence, Meeting
from donna_tui.vault.note.read import iso_date
from donna_tui.vault.write.file_names import EVERYWHERE

TEMPLATE, TASK_TYPE = "meeting_note", "draft_meeting_note"
UNTITLED = "Meeting"
MAX_ATTENDEES, MAX_POINTS, MAX_BACKGROUND = 100, 15, 4

_LINES = re.compile(r"[\r\n]+|<br\s*/?>|</(?:p|li|div)>", re.IGNORECASE)
_LIST_ITEM = re.compile(r"<li\b[^<>]{0,500}>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,500}>")
_MARK = re.compile(r"^\s*(?:[-*+•–—]|\d{1,3}[.)])\s+")
_DIAL_IN = re.compile(
    r"zoom\.|zoom meeting|on zoom|teams meeting|microsoft teams|teams\.microsoft|google meet|meet\.google|webex"
    r"|whereby\.com|gotomeet|jitsi|dial[- ]?in|dial by|passcode|pin:|meeting (?:id|number|link)|conference id"
    r"|video ?(?:call|conference)? ?(?:link|url)|^\W*join\b|^(?:https?://)?\S+/\S*$|one tap"
    r"|find (?:your|a) local number|^more phone numbers\b|^learn more about (?:google )?(?:meet|teams|zoom|webex)\b"
    r"|unsubscribe|need help\?|meeting options|add to (?:your )?(?:google )?calendar|click\b.{0,60}\bcalendar"
    r"|is inviting you|do not (?:edit|delete|change) (?:this|the)|^_{3,}|^[-=~*:]{3,}|^\+?[\d\s().,#*-]{7,}"
    r"(?:\(?[A-Z][\w ,()-]{0,40})?$",
    re.IGNORECASE,
)
_GREETING = re.compile(
    r"^(?:hi|hello|hey|dear|hallo|liebe[rs]?|guten tag)(?:\s[^,.:!]{1,40})?(?:[,!]|\s(?:all|team|everyone))$",
    re.IGNORECASE,
)
_SIGN_OFF = re.compile(
    r"^(?:(?:(?:best|kind|warm) )?regards|(?:best|warm) wishes|(?:viele|liebe|beste|mit freundlichen) grü(?:ß|ss)en?"
    r"|best|cheers|(?:many )?thanks|danke)[,!.]?"
    r"(?:\s+(?:all|team|everyone|(?-i:[A-ZÀ-Þ][\w.'’-]*)(?: (?:(?:and|und|&) )?(?-i:[A-ZÀ-Þ][\w.'’-]*))?))?[,!.]?$",
    re.IGNORECASE,
)
"""The beginning of the end of an invitation, below which only names follow, no list items."""

_COURTESY = re.compile(
    r"^(?!.*:\s)(?:(?:hi|hello|hey|dear|hallo|liebe[rs]?)\b[^,.:!]{0,40}[,!.] *)?"
    r"(?:(?:(?:many|so many|a big|big) )?thanks\b|thank you\b(?! (?:cards?|gifts?|letters?|notes?)\b)"
    r"|(?:(?:vielen|herzlichen|besten) )?danke?\b|(?:(?:I|we)(?:['’]m| am|['’]re| are) )?looking forward\b(?!:)"
    r"|see you\b|(?:talk|speak) (?:soon|then|to you)\b|(?:I|we) hope\b|hope (?:all|that|this|to|you)\b"
    r"|(?:please )?let me know(?=[.!]?$|,| (?:about|asap|by|how|if|in|what|when|whether|which|who|your?)\b)"
    r"|(?:please )?feel free to\b|please find\b.{0,60}\b(?:attached|below|enclosed|here)\b"
    r"|have a (?:good|great|nice)\b|(?:(?:ich|wir) )?freuen? (?:mich|uns)\b"
    r"|bis (?:dann|bald|gleich|morgen|später)\b)",
    re.IGNORECASE,
)
"""The beginning of a courtesy that is not a list item."""


async def note(gatherer: Gatherer, meeting: Meeting) -> DraftJob:
    """Return the job of the note of a meeting. Raises DonnaError."""
    return DraftJob(
        template=TEMPLATE,
        gather=lambda: _gather(gatherer, meeting),
        target_path=_target(gatherer.config, meeting, await gatherer.earlier(meeting)),
        key=key_of(meeting),
        title=title_of(meeting),
        autonomy=gatherer.config.skills.meeting_note.autonomy_level,
    )


def _target(config: MemoryConfig, meeting: Meeting, earlier: Sequence[Earlier]) -> str:
    """Return the path of the note, following the name and folder of the last one of its series."""
    series = [each for each in earlier if each.match is not Match.PEOPLE and each.note.section is None]
    titled = (each for each in series if title_key(PurePosixPath(each.note.path).stem) == title_key(meeting.title))
    last = next(titled, next(iter(series), None))  # an occurrence may have been renamed
    path = path_after(last, meeting.day) if last else ""
    if path and {EVERYWHERE, path.partition("/")[0]} & set(config.safety.path_allowlist):
        return path
    return f"Meetings/{meeting.day.isoformat()}-{slug(meeting.title, otherwise='meeting')}.md"


async def _gather(gatherer: Gatherer, meeting: Meeting) -> Context:
    limits = gatherer.config.skills.meeting_note.context_limits
    agenda = agenda_of(meeting)
    about = " ".join([title_of(meeting), *agenda])
    earlier = await gatherer.earlier(meeting)
    material = await Material.of(gatherer, TASK_TYPE)
    chats = await gatherer.own_chats(about, limits.recent_chats)
    done = await tasks_done_elsewhere(gatherer, Span(meeting.day - LONG_PAST, meeting.day))
    (invited,) = await gatherer.invited(meeting)
    background = await gatherer.background(invited)
    page = await gatherer.read(lambda index: page_of_other(index, invited))
    notes = await asyncio.to_thread(_notes, gatherer, invited, earlier, background, page, agenda, done)
    quoted = _quoted(material, notes)
    _add_for_model(material, notes)
    material.for_model += material.passages.add_hits(chats)
    material.private = any(read.note.sensitive for read in notes.reads)
    names = [attendee.label for attendee in meeting.attendees if not attendee.declined][:MAX_ATTENDEES]
    links = await asyncio.to_thread(person_links, names, gatherer.client)
    front = {
        "type": "meeting",
        "date": meeting.day.isoformat(),
        "calendar_event_id": meeting.event_id,
        **times_of(meeting, gatherer.zone),
        "attendees": links,
        **({"series_id": meeting.series_id} if meeting.series_id else {}),
    }
    data = {**_event(meeting, agenda, links, gatherer.zone), **quoted}
    context = material.context(MeetingNoteAnswer, about, data, front, _facts(meeting, agenda))
    return replace(context, is_empty=False, needs_answer=False)


def _notes(
    gatherer: Gatherer, invited: Invited, earlier: list[Earlier], background: list[IndexedNote],
    page: IndexedNote | None, agenda: list[str], done: Collection[tuple[str, str]],
) -> _Notes:  # fmt: skip
    """Read the notes as they are on disk now, without the check boxes of tasks that another note has as `done`."""
    limits = gatherer.config.skills.meeting_note.context_limits

    def read(note: IndexedNote) -> Read | None:
        """Read a note; None if its present content may not be quoted."""
        found = Read.of(gatherer.client, note)
        if found and found.note.sensitive:
            may_be_read = not gatherer.remote and (note.sensitive or may_be_quoted(found.note, invited))
            return found if may_be_read else None
        return found

    def is_done(read: Read, block: Block) -> bool:
        return (read.note.path, task_key(block.text)) in done

    last = read(earlier[0].note) if earlier else None
    while last and was_cancelled(last):
        earlier = earlier[1:]
        last = read(earlier[0].note) if earlier else None
    before = [read(each.note) for each in earlier[1 : max(1, limits.prior_meetings)]] if last else []
    projects = list(filter(None, map(read, background)))
    about_other = read(page) if page else None
    return _Notes(
        last=(earlier[0], last, points_of(last.blocks, agenda)) if last else None,
        still_open=tuple(
            open_boxes(filter(None, [last, *before]), limits.open_tasks, invited.meeting.day, is_done=is_done)
        ),
        background=tuple((each, _background_points(each, agenda)) for each in projects),
        open_tasks=tuple(open_boxes(filter(None, [*projects, about_other]), limits.open_tasks, is_done=is_done)),
        reads=tuple(filter(None, [last, *projects])),
    )


def _event(meeting: Meeting, agenda: list[str], links: list[str], zone: datetime.tzinfo) -> dict[str, Any]:
    start, end = meeting.start.astimezone(zone), meeting.end.astimezone(zone)
    places = [place.strip() for place in meeting.location.split(";")]
    return {
        "event": {
            "title": inline(title_of(meeting)),
            "when": when(start, end, meeting.day, all_day=meeting.all_day),
            "location": inline("; ".join(place for place in places if place and not _DIAL_IN.search(place)), 200),
        },
        "attendees": [*links, "and others"] if len(meeting.attendees) > MAX_ATTENDEES else links,
        "agenda": [inline(point) for point in agenda],
    }


def times_of(meeting: Meeting, zone: datetime.tzinfo) -> dict[str, Any]:
    """Return the day and times for the frontmatter of a meeting's note."""
    return {
        "date": meeting.day.isoformat(),
        "event_start": meeting.start.astimezone(zone).isoformat(timespec="minutes"),
        "event_end": meeting.end.astimezone(zone).isoformat(timespec="minutes"),
    }


def has_times_of(meeting: Meeting, front: Mapping[str, Any]) -> bool:
    """Check whether a note has the start and end of a meeting, in any time zone: that of the machine may change."""
    try:
        start, end = (datetime.datetime.fromisoformat(str(front.get(name))) for name in ("event_start", "event_end"))
    except ValueError:
        return False
    return (start, end) == tuple(each.replace(second=0, microsecond=0) for each in (meeting.start, meeting.end))


@dataclass(frozen=True, slots=True, kw_only=True)
class _Notes:
    """The notes that a draft quotes: earlier ones of its series, and its background."""

    last: tuple[Earlier, Read, Points] | None
    still_open: tuple[tuple[Read, Block], ...]
    background: tuple[tuple[Read, list[Block]], ...]
    open_tasks: tuple[tuple[Read, Block], ...]
    reads: tuple[Read, ...]


def _quoted(material: Material, notes: _Notes) -> dict[str, Any]:
    """Turn the notes into lines for the template, each with its passage."""

    def boxes(found: Iterable[tuple[Read, Block]]) -> list[dict[str, str]]:
        lines = []
        for read, block in found:
            above = read.blocks[block.parent] if block.parent >= 0 else block
            title = below_parent(above.text if above.box and above is not block else "", block.text)
            planned = f", due {block.due}" if block.due else f", scheduled {block.scheduled}" if block.scheduled else ""
            whole = replace(block, text=f"{title}{planned}")
            link = _marked_link(read.note)
            lines += [{**line, "due": "", "link": link} for line in material.quote(read, [whole])]
        return lines

    return {
        "last_time": _last_time(material, *notes.last) if notes.last else None,
        "still_open": boxes(notes.still_open),
        "background": [
            {"link": _marked_link(read.note), "lines": material.quote(read, blocks)}
            for read, blocks in notes.background
        ],
        "tasks": boxes(notes.open_tasks),
        "related": [],
        "known_links": [_link(read.note) for read in notes.reads],
    }


def _last_time(material: Material, earlier: Earlier, read: Read, points: Points) -> dict[str, Any]:
    def quoted(blocks: Sequence[Block]) -> list[dict[str, str]]:
        lines = material.quote(read, blocks)
        topics = list(dict.fromkeys(line["topic"] for line in lines))
        return sorted(lines, key=lambda line: topics.index(line["topic"]))

    return {
        "link": _link(read.note),
        "day": short_day(earlier.day),
        "same_people": earlier.match is Match.PEOPLE,
        "topics": [_heading_link(read.note, path) for path in points.topics],
        "decisions": quoted(points.decisions),
        "notes": quoted(points.notes),
        "actions": quoted(points.actions),
        "questions": quoted(points.questions),
    }


def _add_for_model(material: Material, notes: _Notes) -> None:
    """Add the passages for a model: sections of the last note and of the background, and open check boxes."""
    evidence = [(read, section) for read in notes.reads for section in read.sections()]
    others = (each for each in notes.still_open if each[0] not in notes.reads)  # those are in the sections
    evidence += [(read, read.evidence(block)) for read, block in others]
    found: dict[int, Evidence] = {}
    for read, each in evidence:
        passage = material.passages.add(each, sensitive=read.note.sensitive)
        found[passage.number] = passage
        day = day_in(read.note.path, read.note.front)
        material.dates[passage.number] = day.isoformat() if day else iso_date(read.note.modified_at)
    material.for_model += found.values()


def _background_points(read: Read, agenda: Sequence[str]) -> list[Block]:
    """Return the first points of a project note: its decisions, else its first lines."""
    points = points_of(read.blocks, agenda)
    flat = points.decisions or points.notes
    return [block for block in flat if block.depth == 0][:MAX_BACKGROUND]


def key_of(meeting: Meeting) -> str:
    return meeting.event_id


def title_of(meeting: Meeting) -> str:
    return words_only(meeting.title, 200) or UNTITLED


def agenda_of(meeting: Meeting) -> list[str]:
    """Return the agenda items of an invitation, without dial-in details and courtesies."""
    listed = _LIST_ITEM.sub("\n- ", meeting.description[:20_000])
    plain = [html.unescape(_TAG.sub(" ", line)).strip() for line in _LINES.split(listed)]
    last = max((number for number, line in enumerate(plain) if _MARK.match(line)), default=-1)
    end = next((number for number, line in enumerate(plain) if number > last and _SIGN_OFF.match(line)), len(plain))
    people = [words_only(attendee.name) for attendee in meeting.attendees]
    names = {*people, *(name.partition(" ")[0] for name in people)}
    lines = (
        _MARK.sub("", line).strip()
        for line in plain[:end]
        if not (_SIGN_OFF.match(line) or _COURTESY.match(line) or (last >= 0 and line.endswith(":")) or line in names)
    )
    points = [words_only(line, 300) for line in lines if line and not _DIAL_IN.search(line)]
    return [
        point
        for point in dict.fromkeys(points)
        if any(map(str.isalpha, point))
        and heading_role(point) is not Role.AGENDA
        and not _GREETING.match(point)
        and not _DIAL_IN.search(point)
    ][:MAX_POINTS]


def _facts(meeting: Meeting, agenda: list[str]) -> tuple[str, ...]:
    people = ", ".join(words_only(attendee.label, 80) for attendee in meeting.attendees[:MAX_ATTENDEES])
    lines = [f"Meeting: {title_of(meeting)}", f"Day: {meeting.day.isoformat()}"]
    lines += [f"Invited: {people}"] if people else []
    return (*lines, *(f"Agenda: {point}" for point in agenda))


def _link(note: IndexedNote) -> str:
    path = PurePosixPath(note.path)
    shown = path.parent.name if path.stem.casefold() in OVERVIEWS and path.parent.name else path.stem
    return wikilink(note.path, shown)


def _marked_link(note: IndexedNote) -> str:
    """Return a link to a note, with a remark if its status says that what it is about was cancelled."""
    return f"{_link(note)}{', cancelled' if says_cancelled(str(note.front.get('status') or '')) else ''}"


def _heading_link(note: IndexedNote, path: tuple[str, ...]) -> str:
    """Return a link to a section of a note, or to the note if the heading cannot be linked."""
    shown = " ".join(re.sub(r"[\[\]|#^\\]|\(\S*/\S*\)", " ", words_only(path[-1], 120)).split()).rstrip(" ,;:")
    heading = path[-1].strip()
    anchor = "" if re.search(r"[\[\]|#^\\`*]|://", heading) else f"#{heading}"
    return f"[[{note.path.removesuffix('.md')}{anchor}|{shown}]]"
