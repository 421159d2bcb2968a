"""Compare Donna with memsearch, installed for this run only: cold index, unchanged index, search from the shell."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from bench.ingest import QUESTION, SMALL_NOTES, sample
from bench.program import Ran, new_home, run
from bench.report import Report, UnavailableError, arguments, eval_folder, finish
from donna_tui.embedding.files import OFFLINE, find_weights

PEER = "memsearch"
INSTALL_SECONDS = 600
FIGURES = (
    ("cold index", "s", 25.0, 171.0),
    ("peak memory", "MB", 300.0, 1_200.0),
    ("index again, nothing changed", "s", 0.6, 12.5),
    ("one search from the shell", "s", 0.6, 8.4),
)
"""The name, unit and budget of each measurement, and the figure of memsearch 0.4 with the same weights on another
machine with two cores.
"""


def measure(*, small: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data or the model."""
    weights = find_weights()
    if weights is None:
        raise UnavailableError("there is no model: make install")
    full_vault = eval_folder("vault_help") / "vault"
    report = Report("Compared with memsearch, on vault_help, same weights", peer=PEER)
    theirs: Sequence[float | None] = [None] * len(FIGURES)
    with tempfile.TemporaryDirectory(prefix="donna-peers-") as folder:
        vault = sample(full_vault, Path(folder) / "vault", SMALL_NOTES) if small else full_vault
        with new_home() as home:
            ours = _figures(
                lambda: home.donna("index", "--space", vault), lambda: home.donna("search", QUESTION, "--space", vault)
            )
        try:
            theirs = measure_memsearch(Path(folder), vault, weights)
        except UnavailableError as missing:
            report.remarks.append(str(missing))
    for (what, unit, budget, published), own, peer in zip(FIGURES, ours, theirs, strict=True):
        report.add(what, own, unit, budget, peer=peer, published=None if small else published)
    return report


def _figures(index: Callable[[], Ran], search: Callable[[], Ran]) -> list[float]:
    cold, again, found = index(), index(), search()
    return [cold.seconds, cold.peak_mb, again.seconds, found.seconds]


def measure_memsearch(folder: Path, vault: Path, weights: Path) -> list[float]:
    """Measure memsearch, with the weights that Donna's model was built from. Raises UnavailableError if it fails."""
    try:
        program = install(folder / "venv")
    except (OSError, subprocess.SubprocessError) as error:
        raise UnavailableError(f"{PEER} could not be installed here ({_reason(error)}).") from error
    environ = {**os.environ, **OFFLINE, "HOME": str(folder)}
    model = ("-p", "local", "-m", str(weights), "--milvus-uri", str(folder / "milvus.db"))

    def memsearch(verb: str, what: str) -> Ran:
        return run([str(program), verb, *model, what], environ)

    try:
        return _figures(lambda: memsearch("index", str(vault)), lambda: memsearch("search", QUESTION))
    except RuntimeError as error:
        raise UnavailableError(f"{PEER} did not run here ({str(error)[-300:]}).") from error


def install(venv: Path) -> Path:
    """Install memsearch into a new environment that uses torch and other packages of this one. Return its program.

    Raises OSError or SubprocessError if that fails.
    """
    _quietly([sys.executable, "-m", "venv", str(venv)])
    site = next(venv.glob("lib/python*/site-packages"))
    (site / "zz-borrowed.pth").write_text(sysconfig.get_path("purelib") + "\n", encoding="utf-8")
    _quietly([str(venv / "bin" / "python"), "-m", "pip", "install", "--quiet", PEER])
    return venv / "bin" / PEER


def _quietly(command: list[str]) -> None:
    subprocess.run(command, check=True, capture_output=True, text=True, timeout=INSTALL_SECONDS)


def _reason(error: Exception) -> str:
    """Return the last line of pip's output, or the error itself."""
    said = str(getattr(error, "stderr", "") or "").strip().splitlines()
    return said[-1] if said else str(error)


if __name__ == "__main__":
    finish(measure, arguments(__doc__))
