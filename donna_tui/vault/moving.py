"""What moving a note does to links: those to it in other notes, and those in it that depend on its folder."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from donna_tui.errors import VaultWriteError
from donna_tui.vault.changes import Change
from donna_tui.vault.ground import Ground
from donna_tui.vault.relink import LinkIndex, relink, relink_moved

_NAMED = 3


@dataclass(frozen=True, slots=True)
class LinksMoved:
    """The moved note's own bytes, the changes in other notes, and what had to be left, as sentences."""

    own: bytes
    changes: tuple[Change, ...]
    remarks: tuple[str, ...]


def move_links(ground: Ground, src: str, dst: str, before: bytes) -> LinksMoved:
    """Make every link to the note at `src` one to `dst`, in all notes that Donna may write to.

    Raises VaultWriteError.
    """
    notes = ground.notes(src)
    index = LinkIndex(notes)
    text = _decoded(before)
    own = relink_moved(text or "", old=src, new=dst, notes=index)
    others = [_others(ground, path, src, dst, index) for path in notes if path != src]
    found = [change for change, _ in others if change is not None]
    left = ground.refused(found)
    return LinksMoved(
        own=before if text is None else own.text.encode(),
        changes=tuple(change for change in found if change.path not in left),
        remarks=(*_left_alone(sorted(left)), *_dangling(own.dangling + sum(number for _, number in others))),
    )


def _others(ground: Ground, path: str, src: str, dst: str, index: LinkIndex) -> tuple[Change | None, int]:
    """The change in one other note, and how many of its links must stay as they are."""
    try:
        before = ground.read(path)
    except VaultWriteError:
        return None, 0
    text = _decoded(before or b"")
    if before is None or text is None:
        return None, 0
    found = relink(text, note=path, old=src, new=dst, notes=index)
    if not found.count:
        return None, found.dangling
    mode = ground.mode(path, before)
    return Change(path=path, before=before, after=found.text.encode(), mode=mode), found.dangling


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _left_alone(paths: Sequence[str]) -> tuple[str, ...]:
    if not paths:
        return ()
    notes = "1 note that Donna may not change" if len(paths) == 1 else f"{len(paths)} notes that Donna may not change"
    named = ", ".join(paths[:_NAMED]) + (" …" if len(paths) > _NAMED else "")
    return (f"links to the old name stay in {notes}: {named}",)


def _dangling(number: int) -> tuple[str, ...]:
    if not number:
        return ()
    links = "1 link cannot" if number == 1 else f"{number} links cannot"
    return (f"{links} hold the new name, and will lead nowhere",)
