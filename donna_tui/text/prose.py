"""Find the prose of a note: everything but code blocks and comments.

The rules are CommonMark 0.31 (https://spec.commonmark.org/0.31.2/) and the comments of Obsidian. HTML counts as text.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from donna_tui.text.lines import each_line

CODE_INDENT = 4
MAX_NESTED = 100
"""Maximum depth of nested quotes and lists, which bounds the time per line to its length times this."""

_QUOTE = 0
"""Marks a quote among the open containers; a list item is represented by its indentation in columns."""

_SPACES = re.compile(r" *")
_FENCE = re.compile(r"(`{3,})[^`]*$|(~{3,})")
_HEADING = re.compile(r"#{1,6}(?: |$)")
_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?= |$)")
_RULE = re.compile(r"(?:(?:\* *+){3,}+|(?:- *+){3,}+|(?:_ *+){3,}+)$")
_UNDERLINE = re.compile(r"(?:=+|-+) *$")

_MARK = re.compile(r"\\[!-/:-@\[-`{-~]|(?<!`)(?P<ticks>`+)(?!`).{1,300}?(?<!`)(?P=ticks)(?!`)|(?P<comment><!--|%%)")
"""An escape, a code span, or the beginning of a comment."""

HIDDEN = "\ue000"
"""Stands for each character of a comment, so that offsets stay the same."""

Span = tuple[int, int]


def prose(text: str, start: int = 0) -> Iterator[Span]:
    """Yield each paragraph, heading or table row from `start` on, without the markers of quotes and lists before it."""
    scanner = _Scanner(text)
    for low, high, _ in each_line(text, start):
        yield from scanner.line(low, high)
    yield from scanner.end_paragraph()


def without_comments(text: str, start: int = 0) -> str:
    """Replace each character of a closed comment, except line breaks, by `HIDDEN`."""
    scanner = _Scanner(text)
    for low, high, _ in each_line(text, start):
        deque(scanner.line(low, high), maxlen=0)
    parts, at = [], 0
    for low, high in scanner.comments:
        parts += [text[at:low], hidden(text[low:high])]
        at = high
    return "".join([*parts, text[at:]])


def hidden(text: str) -> str:
    """Replace each character of a text, except line breaks, by `HIDDEN`."""
    return re.sub(r"[^\r\n]", HIDDEN, text)


class _Scanner:
    """The block structure at one line. Columns of a line are indices into `shown`, its copy with tabs expanded."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._low = self._high = 0
        self._shown = ""
        self._containers: list[int] = []
        self._fence = ""
        """The mark that closes the open code block."""
        self._unclosed = False
        """Set within a comment that is not closed; it ends with its container."""
        self.comments: list[Span] = []
        """The closed comments."""
        self._missing: set[str] = set()
        """Closing marks of comments that do not occur in the rest of the text."""
        self._paragraph: Span | None = None

    def line(self, low: int, high: int) -> Iterator[Span]:
        self._low, self._high = low, high
        after = self.comments[-1][1] if self.comments else 0
        if low < after:
            if self._text[after:high].strip():
                self._paragraph = after, high
                yield from self._comments_of(after)
            return
        self._shown = self._text[low:high].expandtabs(CODE_INDENT)
        column, matched = self._continued()
        if matched == len(self._containers) and (self._fence or self._unclosed):
            self._inside(column)
            return
        self._fence, self._unclosed = "", False
        if self._is_blank(column):
            yield from self.end_paragraph()
            del self._containers[matched:]
            return
        yield from self._blocks(column, matched)

    def end_paragraph(self) -> Iterator[Span]:
        """Yield the open paragraph, if there is one, and close it."""
        if self._paragraph:
            yield self._paragraph
        self._paragraph = None

    def _continued(self) -> tuple[int, int]:
        """Return the column after the markers of the open containers that continue in this line, and their number."""
        column = 0
        if self._is_blank(column):
            quote = next((at for at, each in enumerate(self._containers) if each is _QUOTE), len(self._containers))
            return column, quote
        for count, container in enumerate(self._containers):
            after = self._indented(column)
            if container is _QUOTE:
                if after - column >= CODE_INDENT or not self._shown.startswith(">", after):
                    return column, count
                column = self._after_quote_mark(after)
            elif after < len(self._shown):
                if after - column < container:
                    return column, count
                column += container
        return column, len(self._containers)

    def _inside(self, column: int) -> None:
        """Process a line of an open code block or unclosed comment."""
        if self._fence and self._indented(column) - column < CODE_INDENT:
            mark = self._shown[column:].strip(" ")
            if len(mark) >= len(self._fence) and not mark.strip(self._fence[0]):
                self._fence = ""

    def _blocks(self, column: int, matched: int) -> Iterator[Span]:
        """Process the blocks that begin in this line, from the outermost in."""
        while True:
            at = self._indented(column)
            continues = bool(self._paragraph) and matched == len(self._containers)
            if at - column >= CODE_INDENT:
                if self._paragraph:
                    self._paragraph = (self._paragraph[0], self._high)
                    yield from self._comments_of(self._offset(at))
                else:
                    del self._containers[matched:]
                return
            opened = self._container(column, at, continues) if matched < MAX_NESTED else None
            if not opened:
                break
            yield from self.end_paragraph()
            container, column = opened
            self._containers[matched:] = [container]
            matched += 1
            if self._is_blank(column):
                return
        yield from self._leaf(at, matched, continues)

    def _container(self, column: int, at: int, continues: bool) -> tuple[int, int] | None:
        """Parse the quote or list item that begins at column `at`; return it with the column where its text begins."""
        if self._shown.startswith(">", at):
            return _QUOTE, self._after_quote_mark(at)
        marker = _ITEM.match(self._shown, at)
        if not marker or _RULE.match(self._shown, at):
            return None
        after = self._indented(marker.end())
        empty = after == len(self._shown)
        if continues and (empty or marker[1] not in (None, "1")):
            return None
        is_code = after - marker.end() > CODE_INDENT
        words = marker.end() + 1 if empty or is_code else after
        return words - column, min(words, len(self._shown))

    def _leaf(self, at: int, matched: int, continues: bool) -> Iterator[Span]:
        shown = self._shown
        fence = _FENCE.match(shown, at)
        ends = (
            fence or _HEADING.match(shown, at) or _RULE.match(shown, at) or (continues and _UNDERLINE.match(shown, at))
        )
        is_comment = not ends and self._is_comment(at)
        if not ends and not is_comment and self._paragraph and not shown.startswith("|", at):
            self._paragraph = (self._paragraph[0], self._high)
            yield from self._comments_of(self._offset(at))
            return
        yield from self.end_paragraph()
        del self._containers[matched:]
        if fence:
            self._fence = fence[1] or fence[2]
        else:
            self._paragraph = (self._offset(at), self._high)
            yield from self._comments_of(self._offset(at), is_block=is_comment)
            if ends:
                yield from self.end_paragraph()

    def _is_comment(self, at: int) -> bool:
        """Check whether a comment begins at column `at` and continues on the next line."""
        mark, rest = self._shown[at : at + 4], self._shown[at + 2 :]
        return (mark == "<!--" and "-->" not in rest) or (mark[:2] == "%%" and "%%" not in rest)

    def _comments_of(self, start: int, *, is_block: bool = False) -> Iterator[Span]:
        """Add the comments of the line from `start` on. The paragraph ends at one that continues on the next line.

        A mark without an end is text, unless it begins a block.
        """
        at = start
        while mark := _MARK.search(self._text, at, self._high):
            at = mark.end()
            end = self._end_of(mark) if mark["comment"] else 0
            if end:
                self.comments.append((mark.start(), end))
                at = end
            if end > self._high or (mark["comment"] and not end and is_block and mark.start() == start):
                self._unclosed = not end
                first = self._paragraph[0] if self._paragraph else start
                last = first + len(self._text[first : mark.start()].rstrip())
                self._paragraph = (first, last) if first < last else None
                yield from self.end_paragraph()
                return

    def _end_of(self, mark: re.Match[str]) -> int:
        """Return the offset after the end of a comment; 0 if it has none."""
        closing, low = ("%%", mark.end()) if mark["comment"] == "%%" else ("-->", mark.end() - len("--"))
        found = -1 if closing in self._missing else self._text.find(closing, low)
        if found < 0:
            self._missing.add(closing)
        return found + len(closing) if found >= 0 else 0

    def _is_blank(self, column: int) -> bool:
        return self._indented(column) == len(self._shown)

    def _indented(self, column: int) -> int:
        match = _SPACES.match(self._shown, column)
        return match.end() if match else column

    def _after_quote_mark(self, at: int) -> int:
        return at + 2 if self._shown.startswith(" ", at + 1) else at + 1

    def _offset(self, column: int) -> int:
        """Map a column of this line to an offset in the text."""
        line = self._text[self._low : self._high]
        if "\t" not in line:
            return self._low + column
        reached = 0
        for index, each in enumerate(line):
            if reached >= column:
                return self._low + index
            reached += CODE_INDENT - reached % CODE_INDENT if each == "\t" else 1
        return self._high
