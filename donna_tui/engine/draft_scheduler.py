"""Draft notes in the background: after meetings and on schedule."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.calendar.adding import add_calendar
from donna_tui.calendar.mirror import meetings_between
from donna_tui.calendar.poller import MeetingEndPoller
from donna_tui.calendar.sources import sources_for
from donna_tui.calendar.values import local_zone
from donna_tui.config.load import load_trusted, user_file
from donna_tui.config.models import MemoryConfig
from donna_tui.drafts import queue
from donna_tui.drafts.context import Gatherer, Read, Search
from donna_tui.drafts.drafters import ALIAS, Corrected, Drafter, ExtractiveDrafter, ModelDrafter, Prompts
from donna_tui.drafts.page import Run
from donna_tui.drafts.passages import notes_of_key
from donna_tui.drafts.queue import Entry
from donna_tui.drafts.renderer import VaultTemplateRenderer
from donna_tui.drafts.schedule import cadences, follow
from donna_tui.drafts.skills import daily, meeting_note, person, weekly
from donna_tui.drafts.skills.cadence import CadenceParts
from donna_tui.drafts.skills.meeting_note import MeetingNoteSkill
from donna_tui.drafts.writer import MemoryInformedWriter, WriteResult, WriterParts
from donna_tui.engine.draft_service import DraftService, DraftServiceParts
from donna_tui.engine.memory_service import MemoryService
from donna_tui.engine.vault_service import announce, report_to
from donna_tui.memory.database import db_path
from donna_tui.memory.facts import latest_corrections
from donna_tui.platform.paths import resource
from donna_tui.platform.spaces import Space
from donna_tui.types.drafts import Meeting
from donna_tui.types.errors import DonnaError
from donna_tui.types.events import EventHub
from donna_tui.vault.client import VaultClient
from donna_tui.vault.open import open_writer, vault_client
from donna_tui.vault.write.file_names import EVERYWHERE

if TYPE_CHECKING:
    from donna_tui.llm.router import ModelRouter
    from donna_tui.vault.write.writer import VaultWriter

POLL_SECONDS = 10.0

CUT_SHORT_SECONDS = 900.0
"""Seconds after which a draft that was begun counts as cut short."""

MOST_CORRECTIONS = 10
"""Most corrections of earlier drafts that are given to the composition of the next draft of the same kind."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftSchedulerParts:
    """The parts of the scheduler. `memory` returns the service whose database holds the queue and the calendar."""

    space: Space
    config: MemoryConfig
    hub: EventHub
    read: Read
    search: Search
    memory: Callable[[], MemoryService]
    router: Callable[[], ModelRouter | None]
    clock: Callable[[], float]


class DraftScheduler:
    """The background drafting of one engine. Created on first use: its imports take longer than a search."""

    def __init__(self, parts: DraftSchedulerParts) -> None:
        self._parts = parts
        self._zone = local_zone()
        self._rules = {each.name: each.notes for each in parts.config.calendars}

    @cached_property
    def service(self) -> DraftService:
        """Return the service that lists, previews and decides drafts and meetings."""
        parts = self._parts
        return DraftService(
            DraftServiceParts(
                client=self._client,
                writer=self._open_writer(allowlist=(EVERYWHERE,)),
                allowlist=parts.config.safety.path_allowlist,
                makes_pages=parts.config.skills.meeting_note.person_pages,
                me=parts.config.me,
                rules=self._rules,
                add_calendar=self._add_calendar,
                db=parts.memory().db,
                read=parts.read,
                skill=self.meeting_skill,
                note=parts.memory().log_correction,
                refresh=self._refresh,
                clock=lambda: datetime.datetime.fromtimestamp(parts.clock(), datetime.UTC),
                write=self.run_cadence,
                drafters={
                    meeting_note.TEMPLATE: self._meeting_again,
                    **dict.fromkeys((*DATED_SKILLS, person.TEMPLATE), self._again),
                },
                runs={
                    meeting_note.TEMPLATE: self._meeting_run,
                    **dict.fromkeys((*DATED_SKILLS, person.TEMPLATE), self._cadence_run),
                },
            )
        )

    @cached_property
    def meeting_skill(self) -> MeetingNoteSkill:
        return MeetingNoteSkill(
            writer=self._writer,
            gatherer=self._gatherer,
            client=self._client,
            config=self._parts.config.skills.meeting_note,
            zone=self._zone,
            corrections=self._corrections,
            allowlist=self._parts.config.safety.path_allowlist,
        )

    @cached_property
    def _cadence(self) -> CadenceParts:
        return CadenceParts(
            writer=self._writer,
            gatherer=self._gatherer,
            client=self._client,
            config=self._parts.config,
            zone=self._zone,
            read=self._parts.read,
            meetings=self._meetings,
            corrections=self._corrections,
            texts_at=lambda paths, at: open_writer(self._parts.config, self._parts.space).history.texts_at(paths, at),
        )

    def _open_writer(self, allowlist: tuple[str, ...] | None = None) -> VaultWriter:
        parts = self._parts
        return open_writer(
            parts.config, parts.space, announce(parts.hub), on_recovered=report_to(parts.hub), allowlist=allowlist
        )

    @cached_property
    def _writer(self) -> MemoryInformedWriter:
        parts = self._parts
        return MemoryInformedWriter(
            WriterParts(
                renderer=VaultTemplateRenderer(templates_dir(parts.config)),
                vault_client=self._client,
                vault_writer=self._open_writer(),
                drafter=self._drafter,
                db=parts.memory().db,
                hub=parts.hub,
                find=lambda key: parts.read(lambda index: notes_of_key(index, key)),
            )
        )

    @cached_property
    def _drafter(self) -> Drafter:
        """Return the configured model, or the extractive drafter if there is none."""
        router = self._parts.router()
        route = router.route(ALIAS) if router else None
        if router is None or route is None:
            return ExtractiveDrafter()
        own = resource("vault_templates", "prompts")
        prompts = Prompts(templates_dir(self._parts.config) / "prompts", own)
        return ModelDrafter(router, prompts, remote=not route.is_local)

    @cached_property
    def _gatherer(self) -> Gatherer:
        parts = self._parts
        return Gatherer(search=parts.search, read=parts.read, remote=self._drafter.remote, me=parts.config.me)

    @cached_property
    def _client(self) -> VaultClient:
        return vault_client(self._parts.config, self._parts.space.root)

    async def _corrections(self, task_type: str) -> list[Corrected]:
        found = await self._parts.memory().db.run(
            lambda db: latest_corrections(db.database, task_type, MOST_CORRECTIONS)
        )
        allowed = [each for each in found if not (self._drafter.remote and each.sensitive)]
        return [Corrected(each.original, each.corrected, each.sensitive) for each in allowed]

    async def _meetings(self, start: float, end: float) -> list[Meeting]:
        return await self._parts.memory().db.run(lambda db: meetings_between(db.database, start, end))

    async def _meeting_again(self, entry: Entry) -> None:
        await self.service.draft_meeting(entry.key)

    async def _meeting_run(self, entry: Entry) -> Run:
        return await self.meeting_skill.run_for(await self.service.meeting(entry.key))

    async def _again(self, entry: Entry) -> None:
        await self._writer.carry_out(await self._cadence_run(entry))

    async def _cadence_run(self, entry: Entry) -> Run:
        if entry.skill == person.TEMPLATE:
            return person.profile(self._cadence, *_person_of(entry))
        return DATED_SKILLS[entry.skill](self._cadence, _day_of(entry))

    # In the background

    async def follow(self) -> None:
        """Draft after meetings and at the configured hours, and retry failed drafts, until cancelled."""
        await self._wait_until_needed()
        wanted = list(cadences(self._parts.config.skills))
        await self._retry(at_start=True)
        now = datetime.datetime.now(self._zone)
        async with asyncio.TaskGroup() as group:
            group.create_task(self._poller.run(), name="donna-calendar-poller")
            group.create_task(follow(wanted, self._run_cadence, self._retry, self._zone, now), name="donna-hours")

    async def _wait_until_needed(self) -> None:
        """Wait until the space has calendars, scheduled drafts or a memory; otherwise there is nothing to draft."""
        config = self._parts.config
        memory = db_path(self._parts.space.state)
        while not (config.calendars or any(cadences(config.skills)) or memory.exists()):
            await asyncio.sleep(POLL_SECONDS)

    async def run_cadence(self, skill: str, day: datetime.date, who: str = "") -> list[WriteResult]:
        """Write the drafts of a skill for a local day, or for the week that contains it.

        `who` names the person of a profile. Raises DonnaError if the page of that person is not written by Donna.
        """
        if skill == person.TEMPLATE and who:
            name = await asyncio.to_thread(person.named_person, self._client, who)
            return [await self._writer.carry_out(person.profile(self._cadence, name, day))]
        return [await self._writer.carry_out(run) for run in await self._runs(skill, day)]

    async def _run_cadence(self, skill: str, day: datetime.date) -> None:
        await self.run_cadence(skill, day)

    async def _runs(self, skill: str, day: datetime.date) -> list[Run]:
        if skill in DATED_SKILLS:
            return [DATED_SKILLS[skill](self._cadence, day)]
        config, now = self._parts.config.skills.person_profile, time.time()
        names: list[str] = await self._parts.read(lambda index: person.people_due(index, self._client, config, now))
        return [person.profile(self._cadence, name, day) for name in names]

    async def _retry(self, *, at_start: bool = False) -> None:
        """Resume drafts that failed or were cut short.

        A recently begun draft may belong to another running process, except at the start of this one.
        """
        now = time.time()
        begun_before = now if at_start else now - CUT_SHORT_SECONDS
        for entry in await self._parts.memory().db.run(lambda db: queue.due_again(db.database, now, begun_before)):
            with contextlib.suppress(DonnaError):  # such as a meeting that is in no calendar any more
                await self.service.again(entry)

    async def _dispatch(self, meeting: Meeting) -> None:
        if not await self.service.why_no_draft(meeting) and not await self.service.has_note(meeting):
            await self.meeting_skill.run(meeting)

    @cached_property
    def _poller(self) -> MeetingEndPoller:
        parts = self._parts
        return MeetingEndPoller(
            parts.memory().db,
            sources_for(parts.config.calendars, self._zone, parts.space.state),
            self._dispatch,
            parts.hub,
            parts.config.skills.meeting_note,
            parts.clock,
            self.service.follow_calendar,
        )

    async def _add_calendar(self, where: str, name: str, username: str, password: str) -> str:
        """Read a calendar, add it to the user's settings and follow it. Return its name."""
        state, now = self._parts.space.state, self._parts.clock()
        known = {each.name for each in load_trusted().config.calendars}
        login = {"username": username} if username else {}
        config, _ = await add_calendar(
            where, self._zone, state, now, file=user_file(), known=known, name=name, password=password, **login
        )
        self._rules[config.name] = config.notes
        await self._poller.follow(*sources_for((config,), self._zone, state))
        return config.name

    async def _refresh(self) -> None:
        await self._poller.refresh()

    async def close(self) -> None:
        """Wait for pending writes."""
        if "service" in self.__dict__:
            await self.service.close()


DATED_SKILLS: dict[str, Callable[[CadenceParts, datetime.date], Run]] = {
    daily.REFLECTION: daily.reflection,
    daily.COMMITMENTS: daily.commitments,
    weekly.TEMPLATE: weekly.review,
}
"""The skills that write one draft per day or per week."""


def templates_dir(config: MemoryConfig) -> Path:
    """Return the folder of templates; a relative path is below Donna's resources. Raises FileNotFoundError."""
    folder = config.vault.templates_dir
    return folder if folder.is_absolute() else resource(*folder.parts)


def _day_of(entry: Entry) -> datetime.date:
    """Return the day of a key that is an ISO day, or the Monday of a key that is an ISO week."""
    if "W" in entry.key:
        year, _, week = entry.key.partition("-W")
        return datetime.date.fromisocalendar(int(year), int(week), 1)
    return datetime.date.fromisoformat(entry.key)


def _person_of(entry: Entry) -> tuple[str, datetime.date]:
    """Split a key such as `Ana Lima@2026-W07` into the name and the Monday of the week."""
    name, _, week = entry.key.rpartition("@")
    year, _, number = week.partition("-W")
    return name, datetime.date.fromisocalendar(int(year), int(number), 1)
