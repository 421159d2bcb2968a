"""Rewrite the links to and from a note when it is moved or deleted."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, lru_cache
from urllib.parse import quote

from donna_tui.text.plural import plural
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.client import NOTE_ENDINGS
from donna_tui.vault.links.resolve import LinkIndex, ResolvedLink, folded, is_dotted, joined, way
from donna_tui.vault.links.spans import Link, LinkKind, find_links
from donna_tui.vault.write.changes import Change
from donna_tui.vault.write.plan_context import PlanContext, unseen

_NOT_IN_WIKILINK = re.compile(r"\[\[|\]\]|%%|-->|[|#`\r\n]|^[\[\s]|[\]\s\\]$")
"""Text that would end a wikilink or its target, or combine with preceding text into a code span or comment."""

_NOT_IN_YAML = re.compile(r"""["'\\,:{}\[\]&*!%@`]""")
"""Characters that may end a YAML value or change its meaning, quoted or not."""

_NOT_IN_URL = re.compile(r'[\x00-\x20\x7f-\xa0\u2028\u2029"#%()<>\[\\\]`|]|&(?=#?\w+;)')
_NOT_IN_POINTED = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029#%<>\\`|]|&(?=#?\w+;)")
_ENCODED_LETTER = re.compile(r"%[89A-Fa-f][0-9A-Fa-f]")
_HIDDEN_LETTER = re.compile(r"%[3-7][0-9A-Fa-f]|&#")
_PLAIN_WORD = re.compile(r"[a-z0-9]+")
_WAY_UP = re.compile(r"(?:\.{0,2}/)*")


@dataclass(frozen=True, slots=True)
class Relinked:
    """The text with `count` links rewritten. `dangling` ones were kept, as their syntax cannot hold the new name."""

    text: str
    count: int
    dangling: int = 0


def relink(text: str, *, note: str, moves: Mapping[str, str], notes: LinkIndex) -> Relinked:
    """Rewrite the links in the note at path `note` for notes that move at once: old path → new.

    The note may be one of those that move; then its links that were relative to its old folder are rewritten too.
    `notes` are all paths before the move. A link keeps its style; only its target changes, and only if necessary.
    """
    there = moves.get(note, note)
    if note == there and not _may_name_any(text, moves):
        return Relinked(text, 0)
    return _Rewriter(note, there, moves, notes).rewritten(text)


def unlink(text: str, *, note: str, deleted: Collection[str], notes: LinkIndex) -> Relinked:
    """Replace every link to a deleted note by its displayed text; links without one are kept as `dangling`."""
    if not _may_name_any(text, deleted):
        return Relinked(text, 0)
    pieces: list[str] = []
    kept: list[tuple[LinkKind, str]] = []
    done = count = dangling = 0
    for link in find_links(text):
        written = link.kind, text[link.start : link.end]
        if destination_of(link, note, notes) not in deleted:
            kept.append(written)
            continue
        label = text[link.label[0] : link.label[1]]
        if link.whole[0] < done or not label.strip() or (link.in_yaml and _NOT_IN_YAML.search(label)):
            kept.append(written)
            dangling += 1
            continue
        pieces += text[done : link.whole[0]], label
        done = link.whole[1]
        count += 1
    result = "".join([*pieces, text[done:]])
    if count and [(link.kind, result[link.start : link.end]) for link in find_links(result)] != kept:
        return Relinked(text, 0, count + dangling)
    return Relinked(result, count, dangling)


def destination_of(link: Link, note: str, notes: LinkIndex) -> str | None:
    hit = notes.lookup(link.target, note, is_wiki=link.kind is LinkKind.WIKI)
    return hit.path if hit is not None else None


class _Rewriter:
    """Rewrite the links of one note, which is at `here` before and at `there` after the notes of `moves` moved."""

    def __init__(self, here: str, there: str, moves: Mapping[str, str], notes: LinkIndex) -> None:
        self._here, self._there, self._moves = here, there, moves
        self._before, self._after = notes, notes.moved(moves)
        self._known = cache(self._targets)

    def rewritten(self, text: str) -> Relinked:
        """Rewrite the links of a text. Return it unchanged if a new target, or the loss of an old one, would turn
        surrounding text into code or a comment, or the reverse.
        """
        pieces: list[str] = []
        expected: list[tuple[LinkKind, int, int]] = []
        done = count = dangling = shift = 0
        for link in find_links(text):
            start, written = link.start + shift, text[link.start : link.end]
            targets = self._known(link.target, link.kind is LinkKind.WIKI)
            if targets is not None:
                new = next((found for target in targets if (found := _written(link, target, text)) is not None), None)
                if new is None:
                    dangling += 1
                else:
                    pieces += text[done : link.start], new
                    done = link.end
                    count += 1
                    shift += len(new) - len(written)
                    written = new
            expected.append((link.kind, start, start + len(written)))
        result = "".join([*pieces, text[done:]])
        if count and [(link.kind, link.start, link.end) for link in find_links(result)] != expected:
            return Relinked(text, 0, count + dangling)
        return Relinked(result, count, dangling)

    def _targets(self, target: str, is_wiki: bool) -> tuple[str, ...] | None:
        """Return the possible new targets of a link, the best first; None if the link is kept."""
        found = self._before.lookup(target, self._here, is_wiki=is_wiki)
        if not found:
            return self._carried(target)
        if found.path not in self._moves and self._here == self._there:
            return None
        wanted = self._moves.get(found.path, found.path)
        if self._holds(target, found, wanted, is_wiki):
            return None
        spellings = self._spellings(target, found, wanted, is_wiki)
        return tuple(spelling for spelling in spellings if self._leads(spelling, wanted, is_wiki))

    def _holds(self, target: str, found: ResolvedLink, wanted: str, is_wiki: bool) -> bool:
        """Return whether a link resolves after the move as well as it did before."""
        hit = self._after.lookup(target, self._there, is_wiki=is_wiki)
        if not hit or hit.path != wanted or (found.relative and not hit.relative):
            return False
        if found.path not in self._moves:
            return hit.sure or _folder(self._here) == _folder(self._there)
        return hit.sure and (_is_spelled(target, hit.path) or not _is_spelled(target, found.path))

    def _leads(self, target: str, wanted: str, is_wiki: bool) -> bool:
        """Return whether a target resolves to the wanted note by the rules of both the web and Obsidian."""
        hit = self._after.lookup(target, self._there, is_wiki=is_wiki)
        as_wikilink = self._after.find(target, self._there)
        return bool(hit and as_wikilink and hit.sure and hit.path == as_wikilink.path == wanted)

    def _spellings(self, target: str, found: ResolvedLink, wanted: str, is_wiki: bool) -> Iterator[str]:
        """Yield the possible spellings of `wanted`, those in the style of `target` first."""
        has_ending = folded(_name(found.path)) == folded(_name(target))
        for path in [wanted] if has_ending else [_without_ending(wanted), wanted]:
            yield from self._styled(target, found, path)
        if not is_wiki:
            yield _dotted(way(self._there, wanted))

    def _styled(self, target: str, found: ResolvedLink, path: str) -> Iterator[str]:
        if found.relative:
            short = way(self._there, path)
            yield _dotted(short) if target.startswith("./") else short
            yield _dotted(short)
        elif target.startswith("/"):
            yield f"/{path}"
        else:
            parts = target.count("/") + 1
            is_whole = parts > 1 and parts == found.path.count("/") + 1
            yield path if is_whole else "/".join(path.split("/")[-parts:])
            yield path

    def _carried(self, target: str) -> tuple[str, ...] | None:
        """Adjust a relative link in the moved note whose target is not a note; None if it is kept."""
        path = joined(self._here, target) if is_dotted(target) else None
        if path is None or joined(self._there, target) == path:
            return None
        return (_dotted(way(self._there, path)) + ("/" if target.endswith("/") else ""),)


def may_name(text: str, path: str) -> bool:
    """Return whether a text may hold a link to `path`: a fast test for the longest plain word of its name."""
    return _may_name_any(text, (path,))


def _may_name_any(text: str, paths: Iterable[str]) -> bool:
    lowered = text.lower()
    return any(_longest_word(path) in lowered for path in paths) or _HIDDEN_LETTER.search(text) is not None


@lru_cache(maxsize=4_096)
def _longest_word(path: str) -> str:
    """Return the longest plain word of a note's name; empty, which is in every text, if there is none."""
    return max(_PLAIN_WORD.findall(folded(_without_ending(_name(path)))), key=len, default="")


def _written(link: Link, target: str, text: str) -> str | None:
    """Escape a target for the syntax of the link; None if the syntax cannot hold it."""
    if link.kind is LinkKind.WIKI:
        fits = len(target) <= link.room and not _NOT_IN_WIKILINK.search(target)
        return target if fits and not (link.in_yaml and _NOT_IN_YAML.search(target)) else None
    if _ENCODED_LETTER.search(text, link.start, link.end):
        return quote(target, safe="/!$'*+,;=:@", errors="surrogateescape")
    unsafe = _NOT_IN_POINTED if link.kind is LinkKind.POINTED else _NOT_IN_URL
    return unsafe.sub(lambda found: quote(found[0], safe=""), target)


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _name(path: str) -> str:
    return path.rpartition("/")[2]


def _without_ending(path: str) -> str:
    ending = next((ending for ending in NOTE_ENDINGS if path.lower().endswith(ending)), "")
    return path[: len(path) - len(ending)]


def _is_spelled(target: str, path: str) -> bool:
    """Return whether a target spells the name of a note exactly as the note does, including case."""
    name = _WAY_UP.sub("/", target, count=1)
    return f"/{path}".endswith(name) or f"/{_without_ending(path)}".endswith(name)


def _dotted(path: str) -> str:
    return path if is_dotted(path) else f"./{path}"


SHOWN_IN_REMARKS = 3
"""Maximum number of notes that a remark names."""

_UNREADABLE = "that cannot be read (too large, not UTF-8, or not permitted)"

_NO_NOTE = (Reason.PATH_ESCAPE, Reason.NOT_REGULAR)
"""The note was replaced by a symbolic link or a device meanwhile, so there is nothing to read."""


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkChanges:
    """The changes to links that a move or a deletion causes in other notes, and remarks on links that are kept.

    `own` are the new bytes of each note that moves, by its old path. `broken` counts the links that a deletion breaks.
    `unread` are the notes and folders that could not be read, and whose links are unchanged.
    """

    changes: tuple[Change, ...] = ()
    remarks: tuple[str, ...] = ()
    own: Mapping[str, bytes] = field(default_factory=dict)
    broken: int = 0
    unread: tuple[str, ...] = ()


def move_links(plan_context: PlanContext, moves: Mapping[str, str], before: Mapping[str, bytes]) -> LinkChanges:
    """Make every link to the notes of `moves` (old path → new) follow them. Raises VaultWriteError."""
    first = next(iter(moves))
    notes, unreadable = plan_context.notes(first)
    index = LinkIndex({*notes, *moves})  # a note that moves may be too large to be listed

    def changed(text: str, note: str) -> Relinked:
        return relink(text, note=note, moves=moves, notes=index)

    own, dangling, opaque = dict(before), 0, []
    for path, data in before.items():
        try:
            found = changed(data.decode(), path)
        except UnicodeDecodeError:
            opaque.append(path)
        else:
            own[path], dangling = found.text.encode(), dangling + found.dangling
    others = [_other(plan_context, path, first, changed) for path in notes if path not in moves]
    found_in = [other.change for other in others if other.change is not None]
    left = plan_context.refused(found_in)
    unread = sorted({*unreadable, *(other.path for other in others if not other.read)} - moves.keys())
    dangling += sum(other.dangling for other in others)
    name = "the old name" if len(moves) == 1 else "the old names"
    not_utf8 = f"that {'is' if len(opaque) == 1 else 'are'} not UTF-8"
    broken = f"{plural(dangling, 'link')} cannot contain the new name, and will be broken"
    return LinkChanges(
        own=own,
        changes=tuple(change for change in found_in if change.path not in left),
        remarks=(
            *_remark(f"links to {name} remain in", sorted(left), "that Donna is not allowed to change"),
            *_remark(f"links to {name} may remain in", unread, _UNREADABLE),
            *_remark("links are not updated in", sorted(opaque), not_utf8),
            *((broken,) if dangling else ()),
        ),
        unread=tuple(sorted((*unread, *opaque))),
    )


def break_links(plan_context: PlanContext, deleted: Collection[str], *, unlinks: bool) -> LinkChanges:
    """Plan which links a deletion breaks or, with `unlinks`, replaces by their text. Raises VaultWriteError."""
    first = next(iter(deleted))
    notes, unreadable = plan_context.notes(first)
    index = LinkIndex(notes)

    def changed(text: str, note: str) -> Relinked:
        return unlink(text, note=note, deleted=deleted, notes=index)

    others = [_other(plan_context, other, first, changed) for other in notes if other not in deleted]
    linked = [other for other in others if other.change is not None or other.dangling]
    not_read = sorted((*unreadable, *(other.path for other in others if not other.read)))
    unread = _remark("links to it may remain in", not_read, _UNREADABLE)
    count = sum(other.count + other.dangling for other in linked)
    if not unlinks:
        broken = f"{plural(count, 'link')} in {plural(len(linked), 'note')} will be broken"
        return LinkChanges(broken=count, remarks=(*((broken,) if count else ()), *unread))
    found = [other.change for other in linked if other.change is not None]
    left = plan_context.refused(found)
    stay = sum(other.dangling + (other.count if other.path in left else 0) for other in linked)
    remarks = (f"{plural(stay, 'link')} cannot be unlinked, and will be broken",) if stay else ()
    changes = tuple(change for change in found if change.path not in left)
    return LinkChanges(changes=changes, remarks=(*remarks, *unread))


@dataclass(frozen=True, slots=True)
class _Other:
    """The change to the links of one other note, and the number of links that cannot be changed."""

    path: str
    change: Change | None = None
    count: int = 0
    dangling: int = 0
    read: bool = True


def _other(plan_context: PlanContext, path: str, src: str, changed: Callable[[str, str], Relinked]) -> _Other:
    try:
        before = plan_context.read(path)
        if before is None:
            return _Other(path)
        text = before.decode()
    except UnicodeDecodeError:
        return _Other(path, read=False)
    except VaultWriteError as error:
        if error.reason in _NO_NOTE:
            return _Other(path)
        if error.reason is Reason.UNREADABLE:
            return _Other(path, read=False)
        raise unseen(src, path, error.reason, error.message) from error
    found = changed(text, path)
    if not found.count:
        return _Other(path, dangling=found.dangling)
    change = Change(path=path, before=before, after=found.text.encode(), mode=plan_context.mode(path, before))
    return _Other(path, change, found.count, found.dangling)


def _remark(what: str, paths: Sequence[str], which: str) -> tuple[str, ...]:
    """Return a remark about some notes that names the first ones; none without notes."""
    if not paths:
        return ()
    more = " …" if len(paths) > SHOWN_IN_REMARKS else ""
    return (f"{what} {plural(len(paths), 'note')} {which}: {', '.join(paths[:SHOWN_IN_REMARKS])}{more}",)
