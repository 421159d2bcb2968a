"""List the settings by their dotted names, with their values and their JSON Schema for editors."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, get_args, get_origin

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from donna_tui.config.blocks import Block, FromSpace, Switch
from donna_tui.config.models import MemoryConfig


@dataclass(frozen=True, slots=True)
class Setting:
    """One setting. `id` is its dotted name, `aliases` are other spellings of the last part."""

    id: str
    field: FieldInfo
    aliases: tuple[str, ...]

    @property
    def kind(self) -> Any:
        """Return the type without parameters: int, float, bool, str, tuple, dict, or one that is written as text."""
        return get_origin(self.field.annotation) or self.field.annotation

    @property
    def from_space(self) -> FromSpace | None:
        return next((mark for mark in self.field.metadata if isinstance(mark, FromSpace)), None)


@dataclass(frozen=True, slots=True)
class Group:
    """A block of settings. `names` maps each spelling of a member to the member."""

    id: str
    model: type[Block]
    names: Mapping[str, Setting | Group]

    @property
    def members(self) -> list[Setting | Group]:
        """Return the members in the order of the model, each once."""
        return list({member.id: member for member in self.names.values()}.values())

    @property
    def is_switch(self) -> bool:
        """Return whether the whole block may be given as true or false."""
        return issubclass(self.model, Switch)

    def nearest(self, name: str) -> str | None:
        """Return the id of the member closest to `name`; if none is close, of a setting of a similar name elsewhere."""
        close = difflib.get_close_matches(name, list(self.names), n=1)
        if close:
            return self.names[close[0]].id
        settings = SETTINGS.values()
        elsewhere = {
            alias: setting.id for setting in settings for alias in (setting.id.rpartition(".")[2], *setting.aliases)
        }
        close = difflib.get_close_matches(name, list(elsewhere), n=1, cutoff=0.85)
        return elsewhere[close[0]] if close else None


def aliases_of(name: str, field: FieldInfo) -> tuple[str, ...]:
    choices = field.validation_alias
    if not isinstance(choices, AliasChoices):
        return ()
    return tuple(choice for choice in choices.choices if isinstance(choice, str) and choice != name)


def _group(model: type[Block], identifier: str) -> Group:
    names: dict[str, Setting | Group] = {}
    for name, field in model.model_fields.items():
        full = f"{identifier}.{name}" if identifier else name
        aliases, kind = aliases_of(name, field), field.annotation
        member: Setting | Group = Setting(full, field, aliases)
        if isinstance(kind, type) and issubclass(kind, Block):
            member = _group(kind, full)
        names |= dict.fromkeys((name, *aliases), member)
    return Group(identifier, model, names)


def nearest_inside(setting: Setting, path: Sequence[str | int]) -> str | None:
    """Return the known name closest to the last part of a path inside a list of blocks, or None."""
    group: Setting | Group | None = _group(model, setting.id) if (model := item_model(setting)) else None
    *around, unknown = [part for part in path if isinstance(part, str)]
    for name in around:
        group = group.names.get(name) if isinstance(group, Group) else None
    close = difflib.get_close_matches(unknown, list(group.names), n=1) if isinstance(group, Group) else []
    return close[0] if close else None


def item_model(setting: Setting) -> type[Block] | None:
    """Return the block of one item, if the setting is a list of blocks."""
    model = next(iter(get_args(setting.field.annotation)), None)
    return model if isinstance(model, type) and issubclass(model, Block) else None


def all_settings(group: Group) -> Iterator[Setting]:
    """Yield the settings of a block and of the blocks in it, in the order of the models."""
    for member in group.members:
        if isinstance(member, Group):
            yield from all_settings(member)
        else:
            yield member


ROOT = _group(MemoryConfig, "")
"""The whole tree of blocks and settings."""

SETTINGS: Mapping[str, Setting] = {setting.id: setting for setting in all_settings(ROOT)}
"""Every setting by its id, in the order of the models."""


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a settings file, for completion and validation in editors."""
    schema = without_titles(MemoryConfig.model_json_schema())
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


def without_titles(schema: Any) -> Any:
    """Return a JSON Schema without the titles that pydantic derives from names, not even readable: `Maxresults`."""
    if isinstance(schema, dict):
        kept = {key: value for key, value in schema.items() if key != "title" or isinstance(value, dict)}
        return {key: without_titles(value) for key, value in kept.items()}
    return [without_titles(item) for item in schema] if isinstance(schema, list) else schema


def plain(value: object) -> Any:
    """Convert a value of the configuration to plain data for JSON and YAML."""
    if isinstance(value, tuple):
        return [plain(item) for item in value]
    if isinstance(value, Block):
        return {name: plain(item) for name, item in value.model_dump(exclude_defaults=True).items()}
    if isinstance(value, dict):
        return {name: plain(item) for name, item in value.items()}
    return str(value) if isinstance(value, Path) else value


def raw_value(config: MemoryConfig, identifier: str) -> object:
    return reduce(getattr, identifier.split("."), config)


def value_of(config: MemoryConfig, identifier: str) -> Any:
    """Return the value of the setting with this dotted name, as plain data."""
    return plain(raw_value(config, identifier))
