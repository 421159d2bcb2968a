"""What the drafts of a day or a week have in common: what was said, done and met in a span of time."""

from __future__ import annotations

import datetime
from collections.abc import Awaitable, Callable
from typing import Any

from donna_tui.config.models import MemoryConfig
from donna_tui.drafting import Evidence, Meeting
from donna_tui.drafts.answers import Answer
from donna_tui.drafts.composing import Corrected, Task
from donna_tui.drafts.context import Gatherer, Read
from donna_tui.drafts.page import Context
from donna_tui.drafts.passages import Passages, is_any_private, paths_of_keys
from donna_tui.drafts.plain import inline, wikilink, words_only
from donna_tui.drafts.writer import MemoryInformedWriter
from donna_tui.memories import MemoryChunk, MemoryFilter, MemorySource, TaskRow
from donna_tui.memory.listing import list_memories
from donna_tui.memory.tasklist import list_tasks
from donna_tui.records import dataclass
from donna_tui.vault.client import VaultClient


@dataclass(frozen=True, slots=True)
class Span:
    """Local days, both included."""

    first: datetime.date
    last: datetime.date

    def bounds(self, zone: datetime.tzinfo) -> tuple[float, float]:
        """Its beginning and its end in Unix time."""
        midnight = datetime.time()
        start = datetime.datetime.combine(self.first, midnight, zone)
        end = datetime.datetime.combine(self.last + datetime.timedelta(days=1), midnight, zone)
        return start.timestamp(), end.timestamp()

    def holds(self, iso_day: str) -> bool:
        """Whether an ISO day is one of it."""
        return bool(iso_day) and self.first.isoformat() <= iso_day[:10] <= self.last.isoformat()


@dataclass(frozen=True, slots=True, kw_only=True)
class CadenceParts:
    """What the skills of a cadence work with. `meetings` lists those that begin between two Unix times."""

    writer: MemoryInformedWriter
    gatherer: Gatherer
    client: VaultClient
    config: MemoryConfig
    zone: datetime.tzinfo
    read: Read
    meetings: Callable[[float, float], Awaitable[list[Meeting]]]
    corrections: Callable[[str], Awaitable[list[Corrected]]]


@dataclass(slots=True)
class Material:
    """What was found of a span, with the evidence of each part. `private` says that a link leads to a private note."""

    passages: Passages
    listed: list[tuple[str, tuple[int, ...]]]
    private: bool = False

    def context(
        self, task_type: str, schema: type[Answer], about: str, data: dict[str, Any], front: dict[str, Any],
        corrections: list[Corrected], told: tuple[Evidence, ...] | None = None,
    ) -> Context:  # fmt: skip
        """All of it for the writer; `told` are the passages that sentences are taken from."""
        return Context(
            task=Task(
                task_type=task_type,
                about=about,
                schema=schema,
                passages=tuple(self.passages.taken) if told is None else told,
                private=frozenset(self.passages.private),
                corrections=tuple(corrections),
            ),
            data=data,
            frontmatter=front,
            is_empty=not (self.passages.taken or any(isinstance(part, list) and part for part in data.values())),
            listed=tuple(self.listed),
            all_passages=tuple(self.passages.taken),
            links_private=self.private,
        )


async def chats_of(parts: CadenceParts, span: Span, most: int, material: Material) -> tuple[Evidence, ...]:
    """The weightiest turns of chats in a span."""
    start, end = span.bounds(parts.zone)
    wanted = MemoryFilter(sources=(MemorySource.CHAT,), after=start, before=end)
    found: tuple[MemoryChunk, ...] = await parts.read(lambda index: list_memories(index, wanted, 20 * max(1, most), 0))
    allowed = [each for each in found if not (parts.gatherer.remote and each.sensitive)]
    best = sorted(allowed, key=_weight, reverse=True)[:most]
    in_order = sorted(best, key=lambda each: (each.at, each.source_id))
    return tuple(material.passages.add(_evidence(each), sensitive=each.sensitive) for each in in_order)


async def tasks_of(parts: CadenceParts, *, done_in: Span | None, most: int, material: Material) -> list[dict[str, str]]:
    """Tasks that were done in a span, or open ones, as a template lists them."""
    found: list[TaskRow] = await parts.read(lambda index: list_tasks(index, everything=done_in is not None))
    wanted = [task for task in found if done_in is None or (task.status == "done" and done_in.holds(task.done))]
    allowed = [task for task in wanted if not (parts.gatherer.remote and task.sensitive)][:most]
    return [_task(task, material) for task in allowed]


async def meetings_of(parts: CadenceParts, span: Span, most: int, material: Material) -> list[dict[str, str]]:
    """The meetings of a span, with links to their notes."""
    start, end = span.bounds(parts.zone)
    held = [each for each in await parts.meetings(start, end) if not each.cancelled][:most]
    keys = [each.event_id for each in held]
    notes: dict[str, str] = await parts.read(lambda index: paths_of_keys(index, keys))
    await will_link(parts, list(notes.values()), material)
    return [
        {
            "title": inline(each.title) or "Meeting",
            "day": each.day.isoformat(),
            "link": wikilink(path, _stem(path)) if (path := notes.get(each.event_id, "")) else "",
        }
        for each in held
    ]


async def will_link(parts: CadenceParts, paths: list[str], material: Material) -> None:
    """Notes that a draft will link to: it is as private as they are."""
    material.private = material.private or await parts.read(lambda index: is_any_private(index, paths))


def _weight(memory: MemoryChunk) -> float:
    value = memory.importance.value if memory.importance else None
    return (value or 0.0) + (1.0 if memory.pinned else 0.0)


def _evidence(memory: MemoryChunk) -> Evidence:
    return Evidence(
        number=0,
        source_type=memory.source.value,
        path=memory.source_id,
        title=memory.title,
        heading_path=memory.heading_path,
        start_line=memory.start_line,
        end_line=memory.end_line,
        text=memory.content,
    )


def _task(task: TaskRow, material: Material) -> dict[str, str]:
    evidence = Evidence(
        number=0,
        source_type=MemorySource.TASK.value,
        path=task.id.removeprefix("task:"),
        title=task.note,
        heading_path=(),
        start_line=task.line,
        end_line=task.line,
        text=task.title,
    )
    passage = material.passages.add(evidence, sensitive=task.sensitive)
    material.listed.append((words_only(task.title), (passage.number,)))
    return {"text": inline(task.title), "due": task.due, "link": wikilink(task.note, _stem(task.note))}


def _stem(path: str) -> str:
    return path.rsplit("/", 1)[-1].removesuffix(".md")
