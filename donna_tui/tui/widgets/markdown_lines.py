"""A section of Markdown as styled blocks that know their lines in the file, so that a passage can be marked beside it.

This reads like rendered Markdown without being a parser, in time linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from textual.content import Content, Span

from donna_tui.records import dataclass
from donna_tui.safety.terminal import clean_line
from donna_tui.text.lines import each_line

MOST_CHARACTERS = 65_536

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+")
_BULLET = re.compile(r"([ \t]*)([-*+])[ \t]+(?:\[([ xX/-])\][ \t]+)?")
_NUMBER = re.compile(r"([ \t]*)(\d{1,9}[.)])[ \t]+")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")

_STANDS_ALONE = re.compile(r" {0,3}(?:#{1,6}[ \t]|>|\||<|\$\$|([-*_])[ \t]*(?:\1[ \t]*){2,}$)| {8}")
"""Headings, quotes, tables, HTML, formulas, rules and code: never part of the paragraph before them."""

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|!?\[\[(?P<wiki>[^\[\]]+)\]\]"
    r"|!?\[(?P<link>[^\[\]]*)\]\([^()\s]*(?:\s[^()]*)?\)"
    r"|\*\*(?P<strong>[^*]+)\*\*"
    r"|~~(?P<gone>[^~]+)~~"
    r"|==(?P<mark>[^=]+)=="
    r"|(?<![\w*])\*(?P<emphasis>[^*\s][^*]*)\*(?!\w)"
    r"|(?<!\w)_(?P<underlined>[^_\s][^_]*)_(?!\w)"
    r"|(?<!\S)(?P<tag>#[^\s#\[\]()`*]+)"
)
_INLINE_STYLES = {
    "code": "code",
    "wiki": "link",
    "link": "link",
    "strong": "strong",
    "gone": "gone",
    "mark": "strong",
    "emphasis": "emphasis",
    "underlined": "emphasis",
    "tag": "link",
}
_BOXES = {" ": "☐ ", "x": "☑ ", "X": "☑ ", "/": "◩ ", "-": "☒ "}


HARD_WRAPPED = 60
"""A line of prose at least this long was most likely broken by an editor, and goes on in the next one."""


@dataclass(frozen=True, slots=True)
class Block:
    """A line of the file, or several lines of prose that belong together.

    `hang` is the indent of its continuation where it is wrapped. `starts` are the offsets in `content` at which its
    lines begin, and `line` is the first of them, counted from 0.
    """

    content: Content
    hang: int
    line: int
    starts: tuple[int, ...] = (0,)

    def joined(self, line: str) -> Block:
        """The block with one more line of prose."""
        more = inline(line.strip())
        return replace(
            self,
            content=Content.assemble(self.content, " ", more),
            starts=(*self.starts, len(self.content) + 1),
        )


def markdown_blocks(text: str, *, join: bool = True) -> Iterator[Block]:
    """The blocks of a section, without the marks of Markdown. Spans carry names of styles.

    Unless told otherwise, lines of prose that an editor broke for their length are joined.
    """
    fence = ""
    block: Block | None = None
    before = ""
    for number, line in enumerate(_file_lines(text[:MOST_CHARACTERS])):
        if join and block is not None and not fence and _goes_on(before, line):
            block, before = block.joined(line), line
            continue
        if block is not None:
            yield block
        content, hang, fence, before = _start(line, fence)
        block = Block(content, hang, number)
    if block is not None:
        yield block


def _start(line: str, fence: str) -> tuple[Content, int, str, str]:
    """Content and hang of a new block, the fence it stands in, and the line itself if prose may go on after it."""
    opening = _FENCE.match(line)
    if fence:
        closes = opening is not None and opening[1].startswith(fence) and not line[opening.end() :].strip()
        return _styled(line, "code"), 0, "" if closes else fence, ""
    if opening is not None:
        return _styled(line, "dim"), 0, opening[1], ""
    content, hang = _content(line)
    return content, hang, "", "" if _STANDS_ALONE.match(line) else line


def _goes_on(before: str, line: str) -> bool:
    """Whether a line is the rest of the paragraph or list item before it, which was broken for its length."""
    if len(before) < HARD_WRAPPED or before.endswith(("  ", "\\")) or not line.strip():
        return False
    return not any(pattern.match(line) for pattern in (_STANDS_ALONE, _BULLET, _NUMBER, _FENCE))


def _file_lines(text: str) -> Iterator[str]:
    return (text[start:end].expandtabs(4) for start, end, _ in each_line(text))


def _content(line: str) -> tuple[Content, int]:
    if _RULE.match(line):
        return _styled("─" * 12, "dim"), 0
    if heading := _HEADING.match(line):
        content = inline(line[heading.end() :].rstrip().rstrip("#").rstrip())
        return content.stylize("heading"), 0
    if quote := _QUOTE.match(line):
        content, hang = _item_or_prose(line[quote.end() :])
        return Content.assemble(("▎ ", "dim"), content.stylize_before("quote")), hang + 2
    return _item_or_prose(line)


def _item_or_prose(line: str) -> tuple[Content, int]:
    return _list_item(line) or (inline(line), len(line) - len(line.lstrip()))


def _list_item(line: str) -> tuple[Content, int] | None:
    if bullet := _BULLET.match(line):
        box = _BOXES.get(bullet[3] or "", "• ")
        content = inline(line[bullet.end() :])
        if bullet[3] in ("x", "X", "-"):
            content = content.stylize_before("dim")
        return Content.assemble(bullet[1], (box, "mark"), content), len(bullet[1]) + 2
    if number := _NUMBER.match(line):
        mark = f"{number[2]} "
        return Content.assemble(number[1], (mark, "mark"), inline(line[number.end() :])), len(number[1]) + len(mark)
    return None


def inline(line: str) -> Content:
    """Code, emphasis, links and tags within a line; everything made safe piece by piece."""
    text, spans, position = "", [], 0
    for found in _INLINE.finditer(line):
        kind = found.lastgroup or "code"
        text += clean_line(line[position : found.start()])
        shown = clean_line(_label(kind, found[kind]))
        spans.append(Span(len(text), len(text) + len(shown), _INLINE_STYLES[kind]))
        text += shown
        position = found.end()
    return Content(text + clean_line(line[position:]), spans)


def _label(kind: str, inner: str) -> str:
    """What a link shows: its alias if it has one."""
    return inner.rpartition("|")[2] if kind == "wiki" else inner


def _styled(line: str, style: str) -> Content:
    return Content.styled(clean_line(line), style)
