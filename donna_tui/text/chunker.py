"""Split notes into passages at headings and sentences, and plain text at paragraphs and sentences."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import HEADING_CHARS, Section, opening_heading, shorten, split_sections
from donna_tui.text.prose import Span
from donna_tui.text.tokens import EstimatedTokens, TokenCounter
from donna_tui.text.words import EMOJI

_BLANK_LINE = re.compile(r"(?>\r\n|\r|\n)[ \t]*(?>\r\n|\r|\n)")
_LINE_END = re.compile(r"(?>\r\n|\r|\n)")
_SENTENCE_END = re.compile(r"[.!?…][\"'”’»)\]]*\s|[。！？]")
_CLAUSE_END = re.compile(r"[。！？、，；：]")
_SPACE = re.compile(r"\s*")


def skip_space(text: str, offset: int) -> int:
    """Return the offset of the first character from `offset` on that is not white space."""
    match = _SPACE.match(text, offset)
    return match.end() if match else offset


def trim_end(text: str, start: int, end: int) -> int:
    return start + len(text[start:end].rstrip())


def best_cut(text: str, start: int, middle: int, limit: int) -> int | None:
    """Return the best place to end a passage of which `text[start:limit]` is the new part; None inside a single word.

    Past `middle`, a blank line is better than a line end, and that better than a sentence end; any space is the last
    choice. `start` is the beginning of a word, and the result is greater.
    """
    low = max(start + 1, middle)
    for boundary in (_BLANK_LINE, _LINE_END, _SENTENCE_END):
        cut = _last(boundary, text, low, limit)
        if cut is not None:
            return cut
    if text[limit - 1].isspace() or text[limit : limit + 1].isspace():
        return limit
    words = text[start:limit].rsplit(None, 1)
    return limit - len(words[1]) if len(words) == 2 else None


def forced_cut(text: str, middle: int, limit: int) -> int:
    """Return where to split an overlong word: after punctuation of scripts without spaces, or at the limit."""
    return _last(_CLAUSE_END, text, middle, limit) or limit


def overlap_start(text: str, low: int, high: int) -> int:
    """Return where the next passage begins so as to repeat the end of the last one, `text[low:high]`; or `high`.

    The beginning of a line is better than that of a sentence, and that better than that of a word.
    """
    for boundary in (_LINE_END, _SENTENCE_END):
        match = boundary.search(text, low - 1, high)
        if match and (start := skip_space(text, match.end())) < high:
            return start
    while low < high and not text[low - 1].isspace():
        low += 1
    return min(skip_space(text, low), high)


def _last(boundary: re.Pattern[str], text: str, low: int, high: int) -> int | None:
    end = None
    for match in boundary.finditer(text, low, high):
        end = match.end()
    return end


def token_starts(text: str, start: int, end: int, counter: TokenCounter) -> Iterator[int]:
    """Yield the offset of each token of `text[start:end]`, passing limited parts to the tokenizer."""
    while start < end:
        high = min(start + COUNTED_AT_ONCE, end)
        if high < end:
            high = best_cut(text, start, high - COUNTED_AT_ONCE // 10, high) or high
        yield from (start + first for first, _ in counter.spans(text[start:high]))
        start = skip_space(text, high)


def _limit(tokens: list[int], start: int, budget: int, chars: int, end: int) -> int:
    """Return the furthest end of a passage from `start`, by the offsets of all tokens and its length in characters."""
    after = bisect_left(tokens, start) + budget
    limit = tokens[after] if after < len(tokens) else end
    return max(start + 1, min(limit, start + chars, end))


SEPARATOR = " › "
GAP = "…"
USUAL_WINDOW = 256
WINDOW_SHARE = 5
"""The context gets at most a fifth of the window in estimated tokens, which are at most four fifths in real ones. In
windows larger than usual it does not grow.
"""

_ESTIMATE = EstimatedTokens()


@dataclass(frozen=True, slots=True)
class ChunkContext:
    """The context shared by the passages of a section. `heading` is the section's own, if `line` contains all of it."""

    line: str
    heading: str

    def embed(self, text: str) -> str:
        """Compose the text to embed for the passage `text`, without a heading line that `line` already contains."""
        opening = opening_heading(text) if self.heading else None
        if opening and opening.text == self.heading:
            text = text[opening.body_start :].lstrip()
        return f"{self.line}\n{text}" if self.line and text else self.line or text


def context_of(title: str, heading_path: tuple[str, ...], max_tokens: int) -> ChunkContext:
    """Build the context of a section for a window of `max_tokens`. A title equal to the first heading is omitted.

    If the context is too long, the headings between the title and the last one are omitted first; then those two are
    shortened.
    """
    names = [" ".join(shorten(name, HEADING_CHARS).split()) for name in (title, *heading_path)]
    if heading_path and names[0].casefold() == names[1].casefold():
        del names[0]
    parts = [name for name in names if name]
    limit = min(max_tokens, USUAL_WINDOW) // WINDOW_SHARE
    line = SEPARATOR.join(parts)
    if _cost(line) <= limit:
        return ChunkContext(line, heading_path[-1] if heading_path else "")
    return ChunkContext(_fit(parts, limit), "")


def embedding_text(title: str, heading_path: tuple[str, ...], text: str, *, max_tokens: int = USUAL_WINDOW) -> str:
    """Compose the text that is embedded for a chunk: `title › heading path`, a line break, and the chunk's own text.

    `max_tokens` is the window for which the chunk was made; all from 256 on give the same result. Only the context is
    ever shortened to fit.
    """
    return context_of(title, heading_path, max_tokens).embed(text)


def _fit(parts: list[str], limit: int) -> str:
    """Join the first and last of `parts` within `limit` estimated tokens, with as many in between as fit."""
    first, last = parts[0], parts[-1]
    for index in range(2, len(parts)):
        line = SEPARATOR.join((first, GAP, *parts[index:]))
        if _cost(line) <= limit:
            return line
    if len(parts) == 1:
        return _within(first, limit)
    share = (limit - 1) // 2
    return SEPARATOR.join((_within(first, share), _within(last, share)))


def _within(text: str, limit: int) -> str:
    """Shorten `text` to at most `limit` estimated tokens, at least two, after a word if it has one."""
    spans = _ESTIMATE.spans(text)
    if len(spans) <= limit:
        return text
    ends = (spans[index][1] for index in range(limit - 2, -1, -1) if spans[index + 1][0] >= spans[index][1])
    end = next(ends, 0)  # a character may be several tokens, which are not separated
    kept = text[:end] if text[end].isspace() else text[:end].rpartition(" ")[0] or text[:end]
    return kept + GAP


def _cost(text: str) -> int:
    return len(_ESTIMATE.spans(text))


CHUNKER_VERSION = "markdown_heading-6"
MIN_TOKENS = 32
SPECIAL_TOKENS = 2
"""Special tokens that models of the BERT family add to a text."""

CHARS_PER_TOKEN = 12
"""Longest average token of a chunk. WordPiece makes one token of any word above 100 letters, however long it is."""

SHRINK_CHARS = 2
"""Characters removed for each excess token: fewer than most tokens have, so that little room is wasted."""

COUNTED_AT_ONCE = 50_000
"""Characters passed to the tokenizer at once, which limits its memory use."""

_NO_TEXT = re.compile(rf"(?>\[\[[\W\d_]{{1,40}}?\]\]|(?![{EMOJI}])[\W_])*")
"""Match what is no text in a note: rules, empty list items, white space, and links to days, as daily notes have to the
days before and after them.
"""


def _has_text(text: str, start: int, end: int) -> bool:
    match = _NO_TEXT.match(text, start, end)
    return match is None or match.end() < end


@dataclass(frozen=True, slots=True)
class Chunk:
    """A passage: exactly `whole[start:end]` of the file's text, in its 1-based, inclusive lines.

    `token_count` is the number of tokens of its embedding text, without the model's special tokens.
    """

    index: int
    heading_path: tuple[str, ...]
    text: str
    start: int
    end: int
    start_line: int
    end_line: int
    token_count: int


def chunk_markdown(
    text: str, *, start: int, title: str, counter: TokenCounter, max_tokens: int, overlap: int
) -> list[Chunk]:
    """Split a note whose body begins at `start` into chunks, in order and in linear time.

    Headings without text of their own are in the heading path of the first chunk below them, or else in its text; after
    the last text they are omitted. A note without any text has one empty chunk, so that it is found by its names,
    properties and tags. The embedding text of each chunk has at most `max_tokens - 2` tokens. Adjacent chunks in one
    section share about `overlap` tokens. Raises ValueError if `max_tokens` is below 32.
    """
    if max_tokens < MIN_TOKENS:
        raise ValueError(f"max_tokens must be at least {MIN_TOKENS}")
    lines = line_starts(text)
    chunks: list[Chunk] = []
    bare: list[Section] = []
    for section in split_sections(text, start):
        # a heading too long for a heading path counts as text
        is_long = section.body_start - section.start > HEADING_CHARS
        body = section.start if is_long else section.body_start
        if not _has_text(text, body, section.end):
            bare.append(section)
            continue
        path = section.heading_path
        others = (heading.start for heading in bare if heading.heading_path != path[: len(heading.heading_path)])
        begin = next(others, section.start)
        bare.clear()
        context = context_of(title, path, max_tokens)
        cutter = _Cutter(text, begin, section.end, context, counter, max_tokens)
        fresh = body
        for low, high, tokens in cutter.passages(overlap):
            is_empty = not _has_text(text, fresh, high)  # only a heading or the rule of a table, or repeated text
            fresh = max(body, high)
            if is_empty:
                continue
            where = (low, high, line_of(lines, low), line_of(lines, high - 1))
            chunks.append(Chunk(len(chunks), path, text[low:high], *where, token_count=tokens))
    if not chunks:
        tokens = len(counter.spans(context_of(title, (), max_tokens).line))
        chunks.append(Chunk(0, (), "", start, start, start_line=1, end_line=1, token_count=tokens))
    return chunks


class _Cutter:
    """Split a section. Offsets are those of the whole text; surrounding white space of the section is excluded."""

    def __init__(
        self, text: str, start: int, end: int, context: ChunkContext, counter: TokenCounter, max_tokens: int
    ) -> None:
        self._text = text
        self._end = trim_end(text, start, end)
        self._start = min(skip_space(text, start), self._end)
        self._context = context
        self._counter = counter
        self._window = max_tokens - SPECIAL_TOKENS
        self._most_chars = CHARS_PER_TOKEN * max_tokens
        self._tokens: list[int] = []
        """The offset of each token of the section, if the section is too long for one passage."""

    def passages(self, overlap: int) -> Iterator[tuple[int, int, int]]:
        if self._start == self._end:
            return
        if self._end - self._start <= self._most_chars:
            tokens = self._count(self._start, self._end)
            if tokens <= self._window:
                yield self._start, self._end, tokens
                return
        self._tokens = list(token_starts(self._text, self._start, self._end, self._counter))
        budget = max(1, self._window - len(self._counter.spans(self._context.line)))
        shared = min(overlap, budget // 2)
        start = fresh = self._start
        while fresh < self._end:
            cut = self._cut(start, fresh, budget)
            if cut is None:
                start = fresh
                continue
            end, tokens = cut
            yield start, end, tokens
            fresh = skip_space(self._text, end)
            if shared:  # repeat up to as many tokens
                first = bisect_left(self._tokens, end) - shared
                low = max(self._tokens[max(0, first)], end - self._most_chars // 4, start + 1)
                start = skip_space(self._text, overlap_start(self._text, low, end))
            else:
                start = fresh

    def _cut(self, start: int, fresh: int, budget: int) -> tuple[int, int] | None:
        """Return the end and token count of the passage from `start`, of which the text from `fresh` on is new.

        Return None if the text repeated before `fresh` leaves no room for a whole new word. Each part is counted again,
        because its tokens may differ from its share of the section's tokens after a long word was split.
        """
        chars = self._most_chars
        while True:
            end = self._furthest(start, fresh, budget, chars)
            if end is None:
                return None
            tokens = self._count(start, end)
            excess = tokens - self._window
            if excess <= 0 or end - start <= 1:
                return end, tokens
            chars = max(1, end - start - excess * SHRINK_CHARS)

    def _furthest(self, start: int, fresh: int, budget: int, chars: int) -> int | None:
        """Return where to end a passage of at most `budget` tokens and `chars` characters from `start`."""
        limit = _limit(self._tokens, start, budget, chars, self._end)
        if limit == self._end:
            return limit
        middle = (start + limit) // 2
        cut = best_cut(self._text, fresh, middle, limit) if fresh < limit else None
        if cut is None and start < fresh:
            return None
        return trim_end(self._text, start, cut or forced_cut(self._text, middle, limit))

    def _count(self, start: int, end: int) -> int:
        return len(self._counter.spans(self._context.embed(self._text[start:end])))


MIN_PIECE_TOKENS, MAX_PIECE_TOKENS = 50, 300

_PARAGRAPH_GAP = re.compile(r"\n[ \t]*\n\s*")
_SENTENCE_GAP = re.compile(r"[.!?][\"'”’»)\]]*\s+")
"""Simpler than `text.sentences`, so that the stored passages of memories do not change when that does."""


def chunk_semantic(
    text: str, counter: TokenCounter, *, least: int = MIN_PIECE_TOKENS, most: int = MAX_PIECE_TOKENS
) -> list[Span]:
    """Split into trimmed pieces of at most `most` tokens; those below `least` are merged if they fit."""
    pieces = _Pieces(text, counter, most)
    return pieces.merged(pieces.sentences(), least)


class _Pieces:
    def __init__(self, text: str, counter: TokenCounter, most: int) -> None:
        self._text, self._counter, self._most = text, counter, most
        self._most_chars = CHARS_PER_TOKEN * most
        self._tokens = list(token_starts(text, 0, len(text), counter))

    def sentences(self) -> Iterator[Span]:
        """Yield paragraphs; the sentences of those that are too long; parts of sentences that are too long."""
        start = skip_space(self._text, 0)
        for paragraph in self._split(_PARAGRAPH_GAP, start, trim_end(self._text, start, len(self._text))):
            if self._fits(*paragraph):
                yield paragraph
                continue
            for low, high in self._split(_SENTENCE_GAP, *paragraph, before_capital=True):
                yield from [(low, high)] if self._fits(low, high) else self._parts(low, high)

    def merged(self, pieces: Iterable[Span], least: int) -> list[Span]:
        """Join each short piece to the next one, or if that does not fit to the previous one."""
        joined: list[Span] = []
        for low, high in pieces:
            if joined and self._count(*joined[-1]) < least:
                if self._fits(joined[-1][0], high):
                    joined[-1] = (joined[-1][0], high)
                    continue
                self._join_last(joined)
            joined.append((low, high))
        if joined and self._count(*joined[-1]) < least:
            self._join_last(joined)
        return joined

    def _join_last(self, joined: list[Span]) -> None:
        """Join the last piece to the one before it, if that fits."""
        if len(joined) > 1 and self._fits(joined[-2][0], joined[-1][1]):
            _, end = joined.pop()
            joined[-1] = (joined[-1][0], end)

    def _split(self, gap: re.Pattern[str], low: int, high: int, *, before_capital: bool = False) -> Iterator[Span]:
        start = low
        for match in gap.finditer(self._text, low, high):
            if not before_capital or self._text[match.end() : match.end() + 1].isupper():
                yield start, trim_end(self._text, start, match.end())
                start = match.end()
        if start < high:
            yield start, high

    def _parts(self, low: int, high: int) -> Iterator[Span]:
        while low < high:
            end = self._furthest(low, high)
            yield low, end
            low = min(skip_space(self._text, end), high)

    def _furthest(self, low: int, high: int) -> int:
        """Return where a part ends, counting its tokens again, which may differ after a split word."""
        limit = _limit(self._tokens, low, self._most, self._most_chars, high)
        while True:
            middle = (low + limit) // 2
            cut = limit if limit == high else best_cut(self._text, low, middle, limit)
            end = trim_end(self._text, low, cut or forced_cut(self._text, middle, limit))
            if end - low <= 1 or len(self._counter.spans(self._text[low:end])) <= self._most:
                return max(end, low + 1)
            limit = low + max(1, (end - low) // 2)

    def _fits(self, low: int, high: int) -> bool:
        return high - low <= self._most_chars and self._count(low, high) <= self._most

    def _count(self, low: int, high: int) -> int:
        return bisect_left(self._tokens, high) - bisect_left(self._tokens, low)
