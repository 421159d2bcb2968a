"""Run the skills that draft notes: build them from the settings of a space, and run them for a meeting or a day."""

from __future__ import annotations

import asyncio
import datetime
import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from pathlib import Path

from donna_tui.config.models import MemoryConfig
from donna_tui.drafts.drafters import ALIAS, Corrected, Drafter, ExtractiveDrafter, ModelDrafter, Prompts
from donna_tui.drafts.page import INBOX, DraftJob
from donna_tui.drafts.passages import notes_of_key
from donna_tui.drafts.queue import Entry
from donna_tui.drafts.renderer import VaultTemplateRenderer
from donna_tui.drafts.series import Gatherer, allowed
from donna_tui.drafts.skills import meeting_note, person, reviews
from donna_tui.drafts.text import numbered
from donna_tui.drafts.writer import MemoryInformedWriter, WriteResult
from donna_tui.engine.calendar_service import CalendarService
from donna_tui.engine.space_context import SpaceContext
from donna_tui.engine.vault_service import writer_of
from donna_tui.memory.facts import latest_corrections
from donna_tui.platform.paths import resource
from donna_tui.types.drafts import Meeting
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.client import VaultClient
from donna_tui.vault.obsidian import template_folders
from donna_tui.vault.open import open_writer, vault_client
from donna_tui.vault.write.changes import OWN_ACTOR

MAX_CORRECTIONS = 10
"""Maximum number of corrections of earlier drafts that are applied to the next draft of the same kind."""


class SkillRunner:
    """The skills of one space, with the writer that they share."""

    def __init__(self, context: SpaceContext, calendar: CalendarService) -> None:
        self._context, self._calendar = context, calendar
        self.zone = calendar.zone

    @cached_property
    def client(self) -> VaultClient:
        return vault_client(self._context.config, self._context.space.root)

    @cached_property
    def writer(self) -> MemoryInformedWriter:
        """Return the writer of drafts, which may only write below the folders that the settings allow."""
        context = self._context
        return MemoryInformedWriter(
            renderer=VaultTemplateRenderer(templates_dir(context.config)),
            vault_client=self.client,
            vault_writer=writer_of(context),
            drafter=self._drafter,
            db=context.memory.db,
            hub=context.hub,
            find=lambda key: context.read(lambda index: notes_of_key(index, key)),
        )

    async def job_of(self, entry: Entry) -> DraftJob:
        """Return the job that composes a draft again. Raises DonnaError if there is no source to draft from."""
        if entry.skill == meeting_note.TEMPLATE:
            return await self.job_for(await self._calendar.meeting(entry.key))
        if entry.skill == person.TEMPLATE:
            name, _, week = entry.key.rpartition("@")
            return person.profile(self._gatherer, name, _day_of(week))
        return DATED_SKILLS[entry.skill](self._gatherer, _day_of(entry.key))

    async def adopted(self, entry: Entry) -> Entry:
        """Return a draft of another device with its title and target. Raises ValueError for a key of no day."""
        try:
            job = await self.job_of(entry)
        except DonnaError:  # its meeting is in no calendar of this device
            return entry
        is_elsewhere = not entry.path.startswith(f"{INBOX}/") and entry.path not in numbered(job.target_path)
        return replace(entry, title=job.title, target=entry.path if is_elsewhere else job.target_path)

    async def job_for(self, meeting: Meeting) -> DraftJob:
        """Return the job that composes the note of a meeting. Raises DonnaError."""
        return await meeting_note.note(self._gatherer, meeting)

    async def write_note(self, meeting: Meeting, actor: str = OWN_ACTOR) -> WriteResult:
        return await self.writer.run(await self.job_for(meeting), actor)

    async def check(self, entry: Entry) -> None:
        """Check that a draft can be composed again. Raises DonnaError if its skill or meeting is unknown."""
        if entry.skill == meeting_note.TEMPLATE:
            await self._calendar.meeting(entry.key)
        elif entry.skill != person.TEMPLATE and entry.skill not in DATED_SKILLS:
            raise DonnaError(Reason.USAGE, f"there is no skill {entry.skill}")

    async def again(self, entry: Entry, actor: str) -> None:
        await self.writer.run(await self.job_of(entry), actor)

    async def write(self, skill: str, day: datetime.date, who: str = "", actor: str = OWN_ACTOR) -> list[WriteResult]:
        """Write the drafts of a skill for a day or its week; `who` names a profile, due or not. Raises DonnaError."""
        if skill in DATED_SKILLS:
            return [await self.writer.run(DATED_SKILLS[skill](self._gatherer, day), actor)]
        if who:
            names = [await asyncio.to_thread(person.named_person, self.client, who)]
        else:
            config, now = self._context.config.skills.person_profile, time.time()
            templates = self._gatherer.templates
            names = await self._context.read(
                lambda index: person.people_due(index, self.client, config, now, templates)
            )
        return [await self.writer.run(person.profile(self._gatherer, name, day), actor) for name in names]

    @cached_property
    def _drafter(self) -> Drafter:
        router = self._context.router
        route = router.route(ALIAS) if router else None
        if router is None or route is None:
            return ExtractiveDrafter()
        own = resource("vault_templates", "prompts")
        prompts = Prompts(templates_dir(self._context.config) / "prompts", own)
        return ModelDrafter(router, prompts, remote=not route.is_local)

    @cached_property
    def _gatherer(self) -> Gatherer:
        context = self._context
        return Gatherer(
            search=context.searcher.search,
            read=context.read,
            meetings=self._calendar.meetings_between,
            corrections=self._corrections,
            texts_at=lambda paths, at: open_writer(context.config, context.space).history.texts_at(paths, at),
            client=self.client,
            config=context.config,
            zone=self.zone,
            remote=self._drafter.remote,
            templates=template_folders(context.space.root),
        )

    async def _corrections(self, task_type: str) -> list[Corrected]:
        """Return the latest corrections of drafts of this kind that the drafter may read."""
        found = await self._context.memory.db.run(
            lambda db: latest_corrections(db.database, task_type, MAX_CORRECTIONS)
        )
        return [
            Corrected(correction.original, correction.corrected, correction.sensitive)
            for correction in allowed(found, remote=self._drafter.remote)
        ]


DATED_SKILLS: dict[str, Callable[[Gatherer, datetime.date], DraftJob]] = {
    reviews.REFLECTION: reviews.reflection,
    reviews.COMMITMENTS: reviews.commitments,
    reviews.WEEKLY: reviews.weekly_review,
}
"""The skills that write one draft per day or per week."""


def skill_names() -> tuple[str, ...]:
    """Return the skills that can draft at any time; a meeting has its own command."""
    return *DATED_SKILLS, person.TEMPLATE


def templates_dir(config: MemoryConfig) -> Path:
    """Return the folder of templates; a relative path is below Donna's resources. Raises FileNotFoundError."""
    folder = config.vault.templates_dir
    return folder if folder.is_absolute() else resource(*folder.parts)


def _day_of(key: str) -> datetime.date:
    """Return the day that is an ISO day, or the Monday of an ISO week such as `2026-W07`."""
    if "W" in key:
        year, _, week = key.partition("-W")
        return datetime.date.fromisocalendar(int(year), int(week), 1)
    return datetime.date.fromisoformat(key)
