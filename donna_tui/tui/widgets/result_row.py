"""One search result as a few lines of text: what it is, where it stands, why it is here, how well it fits."""

from __future__ import annotations

from pathlib import PurePosixPath

from rich.cells import cell_len
from textual.content import Content, Span

from donna_tui.records import dataclass
from donna_tui.results import Hit, Snippet
from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import line_range

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


def row_lines(row: Row, width: int, snippet_lines: int) -> list[Content]:
    """The lines of a row, each at most `width` cells. Spans carry names of styles that the list resolves."""
    title = "near" if row.near else "title"
    head = Content.assemble((clean_line(row.hit.title[:_LONGEST]), title), (trail(row.hit), "trail"))
    why = Content.styled("near miss" if row.near else why_it_ranks(row.hit), "why")
    lines = [
        _spread(head, score_bar(row.hit.score, with_bar=width >= _ROOM_FOR_BAR), width),
        _spread(Content.styled(_place(row.hit, width - why.cell_length - _LEAST_GAP), "path"), why, width),
    ]
    return [*lines, *snippet_rows(row.hit.snippet, width, snippet_lines)]


def trail(hit: Hit) -> str:
    """The headings below the title: ` › Decisions › Cache`."""
    headings = hit.heading_path[1:] if hit.heading_path[:1] == (hit.title,) else hit.heading_path
    return clean_line("".join(f" › {heading[:_LONGEST]}" for heading in headings)[:_LONGEST])


def why_it_ranks(hit: Hit) -> str:
    """Which search found it, and at which place: `meaning 1 · words 2`."""
    ranks = (("meaning", hit.vector_rank), ("words", hit.keyword_rank))
    found = [f"{name} {rank}" for name, rank in ranks if rank is not None]
    return " · ".join([*found, *(["local only"] if hit.sensitive else [])])


def score_bar(score: float | None, *, with_bar: bool) -> Content:
    """The similarity as a bar and a number; nothing where there is no vector yet."""
    if score is None:
        return Content("")
    filled = round(min(max(score, 0.0), 1.0) * BAR_CELLS)
    number = Content.styled(f"{score:.2f}", "score")
    if not with_bar:
        return number
    return Content.assemble(("━" * filled, "bar"), ("─" * (BAR_CELLS - filled), "rest"), " ", number)


def snippet_rows(snippet: Snippet, width: int, lines: int) -> list[Content]:
    """The snippet with its matched words marked, wrapped and cut to exactly `lines` lines."""
    wrapped = marked_text(snippet).wrap(max(width, 2)) if lines else []
    if len(wrapped) > lines:
        last = wrapped[lines - 1].truncate(max(width - 2, 1))
        cut = last.plain.rfind(" ") if last.cell_length < wrapped[lines - 1].cell_length else -1
        wrapped = [*wrapped[: lines - 1], (last[:cut] if cut > 0 else last) + Content.styled(" …", "snippet")]
    return [*wrapped, *[Content("")] * (lines - len(wrapped))]


def marked_text(snippet: Snippet) -> Content:
    """The snippet, made safe piece by piece so that the marks stay on their words."""
    text, spans, position = "", [], 0
    for start, end in sorted(snippet.marks):
        start, end = max(start, position), min(end, len(snippet.text))
        if start < end:
            text += clean_line(snippet.text[position:start])
            word = clean_line(snippet.text[start:end])
            spans.append(Span(len(text), len(text) + len(word), "match"))
            text, position = text + word, end
    text += clean_line(snippet.text[position:])
    return Content(text, [Span(0, len(text), "snippet"), *spans])


def _place(hit: Hit, room: int) -> str:
    """Path and lines, and the space if several were asked; what is on the left is left out where there is no room."""
    path, lines = clean_line(hit.path[-_LONGEST:]), line_range(hit)
    whole = f"{clean_line(hit.space[:_LONGEST])} › {path}:{lines}" if hit.space else f"{path}:{lines}"
    if cell_len(whole) <= room:
        return whole
    parts = PurePosixPath(path).parts
    for first in range(1, len(parts)):
        shorter = f"…/{'/'.join(parts[first:])}:{lines}"
        if cell_len(shorter) <= room:
            return shorter
    return f"{parts[-1] if parts else ''}:{lines}"


def _spread(left: Content, right: Content, width: int) -> Content:
    """Left part at the left, right part at the right; the left one is cut if they would touch."""
    room = width - right.cell_length - (_LEAST_GAP if right else 0)
    if room < 1:
        return left.truncate(max(width, 1), ellipsis=True)
    left = left.truncate(room, ellipsis=True)
    gap = width - left.cell_length - right.cell_length
    return Content.assemble(left, " " * gap, right)
