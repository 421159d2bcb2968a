"""Find a model that is ready to load, or export it in a child process, once per machine."""

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
from donna_tui.types.status import ModelPhase

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
    """Prepare the default model below Donna's `cache` folder, exporting it if it is missing or damaged.

    A model file placed by hand is preferred to the export. Blocks while exporting (about ten seconds); `cancel` ends it
    immediately. `on_phase` is called on the calling thread. Raises ModelError: model_missing without weights or when
    cancelled, model_invalid if the weights or the export are invalid.
    """
    if ready := prepared_model(cache):
        return ready
    if files.weights_folder(files.models_folder(cache)) is None:
        files.load_export(files.export_folder(cache))  # raises if it is damaged
        raise ModelError(Reason.MODEL_MISSING, "the embedding model is not installed", hint=files.INSTALL_HINT)
    cancel = cancel or Event()
    models = private_folder(files.models_folder(cache))
    with _only_one(models / ".lock", on_phase, cancel):
        return files.intact_export(files.export_folder(cache)) or _export(cache, on_phase, cancel)


def install_model(
    cache: Path,
    sources: Sources,
    on_phase: OnPhase,
    cancel: Event | None = None,
    on_progress: Callable[[Progress], None] | None = None,
) -> ModelFiles:
    """Install the default model below Donna's `cache` folder, downloading its weights if they are not installed.

    Blocks until it is done. `cancel` ends it immediately, and what was received is kept. `on_progress` is called for
    each block received; without it, `on_phase` is called for each tenth. Raises ModelError as `download_weights` and
    `prepare_model` do.
    """
    from donna_tui.embedding.download import download_weights

    cancel = cancel or Event()
    models = private_folder(files.models_folder(cache))
    with _only_one(models / ".lock", on_phase, cancel):
        if ready := prepared_model(cache):
            return ready
        if _usable_weights(models) is None:
            on_phase(ModelPhase.PREPARING, "Downloading the model")
            download_weights(cache, sources, on_progress or _report_tenths(on_phase), cancel)
        return _export(cache, on_phase, cancel)


def _report_tenths(on_phase: OnPhase) -> Callable[[Progress], None]:
    reported = 0

    def report(progress: Progress) -> None:
        nonlocal reported
        tenth = 10 * progress.received // progress.size
        if tenth != reported:
            reported = tenth
            on_phase(ModelPhase.PREPARING, f"Downloading the model: {progress}")

    return report


def _usable_weights(models: Path) -> Path | None:
    """Return the available weights if they are the published ones. Damaged downloaded weights are deleted."""
    folder = files.weights_folder(models)
    try:
        if folder is not None:
            files.check_weights(folder)
        return folder
    except ModelError:
        shutil.rmtree(files.downloaded_folder(models.parent), ignore_errors=True)
        return None


def prepared_model(cache: Path) -> ModelFiles | None:
    """Return the default model if it is present and intact; None if it must be exported first. Raises ModelError."""
    return files.load_hand_placed(cache) or files.intact_export(files.export_folder(cache))


@contextlib.contextmanager
def _only_one(lock: Path, on_phase: OnPhase, cancel: Event) -> Iterator[None]:
    """Hold the lock shared by all processes of this user; waiting for it can be cancelled."""
    lock.touch(mode=0o600)
    with lock.open("ab") as file:
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                on_phase(ModelPhase.PREPARING, "Another Donna process is preparing the model")
                _pause(cancel)
        yield


def _export(cache: Path, on_phase: OnPhase, cancel: Event) -> ModelFiles:
    on_phase(ModelPhase.PREPARING, "Preparing the model (only once)")
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
        raise ModelError(Reason.MODEL_INVALID, "the embedding model disappeared right after it was prepared")
    return exported


def _run_child(folder: Path, log: Path, cancel: Event) -> str:
    """Run the child and return its output. It has a separate session, so that Ctrl+C does not interrupt it midway."""
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
    with child:
        try:
            deadline = time.monotonic() + EXPORT_SECONDS
            while child.poll() is None:
                _pause(cancel)
                if time.monotonic() > deadline:
                    message = "preparing the embedding model took longer than five minutes"
                    raise ModelError(Reason.MODEL_INVALID, message)
            return child.stdout.read().decode("utf-8", "replace") if child.stdout else ""
        finally:
            if child.poll() is None:
                _stop(child)


def _environment() -> dict[str, str]:
    """Return the minimal environment for the export, without anything that enables network access or other modules."""
    passed_on = {name: os.environ[name] for name in _PASSED_ON if name in os.environ}
    return passed_on | files.OFFLINE | {"PYTHONPATH": str(Path(__file__).resolve().parents[2])}


def _pause(cancel: Event) -> None:
    if cancel.wait(_POLL_SECONDS):
        raise ModelError(Reason.MODEL_MISSING, "preparing the embedding model was stopped")


def _stop(child: subprocess.Popen[bytes]) -> None:
    with contextlib.suppress(ProcessLookupError):
        os.killpg(child.pid, signal.SIGTERM)
        with contextlib.suppress(subprocess.TimeoutExpired):
            child.wait(_GRACE_SECONDS)
        os.killpg(child.pid, signal.SIGKILL)


def _check_outcome(printed: str, log: Path) -> None:
    try:
        outcome = json.loads(printed)
        error = None if outcome["ok"] else ModelError(Reason(outcome["reason"]), outcome["message"])
    except (ValueError, KeyError, TypeError):
        error = ModelError(Reason.MODEL_INVALID, "preparing the embedding model ended without a result")
    if error is not None:
        error.hint = f"{files.INSTALL_HINT} Details are in {log}"
        raise error
