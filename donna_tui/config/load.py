"""Read the configuration from its layers, merge them, and record the origin of each value."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, get_args

from pydantic import ValidationError
from pydantic_core import ErrorDetails

from donna_tui.config.agent_settings import settings_of
from donna_tui.config.blocks import FromSpace
from donna_tui.config.document import KeyPath, Layer, Origin, SettingsFile, invalid, shown
from donna_tui.config.files import FILE_NAME, read_file, read_space_file
from donna_tui.config.models import MemoryConfig
from donna_tui.config.schema import ROOT, SETTINGS, Group, Setting, nearest_inside, raw_value, value_of
from donna_tui.platform.paths import app_paths, resource
from donna_tui.types.errors import ConfigError

_LAYERS: tuple[Layer, ...] = get_args(Layer)

_PLAIN = {
    "bool_type": "must be true or false",
    "dict_type": "must be names, each with a list",
    "float_type": "must be a number",
    "extra_forbidden": "is not a setting",
    "int_type": "must be a whole number",
    "missing": "must be given",
    "model_type": "must be a block of settings",
    "path_type": "must be a path",
    "string_type": "must be text",
    "tuple_type": "must be a list",
}
"""Plain wording for pydantic's most common errors."""


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    """The effective configuration, and by its dotted name the origin of each setting that is set anywhere."""

    config: MemoryConfig
    origins: dict[str, Origin]


def packaged_file() -> Path:
    """Return the file that lists every setting with its default, for users to read: the defaults are in the models."""
    return resource("config", FILE_NAME)


def default_origin() -> Origin:
    return Origin("default", str(packaged_file()))


def user_file(environ: Mapping[str, str] = os.environ) -> Path:
    return app_paths(environ).config / FILE_NAME


def load_config(*, environ: Mapping[str, str] = os.environ, root: Path | None = None) -> LoadedConfig:
    """Load the effective settings: defaults, user file, file in the space and environment; later ones win.

    The space is the one at `root`, an absolute path given on the command line, or else at `vault.root`, if that is set.
    Raises ConfigError with file, line and name for any invalid setting.
    """
    base, on_top = _trusted_layers(environ)
    if root:
        base.pop("vault.root", None)
        on_top.pop("vault.root", None)
    loaded = _checked(base | on_top)
    space = root or loaded.config.vault.root
    if document := read_space_file(space) if space else None:
        loaded = _checked(_with_space(base, _from_document(document)) | on_top)
    return _at(root, loaded) if root else loaded


def _at(root: Path, loaded: LoadedConfig) -> LoadedConfig:
    vault = loaded.config.vault.model_copy(update={"root": root})
    origins = {"vault.root": Origin("command line", "the command line"), **loaded.origins}
    return LoadedConfig(loaded.config.model_copy(update={"vault": vault}), origins)


def load_trusted(environ: Mapping[str, str] = os.environ) -> LoadedConfig:
    """Load the user's own settings, without those of any vault. Raises ConfigError."""
    base, on_top = _trusted_layers(environ)
    return _checked(base | on_top)


def load_agent(named: str, environ: Mapping[str, str] = os.environ) -> LoadedConfig | None:
    """Load the settings of an agent, whose block is the origin of each override, or None. Raises ConfigError."""
    loaded = load_trusted(environ)
    agent = loaded.config.agents.agent(named)
    if agent is None:
        return None
    settings = settings_of(agent, loaded.config)
    different = (setting for setting in SETTINGS if raw_value(settings, setting) != raw_value(loaded.config, setting))
    return LoadedConfig(settings, loaded.origins | dict.fromkeys(different, loaded.origins["agents.list"]))


def _default_config() -> MemoryConfig:
    return MemoryConfig.model_construct(**MemoryConfig.default_blocks())


def _default(identifier: str) -> LayerValue:
    return LayerValue(value_of(_default_config(), identifier), default_origin())


def _trusted_layers(environ: Mapping[str, str]) -> tuple[Values, Values]:
    """Return the values of the user's file, and the values that override every file."""
    document = read_file(user_file(environ), "user")
    return _from_document(document) if document else {}, _from_environment(environ)


def _checked(values: Values) -> LoadedConfig:
    try:
        config = MemoryConfig.model_validate(_nested(values)) if values else _default_config()
    except ValidationError as error:
        raise _explained(error.errors(include_url=False)[0], values) from error
    return LoadedConfig(config, {setting: values[setting].origin for setting in SETTINGS if setting in values})


def _nested(values: Values) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for identifier, layer_value in values.items():
        *blocks, name = identifier.split(".")
        node = tree
        for block in blocks:
            node = node.setdefault(block, {})
        node[name] = layer_value.value
    return tree


def _explained(error: ErrorDetails, values: Values) -> ConfigError:
    if error["type"] == "related":  # at the setting that was set last, of those that exclude each other
        parts = [values[identifier] for identifier in error["ctx"]["ids"] if identifier in values]
        latest = max(parts, key=lambda given: _LAYERS.index(given.origin.layer))
        return invalid(latest.origin, error["msg"])
    identifier, inside = _split(error["loc"])
    inner_names = [part for part in inside if isinstance(part, str) and part != "[key]"]
    subject = shown(".".join((identifier, *inner_names)))
    if error["type"] == "extra_forbidden" and (nearest := nearest_inside(SETTINGS[identifier], inside)):
        return invalid(values[identifier].place_of(inside), f"{subject} is not a setting; did you mean {nearest}?")
    return invalid(values[identifier].place_of(inside), f"{subject} {_problem(error)}")


def _split(location: KeyPath) -> tuple[str, KeyPath]:
    """Split a location into the setting that contains it, and the path within that setting."""
    for end in range(len(location), 0, -1):
        identifier = ".".join(str(part) for part in location[:end])
        if identifier in SETTINGS:
            return identifier, location[end:]
    raise KeyError(location)


def _problem(error: ErrorDetails) -> str:
    if error["type"] == "secret":  # the given value must not be shown
        return error["msg"]
    value = shown(error["input"])
    if error["type"] == "literal_error":
        choices = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        nearest = difflib.get_close_matches(value, choices, n=1)
        question = f"; did you mean {nearest[0]}?" if nearest else ""
        return f"must be {' or '.join(choices)}, not {value}{question}"
    words = _PLAIN.get(error["type"]) or re.sub(r"^\w+ should ", "must ", error["msg"].removeprefix("Value error, "))
    return f"{words}, not {value}"


PREFIX = "DONNA_"

_FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, slots=True)
class LayerValue:
    """A value from a layer, not validated yet.

    `path` is its place in a file, if it is from one; `below` is the list to which this one was appended.
    """

    value: object
    origin: Origin
    document: SettingsFile | None = None
    path: KeyPath = ()
    below: LayerValue | None = None

    def place_of(self, inside: KeyPath) -> Origin:
        """Return the origin of a part of the value, such as one item of a list."""
        if self.below is not None and isinstance(self.below.value, list) and inside and isinstance(inside[0], int):
            index = inside[0] - len(self.below.value)
            if index < 0:
                return self.below.place_of(inside)
            inside = (index, *inside[1:])
        return self.document.at((*self.path, *inside)) if self.document else self.origin


Values = dict[str, LayerValue]
"""Values by the id of their setting."""


def _from_document(document: SettingsFile) -> Values:
    """Return the values set by a file. Raises ConfigError for names that do not exist or are set twice."""
    values: Values = {}
    for identifier, layer_value in _leaves(document, ROOT, document.data, ()):
        _add(values, identifier, layer_value)
    return values


def _from_environment(environ: Mapping[str, str]) -> Values:
    """Return the values set by variables like `DONNA_RETRIEVAL__DEFAULT_K`. Raises ConfigError.

    A variable is a setting if it contains two underscores, or names a setting outside all blocks. `DONNA_HOME` is
    neither.
    """
    values: Values = {}
    for variable, text in environ.items():
        if not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX)
        origin = Origin("environment", variable)
        if "__" in name or isinstance(ROOT.names.get(name.lower()), Setting):
            _add(values, *_single(name.lower().split("__"), text, origin))
            continue
        for block in ROOT.names:
            if name.lower().startswith(f"{block}_"):
                suggestion = f"{PREFIX}{name[: len(block)]}__{name[len(block) + 1 :]}"
                raise invalid(origin, f"not a setting; did you mean {suggestion}, with two underscores?")
    return values


def _with_space(base: Values, space: Values) -> Values:
    """Apply the file in the space to `base`. Raises ConfigError for a change that an untrusted vault may not make."""
    merged = dict(base)
    for identifier, layer_value in space.items():
        match SETTINGS[identifier].from_space:
            case None:
                hint = "Set it in your own file; `donna config path` names it."
                raise invalid(layer_value.origin, f"a file in the vault may not set {identifier}", hint=hint)
            case FromSpace.REPLACE:
                merged[identifier] = layer_value
            case FromSpace.APPEND:
                below = base.get(identifier) or _default(identifier)
                items = [*_items(below, identifier), *_items(layer_value, identifier)]
                merged[identifier] = replace(layer_value, value=items, below=below)
            case FromSpace.NARROW:
                allowed = _items(base.get(identifier) or _default(identifier), identifier)
                for index, item in enumerate(_items(layer_value, identifier)):
                    if item not in allowed:
                        problem = f"a file in the vault may only shorten {identifier}, and {shown(item)} is not in it"
                        raise invalid(layer_value.place_of((index,)), problem)
                merged[identifier] = layer_value
    return merged


def _add(values: Values, identifier: str, layer_value: LayerValue) -> None:
    if identifier in values:
        raise invalid(layer_value.origin, f"{identifier} is set twice, here and in {values[identifier].origin}")
    values[identifier] = layer_value


def _items(layer_value: LayerValue, identifier: str) -> list[object]:
    if not isinstance(layer_value.value, list):
        raise invalid(layer_value.origin, f"{identifier} must be a list, not {shown(layer_value.value)}")
    return layer_value.value


def _leaves(
    document: SettingsFile, group: Group, data: Mapping[str, object], around: KeyPath
) -> Iterator[tuple[str, LayerValue]]:
    for name, value in data.items():
        path = (*around, name)
        origin = document.at(path)
        member = _member(group, name, origin)
        if isinstance(member, Setting):
            yield member.id, LayerValue(value, origin, document, path)
        elif isinstance(value, bool) and member.is_switch:
            yield f"{member.id}.enabled", LayerValue(value, origin, document, path)
        elif isinstance(value, dict):
            yield from _leaves(document, member, value, path)
        elif value is not None:
            raise invalid(origin, f"{member.id} is a block of settings, not {shown(value)}")


def _single(path: Sequence[str], text: str, origin: Origin) -> tuple[str, LayerValue]:
    member: Setting | Group = ROOT
    for name in path:
        if isinstance(member, Setting):
            raise invalid(origin, f"{member.id} is a setting, there is nothing below it")
        member = _member(member, name, origin)
    if isinstance(member, Group):
        if not member.is_switch:
            raise invalid(origin, f"{member.id} is a block of settings; name one of them")
        member = SETTINGS[f"{member.id}.enabled"]
    return member.id, LayerValue(_converted(member.kind, text, origin), origin)


def _converted(kind: Any, text: str, origin: Origin) -> object:
    """Convert text to the type of a setting; text that does not fit is kept, and fails validation."""
    if kind is tuple and not text.lstrip().startswith("["):
        return [item.strip() for item in text.split(",") if item.strip()]
    if kind in (tuple, dict):
        from donna_tui.config.yaml_text import Builder

        return Builder(text, origin).build()
    if kind is bool:
        return _FLAGS.get(text.lower(), text)
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def _member(group: Group, name: str, origin: Origin) -> Setting | Group:
    if member := group.names.get(name):
        return member
    full = shown(f"{group.id}.{name}" if group.id else name)
    nearest = group.nearest(name)
    question = f"; did you mean {nearest}?" if nearest else ""
    names = ", ".join(member.id.rpartition(".")[2] for member in group.members)
    raise invalid(origin, f"{full} is not a setting{question}", hint=f"Known here: {names}.")
