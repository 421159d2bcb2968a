"""The model is exported once, by one process, in a child that can be stopped; every failure has its reason."""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from donna_tui.config.models import MemoryConfig
from donna_tui.embedding import files, prepare
from donna_tui.embedding.prepare import prepare_model
from donna_tui.engine.model_manager import ModelManager
from donna_tui.engine.space_context import SpaceContext
from donna_tui.ops.status import model_files_state
from donna_tui.platform.paths import AppPaths
from donna_tui.platform.spaces import Space
from donna_tui.types.errors import DonnaError, ModelError, Reason
from donna_tui.types.events import EngineEvent, ProblemRaised
from donna_tui.types.status import ModelPhase
from tests.unit.embedding_files import tokenizer_json, write_export


class Machine:
    """A cache folder, weights that may be installed, and an export with a given behaviour."""

    def __init__(self, cache: Path) -> None:
        self.cache = cache
        self.models = files.models_folder(cache)
        self.models.mkdir(parents=True)
        self.folder = files.export_folder(cache)
        self.phases: list[tuple[ModelPhase, str]] = []

    def behave(self, behaviour: str) -> None:
        (self.models / "behaviour").write_text(behaviour)

    def prepare(self, cancel: threading.Event | None = None) -> files.ModelFiles:
        return prepare_model(self.cache, lambda phase, detail: self.phases.append((phase, detail)), cancel)

    def refused(self) -> ModelError:
        with pytest.raises(ModelError) as refusal:
            self.prepare()
        return refusal.value

    @property
    def runs(self) -> int:
        file = self.models / "runs"
        return len(file.read_text().splitlines()) if file.exists() else 0


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    monkeypatch.setattr(prepare, "EXPORT_MODULE", "tests.unit.pretend_export")
    monkeypatch.setattr(files, "find_weights", lambda: tmp_path)
    return Machine(tmp_path / "cache")


@pytest.fixture
def lean(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """Return a machine without weights."""
    monkeypatch.setattr(files, "find_weights", lambda: None)
    return machine


def test_an_export_that_is_there_is_used_without_a_child(machine: Machine) -> None:
    write_export(machine.folder)
    assert machine.prepare().graph == machine.folder / "model.onnx"
    assert machine.runs == 0
    assert machine.phases == []


def test_a_missing_export_is_made_once(machine: Machine) -> None:
    machine.behave("succeed")
    assert machine.prepare() == machine.prepare()
    assert machine.runs == 1
    assert machine.phases == [(ModelPhase.PREPARING, "Preparing the model (only once)")]


def test_a_damaged_export_is_made_again(machine: Machine) -> None:
    write_export(machine.folder)
    (machine.folder / "model.onnx").write_bytes(b"damaged")
    machine.behave("succeed")
    machine.prepare()
    assert machine.runs == 1
    assert files.load_export(machine.folder) is not None


def test_several_at_once_export_once(machine: Machine) -> None:
    machine.behave("succeed")
    with ThreadPoolExecutor(3) as pool:
        results = list(pool.map(lambda _: machine.prepare(), range(3)))
    assert machine.runs == 1
    assert len(set(results)) == 1


def test_a_file_placed_by_hand_comes_first(lean: Machine) -> None:
    folder = lean.models / files.HAND_PLACED
    folder.mkdir()
    (folder / "model.onnx").write_bytes(b"official")
    (folder / "tokenizer.json").write_bytes(tokenizer_json())
    assert lean.prepare().graph == folder / "model.onnx"


def test_without_weights_and_export_the_model_is_missing(lean: Machine) -> None:
    refusal = lean.refused()
    assert refusal.reason is Reason.MODEL_MISSING
    assert "donna model install" in (refusal.hint or "")
    assert lean.runs == 0


def test_a_damaged_export_without_weights_is_invalid(lean: Machine) -> None:
    write_export(lean.folder)
    (lean.folder / "model.onnx").write_bytes(b"damaged")
    assert lean.refused().reason is Reason.MODEL_INVALID


def test_an_export_that_is_refused_says_why(machine: Machine) -> None:
    machine.behave("refuse")
    refusal = machine.refused()
    assert (refusal.reason, refusal.message) == (Reason.DISK_FULL, "The disk is full.")


def test_a_child_that_dies_leaves_an_error_and_nothing_else(machine: Machine) -> None:
    machine.behave("die")
    refusal = machine.refused()
    assert refusal.reason is Reason.MODEL_INVALID
    assert str(machine.models / "export.log") in (refusal.hint or "")
    assert not list(machine.models.glob(prepare.STAGING_GLOB))
    machine.behave("succeed")
    assert machine.prepare().name == files.MODEL_NAME


def alive(pid: int) -> bool:
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return False
    return state != "Z"


@pytest.mark.skipif(sys.platform != "linux", reason="looks for the processes in /proc")
def test_cancelling_ends_the_child_and_what_it_started(machine: Machine) -> None:
    machine.behave("hang")
    cancel = threading.Event()
    with ThreadPoolExecutor(1) as pool:
        preparing = pool.submit(machine.prepare, cancel)
        while not (machine.models / "pids").exists():
            time.sleep(0.01)
        cancel.set()
        with pytest.raises(ModelError) as stopped:
            preparing.result()
    assert stopped.value.reason is Reason.MODEL_MISSING
    pids = [int(pid) for pid in (machine.models / "pids").read_text().split()]
    while any(alive(pid) for pid in pids):
        time.sleep(0.01)
    assert not list(machine.models.glob(prepare.STAGING_GLOB))


def test_a_child_that_takes_too_long_is_ended(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(prepare, "EXPORT_SECONDS", 0.0)
    machine.behave("hang")
    assert machine.refused().reason is Reason.MODEL_INVALID
    assert not machine.folder.exists()


def test_waiting_for_another_process_can_be_cancelled(machine: Machine) -> None:
    machine.behave("hang")
    first, second = threading.Event(), threading.Event()
    with ThreadPoolExecutor(2) as pool:
        holding = pool.submit(machine.prepare, first)
        while not (machine.models / "pids").exists():
            time.sleep(0.01)
        waiting = pool.submit(machine.prepare, second)
        while len(machine.phases) < 2:
            time.sleep(0.01)
        second.set()
        assert isinstance(waiting.exception(), ModelError)
        assert not holding.done()
        first.set()
    assert machine.runs == 1


def test_the_child_inherits_next_to_nothing(machine: Machine, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("SECRET_TOKEN", "hunter2")
    monkeypatch.setenv("PYTHONSTARTUP", "evil.py")
    (machine.models / "json.py").write_text("raise SystemExit('shadowed')")
    machine.behave("tell")
    machine.refused()
    told = json.loads((machine.models / "told").read_text())
    assert not {"SECRET_TOKEN", "PYTHONSTARTUP"} & set(told["environ"])
    assert told["environ"]["HF_HUB_OFFLINE"] == "1"
    assert told["stdin"] == ""
    assert str(machine.models) not in told["path"]
    assert told["session"] != os.getsid(0)


def test_damaged_files_that_can_be_replaced_are_not_reported_as_damaged(
    machine: Machine, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = AppPaths(machine.cache, machine.cache, machine.cache, machine.cache)
    write_export(machine.folder)
    (machine.folder / "model.onnx").write_bytes(b"damaged")
    assert model_files_state(paths) == "installed"
    monkeypatch.setattr(files, "find_weights", lambda: None)
    assert model_files_state(paths) == "damaged"
    placed = machine.models / files.HAND_PLACED
    placed.mkdir()
    (placed / "model.onnx").write_bytes(b"official")
    (placed / "tokenizer.json").write_bytes(tokenizer_json())
    assert model_files_state(paths) == "prepared"


async def test_a_model_that_cannot_be_stored_is_refused_and_reported(tmp_path: Path) -> None:
    (tmp_path / "models" / ".lock").mkdir(parents=True)
    events: list[EngineEvent] = []
    paths = AppPaths(config=tmp_path, state=tmp_path, cache=tmp_path, log=tmp_path)
    context = SpaceContext(Space("vault", tmp_path, tmp_path), MemoryConfig(), paths, time.time, long_running=False)
    context.hub.subscribe(events.append)
    with pytest.raises(DonnaError) as refusal:
        await ModelManager(context).install()
    assert refusal.value.reason is Reason.IO_ERROR
    assert [event.reason for event in events if isinstance(event, ProblemRaised)] == [Reason.IO_ERROR]
