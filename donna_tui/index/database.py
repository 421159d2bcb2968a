"""Open the index: one SQLite file per generation, through APSW, with sqlite-vec if it can be loaded."""

from __future__ import annotations

import contextlib
import importlib.util
import json
import re
import threading
from collections import OrderedDict
from collections.abc import Callable, Collection, Hashable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import apsw

from donna_tui.text.words import holds_phrase
from donna_tui.types.errors import DatabaseError, Reason

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

BUSY_TIMEOUT_MS = 5_000
OLDEST_SAFE_SQLITE = 3_051_003
"""SQLite 3.51.3: older releases can corrupt a WAL database with several writing connections (sqlite.org)."""

MAX_CACHED = 16

CACHED_VALUES = 2_000
"""Number of values cached by id, 1.5 MB of vectors and 4 MB of passages, above which only those that are asked for are
kept.
"""

K = TypeVar("K", bound=Hashable)
T = TypeVar("T")


class RevisionCache:
    """An LRU cache of a few results for the connections to one index. Each is valid until a document changes."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._results: OrderedDict[Hashable, tuple[int, Any]] = OrderedDict()

    def get(self, key: Hashable, revision: int) -> Any:
        with self._lock:
            cached = self._results.get(key)
            if cached is None or cached[0] != revision:
                return None
            self._results.move_to_end(key)
            return cached[1]

    def put(self, key: Hashable, revision: int, value: Any) -> None:
        """Store a result under a key, and evict the least recently used one if there are too many."""
        with self._lock:
            self._results[key] = (revision, value)
            self._results.move_to_end(key)
            while len(self._results) > MAX_CACHED:
                self._results.popitem(last=False)


@dataclass(frozen=True, slots=True)
class DbFile:
    """Name a database file in errors, with hints for a damaged one, in its `{folder}`, and one of a newer version."""

    name: str
    if_damaged: str
    if_newer: str


INDEX = DbFile(
    "the index",
    "donna doctor --repair sets it aside and builds a new one from the vault",
    "update Donna, or run donna doctor --repair to build a new index",
)


@dataclass(frozen=True, slots=True)
class Database:
    """An open connection, for use by one thread at a time. `cache` is shared per index."""

    connection: apsw.Connection
    path: Path
    vec_available: bool
    cache: RevisionCache | None = None
    stored: DbFile = INDEX

    def rows(self, sql: str, parameters: Any = ()) -> list[tuple[Any, ...]]:
        with translated(self.path, self.stored):
            return list(self.connection.execute(sql, parameters))

    def column(self, sql: str, parameters: Any = ()) -> list[Any]:
        """Return the first column of all rows."""
        with translated(self.path, self.stored):
            return [row[0] for row in self.connection.execute(sql, parameters)]

    def value(self, sql: str, parameters: Any = ()) -> Any:
        """Return the first column of the first row, or None."""
        with translated(self.path, self.stored):
            return self.connection.execute(sql, parameters).get  # apsw: first value of the first row

    def revision(self) -> int:
        """Return a number that grows with every change of a document."""
        number: int = self.value("SELECT number FROM memory_revision")
        return number

    def cached_by_id(
        self, name: str, ids: Sequence[K], read: Callable[[Database, Sequence[K]], dict[K, T]]
    ) -> dict[K, T]:
        """Return what `read` returns for the ids that the cache lacks, and the cached values of the others; ids without
        a value are left out.

        While the user types, most candidates are those of the letter before.
        """
        if self.cache is None:
            return read(self, ids)
        revision = self.revision()
        known: dict[K, T] = self.cache.get(name, revision) or {}
        if missing := [each for each in ids if each not in known]:
            wanted = {each: known[each] for each in ids if each in known}
            known = {**(wanted if len(known) > CACHED_VALUES else known), **read(self, missing)}
            self.cache.put(name, revision, known)
        return {each: known[each] for each in ids if each in known}

    def run(self, sql: str, parameters: Any = ()) -> None:
        with translated(self.path, self.stored):
            self.connection.execute(sql, parameters).fetchall()

    def insert(self, table: str, row: DataclassInstance, *, otherwise: str = "ABORT") -> None:
        """Insert a dataclass, whose fields are columns of the table. `otherwise` says what to do with a known key."""
        marks = ", ".join("?" * len(fields(row)))
        sql = f"INSERT OR {otherwise} INTO {table} ({columns_of(row)}) VALUES ({marks})"  # noqa: S608
        self.run(sql, astuple(row))

    def run_many(self, sql: str, rows: list[tuple[Any, ...]]) -> None:
        with translated(self.path, self.stored):
            self.connection.executemany(sql, rows).fetchall()

    @contextlib.contextmanager
    def transaction(self) -> Iterator[None]:
        """Run an immediate transaction: it acquires the write lock at its start, where the busy timeout applies."""
        with translated(self.path, self.stored):
            self.connection.execute("BEGIN IMMEDIATE")
            try:
                yield
            except BaseException:
                self._roll_back()
                raise
            try:
                self.connection.execute("COMMIT")
            except apsw.Error:
                self._roll_back()
                raise

    @contextlib.contextmanager
    def snapshot(self) -> Iterator[None]:
        """Run a deferred transaction for reading: all statements see the database as it is at the first one."""
        with translated(self.path, self.stored):
            self.connection.execute("BEGIN")
            try:
                yield
            finally:
                self._roll_back()

    def _roll_back(self) -> None:
        if self.connection.in_transaction:
            self.connection.execute("ROLLBACK")

    def close(self) -> None:
        self.connection.close()


def columns_of(row: DataclassInstance | type[DataclassInstance]) -> str:
    """Return the names of the fields of a dataclass as a list of columns."""
    return ", ".join(field.name for field in fields(row))


class RunParallel(Protocol):
    """Start part of a search on another connection to the same index; the callable returned waits for the result."""

    def __call__(self, work: Callable[[Database], T], /) -> Callable[[], T]: ...


def open_database(
    path: Path, *, read_only: bool = False, cache: RevisionCache | None = None, stored: DbFile = INDEX
) -> Database:
    """Open a database file, created unless `read_only`. Raises DatabaseError: corrupt, locked, full, or I/O."""
    if apsw.SQLITE_VERSION_NUMBER < OLDEST_SAFE_SQLITE:
        raise DatabaseError(Reason.INTERNAL, "this SQLite is too old to be safe", hint="install apsw 3.51.3 or newer")
    with translated(path, stored):
        flags = apsw.SQLITE_OPEN_READONLY if read_only else apsw.SQLITE_OPEN_READWRITE | apsw.SQLITE_OPEN_CREATE
        connection = apsw.Connection(str(path), flags=flags)
        try:
            _configure(connection, read_only=read_only)
        except apsw.Error:
            connection.close()
            raise
        return Database(connection, path, _load_vec(connection), cache, stored)


def truncate_log(database: Database) -> bool:
    """Truncate the write-ahead log, so that no erased text is left in it. Return False if it stays in use."""
    try:
        ((busy, _, _),) = database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    except DatabaseError as error:
        if error.reason is not Reason.DATABASE_LOCKED:
            raise
        return False
    return not busy


FREE_SHARE = 0.1
"""Maximum share of free pages that a file keeps for later writes."""

PAGES_AT_ONCE = 2_000


def release_free_pages(database: Database) -> None:
    """Shrink the file by incremental vacuuming if many of its pages are free; other writers can run in between."""
    left = database.value("PRAGMA freelist_count")
    if left <= FREE_SHARE * database.value("PRAGMA page_count"):
        return
    before = left + 1
    while 0 < left < before:  # no effect on a file created without auto_vacuum
        database.run(f"PRAGMA incremental_vacuum({PAGES_AT_ONCE})")
        before, left = left, database.value("PRAGMA freelist_count")


def _configure(connection: apsw.Connection, *, read_only: bool) -> None:
    connection.set_busy_timeout(BUSY_TIMEOUT_MS)
    connection.create_scalar_function("holds_phrases", _holds_phrases, -1, deterministic=True)
    # SQLite's own `lower` supports ASCII only
    connection.create_scalar_function("lower_case", lambda *text: str(text[0]).lower(), 1, deterministic=True)
    connection.create_scalar_function("matches", _matches, 2, deterministic=True)
    connection.execute("PRAGMA foreign_keys = ON; PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384")
    if read_only:
        connection.execute("PRAGMA query_only = ON")
        return
    if not connection.pragma("page_count"):  # changing it later would need a VACUUM
        connection.execute("PRAGMA auto_vacuum = INCREMENTAL")
    # A pragma that returns a row blocks those after it until the row is fetched.
    connection.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA secure_delete = ON").fetchall()
    connection.execute("PRAGMA journal_size_limit = 16777216").fetchall()


def _holds_phrases(*values: Any) -> int:
    """Return whether each phrase of a JSON array is in one of the texts; one call for any number of phrases."""
    phrases, *texts = values
    return int(all(holds_phrase(phrase, *texts) for phrase in dict.fromkeys(json.loads(phrases))))


def _matches(*values: Any) -> int:
    """Return whether a regular expression matches somewhere in a text."""
    return int(re.search(*values) is not None)


def _load_vec(connection: apsw.Connection) -> bool:
    """Load sqlite-vec. If it cannot be loaded, vector searches use `ExactScan` instead."""
    try:
        connection.enable_load_extension(True)
        connection.load_extension(_vec_extension())
    except (apsw.Error, OSError, AttributeError):
        return False
    finally:
        with contextlib.suppress(apsw.Error, AttributeError):
            connection.enable_load_extension(False)
    return True


def _vec_extension() -> str:
    """Locate the library without sqlite-vec's package, which imports NumPy. Raises OSError if it is missing."""
    package = importlib.util.find_spec("sqlite_vec")
    if package is None or package.origin is None:
        raise OSError("sqlite-vec is not installed")
    return str(Path(package.origin).with_name("vec0"))


@contextlib.contextmanager
def translated(path: Path, stored: DbFile) -> Iterator[None]:
    """Convert SQLite's errors to DatabaseError."""
    file = f"{stored.name} {path.name}"
    try:
        yield
    except (apsw.CorruptError, apsw.NotADBError, apsw.FormatError) as error:
        raise damaged(path, stored) from error
    except apsw.SQLError as error:
        if not str(error).startswith("no such "):
            raise
        raise damaged(path, stored, f"incomplete ({error})") from error
    except (apsw.BusyError, apsw.LockedError) as error:
        message, hint = f"{file} is locked by another program", "try again in a moment"
        raise DatabaseError(Reason.DATABASE_LOCKED, message, hint=hint) from error
    except apsw.FullError as error:
        message, hint = f"the disk is full: {stored.name} cannot grow", "free some space; nothing is lost"
        raise DatabaseError(Reason.DISK_FULL, message, hint=hint) from error
    except (apsw.IOError, apsw.CantOpenError, apsw.ReadOnlyError, apsw.PermissionsError) as error:
        message = f"{file} cannot be opened, read or written"
        raise DatabaseError(Reason.IO_ERROR, message, hint=f"see {path.parent}") from error


def damaged(path: Path, stored: DbFile, how: str = "damaged") -> DatabaseError:
    message, hint = f"{stored.name} {path.name} is {how}", stored.if_damaged.format(folder=path.parent)
    return DatabaseError(Reason.DATABASE_CORRUPT, message, hint=hint)


def check_integrity(database: Database) -> None:
    """Run SQLite's quick check. Raises DatabaseError with `database_corrupt`."""
    if database.value("PRAGMA quick_check(1)") != "ok":
        raise damaged(database.path, database.stored)


def apply_migrations(
    database: Database, migrations: Sequence[tuple[str, str]], before: Callable[[], object] = lambda: None
) -> None:
    """Apply the named migrations that a database lacks, in one transaction; call `before` first if it has others.

    Raises DatabaseError, with `database_newer` if it has migrations that are not known.
    """
    database.run("CREATE TABLE IF NOT EXISTS migrations (name TEXT PRIMARY KEY) WITHOUT ROWID")
    known = [name for name, _ in migrations]
    applied = _applied(database, known)
    if applied and not applied.issuperset(known):
        before()
    with database.transaction():  # even if none is lacking: an index that is locked can only be read
        applied = _applied(database, known)  # another process may have been faster
        for name, sql in migrations:
            if name not in applied:
                database.run(sql)
                database.run("INSERT INTO migrations VALUES (?)", (name,))


def _applied(database: Database, known: Collection[str]) -> set[str]:
    applied = set(database.column("SELECT name FROM migrations"))
    if unknown := applied.difference(known):
        message = f"{database.stored.name} was written by a newer Donna ({max(unknown)})"
        raise DatabaseError(Reason.DATABASE_NEWER, message, hint=database.stored.if_newer)
    return applied
