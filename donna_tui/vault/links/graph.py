"""Build the graph of links: the destination of each link, and the lines that link to a note."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator
from pathlib import PurePosixPath

from donna_tui.text.lines import line_of, line_starts
from donna_tui.text.markdown import IMAGES, split_sections
from donna_tui.types.errors import DonnaError
from donna_tui.types.notes import Destination, LinkLine, NoteLinks
from donna_tui.vault.client import NOTE_ENDINGS, VaultClient, decode
from donna_tui.vault.links.resolve import SCHEME, LinkIndex, is_dotted, joined
from donna_tui.vault.links.rewrite import destination_of, may_name
from donna_tui.vault.links.spans import Link, LinkKind, find_links, link_from
from donna_tui.vault.note.read import parse_frontmatter
from donna_tui.vault.write.files import VaultFiles

LONGEST_LINE = 400
"""Maximum number of characters shown of a line with a link."""

_WORD = re.compile(r"\w+")
_WEB = re.compile(r"(?:https?://|mailto:)[^\s\x00-\x20\x7f-\x9f]+", re.IGNORECASE)
_FILES = re.compile(
    rf"\.(?:{IMAGES}|pdf|mp3|wav|ogg|m4a|flac|mp4|webm|mov|zip|canvas|base|csv|docx|xlsx|pptx|html?)$", re.IGNORECASE
)
"""Extensions of attachments: a link to one does not name a note that could be created."""


class LinkGraph:
    """Read the links of one vault, from disk on each call. Every method blocks and raises VaultReadError."""

    def __init__(self, client: VaultClient, files: VaultFiles) -> None:
        self._client, self._files = client, files

    def follow(self, note: str, written: str, *, is_wiki: bool) -> Destination:
        """Resolve a link written in a note, in the brackets of a wikilink or as a Markdown destination."""
        link = link_from(written, is_wiki=is_wiki)
        if link is None or not (link.target or link.fragment):
            return Destination(problem="This link does not name a note.")
        if link.kind is not LinkKind.WIKI and SCHEME.match(link.target):
            url = written.strip("<>")
            if _WEB.fullmatch(url):
                return Destination(url=url)
            return Destination(problem="This link is neither to a note nor to a web page.")
        hit = destination_of(link, note, LinkIndex(self._paths()))
        if hit is None:
            return _missing(link, note)
        return self._place_in(hit, link.fragment)

    def links(self, path: str) -> NoteLinks:
        index = LinkIndex(self._paths())
        own = tuple(_lines_of(self._client.read(path).text, path, index))
        back: list[LinkLine] = []
        for other in self._paths(readable=True):
            if other != path and may_name(text := self._text(other), path):
                back += (line for line in _lines_of(text, other, index) if line.target == path)
        return NoteLinks(path=path, outgoing=own, incoming=tuple(back))

    def _place_in(self, path: str, fragment: str) -> Destination:
        if not fragment:
            return Destination(path=path)
        try:
            line = line_of_fragment(self._client.read(path).text, fragment)
        except DonnaError:  # the screen that shows the note reports why it cannot be read
            return Destination(path=path)
        if line is None:
            what = "block" if fragment.startswith("^") else "heading"
            return Destination(path=path, problem=f"There is no {what} “{fragment.lstrip('^')}” in this note.")
        return Destination(path=path, line=line)

    def _paths(self, *, readable: bool = False) -> list[str]:
        entries = (entry for entry in self._client.scan() if entry.stat is not None)
        return sorted(entry.path for entry in entries if entry.reason is None or not readable)

    def _text(self, path: str) -> str:
        """Return the text of a note, or an empty string if it cannot be read, as it then has no links to show."""
        try:
            data = self._files.read(path)
            return decode(data)[0] if data is not None else ""
        except DonnaError:
            return ""


def line_of_fragment(text: str, fragment: str) -> int | None:
    """Return the line (1-based) of a heading, of nested headings (`A#B`), or of a block (`^id`), or None."""
    if fragment.startswith("^"):
        match = re.search(rf"(?:^|[ \t]){re.escape(fragment)}[ \t]*\r?$", text, re.MULTILINE | re.IGNORECASE)
        return line_of(line_starts(text), match.end()) if match else None
    wanted = [words for part in fragment.split("#") if (words := _words(part))]
    if not wanted:
        return None
    last = None
    for section in split_sections(text, parse_frontmatter(text).body_start):
        path = [_words(heading) for heading in section.heading_path]
        if not section.level or not path or path[-1] != wanted[-1]:
            continue
        above = iter(path[:-1])
        if all(heading in above for heading in wanted[:-1]):
            return section.start_line
        last = last or section.start_line
    return last


def _words(heading: str) -> tuple[str, ...]:
    """Return the words that all spellings of a heading share: as written, as linked by Obsidian, and as a slug."""
    return tuple(_WORD.findall(unicodedata.normalize("NFC", heading).casefold()))


def _lines_of(text: str, note: str, index: LinkIndex) -> Iterator[LinkLine]:
    """Yield the lines with links to notes, once for each note that a line links to."""
    starts = line_starts(text)
    seen: set[tuple[int, str]] = set()
    for link in find_links(text):
        target = destination_of(link, note, index)
        missing = "" if target is not None else _missing(link, note).path
        line = line_of(starts, link.start)
        leads = target or missing
        if not leads or leads == note or (line, leads) in seen:
            continue
        seen.add((line, leads))
        start, end = starts[line - 1], starts[line] if line < len(starts) else len(text)
        if end - start > LONGEST_LINE:  # show the part around the link
            start = max(start, min(link.start - LONGEST_LINE // 2, end - LONGEST_LINE))
            end = min(end, start + LONGEST_LINE)
        shown, exists = text[start:end].strip(), target is not None
        yield LinkLine(path=note, line=line, text=shown, target=leads, exists=exists, fragment=link.fragment)


def _missing(link: Link, note: str) -> Destination:
    """Return the path at which a note would be created for a link that does not resolve."""
    target = link.target.strip()
    if (link.kind is not LinkKind.WIKI and SCHEME.match(target)) or target.endswith("/"):
        return Destination(problem="This link does not name a note.")
    if _FILES.search(target):
        return Destination(problem="This link is to an attachment, which Donna does not show.")
    is_relative = is_dotted(target) or (link.kind is not LinkKind.WIKI and not target.startswith("/"))
    path = joined(note, target) if is_relative else target.lstrip("/")
    if not path or not PurePosixPath(path).name:
        return Destination(problem="This link is to a file outside the vault.")
    ending = "" if path.lower().endswith(NOTE_ENDINGS) else NOTE_ENDINGS[0]
    return Destination(path=f"{path}{ending}", exists=False)
