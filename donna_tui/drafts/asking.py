"""Asks a language model for an answer: what it is told, and what of it may leave this machine."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.config.routes import Alias
from donna_tui.drafting import Evidence
from donna_tui.drafts.composing import Composed, Task
from donna_tui.drafts.plain import words_only
from donna_tui.drafts.renderer import ENDING, VaultTemplateRenderer
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.payload import Payload, Segment

if TYPE_CHECKING:
    from donna_tui.llm.router import ModelRouter

ALIAS: Alias = "reasoner"
MOST_CHARS = 48_000
"""Characters of passages in one question, about 12,000 tokens."""


class ModelDrafter:
    """Composes with the model that is configured for drafts."""

    def __init__(self, router: ModelRouter, prompts: Prompts, *, remote: bool) -> None:
        self._router, self._prompts, self.remote = router, prompts, remote

    async def compose(self, task: Task) -> Composed:
        """The model's answer. Raises DonnaError; nothing private is sent to a model elsewhere."""
        payload = payload_of(task, await asyncio.to_thread(self._prompts.system, task))
        done = await self._router.complete(payload, task_type=task.task_type, schema=task.schema, alias=ALIAS)
        return Composed(done.output, done.metadata.model, done.metadata.cost_usd)


class Prompts:
    """The prompts, as template files: `rules.md.j2` for all, and one for each task type.

    Those in the first folder that has them are used, so that a user may change any of them.
    """

    def __init__(self, *folders: Path) -> None:
        self._folders = [folder for folder in folders if folder.is_dir()]

    def system(self, task: Task) -> str:
        """What a model is told to do. Blocks. Raises DonnaError (`template_error`)."""
        known = {"me": words_only(task.me, 80), "about": words_only(task.about, 200)}
        return "\n\n".join(self._rendered(name, known).strip() for name in ("rules", task.task_type))

    def _rendered(self, name: str, context: dict[str, str]) -> str:
        folder = next((each for each in self._folders if (each / f"{name}{ENDING}").exists()), self._folders[-1])
        return VaultTemplateRenderer(folder).render(name, context)[0]


def payload_of(task: Task, system: str) -> Payload:
    """The question: what is asked, and the passages with their numbers and days, each as private as it is."""
    return Payload(system=system, segments=(*_about(task), *_corrections(task), *_passages(task)))


def _about(task: Task) -> Iterator[Segment]:
    lines = task.facts or (task.about,)
    yield Segment(text="\n".join(lines), sensitivity=Sensitivity.PUBLIC)


def _corrections(task: Task) -> Iterator[Segment]:
    for each in task.corrections:
        told = (
            f"Earlier the person changed a draft of this kind.\nNot: {each.before}\nBut: {each.after or '(left out)'}"
        )
        yield Segment(text=told, sensitivity=Sensitivity.LOCAL_ONLY if each.private else Sensitivity.PUBLIC)


def _passages(task: Task) -> Iterator[Segment]:
    room = MOST_CHARS
    for passage in task.passages:
        text = _told(passage, task.dates.get(passage.number, ""))
        room -= len(text)
        if room < 0:
            break
        private = passage.number in task.private
        yield Segment(text=text, sensitivity=Sensitivity.LOCAL_ONLY if private else Sensitivity.PUBLIC)


def _told(passage: Evidence, day: str) -> str:
    place = " › ".join((passage.title, *passage.heading_path))
    return f"[{passage.number}] {f'{day} · ' if day else ''}{place} ({passage.path})\n{passage.text}"
