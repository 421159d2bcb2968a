"""Any valid value is read back with its origin; any wrong name is refused with the nearest valid one."""

from __future__ import annotations

import json
import tempfile
from pathlib import Path
from typing import Any, get_args

import pytest
from annotated_types import Ge, Le
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic.fields import FieldInfo

from donna_tui.config.document import Origin
from donna_tui.config.load import load_config
from donna_tui.config.schema import SETTINGS, Setting, value_of
from donna_tui.config.yaml_text import parse_document
from donna_tui.types.errors import ConfigError

BOUND_TO_OTHERS = {"retrieval.default_k", "retrieval.max_k", "embedding.max_tokens", "embedding.chunk_overlap"}
BOUND_TO_OTHERS |= {"safety.max_note_bytes", "safety.max_read_bytes"}
BOUND_TO_OTHERS |= {f"agents.defaults.memory_search.chunking.{name}" for name in ("tokens", "overlap")}
FREE = [setting for setting in SETTINGS.values() if setting.id not in BOUND_TO_OTHERS]

words = st.text(st.characters(categories=["L", "N"]), min_size=1, max_size=20)


def bounds(field: FieldInfo) -> tuple[Any, Any]:
    least = next(mark.ge for mark in field.metadata if isinstance(mark, Ge))
    most = next(mark.le for mark in field.metadata if isinstance(mark, Le))
    return least, most


calendars = st.lists(
    words.map(lambda name: {"name": name, "kind": "ics", "path": f"/nowhere/{name}"}),
    max_size=3,
    unique_by=lambda calendar: calendar["name"],
)


ids = st.text("abcdefghijklmnopqrstuvwxyz0123456789", min_size=1, max_size=12)
agents = st.lists(
    st.builds(lambda name, folder: {"id": name, "workspace": f"/nowhere/{folder}/{{agentId}}"}, ids, words),
    max_size=3,
    unique_by=lambda agent: agent["id"],
)


SPECIAL: dict[str, st.SearchStrategy[Any]] = {
    "calendars": calendars,
    "agents.list": agents,
    "sources.chat.index_roles": st.lists(st.sampled_from(["user", "assistant", "system", "tool"])),
    "vault.root": words.map(lambda name: f"/nowhere/{name}"),
    "embedding.provider": words.map(lambda name: f"/nowhere/{name}"),
    "agents.defaults.workspace": words.map(lambda name: f"/nowhere/{name}/{{agentId}}"),
    "agents.defaults.memory_search.store.path": words.map(lambda name: f"/nowhere/{name}/{{agentId}}"),
    "agents.defaults.memory_search.remote.base_url": ids.map(lambda name: f"https://{name}.example/v1"),
    "agents.defaults.memory_search.remote.api_key_env": ids.map(lambda name: f"KEY_{name.upper()}"),
}


def values_for(setting: Setting) -> st.SearchStrategy[Any]:
    if setting.id in SPECIAL:
        return SPECIAL[setting.id]
    if setting.kind is bool:
        return st.booleans()
    if setting.kind is int:
        return st.integers(*bounds(setting.field))
    if setting.kind is float:
        return st.floats(*bounds(setting.field))
    if setting.kind is tuple:
        return st.lists(words)
    if setting.kind is dict:
        return st.dictionaries(words, st.lists(words), max_size=3)
    choices = [choice for choice in get_args(setting.field.annotation) if isinstance(choice, str)]
    return st.sampled_from(choices) if choices else words


@st.composite
def overrides(draw: st.DrawFn) -> tuple[str, Any]:
    setting = draw(st.sampled_from(FREE))
    return setting.id, draw(values_for(setting))


def nested(identifier: str, value: Any) -> dict[str, Any]:
    for name in reversed(identifier.split(".")):
        value = {name: value}
    return dict(value)


@given(overrides())
def test_a_variable_is_found_again(given_value: tuple[str, Any]) -> None:
    identifier, value = given_value
    variable = "DONNA_" + identifier.upper().replace(".", "__")
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    loaded = load_config(environ={"DONNA_HOME": "/nowhere", variable: text})
    assert value_of(loaded.config, identifier) == value
    assert loaded.origins[identifier] == Origin("environment", variable)


@settings(max_examples=30)
@given(overrides())
def test_a_line_in_the_user_file_is_found_again(given_value: tuple[str, Any]) -> None:
    identifier, value = given_value
    with tempfile.TemporaryDirectory() as home:
        file = Path(home, "config", "memory.yaml")
        file.parent.mkdir()
        file.write_text(json.dumps(nested(identifier, value), ensure_ascii=False))
        loaded = load_config(environ={"DONNA_HOME": home})
    assert value_of(loaded.config, identifier) == value
    assert loaded.origins[identifier] == Origin("user", str(file), 1)


@given(st.sampled_from(sorted(identifier for identifier in SETTINGS if "." in identifier)), st.data())
def test_misspelled_setting_is_rejected_with_a_suggestion(identifier: str, data: st.DataObject) -> None:
    block, _, name = identifier.rpartition(".")
    at = data.draw(st.integers(0, len(name) - 1))
    slip = data.draw(st.sampled_from([name[:at] + name[at + 1 :], name[:at] + "q" + name[at:]]))
    wrong = f"{block}.{slip}"
    with pytest.raises(ConfigError) as caught:
        load_config(environ={"DONNA_HOME": "/nowhere", "DONNA_" + wrong.upper().replace(".", "__"): "1"})
    assert f"{wrong} is not a setting; did you mean {identifier}?" in caught.value.message


def refusal(text: str) -> str:
    try:
        parse_document(text, Origin("user", "f"))
    except ConfigError as error:
        return error.message
    return ""


@given(st.text() | st.text("[]{}:,-?&*!|>'\"%@`#~ab1\n\t "))
def test_any_text_is_a_document_or_a_clear_error(text: str) -> None:
    assert refusal(text).isprintable()
