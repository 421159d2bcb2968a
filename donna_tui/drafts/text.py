"""Write draft text: dates in words, untrusted text as harmless Markdown, and frontmatter from data."""

from __future__ import annotations

import datetime
import re
import unicodedata
from collections.abc import Iterator, Mapping
from typing import Any

import yaml

from donna_tui.text.dates import MONTHS, WEEKDAYS


def long_day(day: datetime.date) -> str:
    """Format a day as `Wednesday, 3 January 2024`."""
    return f"{WEEKDAYS[day.weekday()]}, {short_day(day)}"


def short_day(day: datetime.date) -> str:
    """Format a day as `3 January 2024`."""
    return f"{day.day} {MONTHS[day.month - 1]} {day.year}"


def when(start: datetime.datetime, end: datetime.datetime, day: datetime.date, *, all_day: bool) -> str:
    """Format the time of an event, of which the end may be unknown; both are in the zone in which they are shown."""
    if all_day:
        return f"{long_day(day)}, all day"
    if end <= start:
        return f"{long_day(start.date())}, {start:%H:%M}"
    until = f"{end:%H:%M}" if end.date() == start.date() else f"{short_day(end.date())}, {end:%H:%M}"
    return f"{long_day(start.date())}, {start:%H:%M}–{until}"


def iso_week(day: datetime.date) -> str:
    """Format the ISO week of a day as `2026-W07`."""
    year, week, _ = day.isocalendar()
    return f"{year}-W{week:02d}"


LONGEST_LINE = 500

_URL = re.compile(r"<?\b(?:[a-z][a-z0-9+.-]{1,20}:)?//([^\s/<>()\[\]\"'`]{1,200})([^\s<>\"'`()\[\]]*)>?", re.IGNORECASE)
_URL_PATH = re.compile(r"(?:/[\w.~@+-]{1,100}){1,8}")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\s+\"[^\"]{0,300}\")?\)")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|]{1,300})(?:\|([^\[\]]{0,300}))?\]\]")
_SCHEME = re.compile(r"\b(javascript|data|vbscript|file|obsidian|mailto):(?=\S)", re.IGNORECASE)
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SPECIAL = re.compile(
    r"[\\`\[\]<>{}|$^]|%{2,}|={2,}|~{2,}|:{2,}|(?<=<)%|%(?=>)|(?<!\w)#(?=[^\s#])|&(?=#?\w{1,40};)"
    r"|[*_]{2,}|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)"
)
"""Syntax of Markdown, Obsidian (tags, comments, blocks) and its plugins (Dataview fields, Templater commands)."""

_BLOCK = re.compile(r"^([#>+*=~-]|\d{1,9}[.)](?=\s|$))")
_EMPHASIS = re.compile(r"(\*\*|__|==|~~|`)")
_LONE = re.compile(r"(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_ESCAPES = re.compile(r"\\+([!-/:-@\[\]-`{-~]?)")
_DOTS = "…"
_ADDRESS = re.compile(r":/{2,}")
_MAX_ROUNDS = 5
"""Maximum number of passes that remove markup nested in other markup."""


def words_only(text: str, longest: int = LONGEST_LINE) -> str:
    """Return a text as plain words on one line, without markup, links and invisible characters, cut at a word.

    A link becomes its words, and a bare URL its host and path, so that untrusted text cannot make a viewer fetch
    anything. Markdown's backslash escapes are removed.
    """
    line = _visible(text)
    for _ in range(_MAX_ROUNDS):
        line, before = _bare(line), line
        if line == before:
            break
    return shortened(_ADDRESS.sub(": ", line), longest)


def _bare(text: str) -> str:
    line = _ESCAPES.sub(lambda found: found[1] or "\\", " ".join(_HTML_COMMENT.sub(" ", text).split()))
    line = _WIKILINK.sub(lambda found: found[2] or found[1].split("#", 1)[0].rsplit("/", 1)[-1] or found[1], line)
    line = _MARKDOWN_LINK.sub(lambda found: found[1], line)
    line = _SCHEME.sub(r"\1 ", _URL.sub(_address, line))
    line = _LONE.sub("", _EMPHASIS.sub("", line))
    return " ".join(line.split())


def _address(match: re.Match[str]) -> str:
    """Return the host and the path of a URL, without user info, query and fragment."""
    host = match[1].rpartition("@")[2].removeprefix("www.")
    rest = match[2].partition("?")[0].partition("#")[0]
    path = _URL_PATH.match(rest)
    if not path:
        return host + (rest[-1] if rest[-1:] in (".", ",", ";", ":", "!") else "")
    ends_in_mark, after = path[0][-1] in ".,;:!", rest[path.end() :]
    return host + path[0] + (after if not ends_in_mark and after in (",", ";", ":", "!") else "")


MAX_NAMES = 50
"""Maximum number of notes of one name, with numbers."""


def numbered(path: str) -> Iterator[str]:
    """Yield the path of a note, and that path with the numbers that follow: `a.md`, `a-2.md`, `a-3.md`."""
    yield path
    yield from (f"{path.removesuffix('.md')}-{number}.md" for number in range(2, MAX_NAMES + 1))


def inline(text: str, longest: int = LONGEST_LINE) -> str:
    """Return the plain words of a text as Markdown that shows exactly them, at any position in a line."""
    escaped = _SPECIAL.sub(lambda found: "".join(f"\\{char}" for char in found[0]), words_only(text, longest))
    return _BLOCK.sub(lambda found: f"{found[1][:-1]}\\{found[1][-1]}", escaped)


def shortened(line: str, longest: int) -> str:
    """Cut a line to a number of characters, between words if possible."""
    if len(line) <= longest:
        return line
    cut = line[: longest - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[longest // 2 :] else cut}{_DOTS}"


def slug(text: str, *, otherwise: str, longest: int = 60) -> str:
    """Return a file name: the words of a text in lower case, joined by dashes; never empty."""
    folded = unicodedata.normalize("NFC", words_only(text, 300)).lower()
    kept = "".join(char if char.isalnum() or unicodedata.category(char) == "Mn" else "-" for char in folded)
    joined = "-".join(filter(None, kept.split("-")))
    cut = joined if len(joined) <= longest else joined[:longest].rsplit("-", 1)[0]
    while len(cut.encode()) > 200:  # leaves room for a date and a number on any file system
        cut = cut[:-1]
    return cut.strip("-") or otherwise


def wikilink(path: str, shown: str = "") -> str:
    """Return a link to a note of the vault by its path; `shown` is the displayed text."""
    target = path.removesuffix(".md")
    alias = " ".join(re.sub(r"[\[\]|#^\\]", " ", words_only(shown, 120)).split())
    return f"[[{target}|{alias}]]" if alias and alias != target else f"[[{target}]]"


def link_to(path: str) -> str:
    """Return a link to a note that shows its file name."""
    return wikilink(path, path.rpartition("/")[2].removesuffix(".md"))


def source_named(source: str, title: str) -> str:
    """Return how a source other than a note is named: `chat Trips, 8 May 2023`; without a title `chat, 8 May 2023`."""
    named = title.removeprefix("Chat") if source == "chat" and re.match(r"Chat(?:,|$)", title) else f" {title}"
    return inline(f"{source}{named}", 80)


def can_be_linked(name: str) -> bool:
    """Check whether a wikilink can contain this name unchanged."""
    return bool(name.strip()) and not re.search(r"[\[\]|#^\\/:*?\"<>\n\r]", name) and not name.startswith(".")


def _visible(text: str) -> str:
    chars = ((char, unicodedata.category(char) not in _INVISIBLE) for char in text[:20_000])
    return "".join(char if is_shown else " " if char.isspace() else "" for char, is_shown in chars)


WIDTH = 10_000
"""Line width above which a value would be folded; practically never, since Obsidian writes one line per value."""


class _Dumper(yaml.SafeDumper):
    """Indent lists below their key, as Obsidian does."""

    def increase_indent(self, flow: bool = False, indentless: bool = False) -> None:
        super().increase_indent(flow, False)


def _text(dumper: _Dumper, value: str) -> yaml.Node:
    style = '"' if _COMMAND in value or not _LINE_BREAKS.isdisjoint(value) else None
    return dumper.represent_scalar("tag:yaml.org,2002:str", value, style)


_COMMAND = "<%"
"""Start of a Templater command, which runs anywhere in a note; a quoted YAML value can escape it."""

_ESCAPED = "\\x3C%"

_LINE_BREAKS = frozenset("\r\x85\u2028\u2029")
"""Line breaks that an unquoted value loses, since YAML reads each as a plain one."""

_Dumper.add_representer(str, _text)


def frontmatter_block(data: Mapping[str, Any]) -> str:
    body = yaml.dump(
        dict(data), Dumper=_Dumper, sort_keys=False, allow_unicode=True, default_flow_style=False, width=WIDTH
    )
    return f"---\n{body.replace(_COMMAND, _ESCAPED)}---\n"


def whole_note(data: Mapping[str, Any], body: str) -> str:
    """Join frontmatter and body to a note with exactly one final newline."""
    return f"{frontmatter_block(data)}{body.strip(chr(10))}\n"
