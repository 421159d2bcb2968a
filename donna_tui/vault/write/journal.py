"""Write-ahead journal: record the intent of a write durably before the first note changes."""

from __future__ import annotations

import json
import re
import secrets
from dataclasses import asdict, dataclass
from pathlib import Path

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.git.repository import RefState
from donna_tui.vault.write.changes import BlobChange, Operation, OperationKind
from donna_tui.vault.write.durable import remove_durably, write_durably
from donna_tui.vault.write.files import MARK

_HOME = re.compile(r"[0-9a-f]{16}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """The intent of a write: its operation (with the prepared commit), the tip it is based on, and its start time."""

    operation: Operation
    ref: str
    parent: str | None
    record: str
    previous_record: str | None
    since: float

    @property
    def tip(self) -> RefState:
        return RefState(self.ref, self.parent, self.previous_record)

    def temporary_name(self, number: int) -> str:
        """Return the name, next to the note, of the file with the bytes of change `number`."""
        return f"{MARK}{self.operation.id}-{number}"


class Journal:
    """Store at most one intent, in Donna's own folder for the space."""

    def __init__(self, folder: Path) -> None:
        self._path = folder / "intent.json"
        self._home = folder / "home"

    def home(self) -> str:
        """Return the random name of this state folder, created at its first write. Raises VaultWriteError.

        Installations that write to the same vault keep their objects under different names, so that neither drops the
        other's.
        """
        try:
            name = self._home.read_text(encoding="ascii").strip()
        except (FileNotFoundError, ValueError):
            name = ""
        except OSError as error:
            raise _unreadable(error, self._home) from error
        if not _HOME.fullmatch(name):
            name = secrets.token_hex(8)
            write_durably(self._home, name)
        return name

    def write(self, intent: Intent) -> None:
        """Store an intent durably. Raises VaultWriteError."""
        write_durably(self._path, json.dumps(asdict(intent)))

    def read(self) -> Intent | None:
        """Return the intent that was not cleared; None if there is none or it is incomplete. Raises VaultWriteError."""
        try:
            raw = json.loads(self._path.read_text(encoding="utf-8"))
            return _intent(raw)
        except (FileNotFoundError, ValueError, KeyError, TypeError):
            return None
        except OSError as error:
            raise _unreadable(error, self._path) from error

    def clear(self) -> None:
        """Remove the intent: the write is complete or abandoned."""
        remove_durably(self._path)


def _unreadable(error: OSError, path: Path) -> VaultWriteError:
    message = f"Donna cannot read the journal of an interrupted write: {(error.strerror or 'unknown error').lower()}"
    return VaultWriteError(Reason.IO_ERROR, message, hint=f"see {path}")


def _intent(raw: dict[str, object]) -> Intent:
    operation = dict(raw.pop("operation"))  # type: ignore[call-overload]  # checked by the constructors below
    operation["kind"] = OperationKind(operation["kind"])
    operation["changes"] = tuple(BlobChange(**change) for change in operation["changes"])
    operation |= {name: tuple(operation.get(name, ())) for name in ("undoes", "redoes", "made")}
    return Intent(operation=Operation(**operation), **raw)  # type: ignore[arg-type]
