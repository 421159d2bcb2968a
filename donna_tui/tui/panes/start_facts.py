"""Asks the engine for what the start page shows. What cannot be told is left out: the screens it is from say why."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable
from dataclasses import replace
from time import time
from typing import TypeVar

from donna_tui.errors import DonnaError
from donna_tui.tui.backend import Backend
from donna_tui.tui.widgets.start_page import MOST_RECENT, MOST_TASKS, StartFacts

T = TypeVar("T")

_RUNNING_SECONDS, _AHEAD_SECONDS = 3600.0, 7 * 86_400.0
_MOST_MEETINGS = 6


async def start_facts(backend: Backend, known: StartFacts, *, in_full: bool) -> AsyncIterator[StartFacts]:
    """Facts, more and more of them: notes and questions first; `in_full` what opens the memory and the calendar."""
    facts = replace(
        known,
        recent=await _told(backend.recent_notes(MOST_RECENT), known.recent),
        questions=await _told(backend.questions(), known.questions),
    )
    yield facts
    if not in_full:
        return
    facts = replace(facts, tasks=await _told(backend.tasks_due(MOST_TASKS), ()))
    if not facts.example:
        facts = replace(facts, example=await _told(backend.example_question(), ""))
    yield facts
    yield await _with_drafts(backend, facts)


async def _with_drafts(backend: Backend, facts: StartFacts) -> StartFacts:
    from donna_tui.drafting import DraftState, MeetingState

    now = time()
    try:
        drafts = await backend.drafts.drafts()
        meetings = await backend.drafts.meetings(now - _RUNNING_SECONDS, now + _AHEAD_SECONDS)
    except DonnaError:
        return replace(facts, drafts=0, meetings=())
    waiting = sum(each.state is DraftState.WAITING for each in drafts)
    coming = [row for row in meetings if row.meeting.end.timestamp() > now and row.state is not MeetingState.CANCELLED]
    return replace(facts, drafts=waiting, meetings=tuple(coming[:_MOST_MEETINGS]))


async def _told(asked: Awaitable[T], otherwise: T) -> T:
    try:
        return await asked
    except DonnaError:
        return otherwise
