"""Find the links of a note, with the span of each target."""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from enum import Enum
from urllib.parse import unquote

from donna_tui.text.prose import Span, prose
from donna_tui.vault.note.read import parse_frontmatter

LONGEST_LINK = 400

_PUNCTUATION = r"[!-/:-@\[-`{-~]"
_LONGEST_INNER = LONGEST_LINK - len("]]")
_WIKILINK = re.compile(rf"\[\[(?!\[)((?:(?!\[\[|\]\])[^\r\n]){{1,{_LONGEST_INNER}}})\]\]")
_AFTER_TARGET = re.compile(r"[|#]")


def _nested(depth: int) -> str:
    """Return the pattern of a destination without angle brackets, with balanced parentheses nested as in CommonMark."""
    inside = rf"|\((?>{_nested(depth - 1)}*)\)" if depth else ""
    return rf"(?:\\{_PUNCTUATION}|\\|[^\x00-\x20\x7f()\\]++{inside})"


# Patterns that may fail halfway are in atomic groups: before Python 3.11.5, a failed possessive repetition does not
# backtrack.
_GAP = r"[ \t\r\n]"
_BARE = rf"(?!<)(?>{_nested(3)}+)"
_POINTED = r"<((?:\\[^\r\n]|[^<>\\\r\n])*+)>"
_TITLE = r"""(?:"(?:\\.|[^"\\])*+"|'(?:\\.|[^'\\])*+'|\((?:\\.|[^()\\])*+\))"""
_DESTINATION = re.compile(rf"\({_GAP}*+(?:{_POINTED}|({_BARE}))(?>(?:{_GAP}++{_TITLE})?){_GAP}*+\)", re.DOTALL)
_DEFINITION = re.compile(
    rf"[ \t>]*+\[(?!\^)(?:\\.|[^\[\]\\\r\n]){{1,999}}+\]:[ \t]*+(?:(?:\r\n?|\n)[ \t>]*+)?+(?:{_POINTED}|({_BARE}))"
    rf"(?=[ \t\r\n]|\Z)(?>(?:{_GAP}++{_TITLE}(?=[ \t]*+(?:[\r\n]|\Z)))?)[ \t]*+(?:\r\n?|\n|\Z)"
)
_FRAGMENT = re.compile(r"(?<!&)#")
_ESCAPED = re.compile(rf"\\({_PUNCTUATION})|&(?:#[0-9]{{1,7}}|#[xX][0-9a-fA-F]{{1,6}}|[0-9A-Za-z]{{2,32}});")
_BACKTICKS = re.compile(r"`+")
_MARK = re.compile(rf"\\{_PUNCTUATION}|`+|<!--|%%|!?\[|\]")


class LinkKind(Enum):
    WIKI = "wiki"
    URL = "url"
    POINTED = "pointed"
    """A URL in angle brackets."""


@dataclass(frozen=True, slots=True)
class Link:
    """A link with its target at `text[start:end]`; `target` is the decoded form. Both exclude the heading.

    `fragment` is the heading or block (`^id`) that it points to; empty for the whole note. `whole` is the span of the
    link with its markup, and `label` that of its displayed text; both are empty for a link definition. `room` is the
    maximum length of a wikilink's target; `in_yaml` is set for a link in frontmatter.
    """

    kind: LinkKind
    target: str
    start: int
    end: int
    room: int = 0
    in_yaml: bool = False
    fragment: str = ""
    whole: Span = (0, 0)
    label: Span = (0, 0)


def find_links(text: str) -> Iterator[Link]:
    """Yield the links of a note in order, except in code and comments; of the frontmatter only wikilinks.

    Takes linear time on any input.
    """
    mark = 1 if text.startswith("\ufeff") else 0
    body = mark + parse_frontmatter(text[mark:]).body_start
    for match in _WIKILINK.finditer(text, mark, body):
        yield _wikilink(match, in_yaml=True)
    for span in prose(text, body):
        yield from _Inline(text, span).links()


def extract_links(text: str) -> list[str]:
    """Return the targets of `[[target#heading|alias]]` and `![[embeds]]`, in order, each once."""
    targets = (link.target for link in find_links(text) if link.kind is LinkKind.WIKI)
    return list(dict.fromkeys(filter(None, targets)))


class _Inline:
    """Find the links of one paragraph."""

    def __init__(self, text: str, span: Span) -> None:
        self._text = text
        self._at, self._end = span
        self._open: list[tuple[bool, int]] = []
        """The open brackets: whether each opens an image, and the offset of the text after it."""
        self._inert = 0
        """Number of open brackets that enclose a link already and cannot open another, as links do not nest."""
        self._rows: dict[int, list[int]] = {}
        """The offsets of runs of backticks, by length, the last first."""
        self._missing: set[str] = set()
        """Closing marks of comments that do not occur in the rest of the paragraph."""
        for row in reversed(list(_BACKTICKS.finditer(text, *span))):
            self._rows.setdefault(len(row[0]), []).append(row.start())

    def links(self) -> Iterator[Link]:
        while definition := _DEFINITION.match(self._text, self._at, self._end):
            yield _url(definition)
            self._at = definition.end()
        while mark := _MARK.search(self._text, self._at, self._end):
            self._at = mark.end()
            link = self._link(mark[0])
            if link:
                yield link

    def _link(self, mark: str) -> Link | None:
        if mark in ("[", "!["):
            return self._opening(mark)
        if mark == "]":
            return self._closing()
        if mark[0] == "`":
            self._skip_code(len(mark))
        elif mark == "%%":
            self._skip_comment(mark, self._at)
        elif mark == "<!--":
            self._skip_comment("-->", self._at - len("--"))
        return None

    def _opening(self, mark: str) -> Link | None:
        wikilink = _WIKILINK.match(self._text, self._at - 1, self._end)
        if wikilink:
            self._at = wikilink.end()
            return _wikilink(wikilink)
        self._open.append((mark == "![", self._at))
        return None

    def _closing(self) -> Link | None:
        if not self._open:
            return None
        is_image, begin = self._open.pop()
        is_inert = not is_image and len(self._open) < self._inert
        self._inert = min(self._inert, len(self._open))
        destination = None if is_inert else _DESTINATION.match(self._text, self._at, self._end)
        if not destination:
            return None
        if not is_image:
            self._inert = len(self._open)
        label = begin, self._at - 1
        self._at = destination.end()
        return replace(_url(destination), whole=(begin - (2 if is_image else 1), self._at), label=label)

    def _skip_code(self, length: int) -> None:
        """Skip a code span, which ends at a run of equally many backticks. A run without a match is text."""
        ends = self._rows.get(length, [])
        while ends and ends[-1] < self._at:
            ends.pop()
        if ends:
            self._at = ends.pop() + length

    def _skip_comment(self, closing: str, low: int) -> None:
        found = -1 if closing in self._missing else self._text.find(closing, low, self._end)
        if found >= 0:
            self._at = found + len(closing)
        else:
            self._missing.add(closing)


def link_from(written: str, *, is_wiki: bool) -> Link | None:
    """Parse the content of a wikilink's brackets, or the destination of a Markdown link."""
    if is_wiki:
        wikilink = _WIKILINK.fullmatch(f"[[{written}]]")
        return _wikilink(wikilink) if wikilink else None
    url = _DESTINATION.fullmatch(f"({written})")
    return _url(url) if url else None


def _wikilink(match: re.Match[str], *, in_yaml: bool = False) -> Link:
    """Build a wikilink. A backslash before the bar is an escape of the surrounding table, not part of the target."""
    inner = match[1]
    written = _AFTER_TARGET.split(inner, maxsplit=1)[0].rstrip("\\")
    target = written.strip()
    start = match.start(1) + len(written) - len(written.lstrip())
    room = _LONGEST_INNER - len(inner) + len(target)
    fragment = inner.split("|", 1)[0].partition("#")[2].rstrip("\\").strip()
    is_embed = match.start() > 0 and match.string[match.start() - 1] == "!"
    alias = inner.rfind("|") + 1
    return Link(
        LinkKind.WIKI,
        target,
        start,
        start + len(target),
        room=room,
        in_yaml=in_yaml,
        fragment=fragment,
        whole=(match.start() - is_embed, match.end()),
        label=(match.start(1) + alias, match.end(1)),
    )


def _url(match: re.Match[str]) -> Link:
    group = 1 if match[1] is not None else 2
    written, *after = _FRAGMENT.split(match[group], maxsplit=1)
    start = match.start(group)
    return Link(
        LinkKind.POINTED if group == 1 else LinkKind.URL,
        _meant(written),
        start,
        start + len(written),
        fragment=_meant(after[0]) if after else "",
    )


def _meant(written: str) -> str:
    unescaped = _ESCAPED.sub(lambda found: found[1] or html.unescape(found[0]), written)
    return unquote(unescaped, errors="surrogateescape")
