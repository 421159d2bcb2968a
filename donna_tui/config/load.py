"""Merge the configuration from its layers, and record the origin of each value."""

from __future__ import annotations

import difflib
import os
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, get_args

from pydantic import ValidationError

from donna_tui.config.agent_settings import settings_of
from donna_tui.config.document import Layer, Origin, Place, invalid, shown
from donna_tui.config.files import FILE_NAME, read_file, read_space_file
from donna_tui.config.layers import LayerValue, Values, from_document, from_environment, from_overrides, with_space
from donna_tui.config.models import MemoryConfig
from donna_tui.config.schema import SETTINGS, nearest_inside, raw_value
from donna_tui.platform.paths import app_paths, resource
from donna_tui.types.errors import ConfigError

if TYPE_CHECKING:
    from pydantic_core import ErrorDetails

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
    """The effective configuration, and the origin of each setting by its dotted name."""

    config: MemoryConfig
    origins: dict[str, Origin]


def packaged_file() -> Path:
    """Return the path of the file with all defaults."""
    return resource("config", FILE_NAME)


def user_file(environ: Mapping[str, str] = os.environ) -> Path:
    """Return the path of the user's own settings file, which need not exist."""
    return app_paths(environ).config / FILE_NAME


def load_config(
    *, environ: Mapping[str, str] = os.environ, overrides: Mapping[str, object] | None = None
) -> LoadedConfig:
    """Load the effective settings: defaults, user file, file in the space, environment and `overrides`; later ones win.

    `overrides` maps dotted names to values, which may be text as typed on a command line. The space is the one at
    `vault.root`, if that is set. Raises ConfigError with file, line and name for any invalid setting.
    """
    base, on_top = _trusted_layers(environ, overrides or {})
    trusted = _checked(base | on_top)
    root = trusted.config.vault.root
    document = read_space_file(root) if root else None
    if document is None:
        return trusted
    return _checked(with_space(base, from_document(document)) | on_top)


def load_trusted(environ: Mapping[str, str] = os.environ) -> LoadedConfig:
    """Load the user's own settings, without those of any vault. Raises ConfigError."""
    base, on_top = _trusted_layers(environ, {})
    return _checked(base | on_top)


def load_agent(named: str, environ: Mapping[str, str] = os.environ) -> LoadedConfig | None:
    """Load the settings of an agent; its block is the origin of each deviation. Return None if there is no such agent.

    Raises ConfigError.
    """
    loaded = load_trusted(environ)
    agent = loaded.config.agents.agent(named)
    if agent is None:
        return None
    settings = settings_of(agent, loaded.config)
    different = (each for each in SETTINGS if raw_value(settings, each) != raw_value(loaded.config, each))
    return LoadedConfig(settings, loaded.origins | dict.fromkeys(different, loaded.origins["agents.list"]))


def _trusted_layers(environ: Mapping[str, str], overrides: Mapping[str, object]) -> tuple[Values, Values]:
    """Return the values of the trusted files, and the values that override every file."""
    base = _from_file(packaged_file(), "default") | _from_file(user_file(environ), "user")
    return base, from_environment(environ) | from_overrides(overrides)


def _from_file(file: Path, layer: Layer) -> Values:
    document = read_file(file, layer)
    return from_document(document) if document else {}


def _checked(values: Values) -> LoadedConfig:
    try:
        config = MemoryConfig.model_validate(_nested(values))
    except ValidationError as error:
        raise _explained(error.errors(include_url=False)[0], values) from error
    return LoadedConfig(config, {each: values[each].origin for each in SETTINGS if each in values})


def _nested(values: Values) -> dict[str, Any]:
    tree: dict[str, Any] = {}
    for identifier, given in values.items():
        *blocks, name = identifier.split(".")
        node = tree
        for block in blocks:
            node = node.setdefault(block, {})
        node[name] = given.value
    return tree


def _explained(error: ErrorDetails, values: Values) -> ConfigError:
    """Convert the first validation error to a ConfigError with its origin."""
    if error["type"] == "related":
        return _conflict(error, values)
    identifier, inside = _split(error["loc"])
    inner_names = [part for part in inside if isinstance(part, str) and part != "[key]"]
    subject = shown(".".join((identifier, *inner_names)))
    if error["type"] == "extra_forbidden" and (nearest := nearest_inside(SETTINGS[identifier], inside)):
        return invalid(values[identifier].place_of(inside), f"{subject} is not a setting; did you mean {nearest}?")
    return invalid(values[identifier].place_of(inside), f"{subject} {_problem(error)}")


def _split(location: Place) -> tuple[str, Place]:
    """Split a location into the setting that contains it, and the path within that setting."""
    for end in range(len(location), 0, -1):
        identifier = ".".join(str(part) for part in location[:end])
        if identifier in SETTINGS:
            return identifier, location[end:]
    raise KeyError(location)


def _conflict(error: ErrorDetails, values: Values) -> ConfigError:
    """Return the error for settings that exclude each other, at the origin that was set last."""
    parts: list[LayerValue] = [values[identifier] for identifier in error["ctx"]["ids"] if identifier in values]
    latest = max(parts, key=lambda given: _LAYERS.index(given.origin.layer))
    return invalid(latest.origin, error["msg"])


def _problem(error: ErrorDetails) -> str:
    if error["type"] == "secret":  # the given value must not be shown
        return error["msg"]
    given = shown(error["input"])
    if error["type"] == "literal_error":
        choices = re.findall(r"'([^']*)'", error["ctx"]["expected"])
        nearest = difflib.get_close_matches(given, choices, n=1)
        question = f"; did you mean {nearest[0]}?" if nearest else ""
        return f"must be {' or '.join(choices)}, not {given}{question}"
    words = _PLAIN.get(error["type"]) or re.sub(r"^\w+ should ", "must ", error["msg"].removeprefix("Value error, "))
    return f"{words}, not {given}"
