"""Render Markdown as styled blocks with their line numbers, and links that can be followed.

This is not a full parser; it takes linear time for any text. Properties are shown as chips, headings by level, tables
in columns, callouts with an icon and code with colours; fences and block ids are hidden.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import takewhile

from textual.content import Content, Span

from donna_tui.safety.terminal import clean_line
from donna_tui.text.lines import each_line, line_of
from donna_tui.text.markdown import BOXES, IMAGE_SIZE, headings
from donna_tui.tui.lib.links import LinkRef

MAX_CHARACTERS = 65_536

_FENCE = re.compile(r" {0,3}(`{3,}|~{3,})")
_HEADING = re.compile(r" {0,3}(#{1,6})[ \t]+")
_UNDERLINE = re.compile(r"(?<!\n)\n {0,3}(?:=+|-+)[ \t]*\r?$", re.MULTILINE)
_BULLET = re.compile(r"([ \t]*)([-*+])[ \t]+(?:\[([ xX/-])\][ \t]+)?")
_NUMBER = re.compile(r"([ \t]*)(\d{1,9}[.)])[ \t]+")
_QUOTE = re.compile(r" {0,3}>[ \t]?")
_CALLOUT = re.compile(r" {0,3}>[ \t]?\[!([\w-]{1,30})\][+-]?[ \t]*")
_BLOCK_ID = re.compile(r"(?:^|(?<=[ \t]))\^[A-Za-z0-9-]+[ \t]*$")
_TABLE_RULE = re.compile(r" {0,3}\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_CELL_END = re.compile(r"(?<!\\)\|")
_RULE = re.compile(r" {0,3}([-*_])[ \t]*(?:\1[ \t]*){2,}$")

_INTERRUPTS_PARAGRAPH = re.compile(r" {0,3}(?:#{1,6}[ \t]|>|\||<|\$\$|([-*_])[ \t]*(?:\1[ \t]*){2,}$)| {8}")
"""Headings, quotes, tables, HTML, formulas, rules and code: never part of the paragraph before them."""

_INLINE = re.compile(
    r"`(?P<code>[^`]+)`"
    r"|!?\[\[(?P<wiki>[^\[\]]+)\]\]"
    r"|!?\[(?P<link>[^\[\]]*)\]\((?P<url><[^<>]*>|(?:[^()\s]|\([^()\s]*\))*)(?:\s[^()]*)?\)"
    r"|\*\*\*(?=\S)(?P<both>[^*]+)(?<=\S)\*\*\*"
    r"|\*\*(?=\S)(?P<strong>(?:[^*]|\*(?!\*))+)(?<=\S)\*\*"
    r"|(?<!\w)__(?=\S)(?P<bold>(?:[^_]|_(?!_))+)(?<=\S)__(?!\w)"
    r"|~~(?P<gone>[^~]+)~~"
    r"|==(?P<mark>[^=]+)=="
    r"|(?<![\w*])\*(?P<emphasis>[^*\s][^*]*)\*(?!\w)"
    r"|(?<!\w)_(?P<underlined>[^_\s][^_]*)_(?!\w)"
    r"|(?<!\S)(?P<tag>#[^\s#\[\]()`*]+)"
)
_INLINE_STYLES = {
    "code": "code",
    "wiki": "link",
    "url": "link",
    "both": "strong",
    "strong": "strong",
    "bold": "strong",
    "gone": "gone",
    "mark": "strong",
    "emphasis": "emphasis",
    "underlined": "emphasis",
    "tag": "link",
}
_NESTED = frozenset({"both", "strong", "bold", "gone", "mark", "emphasis", "underlined"})
"""Forms of emphasis, which may contain others. None contains itself, which bounds the depth."""

_SIZE = re.compile(rf"{IMAGE_SIZE}$")

_CALLOUTS = {
    name: (icon, style)
    for icon, style, names in (
        ("✎", "note", "note"),
        ("ℹ", "note", "info"),
        ("☐", "note", "todo"),
        ("≡", "note", "abstract summary tldr example"),
        ("★", "tip", "tip hint important"),
        ("✓", "tip", "success check done"),
        ("?", "warning", "question help faq"),
        ("▲", "warning", "warning caution attention"),
        ("✗", "danger", "failure fail missing danger error bug"),
        ("❝", "dim", "quote cite"),
    )
    for name in names.split()
}
"""Icon and style of Obsidian's callout types; an unknown type is shown as a note."""

_KEYWORDS = (
    "and as async await begin break case catch class const continue def default del delete do done elif else end enum"
    " except export extends false False fi finally fn for from func function if implements import in insert interface"
    " into is lambda let local match module mut new nil None not null or package pass private protected pub public"
    " raise return select self set SELECT FROM WHERE static struct super switch then this throw trait true True try"
    " type typeof undefined union update use var void while with yield"
).split()
_CODE = re.compile(
    r"(?P<string>\"(?:[^\"\\]|\\.){0,200}\"|'(?:[^'\\]|\\.){0,200}'|`[^`]{0,200}`)"
    r"|(?P<comment>(?:(?<!\S)#|(?<![:\w])//|(?<!\S)--(?=\s)).*)"
    rf"|(?P<keyword>\b(?:{'|'.join(_KEYWORDS)})\b)"
    r"|(?P<number>\b\d[\d_.]*\b)"
)
"""The tokens that are highlighted in code of any language. The length of strings is bounded, else a line of escaped
quotation marks takes quadratic time.
"""

_PROPERTY = re.compile(r"([^\s:#-][^:]{0,60}):[ \t]*(.*)$")
_LONGEST_VALUE = 60
_MAX_PROPERTIES = 60

HARD_WRAPPED = 60
"""A line of prose at least this long is considered hard-wrapped, and is joined with the next one."""


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of a table as cells; row 1 is the row of dashes below its head."""

    rows: tuple[tuple[Content, ...], ...]
    widths: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Block:
    """A line of the file, or several lines of prose that belong together.

    `hang` is the indent of wrapped rows. `starts` are the offsets in `content` at which its lines begin, and `line` is
    the first of them, counted from 0. A line of a table is the `row` of a `table`. `rail` is the prefix of each row of
    a wrapped block, such as the bar of a quotation.
    """

    content: Content
    hang: int
    line: int
    starts: tuple[int, ...] = (0,)
    table: Table | None = None
    row: int = 0
    rail: Content | None = None

    def joined(self, line: str) -> Block:
        more = inline(line.strip())
        return replace(
            self, content=Content.assemble(self.content, " ", more), starts=(*self.starts, len(self.content) + 1)
        )


@dataclass(slots=True)
class _State:
    """The parser state: the open fence, the callout, and the prose that the next line may continue."""

    fence: str = ""
    callout: str = ""
    prose: str = ""


def markdown_blocks(text: str, *, join: bool = True) -> Iterator[Block]:
    """Parse a section into blocks, without the Markdown syntax. Spans have names of `MARKDOWN_STYLES`.

    With `join`, hard-wrapped lines of prose are joined, and properties at the beginning of the text are shown as chips.
    """
    text = text[:MAX_CHARACTERS]
    spans = list(each_line(text))
    lines = [text[start:end].expandtabs(4) for start, end, _ in spans]
    state = _State()
    block: Block | None = None
    number = _properties_end(lines) if join else 0
    underlined = _underlined(text, [start for start, _, _ in spans[number:]], number)
    if number:
        yield Block(_chips(lines[1 : number - 1]), 0, 0, (0,) * number)
    while number < len(lines):
        line = lines[number]
        if join and block is not None and not state.fence and _continues(state.prose, line):
            block, state.prose = block.joined(line), line
            number += 1
            continue
        if block is not None:
            yield block
            block = None
        if number in underlined and not state.fence:
            yield _underlined_heading(line, number, underlined[number])
            number += 1
            state.prose = state.callout = ""
            continue
        if not state.fence and (rows := _table_rows(lines, number)):
            yield from _table(rows, number)
            number += len(rows)
            state.prose = state.callout = ""
            continue
        block = _start(line, number, state)
        number += 1
    if block is not None:
        yield block


def _start(line: str, number: int, state: _State) -> Block:
    opening = _FENCE.match(line)
    if state.fence:
        closes = opening is not None and opening[1].startswith(state.fence) and not line[opening.end() :].strip()
        state.prose = ""
        if closes:
            state.fence = ""
            return Block(Content.styled("╰─", "dim"), 0, number)
        return Block(_code(line), 2, number, rail=_CODE_RAIL)
    if opening is not None:
        state.fence, state.prose, state.callout = opening[1], "", ""
        name = clean_line(line[opening.end() :].strip())
        return Block(Content.assemble(("╭─ ", "dim"), (name, "dim")), 0, number)
    if _QUOTE.match(line):
        state.prose = ""
        return _quoted(line, number, state)
    state.callout = ""
    content, hang = _content(_BLOCK_ID.sub("", line) if "^" in line else line)
    state.prose = "" if _INTERRUPTS_PARAGRAPH.match(line) else line
    return Block(content, hang, number)


_CODE_RAIL = Content.styled("│ ", "dim")


def _code(line: str) -> Content:
    """Render a line of code after its rail, with the common keywords of most languages highlighted."""
    shown = clean_line(line)
    spans = [Span(match.start() + 2, match.end() + 2, match.lastgroup or "code") for match in _CODE.finditer(shown)]
    return Content(f"│ {shown}", [Span(0, 2, "dim"), Span(2, len(shown) + 2, "code"), *spans])


def _quoted(line: str, number: int, state: _State) -> Block:
    """Render a line of a quotation, or of a callout in its colour."""
    if (opening := _CALLOUT.match(line)) and not state.callout:
        kind = opening[1].lower()
        icon, state.callout = _CALLOUTS.get(kind, _CALLOUTS["note"])
        title = inline(line[opening.end() :].strip()) or Content(clean_line(kind.capitalize()))
        head = Content.assemble(f"{icon} ", title).stylize_before(state.callout).stylize_before("strong")
        return _railed(head, 2, number, state.callout)
    quote = _QUOTE.match(line)
    inside = line[quote.end() :] if quote else line
    content, hang = _item_or_prose(_BLOCK_ID.sub("", inside) if "^" in inside else inside)
    return _railed(content if state.callout else content.stylize_before("quote"), hang, number, state.callout or "dim")


def _railed(content: Content, hang: int, number: int, style: str) -> Block:
    rail = Content.styled("▎ ", style)
    return Block(Content.assemble(rail, content), hang + 2, number, rail=rail)


def _properties_end(lines: Sequence[str]) -> int:
    """Count the lines of the properties at the top of a note, including their delimiters; 0 without properties."""
    if not lines or lines[0].rstrip() != "---":
        return 0
    ends = (number for number, line in enumerate(lines[1:200], 2) if line.rstrip() in ("---", "..."))
    return next(ends, 0)


def _chips(lines: Sequence[str]) -> Content:
    """Render properties in one line: a dim name, and its value or values."""
    found: list[tuple[str, list[str]]] = []
    for line in lines:
        item = line.strip()
        if item.startswith("- ") and found:
            found[-1][1].append(_plain_value(item[2:]))
        elif (named := _PROPERTY.match(line)) and len(found) < _MAX_PROPERTIES:
            value = named[2].strip()
            values = value[1:-1].split(",") if value[:1] == "[" and value[-1:] == "]" and value[:2] != "[[" else [value]
            found.append((clean_line(named[1]), [each for each in map(_plain_value, values) if each]))
    parts: list[Content] = []
    for name, values in found:
        if values:
            shown = Content(" · ").join(inline(each) for each in values)
            parts.append(Content.assemble((f"{name} ", "dim"), shown.stylize_before("key")))
    return Content("   ").join(parts)


def _plain_value(value: str) -> str:
    bare = value.strip().strip("\"'")
    return bare if len(bare) <= _LONGEST_VALUE else f"{bare[: _LONGEST_VALUE - 1]}…"


def _table_rows(lines: Sequence[str], number: int) -> list[str]:
    """Return the lines of the table that begins at a line; none if there is no table."""
    if "|" not in lines[number] or number + 1 >= len(lines) or "|" not in lines[number + 1]:
        return []
    if not _TABLE_RULE.match(lines[number + 1]) or _QUOTE.match(lines[number]):
        return []
    return list(takewhile(lambda line: "|" in line, lines[number:]))


def _table(rows: Sequence[str], number: int) -> Iterator[Block]:
    cells = [tuple(map(inline, _cells(row))) for row in rows]
    columns = max(map(len, cells))
    widths = [
        max((row[column].cell_length for place, row in enumerate(cells) if place != 1 and column < len(row)), default=0)
        for column in range(columns)
    ]
    head = tuple(cell.stylize_before("strong") for cell in cells[0])
    table = Table((head, (), *cells[2:]), tuple(max(1, width) for width in widths))
    for place, row in enumerate(table.rows):
        yield Block(Content("  ").join(row), 0, number + place, table=table, row=place)


def _cells(row: str) -> list[str]:
    parts = _CELL_END.split(row.strip())
    if parts and not parts[0].strip():
        parts = parts[1:]
    if parts and not parts[-1].strip():
        parts = parts[:-1]
    return [part.strip().replace("\\|", "|") for part in parts] or [""]


def _continues(before: str, line: str) -> bool:
    """Check whether a line continues the hard-wrapped paragraph or list item before it."""
    if len(before) < HARD_WRAPPED or before.endswith(("  ", "\\")) or not line.strip():
        return False
    return not any(pattern.match(line) for pattern in (_INTERRUPTS_PARAGRAPH, _BULLET, _NUMBER, _FENCE))


_LEVELS = ("h1", "h2", "h3", "heading", "heading", "heading")


def _underlined(text: str, starts: list[int], first: int) -> dict[int, int]:
    """Return the level of each line of a heading with a line of `=` or `-` below it, and 0 for that line. The offsets
    `starts` are those of the lines from the number `first` on.
    """
    levels: dict[int, int] = {}
    if starts and _UNDERLINE.search(text, starts[0]):
        for heading in headings(text, starts[0]):
            start, end = (first + line_of(starts, at) - 1 for at in (heading.start, heading.body_start - 1))
            if start < end:
                levels |= dict.fromkeys(range(start, end), heading.level) | {end: 0}
    return levels


def _underlined_heading(line: str, number: int, level: int) -> Block:
    if not level:
        return Block(_RULE_LINE, 0, number)
    return Block(inline(line.strip()).stylize(_LEVELS[level - 1]), 0, number)


_RULE_LINE = Content.styled("─" * 12, "dim")


def _content(line: str) -> tuple[Content, int]:
    if _RULE.match(line):
        return _RULE_LINE, 0
    if heading := _HEADING.match(line):
        content = inline(line[heading.end() :].rstrip().rstrip("#").rstrip())
        return content.stylize(_LEVELS[len(heading[1]) - 1]), 0
    return _item_or_prose(line)


def _item_or_prose(line: str) -> tuple[Content, int]:
    if bullet := _BULLET.match(line):
        box = f"{BOXES.get(bullet[3] or '', '•')} "
        content = inline(line[bullet.end() :])
        if bullet[3] in ("x", "X", "-"):
            content = content.stylize_before("dim")
        return Content.assemble(bullet[1], (box, "mark"), content), len(bullet[1]) + 2
    if number := _NUMBER.match(line):
        mark = f"{number[2]} "
        return Content.assemble(number[1], (mark, "mark"), inline(line[number.end() :])), len(number[1]) + len(mark)
    return inline(line), len(line) - len(line.lstrip())


def inline(line: str) -> Content:
    """Render code, emphasis, links and tags within a line; every piece is sanitised."""
    text, spans, position = "", [], 0
    for match in _INLINE.finditer(line):
        kind = match.lastgroup or "code"
        text += clean_line(line[position : match.start()])
        shown = inline(match[kind]) if kind in _NESTED else Content(clean_line(_label(kind, match)))
        if kind == "both":
            shown = shown.stylize_before("emphasis")
        start, text = len(text), text + shown.plain
        spans.append(Span(start, len(text), _INLINE_STYLES[kind]))
        spans += [Span(start + span.start, start + span.end, span.style) for span in shown.spans]
        if kind in ("wiki", "url"):
            ref = LinkRef("wiki" if kind == "wiki" else "url", match[kind])
            spans.append(Span(start, len(text), ref.style))
        position = match.end()
    return Content(text + clean_line(line[position:]), spans)


def _label(kind: str, match: re.Match[str]) -> str:
    """Return the displayed text of a link: its alias if it has one."""
    if kind not in ("wiki", "url"):
        return match[kind]
    label = match["link" if kind == "url" else "wiki"]
    label = _SIZE.sub("", label) if match[0].startswith("!") else label
    return label if kind == "url" else label.rpartition("|")[2]
