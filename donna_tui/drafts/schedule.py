"""Schedule drafts: after meetings, at the configured hours, and again after a failure."""

from __future__ import annotations

import asyncio
import datetime
from collections.abc import Awaitable, Callable, Iterator
from dataclasses import dataclass

from apscheduler.schedulers.asyncio import AsyncIOScheduler
from apscheduler.triggers.cron import CronTrigger

from donna_tui.config.models import DailySkill, SkillsConfig, WeeklySkill

LATE_SECONDS = 12 * 3_600
"""Longest delay in seconds after which a missed draft is still written, if this machine was off or asleep."""

RETRY_SECONDS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class Cadence:
    """A skill with its local time. `weekday` is 0 for Monday, None for every day."""

    skill: str
    hour: int
    minute: int
    weekday: int | None = None


def cadences(skills: SkillsConfig) -> Iterator[Cadence]:
    """Yield the enabled skills that have an hour."""
    for name, skill in skills:
        if isinstance(skill, DailySkill) and skill.enabled:
            weekday = skill.day_of_week if isinstance(skill, WeeklySkill) else None
            yield Cadence(skill=name, hour=skill.hour, minute=skill.minute, weekday=weekday)


async def follow(
    wanted: list[Cadence],
    run: Callable[[str, datetime.date], Awaitable[object]],
    retry: Callable[[], Awaitable[None]],
    zone: datetime.tzinfo,
    now: datetime.datetime,
) -> None:
    """Run each skill at its hour until cancelled, and recently missed ones at once; writes are idempotent.

    `run` is called with the skill and its local day.
    """
    scheduler = AsyncIOScheduler(timezone=zone)
    scheduler.add_job(retry, "interval", seconds=RETRY_SECONDS, coalesce=True, max_instances=1)
    for cadence in wanted:
        local = now.astimezone(zone)
        due = local.replace(hour=cadence.hour, minute=cadence.minute, second=0, microsecond=0)
        while due > local or (cadence.weekday is not None and due.weekday() != cadence.weekday):
            due -= datetime.timedelta(days=1)
        if (now - due).total_seconds() < LATE_SECONDS:
            await run(cadence.skill, due.date())
        trigger = CronTrigger(hour=cadence.hour, minute=cadence.minute, day_of_week=cadence.weekday, timezone=zone)
        scheduler.add_job(
            _run_today, trigger, (run, cadence.skill, zone), misfire_grace_time=LATE_SECONDS, coalesce=True
        )
    scheduler.start()
    try:
        await asyncio.Event().wait()
    finally:
        scheduler.shutdown(wait=False)


async def _run_today(run: Callable[[str, datetime.date], Awaitable[object]], skill: str, zone: datetime.tzinfo) -> None:
    await run(skill, datetime.datetime.now(zone).date())
