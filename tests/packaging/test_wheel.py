"""The wheel contains its own files, installs into a fresh environment, and works there without a model."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pytest

pytestmark = pytest.mark.packaging

ROOT = Path(__file__).parents[2]
MAX_BYTES = 300_000_000
TOOLS = ("pip", "setuptools")
"""The packages of every new environment."""


def run(*command: str | Path, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run a program outside the checkout, so that nothing is imported from it."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("DONNA_", "PYTHON"))}
    return subprocess.run(
        [*map(str, command)], cwd="/", env={**inherited, **environ}, capture_output=True, text=True, check=False
    )


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dist")
    ran = run(sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", folder, ROOT)
    assert ran.returncode == 0, ran.stderr
    (built,) = folder.glob("*.whl")
    return built


@dataclass(frozen=True, slots=True)
class Installed:
    """An environment with the wheel and its dependencies, a vault, and Donna's folders."""

    folder: Path
    vault: Path

    @property
    def packages(self) -> Path:
        (found,) = (self.folder / "venv" / "lib").glob("python*/site-packages")
        return found

    def donna(self, *args: str) -> subprocess.CompletedProcess[str]:
        return run(self.folder / "venv" / "bin" / "donna", *args, DONNA_HOME=str(self.folder / "home"))


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder / "venv")
    pip = (sys.executable, "-m", "pip", "--python", folder / "venv" / "bin" / "python")
    ran = run(*pip, "install", "--no-compile", "--disable-pip-version-check", "--quiet", wheel)
    assert ran.returncode == 0, ran.stderr
    vault = folder / "Notes"
    vault.mkdir()
    (vault / "gateway.md").write_text("# Gateway\nThe kestrel sessions are kept in Redis.\n")
    return Installed(folder, vault)


def test_the_wheel_carries_its_own_files(wheel: Path) -> None:
    names = zipfile.ZipFile(wheel).namelist()
    for folder in ("styles", "config", "vault_templates"):
        wanted = {
            f"donna_tui/_data/{path.relative_to(ROOT).as_posix()}"
            for path in (ROOT / folder).rglob("*")
            if path.is_file()
        }
        assert wanted <= set(names), folder
        assert wanted, folder


def test_the_wheel_carries_nothing_else(wheel: Path) -> None:
    tops = {name.split("/")[0] for name in zipfile.ZipFile(wheel).namelist()}
    assert len(tops) == 2
    assert {top for top in tops if not top.endswith(".dist-info")} == {"donna_tui"}
    assert wheel.stat().st_size < 1_500_000


@pytest.mark.slow
def test_an_installed_donna_indexes_and_searches_by_keyword(installed: Installed) -> None:
    assert installed.donna("--version").stdout.startswith("donna ")
    index = installed.donna("index", "--json", "--space", str(installed.vault))
    assert index.returncode == 4, index.stderr
    assert json.loads(index.stdout)["indexed"] == 1
    search = installed.donna("search", "kestrel", "--json", "--space", str(installed.vault))
    assert search.returncode == 0, search.stderr
    (hit,) = json.loads(search.stdout)["results"]
    assert hit["source_path"] == "gateway.md"
    assert installed.donna("search", "unheardof", "--space", str(installed.vault)).returncode == 1


@pytest.mark.slow
def test_doctor_reports_no_failure_in_a_fresh_installation(installed: Installed) -> None:
    doctor = installed.donna("doctor", "--json")
    findings = {each["id"]: each["state"] for each in json.loads(doctor.stdout)["findings"]}
    assert doctor.returncode == 4, doctor.stdout
    assert "fail" not in findings.values()
    assert (findings["sqlite"], findings["vectors"], findings["model"]) == ("ok", "ok", "warn")
    for extra in ("calendars", "mcp", "webdav", "sentence-transformers"):
        assert f"[{extra}] for " in doctor.stdout


@pytest.mark.slow
def test_an_installed_donna_finds_its_screens(installed: Installed) -> None:
    program = (
        "import donna_tui.tui.app; from donna_tui.platform.paths import resource;"
        "print(resource('vault_templates', 'demo')); print(resource('styles'))"
    )
    ran = run(installed.folder / "venv" / "bin" / "python", "-c", program)
    assert ran.returncode == 0, ran.stderr
    assert all(Path(line).is_relative_to(installed.packages) for line in ran.stdout.splitlines())
    assert installed.donna("keys", "--check").returncode == 0


@pytest.mark.slow
def test_base_installation_stays_below_the_size_limit(
    installed: Installed, record_property: Callable[[str, object], None]
) -> None:
    files = [
        path
        for path in installed.packages.rglob("*")
        if path.is_file() and not path.relative_to(installed.packages).parts[0].startswith(TOOLS)
    ]
    size = sum(path.stat().st_size for path in files)
    record_property("bytes", size)
    print(f"a lean installation takes {size / 1e6:.0f} MB")
    assert size <= MAX_BYTES
    assert not {"torch", "transformers", "sentence_transformers"} & {path.name for path in installed.packages.iterdir()}
