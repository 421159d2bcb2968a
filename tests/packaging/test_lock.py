"""The lock file of development and CI, and the audit for known vulnerabilities."""

from __future__ import annotations

import importlib.util
import re
import tomllib
from pathlib import Path
from types import ModuleType

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
LOCK = ROOT / "requirements" / "dev.lock"
EXTRAS = ("calendars", "mcp", "webdav", "dev")


@pytest.fixture(scope="module")
def audit() -> ModuleType:
    spec = importlib.util.spec_from_file_location("audit", ROOT / "requirements" / "audit.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def wanted() -> list[Requirement]:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    return [Requirement(each) for each in (*project["dependencies"], *(one for name in EXTRAS for one in extras[name]))]


def test_every_package_is_locked_in_its_range_with_hashes_and_torch_is_not() -> None:
    entries = re.split(r"\n(?=\S)", LOCK.read_text())
    locked: dict[str, list[str]] = {}
    for entry in entries:
        found = re.match(r"([\w.-]+)==([^\s;]+)", entry)
        if found:
            assert re.search(r"--hash=sha256:[0-9a-f]{64}", entry), found[0]
            locked.setdefault(canonicalize_name(found[1]), []).append(found[2])
    for each in wanted():
        assert any(each.specifier.contains(version) for version in locked[canonicalize_name(each.name)]), str(each)
    assert not {name for name in locked if name == "torch" or name.startswith("nvidia")}


def test_a_major_version_that_may_break_is_bounded() -> None:
    free = {"structlog", "pytest-asyncio", "types-pyyaml"}  # versioned by year, or tools whose breakage the tests show
    dev = {
        Requirement(each).name
        for each in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["optional-dependencies"]["dev"]
    }
    for each in wanted():
        bounded = any(part.operator in ("<", "==", "~=") for part in each.specifier)
        assert bounded or each.name in free | dev, str(each)


def test_only_a_vulnerability_fails_the_audit(audit: ModuleType, capsys: pytest.CaptureFixture[str]) -> None:
    good = {"name": "good", "version": "1", "vulns": []}
    bad = {"name": "bad", "version": "1", "vulns": [{"id": "PYSEC-1", "fix_versions": ["2"]}]}
    unknown = {"name": "unknown", "skip_reason": "not found"}
    assert [audit.judge(each) for each in ([good], [good, bad], [unknown], [])] == [0, 1, 0, 0]
    told = capsys.readouterr().out
    assert "bad 1: PYSEC-1, fixed in 2" in told
    assert told.count("audit skipped") == 2


def test_without_a_network_the_audit_is_skipped(
    audit: ModuleType, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(audit.subprocess, "run", lambda *_, **__: None)
    assert audit.main(tmp_path / "none.lock") == 0
    assert "audit skipped" in capsys.readouterr().out
