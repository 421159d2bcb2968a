"""Plan a write, a deletion or a move: the exact changes, without making them."""

from __future__ import annotations

import codecs
from collections.abc import Callable, Sequence

from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.links.rewrite import LinksBroken, LinksMoved, break_links, move_links
from donna_tui.vault.note.merge import merge_frontmatter
from donna_tui.vault.write.changes import Change, OperationKind, Plan, Seen
from donna_tui.vault.write.files import changed_meanwhile
from donna_tui.vault.write.plan_context import PlanContext, note_missing


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

        The frontmatter is merged with that of the note, unless `replace` declares `content` to be the whole note.
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
                data = _in_the_form_of(before, data)
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
        """Plan to remove a note. Its bytes remain in git.

        With `links` the plan counts the links that it breaks; with `unlinks` it replaces them with their labels.
        """
        self._recover()
        before = self._vault_state.existing(path, seen)
        change = Change(path=path, before=before, after=None, mode=self._vault_state.mode(path, before))
        self._rules.check(change)
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
        before = self._vault_state.existing(src, seen)
        subject = f"Move {src} to {dst}"
        if src == dst:
            return Plan(kind=OperationKind.MOVE, subject=subject, changes=())
        self._vault_state.check_new(dst, besides=src)
        moved = move_links(self._vault_state, {src: dst}, {src: before}) if links else LinksMoved({src: before})
        mode = self._vault_state.mode(src, before)
        removal = Change(path=src, before=before, after=None, mode=mode)
        creation = Change(path=dst, before=None, after=moved.own[src], mode=mode)
        for change in (removal, creation):
            self._rules.check(change)
        # if only the case differs, some systems would find the old file under the new name
        order = (removal, creation) if src.casefold() == dst.casefold() else (creation, removal)
        return Plan(
            kind=OperationKind.MOVE,
            subject=subject,
            changes=(*order, *moved.changes),
            remarks=moved.remarks,
            unread=moved.unread,
        )


def _in_the_form_of(before: bytes, data: bytes) -> bytes:
    """Return new bytes with the byte order mark of the note, and with its line endings if they are uniform."""
    if before.count(b"\r\n") == before.count(b"\n") > 0 and b"\r" not in data:
        data = data.replace(b"\n", b"\r\n")
    return codecs.BOM_UTF8 + data.removeprefix(codecs.BOM_UTF8) if before.startswith(codecs.BOM_UTF8) else data


def _encoded(path: str, content: str) -> bytes:
    try:
        return content.encode()
    except UnicodeEncodeError:
        raise VaultWriteError(
            Reason.ENCODING, "the text contains characters that cannot be encoded", path=path
        ) from None


def _decoded(path: str, data: bytes) -> str:
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise VaultWriteError(
            Reason.ENCODING,
            "this note is not UTF-8, so its frontmatter cannot be preserved exactly",
            hint="convert it first, or replace it as a whole",
            path=path,
        ) from None
