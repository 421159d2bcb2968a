"""Draft the notes of a day: a reflection, and the log of commitments."""

from __future__ import annotations

import datetime

from donna_tui.drafts.drafters import CommitmentsAnswer, DailyReflectionAnswer
from donna_tui.drafts.page import Context, Run
from donna_tui.drafts.series import Gatherer
from donna_tui.drafts.skills.cadence import (
    Material,
    Span,
    chats_of,
    decided_in,
    done_in,
    meetings_held,
    meetings_of,
    noted_in,
    notes_of,
    open_in,
    promised_in,
)
from donna_tui.drafts.text import long_day

REFLECTION, REFLECTION_TASK = "daily_reflection", "draft_daily_reflection"
COMMITMENTS, COMMITMENTS_TASK = "commitment_log", "extract_commitments"


def reflection(gatherer: Gatherer, day: datetime.date) -> Run:
    """Return the run of the reflection on a day: its meetings, completed tasks and chats."""
    return Run(
        template=REFLECTION,
        gather=lambda: _gather_reflection(gatherer, day),
        target_path=f"Reflections/{day.isoformat()}.md",
        key=day.isoformat(),
        title=f"Reflection, {long_day(day)}",
        autonomy=gatherer.config.skills.daily_reflection.autonomy_level,
    )


def commitments(gatherer: Gatherer, day: datetime.date) -> Run:
    """Return the run of the commitments that were made on a day, in its notes and chats."""
    return Run(
        template=COMMITMENTS,
        gather=lambda: _gather_commitments(gatherer, day),
        target_path=f"Commitments/{day.isoformat()}.md",
        key=day.isoformat(),
        title=f"Commitments, {long_day(day)}",
        autonomy=gatherer.config.skills.commitment_log.autonomy_level,
    )


async def _gather_reflection(gatherer: Gatherer, day: datetime.date) -> Context:
    limits = gatherer.config.skills.daily_reflection.context_limits
    span, reads = Span(day, day), await notes_of(gatherer, Span(day, day))
    material = await Material.of(gatherer, REFLECTION_TASK)
    held = await meetings_held(gatherer, span, reads)
    meetings = await meetings_of(held, limits.meetings, material)
    data = {
        "title": long_day(day),
        "meetings": meetings,
        "decided": decided_in(reads, material, {each.path for each in held}),
        "done": await done_in(span, limits.completed_tasks, material),
        "noted": noted_in(reads, material),
        "open": await open_in(span, limits.completed_tasks, material),
    }
    for read in reads:
        material.add_for_model(read)
    await chats_of(span, limits.chat_highlights, material)
    front = {"type": "reflection", "date": day.isoformat()}
    return material.context(DailyReflectionAnswer, long_day(day), data, front)


async def _gather_commitments(gatherer: Gatherer, day: datetime.date) -> Context:
    limits = gatherer.config.skills.commitment_log.context_limits
    span = Span(day, day)
    material = await Material.of(gatherer, COMMITMENTS_TASK)
    reads = await notes_of(gatherer, span)
    held = {each.path for each in await meetings_held(gatherer, span, reads)}
    data = {
        "title": long_day(day),
        "promised": promised_in(reads, material, held),
        "tasks": await open_in(span, limits.task_hits, material),
    }
    await chats_of(span, limits.chat_hits, material)
    front = {"type": "commitments", "date": day.isoformat()}
    return material.context(CommitmentsAnswer, long_day(day), data, front)
