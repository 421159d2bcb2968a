"""Write the reference page of the settings, and the file with all defaults, from the models of the settings."""

from __future__ import annotations

import textwrap
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args, get_origin

import yaml
from annotated_types import Ge, Le

from donna_tui.config.blocks import Block
from donna_tui.config.schema import ROOT, Group, Setting, aliases_of, all_settings, item_model, plain

COMMENT_WIDTH = 100

_HEAD = (
    "Every setting of Donna, with its default. Copy what you want to change into a file of your own; "
    "`donna config path` says where. A variable such as DONNA_RETRIEVAL__DEFAULT_K=12 overrides any file."
)

_HEADINGS = ("| Setting | Default | Values | What it does | File in the vault |", "|---|---|---|---|---|")

_KINDS = {int: "whole number", float: "number", bool: "true or false", tuple: "list", dict: "names with lists"}


def default_file() -> str:
    """Return the text of `config/memory.yaml`: every setting with its default and, once, its description."""
    return "\n".join([*_comment(_HEAD, ""), *_settings_lines(ROOT, 0, set()), ""])


def markdown_reference() -> str:
    """Return the reference page of all settings, as Markdown."""
    return "\n".join(map(_section, ROOT.members))


def _section(member: Group | Setting) -> str:
    """Return the section of a block, or of a setting outside all blocks; items of lists have a row per setting."""
    settings = list(all_settings(member)) if isinstance(member, Group) else [member]
    rows = [_row(each) for setting in settings for each in (setting, *_item_settings(setting))]
    return "\n".join([f"## {member.id}", "", _summary(member), "", *_HEADINGS, *rows, ""])


def _item_settings(setting: Setting) -> list[Setting]:
    model = item_model(setting)
    fields = model.model_fields.items() if model else ()
    return [Setting(f"{setting.id}[].{name}", field, aliases_of(name, field)) for name, field in fields]


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
        return "required"
    value = plain(setting.field.get_default(call_default_factory=True))
    return yaml.safe_dump(value, default_flow_style=True, width=10_000).removesuffix("...\n").strip()


def _settings_lines(group: Group, depth: int, described: set[str]) -> Iterator[str]:
    """Yield a block as YAML; a description that is in `described` is not repeated."""
    indent = "  " * depth
    for member in group.members:
        yield from [] if depth else [""]
        name, summary = f"{indent}{member.id.rpartition('.')[2]}:", _summary(member)
        if summary not in described:
            described.add(summary)
            yield from _comment(summary, indent)
        if isinstance(member, Group):
            yield name
            yield from _settings_lines(member, depth + 1, described)
        elif isinstance(value := plain(member.field.default), list) and value:
            yield name
            yield from (f"{indent}  {line}" for line in yaml.safe_dump(value).splitlines())
        else:
            yield f"{name} {_flow(member)}"


def _comment(text: str, indent: str) -> list[str]:
    start = f"{indent}# "
    return textwrap.wrap(text, COMMENT_WIDTH, initial_indent=start, subsequent_indent=start)
