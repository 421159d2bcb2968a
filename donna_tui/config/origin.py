"""Where a value of the configuration came from, and how a wrong one is reported."""

from __future__ import annotations

from typing import Literal

from donna_tui.errors import ConfigError, Reason
from donna_tui.records import dataclass

Layer = Literal["default", "user", "space", "environment", "command line"]
"""Where values come from; later ones win."""

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
    """The error for something that `origin` says and that cannot be used."""
    return ConfigError(Reason.CONFIG_INVALID, f"{origin}: {problem}", hint=hint)


def shown(value: object) -> str:
    """A value or name as an error message may show it: short, on one line, without control characters."""
    text = value if isinstance(value, str) else _YAML_WORDS.get(repr(value)) or repr(value)
    visible = "".join(char if char.isprintable() else "�" for char in text[: SHOWN_CHARS + 1])
    return visible if len(visible) <= SHOWN_CHARS else f"{visible[: SHOWN_CHARS - 1]}…"
