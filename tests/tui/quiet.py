"""Run many apps in one process cheaply: wait only as long as necessary, and do no work twice.

A pilot of Textual sleeps in slices of 20 ms until the process is idle, twice for each key, and sends a message through
every widget. Asking the event loop what is left to do is faster, and reliable on a busy machine.
"""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from rich.console import RenderableType
from textual._compositor import Compositor
from textual._context import visible_screen_stack
from textual.app import App
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet
from textual.geometry import Region
from textual.pilot import Pilot

SOON = 0.1
"""Timers due within these seconds belong to a keypress: the preview that follows the cursor, a redraw."""

PATIENCE = 1.0
"""Seconds to wait for timers and threads, since a call that a test holds back never ends."""

LONGEST = 60.0
"""Seconds of uninterrupted work after which the app is considered stuck in a loop."""

CALM_TURNS = 3
COLLECT_AFTER = (10_000, 20, 20)


async def until_quiet(within: float = SOON, patience: float = PATIENCE) -> bool:
    """Wait until the event loop has nothing to do, no timer is due `within` some seconds, and no thread is working.

    Return whether that happened. After the time limit, only work that is ready is waited for.
    """
    loop: Any = asyncio.get_running_loop()
    began, waited, calm = loop.time(), 0.0, 0
    while calm < CALM_TURNS:
        await asyncio.sleep(0)
        assert loop.time() - began < LONGEST, "the app never became idle"
        if loop._ready:
            calm = 0
            continue
        pause = _next(loop, within)
        if pause is None or waited >= patience:
            calm += 1
            continue
        calm = 0
        await asyncio.sleep(pause)
        waited += pause  # not the elapsed time, which a busy machine would use up
    return waited < patience


def _next(loop: Any, within: float) -> float | None:
    """Return the seconds until the next check; None if nothing is due soon."""
    executor = loop._default_executor
    if executor is not None and executor._idle_semaphore._value < len(executor._threads):
        return 0.002
    now = loop.time()
    soon = [each._when - now for each in loop._scheduled if not each._cancelled and each._when - now < within]
    return max(0.001, min(soon)) if soon else None


def draw(app: App[Any]) -> None:
    """Request that the app draws the widgets that changed, in its own context, as Textual does, but without putting their
    lines together for a terminal.
    """
    if app.screen_stack:
        app.call_later(_draw, app)


def _draw(app: App[Any]) -> None:
    visible_screen_stack.set(app._background_screens)  # drawn below a dialog
    compositor = app.screen._compositor
    changed = compositor._dirty_regions.copy()
    compositor._dirty_regions.clear()
    if changed:
        crop = Region.from_union(changed).intersection(compositor.size.region)
        deque(compositor._get_renders(crop), maxlen=0)


@contextmanager
def economical() -> Iterator[None]:
    """Wait as above in every pilot, parse each style sheet once, hash rules in C, draw one frame for each
    wait instead of one for each change, since an app without a terminal discards them, and collect garbage rarely.
    """
    parsed: dict[object, list[RuleSet]] = {}
    parse = Stylesheet._parse_rules
    render_update = Compositor.render_update

    def parse_once(sheet: Stylesheet, css: str, *rest: Any, **more: Any) -> list[RuleSet]:
        key = (css, rest, tuple(sorted(more.items())), tuple(sorted(sheet._variables.items())))
        if key not in parsed:
            parsed[key] = parse(sheet, css, *rest, **more)
        return parsed[key]

    def draw_later(compositor: Compositor, full: bool = False, **more: Any) -> RenderableType | None:
        """Render for a screenshot; otherwise leave what changed for `draw`."""
        return render_update(compositor, full=True, **more) if full else None

    async def idle(*_: float) -> None:
        await until_quiet()

    async def all_done(pilot: Pilot[Any], *_: object) -> bool:
        await until_quiet()
        draw(pilot.app)
        await until_quiet()
        return True

    thresholds = gc.get_threshold()
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(Stylesheet, "_parse_rules", parse_once)
        patch.setattr(RuleSet, "__hash__", object.__hash__)
        patch.setattr(Compositor, "render_update", draw_later)
        patch.setattr(Pilot, "_wait_for_screen", all_done)
        for module in ("app", "pilot"):
            patch.setattr(f"textual.{module}.wait_for_idle", idle)
        gc.set_threshold(*COLLECT_AFTER)
        yield
        gc.set_threshold(*thresholds)
