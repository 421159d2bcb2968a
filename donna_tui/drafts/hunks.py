"""Divide a draft into hunks, its list items and paragraphs, which a person can leave out, and find its claims."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

from donna_tui.text.lines import split_lines
from donna_tui.types.drafts import Claim, DraftHunk
from donna_tui.vault.note.read import parse_frontmatter

_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,3}[.)])\s")


@dataclass(frozen=True, slots=True)
class _Outline:
    """The list items and paragraphs of a note, and the levels of its headings, by line; its body begins at `first`."""

    lines: list[str]
    first: int
    blocks: list[tuple[int, int]]
    levels: dict[int, int]

    @classmethod
    def of(cls, text: str) -> _Outline:
        first = len(split_lines(text[: parse_frontmatter(text).body_start])) + 1
        outline = cls(split_lines(text), first, [], {})
        fence, is_open = "", False
        for number, line in enumerate(outline.lines[first - 1 :], first):
            mark = _FENCE.match(line)
            is_code = bool(fence or mark)  # in which blank lines and `#` are plain text
            if mark:
                closes = fence and mark[1].startswith(fence) and not line[mark.end() :].strip()
                fence = "" if closes else fence or mark[1]
            heading = None if is_code else _HEADING.match(line)
            if heading:
                outline.levels[number] = heading[0].count("#")
            if heading or not (is_code or line.strip()):
                is_open = False
            elif is_open and (is_code or not _ITEM.match(line)):
                outline.blocks[-1] = outline.blocks[-1][0], number
            else:
                outline.blocks.append((number, number))
                is_open = True
        return outline

    def emptied(self, removed: Collection[int]) -> set[int]:
        """Return the headings whose sections become empty if some lines are removed. The title is kept."""
        found: set[int] = set()
        for number, level in reversed(self.levels.items()):
            ends = (other for other, its_level in self.levels.items() if other > number and its_level <= level)
            end = next(ends, len(self.lines) + 1)
            below = [line for line in range(number + 1, end) if self.lines[line - 1].strip()]
            if below and level > 1 and all(line in removed or line in found for line in below):
                found.add(number)
        return found


def hunks_of(text: str) -> tuple[DraftHunk, ...]:
    """Return the list items and paragraphs of a note in order, without headings and frontmatter."""
    return tuple(DraftHunk(number, *lines) for number, lines in enumerate(_Outline.of(text).blocks, 1))


def without_hunks(text: str, left_out: Collection[int]) -> str:
    """Remove hunks from a note, with the headings that become empty."""
    if not left_out:
        return text
    outline = _Outline.of(text)
    left_blocks = (lines for number, lines in enumerate(outline.blocks, 1) if number in left_out)
    removed = {line for start, end in left_blocks for line in range(start, end + 1)}
    removed |= outline.emptied(removed)
    kept: list[str] = []
    for number, line in enumerate((line for at, line in enumerate(outline.lines, 1) if at not in removed), 1):
        if line.strip() or number < outline.first or not kept or kept[-1].strip():  # no blank line follows another
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"


def claims_of(text: str, statements: Sequence[tuple[str, tuple[int, ...]]]) -> tuple[Claim, ...]:
    """Find the lines that contain statements verbatim, with the numbers of the passages that the statements cite."""
    found = []
    for number, line in enumerate(split_lines(text), 1):
        bare = line.replace("\\", "")
        numbers = [passage for statement, cited in statements if statement and statement in bare for passage in cited]
        if numbers:
            found.append(Claim(number, number, tuple(dict.fromkeys(numbers))))
    return tuple(found)
