"""Garbage is collected early once everything permanent is loaded."""

from __future__ import annotations

import asyncio
import gc
from collections import deque
from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.__main__ import COLLECT_AFTER as AT_START
from donna_tui.cli.session import session_for
from donna_tui.cli.tui import _backend
from donna_tui.engine.engine import Engine
from donna_tui.platform.paths import app_paths
from donna_tui.platform.spaces import space_at
from donna_tui.tui.gc_tuning import COLLECT_AFTER, GcTuning, collect_due
from donna_tui.types.events import ModelStateChanged
from donna_tui.types.status import ModelPhase

IN_SIGHT = 5_000
COME_AND_GO = 500_000


@pytest.fixture(autouse=True)
def collector() -> Iterator[None]:
    """Prepare the collector as `donna` does. The size of the last full collection decides when the next one runs."""
    before = gc.get_threshold()
    gc.collect()
    gc.freeze()
    gc.collect()
    gc.set_threshold(*AT_START)
    yield
    gc.set_threshold(*before)
    gc.unfreeze()


def most_alive() -> int:
    """Return the largest number of objects alive while lines with reference cycles are created and dropped."""
    in_sight: deque[list[object]] = deque(maxlen=IN_SIGHT)
    most = 0
    for number in range(COME_AND_GO):
        line: list[object] = []
        line.append(line)
        in_sight.append(line)
        if number % 5_000 == 0:
            most = max(most, len(gc.get_objects()))
    return most


@pytest.mark.slow
@pytest.mark.parametrize(
    "phase",
    [
        ModelPhase.READY,
        *(pytest.param(each, marks=pytest.mark.stress) for each in (ModelPhase.MISSING, ModelPhase.FAILED)),
    ],
)
def test_drawn_lines_are_garbage_collected(phase: ModelPhase) -> None:
    GcTuning()(ModelStateChanged(phase=phase))
    youngest, waiting = COLLECT_AFTER[0], COLLECT_AFTER[1] * COLLECT_AFTER[2] * IN_SIGHT
    assert most_alive() < 2 * youngest + waiting


@pytest.mark.slow
def test_gc_thresholds_stay_until_the_model_is_loaded() -> None:
    tuning = GcTuning()
    for phase in (ModelPhase.PREPARING, ModelPhase.LOADING):
        tuning(ModelStateChanged(phase=phase))
    assert gc.get_threshold() == AT_START


@pytest.mark.slow
def test_second_ready_event_does_not_freeze_more_objects() -> None:
    tuning = GcTuning()
    tuning(ModelStateChanged(phase=ModelPhase.READY))
    kept = gc.get_freeze_count()
    tuning(ModelStateChanged(phase=ModelPhase.READY))
    assert gc.get_freeze_count() == kept


@pytest.mark.slow
def test_much_garbage_is_collected_before_the_rest_is_frozen(monkeypatch: pytest.MonkeyPatch) -> None:
    called: list[object] = []
    monkeypatch.setattr(gc, "get_count", lambda: (60_000, 0, 0))
    monkeypatch.setattr(gc, "collect", called.append)
    monkeypatch.setattr(gc, "freeze", lambda: called.append("freeze"))
    GcTuning()(ModelStateChanged(phase=ModelPhase.READY))
    assert called == [0, "freeze"]


def test_engine_ready_event_sets_the_gc_thresholds(tmp_path: Path) -> None:
    vault = tmp_path / "vault"
    vault.mkdir()
    paths = app_paths({"DONNA_HOME": str(tmp_path / "home")}).make()
    engine = _backend(session_for(space_at(vault, paths), paths), None, paths, GcTuning())
    assert isinstance(engine, Engine)
    engine.hub.post(ModelStateChanged(phase=ModelPhase.READY))
    assert gc.get_threshold() == COLLECT_AFTER


async def test_gc_runs_once_in_the_pause_after_the_last_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("donna_tui.tui.gc_tuning.PAUSES", ((0, 0.0),))
    tuning = GcTuning()
    gc.set_threshold(0)
    seen = gc.get_stats()[0]["collections"]
    tuning.pressed()
    await asyncio.sleep(0.01)
    assert gc.get_stats()[0]["collections"] == seen, "no collection while the app is loading"
    tuning(ModelStateChanged(phase=ModelPhase.READY))
    seen = gc.get_stats()[0]["collections"]
    tuning.pressed()
    tuning.pressed()
    await asyncio.sleep(0.01)
    assert gc.get_stats()[0]["collections"] == seen + 1, "one collection, after the last of several keys"


def test_older_garbage_is_looked_for_only_when_it_is_due(monkeypatch: pytest.MonkeyPatch) -> None:
    looked: list[int] = []
    monkeypatch.setattr(gc, "collect", looked.append)
    for counts in ((9, 0, 9), (0, *COLLECT_AFTER[1:])):
        monkeypatch.setattr(gc, "get_count", lambda counts=counts: counts)
        collect_due(1)
        collect_due(2)
    assert looked == [0, 2, 1, 2]
