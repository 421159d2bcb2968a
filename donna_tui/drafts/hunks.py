"""The parts of a draft that can be left out, and the draft without some of them."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence

from donna_tui.drafting import Claim, Hunk
from donna_tui.text.lines import each_line
from donna_tui.vault.frontmatter import parse_frontmatter

_HEADING = re.compile(r"#{1,6}(?:\s|$)")
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
    emptied = set(_emptied(lines, gone, _first_line(text)))
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
    return text.count("\n", 0, parse_frontmatter(text).body_start) + 1


def _blocks(lines: Sequence[str], first: int) -> Iterator[tuple[int, int]]:
    start = 0
    for number, line in enumerate(lines, 1):
        begins = number >= first and line.strip() and not _HEADING.match(line)
        if start and (not begins or _ITEM.match(line)):
            yield start, number - 1
            start = 0
        if begins and not start:
            start = number
    if start:
        yield start, len(lines)


def _emptied(lines: Sequence[str], gone: Collection[int], first: int) -> Iterator[int]:
    """Headings under which there was something and nothing is left. The title stays."""
    headings = [number for number, line in enumerate(lines, 1) if number >= first and _HEADING.match(line)]
    for place, number in enumerate(headings):
        end = headings[place + 1] if place + 1 < len(headings) else len(lines) + 1
        below = [each for each in range(number + 1, end) if lines[each - 1].strip()]
        if below and all(each in gone for each in below) and not lines[number - 1].startswith("# "):
            yield number


def _without_double_blanks(lines: Sequence[str], first: int) -> str:
    kept: list[str] = []
    for number, line in enumerate(lines, 1):
        if line.strip() or number < first or not kept or kept[-1].strip():
            kept.append(line)
    return "\n".join(kept).rstrip("\n") + "\n"
