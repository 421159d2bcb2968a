"""Parse Markdown: headings, sections, and plain text without markup.

The rules are CommonMark 0.31 (https://spec.commonmark.org/0.31.2/), plus the comments and formulas of Obsidian and
Git's conflict markers. Only headings at the top level count: those in quotes and list items are part of their text.
"""

from __future__ import annotations

import html
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from donna_tui.text.lines import each_line, line_of, line_starts

CODE_INDENT = 4
"""Columns of indentation from which a line is code."""

UNDERLINED_CHARS = 500
"""A longer paragraph above a line of dashes is a paragraph and a rule rather than a heading."""

_ITEM = re.compile(r"(?:[-+*]|(\d{1,9})[.)])(?=[ \t]|$)")
_RAW_OPEN = re.compile(r"<(?:script|pre|style|textarea)(?=[ \t>]|$)", re.IGNORECASE)
_RAW_CLOSE = re.compile(r"</(?:script|pre|style|textarea)>", re.IGNORECASE)
_BLOCK_TAG = re.compile(
    r"</?(?:address|article|aside|base|basefont|blockquote|body|caption|center|col|colgroup|dd|details|dialog|dir|div"
    r"|dl|dt|fieldset|figcaption|figure|footer|form|frame|frameset|h[1-6]|head|header|hr|html|iframe|legend|li|link"
    r"|main|menu|menuitem|nav|noframes|ol|optgroup|option|p|param|search|section|summary|table|tbody|td|tfoot|th"
    r"|thead|title|tr|track|ul)(?=[ \t>]|/>|$)",
    re.IGNORECASE,
)
_DECLARATION = re.compile(r"<![A-Za-z]")


@dataclass(frozen=True, slots=True)
class Heading:
    """A heading as written, without its marks. The text below it begins at `body_start`."""

    level: int
    text: str
    start: int
    body_start: int


def headings(text: str, start: int = 0) -> list[Heading]:
    return list(_Scanner(text).headings(start))


def opening_heading(text: str) -> Heading | None:
    scanner = _Scanner(text)
    heading = next(scanner.headings(0, first_block=True), None)
    return heading if heading and heading.start == 0 else None


class _Scanner:
    """The block structure at one line. At most one of `closes`, `paragraph` and `lazy` is set."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._closes: Callable[[str], bool] | None = None
        """A predicate for a line that ends the open code, HTML, comment or formula block."""
        self._paragraph = -1
        """The offset of the open paragraph; -1 without one."""
        self._lazy = False
        """Whether a quote or list item ends with text that an unmarked line would continue."""
        self._item = 0
        """Columns that put a line inside the open list item; 0 without one."""
        self._item_is_empty = False
        self._conflict = False
        self._indent = 0
        self._last_formula_mark = text.rfind("$$")

    def headings(self, start: int, *, first_block: bool = False) -> Iterator[Heading]:
        for low, high, after in each_line(self._text, start):
            heading = self._line(low, high, after)
            if heading:
                yield heading
            if first_block and self._paragraph < 0:
                return

    def _line(self, low: int, high: int, after: int) -> Heading | None:
        line = self._text[low:high]
        if self._closes:
            if self._closes(line):
                self._closes = None
            return None
        content = line.strip(" \t")
        if not content:
            self._paragraph, self._lazy = -1, False
            if self._item_is_empty:
                self._item, self._item_is_empty = 0, False
            return None
        self._indent = _columns(line[: line.index(content[0])])
        if self._item and self._indent >= self._item:
            self._item_is_empty = False
            self._contained(content)
        elif self._indent >= CODE_INDENT:
            if self._paragraph < 0 and not self._lazy:
                self._item = 0
        else:
            return self._block(content, low, after)
        return None

    def _block(self, content: str, low: int, after: int) -> Heading | None:
        heading = _atx(content, low, after) or self._setext(content, low, after)
        if heading or (self._conflict and content == "======="):
            self._interrupt()
            return heading
        opens = _OPENERS.get(content[0])
        if not (opens and opens(self, content, after)) and not self._lazy:
            self._item = 0
            if self._paragraph < 0:
                self._paragraph = low
        return None

    def _contained(self, content: str) -> None:
        """Process text in a list item or quote. Only its last line decides whether it ends in a paragraph."""
        self._lazy = bool(content.strip("=")) and content[0] not in "#`~" and not _is_rule(content)

    def _interrupt(self) -> None:
        """Begin a block of another kind at the top level, which ends all open blocks."""
        self._paragraph, self._lazy, self._item, self._item_is_empty = -1, False, 0, False

    def _open(self, closes: Callable[[str], bool], *, closed: bool = False) -> bool:
        self._interrupt()
        if not closed:
            self._closes = closes
        return True

    def _setext(self, content: str, low: int, after: int) -> Heading | None:
        mark = content[0]
        if self._paragraph < 0 or mark not in "=-" or content.strip(mark):
            return None
        if low - self._paragraph > UNDERLINED_CHARS or (self._conflict and content == "======="):
            return None
        paragraph = self._text[self._paragraph : low]
        words = " ".join(paragraph[start:end].strip(" \t") for start, end, _ in each_line(paragraph))
        return Heading(1 if mark == "=" else 2, words, self._paragraph, after)

    def _fence(self, content: str, after: int) -> bool:
        mark = content[0]
        length = len(content) - len(content.lstrip(mark))
        if length < 3 or (mark == "`" and mark in content[length:]):
            return False

        def closes(line: str) -> bool:
            content = line.lstrip(" ")
            indent, content = len(line) - len(content), content.rstrip(" \t")
            return indent < CODE_INDENT and len(content) >= length and not content.strip(mark)

        return self._open(closes)

    def _html(self, content: str, after: int) -> bool:
        if content.startswith("<<<<<<< "):
            self._conflict = True
            self._interrupt()
            return True
        if _RAW_OPEN.match(content):
            return self._open(lambda line: bool(_RAW_CLOSE.search(line)), closed=bool(_RAW_CLOSE.search(content)))
        if _BLOCK_TAG.match(content):
            return self._open(lambda line: not line.strip(" \t"))
        marks = (("<!--", "-->"), ("<?", "?>"), ("<![CDATA[", "]]>"))
        mark = next((end for start, end in marks if content.startswith(start)), "")
        mark = mark or (">" if _DECLARATION.match(content) else "")
        return bool(mark) and self._open(lambda line: mark in line, closed=mark in content)

    def _comment(self, content: str, after: int) -> bool:
        """Open Obsidian's comment block; one without an end extends to the end of the note, as in Obsidian."""
        if not content.startswith("%%"):
            return False
        closed = content.count("%%") % 2 == 0
        if closed and not content.endswith("%%"):
            return False
        return self._open(lambda line: "%%" in line, closed=closed)

    def _formula(self, content: str, after: int) -> bool:
        """Open a formula block. Marks without an end are prices or typing errors, not formulas."""
        if not content.startswith("$$") or content.count("$$") % 2 == 0 or after > self._last_formula_mark:
            return False
        return self._open(lambda line: "$$" in line)

    def _quote(self, content: str, after: int) -> bool:
        self._interrupt()
        if self._conflict and content.startswith(">>>>>>> "):
            self._conflict = False
        else:
            self._contained(content.lstrip("> \t"))
        return True

    def _rule_or_item(self, content: str, after: int) -> bool:
        if _is_rule(content):
            self._interrupt()
            return True
        marker = _ITEM.match(content)
        if not marker:
            return False
        space = content[marker.end() :]
        words = space.lstrip(" \t")
        if self._paragraph >= 0 and (not words or marker[1] not in (None, "1")):
            return False
        column = self._indent + marker.end()
        padding = _columns(space[: len(space) - len(words)], column)
        self._interrupt()
        is_code = padding > CODE_INDENT
        self._item = column + (padding if words and not is_code else 1)
        self._item_is_empty = not words
        self._contained("" if is_code else words)
        return True


_OPENERS: dict[str, Callable[[_Scanner, str, int], bool]] = {
    **dict.fromkeys("`~", _Scanner._fence),
    **dict.fromkeys("-*_+0123456789", _Scanner._rule_or_item),
    "<": _Scanner._html,
    ">": _Scanner._quote,
    "%": _Scanner._comment,
    "$": _Scanner._formula,
}


def _atx(content: str, low: int, after: int) -> Heading | None:
    words = content.lstrip("#")
    level = len(content) - len(words)
    if not 1 <= level <= 6 or (words and words[0] not in " \t"):
        return None
    words = words.strip(" \t")
    unclosed = words.rstrip("#")
    if not unclosed or unclosed[-1] in " \t":
        words = unclosed.rstrip(" \t")
    return Heading(level, words, low, after)


def _columns(space: str, column: int = 0) -> int:
    """Return the columns that `space` occupies when it begins at `column`, with tab stops every four columns."""
    return len((" " * column + space).expandtabs(4)) - column if "\t" in space else len(space)


def _is_rule(content: str) -> bool:
    marks = content.replace(" ", "").replace("\t", "")
    return len(marks) >= 3 and content[0] in "-*_" and not marks.strip(content[0])


HEADING_CHARS = 500
"""Characters to which a heading is shortened in the heading path, which every passage below it repeats."""


@dataclass(frozen=True, slots=True)
class Section:
    """Part of a note, by half-open character offsets and by 1-based, inclusive lines of the whole text.

    Level 0, with an empty heading path, is the text before the first heading. `body_start` is the offset after the
    lines of the heading itself. Headings without words are in no path.
    """

    heading_path: tuple[str, ...]
    level: int
    start: int
    end: int
    start_line: int
    end_line: int
    body_start: int


def split_sections(text: str, start: int = 0) -> list[Section]:
    """Split `text` from the line start `start` on into sections: in order, without gaps, and in linear time."""
    if start >= len(text):
        return []
    found = headings(text, start)
    bounds = [*(heading.start for heading in found), len(text)]
    starts = line_starts(text)
    preamble = [_section((), Heading(0, "", start, start), bounds[0], starts)] if bounds[0] > start else []
    below = zip(_paths(found), bounds[1:], strict=True)
    return preamble + [_section(path, heading, end, starts) for (path, heading), end in below]


def _section(path: tuple[str, ...], heading: Heading, end: int, starts: list[int]) -> Section:
    return Section(
        heading_path=path,
        level=heading.level,
        start=heading.start,
        end=end,
        start_line=line_of(starts, heading.start),
        end_line=line_of(starts, end - 1),
        body_start=heading.body_start,
    )


def _paths(found: list[Heading]) -> Iterator[tuple[tuple[str, ...], Heading]]:
    """Yield each heading with its path, in which it replaces all earlier headings of its own level or deeper."""
    above: list[tuple[int, str]] = []
    for heading in found:
        while above and above[-1][0] >= heading.level:
            above.pop()
        above.append((heading.level, shorten(heading.text, HEADING_CHARS)))
        yield tuple(text for _, text in above if text), heading


def shorten(text: str, chars: int) -> str:
    """Shorten `text` to at most `chars` characters with an ellipsis, after a word if it has one."""
    if len(text) <= chars:
        return text
    kept, rest = text[: chars - 1], text[chars - 1 :]
    if not (rest[0].isspace() or kept[-1:].isspace()):
        kept = kept.rpartition(" ")[0] or kept
    return kept.rstrip() + "…"


LONGEST = 8_000
"""Maximum number of characters that are converted; no excerpt is longer."""

CELL_END = re.compile(r"(?<!\\)\|")
DELIMITER_ROW = re.compile(r"[ \t|:]*-[ \t|:-]*\Z")
"""The line between the head of a table and its rows."""


def _table_cells(table: re.Match[str]) -> str:
    rows = [row for row in table.group().splitlines() if not DELIMITER_ROW.match(row)]
    lines = (" · ".join(filter(None, map(str.strip, CELL_END.split(row)))) for row in rows)
    return " • ".join(filter(None, lines)) + "\n"


IMAGES = "png|jpe?g|gif|svg|webp|avif|bmp"
"""Extensions of images, as a pattern."""

_EMBEDDED = re.compile(r"!\[\[([^\[\]|\n]+)")
_PUNCTUATION = re.compile(r"[!-/:-@\[-`{-~]")


_FENCED = (
    r"^[ \t]*(?:(?:[-*+]|\d{1,9}[.)])[ \t]+)*(?P<fence>```+|~~~+)(?P<language>[^\n`]*)\n"
    r"(?P<text>(?s:.*?))(?:^[ \t]*(?P=fence)[ \t]*$|(?P<cut>\Z))"
)
_REST_OF_CODE = (
    r"\A(?P<text>(?:(?![ \t]*(?:```|~~~)).*\n)*)[ \t]*(?P<end>```+|~~~+)[ \t]*\n"
    r"(?=(?:(?![ \t]*(?P=end)).*\n)*[ \t]*(?P=end)[ \t]*\w)"
)
"""The end of a block that began before the passage: the next fence has a language, so that it opens another one."""

_CODE = r"(?<![\\`])(?P<ticks>`+)(?P<text>(?:[^`\n]|\n(?!\n))+)(?P=ticks)(?!`)"


IMAGE_SIZE = r"\|\d+(?:x\d+)?"
"""The size of an embedded image, where a link has its text, as a pattern."""

EMBEDDED_IMAGE = rf"(?<![ \t])[ \t]*!\[\[[^\[\]|\n]*\.(?:{IMAGES})(?:#[^\[\]|\n]*)?(?:\\?{IMAGE_SIZE})?\]\]"
"""An embedded image, with the space before it, as a pattern."""


def _literal(code: str) -> str:
    """Escape code, so that the rules after this one, and the conversion of entities, keep it as it is."""
    return _PUNCTUATION.sub(r"\\\g<0>", code).replace("\\&", "&amp\\;")


def _code_block(match: re.Match[str]) -> str:
    """Keep a block as it is, unless its fence may be the end of a block that began before the passage."""
    is_cut, is_inside = match["cut"] is not None, match.start() > 0 or match["text"].startswith("\n")
    is_end = is_cut and is_inside and not match["language"].strip()
    return match[0] if is_end else _literal(match["text"])


def _code(match: re.Match[str]) -> str:
    return _literal(match["text"])


BOXES = {" ": "☐", "x": "☑", "X": "☑", "/": "◩", "-": "☒"}
"""Check boxes by their marks: open, done, in progress and cancelled."""


def _box(match: re.Match[str]) -> str:
    """Show a check box; a custom mark counts as open."""
    return f"{BOXES.get(match['mark'], BOXES[' '])} "


def _comment(match: re.Match[str]) -> str:
    """Remove a comment, unless it is code."""
    return match[0] if match["ticks"] else " "


CUE = r"^[ \t]*(?:\d+[ \t]*\r?\n[ \t]*)?(?:\d\d?:)?\d\d:\d\d[.,]\d{3}[ \t]+-->[^\n]*$"
"""Pattern of the number and the times of a cue in SubRip or WebVTT, a whole line."""

VOICE = r"<v(?:\.[^ \t<>]*)?[ \t]+([^<>\n]{1,80})>[ \t]*"
"""Pattern of the speaker of a cue in WebVTT, https://www.w3.org/TR/webvtt1/#webvtt-cue-voice-span."""

_RULES: tuple[tuple[frozenset[str], re.Pattern[str], str | Callable[[re.Match[str]], str]], ...] = tuple(
    (frozenset(needed), re.compile(pattern, flags), replacement)
    for needed, pattern, replacement, flags in (
        (">", r"^(?:[ \t]*>)+[ \t]?(?:\[![\w-]+\][+-]?[ \t]*)?", "", re.MULTILINE),
        ("`~", _REST_OF_CODE, _code, 0),
        ("`~", _FENCED, _code_block, re.MULTILINE),
        ("`<%", rf"{_CODE}|<!--(?s:.*?)(?:-->|\Z)|%%(?s:.*?)(?:%%|\Z)", _comment, 0),
        ("`~", r"^[ \t]*(?:```+|~~~+)[^`\n]*$", " ", re.MULTILINE),
        ("|", r"^[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)+$", " ", re.MULTILINE),
        ("-*_=", r"^[ \t]*(?:[-*_][ \t]*){3,}$|^[ \t]*=+[ \t]*$", " ", re.MULTILINE),
        ("#", r"^[ \t]*#{1,6}[ \t]+(.*?)[ \t]*#*[ \t]*$", r"\1", re.MULTILINE),
        ("[", r"^[ \t]*(?:[-*+]|\d{1,9}[.)])[ \t]+\[(?P<mark>[^\r\n])\][ \t]+", _box, re.MULTILINE),
        ("-*+", r"^[ \t]*[-*+][ \t]+(?:>[ \t]?\[![\w-]+\][+-]?[ \t]*)?", "• ", re.MULTILINE),
        ("^", r"(?:^|[ \t]+)\^[A-Za-z0-9-]+[ \t]*$", "", re.MULTILINE),
        ("|", r"^(?:[ \t]*\|.*(?:\n|\Z))+", _table_cells, re.MULTILINE),
        ("|", r"(?<![ \t])[ \t]*(?<!\\)\|[ \t]*\n", " • ", 0),
        ("|", r"(?<![ \t])[ \t]*(?<!\\)\|[ \t]*\Z", "", 0),
        ("`", _CODE, _code, 0),
        ("!", EMBEDDED_IMAGE, "", re.IGNORECASE),
        ("]", r"\A(?:(?:[^\[\]\n]*\|)?([^\[\]\n]*)\]\]|([^\[\]\n]*)\]\([^()\s]*\))", r"\1\2", 0),
        ("[", r"!?\[\[[^\[\]|\n]*\|([^\[\]\n]+)\]\]", r"\1", 0),
        ("[", r"!?\[\[#?\^?([^\[\]\n]+)\]\]", r"\1", 0),
        ("|", r"[ \t]\|[ \t]", " · ", 0),
        ("[", r"\[\^[^\]\s]+\]:?", "", 0),
        ("^", r"\^\[([^\[\]\n]+)\]", r" (\1)", 0),
        ("[", rf"!?\[([^\[\]\n]*?)(?:{IMAGE_SIZE})?\]\([^()\n]*(?:\([^()\n]*\)[^()\n]*)*\)", r"\1", 0),
        ("[", r"\[([^\[\]\n]+)\]\[[^\[\]\n]*\]", r"\1", 0),
        ("<", r"(?<!\\)<((?:https?://|mailto:)[^<>\s]+)>", r"\1", 0),
        (">", CUE, " ", re.MULTILINE),
        ("<", VOICE, r"\1: ", 0),
        (">", r'(?<!\\)</?[A-Za-z][^<>\n]*>|\A(?:[\w-]+="[^"<>\n]*"[ \t]*)+/?>', " ", 0),
        ("*=", r"(\*\*\*|\*\*|==)(?=\S)([^\n]{1,500}?)(?<=\S)\1", r"\2", 0),
        ("_", r"(?<!\w)__(?=\S)([^\n]{1,500}?)(?<=\S)__(?!\w)", r"\1", 0),
        ("*", r"(?<![\w*\\])\*(?=[^\s*])([^*\n]+?)(?<=[^\s\\])\*(?![\w*])", r"\1", 0),
        ("_", r"(?<![\w_\\])_(?=[^\s_])([^_\n]+?)(?<=[^\s\\])_(?![\w_])", r"\1", 0),
        ("`", r"(?<!\\)`+", "", 0),
        ("", r"\\([!-/:-@\[-`{-~])", r"\1", 0),
    )
)
"""Rules in order: quotes and callouts, code blocks, comments, delimiter rows of tables without outer pipes, rules;
headings, lists, block ids, tables, ends of rows that are cut off; code, images without a caption, the end of a link
that began before the passage, links and embeds, cells, footnotes, cues of subtitles, HTML and the end of a tag that
began before the passage; emphasis, backticks of code that is cut off, escapes. Struck text keeps its marks, since
without them it would read as valid. Each begins with characters of which every match has one, so that most rules are
skipped in most texts; the last one also applies to what another has escaped.
"""


_EMPTY_CELLS = re.compile(r"· (?:· )*(?P<end>[·•])")
"""Cells that became empty by a later rule, such as one that holds only a tag of HTML."""


def plain_text(markdown: str) -> str:
    """Convert Markdown to one line of plain text. It is for reading only: the result is not sanitised.

    Struck-through text keeps its marks, since it no longer holds. Names of embedded images are left out, unless there
    is no other text.
    """
    text = original = markdown[:LONGEST]
    present = set(text)
    for needed, pattern, replacement in _RULES:
        if not needed or not needed.isdisjoint(present):
            text = pattern.sub(replacement, text)
    if "&" in text:
        text = html.unescape(text)
    shown = _EMPTY_CELLS.sub(r"\g<end>", " ".join(text.split()))
    return shown or " ".join(_EMBEDDED.findall(original))
