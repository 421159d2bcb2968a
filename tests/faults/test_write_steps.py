"""Stopped at each named step of each operation, and stopped again while it recovers, Donna comes to one end or the other."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason
from donna_tui.vault.write.protocol import Step
from tests.faults.nursery import ENDED, Nursery, open_nursery
from tests.faults.writes import CALLS, Hand, Ledger, litter, prepared

MOST = 500
"""More requests than any operation or recovery makes."""

BEFORE_THE_FILES = (Step.CHECKED, Step.PREPARED, Step.INTENDED)


@pytest.fixture(scope="module")
def nursery() -> Iterator[Nursery]:
    with open_nursery() as opened:
        yield opened


@pytest.fixture(params=CALLS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Scene:
    """Copies of one prepared vault, to stop an operation in."""

    def __init__(self, base: Path, name: str, *, staged: bool = False) -> None:
        self.call = CALLS[name]
        self._base = base
        self._ledger = prepared(base / "prepared", name, staged=staged)
        self._after = self._ledger.after(self.call)
        self._number = itertools.count()

    def fresh(self, source: Ledger | None = None) -> Ledger:
        """The vault as it was prepared, or as another copy is now."""
        where = (source or self._ledger).desk.copy(self._base / f"copy {next(self._number)}")
        return replace(self._ledger, desk=where)

    def settle(self, ledger: Ledger) -> bool:
        """Recover, check and throw the copy away; whether the stopped one is done."""
        assert ledger.desk.writer().recover() is None
        done = ledger.check(self._after) == 1
        shutil.rmtree(ledger.desk.base)
        return done


@pytest.mark.parametrize("step", Step)
def test_stopped_at_every_step(tmp_path: Path, nursery: Nursery, name: str, step: Step) -> None:
    _stop_at(step, Scene(tmp_path, name), nursery)


@pytest.mark.parametrize("step", Step)
def test_stopped_at_every_step_beside_staged_work(tmp_path: Path, nursery: Nursery, step: Step) -> None:
    _stop_at(step, Scene(tmp_path, "move", staged=True), nursery)


def _stop_at(step: Step, scene: Scene, nursery: Nursery) -> None:
    for occurrence in itertools.count(1):
        ledger = scene.fresh()
        told, status = nursery.run("operation", ledger.desk, call=scene.call, step=step, occurrence=occurrence)
        assert status == (0 if told else ENDED)
        done = scene.settle(ledger)
        assert done == (bool(told) or step not in BEFORE_THE_FILES)
        if told:
            break
    assert occurrence > 1, "the step was never reached"


@pytest.mark.parametrize("stride", [5, pytest.param(1, marks=pytest.mark.stress)])
def test_stopped_before_every_request(tmp_path: Path, nursery: Nursery, name: str, stride: int) -> None:
    scene = Scene(tmp_path, name)
    for nth in range(1, MOST, stride):
        ledger = scene.fresh()
        told, status = nursery.run("faulty", ledger.desk, call=scene.call, nth=nth)
        assert status == (0 if told else ENDED)
        assert scene.settle(ledger) or not told
        if told:
            break


@pytest.mark.parametrize("stride", [7, pytest.param(1, marks=pytest.mark.stress)])
@pytest.mark.parametrize("step", [Step.PUT, Step.ADVANCED])
def test_stopped_again_while_it_recovers(tmp_path: Path, nursery: Nursery, name: str, step: Step, stride: int) -> None:
    scene = Scene(tmp_path, name)
    stopped = scene.fresh()
    assert nursery.run("operation", stopped.desk, call=scene.call, step=step, occurrence=1)[1] == ENDED
    for nth in range(1, MOST, stride):
        ledger = scene.fresh(stopped)
        status = nursery.run("recovery", ledger.desk, nth=nth)[1]
        again = nursery.run("recovery", ledger.desk, nth=nth // 2 + 1)[1]
        assert scene.settle(ledger)
        if not status:
            break
        assert again in (0, ENDED)
    assert nth < MOST - stride


def test_stopped_and_then_overtaken_by_a_donna_of_another_home(tmp_path: Path, nursery: Nursery) -> None:
    scene = Scene(tmp_path, "move")
    ledger, after = scene.fresh(), CALLS["write over"]
    assert nursery.run("operation", ledger.desk, call=scene.call, step=Step.ADVANCED, occurrence=1)[1] == ENDED
    ledger.db(scene.call, ledger.desk.operations()[-1])
    ledger.db(after, Hand(ledger.desk, home="another home").do(after))
    assert ledger.desk.writer().recover() is None
    assert ledger.desk.operations() == ledger.acknowledged
    assert ledger.desk.notes() == ledger.notes


def test_stopped_and_then_the_repository_is_made_anew(tmp_path: Path, nursery: Nursery) -> None:
    scene = Scene(tmp_path, "move")
    ledger = scene.fresh()
    assert nursery.run("operation", ledger.desk, call=scene.call, step=Step.PUT, occurrence=1)[1] == ENDED
    shutil.rmtree(ledger.desk.git_dir)
    ledger.desk.git("init", "--quiet")
    problem = ledger.desk.writer().recover()
    assert problem is not None
    assert problem.reason is Reason.GIT_FAILED
    assert not litter(ledger.desk)
    assert set(ledger.desk.notes()) >= set(ledger.notes), "nothing is taken away that git does not have"
    assert Hand(ledger.desk).do(("write", "Inbox/new.md", "It goes on.\n"))
