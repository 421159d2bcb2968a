"""Plan a write, a deletion or a move: the exact changes, without making them."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.links.rewrite import LinksBroken, break_links
from donna_tui.vault.note.merge import merge_frontmatter
from donna_tui.vault.write.changes import Change, OperationKind, Plan, Seen, in_line_ends_of
from donna_tui.vault.write.files import changed_meanwhile
from donna_tui.vault.write.plan_context import PlanContext, note_missing
from donna_tui.vault.write.selection import checked_change, plan_move


class Planner:
    """Plan changes of one vault. Every method reads, blocks, and raises VaultWriteError with the reason for a refusal.

    `seen` checks whether the current bytes are those that the caller has seen. `recover` is called first to complete an
    interrupted write, as a plan based on half-written notes would be refused when it is applied.
    """

    def __init__(self, vault_state: PlanContext, recover: Callable[[], None]) -> None:
        self._vault_state = vault_state
        self._recover = recover
        self._rules = vault_state.rules

    def write(self, path: str, content: str, *, seen: Seen, replace: bool = False) -> Plan:
        """Plan to write `content` to a note.

        The frontmatter is merged with that of the note, unless `replace` declares `content` to be the whole note. Then
        only the byte order mark of the note, and its line endings if they are uniform, are kept.
        """
        self._rules.check_path(path)
        data = _encoded(path, content)
        self._rules.check_size(path, data)
        self._recover()
        before = self._vault_state.read(path)
        if not seen(before):
            raise changed_meanwhile(path) if before is not None else note_missing(path)
        if before is None:
            self._vault_state.check_new(path)
        elif data != before:
            if replace:
                data = in_line_ends_of(before, data)
                if before.startswith(codecs.BOM_UTF8):
                    data = codecs.BOM_UTF8 + data.removeprefix(codecs.BOM_UTF8)
            else:
                data = _encoded(path, merge_frontmatter(_decoded(path, before), content))
            self._rules.check_size(path, data)
        change = Change(path=path, before=before, after=data, mode=self._vault_state.mode(path, before))
        self._rules.check(change)
        subject = f"{'Write' if before is None else 'Change'} {path}"
        return Plan(kind=OperationKind.WRITE, subject=subject, changes=() if before == data else (change,))

    def possible(self, changes: Sequence[Change]) -> list[Change]:
        """Return those of these changes that Donna may make and git can store."""
        refused = self._vault_state.refused(changes)
        return [change for change in changes if change.path not in refused]

    def delete(self, path: str, *, seen: Seen, links: bool = False, unlinks: bool = False) -> Plan:
        """Plan to remove a note: `links` counts the links that break, `unlinks` replaces them with their labels."""
        self._recover()
        before = self._vault_state.existing(path, seen)
        change = checked_change(self._vault_state, path, before, None)
        broken = break_links(self._vault_state, {path}, unlinks=unlinks) if links or unlinks else LinksBroken()
        return Plan(
            kind=OperationKind.DELETE,
            subject=f"Delete {path}",
            changes=(change, *broken.changes),
            remarks=broken.remarks,
            broken_links=0 if unlinks else broken.count,
        )

    def move(self, src: str, dst: str, *, seen: Seen, links: bool = True) -> Plan:
        """Plan to move a note to another path, and to rewrite the links to it in all notes that Donna may write to."""
        self._rules.check_path(dst)
        self._recover()
        if src == dst:
            self._vault_state.existing(src, seen)
        moves = {} if src == dst else {src: dst}
        return plan_move(self._vault_state, moves, f"Move {src} to {dst}", links=links, seen=seen)


def _encoded(path: str, content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError:
        message = "the text contains characters that cannot be encoded"
        raise VaultWriteError(Reason.ENCODING, message, path=path) from None


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        message = "this note is not UTF-8, so its frontmatter cannot be preserved exactly"
        hint = "convert it first, or replace it as a whole"
        raise VaultWriteError(Reason.ENCODING, message, hint=hint, path=path) from None
