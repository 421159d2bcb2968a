"""What moving or deleting a note does to links: those to it in other notes, and those in it that name its folder."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence

from donna_tui.errors import Reason, VaultWriteError
from donna_tui.records import dataclass
from donna_tui.vault.changes import Change
from donna_tui.vault.ground import Ground, unseen
from donna_tui.vault.relink import LinkIndex, Relinked, relink, relink_all, relink_moved, unlink

SHOWN_IN_REMARKS = 3
"""Notes that a remark names."""

_NO_NOTE = (Reason.PATH_ESCAPE, Reason.NOT_REGULAR)
"""A link or a device took the place of a note a moment ago: there is nothing to read."""


@dataclass(frozen=True, slots=True)
class LinksMoved:
    """The moved note's own bytes, the changes in other notes, and what had to be left, as sentences."""

    own: bytes
    changes: tuple[Change, ...]
    remarks: tuple[str, ...]
    unread: tuple[str, ...] = ()
    """The notes and folders that could not be read, and whose links are as they were."""


def move_links(ground: Ground, src: str, dst: str, before: bytes) -> LinksMoved:
    """Make every link to the note at `src` one to `dst`, in all notes that Donna may write to.

    Raises VaultWriteError.
    """
    listed = ground.notes(src)
    index = LinkIndex(listed.paths)
    text = _decoded(before)
    own = relink_moved(text or "", old=src, new=dst, notes=index)

    def changed(text: str, note: str) -> Relinked:
        return relink(text, note=note, old=src, new=dst, notes=index)

    others = [_other(ground, path, src, changed) for path in listed.paths if path != src]
    found = [other.change for other in others if other.change is not None]
    left = ground.refused(found)
    unread = sorted((*listed.unreadable, *(other.path for other in others if not other.read)))
    return LinksMoved(
        own=before if text is None else own.text.encode(),
        changes=tuple(change for change in found if change.path not in left),
        remarks=(
            *_left_alone(sorted(left)),
            *_unread(unread, "to the old name"),
            *_dangling(own.dangling + sum(other.dangling for other in others)),
        ),
        unread=tuple(unread),
    )


@dataclass(frozen=True, slots=True)
class FolderMoved:
    """The new bytes of each note that moves, by its old path; the changes in other notes, and what had to be left."""

    own: Mapping[str, bytes]
    changes: tuple[Change, ...]
    remarks: tuple[str, ...]
    unread: tuple[str, ...] = ()


def move_many(ground: Ground, moves: Mapping[str, str], before: Mapping[str, bytes]) -> FolderMoved:
    """Make every link to the notes of `moves` (old path → new) follow them, also between these notes.

    Raises VaultWriteError.
    """
    first = next(iter(moves))
    listed = ground.notes(first)
    index = LinkIndex([*listed.paths, *(path for path in moves if path not in listed.paths)])

    def changed(text: str, note: str) -> Relinked:
        return relink_all(text, note=note, moves=moves, notes=index)

    own, dangling, opaque = dict(before), 0, []
    for path, data in before.items():
        text = _decoded(data)
        if text is None:
            opaque.append(path)
            continue
        found = changed(text, path)
        own[path], dangling = found.text.encode(), dangling + found.dangling
    others = [_other(ground, path, first, changed) for path in listed.paths if path not in moves]
    found_changes = [other.change for other in others if other.change is not None]
    left = ground.refused(found_changes)
    unread = sorted((*listed.unreadable, *opaque, *(other.path for other in others if not other.read)))
    return FolderMoved(
        own=own,
        changes=tuple(change for change in found_changes if change.path not in left),
        remarks=(
            *_left_alone(sorted(left)),
            *_unread(unread, "to the old names"),
            *_dangling(dangling + sum(other.dangling for other in others)),
        ),
        unread=tuple(unread),
    )


@dataclass(frozen=True, slots=True)
class LinksBroken:
    """The links that a deletion breaks, the changes in other notes that unlink them, and what stays, as sentences."""

    count: int = 0
    changes: tuple[Change, ...] = ()
    remarks: tuple[str, ...] = ()


def break_links(ground: Ground, gone: Collection[str], *, unlinks: bool) -> LinksBroken:
    """What deleting these notes does to links in others; with `unlinks` the words of each link stay in its place.

    Raises VaultWriteError.
    """
    first = next(iter(gone))
    listed = ground.notes(first)
    index = LinkIndex(listed.paths)

    def changed(text: str, note: str) -> Relinked:
        return unlink(text, note=note, gone=gone, notes=index)

    others = [_other(ground, other, first, changed) for other in listed.paths if other not in gone]
    linked = [other for other in others if other.change is not None or other.dangling]
    unread = _unread(sorted((*listed.unreadable, *(other.path for other in others if not other.read))), "to it")
    count = sum(other.count + other.dangling for other in linked)
    if not unlinks:
        broken = f"{_counted(count, 'link')} in {_counted(len(linked), 'note')} will lead nowhere"
        return LinksBroken(count, remarks=(*((broken,) if count else ()), *unread))
    found = [other.change for other in linked if other.change is not None]
    left = ground.refused(found)
    stay = sum(other.dangling + (other.count if other.path in left else 0) for other in linked)
    remarks = (f"{_counted(stay, 'link')} cannot be unlinked, and will lead nowhere",) if stay else ()
    return LinksBroken(count, tuple(change for change in found if change.path not in left), (*remarks, *unread))


@dataclass(frozen=True, slots=True)
class _Other:
    """What is done to the links of one other note, and how many of them must stay as they are."""

    path: str
    change: Change | None = None
    count: int = 0
    dangling: int = 0
    read: bool = True


def _other(ground: Ground, path: str, src: str, changed: Callable[[str, str], Relinked]) -> _Other:
    try:
        before = ground.read(path)
    except VaultWriteError as error:
        if error.reason in _NO_NOTE:
            return _Other(path)
        if error.reason is Reason.UNREADABLE:
            return _Other(path, read=False)
        raise unseen(src, path, error.reason, error.message) from error
    if before is None:
        return _Other(path)
    text = _decoded(before)
    if text is None:
        return _Other(path, read=False)
    found = changed(text, path)
    if not found.count:
        return _Other(path, dangling=found.dangling)
    change = Change(path=path, before=before, after=found.text.encode(), mode=ground.mode(path, before))
    return _Other(path, change, found.count, found.dangling)


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _left_alone(paths: Sequence[str]) -> tuple[str, ...]:
    return (f"links to the old name stay in {_notes(paths, 'that Donna may not change')}",) if paths else ()


def _unread(paths: Sequence[str], links: str) -> tuple[str, ...]:
    which = "that cannot be read (too large, not UTF-8, or not permitted)"
    return (f"links {links} may be left in {_notes(paths, which)}",) if paths else ()


def _notes(paths: Sequence[str], which: str) -> str:
    more = " …" if len(paths) > SHOWN_IN_REMARKS else ""
    return f"{_counted(len(paths), 'note')} {which}: {', '.join(paths[:SHOWN_IN_REMARKS])}{more}"


def _counted(number: int, what: str) -> str:
    return f"1 {what}" if number == 1 else f"{number} {what}s"


def _dangling(number: int) -> tuple[str, ...]:
    if not number:
        return ()
    links = "1 link cannot" if number == 1 else f"{number} links cannot"
    return (f"{links} hold the new name, and will lead nowhere",)
