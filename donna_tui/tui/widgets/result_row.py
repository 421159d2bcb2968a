"""One search result as a few lines of text: what it is, where it stands, why it is here, how well it fits."""

from __future__ import annotations

from pathlib import PurePosixPath

from donna_tui.records import dataclass
from donna_tui.results import Excerpt, Hit
from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import line_range
from donna_tui.tui.widgets.pieces import Line, Piece, cells, cut, width_of, wrapped

BAR_CELLS = 6
_ROOM_FOR_BAR = 46
_LEAST_GAP = 2
_LONGEST = 400
"""Characters of a title, heading or path that are looked at; no screen shows more."""


@dataclass(frozen=True, slots=True)
class Row:
    """A hit in the list. A near miss was not judged relevant and is shown dimmed, on request."""

    hit: Hit
    near: bool = False


def row_lines(row: Row, width: int, snippet_lines: int) -> list[Line]:
    """The lines of a row, each at most `width` cells. Their pieces carry names of styles that the list resolves."""
    title = "near" if row.near else "title"
    head = [(clean_line(row.hit.title[:_LONGEST]), title), (trail(row.hit), "trail")]
    why = [("near miss" if row.near else why_it_ranks(row.hit), "why")]
    return [
        _spread(head, score_bar(row.hit.score, with_bar=width >= _ROOM_FOR_BAR), width),
        _spread([(_place(row.hit, width - cells(why) - _LEAST_GAP), "path")], why, width),
        *snippet_rows(row.hit.snippet, width, snippet_lines),
    ]


def trail(hit: Hit) -> str:
    """The headings below the title: ` › Decisions › Cache`."""
    headings = hit.heading_path[1:] if hit.heading_path[:1] == (hit.title,) else hit.heading_path
    return clean_line("".join(f" › {heading[:_LONGEST]}" for heading in headings)[:_LONGEST])


def why_it_ranks(hit: Hit) -> str:
    """Which search found it, and at which place: `meaning 1 · words 2`."""
    ranks = (("meaning", hit.vector_rank), ("words", hit.keyword_rank))
    found = [f"{name} {rank}" for name, rank in ranks if rank is not None]
    marks = [mark for mark, is_so in (("draft", hit.draft), ("local only", hit.sensitive)) if is_so]
    return " · ".join([*found, *marks])


def score_bar(score: float | None, *, with_bar: bool) -> Line:
    """The similarity as a bar and a number; nothing where there is no vector yet."""
    if score is None:
        return []
    filled = round(min(max(score, 0.0), 1.0) * BAR_CELLS)
    number = f"{score:.2f}"
    if not with_bar:
        return [(number, "score")]
    return [("━" * filled, "bar"), ("─" * (BAR_CELLS - filled), "rest"), (f" {number}", "score")]


def snippet_rows(snippet: Excerpt, width: int, lines: int) -> list[Line]:
    """The snippet with its matched words marked, wrapped and cut to exactly `lines` lines."""
    rows = wrapped(marked_text(snippet), max(width, 2), lines)
    return [*rows, *[[] for _ in range(lines - len(rows))]]


def marked_text(snippet: Excerpt) -> Line:
    """The snippet, made safe piece by piece so that the marks stay on their words."""
    text, pieces, position = snippet.text, list[Piece](), 0
    for start, end in sorted(snippet.marks):
        start, end = max(start, position), min(end, len(text))
        if start < end:
            pieces += [(clean_line(text[position:start]), "snippet"), (clean_line(text[start:end]), "match")]
            position = end
    return [*pieces, (clean_line(text[position:]), "snippet")]


def _place(hit: Hit, room: int) -> str:
    """Path and lines, and the space if several were asked; what is on the left is left out where there is no room."""
    path, lines = clean_line(hit.path[-_LONGEST:]), line_range(hit)
    whole = f"{clean_line(hit.space[:_LONGEST])} › {path}:{lines}" if hit.space else f"{path}:{lines}"
    if width_of(whole) <= room:
        return whole
    parts = PurePosixPath(path).parts
    for first in range(1, len(parts)):
        shorter = f"…/{'/'.join(parts[first:])}:{lines}"
        if width_of(shorter) <= room:
            return shorter
    return f"{parts[-1] if parts else ''}:{lines}"


def _spread(left: Line, right: Line, width: int) -> Line:
    """Left part at the left, right part at the right; the left one is cut if they would touch."""
    taken = cells(right)
    room = width - taken - (_LEAST_GAP if taken else 0)
    if room < 1:
        return cut(left, max(width, 1))
    left = cut(left, room)
    return [*left, (" " * (width - cells(left) - taken), ""), *right]
