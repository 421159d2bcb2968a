"""The drafts of a day: a reflection, and the log of what was promised."""

from __future__ import annotations

import datetime

from donna_tui.drafts.answers import CommitmentsAnswer, DailyReflectionAnswer
from donna_tui.drafts.days import long_day
from donna_tui.drafts.page import Context, Run
from donna_tui.drafts.passages import Passages
from donna_tui.drafts.skills.cadence import CadenceParts, Material, Span, chats_of, meetings_of, tasks_of

REFLECTION, REFLECTION_TASK = "daily_reflection", "draft_daily_reflection"
COMMITMENTS, COMMITMENTS_TASK = "commitment_log", "extract_commitments"


def reflection(parts: CadenceParts, day: datetime.date) -> Run:
    """A look back at a day: who was met, what was done, what was said."""
    return Run(
        template=REFLECTION,
        task_type=REFLECTION_TASK,
        gather=lambda: _gather_reflection(parts, day),
        target_path=f"Reflections/{day.isoformat()}.md",
        key=day.isoformat(),
        title=f"Reflection, {long_day(day)}",
        autonomy=parts.config.skills.daily_reflection.autonomy_level,
    )


def commitments(parts: CadenceParts, day: datetime.date) -> Run:
    """The promises that were made on a day, in chats and tasks."""
    return Run(
        template=COMMITMENTS,
        task_type=COMMITMENTS_TASK,
        gather=lambda: _gather_commitments(parts, day),
        target_path=f"Commitments/{day.isoformat()}.md",
        key=day.isoformat(),
        title=f"Commitments, {long_day(day)}",
        autonomy=parts.config.skills.commitment_log.autonomy_level,
    )


async def _gather_reflection(parts: CadenceParts, day: datetime.date) -> Context:
    limits = parts.config.skills.daily_reflection.context_limits
    span, material = Span(day, day), Material(Passages(), [])
    told = await chats_of(parts, span, limits.chat_highlights, material)
    data = {
        "title": long_day(day),
        "meetings": await meetings_of(parts, span, limits.meetings, material),
        "done": await tasks_of(parts, done_in=span, most=limits.completed_tasks, material=material),
    }
    front = {"type": "reflection", "date": day.isoformat()}
    corrections = await parts.corrections(REFLECTION_TASK)
    return material.context(REFLECTION_TASK, DailyReflectionAnswer, long_day(day), data, front, corrections, told)


async def _gather_commitments(parts: CadenceParts, day: datetime.date) -> Context:
    limits = parts.config.skills.commitment_log.context_limits
    span, material = Span(day, day), Material(Passages(), [])
    told = await chats_of(parts, span, limits.chat_hits, material)
    data = {
        "title": long_day(day),
        "tasks": await tasks_of(parts, done_in=None, most=limits.task_hits, material=material),
    }
    front = {"type": "commitments", "date": day.isoformat()}
    corrections = await parts.corrections(COMMITMENTS_TASK)
    return material.context(COMMITMENTS_TASK, CommitmentsAnswer, long_day(day), data, front, corrections, told)
