"""A section of Markdown as styled lines, one for each line of the file, so that a line range can be marked beside it.

This reads like rendered Markdown without being a parser: no line depends on more than the fence it stands in, and the
time is linear in the text, whatever it holds.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from textual.content import Content, Span

from donna_tui.safety.terminal import clean_line
from donna_tui.text.lines import each_line

MOST_CHARACTERS = 65_536

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+")
_BULLET = re.compile(r"([ \t]*)([-*+])[ \t]+(?:\[([ xX/-])\][ \t]+)?")
_NUMBER = re.compile(r"([ \t]*)(\d{1,9}[.)])[ \t]+")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")

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


@dataclass(frozen=True, slots=True)
class TextLine:
    """One line of the file. `hang` is the indent of its continuation where it is wrapped."""

    content: Content
    hang: int


def markdown_lines(text: str) -> Iterator[TextLine]:
    """The lines of a section, without the marks of Markdown. Spans carry names of styles."""
    fence = ""
    for line in _file_lines(text[:MOST_CHARACTERS]):
        opening = _FENCE.match(line)
        if fence:
            yield TextLine(_styled(line, "code"), 0)
            if opening and opening[1].startswith(fence) and not line[opening.end() :].strip():
                fence = ""
        elif opening:
            fence = opening[1]
            yield TextLine(_styled(line, "dim"), 0)
        else:
            yield TextLine(*_block(line))


def _file_lines(text: str) -> Iterator[str]:
    return (text[start:end].expandtabs(4) for start, end, _ in each_line(text))


def _block(line: str) -> tuple[Content, int]:
    if _RULE.match(line):
        return _styled("─" * 12, "dim"), 0
    if heading := _HEADING.match(line):
        content = inline(line[heading.end() :].rstrip().rstrip("#").rstrip())
        return content.stylize("heading"), 0
    if quote := _QUOTE.match(line):
        content, hang = _block(line[quote.end() :]) if quote.end() else (Content(""), 0)
        return Content.assemble(("▎ ", "dim"), content.stylize_before("quote")), hang + 2
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
