"""The names of all settings, read off the models: which exist, what else they are called, which is nearest."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, get_args, get_origin

from pydantic import AliasChoices
from pydantic.fields import FieldInfo

from donna_tui.config.blocks import Block, FromSpace, Switch
from donna_tui.config.models import MemoryConfig
from donna_tui.records import dataclass


@dataclass(frozen=True, slots=True)
class Setting:
    """One value that can be set. `id` is its dotted name, `aliases` are other spellings of the last part."""

    id: str
    field: FieldInfo
    aliases: tuple[str, ...]

    @property
    def kind(self) -> Any:
        """The bare type: int, float, bool, str, tuple, dict, or something that is written as plain text."""
        return get_origin(self.field.annotation) or self.field.annotation

    @property
    def from_space(self) -> FromSpace | None:
        """What the file in a space may do with it; None if nothing."""
        return next((mark for mark in self.field.metadata if isinstance(mark, FromSpace)), None)


@dataclass(frozen=True, slots=True)
class Group:
    """A block of settings. `names` maps each spelling of a member to the member."""

    id: str
    model: type[Block]
    names: Mapping[str, Setting | Group]

    @property
    def members(self) -> list[Setting | Group]:
        """The members in the order of the model, each once."""
        return list({member.id: member for member in self.names.values()}.values())

    @property
    def is_switch(self) -> bool:
        """Whether the whole block may be given as true or false."""
        return issubclass(self.model, Switch)

    def nearest(self, name: str) -> str | None:
        """The id of the member that `name` probably means; if none is near, a like-named setting elsewhere."""
        close = difflib.get_close_matches(name, list(self.names), n=1)
        if close:
            return self.names[close[0]].id
        elsewhere = {spelling: each.id for each in SETTINGS.values() for spelling in _spellings(each)}
        close = difflib.get_close_matches(name, list(elsewhere), n=1, cutoff=0.8)
        return elsewhere[close[0]] if close else None


def _spellings(setting: Setting) -> tuple[str, ...]:
    return (setting.id.rpartition(".")[2], *setting.aliases)


def _aliases(name: str, field: FieldInfo) -> tuple[str, ...]:
    choices = field.validation_alias
    if not isinstance(choices, AliasChoices):
        return ()
    return tuple(choice for choice in choices.choices if isinstance(choice, str) and choice != name)


def _group(model: type[Block], identifier: str) -> Group:
    names: dict[str, Setting | Group] = {}
    for name, field in model.model_fields.items():
        full = f"{identifier}.{name}" if identifier else name
        aliases = _aliases(name, field)
        names |= dict.fromkeys((name, *aliases), _member(full, field, aliases))
    return Group(identifier, model, names)


def _member(identifier: str, field: FieldInfo, aliases: tuple[str, ...]) -> Setting | Group:
    kind = field.annotation
    if isinstance(kind, type) and issubclass(kind, Block):
        return _group(kind, identifier)
    return Setting(identifier, field, aliases)


def item_settings(setting: Setting) -> list[Setting]:
    """The settings of one item, if the setting is a list of blocks. They are not set one by one."""
    model = _item_model(setting)
    fields = model.model_fields.items() if model else ()
    return [Setting(f"{setting.id}[].{name}", field, _aliases(name, field)) for name, field in fields]


def nearest_inside(setting: Setting, place: Sequence[str | int]) -> str | None:
    """The name that the last part of a place inside a list of blocks probably means."""
    group: Setting | Group | None = _group(model, setting.id) if (model := _item_model(setting)) else None
    *around, wrong = [part for part in place if isinstance(part, str)]
    for name in around:
        group = group.names.get(name) if isinstance(group, Group) else None
    close = difflib.get_close_matches(wrong, list(group.names), n=1) if isinstance(group, Group) else []
    return close[0] if close else None


def _item_model(setting: Setting) -> type[Block] | None:
    model = next(iter(get_args(setting.field.annotation)), None)
    return model if isinstance(model, type) and issubclass(model, Block) else None


def _all_settings(group: Group) -> Iterator[Setting]:
    for member in group.members:
        if isinstance(member, Group):
            yield from _all_settings(member)
        else:
            yield member


ROOT = _group(MemoryConfig, "")
"""The whole tree of blocks and settings."""

SETTINGS: Mapping[str, Setting] = {setting.id: setting for setting in _all_settings(ROOT)}
"""Every setting by its id, in the order of the models."""
