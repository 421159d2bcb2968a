"""One search result as a few lines of text: what it is, where it stands, why it is here, how well it fits."""

from __future__ import annotations

from pathlib import PurePosixPath

from donna_tui.records import dataclass
from donna_tui.results import Excerpt, Hit
from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import line_range
from donna_tui.tui.widgets.pieces import Line, Piece, cells, cut, plain, width_of, wrapped

BAR_CELLS = 6
_ROOM_FOR_BAR = 46
_LEAST_GAP = 2
_LOST_IN_WRAPPING = 6
"""Cells at the end of a line that the next word may leave empty."""

_LONGEST = 400
"""Characters of a title, heading or path that are looked at; no screen shows more."""


@dataclass(frozen=True, slots=True)
class Row:
    """A hit in the list. A near miss was not judged relevant and is shown dimmed, without bar and number.

    The best passage of a note leads the others, which follow it as `inner` rows or are `folded`: so many are hidden.
    """

    hit: Hit
    near: bool = False
    folded: int = 0
    inner: bool = False

    @property
    def note(self) -> tuple[str, str]:
        """What the passages of one note have in common: its space and document."""
        return self.hit.space, self.hit.document_id


def row_lines(row: Row, width: int, snippet_lines: int) -> list[Line]:
    """The lines of a row, each at most `width` cells. Their pieces carry names of styles that the list resolves."""
    title = "near" if row.near else "title"
    if row.inner:
        head = [("└ ", "rest"), (trail(row.hit).removeprefix(" › ") or clean_line(row.hit.title[:_LONGEST]), title)]
    else:
        head = [(clean_line(row.hit.title[:_LONGEST]), title), (trail(row.hit), "trail")]
    why = [("near miss" if row.near else why_it_ranks(row.hit), "why")]
    return [
        _spread(head, [] if row.near else rank_bar(row.hit.rank_score, with_bar=width >= _ROOM_FOR_BAR), width),
        _placed(row.hit, why, width),
        *snippet_rows(row.hit.snippet, width, snippet_lines),
    ]


def folded_line(row: Row, width: int) -> Line:
    """The line below a row: how many passages of its note are hidden behind it."""
    return cut([(f"… {row.folded} more in this note →", "trail")], width) if row.folded else []


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


def rank_bar(rank: float, *, with_bar: bool) -> Line:
    """The value that a hit was ranked by, as a bar and a number."""
    filled = round(min(max(rank, 0.0), 1.0) * BAR_CELLS)
    number = f"{rank:.2f}"
    if not with_bar:
        return [(number, "score")]
    return [("━" * filled, "bar"), ("─" * (BAR_CELLS - filled), "rest"), (f" {number}", "score")]


def snippet_rows(snippet: Excerpt, width: int, lines: int) -> list[Line]:
    """The snippet with its matched words marked, wrapped and cut to exactly `lines` lines."""
    width = max(width, 2)
    room = width * lines - _LOST_IN_WRAPPING * (lines - 1) - len("……")
    rows = wrapped(marked_text(snippet.fitted(room)), width, lines)
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


def _placed(hit: Hit, why: Line, width: int) -> Line:
    """Path and lines at the left, why it ranks at the right as far as there is room: the lines are never cut."""
    whole = place(hit, width)
    if width_of(whole) + _LEAST_GAP + cells(why) <= width or cells(why) + _LEAST_GAP > width // 2:
        return _spread([(whole, "path")], why if cells(why) <= width - width_of(whole) - _LEAST_GAP else [], width)
    return _spread([(place(hit, width - cells(why) - _LEAST_GAP), "path")], why, width)


def place(hit: Hit, room: int) -> str:
    """Path and lines in at most `room` cells, and the space if several were asked. The path gives way in its middle."""
    path, lines = clean_line(hit.path[-_LONGEST:]), f":{line_range(hit)}"
    whole = f"{clean_line(hit.space[:_LONGEST])} › {path}" if hit.space else path
    room -= width_of(lines)
    if width_of(whole) <= room:
        return whole + lines
    first, *folders, name = PurePosixPath(path).parts if "/" in path else ("", path)
    kept = (f"{first}/…/{'/'.join((*folders[skipped:], name))}" for skipped in range(1, len(folders) + 1))
    shorter = (*kept, f"…/{name}" if first else name)
    fitting = next((each for each in shorter if width_of(each) <= room), None)
    return (shortened(name, room) if fitting is None else fitting) + lines


def shortened(text: str, room: int) -> str:
    """A text with an ellipsis in its middle where it is wider than `room` cells."""
    if width_of(text) <= room:
        return text
    head, tail = max(room - 1, 0) // 2, max(room - 1, 0) - max(room - 1, 0) // 2
    end = next((text[at:] for at in range(len(text)) if width_of(text[at:]) <= tail), "")
    return f"{plain(cut([(text, '')], head + 1))[:-1]}…{end}" if room > 1 else "…"[:room]


def _spread(left: Line, right: Line, width: int) -> Line:
    """Left part at the left, right part at the right; the left one is cut if they would touch."""
    taken = cells(right)
    room = width - taken - (_LEAST_GAP if taken else 0)
    if room < 1:
        return cut(left, max(width, 1))
    left = cut(left, room)
    return [*left, (" " * (width - cells(left) - taken), ""), *right]
