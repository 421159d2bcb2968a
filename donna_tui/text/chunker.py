"""Cuts a note into passages: by heading, then by what fits the model's window. Nothing is lost and nothing truncated."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import Section, shorten, split_sections
from donna_tui.text.outline import opening_heading
from donna_tui.text.tokens import TokenCounter

CHUNKER_VERSION = "markdown_heading-1"

SPECIAL_TOKENS = 2
"""What the model adds to every text: its start and its end."""

PREFIX_SHARE = 4
"""Title and heading path take a quarter of the window at the most."""

CHARS_PER_TOKEN = 12
"""Longer than words are: a bound on characters, because WordPiece folds an endless word into one token."""

SMALLEST_SHARE = 2
"""A cut at a better place may leave half of a passage empty, not more."""

PIECE_CHARS = 20_000
"""Text given to the tokenizer at once."""

SENTENCE_ENDS = ".!?…。！？؟"  # noqa: RUF001


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: exactly `text[start:end]` of the note, on lines `start_line` to `end_line` (1-based, inclusive)."""

    index: int
    heading_path: tuple[str, ...]
    text: str
    start: int
    end: int
    start_line: int
    end_line: int
    token_count: int


def embedding_text(title: str, heading_path: tuple[str, ...], text: str) -> str:
    """The text that is embedded: `title › heading path`, then the passage without the heading line it begins with."""
    names = heading_path if heading_path and heading_path[0].casefold() == title.casefold() else (title, *heading_path)
    heading = opening_heading(text) if heading_path else None
    body = text[heading.body_start :].lstrip("\r\n") if heading else text
    return f"{' › '.join(shorten(name, 200) for name in names if name)}\n{body}".strip()


def chunk_markdown(
    text: str, *, start: int, title: str, counter: TokenCounter, max_tokens: int, overlap: int
) -> list[Chunk]:
    """The passages of the note body that begins at `start`, in order.

    Together they hold every visible character. The embedded text of each has at most `max_tokens - 2` tokens by
    `counter`; passages of one section share about `overlap` tokens. Takes linear time on any input.
    """
    lines = line_starts(text)
    cutter = _Cutter(text, counter, max_tokens - SPECIAL_TOKENS, overlap)
    spans = [
        (section, low, high) for section in split_sections(text, start) for low, high in cutter.cut(section, title)
    ]
    return [
        Chunk(
            index=index,
            heading_path=section.heading_path,
            text=text[low:high],
            start=low,
            end=high,
            start_line=line_of(lines, low),
            end_line=line_of(lines, high - 1),
            token_count=cutter.count(text[low:high]),
        )
        for index, (section, low, high) in enumerate(spans)
    ]


class _Cutter:
    def __init__(self, text: str, counter: TokenCounter, window: int, overlap: int) -> None:
        self._text, self._counter, self._window, self._overlap = text, counter, window, overlap

    def count(self, text: str) -> int:
        return sum(len(self._counter.spans(text[low : low + PIECE_CHARS])) for low in range(0, len(text), PIECE_CHARS))

    def cut(self, section: Section, title: str) -> Iterator[tuple[int, int]]:
        """Half-open ranges of the section's passages."""
        low, high = _trimmed(self._text, section.start, section.end)
        if low >= high:
            return
        if self._fits(section, title, low, high):
            yield low, high
            return
        prefix = self.count(embedding_text(title, section.heading_path, ""))
        room = self._window - prefix
        ends = self._token_ends(low, high)
        yield from self._windows(section, title, low, high, room, ends)

    def _windows(
        self, section: Section, title: str, low: int, high: int, room: int, ends: list[int]
    ) -> Iterator[tuple[int, int]]:
        while low < high:
            end = self._fitting_end(section, title, low, high, room, ends)
            yield _trimmed(self._text, low, end)
            if end >= high:
                return
            low = _skip_space(self._text, self._overlap_start(low, end, ends), high)

    def _fitting_end(
        self, section: Section, title: str, low: int, high: int, room: int, ends: list[int]
    ) -> int:
        """Where the passage that begins at `low` ends. Tokens of a part may differ from tokens of the whole by a few, so
        the cut is measured, and made again with less room if it does not fit.
        """
        while True:
            end = self._best_end(low, high, room, ends)
            if room <= 1 or self._fits(section, title, *_trimmed(self._text, low, end)):
                return end
            room = room * 3 // 4

    def _fits(self, section: Section, title: str, low: int, high: int) -> bool:
        if high - low > self._window * CHARS_PER_TOKEN:
            return False
        return self.count(embedding_text(title, section.heading_path, self._text[low:high])) <= self._window

    def _token_ends(self, low: int, high: int) -> list[int]:
        """The offsets at which tokens end; the section is tokenised once, in pieces that end between words."""
        ends: list[int] = []
        while low < high:
            end = min(high, low + PIECE_CHARS)
            if end < high:
                end = _last_space(self._text, low, end) or end
            ends += [low + stop for _, stop in self._counter.spans(self._text[low:end])]
            low = end
        return ends

    def _best_end(self, low: int, high: int, room: int, ends: list[int]) -> int:
        first = bisect_right(ends, low)
        limit = ends[first + room - 1] if first + room - 1 < len(ends) else high
        limit = min(limit, low + self._window * CHARS_PER_TOKEN, high)
        return high if limit >= high else self._good_break(low, max(limit, low + 1))

    def _good_break(self, low: int, limit: int) -> int:
        """The last empty line, line end, sentence end or space in the second half of the room; else the room's end."""
        text, half = self._text, low + (limit - low) // SMALLEST_SHARE
        for mark in ("\n\n", "\n"):
            found = text.rfind(mark, half, limit + 1)
            if found > low:
                return found + 1
        sentence = max((text.rfind(f"{mark} ", half, limit) for mark in SENTENCE_ENDS), default=-1)
        if sentence > low:
            return sentence + 1
        return _last_space(text, low, limit + 1) or limit

    def _overlap_start(self, low: int, end: int, ends: list[int]) -> int:
        """Where the next passage begins: some tokens before `end`, at a line or a word, and after `low`."""
        if self._overlap <= 0:
            return end
        last = bisect_left(ends, end)
        back = max(low + 1, ends[max(0, last - self._overlap - 1)] if ends else end)
        middle = low + (end - low) // 2
        back = max(back, middle)
        line = self._text.find("\n", back, end - 1)
        space = self._text.find(" ", back, end - 1)
        start = line if line >= 0 else space
        return start + 1 if start >= 0 else end


def _trimmed(text: str, low: int, high: int) -> tuple[int, int]:
    """The range without white space around it; whole lines keep their indentation."""
    part = text[low:high]
    lead = len(part) - len(part.lstrip())
    line = part.rfind("\n", 0, lead) + 1
    return low + line if part.strip() else high, low + len(part.rstrip())


def _skip_space(text: str, low: int, high: int) -> int:
    while low < high and text[low] in "\r\n":
        low += 1
    return low


def _last_space(text: str, low: int, high: int) -> int | None:
    """The offset after the last white space in a range, or None."""
    found = max(text.rfind(space, low + 1, high) for space in " \n\t\r\u3000")
    return found + 1 if found >= 0 else None
