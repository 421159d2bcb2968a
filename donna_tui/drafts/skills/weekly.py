"""Draft the review of a week: its meetings, completed tasks, commitments and open tasks, and what is due next."""

from __future__ import annotations

import datetime
import re
from collections.abc import Collection
from pathlib import PurePosixPath

from donna_tui.drafts.blocks import is_quotable
from donna_tui.drafts.drafters import WeeklyReviewAnswer
from donna_tui.drafts.page import Context, Run
from donna_tui.drafts.passages import IndexedNote, approved_notes
from donna_tui.drafts.series import Gatherer, allowed
from donna_tui.drafts.skills.cadence import (
    Material,
    Span,
    chats_of,
    decided_in,
    done_in,
    due_in_week_after,
    link_to,
    meetings_held,
    meetings_of,
    noted_in,
    notes_of,
    open_in,
    read_notes,
    will_link,
)
from donna_tui.drafts.text import iso_week, short_day
from donna_tui.index.database import Database

TEMPLATE, TASK_TYPE = "weekly_review", "draft_weekly_review"
MAX_PLANS = 8

_PLANS = re.compile(r"^\W*(?:next week|plans?|the week ahead|focus|goals|nächste woche)\b", re.IGNORECASE)
"""Headings of the plans in a review."""


def review(gatherer: Gatherer, day: datetime.date) -> Run:
    """Return the run of the review of the week that contains a day."""
    week = iso_week(day)
    return Run(
        template=TEMPLATE,
        gather=lambda: _gather(gatherer, day),
        target_path=f"WeeklyReview/{week}.md",
        key=week,
        title=f"Weekly review, {week}",
        autonomy=gatherer.config.skills.weekly_review.autonomy_level,
    )


def week_of(day: datetime.date) -> Span:
    """Return the span from Monday to Sunday."""
    monday = day - datetime.timedelta(days=day.weekday())
    return Span(monday, monday + datetime.timedelta(days=6))


async def _gather(gatherer: Gatherer, day: datetime.date) -> Context:
    limits = gatherer.config.skills.weekly_review.context_limits
    span, reads = week_of(day), await notes_of(gatherer, week_of(day))
    material = await Material.of(gatherer, TASK_TYPE)
    last, planned = await _last_review(span, material)
    held = await meetings_held(gatherer, span, reads)
    meetings = await meetings_of(held, limits.meetings, material)
    still_open = await open_in(span, limits.commitments, material)
    data = {
        "title": iso_week(day),
        "span": f"{short_day(span.first)} – {short_day(span.last)}",
        "last": last,
        "planned": planned,
        "meetings": meetings,
        "decided": decided_in(reads, material, {each.path for each in held}),
        "done": await done_in(span, limits.tasks, material),
        "noted": noted_in(reads, material),
        "open": still_open,
        "due": await due_in_week_after(span, limits.commitments, material, still_open),
    }
    for read in reads:
        material.add_for_model(read)
    await chats_of(span, limits.chats, material)
    front = {"type": "weekly_review", "week": iso_week(day)}
    return material.context(WeeklyReviewAnswer, iso_week(day), data, front)


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
    return link_to(read.note.path), material.quote(read, left[:MAX_PLANS])


def _reviews_of(index: Database, week: str, templates: Collection[str]) -> list[IndexedNote]:
    year, _, number = week.partition("-W")
    name = re.compile(rf"\b{year}[-_ ]?(?:W|KW|CW)[-_ ]?{number}\b", re.IGNORECASE)
    return [
        note
        for note in approved_notes(index, templates)
        if name.search(PurePosixPath(note.path).stem)
        or (note.front.get("type"), note.front.get("week")) == (TEMPLATE, week)
    ]
