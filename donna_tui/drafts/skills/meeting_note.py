"""`MeetingNoteSkill`: the note of a meeting, from its invitation and from what Donna remembers of it."""

from __future__ import annotations

import asyncio
import datetime
import re
from collections.abc import Awaitable, Callable
from typing import Any

from donna_tui.config.skills import MeetingNoteConfig
from donna_tui.drafting import Evidence, Meeting
from donna_tui.drafts.answers import MeetingNoteAnswer
from donna_tui.drafts.composing import Corrected, Task
from donna_tui.drafts.context import Earlier, Gatherer
from donna_tui.drafts.days import short_day, when
from donna_tui.drafts.page import Context, Run
from donna_tui.drafts.passages import Passages
from donna_tui.drafts.people import resolve_person_link
from donna_tui.drafts.plain import inline, slug, wikilink, words_only
from donna_tui.drafts.writer import MemoryInformedWriter, WriteResult
from donna_tui.memories import MemorySource
from donna_tui.records import dataclass
from donna_tui.results import Hit
from donna_tui.vault.client import VaultClient

TEMPLATE, TASK_TYPE = "meeting_note", "draft_meeting_note"
UNTITLED = "Meeting"
MOST_ATTENDEES, MOST_POINTS = 100, 15

_LINES = re.compile(r"[\r\n]+|<br\s*/?>|</(?:p|li|div)>", re.IGNORECASE)
_TAG = re.compile(r"<[^<>]{0,500}>")
_MARK = re.compile(r"^\s*(?:[-*+•–—]|\d{1,3}[.)])\s+")
_DIAL_IN = re.compile(
    r"zoom|teams meeting|google meet|meet\.google|webex|dial[- ]?in|passcode|meeting id|join (?:the|by|on|with)|"
    r"one tap|find your local number|unsubscribe|^_{3,}|^[-=~*]{3,}|^\+?[\d\s().,#*-]{7,}$",
    re.IGNORECASE,
)

Corrections = Callable[[str], Awaitable[list[Corrected]]]
"""What was corrected lately in tasks of a type."""


@dataclass(frozen=True, slots=True, kw_only=True)
class MeetingNoteSkill:
    """`zone` is that of the user: the note is of the day on which the meeting began there."""

    writer: MemoryInformedWriter
    gatherer: Gatherer
    client: VaultClient
    config: MeetingNoteConfig
    zone: datetime.tzinfo
    corrections: Corrections

    async def run(self, meeting: Meeting) -> WriteResult:
        """Write the draft of a meeting unless there is one."""
        return await self.writer.carry_out(self.asked(meeting))

    def asked(self, meeting: Meeting) -> Run:
        """What the writer is asked for."""
        return Run(
            template=TEMPLATE,
            task_type=TASK_TYPE,
            gather=lambda: self.gather(meeting),
            target_path=target_of(meeting),
            key=key_of(meeting),
            title=title_of(meeting),
            autonomy=self.config.autonomy_level,
        )

    async def gather(self, meeting: Meeting) -> Context:
        """What the note is made from. Raises DonnaError."""
        limits = self.config.context_limits
        agenda = agenda_of(meeting)
        about = " ".join([title_of(meeting), *agenda])
        earlier = await self.gatherer.earlier_meetings(meeting, limits.prior_meetings)
        passages = Passages()
        if earlier:
            await self.gatherer.last_time(earlier[0], passages)
        others = [each.note.path for each in earlier[1:]]
        if others:
            hits = await self.gatherer.hits(about, MemorySource.VAULT, limits.prior_meetings, within=others)
            passages.add_hits(hits)
        passages.add_hits(await self.gatherer.hits(about, MemorySource.CHAT, limits.recent_chats))
        told = tuple(passages.taken)
        tasks = await self.gatherer.open_tasks(about, limits.open_tasks)
        listed = list(zip(tasks, passages.add_hits(tasks), strict=True))
        links = await asyncio.to_thread(self._people, meeting)
        return Context(
            task=Task(
                task_type=TASK_TYPE,
                about=about,
                schema=MeetingNoteAnswer,
                passages=told,
                private=frozenset(passages.private),
                facts=_facts(meeting, agenda),
                corrections=tuple(await self.corrections(TASK_TYPE)),
            ),
            data=self._data(meeting, agenda, links, earlier, [_task(hit) for hit, _ in listed]),
            frontmatter=self._frontmatter(meeting, links),
            listed=tuple(_task_statement(hit, passage) for hit, passage in listed),
            all_passages=tuple(passages.taken),
            links_private=any(each.note.sensitive for each in earlier),
        )

    def _people(self, meeting: Meeting) -> list[str]:
        links = (resolve_person_link(each.name, self.client) for each in meeting.attendees[:MOST_ATTENDEES])
        return list(dict.fromkeys(filter(None, links)))

    def _data(
        self, meeting: Meeting, agenda: list[str], links: list[str], earlier: list[Earlier], tasks: list[dict[str, str]]
    ) -> dict[str, Any]:
        related = [{"link": _link(each), "day": short_day(each.day)} for each in earlier]
        start, end = meeting.start.astimezone(self.zone), meeting.end.astimezone(self.zone)
        return {
            "event": {
                "title": inline(title_of(meeting)),
                "when": when(start, end, meeting.day, all_day=meeting.all_day),
                "location": inline(meeting.location, 200),
            },
            "attendees": links,
            "agenda": [inline(point) for point in agenda],
            "last_time": related[0] if related else None,
            "related": related[1:],
            "known_links": [each["link"] for each in related],
            "tasks": tasks,
        }

    def _frontmatter(self, meeting: Meeting, links: list[str]) -> dict[str, Any]:
        front: dict[str, Any] = {
            "type": "meeting",
            "date": meeting.day.isoformat(),
            "calendar_event_id": meeting.event_id,
            "event_start": meeting.start.astimezone(self.zone).isoformat(timespec="minutes"),
            "event_end": meeting.end.astimezone(self.zone).isoformat(timespec="minutes"),
            "attendees": links,
        }
        return {**front, "series_id": meeting.series_id} if meeting.series_id else front


def target_of(meeting: Meeting) -> str:
    """The path of the note of a meeting."""
    return f"Meetings/{meeting.day.isoformat()}-{slug(meeting.title, otherwise='meeting')}.md"


def key_of(meeting: Meeting) -> str:
    """The idempotency key of the note of a meeting."""
    return meeting.event_id


def title_of(meeting: Meeting) -> str:
    """The title of a meeting as bare words."""
    return words_only(meeting.title, 200) or UNTITLED


def agenda_of(meeting: Meeting) -> list[str]:
    """The points of an invitation, without the ways to dial in."""
    lines = (_MARK.sub("", _TAG.sub(" ", line)).strip() for line in _LINES.split(meeting.description[:20_000]))
    points = [words_only(line, 300) for line in lines if line and not _DIAL_IN.search(line)]
    return [point for point in dict.fromkeys(points) if any(char.isalpha() for char in point)][:MOST_POINTS]


def _facts(meeting: Meeting, agenda: list[str]) -> tuple[str, ...]:
    people = ", ".join(words_only(each.name, 80) for each in meeting.attendees[:MOST_ATTENDEES])
    lines = [f"Meeting: {title_of(meeting)}", f"Day: {meeting.day.isoformat()}"]
    lines += [f"Invited: {people}"] if people else []
    return (*lines, *(f"Agenda: {point}" for point in agenda))


def _link(earlier: Earlier) -> str:
    return wikilink(earlier.note.path, earlier.note.path.rsplit("/", 1)[-1].removesuffix(".md"))


def _task(hit: Hit) -> dict[str, str]:
    note = str(hit.metadata.get("note") or hit.path.partition("#")[0])
    return {
        "text": inline(str(hit.metadata.get("title", ""))),
        "due": str(hit.metadata.get("due") or ""),
        "link": wikilink(note, note.rsplit("/", 1)[-1].removesuffix(".md")),
    }


def _task_statement(hit: Hit, passage: Evidence) -> tuple[str, tuple[int, ...]]:
    return words_only(str(hit.metadata.get("title", ""))), (passage.number,)
