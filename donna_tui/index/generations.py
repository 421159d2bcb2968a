"""Track which index file of a space is in use. A new chunker or model builds the next generation before the two swap.

A space's folder contains `current` (the number of the file in use) and `index-N.db` files. The `meta` table of an index
records the recipe it was built with; `Recipe` is the one it should be built with now.
"""

from __future__ import annotations

import contextlib
import itertools
import re
import time
from dataclasses import dataclass
from pathlib import Path

from donna_tui.index.database import Database, open_database
from donna_tui.index.migrations import get_meta, migrate, set_meta
from donna_tui.platform.paths import is_full
from donna_tui.types.errors import DatabaseError, Reason

_FILES = ("", "-wal", "-shm")
"""The suffixes of an index file and of its journal."""


@dataclass(frozen=True, slots=True)
class Recipe:
    """The parameters of chunking and embedding. `embedding` is empty while no model is known."""

    chunking: str
    embedding: str = ""

    def fits(self, built: Recipe) -> bool:
        """Return whether an index built so can serve: the same chunks, and vectors of this model or none yet."""
        same_vectors = not self.embedding or not built.embedding or self.embedding == built.embedding
        return self.chunking == built.chunking and same_vectors


def index_path(folder: Path, generation: int) -> Path:
    return folder / f"index-{generation}.db"


def current_generation(folder: Path) -> int | None:
    try:
        return int((folder / "current").read_text(encoding="ascii"))
    except (OSError, ValueError):
        return min(_generations(folder), default=None)


def make_current(folder: Path, generation: int) -> None:
    """Switch searches to a generation atomically. Raises DatabaseError."""
    pending = folder / "current.new"
    try:
        pending.write_text(str(generation), encoding="ascii")
        pending.replace(folder / "current")
    except OSError as error:
        reason = Reason.DISK_FULL if is_full(error) else Reason.IO_ERROR
        message = f"the folder of the index is not writable ({error.strerror})"
        raise DatabaseError(reason, message, hint="free some space; nothing is lost") from error


def delete_older(folder: Path, generation: int) -> None:
    for older in (number for number in _generations(folder) if number < generation):
        path = index_path(folder, older)
        for suffix in _FILES:
            path.with_name(path.name + suffix).unlink(missing_ok=True)


def _generations(folder: Path) -> list[int]:
    """Return the numbers of the index files in a folder; damaged files that were renamed do not count."""
    names = (re.fullmatch(r"index-(\d+)\.db", path.name) for path in folder.glob("index-*.db"))
    return [int(name[1]) for name in names if name]


def open_generation(folder: Path, generation: int, recipe: Recipe) -> Database:
    """Open an index file for writing; a new one is stamped with the recipe. Raises DatabaseError."""
    database = open_database(index_path(folder, generation))
    try:
        migrate(database)
        if get_meta(database, "chunking") is None:
            set_meta(database, "chunking", recipe.chunking)
    except DatabaseError:
        database.close()
        raise
    return database


def recipe_of(database: Database) -> Recipe:
    return Recipe(get_meta(database, "chunking") or "", get_meta(database, "embedding_version") or "")


def set_aside(path: Path) -> Path:
    """Rename a damaged index with its journal, and return its new path."""
    stamp = time.strftime("%Y%m%d-%H%M%S")
    names = itertools.chain([stamp], (f"{stamp}-{number}" for number in itertools.count(2)))
    places = (path.with_name(f"{path.stem}.damaged-{name}.db") for name in names)
    aside = next(place for place in places if not place.exists())
    for suffix in _FILES:
        source = path.with_name(path.name + suffix)
        with contextlib.suppress(FileNotFoundError):
            source.replace(aside.with_name(aside.name + suffix))
    return aside
