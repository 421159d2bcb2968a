"""Finds a model that is ready to load, or has it exported in a child process, once per machine."""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from threading import Event
from typing import TYPE_CHECKING

from donna_tui.embedding import files
from donna_tui.embedding.files import ModelFiles
from donna_tui.platform.paths import private_folder
from donna_tui.types.errors import ModelError, Reason
from donna_tui.types.events import ModelPhase

if TYPE_CHECKING:
    from donna_tui.embedding.download import Progress, Sources

OnPhase = Callable[[ModelPhase, str], None]

EXPORT_MODULE = "donna_tui.embedding.export"
EXPORT_SECONDS = 300.0
STAGING_GLOB = f"{files.STAGING_PREFIX}*"
_POLL_SECONDS = 0.1
_GRACE_SECONDS = 2.0

_PASSED_ON = ("PATH", "HOME", "USER", "LOGNAME", "LANG", "LC_ALL", "TMPDIR", "LD_LIBRARY_PATH", "DYLD_LIBRARY_PATH")


def prepare_model(cache: Path, on_phase: OnPhase, cancel: Event | None = None) -> ModelFiles:
    """The default model below Donna's `cache` folder, exported first if it is not there or damaged.

    A model file placed by hand comes first, then the export. Blocks for as long as an export takes (some ten seconds);
    `cancel` ends it at once. `on_phase` hears of it on the calling thread. Raises ModelError: model_missing without
    weights or when cancelled, model_invalid when weights or export are not as they should be.
    """
    ready = prepared_model(cache)
    if ready is not None:
        return ready
    _require_weights(cache)
    cancel = cancel or Event()
    models = private_folder(files.models_folder(cache))
    with _only_one(models / ".lock", on_phase, cancel):
        return _intact_export(cache) or _export(cache, on_phase, cancel)


def install_model(
    cache: Path,
    sources: Sources,
    on_phase: OnPhase,
    cancel: Event | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> ModelFiles:
    """The default model below Donna's `cache` folder; its weights are downloaded first where they are not installed.

    Blocks for as long as that takes. `cancel` ends it at once, and what was received is kept. `on_progress` hears of
    each block that arrives; without it, `on_phase` hears of each tenth. Raises ModelError as `download_weights` and
    `prepare_model` do.
    """
    from donna_tui.embedding.download import download_weights

    cancel = cancel or Event()
    models = private_folder(files.models_folder(cache))
    with _only_one(models / ".lock", on_phase, cancel):
        ready = prepared_model(cache)
        if ready is not None:
            return ready
        if _usable_weights(models) is None:
            on_phase(ModelPhase.PREPARING, "Downloading the embedding model")
            download_weights(cache, sources, on_progress or _by_tenths(on_phase), cancel)
        return _export(cache, on_phase, cancel)


def _by_tenths(on_phase: OnPhase) -> Callable[[Progress], None]:
    reported = 0

    def report(progress: Progress) -> None:
        nonlocal reported
        tenth = 10 * progress.received // progress.size
        if tenth != reported:
            reported = tenth
            on_phase(ModelPhase.PREPARING, f"Downloading the model: {progress}")

    return report


def _usable_weights(models: Path) -> Path | None:
    """The weights at hand if they are the published ones. Damaged ones that were downloaded are removed."""
    folder = files.weights_folder(models)
    try:
        if folder is not None:
            files.check_weights(folder)
        return folder
    except ModelError:
        shutil.rmtree(files.downloaded_folder(models.parent), ignore_errors=True)
        return None


def prepared_model(cache: Path) -> ModelFiles | None:
    """The default model, if it is there and intact; None if it must be exported first. Raises ModelError."""
    return files.load_hand_placed(cache) or _intact_export(cache)


def _intact_export(cache: Path) -> ModelFiles | None:
    try:
        return files.load_export(files.export_folder(cache))
    except ModelError:
        return None


def _require_weights(cache: Path) -> None:
    """Raise the error that fits if there is nothing to export from."""
    if files.weights_folder(files.models_folder(cache)) is not None:
        return
    files.load_export(files.export_folder(cache))
    raise ModelError(Reason.MODEL_MISSING, "The embedding model is not installed.", hint=files.INSTALL_HINT)


@contextlib.contextmanager
def _only_one(lock: Path, on_phase: OnPhase, cancel: Event) -> Iterator[None]:
    """Hold the lock that all processes of this user share; waiting for it can be cancelled."""
    descriptor = os.open(lock, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        while not _try_lock(descriptor):
            on_phase(ModelPhase.PREPARING, "Another Donna is preparing the embedding model")
            _pause(cancel)
        yield
    finally:
        os.close(descriptor)


def _try_lock(descriptor: int) -> bool:
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def _export(cache: Path, on_phase: OnPhase, cancel: Event) -> ModelFiles:
    """Run the export in a child and load what it made."""
    on_phase(ModelPhase.PREPARING, "Preparing the embedding model for this machine, once")
    folder = files.export_folder(cache)
    log = folder.with_name("export.log")
    try:
        printed = _run_child(folder, log, cancel)
    finally:
        for leftover in folder.parent.glob(STAGING_GLOB):
            shutil.rmtree(leftover, ignore_errors=True)
    _check_outcome(printed, log)
    exported = files.load_export(folder)
    if exported is None:
        raise ModelError(Reason.MODEL_INVALID, "The embedding model disappeared right after it was prepared.")
    return exported


def _run_child(folder: Path, log: Path, cancel: Event) -> str:
    """What the child prints. It has a session of its own, so that a Ctrl+C meant for Donna does not tear it."""
    command = [sys.executable, "-P", "-m", EXPORT_MODULE, str(folder)]
    with log.open("wb") as messages:
        child = subprocess.Popen(  # noqa: S603
            command,
            cwd=folder.parent,
            env=_environment(),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=messages,
            start_new_session=True,
        )
    with child, _stopped_at_the_end(child):
        _wait(child, cancel)
        return child.stdout.read().decode("utf-8", "replace") if child.stdout else ""


def _environment() -> dict[str, str]:
    """The least that the export needs: nothing that could send it to the network or to somebody else's modules."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return passed_on | files.OFFLINE | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}


def _wait(child: subprocess.Popen[bytes], cancel: Event) -> None:
    deadline = time.monotonic() + EXPORT_SECONDS
    while child.poll() is None:
        _pause(cancel)
        if time.monotonic() > deadline:
            raise ModelError(Reason.MODEL_INVALID, "Preparing the embedding model took longer than five minutes.")


def _pause(cancel: Event) -> None:
    if cancel.wait(_POLL_SECONDS):
        raise ModelError(Reason.MODEL_MISSING, "Preparing the embedding model was stopped.")


@contextlib.contextmanager
def _stopped_at_the_end(child: subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        if child.poll() is None:
            _stop(child)


def _stop(child: subprocess.Popen[bytes]) -> None:
    """End the child and whatever it started."""
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE_SECONDS)
        os.killpg(child.pid, signal.SIGKILL)


def _check_outcome(printed: str, log: Path) -> None:
    """Raise the child's own error, if it has one."""
    try:
        outcome = json.loads(printed)
        error = None if outcome["ok"] else ModelError(Reason(outcome["reason"]), outcome["message"])
    except (ValueError, KeyError, TypeError):
        error = ModelError(Reason.MODEL_INVALID, "Preparing the embedding model ended without a result.")
    if error is not None:
        error.hint = f"{files.INSTALL_HINT} Details are in {log}"
        raise error
