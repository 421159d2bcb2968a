"""The parts of a draft that can be left out, and the draft without some of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from donna_tui.drafting import Claim, Hunk
from donna_tui.text.lines import each_line
from donna_tui.vault.frontmatter import parse_frontmatter

_HEADING = re.compile(r"#{1,6}(?:\s|$)")
_FENCE = re.compile(r"\s{0,3}(`{3,}|~{3,})")
_ITEM = re.compile(r"\s{0,3}(?:[-*+]|\d{1,3}[.)])\s")


def hunks_of(text: str) -> tuple[Hunk, ...]:
    """The list items and paragraphs of a note, from top to bottom, without headings and frontmatter."""
    lines = _lines(text)
    first = _first_line(text)
    return tuple(Hunk(number, start, end) for number, (start, end) in enumerate(_blocks(lines, first), 1))


def without_hunks(text: str, left_out: Collection[int]) -> str:
    """The note without these hunks; a heading under which nothing is left goes as well."""
    hunks = hunks_of(text)
    if not left_out:
        return text
    gone = {line for hunk in hunks if hunk.number in left_out for line in range(hunk.start_line, hunk.end_line + 1)}
    lines = _lines(text)
    emptied = _emptied(lines, gone, _first_line(text))
    kept = [line for number, line in enumerate(lines, 1) if number not in gone | emptied]
    return _without_double_blanks(kept, _first_line(text))


def claims_of(text: str, statements: Sequence[tuple[str, tuple[int, ...]]]) -> tuple[Claim, ...]:
    """The lines in which statements stand word for word, with the numbers of what they rest on."""
    found = []
    for number, line in enumerate(_lines(text), 1):
        bare = line.replace("\\", "")
        numbers = [each for said, rests in statements if said and said in bare for each in rests]
        if numbers:
            found.append(Claim(number, number, tuple(dict.fromkeys(numbers))))
    return tuple(found)


def _lines(text: str) -> list[str]:
    return [text[start:end] for start, end, _ in each_line(text)]


def _first_line(text: str) -> int:
    """The number of the first line of the body."""
    return len(_lines(text[: parse_frontmatter(text).body_start])) + 1


def _fenced(lines: Sequence[str], first: int) -> set[int]:
    """The lines of blocks of code, whose blank lines and `#` are text as any other."""
    found: set[int] = set()
    fence = ""
    for number, line in enumerate(lines, 1):
        mark = _FENCE.match(line)
        if fence or (mark and number >= first):
            found.add(number)
        if mark and number >= first:
            closes = fence and mark[1].startswith(fence) and not line[mark.end() :].strip()
            fence = "" if closes else fence or mark[1]
    return found


def _headings(lines: Sequence[str], first: int) -> dict[int, int]:
    """The headings of the body by their line, and how deep each is."""
    fenced = _fenced(lines, first)
    numbered = ((number, _HEADING.match(line)) for number, line in enumerate(lines, 1) if number >= first)
    return {number: found[0].count("#") for number, found in numbered if found and number not in fenced}


def _blocks(lines: Sequence[str], first: int) -> Iterator[tuple[int, int]]:
    fenced, headings = _fenced(lines, first), _headings(lines, first)
    start = 0
    for number, line in enumerate(lines, 1):
        inside = number in fenced
        goes_on = number >= first and (inside or line.strip()) and number not in headings
        if start and (not goes_on or (not inside and _ITEM.match(line))):
            yield start, number - 1
            start = 0
        if goes_on and not start:
            start = number
    if start:
        yield start, len(lines)


def _emptied(lines: Sequence[str], gone: Collection[int], first: int) -> set[int]:
    """Headings under which there was something and nothing is left. The title stays."""
    found: set[int] = set()
    depths = _headings(lines, first)
    for number in sorted(depths, reverse=True):
        end = next((each for each in depths if each > number and depths[each] <= depths[number]), len(lines) + 1)
        below = [each for each in range(number + 1, end) if lines[each - 1].strip()]
        if below and depths[number] > 1 and all(each in gone or each in found for each in below):
            found.add(number)
    return found


def _without_double_blanks(lines: Sequence[str], first: int) -> str:
    kept: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.strip() or number < first or not kept or kept[-1].strip():
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"
