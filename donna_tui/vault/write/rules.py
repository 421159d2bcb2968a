"""Check every change before it is written: this module alone decides what Donna may write."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from donna_tui.safety.classify import Sensitivity
from donna_tui.types.errors import DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.vault.client import decode
from donna_tui.vault.include import GlobSet
from donna_tui.vault.note.read import parse_frontmatter
from donna_tui.vault.write.changes import Change
from donna_tui.vault.write.file_names import check_target


@dataclass(frozen=True, slots=True, kw_only=True)
class WriteRules:
    """The limits of the configuration. Sizes are in bytes."""

    allowlist: Sequence[str]
    ignore: GlobSet
    max_note_bytes: int
    sensitive_key: str

    def check_path(self, path: str) -> None:
        """Raise VaultWriteError for a path that Donna does not write to."""
        check_target(path, allowlist=self.allowlist, ignore=self.ignore)

    def check_size(self, path: str, data: bytes) -> None:
        """Raise VaultWriteError (`too_large`) for more bytes than a note may have."""
        if len(data) > self.max_note_bytes:
            message = f"the note would have {len(data):,} bytes; the limit is {self.max_note_bytes:,}"
            hint = "split the note, or raise safety.max_note_bytes"
            raise VaultWriteError(Reason.TOO_LARGE, message, hint=hint, path=path)

    def check(self, change: Change) -> None:
        """Raise VaultWriteError if the path is not allowed, or the note is sensitive before or after.

        A conflict copy may be deleted and restored; no other plan ever names one.
        """
        creates_or_deletes = change.before is None or change.after is None
        check_target(change.path, allowlist=self.allowlist, ignore=self.ignore, copies=creates_or_deletes)
        for data in change.sides:
            if data is not None and self.sensitivity(change.path, data) is Sensitivity.DONNA_SENSITIVE:
                message = f"this note is marked {self.sensitive_key}: Donna never changes it"
                raise VaultWriteError(Reason.SENSITIVE, message, hint="change it yourself", path=change.path)

    def sensitivity(self, path: str, data: bytes) -> Sensitivity:
        """Return the sensitivity of a note with these bytes. Raises VaultWriteError (`encoding`) if not text."""
        try:
            text, _ = decode(data)
        except VaultReadError as error:
            raise VaultWriteError(Reason.ENCODING, "it is not a text file", path=path) from error
        return parse_frontmatter(text).sensitivity(text, self.sensitive_key)

    def objection(self, change: Change) -> DonnaError | None:
        """Return the reason why Donna may not make this change, or None."""
        try:
            self.check(change)
        except DonnaError as error:
            return error
        return None
