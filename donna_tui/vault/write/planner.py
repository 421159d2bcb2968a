"""Plan a write, a deletion or a move, of one note, a folder or a selection: the exact changes, without making them."""

from __future__ import annotations

import codecs
from collections.abc import Mapping, Sequence

from donna_tui.text.plural import first_of
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.links.rewrite import SHOWN_IN_REMARKS, LinkChanges, break_links, move_links
from donna_tui.vault.note.merge import merge_frontmatter
from donna_tui.vault.write.changes import Change, OperationKind, Plan, Precondition, any_version, in_line_ends_of
from donna_tui.vault.write.files import changed_meanwhile
from donna_tui.vault.write.plan_context import PlanContext, note_missing


class Planner:
    """Plan changes of one vault. Every method reads, blocks, and raises VaultWriteError with the reason for a refusal.

    `expected` checks whether the current bytes are those that the caller has seen. The `paths` of a selection are notes
    or folders, which mean all notes in them. Files that are no notes stay where they are, and a remark counts them.
    """

    def __init__(self, plan_context: PlanContext) -> None:
        self._plan_context, self._rules = plan_context, plan_context.rules

    def write(self, path: str, content: str, *, expected: Precondition, replace: bool = False) -> Plan:
        """Plan to write `content` to a note.

        The frontmatter is merged with that of the note, unless `replace` declares `content` to be the whole note. Then
        only the byte order mark of the note, and its line endings if they are uniform, are kept.
        """
        self._rules.check_path(path)
        data = _encoded(path, content)
        self._rules.check_size(path, data)
        self._plan_context.recover()
        before = self._plan_context.read(path)
        if not expected(before):
            raise changed_meanwhile(path) if before is not None else note_missing(path)
        if before is None:
            self._plan_context.check_new(path)
        elif data != before:
            if replace:
                data = in_line_ends_of(before, data)
                if before.startswith(codecs.BOM_UTF8):
                    data = codecs.BOM_UTF8 + data.removeprefix(codecs.BOM_UTF8)
            else:
                data = _encoded(path, merge_frontmatter(_decoded(path, before), content))
            self._rules.check_size(path, data)
        change = Change(path=path, before=before, after=data, mode=self._plan_context.mode(path, before))
        self._rules.check(change)
        subject = f"{'Write' if before is None else 'Change'} {path}"
        return Plan(kind=OperationKind.WRITE, subject=subject, changes=() if before == data else (change,))

    def possible(self, changes: Sequence[Change]) -> list[Change]:
        """Return those of these changes that Donna may make and git can store."""
        refused = self._plan_context.refused(changes)
        return [change for change in changes if change.path not in refused]

    def delete(self, path: str, *, expected: Precondition, links: bool = False, unlinks: bool = False) -> Plan:
        """Plan to remove a note: `links` counts the links that break, `unlinks` replaces them with their labels."""
        self._plan_context.recover()
        before = self._plan_context.existing(path, expected)
        change = self._checked(path, before, None)
        broken = break_links(self._plan_context, {path}, unlinks=unlinks) if links or unlinks else LinkChanges()
        return Plan(
            kind=OperationKind.DELETE,
            subject=f"Delete {path}",
            changes=(change, *broken.changes),
            remarks=broken.remarks,
            broken_links=broken.broken,
        )

    def move(self, src: str, dst: str, *, expected: Precondition, links: bool = True) -> Plan:
        """Plan to move a note to another path, and to rewrite the links to it in all notes that Donna may write to."""
        self._rules.check_path(dst)
        self._plan_context.recover()
        if src == dst:
            self._plan_context.existing(src, expected)
        moves = {} if src == dst else {src: dst}
        return self._move(moves, f"Move {src} to {dst}", links=links, expected=expected)

    def delete_all(self, paths: Sequence[str], *, unlinks: bool = False) -> Plan:
        """Plan to delete a selection, and count the links that break."""
        self._plan_context.recover()
        notes, stays, folders = self._chosen(paths)
        before = {path: self._plan_context.existing(path, any_version) for path in notes}
        changes = [self._checked(path, data, None) for path, data in before.items()]
        broken = break_links(self._plan_context, frozenset(notes), unlinks=unlinks)
        return Plan(
            kind=OperationKind.DELETE,
            subject=f"Delete {first_of(paths, 1)}",
            changes=(*changes, *broken.changes),
            remarks=(*_counted(notes, "deleted"), *_staying(stays), *broken.remarks),
            broken_links=broken.broken,
            emptied=_emptied(folders, notes),
        )

    def move_folder(self, src: str, dst: str, *, links: bool = True) -> Plan:
        """Plan to move all notes of a folder at once, and to update the links to them."""
        _check_outside(src, dst)
        if self._plan_context.is_folder(dst) and not self._plan_context.is_respelled(src, dst):
            hint = "choose another name, or end the path with a slash to move it into that folder"
            raise VaultWriteError(Reason.CONFLICT, "a folder with that name already exists", hint=hint, path=dst)
        self._plan_context.recover()
        notes, stays, folders = self._chosen([src])
        if stays and src.casefold() == dst.casefold() and not self._plan_context.vacated([src], notes):
            message = f"{_staying(stays)[0]}, so the folder would exist under both names"
            hint = "rename it in your file manager"
            raise VaultWriteError(Reason.CONFLICT, message, hint=hint, path=dst)
        moves = {path: f"{dst}{path.removeprefix(src)}" for path in notes}
        subject, emptied = f"Move {src} to {dst}", _emptied(folders, notes)
        return self._move(moves, subject, links=links, stays=stays, emptied=emptied)

    def move_into(self, paths: Sequence[str], folder: str, *, links: bool = True) -> Plan:
        """Plan to move a selection into a folder, each under its own name; empty means the top of the vault."""
        self._plan_context.recover()
        moves: dict[str, str] = {}
        stays: list[str] = []
        emptied: tuple[str, ...] = ()
        for path in paths:
            notes, others, folders = self._chosen([path])
            name = path.rpartition("/")[2]
            to = f"{folder}/{name}" if folder else name
            if self._plan_context.is_folder(path):
                _check_outside(path, to)
            moves |= {note: f"{to}{note.removeprefix(path)}" for note in notes if note not in moves}
            stays += others
            emptied += _emptied(folders, notes)
        moves = {old: new for old, new in moves.items() if old != new}
        if len(set(moves.values())) < len(moves):
            hint = "move them one by one, or rename one first"
            raise VaultWriteError(Reason.CONFLICT, "two of these notes have the same name", hint=hint, path=folder)
        subject = f"Move {first_of(paths, 1)} to {folder or 'the top of the vault'}"
        return self._move(moves, subject, links=links, stays=stays, emptied=emptied)

    def _chosen(self, paths: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
        """Expand paths to notes, the other files in their folders, and these folders."""
        notes: dict[str, None] = {}
        stays: dict[str, None] = {}
        folders: list[str] = []
        for path in paths:
            if not self._plan_context.is_folder(path):
                notes[path] = None
                continue
            inside, others = self._plan_context.inside(path)
            folders.append(path)
            notes |= dict.fromkeys(inside)
            stays |= dict.fromkeys(others)
        if not notes:
            path = paths[0] if paths else ""
            raise VaultWriteError(
                Reason.MISSING, "this folder contains no notes", hint="use your file manager", path=path
            )
        return list(notes), list(stays), folders

    def _move(
        self,
        moves: Mapping[str, str],
        subject: str,
        *,
        links: bool,
        expected: Precondition = any_version,
        stays: Sequence[str] = (),
        emptied: tuple[str, ...] = (),
    ) -> Plan:
        """Plan to move notes at once (old path → new) and to rewrite the links to them; `stays` are other files."""
        if not moves:
            return Plan(kind=OperationKind.MOVE, subject=subject, changes=())
        vacated = self._plan_context.vacated(emptied, moves)
        before: dict[str, bytes] = {}
        for old, new in moves.items():
            before[old] = self._plan_context.existing(old, expected)
            self._rules.check_path(new)
            if new not in moves:
                self._plan_context.check_new(new, besides=old, vacated=vacated)
        moved = move_links(self._plan_context, moves, before) if links else LinkChanges(own=before)
        removal = [self._checked(old, data, None) for old, data in before.items()]
        creation = [self._checked(moves[old], None, moved.own[old], like=old) for old in before]
        folds = {old.casefold() for old in moves}
        # where only the case differs, some systems would find the old file under the new name
        is_fold = any(new.casefold() in folds for new in moves.values())
        order = [*removal, *creation] if is_fold else [*creation, *removal]
        return Plan(
            kind=OperationKind.MOVE,
            subject=subject,
            changes=(*order, *moved.changes),
            remarks=(*_counted(list(moves), "moved"), *_staying(stays), *moved.remarks),
            unread=moved.unread,
            emptied=emptied,
        )

    def _checked(self, path: str, before: bytes | None, after: bytes | None, *, like: str = "") -> Change:
        """Return a change in the mode of an existing note, that of `like` or its own, if the rules allow it."""
        known = before if before is not None else after
        change = Change(path=path, before=before, after=after, mode=self._plan_context.mode(like or path, known))
        self._rules.check(change)
        return change


def _check_outside(folder: str, target: str) -> None:
    """Raise VaultWriteError if a folder would be moved to itself, or into itself."""
    if f"{target}/".startswith(f"{folder}/"):
        message, hint = "a folder cannot be moved into itself", "choose a folder outside it"
        raise VaultWriteError(Reason.CONFLICT, message, hint=hint, path=target)


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


def _emptied(folders: Sequence[str], notes: Sequence[str]) -> tuple[str, ...]:
    found = set(folders)
    for note in notes:
        above = note.rpartition("/")[0]
        while any(above == folder or above.startswith(f"{folder}/") for folder in folders):
            found.add(above)
            above = above.rpartition("/")[0]
    return tuple(sorted(found, key=lambda folder: (-folder.count("/"), folder)))


def _counted(notes: Sequence[str], what: str) -> tuple[str, ...]:
    return (f"{len(notes)} notes are {what}; one undo reverts it",) if len(notes) > 1 else ()


def _staying(paths: Sequence[str]) -> tuple[str, ...]:
    if not paths:
        return ()
    is_one = len(paths) == 1
    which = "1 file that is not a note is" if is_one else f"{len(paths)} files that are not notes are"
    more = " …" if len(paths) > SHOWN_IN_REMARKS else ""
    return (f"{which} not affected: {', '.join(paths[:SHOWN_IN_REMARKS])}{more}",)
