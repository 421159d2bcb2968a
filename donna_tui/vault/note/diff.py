"""Compute the difference between two versions of a file: hunks of lines, with the changed words."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from donna_tui.safety.terminal import clean_line
from donna_tui.text.lines import split_lines
from donna_tui.text.markdown import split_sections
from donna_tui.text.merge import EqualRun, common_runs
from donna_tui.text.word_diff import Spans, changed_words, partners
from donna_tui.vault.note.read import parse_frontmatter
from donna_tui.vault.write.changes import Change

WHOLE = 10**9
"""A context that leaves out no line."""

_ENDINGS = {"\n": "ends with LF", "\r\n": "ends with CR LF", "\r": "ends with CR", "": "no newline at end"}
_LONGEST_BLOCK = 400
"""Maximum number of consecutive changed lines whose words are compared; a longer block counts as rewritten."""


class LineKind(StrEnum):
    """The kind of a diff line. The values are the marks of a unified diff."""

    SAME = " "
    REMOVED = "-"
    ADDED = "+"


@dataclass(frozen=True, slots=True)
class DiffLine:
    """A line with its 1-based number before and after; None if it does not exist on that side.

    `text` is raw and excludes its line break `ending`. `spans` are the changed words. `partner` is the line number, on
    the other side, of the line that it replaces or that replaces it. `remark` describes an invisible difference:
    another line ending, or a missing one.
    """

    kind: LineKind
    old: int | None
    new: int | None
    text: str
    ending: str = "\n"
    spans: Spans = ()
    partner: int | None = None
    remark: str = ""


@dataclass(frozen=True, slots=True)
class Hunk:
    """A group of nearby lines, after `skipped` unchanged ones; `heading` is the raw heading above them, or empty."""

    lines: tuple[DiffLine, ...]
    heading: str
    skipped: int = 0


@dataclass(frozen=True, slots=True)
class FileDiff:
    """The difference of one file, moved from `old_path`. `after_skipped` lines follow the last hunk."""

    path: str
    hunks: tuple[Hunk, ...]
    added: int
    removed: int
    before_exists: bool
    after_exists: bool
    old_path: str = ""
    after_skipped: int = 0


def diff_changes(changes: Sequence[Change], *, context: int = 3) -> tuple[FileDiff, ...]:
    """Return the difference of each file, moved ones first.

    A removed file and an added one count as a move if they have the same bytes; or if they have the same name, or are
    the only ones, and share most lines.
    """
    removed = [change for change in changes if change.after is None and change.before is not None]
    added = [change for change in changes if change.before is None and change.after is not None]
    is_one = len(removed) == len(added) == 1
    moved: list[FileDiff] = []
    paired: list[Change] = []
    for change in added:
        source = next((each for each in removed if each.before == change.after), None)
        source = source or next((each for each in removed if is_one or _name(each) == _name(change)), None)
        if source is None:
            continue
        diff = diff_bytes(change.path, source.before, change.after, context=context)
        if 2 * diff.removed <= (source.before or b"").count(b"\n") + 1:
            moved.append(replace(diff, old_path=source.path))
            paired += (source, change)
            removed.remove(source)
    others = (change for change in changes if change not in paired)
    return (*moved, *(diff_bytes(each.path, each.before, each.after, context=context) for each in others))


def _name(change: Change) -> str:
    return change.path.rpartition("/")[2]


def diff_bytes(path: str, before: bytes | None, after: bytes | None, *, context: int = 3) -> FileDiff:
    """Compute the difference of a file; None means that there is no file. Never raises, and is bounded on any input.

    Bytes that are not UTF-8 become lone surrogates (PEP 383), so that nothing is lost.
    """
    texts = ((data or b"").decode("utf-8", "surrogateescape") for data in (before, after))
    old, new = (split_lines(text, keep_ends=True) for text in texts)
    runs = common_runs(old, new)
    lines = list(_diff_lines(old, new, runs))
    groups = list(_groups(lines, context))
    headings = _Headings(after if after is not None else before or b"", old_side=after is None)
    ends = (0, *(end for _, end in groups))
    return FileDiff(
        path=path,
        hunks=tuple(
            Hunk(tuple(lines[start:end]), headings.above(lines[start:end]), skipped=start - above)
            for above, (start, end) in zip(ends, groups, strict=False)
        ),
        added=sum(line.kind is LineKind.ADDED for line in lines),
        removed=sum(line.kind is LineKind.REMOVED for line in lines),
        before_exists=before is not None,
        after_exists=after is not None,
        after_skipped=len(lines) - ends[-1],
    )


def as_unified(diff: FileDiff) -> str:
    """Format the difference as `git diff` does, as plain text that is safe to print."""
    old, new = clean_line(diff.old_path or diff.path), clean_line(diff.path)
    lines = [
        f"--- {f'a/{old}' if diff.before_exists else '/dev/null'}",
        f"+++ {f'b/{new}' if diff.after_exists else '/dev/null'}",
    ]
    for hunk in diff.hunks:
        heading = f" {clean_line(hunk.heading)}" if hunk.heading else ""
        sides = _extent(line.old for line in hunk.lines), _extent(line.new for line in hunk.lines)
        lines.append(f"@@ -{sides[0]} +{sides[1]} @@{heading}")
        for line in hunk.lines:
            lines.append(line.kind + clean_line(line.text) + ("␍" if line.ending.startswith("\r") else ""))
            if not line.ending:
                lines.append("\\ No newline at end of file")
    return "\n".join(lines) + "\n"


def _extent(numbers: Iterable[int | None]) -> str:
    there = [number for number in numbers if number is not None]
    return f"{there[0]},{len(there)}" if there else "0,0"


def _diff_lines(old: list[str], new: list[str], runs: list[EqualRun]) -> Iterator[DiffLine]:
    mixed = len({_ending(line) for line in (*old, *new)} - {""}) > 1
    i = j = 0
    for run in (*runs, EqualRun(len(old), len(new), 0)):
        yield from _block(old, new, range(i, run.left), range(j, run.right), mixed=mixed)
        for step in range(run.size):
            yield _line(LineKind.SAME, new[run.right + step], run.left + step + 1, run.right + step + 1)
        i, j = run.left + run.size, run.right + run.size


def _block(old: list[str], new: list[str], old_range: range, new_range: range, *, mixed: bool) -> Iterator[DiffLine]:
    """Yield the removed and the added lines of a block, with the words that changed between paired lines."""
    removed = [_line(LineKind.REMOVED, old[i], i + 1, None) for i in old_range]
    added = [_line(LineKind.ADDED, new[j], None, j + 1) for j in new_range]
    if max(len(removed), len(added)) <= _LONGEST_BLOCK:
        for a, b in partners([line.text for line in removed], [line.text for line in added]):
            before, after = changed_words(removed[a].text, added[b].text)
            removed[a] = replace(removed[a], spans=before, partner=added[b].new)
            added[b] = replace(added[b], spans=after, partner=removed[a].old)
    for line in (*removed, *added):
        yield replace(line, remark=_ENDINGS[line.ending]) if mixed or not line.ending else line


def _line(kind: LineKind, line: str, old: int | None, new: int | None) -> DiffLine:
    ending = _ending(line)
    return DiffLine(kind, old, new, line[: len(line) - len(ending)], ending)


def _ending(line: str) -> str:
    return "\r\n" if line.endswith("\r\n") else line[-1:] if line.endswith(("\n", "\r")) else ""


def _groups(lines: list[DiffLine], context: int) -> Iterator[tuple[int, int]]:
    """Yield half-open ranges of lines around the changes; ranges that touch or overlap are merged."""
    start = end = -1
    for index, line in enumerate(lines):
        if line.kind is LineKind.SAME:
            continue
        if start >= 0 and index - context > end:
            yield start, end
            start = -1
        start = max(0, index - context) if start < 0 else start
        end = min(len(lines), index + 1 + context)
    if start >= 0:
        yield start, end


class _Headings:
    """Look up the heading above each line of a note, on the side of the diff where the file exists."""

    def __init__(self, data: bytes, *, old_side: bool) -> None:
        text = data.decode("utf-8", "surrogateescape")
        sections = split_sections(text, parse_frontmatter(text).body_start)
        self._starts = [section.start_line for section in sections]
        self._names = [section.heading_path[-1] if section.heading_path else "" for section in sections]
        self._old_side = old_side

    def above(self, lines: Sequence[DiffLine]) -> str:
        """Return the heading above the first changed line of a hunk, or an empty string."""
        first = next(index for index, line in enumerate(lines) if line.kind is not LineKind.SAME)
        around = (*lines[first::-1], *lines[first:])
        numbers = (line.old if self._old_side else line.new for line in around)
        number = next((number for number in numbers if number is not None), 0)
        place = bisect_right(self._starts, number)
        return self._names[place - 1] if place else ""
