"""What of a vault an agent may see. A note that it may not see is in every answer what a missing one is."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from donna_tui.errors import Reason, VaultReadError
from donna_tui.index.database import Database
from donna_tui.index.files import FileState, file_states
from donna_tui.records import dataclass
from donna_tui.safety.classify import Sensitivity
from donna_tui.vault.client import Entry, NoteStat, VaultClient, VaultNote

_OF_THE_VAULT = frozenset({Reason.ROOT_MISSING, Reason.IO_ERROR})
"""Reasons that say nothing about a single note."""

Known = Mapping[str, FileState]
"""The notes in which the index found nothing private, as they were then."""


@dataclass(frozen=True, slots=True)
class Access:
    """What this client was granted: `sensitive`, the private notes as well; `executable`, to write what plugins run.

    Every method blocks.
    """

    client: VaultClient
    sensitive: bool = False
    executable: bool = False

    def read(self, path: str) -> VaultNote:
        """A note that this client may see, as it is on disk now. Raises VaultReadError.

        What is wrong with the name alone is said. Whatever else keeps a note from being read says that there is
        something, so it is told like a note that is not there.
        """
        try:
            note = self.client.read(path)
        except VaultReadError as error:
            if self.sensitive or error.reason in _OF_THE_VAULT or not self.client.is_note(path):
                raise
            raise missing() from None
        if not self.may_see(note.sensitivity):
            raise missing()
        return note

    def may_see(self, sensitivity: Sensitivity) -> bool:
        """Whether this client may see a note of that kind."""
        return self.sensitive or sensitivity is Sensitivity.PUBLIC

    def sees(self, path: str) -> bool:
        """Whether there is a note of that path that this client may see."""
        try:
            self.read(path)
        except VaultReadError:
            return False
        return True

    def notes(self, known: Known, folder: str = "") -> Iterator[NoteStat]:
        """The notes below a folder that this client may see, in no order. Raises VaultReadError.

        A note that has not changed since the index found nothing private in it is not read again.
        """
        for entry in self.client.scan(folder):
            stat = self._seen(entry, known)
            if stat:
                yield stat

    def _seen(self, entry: Entry, known: Known) -> NoteStat | None:
        stat = entry.stat
        if entry.reason is not None or stat is None:
            return None
        state = known.get(stat.path)
        unchanged = state is not None and state.same_stat(stat.size, stat.mtime_ns, stat.ctime_ns, stat.inode)
        return stat if self.sensitive or unchanged or self.sees(stat.path) else None


def public_notes(database: Database) -> Known:
    """The notes in which the index found nothing private."""
    sql = "SELECT source_id FROM memory_documents WHERE source_type = 'vault' AND NOT sensitive AND deleted_at IS NULL"
    states = file_states(database)
    return {path: states[path] for (path,) in database.rows(sql) if path in states}


def missing() -> VaultReadError:
    """There is no such note, or it is none of this client's business."""
    return VaultReadError(Reason.MISSING, "there is no such note", hint="vault_list says which there are")
