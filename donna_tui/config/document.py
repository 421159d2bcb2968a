"""Define a parsed settings file, the origin of each of its values, and the errors about them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from donna_tui.types.errors import ConfigError, Reason

Layer = Literal["default", "user", "space", "environment", "command line"]
"""The layers of the configuration; later ones take precedence."""

SHOWN_CHARS = 60
_YAML_WORDS = {"None": "nothing", "True": "true", "False": "false"}


@dataclass(frozen=True, slots=True)
class Origin:
    """The layer that set a value: `source` is a file, a variable or the name given on the command line."""

    layer: Layer
    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}, line {self.line}"


def invalid(origin: Origin, problem: str, *, hint: str | None = None) -> ConfigError:
    return ConfigError(Reason.CONFIG_INVALID, f"{origin}: {problem}", hint=hint)


def shown(value: object) -> str:
    """Format a value or name for an error message: short, on one line, without control characters."""
    text = value if isinstance(value, str) else _YAML_WORDS.get(repr(value)) or repr(value)
    visible = "".join(char if char.isprintable() else "�" for char in text[: SHOWN_CHARS + 1])
    return visible if len(visible) <= SHOWN_CHARS else f"{visible[: SHOWN_CHARS - 1]}…"


KeyPath = tuple[str | int, ...]
"""Path to a value: keys and list indices."""


@dataclass(frozen=True, slots=True)
class SettingsFile:
    """A parsed settings file. `lines` maps each key and list item, by its path, to its 1-based line."""

    origin: Origin
    data: Mapping[str, object]
    lines: Mapping[KeyPath, int]

    def at(self, path: KeyPath) -> Origin:
        """Return the origin of a key or item, or of the nearest enclosing one that has a line."""
        while path and path not in self.lines:
            path = path[:-1]
        return Origin(self.origin.layer, self.origin.source, self.lines.get(path))
