"""The draft of a week: what was met, done and promised, and what is carried over."""

from __future__ import annotations

import datetime

from donna_tui.drafting import Evidence
from donna_tui.drafts.answers import WeeklyReviewAnswer
from donna_tui.drafts.days import iso_week, short_day
from donna_tui.drafts.page import Context, Run
from donna_tui.drafts.passages import Passages, note_passages, paths_of_keys
from donna_tui.drafts.plain import wikilink
from donna_tui.drafts.skills.cadence import CadenceParts, Material, Span, chats_of, meetings_of, tasks_of, will_link

TEMPLATE, TASK_TYPE = "weekly_review", "draft_weekly_review"


def review(parts: CadenceParts, day: datetime.date) -> Run:
    """A look back at the week that a day is in."""
    week = iso_week(day)
    return Run(
        template=TEMPLATE,
        task_type=TASK_TYPE,
        gather=lambda: _gather(parts, day),
        target_path=f"WeeklyReview/{week}.md",
        key=week,
        title=f"Weekly review, {week}",
        autonomy=parts.config.skills.weekly_review.autonomy_level,
    )


def week_of(day: datetime.date) -> Span:
    """Monday to Sunday."""
    monday = day - datetime.timedelta(days=day.weekday())
    return Span(monday, monday + datetime.timedelta(days=6))


async def _gather(parts: CadenceParts, day: datetime.date) -> Context:
    limits = parts.config.skills.weekly_review.context_limits
    span, material = week_of(day), Material(Passages(), [])
    promised = await _promises(parts, span, limits.commitments, material)
    told = (*promised, *await chats_of(parts, span, limits.chats, material))
    data = {
        "title": iso_week(day),
        "span": f"{short_day(span.first)} – {short_day(span.last)}",
        "meetings": await meetings_of(parts, span, limits.meetings, material),
        "done": await tasks_of(parts, done_in=span, most=limits.tasks, material=material),
        "open": await tasks_of(parts, done_in=None, most=limits.commitments, material=material),
        "last": await _last_review(parts, span, material),
    }
    front = {"type": "weekly_review", "week": iso_week(day)}
    corrections = await parts.corrections(TASK_TYPE)
    return material.context(TASK_TYPE, WeeklyReviewAnswer, iso_week(day), data, front, corrections, told)


async def _promises(parts: CadenceParts, span: Span, most: int, material: Material) -> tuple[Evidence, ...]:
    """What the logs of the week's days hold."""
    days = [span.first + datetime.timedelta(days=number) for number in range(7)]
    paths = [f"Commitments/{day.isoformat()}.md" for day in days]
    found: list[tuple[Evidence, bool]] = await parts.read(
        lambda index: [each for path in paths for each in note_passages(index, path, most)]
    )
    return tuple(material.passages.add(each, sensitive=private) for each, private in found[:most])


async def _last_review(parts: CadenceParts, span: Span, material: Material) -> str:
    """A link to the review of the week before, or empty."""
    week = iso_week(span.first - datetime.timedelta(days=7))
    paths: dict[str, str] = await parts.read(lambda index: paths_of_keys(index, [week]))
    await will_link(parts, list(paths.values()), material)
    return wikilink(paths[week], week) if week in paths else ""
