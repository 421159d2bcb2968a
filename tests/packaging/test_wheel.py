"""The wheel, installed alone into an empty environment: lean, complete, and honest about what it lacks."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
LARGEST_MB = 250
NOT_OURS = ("pip", "setuptools", "_distutils_hack")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("wheel")
    command = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(command, check=True, capture_output=True)
    return next(folder.glob("*.whl"))


@pytest.fixture(scope="module")
def environment(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("empty")
    venv.create(folder, with_pip=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", str(wheel)], check=True, capture_output=True)
    return folder


@pytest.fixture
def vault(tmp_path: Path) -> Path:
    folder = tmp_path / "vault"
    folder.mkdir()
    (folder / "Ferry.md").write_text("# Ferry\n\nThe early boat leaves at ten past seven.\n", encoding="utf-8")
    return folder


def donna(environment: Path, tmp_path: Path, *words: str) -> subprocess.CompletedProcess[str]:
    env = {**os.environ, "DONNA_HOME": str(tmp_path / "home")}
    env.pop("PYTHONPATH", None)
    return subprocess.run(
        [environment / "bin/donna", *words], capture_output=True, text=True, cwd=tmp_path, env=env, check=False
    )


def test_the_wheel_carries_styles_settings_and_templates(wheel: Path) -> None:
    names = set(zipfile.ZipFile(wheel).namelist())
    shipped = {
        path
        for part in ("styles", "config", "vault_templates")
        for path in (ROOT / part).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    assert shipped
    assert {f"donna_tui/_data/{path.relative_to(ROOT).as_posix()}" for path in shipped} <= names


def test_the_lean_installation_is_small(environment: Path) -> None:
    packages = next((environment / "lib").glob("python3*/site-packages"))
    size = sum(
        file.stat().st_size
        for package in packages.iterdir()
        if not package.name.startswith(NOT_OURS)
        for file in ([package] if package.is_file() else package.rglob("*"))
        if file.is_file()
    )
    assert size / 1e6 <= LARGEST_MB


def test_doctor_says_that_the_model_is_missing(environment: Path, vault: Path, tmp_path: Path) -> None:
    done = donna(environment, tmp_path, "doctor", "--json", "--space", str(vault))
    findings = {each["id"]: each for each in json.loads(done.stdout)["findings"]}
    assert done.returncode == 4
    assert findings["model"]["reason"] == "model_missing"
    assert findings["vectors"]["state"] == "ok"


def test_search_is_by_keyword_and_says_so(environment: Path, vault: Path, tmp_path: Path) -> None:
    done = donna(environment, tmp_path, "search", "early boat", "--json", "--space", str(vault))
    answer = json.loads(done.stdout)
    assert done.returncode == 0
    assert answer["mode"] == "keyword"
    assert [hit["source_path"] for hit in answer["results"]] == ["Ferry.md"]
    assert "no model" in done.stderr
