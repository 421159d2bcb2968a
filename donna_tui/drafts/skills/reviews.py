"""Draft the reviews of a day and of a week, and the log of the commitments of a day."""

from __future__ import annotations

import asyncio
import datetime
import re
from collections.abc import Collection
from pathlib import PurePosixPath
from typing import Any

from donna_tui.drafts.drafters import CommitmentsAnswer, DailyReflectionAnswer, WeeklyReviewAnswer
from donna_tui.drafts.page import Context, DraftJob
from donna_tui.drafts.passages import IndexedNote, approved_notes
from donna_tui.drafts.quotable import is_quotable
from donna_tui.drafts.series import Gatherer, allowed
from donna_tui.drafts.skills.cadence import (
    Material,
    Span,
    chats_of,
    decided_in,
    done_in,
    due_in_week_after,
    meetings_held,
    meetings_of,
    noted_in,
    notes_of,
    open_in,
    promised_in,
    read_notes,
    will_link,
)
from donna_tui.drafts.text import iso_week, link_to, long_day, short_day
from donna_tui.index.database import Database

REFLECTION, COMMITMENTS, WEEKLY = "daily_reflection", "commitment_log", "weekly_review"
MAX_PLANS = 8

_PLANS = re.compile(r"^\W*(?:next week|plans?|the week ahead|focus|goals|nächste woche)\b", re.IGNORECASE)
"""Headings of the plans in a review."""


def reflection(gatherer: Gatherer, day: datetime.date) -> DraftJob:
    """Return the job of the reflection on a day: its meetings, completed tasks and chats."""
    return DraftJob(
        template=REFLECTION,
        gather=lambda: _gather_reflection(gatherer, day),
        target_path=f"Reflections/{day.isoformat()}.md",
        key=day.isoformat(),
        title=f"Reflection, {long_day(day)}",
        autonomy=gatherer.config.skills.daily_reflection.autonomy_level,
    )


def commitments(gatherer: Gatherer, day: datetime.date) -> DraftJob:
    """Return the job of the commitments that were made on a day, in its notes and chats."""
    return DraftJob(
        template=COMMITMENTS,
        gather=lambda: _gather_commitments(gatherer, day),
        target_path=f"Commitments/{day.isoformat()}.md",
        key=day.isoformat(),
        title=f"Commitments, {long_day(day)}",
        autonomy=gatherer.config.skills.commitment_log.autonomy_level,
    )


def weekly_review(gatherer: Gatherer, day: datetime.date) -> DraftJob:
    """Return the job of the review of the week that contains a day: also what is due next."""
    week = iso_week(day)
    return DraftJob(
        template=WEEKLY,
        gather=lambda: _gather_week(gatherer, day),
        target_path=f"WeeklyReview/{week}.md",
        key=week,
        title=f"Weekly review, {week}",
        autonomy=gatherer.config.skills.weekly_review.autonomy_level,
    )


def week_of(day: datetime.date) -> Span:
    """Return the span from Monday to Sunday."""
    monday = day - datetime.timedelta(days=day.weekday())
    return Span(monday, monday + datetime.timedelta(days=6))


async def _gather_reflection(gatherer: Gatherer, day: datetime.date) -> Context:
    limits, span = gatherer.config.skills.daily_reflection.context_limits, Span(day, day)
    material = await Material.of(gatherer, "draft_daily_reflection")
    data = await _reviewed(span, limits.meetings, limits.completed_tasks, limits.completed_tasks, material)
    await chats_of(span, limits.chat_highlights, material)
    front = {"type": "reflection", "date": day.isoformat()}
    return material.context(DailyReflectionAnswer, long_day(day), {"title": long_day(day), **data}, front)


async def _gather_commitments(gatherer: Gatherer, day: datetime.date) -> Context:
    limits, span = gatherer.config.skills.commitment_log.context_limits, Span(day, day)
    material = await Material.of(gatherer, "extract_commitments")
    reads = await notes_of(gatherer, span)
    held = {each.path for each in await meetings_held(gatherer, span, reads)}
    data = {
        "title": long_day(day),
        "promised": await asyncio.to_thread(promised_in, reads, material, held),
        "tasks": await open_in(span, limits.task_hits, material, reads),
    }
    await chats_of(span, limits.chat_hits, material)
    front = {"type": "commitments", "date": day.isoformat()}
    return material.context(CommitmentsAnswer, long_day(day), data, front)


async def _gather_week(gatherer: Gatherer, day: datetime.date) -> Context:
    limits, span = gatherer.config.skills.weekly_review.context_limits, week_of(day)
    material = await Material.of(gatherer, "draft_weekly_review")
    last, planned = await _last_review(span, material)
    reviewed = await _reviewed(span, limits.meetings, limits.tasks, limits.commitments, material)
    data = {
        "title": iso_week(day),
        "span": f"{short_day(span.first)} – {short_day(span.last)}",
        "last": last,
        "planned": planned,
        **reviewed,
        "due": await due_in_week_after(span, limits.commitments, material, reviewed["open"]),
    }
    await chats_of(span, limits.chats, material)
    front = {"type": "weekly_review", "week": iso_week(day)}
    return material.context(WeeklyReviewAnswer, iso_week(day), data, front)


async def _reviewed(
    span: Span, most_meetings: int, most_done: int, most_open: int, material: Material
) -> dict[str, list[dict[str, Any]]]:
    """Return what a review lists of a span, and add its notes to what a model reads."""
    reads = await notes_of(material.gatherer, span)
    held = await meetings_held(material.gatherer, span, reads)
    paths = {each.path for each in held}
    decided = await asyncio.to_thread(decided_in, reads, material, paths)
    promised = await asyncio.to_thread(promised_in, reads, material, paths)
    noted = await asyncio.to_thread(noted_in, reads, material)
    said = {line["text"] for line in promised}
    meetings = await meetings_of(held, most_meetings, material, said)
    above = {line["text"] for line in decided} | {line["outcome"] for line in meetings}
    data = {
        "meetings": meetings,
        "decided": decided,
        "promised": [line for line in promised if line["text"].rstrip(":") not in above],
        "done": await done_in(span, most_done, material),
        "noted": [line for line in noted if line["text"] not in said],
        "open": await open_in(span, most_open, material, reads),
    }
    for read in reads:
        material.add_for_model(read)
    return data


async def _last_review(span: Span, material: Material) -> tuple[str, list[dict[str, str]]]:
    """Return a link to the review of the week before, by any author, and its plans for this one."""
    gatherer, week = material.gatherer, iso_week(span.first - datetime.timedelta(days=7))
    found: list[IndexedNote] = await gatherer.read(lambda index: _reviews_of(index, week, gatherer.templates))
    read = next(iter(await read_notes(gatherer, allowed(found, remote=gatherer.remote)[:1])), None)
    if read is None:
        return "", []
    await will_link([read.note.path], material)
    paths = {block.heading_path for block in read.blocks}
    has_title = len({path[:1] for path in paths}) == 1 and any(len(path) > 1 for path in paths)
    plans = [block for block in read.blocks if any(map(_PLANS.search, block.heading_path[has_title:]))]
    left = [block for block in plans if is_quotable(block) and (block.is_open_box or not block.box)]
    return link_to(read.note.path), material.quote(read, left, MAX_PLANS)


def _reviews_of(index: Database, week: str, templates: Collection[str]) -> list[IndexedNote]:
    year, _, number = week.partition("-W")
    name = re.compile(rf"\b{year}[-_ ]?(?:W|KW|CW)[-_ ]?{number}\b", re.IGNORECASE)
    return [
        note
        for note in approved_notes(index, templates)
        if name.search(PurePosixPath(note.path).stem)
        or (note.front.get("type"), note.front.get("week")) == (WEEKLY, week)
    ]
