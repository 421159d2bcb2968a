"""Text from calendars, models and passages as one line of Markdown that means nothing but its words."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable

LONGEST_LINE = 500

_URL = re.compile(r"<?\b(?:[a-z][a-z0-9+.-]{1,20}:)?//([^\s/<>()\[\]\"'`]{1,200})([^\s<>\"'`()\[\]]*)>?", re.IGNORECASE)
_URL_PATH = re.compile(r"(?:/[\w.~@+-]{1,100}){1,8}")
_MARKDOWN_LINK = re.compile(r"!?\[([^\[\]]{0,300})\]\([^()\s]{0,2000}(?:\s+\"[^\"]{0,300}\")?\)")
_WIKILINK = re.compile(r"!?\[\[([^\[\]|]{1,300})(?:\|([^\[\]]{0,300}))?\]\]")
_SCHEME = re.compile(r"\b(javascript|data|vbscript|file|obsidian|mailto):", re.IGNORECASE)
_HTML_COMMENT = re.compile(r"<!--.*?(?:-->|$)", re.DOTALL)
_INVISIBLE = {"Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"}
_SPECIAL = re.compile(
    r"[\\`\[\]<>{}|$^]|%%|==|~~|::|(?<=<)%|%(?=>)|(?<!\w)#(?=[^\s#])|&(?=#?\w{1,40};)"
    r"|[*_]{2,}|(?<!\w)[*_](?=\w)|(?<=\w)[*_](?!\w)"
)
"""What Markdown, Obsidian (tags, comments, blocks) and its plugins (fields of Dataview, commands of Templater) read."""

_BLOCK = re.compile(r"^([#>+*=~-]|\d{1,9}[.)](?=\s|$))")
_EMPHASIS = re.compile(r"(\*\*|__|==|~~|`)")
_LONE = re.compile(r"(?<!\w)[*_](?=\S)|(?<=\S)[*_](?!\w)")
_ESCAPES = re.compile(r"\\+([!-/:-@\[\]-`{-~]?)")
_DOTS = "…"
_ADDRESS = re.compile(r":/{2,}")
_MOST_ROUNDS = 5
"""Times that markup is taken away which other markup had hidden."""


def words_only(text: str, longest: int = LONGEST_LINE) -> str:
    """A text as its bare words on one line: no markup, no links, nothing invisible; cut at a word where it is long.

    A link is left with its words, and a bare address with its host and path, since nothing that others wrote may make a
    reader's program fetch something. Backslashes before punctuation are Markdown's own and are removed.
    """
    line = _visible(text)
    for _ in range(_MOST_ROUNDS):
        line, before = _bare(line), line
        if line == before:
            break
    return shortened(_ADDRESS.sub(": ", line), longest)


def _bare(text: str) -> str:
    line = _ESCAPES.sub(lambda found: found[1] or "\\", " ".join(_HTML_COMMENT.sub(" ", text).split()))
    line = _WIKILINK.sub(lambda found: found[2] or _last_part(found[1]), line)
    line = _MARKDOWN_LINK.sub(lambda found: found[1], line)
    line = _SCHEME.sub(r"\1 ", _URL.sub(_address, line))
    line = _LONE.sub("", _EMPHASIS.sub("", line))
    return " ".join(line.split())


def _address(found: re.Match[str]) -> str:
    """The host and the path of an address, without what is only for machines."""
    host = found[1].rpartition("@")[2].removeprefix("www.")
    rest = found[2].partition("?")[0].partition("#")[0]
    path = _URL_PATH.match(rest)
    end = rest[-1] if rest[-1:] in (".", ",", ";", ":", "!") and not path else ""
    if path:
        trimmed = path[0].rstrip(".,;:!")
        end = path[0][len(trimmed) :] or (rest[path.end() :] if rest[path.end() :] in (",", ";", ":", "!") else "")
        return f"{host}{trimmed}{end}"
    return f"{host}{end}"


def inline(text: str, longest: int = LONGEST_LINE) -> str:
    """The same as Markdown that shows exactly these words, wherever in a line it is put."""
    escaped = _SPECIAL.sub(lambda found: "".join(f"\\{char}" for char in found[0]), words_only(text, longest))
    return _BLOCK.sub(lambda found: _escaped_block(found[1]), escaped)


def shortened(line: str, longest: int) -> str:
    """A line of at most so many characters, cut between words where it can be."""
    if len(line) <= longest:
        return line
    cut = line[: longest - 1]
    return f"{cut.rsplit(' ', 1)[0] if ' ' in cut[longest // 2 :] else cut}{_DOTS}"


def slug(text: str, *, otherwise: str, longest: int = 60) -> str:
    """A name for a file: the words of a text in lower case with dashes between them; never empty."""
    folded = unicodedata.normalize("NFC", words_only(text, 300)).lower()
    kept = "".join(char if char.isalnum() or unicodedata.category(char) == "Mn" else "-" for char in folded)
    joined = "-".join(filter(None, kept.split("-")))
    return _within(joined, longest).strip("-") or otherwise


def wikilink(path: str, shown: str = "") -> str:
    """A link to a note of the vault by its path; `shown` is what is read instead of its name."""
    target = path.removesuffix(".md")
    alias = _in_link(words_only(shown, 120)) if shown else ""
    return f"[[{target}|{alias}]]" if alias and alias != target else f"[[{target}]]"


def can_be_linked(name: str) -> bool:
    """Whether a wikilink can hold this name as it is."""
    return bool(name.strip()) and not re.search(r"[\[\]|#^\\/:*?\"<>\n\r]", name) and not name.startswith(".")


def _in_link(text: str) -> str:
    return re.sub(r"[\[\]|#^\\]", " ", text).strip()


def _last_part(target: str) -> str:
    return target.split("#", 1)[0].rsplit("/", 1)[-1] or target


def _visible(text: str) -> str:
    keep: Callable[[str], bool] = lambda char: unicodedata.category(char) not in _INVISIBLE  # noqa: E731
    return "".join(char if keep(char) else " " if char.isspace() or char in "\n\r\t" else "" for char in text[:20_000])


def _escaped_block(mark: str) -> str:
    return f"\\{mark}" if not mark[0].isdigit() else f"{mark[:-1]}\\{mark[-1]}"


def _within(name: str, longest: int) -> str:
    """Cut between words, and never above 200 bytes, which leaves room for a date and a number in any file system."""
    cut = name if len(name) <= longest else name[:longest].rsplit("-", 1)[0]
    while len(cut.encode()) > 200:
        cut = cut[:-1]
    return cut
