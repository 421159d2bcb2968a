"""What an engine lends to the drafts of its space, and the work that goes on for them in the background."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from donna_tui.calendar.mirror import meetings_between
from donna_tui.calendar.zones import local_zone
from donna_tui.config.models import MemoryConfig
from donna_tui.config.routes import load_routes
from donna_tui.draftdesk import DraftDesk, DraftDeskParts
from donna_tui.drafting import Meeting
from donna_tui.drafts.asking import ALIAS, ModelDrafter
from donna_tui.drafts.composing import Drafter, ExtractiveDrafter
from donna_tui.drafts.context import Gatherer, Read, Search
from donna_tui.drafts.page import Run
from donna_tui.drafts.passages import notes_of_key
from donna_tui.drafts.queue import Entry
from donna_tui.drafts.renderer import VaultTemplateRenderer
from donna_tui.drafts.skills import daily, meeting_note, person, weekly
from donna_tui.drafts.skills.cadence import CadenceParts
from donna_tui.drafts.skills.meeting_note import MeetingNoteSkill
from donna_tui.drafts.writer import MemoryInformedWriter, WriterParts
from donna_tui.events import EventHub
from donna_tui.memory.facts import latest_corrections
from donna_tui.memorydesk import MemoryDesk
from donna_tui.resources import resource
from donna_tui.space import Space
from donna_tui.vault.client import VaultClient
from donna_tui.vault.open import open_writer, vault_client
from donna_tui.vault.targets import EVERYWHERE
from donna_tui.vaultdesk import announce

MOST_CORRECTIONS = 10
"""Corrections of earlier drafts of a kind that the next one is composed with."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftHostParts:
    """`memory` gives the desk of the space's memory, in whose database the queue and the calendar are."""

    space: Space
    config: MemoryConfig
    hub: EventHub
    read: Read
    search: Search
    memory: Callable[[], MemoryDesk]


class DraftHost:
    """One for an engine; made when drafts are first asked for, since what it imports takes longer than a search."""

    def __init__(self, parts: DraftHostParts) -> None:
        self._parts = parts
        self._zone = local_zone()

    @cached_property
    def desk(self) -> DraftDesk:
        """Where drafts and meetings are looked at and decided on."""
        parts = self._parts
        return DraftDesk(
            DraftDeskParts(
                client=self._client,
                writer=open_writer(parts.config, parts.space, announce(parts.hub), allowlist=(EVERYWHERE,)),
                book=parts.memory().book,
                read=parts.read,
                skill=self.meeting_skill,
                note=parts.memory().log_correction,
                refresh=self._refresh,
                clock=lambda: datetime.datetime.now(datetime.UTC),
                drafters={
                    meeting_note.TEMPLATE: self._meeting_again,
                    daily.REFLECTION: lambda entry: self._again(daily.reflection(self._cadence, _day_of(entry))),
                    daily.COMMITMENTS: lambda entry: self._again(daily.commitments(self._cadence, _day_of(entry))),
                    weekly.TEMPLATE: lambda entry: self._again(weekly.review(self._cadence, _day_of(entry))),
                    person.TEMPLATE: lambda entry: self._again(person.profile(self._cadence, *_person_of(entry))),
                },
            )
        )

    @cached_property
    def meeting_skill(self) -> MeetingNoteSkill:
        """Drafts the notes of meetings."""
        return MeetingNoteSkill(
            writer=self._writer,
            gatherer=self._gatherer,
            client=self._client,
            config=self._parts.config.skills.meeting_note,
            zone=self._zone,
            corrections=self._corrections,
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
        )

    @cached_property
    def _writer(self) -> MemoryInformedWriter:
        parts = self._parts
        return MemoryInformedWriter(
            WriterParts(
                renderer=VaultTemplateRenderer(templates_dir(parts.config)),
                vault_client=self._client,
                vault_writer=open_writer(parts.config, parts.space, announce(parts.hub)),
                drafter=self._drafter,
                book=parts.memory().book,
                hub=parts.hub,
                find=lambda key: parts.read(lambda index: notes_of_key(index, key)),
            )
        )

    @cached_property
    def _drafter(self) -> Drafter:
        """The configured model; without one, the passages themselves."""
        route = load_routes().route(ALIAS)
        if route is None:
            return ExtractiveDrafter()
        from donna_tui.llm.router import ModelRouter

        return ModelDrafter(ModelRouter(), remote=not route.is_local)

    @cached_property
    def _gatherer(self) -> Gatherer:
        return Gatherer(search=self._parts.search, read=self._parts.read, remote=self._drafter.remote)

    @cached_property
    def _client(self) -> VaultClient:
        return vault_client(self._parts.config, self._parts.space.root)

    async def _corrections(self, task_type: str) -> list[tuple[str, str]]:
        found = await self._parts.memory().book.run(
            lambda book: latest_corrections(book.database, task_type, MOST_CORRECTIONS)
        )
        allowed = [each for each in found if not (self._drafter.remote and each.sensitive)]
        return [(each.original, each.corrected) for each in allowed]

    async def _meetings(self, start: float, end: float) -> list[Meeting]:
        return await self._parts.memory().book.run(lambda book: meetings_between(book.database, start, end))

    async def _meeting_again(self, entry: Entry) -> None:
        await self.desk.draft_meeting(entry.key)

    async def _again(self, run: Run) -> None:
        await self._writer.carry_out(run)

    async def _refresh(self) -> None: ...

    async def close(self) -> None:
        """Wait for what is being written."""
        if "desk" in self.__dict__:
            await self.desk.close()


def templates_dir(config: MemoryConfig) -> Path:
    """The folder of templates; a relative one is Donna's own. Raises FileNotFoundError."""
    folder = config.vault.templates_dir
    return folder if folder.is_absolute() else resource(*folder.parts)


def _day_of(entry: Entry) -> datetime.date:
    """The day of a key that is an ISO day, or the Monday of one that is an ISO week."""
    if "W" in entry.key:
        year, _, week = entry.key.partition("-W")
        return datetime.date.fromisocalendar(int(year), int(week), 1)
    return datetime.date.fromisoformat(entry.key)


def _person_of(entry: Entry) -> tuple[str, datetime.date]:
    """The name and a day of the week of a key such as `Ana Lima@2026-W07`."""
    name, _, week = entry.key.rpartition("@")
    year, _, number = week.partition("-W")
    return name, datetime.date.fromisocalendar(int(year), int(number), 1)
