"""Compare Donna with memsearch, installed for this run only: cold index, unchanged index, search from the shell."""

from __future__ import annotations

import os
import subprocess
import sys
import sysconfig
import tempfile
from dataclasses import dataclass, field
from pathlib import Path

from bench.ingest import QUESTION, SMALL_NOTES, sample
from bench.program import Ran, new_home, run
from bench.report import Report, UnavailableError, arguments, eval_folder, finish
from donna_tui.embedding.files import OFFLINE, find_weights

PEER = "memsearch"
INSTALL_SECONDS = 600
PUBLISHED = {"cold": 171.0, "peak": 1_200.0, "again": 12.5, "search": 8.4}
"""The figures of memsearch 0.4 on vault_help, with the same weights on another machine with two cores: seconds, and MB.
"""


@dataclass(frozen=True, slots=True)
class Figures:
    """The time and memory that a program used, in seconds and MB; None if they could not be measured."""

    cold: float | None = None
    peak: float | None = None
    again: float | None = None
    search: float | None = None
    why_not: str = field(default="", kw_only=True)


def measure(*, small: bool = False) -> Report:
    """Run the benchmark. Raises UnavailableError without the evaluation data or the model."""
    weights = find_weights()
    if weights is None:
        raise UnavailableError("there is no model: make install")
    full_vault = eval_folder("vault_help") / "vault"
    with tempfile.TemporaryDirectory(prefix="donna-peers-") as folder:
        vault = sample(full_vault, Path(folder) / "vault", SMALL_NOTES) if small else full_vault
        ours = measure_donna(vault)
        theirs = measure_memsearch(Path(folder), vault, weights)
    report = _report(ours, theirs, small=small)
    if theirs.why_not:
        report.remarks.append(theirs.why_not)
    return report


def _report(ours: Figures, theirs: Figures, *, small: bool) -> Report:
    report = Report("Compared with memsearch, on vault_help, same weights", peer=PEER)
    for what, name, unit, budget in (
        ("cold index", "cold", "s", 25.0),
        ("peak memory", "peak", "MB", 300.0),
        ("index again, nothing changed", "again", "s", 0.6),
        ("one search from the shell", "search", "s", 0.6),
    ):
        published = None if small else PUBLISHED[name]
        report.add(what, getattr(ours, name), unit, budget, peer=getattr(theirs, name), published=published)
    return report


def measure_donna(vault: Path) -> Figures:
    with new_home() as home:
        cold = home.donna("index", "--space", vault)
        again = home.donna("index", "--space", vault)
        search = home.donna("search", QUESTION, "--space", vault)
    return Figures(cold.seconds, cold.peak_mb, again.seconds, search.seconds)


def measure_memsearch(folder: Path, vault: Path, weights: Path) -> Figures:
    """Measure memsearch, with the weights that Donna's model was built from."""
    try:
        program = install(folder / "venv")
    except (OSError, subprocess.SubprocessError) as error:
        return Figures(why_not=f"{PEER} could not be installed here ({_reason(error)}).")
    environ = {**os.environ, **OFFLINE, "HOME": str(folder)}
    model = ("-p", "local", "-m", str(weights), "--milvus-uri", str(folder / "milvus.db"))

    def memsearch(verb: str, what: str) -> Ran:
        return run([str(program), verb, *model, what], environ)

    try:
        cold, again, search = (
            memsearch("index", str(vault)),
            memsearch("index", str(vault)),
            memsearch("search", QUESTION),
        )
    except RuntimeError as error:
        return Figures(why_not=f"{PEER} did not run here ({str(error)[-300:]}).")
    return Figures(cold.seconds, cold.peak_mb, again.seconds, search.seconds)


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
