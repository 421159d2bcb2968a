"""Define the backend of the screens, which is the engine: they call its services directly."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

if TYPE_CHECKING:  # deferred: it is imported after the first frame
    from donna_tui.engine.engine import Engine

Backend: TypeAlias = "Engine"


@dataclass(frozen=True, slots=True)
class KnownVault:
    """A vault to choose. `source` is the place where Donna found it; `space` is its name, if it has one."""

    name: str
    root: Path
    source: str
    space: str = ""
