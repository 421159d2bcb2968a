"""Check that everything derived from the models agrees with them and with the packaged file."""

from __future__ import annotations

import json

import yaml

from docs.settings import default_file, markdown_reference
from donna_tui.config.load import packaged_file
from donna_tui.config.models import MemoryConfig
from donna_tui.config.schema import SETTINGS, json_schema, value_of


def test_packaged_default_file_is_up_to_date() -> None:
    assert packaged_file().read_text(encoding="utf-8") == default_file()


def test_the_shipped_file_states_every_default() -> None:
    assert MemoryConfig.model_validate(yaml.safe_load(default_file())) == MemoryConfig()
    data = yaml.safe_load(default_file())
    for identifier in SETTINGS:
        found = data
        for name in identifier.split("."):
            found = found[name]
        assert found == value_of(MemoryConfig(), identifier)


def test_every_setting_is_described_in_one_sentence() -> None:
    for setting in SETTINGS.values():
        assert setting.field.description, setting.id
        assert setting.field.description[-1] in ".}", setting.id


def test_the_reference_lists_every_setting_once_and_is_stable() -> None:
    page = markdown_reference()
    for identifier in SETTINGS:
        assert page.count(f"| `{identifier}`") == 1
    assert "`retrieval.default_k`, `top_k`" in page
    assert "may add to it" in page
    assert page == markdown_reference()
    assert page.count("\n## ") == len(MemoryConfig.model_fields) - 1


def test_the_schema_knows_bounds_choices_and_switches() -> None:
    schema = json.loads(json.dumps(json_schema()))
    definitions = schema["$defs"]
    assert '"title": "' not in json.dumps(schema)
    assert schema["additionalProperties"] is False
    assert definitions["RetrievalConfig"]["properties"]["max_k"]["maximum"] == 1024
    assert definitions["VaultConfig"]["properties"]["sync_method"]["enum"] == ["webdav", "syncthing", "manual"]
    assert {"type": "boolean"} in definitions["ChatSourceConfig"]["anyOf"]
