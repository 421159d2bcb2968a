"""Collect the material of a day or a week: its notes, meetings, completed tasks and chats.

Notes count by their own date, not by that of their last change, and nothing of the future is read.
"""

from __future__ import annotations

import asyncio
import datetime
import re
import time
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import PurePosixPath
from typing import Any

from donna_tui.calendar.poller import why_no_draft
from donna_tui.config.calendars import Notes
from donna_tui.drafts.blocks import LISTS_ATTENDEES, ONLY_NAMES, Block, Role, bare, is_generic
from donna_tui.drafts.drafters import Answer, AnswerRequest, Corrected, correcting
from donna_tui.drafts.page import Context
from donna_tui.drafts.passages import IndexedNote, Passages, approved_notes, is_any_private, paths_of_keys
from donna_tui.drafts.people import pages_by_name
from donna_tui.drafts.promises import initials_of, is_promise
from donna_tui.drafts.quotable import is_quotable
from donna_tui.drafts.quotes import LONG_PAST, outcomes_of, points_of, says_cancelled, was_cancelled
from donna_tui.drafts.quotes import Read as ReadNote
from donna_tui.drafts.series import (
    DAY_NAMES,
    Gatherer,
    allowed,
    day_in,
    day_of,
    is_meeting_note,
    notes_by_meeting,
    people_of,
    title_key,
    with_sections,
)
from donna_tui.drafts.text import inline, link_to, shortened, wikilink, words_only
from donna_tui.index.database import Database
from donna_tui.memory.checkboxes import tasks_in
from donna_tui.memory.listing import list_memories
from donna_tui.memory.tasks import list_tasks
from donna_tui.text.markdown import plain_text
from donna_tui.types.drafts import Evidence
from donna_tui.types.errors import DonnaError
from donna_tui.types.memory import MemoryChunk, MemoryFilter, TaskRow
from donna_tui.types.search import MemorySource
from donna_tui.vault.client import VaultClient

MAX_NOTES = 60
"""Maximum number of notes of a span that are read."""

DECISIONS_A_MEETING, OUTCOMES_A_MEETING, PROMISES_A_NOTE, LINES_A_DAY = 6, 3, 8, 8
LONGEST_TOPIC = 80

_WEEK = re.compile(r"^\d{4}-?W\d\d\b", re.IGNORECASE)
"""The name of the note of a week."""

_BETWEEN_NAMES, _NOT_A_NAME = re.compile(r"[,;/&+:]| (?:and|und) "), re.compile(r"^\s+|\s*(?:\(.*)?$")

_NOT_QUOTED = ("person", "weekly_review", "commitments")
"""Types of notes that are not quoted, since Donna's own reports are not news."""


@dataclass(frozen=True, slots=True)
class Span:
    """A range of local days, both inclusive."""

    first: datetime.date
    last: datetime.date

    def bounds(self, zone: datetime.tzinfo) -> tuple[float, float]:
        midnight = datetime.time()
        start = datetime.datetime.combine(self.first, midnight, zone)
        end = datetime.datetime.combine(self.last + datetime.timedelta(days=1), midnight, zone)
        return start.timestamp(), end.timestamp()

    def holds(self, iso_day: str) -> bool:
        return bool(iso_day) and self.first.isoformat() <= iso_day[:10] <= self.last.isoformat()


@dataclass(slots=True, kw_only=True)
class Material:
    """The material of a draft, with its evidence. `private` marks a link to a private note."""

    gatherer: Gatherer
    task_type: str
    corrections: tuple[Corrected, ...]
    passages: Passages = field(default_factory=Passages)
    listed: list[tuple[str, tuple[int, ...]]] = field(default_factory=list)
    """Lines that the template lists, with the numbers of their passages."""
    private: bool = False
    for_model: list[Evidence] = field(default_factory=list)
    """The passages that a model reads."""
    dates: dict[int, str] = field(default_factory=dict)
    fixed: Callable[[str], str] = field(init=False)
    """Applies earlier corrections to a line."""

    def __post_init__(self) -> None:
        self.fixed = correcting(self.corrections)

    @classmethod
    async def of(cls, gatherer: Gatherer, task_type: str) -> Material:
        """Create empty material, with the corrections of earlier drafts."""
        corrections = await gatherer.corrections(task_type)
        return cls(gatherer=gatherer, task_type=task_type, corrections=tuple(corrections))

    def context(
        self, schema: type[Answer], about: str, data: dict[str, Any], front: dict[str, Any],
        facts: tuple[str, ...] = (),
    ) -> Context:  # fmt: skip
        has_lines = any(isinstance(part, list) and part for part in data.values())
        return Context(
            task=AnswerRequest(
                task_type=self.task_type,
                about=about,
                schema=schema,
                passages=tuple(self.for_model),
                private=frozenset(self.passages.private),
                facts=facts,
                corrections=self.corrections,
                dates=self.dates,
                me=next(iter(self.gatherer.me), ""),
            ),
            data=data,
            frontmatter=front,
            is_empty=not (self.for_model or has_lines),
            needs_answer=not has_lines,
            listed=tuple(self.listed),
            all_passages=tuple(self.passages.taken),
            links_private=self.private,
        )

    def quote(self, read: ReadNote, blocks: Sequence[Block], most: int | None = None) -> list[dict[str, str]]:
        """Quote lines of a note for a template, each with its topic and a link to it, and count those after `most`."""
        lines = []
        for block in blocks[:most]:
            words = words_only(self.fixed(block.text))
            if words:
                passage = self.passages.add(read.evidence(block), sensitive=read.note.sensitive)
                self.listed.append((words, (passage.number,)))
                lines.append({
                    "text": inline(words), "indent": "  " * block.depth, "topic": inline(block.topic, LONGEST_TOPIC),
                    "link": link_to(read.note.path),
                })  # fmt: skip
        return lines + (_more(len(blocks) - most, link_to(read.note.path)) if most is not None else [])

    def add_for_model(self, read: ReadNote) -> None:
        """Add the sections of a note to the passages that a model reads."""
        day = day_in(read.note.path, read.note.front)
        for section in read.sections():
            passage = self.passages.add(section, sensitive=read.note.sensitive)
            self.for_model.append(passage)
            if day:
                self.dates[passage.number] = day.isoformat()


async def notes_of(gatherer: Gatherer, span: Span) -> list[ReadNote]:
    """Return the notes whose own date is in a span, in order."""

    def dated_in(index: Database) -> list[IndexedNote]:
        known = with_sections(index, approved_notes(index, gatherer.templates))
        dated = ((day_in(note.path, note.front), note) for note in known)
        found = [
            (day, note.path.removesuffix(".md"), note) for day, note in dated if day and span.first <= day <= span.last
        ]
        return [note for _, _, note in sorted(found, key=lambda each: each[:2])]

    notes: list[IndexedNote] = await gatherer.read(dated_in)
    return await read_notes(gatherer, allowed(notes, remote=gatherer.remote)[:MAX_NOTES])


async def read_notes(gatherer: Gatherer, notes: Iterable[IndexedNote]) -> list[ReadNote]:
    """Read notes as they are on disk now, without those that a remote model must not see."""
    reads = await asyncio.to_thread(lambda: [ReadNote.of(gatherer.client, note) for note in notes])
    return [read for read in reads if read and not (gatherer.remote and read.note.sensitive)]


def decided_in(reads: Iterable[ReadNote], material: Material, held: Collection[str]) -> list[dict[str, str]]:
    """Return the decisions in the meeting notes and daily notes of a span, and in the notes of meetings `held`."""
    lines: list[dict[str, str]] = []
    for read in reads:
        if read.note.path in held or _has_minutes(read.note, material.gatherer.me):
            lines += material.quote(read, points_of(read.blocks).decisions, DECISIONS_A_MEETING)
    return lines


def noted_in(reads: Iterable[ReadNote], material: Material) -> list[dict[str, str]]:
    """Return the lines of the daily notes of a span, and the person's additions to Donna's reflections."""
    lines: list[dict[str, str]] = []
    for read in reads:
        if _is_daily(read.note, material.gatherer.me):
            lines += material.quote(read, points_of(read.blocks, is_daily=True).notes, LINES_A_DAY)
    return lines


def promised_in(reads: Iterable[ReadNote], material: Material, held: Collection[str]) -> list[dict[str, str]]:
    """Return the explicit promises and the action items without a check box in the meeting notes and daily notes of a
    span, and in the notes of meetings `held`.
    """
    lines: list[dict[str, str]] = []
    me = material.gatherer.me
    people = {*me, *pages_by_name(material.gatherer.client)}
    for read in reads:
        if read.note.path in held or _has_minutes(read.note, me):
            initials = initials_of({*people, *people_of(read.note.front), *_attendees_in(read)})
            said = (block for block in read.blocks if not block.box and is_quotable(block))
            promised = [
                replace(each, depth=0)
                for each in said
                if each.role is Role.ACTIONS or is_promise(each.text, me, initials)
            ]
            lines += material.quote(read, promised, PROMISES_A_NOTE)
    return lines


def _attendees_in(read: ReadNote) -> set[str]:
    """Return the names in the lines of a note that list the attendees."""
    lines = (
        block.text for block in read.blocks if LISTS_ATTENDEES.match(block.text) or ONLY_NAMES.fullmatch(block.text)
    )
    return {_NOT_A_NAME.sub("", name) for line in lines for name in _BETWEEN_NAMES.split(line)}


def _has_minutes(note: IndexedNote, me: Collection[str]) -> bool:
    return is_meeting_note(note, me) or _is_daily(note, me)


def _is_daily(note: IndexedNote, me: Collection[str]) -> bool:
    """Check whether a note is a daily note: its name is the day, perhaps with the weekday, and not a week."""
    stem = PurePosixPath(note.path).stem
    rest = "".join(char for char in stem if char.isalpha()).casefold()
    return (
        rest not in ("w", "kw", "cw")
        and day_in(stem, {}) is not None
        and (len(rest) <= 3 or any(day.startswith(rest) for day in DAY_NAMES))
        and note.front.get("type") not in _NOT_QUOTED
        and not is_meeting_note(note, me)
    )


async def chats_of(span: Span, most: int, material: Material) -> None:
    """Add the most important chat turns of the user in a span."""
    gatherer = material.gatherer
    start, end = span.bounds(gatherer.zone)
    wanted = MemoryFilter(sources=(MemorySource.CHAT,), after=start, before=end)
    found: tuple[MemoryChunk, ...] = await gatherer.read(
        lambda index: list_memories(index, wanted, 20 * max(1, most), 0)
    )
    turns_of_others = (
        "SELECT source_id FROM memory_documents WHERE source_type = 'chat'"
        " AND json_extract(metadata_json, '$.role') <> 'user'"
    )
    theirs = set(await gatherer.read(lambda index: index.column(turns_of_others)))

    def weight(memory: MemoryChunk) -> float:
        value = memory.importance.value if memory.importance else None
        return (value or 0.0) + (1.0 if memory.pinned else 0.0)

    own = [each for each in allowed(found, remote=gatherer.remote) if each.source_id not in theirs]
    best = sorted(own, key=weight, reverse=True)[:most]
    for each in sorted(best, key=lambda each: (each.at, each.source_id)):
        passage = Evidence(
            number=0, source_type=each.source.value, path=each.source_id, title=each.title,
            heading_path=each.heading_path, start_line=each.start_line, end_line=each.end_line, text=each.content,
        )  # fmt: skip
        material.for_model.append(material.passages.add(passage, sensitive=each.sensitive))


async def done_in(span: Span, most: int, material: Material) -> list[dict[str, str]]:
    """Return tasks that were done in a span, by their date or else by the history of their notes."""
    done = [task for task in await known_tasks(material.gatherer) if task.status == "done"]
    undated = [task for task in done if not task.done]
    ticked = await asyncio.to_thread(_ticked, material.gatherer, span, undated)
    return await task_lines([task for task in done if span.holds(task.done) or task.id in ticked], most, material)


def _ticked(gatherer: Gatherer, span: Span, tasks: Sequence[TaskRow]) -> set[str]:
    """Return the ids of the undated tasks that were done in a span, by the last commits before it and in it.

    In a span that is not over, a box may have been ticked since the last commit. A note without a day that is in git
    only since the span began is new.
    """
    start, end = span.bounds(gatherer.zone)
    is_over = end < time.time()
    paths = list(dict.fromkeys(task.note for task in tasks))
    dated_in = {path for path in paths if span.holds(_own_day(gatherer.client, path, span))}
    try:
        before = gatherer.texts_at(paths, start)
        after = gatherer.texts_at(paths, end)
    except DonnaError:
        before = after = None
    was = {path: _done_titles(text) for path, text in (before or {}).items()}
    then = {path: _done_titles(text) for path, text in (after or {}).items()}
    found = set()
    for task in tasks:
        if task.note in was:
            is_new = task.title not in was[task.note] and (not is_over or task.title in then.get(task.note, ()))
        else:
            is_in_git = task.note in then and (not is_over or task.title in then[task.note])
            is_new = task.note in dated_in or (
                before is not None and is_in_git and not _own_day(gatherer.client, task.note, span)
            )
        if is_new:
            found.add(task.id)
    return found


def _done_titles(text: str) -> set[str]:
    return {task.title for task in tasks_in(text) if task.status == "done"}


def _own_day(client: VaultClient, path: str, span: Span) -> str:
    """Return the day of a note; empty if it has none, or if it is the note of a week and the span is one day."""
    if span.first == span.last and _WEEK.search(PurePosixPath(path).stem):
        return ""
    note = client.try_read(path)
    day = day_in(path, note.frontmatter.data) if note else None
    return day.isoformat() if day else ""


async def open_in(span: Span, most: int, material: Material, reads: Iterable[ReadNote] = ()) -> list[dict[str, str]]:
    """Return the open tasks of a span: those in a note of the span or its section of a running note (`reads`), or in a
    note with a task that was done in it, those created in it, and those due or scheduled by its end, but not long
    before it.
    """
    tasks = await known_tasks(material.gatherer)
    days = await days_of_notes(material.gatherer.client, tasks, span)
    done_later = done_in_another_note(tasks, days, span, material.gatherer.me)
    busy = {task.note for task in tasks if span.holds(task.done)}
    of_sections = {(read.note.path, block.start_line) for read in reads if read.note.section for block in read.blocks}
    last, long_past = span.last.isoformat(), (span.first - LONG_PAST).isoformat()

    def is_of_span(task: TaskRow) -> bool:
        is_here = span.holds(days[task.note]) or task.note in busy or span.holds(task.created)
        is_here = is_here or (task.note, task.line) in of_sections
        return (is_here or long_past <= _planned(task) <= last) and not (days[task.note] and days[task.note] > last)

    wanted = [task for task in tasks if task.is_open and task.id not in done_later and is_of_span(task)]
    return await task_lines(wanted, most, material)


async def due_in_week_after(
    span: Span, most: int, material: Material, listed: Iterable[Mapping[str, str]]
) -> list[dict[str, str]]:
    """Return the open tasks that are due in the week after a span, or scheduled for it, by their day, without those
    that are `listed`.
    """
    until = Span(span.first, span.last + datetime.timedelta(days=7))
    last, known = span.last.isoformat(), {(task_key(line["text"]), line["due"]) for line in listed}
    tasks = await known_tasks(material.gatherer)
    due = [task for task in tasks if task.is_open and last < _planned(task) <= until.last.isoformat()]
    done, days = await done_elsewhere(material.gatherer, due, tasks, until)
    wanted = [
        task
        for task in due
        if task.id not in done and days[task.note] <= last and (task_key(_titled(task)), task.due) not in known
    ]
    return await task_lines(sorted(wanted, key=_planned), most, material)


def _planned(task: TaskRow) -> str:
    """Return the day on which a task is due or, without one, for which it is scheduled; empty if it has neither."""
    return task.due or task.scheduled


async def known_tasks(gatherer: Gatherer) -> list[TaskRow]:
    """Return the tasks, open or not, that may be given to the drafter."""
    found: list[TaskRow] = await gatherer.read(list_tasks)
    return allowed(found, remote=gatherer.remote)


async def days_of_notes(client: VaultClient, tasks: Sequence[TaskRow], span: Span) -> dict[str, str]:
    """Return the days of the notes of tasks by path, empty for a note without one. Each note is read."""
    paths = {task.note for task in tasks}
    return await asyncio.to_thread(lambda: {path: _own_day(client, path, span) for path in paths})


async def tasks_done_elsewhere(gatherer: Gatherer, span: Span) -> set[tuple[str, str]]:
    """Return the open tasks that another note has as done (`done_in_another_note`), each as its note and its key."""
    tasks = await known_tasks(gatherer)
    done_words = {task_key(task.title, gatherer.me) for task in tasks if not task.is_open}
    wanted = [task for task in tasks if task.is_open and task_key(task.title, gatherer.me) in done_words]
    done, _ = await done_elsewhere(gatherer, wanted, tasks, span)
    return {(task.note, task_key(task.title)) for task in wanted if task.id in done}


async def done_elsewhere(
    gatherer: Gatherer, wanted: Sequence[TaskRow], tasks: Sequence[TaskRow], span: Span
) -> tuple[set[str], dict[str, str]]:
    """Return the ids of the open tasks `wanted` that another note has as done (`done_in_another_note`), and the days of
    the notes that have them.
    """
    words = {task_key(task.title, gatherer.me) for task in wanted}
    same = [task for task in tasks if task_key(task.title, gatherer.me) in words]  # which may spell a name otherwise
    days = await days_of_notes(gatherer.client, same, span)
    return done_in_another_note(same, days, span, gatherer.me), days


def done_in_another_note(
    tasks: Sequence[TaskRow], days: Mapping[str, str], span: Span, me: Collection[str]
) -> set[str]:
    """Return the ids of the open tasks that another note has as done or cancelled between the day of their own note and
    the end of a span. If their own note has no day, the time between begins with the span.

    A box that was ticked without a date counts only if one of the two notes is named only by its day, or if both are of
    one series: their names differ only in the date, or both are in a folder with the name of one of them, such as that
    of a meeting that was renamed. Another deadline is another task, and so is every occurrence of a recurring task; but
    if a later note of the same series has the task with another deadline, open or not, the deadline was moved.
    """
    first, last = span.first.isoformat(), span.last.isoformat()
    diary = {path for path in days if _is_named_by_day(path)}
    series = {path: found for path in days if days[path] and (found := series_of(path))[1]}
    alike: dict[str, list[TaskRow]] = {}
    for task in tasks:
        alike.setdefault(task_key(task.title, me), []).append(task)

    def is_of_series(task: TaskRow, other: TaskRow) -> bool:
        both = {series[each.note] for each in (task, other) if each.note in series}
        is_renamed = len({folder for folder, _ in both}) == 1 and any(
            title_key(folder.name) - DAY_NAMES == title for folder, title in both
        )
        return task.note in series and other.note in series and (len(both) == 1 or is_renamed)

    def is_done(task: TaskRow, other: TaskRow) -> bool:
        if other.is_open or (task.due != other.due and (task.recurrence or (task.due and other.due))):
            return False
        is_dated = other.done or task.note in diary or other.note in diary
        is_between = (days[task.note] or first) <= (other.done or days[other.note]) <= last
        return is_between and (bool(is_dated) or is_of_series(task, other))

    def is_moved(task: TaskRow, other: TaskRow) -> bool:
        has_other_day = bool(task.due and other.due) and task.due != other.due and not task.recurrence
        return has_other_day and days[task.note] < days[other.note] <= last and is_of_series(task, other)

    return {
        task.id
        for task in tasks
        if task.is_open
        for other in alike[task_key(task.title, me)]
        if task.note != other.note and (is_done(task, other) or is_moved(task, other))
    }


def task_key(title: str, me: Collection[str] = ()) -> str:
    """Return the words that tasks have in common if they are the same: without markup, case and the final full stop.

    “Sam: pay”, “@Sam pay” and “pay (Sam)” are “pay” if Sam is the user, whose names are `me`.
    """
    key = plain_text(bare(title)).casefold().rstrip(" .!")
    names = {part for name in me if "@" not in name for part in (name.casefold(), *name.casefold().split()[:1])}
    if not names:
        return key
    name = "|".join(map(re.escape, sorted(names, key=len, reverse=True)))
    return re.sub(rf"^(?:@(?:{name})\b[:,]?|(?:{name})\s*[:–-])\s+|\s+(?:@(?:{name})|\((?:{name})\))$", "", key)


def _is_named_by_day(path: str) -> bool:
    letters = "".join(filter(str.isalpha, PurePosixPath(path).stem)).casefold()
    return not letters or letters in DAY_NAMES


def series_of(path: str) -> tuple[PurePosixPath, frozenset[str]]:
    """Return what the notes of a series have in common: their folder, and the words of their names without dates."""
    place = PurePosixPath(path)
    return place.parent, title_key(place.stem) - DAY_NAMES


@dataclass(frozen=True, slots=True)
class Held:
    """A meeting that took place, and its note, if there is one; `read` is None for one that is not of the span."""

    title: str
    day: datetime.date | None
    path: str = ""
    read: ReadNote | None = None


async def meetings_of(
    held: Sequence[Held], most: int, material: Material, listed: Collection[str]
) -> list[dict[str, Any]]:
    """Return meetings for a template, with their outcomes; of more than `most` those with notes. An outcome that is
    `listed` elsewhere only counts if there is no other.
    """
    with_notes_first = sorted(range(len(held)), key=lambda number: held[number].read is None)
    found = [held[number] for number in sorted(with_notes_first[:most])]
    await will_link([each.path for each in found], material)
    lines = await asyncio.to_thread(lambda: [_meeting_line(each, material, listed) for each in found])
    return sorted(lines, key=lambda line: line["day"])


async def meetings_held(gatherer: Gatherer, span: Span, reads: Sequence[ReadNote]) -> list[Held]:
    """Return the meetings of a span that have begun, with their notes, and meeting notes without an event, once each.

    A note belongs to an event by its key, or else by its day and its series, title or people. Events without a note
    that get no draft, such as those that the user declined, are left out. One without invitees is a meeting if the
    others have none either.
    """
    start, end = span.bounds(gatherer.zone)
    begun = await gatherer.meetings(start, min(end, time.time()))
    events = [meeting for meeting in begun if not meeting.cancelled and span.first <= meeting.day <= span.last]
    keys = [meeting.event_id for meeting in events]
    notes: dict[str, str] = await gatherer.read(lambda index: paths_of_keys(index, keys))
    by_path = {read.note.path: read for read in reads}
    free = [read for read in reads if read.note.path not in notes.values()]
    owned = notes_by_meeting(await gatherer.invited(*events), [read.note for read in free])
    rule: Notes = "meetings" if any(len(each.attendees) > 1 for each in events) else "all"
    found: list[Held] = []
    for each in events:
        path = notes.get(each.event_id, "")
        read = by_path.get(path)
        if read is None:  # the note of the user is better than a draft that waits
            read = next((read for read in free if read.note == owned.get(each.event_id)), None)
            path = read.note.path if read else path
        if path or not why_no_draft(each, gatherer.me, rule, ()):
            found.append(Held(each.title, each.day, path, read))
    unplanned = [read for read in free if read.note not in owned.values()]
    found += [
        Held(_title_of(read.note), day_in(read.note.path, read.note.front), read.note.path, read)
        for read in unplanned
        if is_meeting_note(read.note, gatherer.me) or _lists_attendees(read, gatherer.me)
    ]
    return [each for each in found if not (each.read and was_cancelled(each.read))]


def _lists_attendees(read: ReadNote, me: Collection[str]) -> bool:
    """Check whether a note with a day in its name has a line such as “Present: Ana, Bo”."""
    has_day = day_of(PurePosixPath(read.note.path).name) is not None
    return has_day and not _is_daily(read.note, me) and any(LISTS_ATTENDEES.match(block.text) for block in read.blocks)


def _title_of(note: IndexedNote) -> str:
    """Return the title of a meeting's note; with the name of its folder if it is only a date and “meeting”."""
    if title_key(note.heading) and not is_generic(note.heading):
        return note.heading
    return note.title if title_key(note.title) else f"{PurePosixPath(note.path).parent.name} {note.title}".strip()


def _meeting_line(held: Held, material: Material, listed: Collection[str]) -> dict[str, Any]:
    """Return a meeting for a template, with its outcomes, unless the decisions of its note are listed."""
    title, path = held.title, held.path
    found = outcomes_of(held.read.blocks) if held.read else []
    best = [each for each in found if inline(each[-1].text) not in listed][:OUTCOMES_A_MEETING] or found[:1]
    outcomes = [_outcome_line(held.read, each, material) for each in best if held.read]
    has_words = bool(title_key(PurePosixPath(path).stem))
    return {
        "title": inline(title) or "Meeting",
        "day": str(held.day or ""),
        "path": path,
        "link": link_to(path) if has_words else wikilink(path, title) if path else "",
        "outcome": "".join(outcomes[:1]),
        "outcomes": outcomes[1:],
    }


def _outcome_line(read: ReadNote, outcome: Sequence[Block], material: Material) -> str:
    lines = material.quote(read, outcome)
    return ": ".join(
        filter(None, (*(line["topic"] for line in lines[:1]), *(line["text"].rstrip(":") for line in lines)))
    )


async def will_link(paths: list[str], material: Material) -> None:
    """Mark the draft as private if one of these linked notes is."""
    material.private = material.private or await material.gatherer.read(lambda index: is_any_private(index, paths))


async def task_lines(tasks: Sequence[TaskRow], most: int, material: Material) -> list[dict[str, str]]:
    """Return tasks for a template, each with a link to its note, without those that are struck through. An open one of
    a note whose status is cancelled, such as that of a project, is marked.

    A task that was copied from one daily note, or one note of a series, to the next is returned once. If it was done on
    a day, or has a deadline, so is one in dated notes of any folder, from an undated note if it is in one. Those after
    `most` are counted.
    """
    cancelled: set[str] = await material.gatherer.read(_cancelled_notes)

    def key_of(task: TaskRow) -> tuple[str, str]:
        day = day_in(task.note, {}) if _is_named_by_day(task.note) and not task.is_open else None
        return task_key(task.title), task.done or (day.isoformat() if day else task.due)

    undated = {key_of(task) for task in tasks if not day_in(task.note, {})}
    distinct: dict[tuple[str, str, str, object], TaskRow] = {}
    for task in tasks:
        key, parent = key_of(task), task_key(task.parent)
        _, day = key
        if not day_in(task.note, {}):
            distinct.setdefault((*key, parent, task.note), task)
        elif not (day and key in undated):
            distinct.setdefault((*key, parent, "" if day else series_of(task.note)), task)
    lines = []
    wanted = [task for (words, *_), task in distinct.items() if words]
    for task in wanted[:most]:
        words = _titled(task)
        evidence = Evidence(
            number=0, source_type=MemorySource.TASK.value, path=task.id.removeprefix("task:"), title=task.note,
            heading_path=(), start_line=task.line, end_line=task.line, text=task.title,
        )  # fmt: skip
        passage = material.passages.add(evidence, sensitive=task.sensitive)
        material.listed.append((words, (passage.number,)))
        mark = ", cancelled" if task.is_open and task.note in cancelled else ""
        lines.append({"text": inline(words), "due": task.due, "link": f"{link_to(task.note)}{mark}"})
    return lines + _more(len(wanted) - most, "")


def _cancelled_notes(index: Database) -> set[str]:
    """Return the paths of the notes whose status says that what they are about was cancelled."""
    rows = index.rows(
        "SELECT source_id, json_extract(metadata_json, '$.frontmatter.status') FROM memory_documents"
        " WHERE source_type = 'vault' AND json_extract(metadata_json, '$.frontmatter.status') IS NOT NULL"
    )
    return {path for path, status in rows if says_cancelled(str(status))}


def _titled(task: TaskRow) -> str:
    """Return the words of a task, those of a sub-task after its parent's, and the day of one that is only scheduled."""
    is_scheduled = task.is_open and task.scheduled and not task.due
    words = below_parent(bare(task.parent), bare(task.title))
    return f"{words}, scheduled {task.scheduled}" if words and is_scheduled else words


def below_parent(parent: str, words: str) -> str:
    """Return the words of a task after those of its parent, which are shortened, if it has one."""
    return " › ".join(filter(None, (shortened(parent, LONGEST_TOPIC), words)))


def _more(number: int, link: str) -> list[dict[str, str]]:
    """Return a last line with the number of those that are left out, if there are any."""
    return [{"text": f"and {number} more", "due": "", "indent": "", "topic": "", "link": link}] if number > 0 else []
