"""`donna config` prints the settings in force and their origin, as text and as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from typer.testing import CliRunner

from donna_tui.cli.main import app
from donna_tui.cli.output import ExitCode
from donna_tui.config.schema import SETTINGS

RUNNER = CliRunner()


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    for variable in [each for each in os.environ if each.startswith("DONNA_")]:
        monkeypatch.delenv(variable)
    monkeypatch.setenv("DONNA_HOME", str(tmp_path / "home"))
    return tmp_path / "home"


def write(file: Path, text: str) -> Path:
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return file


def test_show_prints_every_setting_with_its_origin(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(home / "config" / "memory.yaml", "ui:\n  theme: light\n")
    monkeypatch.setenv("DONNA_RETRIEVAL__DEFAULT_K", "12")
    lines = RUNNER.invoke(app, ["config", "show"]).stdout.splitlines()
    assert len(lines) == len(SETTINGS)
    assert "retrieval.default_k = 12  # DONNA_RETRIEVAL__DEFAULT_K" in lines
    assert f'ui.theme = "light"  # {file}, line 2' in lines
    assert "vault.root = null  # default" in lines


def test_show_as_json_is_one_object(home: Path) -> None:
    file = write(home / "config" / "memory.yaml", "ui:\n  theme: light\n")
    result = RUNNER.invoke(app, ["config", "show", "--json"])
    data = json.loads(result.stdout)
    assert result.exit_code == ExitCode.FINE
    assert data["ok"] is True
    rows = {row["id"]: row for row in data["settings"]}
    assert list(rows) == list(SETTINGS)
    assert rows["ui.theme"]["value"] == "light"
    assert rows["ui.theme"]["origin"] == {"layer": "user", "source": str(file), "line": 2}
    assert rows["vault.ignore_globs"]["value"][0] == ".obsidian/**"


def test_show_reads_the_settings_of_a_vault(tmp_path: Path) -> None:
    write(tmp_path / "vault" / ".donna" / "memory.yaml", "retrieval:\n  max_k: 9\n")
    result = RUNNER.invoke(app, ["config", "show", "--json", "--space", str(tmp_path / "vault")])
    rows = {row["id"]: row for row in json.loads(result.stdout)["settings"]}
    assert rows["retrieval.max_k"]["origin"]["layer"] == "space"
    assert rows["vault.root"]["value"] == str(tmp_path / "vault")


def test_a_mistake_is_reported_in_words_and_as_json(home: Path) -> None:
    file = write(home / "config" / "memory.yaml", "retrieval:\n  maxk: 9\n")
    words = RUNNER.invoke(app, ["config", "show"])
    assert words.exit_code == ExitCode.USAGE
    assert words.stdout == ""
    assert f"{file}, line 2: retrieval.maxk is not a setting; did you mean retrieval.max_k?" in words.stderr
    as_json = RUNNER.invoke(app, ["config", "show", "--json"])
    assert as_json.exit_code == ExitCode.USAGE
    data = json.loads(as_json.stdout)
    assert (data["ok"], data["reason"]) == (False, "config_invalid")
    assert "retrieval.maxk" in data["message"]


def test_a_missing_vault_is_refused(tmp_path: Path) -> None:
    result = RUNNER.invoke(app, ["config", "show", "--json", "--space", str(tmp_path / "no")])
    assert result.exit_code == ExitCode.REFUSED
    assert json.loads(result.stdout)["reason"] == "root_missing"


def test_path_names_the_places_even_when_the_settings_are_broken(home: Path) -> None:
    file = write(home / "config" / "memory.yaml", "retrieval: [\n")
    result = RUNNER.invoke(app, ["config", "path", "--json"])
    assert result.exit_code == ExitCode.FINE
    places = {row["id"]: row for row in json.loads(result.stdout)["places"]}
    assert places["your settings"] == {"id": "your settings", "path": str(file), "exists": True}
    assert places["state"]["exists"] is False
    assert "not valid YAML" in result.stderr


def test_path_names_the_file_of_the_vault(tmp_path: Path) -> None:
    lines = RUNNER.invoke(app, ["config", "path", "--space", str(tmp_path / "vault")]).stdout.splitlines()
    assert any(line.endswith(f"{tmp_path}/vault/.donna/memory.yaml  (missing)") for line in lines)


def test_schema_prints_a_json_schema() -> None:
    schema = json.loads(RUNNER.invoke(app, ["config", "schema"]).stdout)
    assert set(schema["properties"]) == {
        "vault",
        "me",
        "safety",
        "embedding",
        "retrieval",
        "sources",
        "recall",
        "skills",
        "calendars",
        "agents",
        "metrics",
        "ui",
    }
