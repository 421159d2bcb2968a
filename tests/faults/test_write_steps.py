"""Stopped at each step of each operation, and again during recovery, an operation is done entirely or not at all."""

from __future__ import annotations

import itertools
import shutil
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from donna_tui.types.errors import Reason
from donna_tui.vault.write.protocol import Step
from tests.faults.fork_server import ENDED, ForkServer, open_fork_server
from tests.faults.writes import CALLS, CallRunner, VaultModel, litter, prepared

MAX_STEPS = 500
"""More requests than any operation or recovery makes."""

BEFORE_THE_FILES = (Step.CHECKED, Step.PREPARED, Step.INTENDED)


@pytest.fixture(scope="module")
def fork_server() -> Iterator[ForkServer]:
    with open_fork_server() as opened:
        yield opened


@pytest.fixture(params=CALLS)
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


class Scene:
    """Copies of one prepared vault, to stop an operation in."""

    def __init__(self, base: Path, name: str, *, staged: bool = False) -> None:
        self.call = CALLS[name]
        self._base = base
        self._vault_model = prepared(base / "prepared", name, staged=staged)
        self._after = self._vault_model.after(self.call)
        self._number = itertools.count()

    def fresh(self, source: VaultModel | None = None) -> VaultModel:
        """Return a copy of the vault as prepared, or as another copy is now."""
        where = (source or self._vault_model).sandbox.copy(self._base / f"copy {next(self._number)}")
        return replace(self._vault_model, sandbox=where)

    def recover_and_check(self, vault_model: VaultModel) -> bool:
        """Recover, check and delete the copy. Return whether the stopped operation is done."""
        assert vault_model.sandbox.writer().recover() is None
        done = vault_model.check(self._after) == 1
        shutil.rmtree(vault_model.sandbox.base)
        return done


@pytest.mark.cases(4)
@pytest.mark.parametrize("step", Step)
def test_operation_interrupted_at_any_step_is_recovered(
    tmp_path: Path, fork_server: ForkServer, name: str, step: Step
) -> None:
    _stop_at(step, Scene(tmp_path, name), fork_server)


@pytest.mark.cases(3)
@pytest.mark.parametrize("step", Step)
def test_operation_interrupted_with_staged_work_is_recovered(
    tmp_path: Path, fork_server: ForkServer, step: Step
) -> None:
    _stop_at(step, Scene(tmp_path, "move", staged=True), fork_server)


def _stop_at(step: Step, scene: Scene, fork_server: ForkServer) -> None:
    for occurrence in itertools.count(1):
        vault_model = scene.fresh()
        told, status = fork_server.run(
            "operation", vault_model.sandbox, call=scene.call, step=step, occurrence=occurrence
        )
        assert status == (0 if told else ENDED)
        done = scene.recover_and_check(vault_model)
        assert done == (bool(told) or step not in BEFORE_THE_FILES)
        if told:
            break
    assert occurrence > 1, "the step was never reached"


@pytest.mark.cases(1)
@pytest.mark.parametrize("stride", [10, pytest.param(1, marks=pytest.mark.stress)])
def test_operation_interrupted_at_any_system_call_is_recovered(
    tmp_path: Path, fork_server: ForkServer, name: str, stride: int
) -> None:
    scene = Scene(tmp_path, name)
    for nth in range(1, MAX_STEPS, stride):
        vault_model = scene.fresh()
        told, status = fork_server.run("faulty", vault_model.sandbox, call=scene.call, nth=nth)
        assert status == (0 if told else ENDED)
        assert scene.recover_and_check(vault_model) or not told
        if told:
            break


@pytest.mark.cases(4)
@pytest.mark.parametrize(
    ("step", "stride"),
    [(Step.ADVANCED, 14), *(pytest.param(step, 1, marks=pytest.mark.stress) for step in (Step.PUT, Step.ADVANCED))],
)
def test_interrupted_recovery_is_completed_by_the_next(
    tmp_path: Path, fork_server: ForkServer, name: str, step: Step, stride: int
) -> None:
    scene = Scene(tmp_path, name)
    stopped = scene.fresh()
    assert fork_server.run("operation", stopped.sandbox, call=scene.call, step=step, occurrence=1)[1] == ENDED
    for nth in range(1, MAX_STEPS, stride):
        vault_model = scene.fresh(stopped)
        status = fork_server.run("recovery", vault_model.sandbox, nth=nth)[1]
        again = fork_server.run("recovery", vault_model.sandbox, nth=nth // 2 + 1)[1]
        assert scene.recover_and_check(vault_model)
        if not status:
            break
        assert again in (0, ENDED)
    assert nth < MAX_STEPS - stride


def test_recovery_keeps_later_writes_of_another_installation(tmp_path: Path, fork_server: ForkServer) -> None:
    scene = Scene(tmp_path, "move")
    vault_model, after = scene.fresh(), CALLS["write over"]
    assert (
        fork_server.run("operation", vault_model.sandbox, call=scene.call, step=Step.ADVANCED, occurrence=1)[1] == ENDED
    )
    vault_model.acknowledge(scene.call, vault_model.sandbox.operations()[-1])
    vault_model.acknowledge(after, CallRunner(vault_model.sandbox, home="another home").do(after))
    assert vault_model.sandbox.writer().recover() is None
    assert vault_model.sandbox.operations() == vault_model.acknowledged
    assert vault_model.sandbox.notes() == vault_model.notes


def test_recovery_does_not_follow_a_folder_replaced_by_a_symlink(tmp_path: Path, fork_server: ForkServer) -> None:
    scene, outside = Scene(tmp_path, "write over"), tmp_path / "outside"
    sandbox = scene.fresh().sandbox
    assert fork_server.run("operation", sandbox, call=scene.call, step=Step.ADVANCED, occurrence=1)[1] == ENDED
    folder = (sandbox.vault / scene.call[1]).parent
    folder.rename(outside)
    folder.symlink_to(outside, target_is_directory=True)
    before = sorted((each.name, each.lstat().st_mtime_ns) for each in outside.iterdir())
    assert sandbox.writer().recover() is None
    assert sorted((each.name, each.lstat().st_mtime_ns) for each in outside.iterdir()) == before
    assert not sandbox.intent.exists(), "the next writes would be refused"


def test_recovery_in_a_recreated_repository_removes_no_note(tmp_path: Path, fork_server: ForkServer) -> None:
    scene = Scene(tmp_path, "move")
    vault_model = scene.fresh()
    assert fork_server.run("operation", vault_model.sandbox, call=scene.call, step=Step.PUT, occurrence=1)[1] == ENDED
    shutil.rmtree(vault_model.sandbox.git_dir)
    vault_model.sandbox.git("init", "--quiet")
    problem = vault_model.sandbox.writer().recover()
    assert problem.reason is Reason.GIT_FAILED
    assert not litter(vault_model.sandbox)
    assert set(vault_model.sandbox.notes()) >= set(vault_model.notes), "something that git does not have was removed"
    assert CallRunner(vault_model.sandbox).do(("write", "Inbox/new.md", "It goes on.\n"))
