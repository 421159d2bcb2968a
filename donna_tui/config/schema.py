"""Generate from the settings a JSON Schema for editors, the reference page, and the file with all defaults."""

from __future__ import annotations

import difflib
import textwrap
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

import yaml
from annotated_types import Ge, Le
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
        """Return the bare type: int, float, bool, str, tuple, dict, or a type that is written as plain text."""
        return get_origin(self.field.annotation) or self.field.annotation

    @property
    def from_space(self) -> FromSpace | None:
        """Return how the file in a space may change the setting, or None."""
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
        elsewhere = {spelling: each.id for each in SETTINGS.values() for spelling in (_name(each), *each.aliases)}
        close = difflib.get_close_matches(name, list(elsewhere), n=1, cutoff=0.8)
        return elsewhere[close[0]] if close else None


def _aliases(name: str, field: FieldInfo) -> tuple[str, ...]:
    choices = field.validation_alias
    if not isinstance(choices, AliasChoices):
        return ()
    return tuple(choice for choice in choices.choices if isinstance(choice, str) and choice != name)


def _group(model: type[Block], identifier: str) -> Group:
    names: dict[str, Setting | Group] = {}
    for name, field in model.model_fields.items():
        full = f"{identifier}.{name}" if identifier else name
        aliases, kind = _aliases(name, field), field.annotation
        member: Setting | Group = Setting(full, field, aliases)
        if isinstance(kind, type) and issubclass(kind, Block):
            member = _group(kind, full)
        names |= dict.fromkeys((name, *aliases), member)
    return Group(identifier, model, names)


def item_settings(setting: Setting) -> list[Setting]:
    """Return the settings of one item, if the setting is a list of blocks. They cannot be set one by one."""
    model = _item_model(setting)
    fields = model.model_fields.items() if model else ()
    return [Setting(f"{setting.id}[].{name}", field, _aliases(name, field)) for name, field in fields]


def nearest_inside(setting: Setting, place: Sequence[str | int]) -> str | None:
    """Return the known name closest to the last part of a path inside a list of blocks, or None."""
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


COMMENT_WIDTH = 100

_HEAD = (
    "Every setting of Donna, with its default. Copy what you want to change into a file of your own; "
    "`donna config path` says where. A variable such as DONNA_RETRIEVAL__DEFAULT_K=12 overrides any file."
)

_HEADINGS = ("| Setting | Default | Values | What it does | File in the vault |", "|---|---|---|---|---|")

_KINDS = {int: "whole number", float: "number", bool: "true or false", tuple: "list", dict: "names with lists"}


def json_schema() -> dict[str, Any]:
    """Return the JSON Schema of a settings file, for completion and validation in editors."""
    schema = MemoryConfig.model_json_schema()
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", **schema}


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
    """Return the value of the setting with this dotted name."""
    return reduce(getattr, identifier.split("."), config)


def value_of(config: MemoryConfig, identifier: str) -> Any:
    """Return the plain value of the setting with this dotted name."""
    return plain(raw_value(config, identifier))


def default_file() -> str:
    """Return the text of `config/memory.yaml`: every setting with its default and, once, its description."""
    return "\n".join([*_comment(_HEAD, ""), *_DefaultFile().lines(ROOT, 0), ""])


def markdown_reference() -> str:
    """Return the reference page of all settings, as Markdown."""
    return "\n".join(map(_section, ROOT.members))


def _section(member: Group | Setting) -> str:
    """Return the section of a block, or of a setting outside all blocks; items of lists have a row per setting."""
    settings = list(_all_settings(member)) if isinstance(member, Group) else [member]
    rows = [_row(each) for setting in settings for each in (setting, *item_settings(setting))]
    return "\n".join([f"## {member.id}", "", _summary(member), "", *_HEADINGS, *rows, ""])


def _row(setting: Setting) -> str:
    names = ", ".join(f"`{name}`" for name in (setting.id, *setting.aliases))
    in_space = setting.from_space.value if setting.from_space else ""
    return f"| {names} | `{_flow(setting)}` | {_values(setting)} | {setting.field.description} | {in_space} |"


def _values(setting: Setting) -> str:
    """Describe the valid values of a setting."""
    annotation = setting.field.annotation
    if get_origin(annotation) is Literal:
        return " or ".join(f"`{choice}`" for choice in get_args(annotation))
    if isinstance(annotation, type) and issubclass(annotation, Block):
        return "settings"
    least = next((mark.ge for mark in setting.field.metadata if isinstance(mark, Ge)), None)
    most = next((mark.le for mark in setting.field.metadata if isinstance(mark, Le)), None)
    if least is None:
        return "path" if Path in (annotation, *get_args(annotation)) else _KINDS.get(setting.kind, "text")
    return f"{least} or more" if most is None else f"{least} to {most}"


def _summary(member: Group | Setting) -> str:
    summary = member.model.__doc__ if isinstance(member, Group) else member.field.description
    return (summary or "").strip()


def _flow(setting: Setting) -> str:
    if setting.field.is_required():
        return "must be given"
    value = plain(setting.field.get_default(call_default_factory=True))
    return yaml.safe_dump(value, default_flow_style=True, width=10_000).removesuffix("...\n").strip()


class _DefaultFile:
    """Write settings as YAML, and each comment only once."""

    def __init__(self) -> None:
        self._written: set[str] = set()

    def lines(self, group: Group, depth: int) -> Iterator[str]:
        indent = "  " * depth
        for member in group.members:
            yield from [] if depth else [""]
            yield from self._comment(_summary(member), indent)
            if isinstance(member, Group):
                yield f"{indent}{_name(member)}:"
                yield from self.lines(member, depth + 1)
            elif isinstance(value := plain(member.field.default), list) and value:
                yield f"{indent}{_name(member)}:"
                yield from (f"{indent}  {line}" for line in yaml.safe_dump(value).splitlines())
            else:
                yield f"{indent}{_name(member)}: {_flow(member)}"

    def _comment(self, text: str, indent: str) -> list[str]:
        if text in self._written:
            return []
        self._written.add(text)
        return _comment(text, indent)


def _name(member: Group | Setting) -> str:
    return member.id.rpartition(".")[2]


def _comment(text: str, indent: str) -> list[str]:
    start = f"{indent}# "
    return textwrap.wrap(text, COMMENT_WIDTH, initial_indent=start, subsequent_indent=start)
