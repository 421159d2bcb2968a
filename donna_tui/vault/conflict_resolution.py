"""Resolve conflict copies: find them with their notes, and plan the version to keep as one operation."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from donna_tui.safety.classify import Sensitivity
from donna_tui.text.lines import split_lines
from donna_tui.text.merge import common_runs, merge_texts, shared_stretches
from donna_tui.text.plural import plural
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.vault.client import VaultClient, lines_of
from donna_tui.vault.conflicts import Conflict, Keep, original_of
from donna_tui.vault.git.history import History
from donna_tui.vault.note.read import parse_frontmatter
from donna_tui.vault.write.changes import Change, OperationKind, Plan
from donna_tui.vault.write.plan_context import PlanContext

_lines_of = partial(lines_of, keep_ends=True)

MAX_VERSIONS = 50
"""Versions of a note in the history that are searched for the common ancestor."""


class ConflictResolver:
    """Find and resolve the conflict copies of one vault. Every method blocks and raises DonnaError."""

    def __init__(self, plan_context: PlanContext, client: VaultClient, history: History) -> None:
        self._plan_context, self._client, self._history = plan_context, client, history

    def copies(self) -> list[tuple[str, str]]:
        """Return the conflict copies in the vault, sorted, each with the path of its note."""
        entries = (entry.path for entry in self._client.scan() if entry.reason is Reason.CONFLICT_COPY)
        return [(path, note) for path in sorted(entries) if (note := original_of(path))]

    def conflict(self, copy: str) -> Conflict:
        """Return both current versions and their common ancestor. Raises VaultWriteError or VaultReadError."""
        note = original_of(copy)
        if note is None:
            message = "this is not the name of a conflict copy"
            raise VaultWriteError(Reason.USAGE, message, hint="`donna conflicts` lists them", path=copy)
        self._plan_context.rules.check(Change(path=copy, before=b"", after=None))
        theirs = self._plan_context.read(copy)
        mine = self._plan_context.read(note) if self._client.is_note(note) else None
        if theirs is None:
            raise VaultWriteError(Reason.MISSING, "this conflict copy no longer exists", path=copy)
        base, commit = self._common_base(note, mine, theirs) if mine is not None else (None, "")
        return Conflict(copy=copy, note=note, mine=mine, theirs=theirs, base=base, base_commit=commit)

    def plan(self, conflict: Conflict, keep: Keep) -> Plan:
        """Plan to write the kept version to the note and delete the copy. Valid while both files match `conflict`."""
        plan_context, note = self._plan_context, conflict.note
        mode = plan_context.mode(conflict.copy, conflict.theirs)
        deletion = Change(path=conflict.copy, before=conflict.theirs, after=None, mode=mode)
        after, remarks = self._resolved(conflict, keep)
        self._check_privacy(conflict, after)
        kind, changes = OperationKind.DELETE, [deletion]
        if after is not None and after != conflict.mine:
            plan_context.rules.check_path(note)
            plan_context.rules.check_size(note, after)
            if conflict.mine is None:
                plan_context.check_new(note)
            mode = plan_context.mode(note, conflict.mine)
            kind, written = OperationKind.WRITE, Change(path=note, before=conflict.mine, after=after, mode=mode)
            changes = [written, deletion]
        for change in changes:
            plan_context.rules.check(change)
        return Plan(kind=kind, subject=f"Resolve {note}: keep {keep}", changes=tuple(changes), remarks=remarks)

    def _resolved(self, conflict: Conflict, keep: Keep) -> tuple[bytes | None, tuple[str, ...]]:
        if conflict.mine is None or keep is not Keep.BOTH:
            return (conflict.mine if keep is Keep.MINE else conflict.theirs), ()
        resolved, remarks = merged(conflict.mine, conflict.theirs, conflict.base, conflict.copy)
        return resolved, (*remarks, *_left_out(conflict, resolved))

    def _check_privacy(self, conflict: Conflict, after: bytes | None) -> None:
        """Raise VaultWriteError if text of a private version would be written to a note that is not private."""
        rules, note = self._plan_context.rules, conflict.note
        if after in (None, conflict.mine, conflict.theirs) or rules.sensitivity(note, after) is not Sensitivity.PUBLIC:
            return
        sides = [side for side in (conflict.mine, conflict.theirs) if side is not None]
        if any(rules.sensitivity(note, side) is not Sensitivity.PUBLIC for side in sides):
            message = "one of the versions is private, and the note would not be"
            hint = "keep one of them, or mark both as private"
            raise VaultWriteError(Reason.SENSITIVE, message, hint=hint, path=note)

    def _common_base(self, note: str, mine: bytes, theirs: bytes) -> tuple[bytes | None, str]:
        """Return the version in the history that is equal to the copy or nearest to it, and its commit."""
        versions = list(self._versions(note))
        if same := next((each for each in versions if each[0] == theirs), None):
            return same
        versions = [each for each in versions if each[0] != mine]
        lines = _lines_of(theirs)

        def distance(version: tuple[bytes, str]) -> int:
            """Return the number of lines that only one of the two versions has."""
            other = _lines_of(version[0])
            return len(lines) + len(other) - 2 * sum(run.size for run in common_runs(other, lines))

        return min(versions, key=distance, default=(None, ""))

    def _versions(self, note: str) -> Iterator[tuple[bytes, str]]:
        """Yield the versions that the history has of this path, newest first."""
        repo = self._plan_context.repo
        location = repo.find()
        if location is None:
            return
        commits = [revision.commit for revision in self._history.revisions(note, limit=MAX_VERSIONS)]
        blobs = {commit: repo.blob_id(commit, location.full(note)) for commit in commits}
        images = repo.images(blobs.values())
        for commit, blob in blobs.items():
            if (data := images.get(blob)) is not None:
                yield data, commit


def merged(mine: bytes, theirs: bytes, base: bytes | None, path: str = "") -> tuple[bytes, tuple[str, ...]]:
    """Merge both versions into one, and return it with remarks. Raises VaultWriteError for text that is not UTF-8.

    A three-way merge with `base` is used if it is clean. Otherwise no line of either version is lost: lines of only one
    version are placed one after the other, under the properties of the first.
    """
    try:
        own, other, old = (None if data is None else data.decode("utf-8-sig") for data in (mine, theirs, base))
    except UnicodeDecodeError:
        raise VaultWriteError(Reason.ENCODING, "one of the versions is not UTF-8", path=path) from None
    assert own is not None
    assert other is not None
    if old is not None:
        merge = merge_texts(old, other, own)
        if merge.is_clean and not parse_frontmatter(merge.text).problem:
            return _encoded(merge.text, mine), ()
    remark = "lines that are in only one version are placed one after the other: review the note"
    return _encoded(_union(own, other), mine), (remark,)


def _left_out(conflict: Conflict, resolved: bytes) -> tuple[str, ...]:
    """Return a remark on the lines of either version that are missing from the result, as the base is a guess."""
    has = set(_lines_of(resolved))
    lost = {line for side in (conflict.mine, conflict.theirs) for line in _lines_of(side or b"")} - has
    count = len({line for line in lost if line.strip()})
    if not count:
        return ()
    since = f"merged with commit {conflict.base_commit[:12]} as the common base; " if conflict.base is not None else ""
    return (f"{since}{plural(count, 'line')} of one version {'are' if count > 1 else 'is'} not in it",)


def _union(own: str, other: str) -> str:
    start, other_start = parse_frontmatter(own).body_start, parse_frontmatter(other).body_start
    front = own[:start] or other[:other_start]
    left, right = (split_lines(text, keep_ends=True) for text in (own[start:], other[other_start:]))
    shared = [left[run.left + step] for run in common_runs(left, right) for step in range(run.size)]
    here, lines = (0, 0), list[str]()
    for (_, at, beside), size in shared_stretches(shared, left, right):
        mine, theirs = left[here[0] : at], right[here[1] : beside]
        if mine and theirs and not mine[-1].endswith(("\n", "\r")):
            mine[-1] += "\n"
        lines += [*mine, *theirs, *left[at : at + size]]
        here = at + size, beside + size
    return front + "".join(lines)


def _encoded(text: str, like: bytes) -> bytes:
    """Encode text, with the byte order mark of the note if it has one."""
    return text.encode("utf-8-sig" if like.startswith(b"\xef\xbb\xbf") else "utf-8")
