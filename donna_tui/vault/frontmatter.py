"""The YAML block at the head of a note: where it ends, what it says, and what it means to Donna."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import PurePosixPath
from typing import Any

from donna_tui.records import dataclass
from donna_tui.text.lines import each_line
from donna_tui.vault.bounded_yaml import YamlBlock, YamlError, load_yaml

LARGEST_BLOCK = 64 * 1024
"""Characters of frontmatter that are parsed as a whole; more is data that a program left there."""

DRAFT_KEY = "donna_draft"
"""In the frontmatter of a note that Donna wrote and nobody has approved."""

MOST_TAGS = 1_000

_OPENING = re.compile(r"---[ \t]*(?:\r\n?|\n|\Z)")
_CLOSING = re.compile(r"(?:---|\.\.\.)[ \t]*")
_BLANK_LINE = re.compile(r"[ \t]*[\r\n]")
_SIMPLE_LINE = re.compile(r"(?:title|aliases|tags|type|date|event_start|created|donna\w*):[ \t]+\S.*", re.IGNORECASE)
_INLINE_TAG = re.compile(r"(?<!\S)#([\w/-]{1,100})")
_BETWEEN_TAGS = re.compile(r"[,\s]+")


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """The frontmatter of a note. The body begins at offset `body_start` of its text.

    `data` is fit for JSON. `problem` says in plain words why the block cannot be read or is ambiguous, else it is
    empty; the block is no part of the body either way. `present` is False for a note without frontmatter.
    """

    data: dict[str, Any]
    body_start: int
    problem: str
    present: bool


ABSENT = Frontmatter({}, 0, "", False)


def parse_frontmatter(text: str) -> Frontmatter:
    """The frontmatter of `text`, which begins after any byte order mark. Never raises; bounded on any input.

    A block without an end is body, and so is prose between two rules.
    """
    opening = _OPENING.match(text)
    if not opening:
        return ABSENT
    for start, end, after in each_line(text, opening.end()):
        if _CLOSING.fullmatch(text, start, end):
            return _parse_block(text[opening.end() : start], after)
    return ABSENT


def title_of(data: Mapping[str, Any], path: str) -> str:
    """The title to show, on one row: the frontmatter's own if it is text or a number, else the file's name."""
    title = frontmatter_value(data, "title")
    shown = _one_row(title) if _is_word(title) else ""
    return shown or _one_row(PurePosixPath(path).stem) or path


def aliases_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """Other names of the note, each once."""
    return _unique(_one_row(alias) for alias in _words(data, "aliases", "alias"))


def tags_of(data: Mapping[str, Any], body: str) -> tuple[str, ...]:
    """The tags of the note without their `#`, each once whatever its case: from the frontmatter, then from the body."""
    listed = (tag for words in _words(data, "tags", "tag") for tag in _BETWEEN_TAGS.split(words))
    inline = (found[1] for found in _INLINE_TAG.finditer(body))
    return _unique(tag for raw in _chain(listed, inline) if (tag := raw.strip("#/ ")) and not tag.isdecimal())


def note_type_of(data: Mapping[str, Any]) -> str:
    """The `type` of the note on one row, empty if it has none."""
    note_type = frontmatter_value(data, "type")
    return _one_row(note_type) if _is_word(note_type) else ""


def _parse_block(block: str, body_start: int) -> Frontmatter:
    if len(block) > LARGEST_BLOCK:
        problem = f"the frontmatter is larger than {LARGEST_BLOCK // 1024} KiB; only its plain lines are read"
        return Frontmatter(_simple_lines(block), body_start, problem, True)
    could_be_prose = bool(_BLANK_LINE.match(block))
    try:
        loaded = load_yaml(block)
    except YamlError as error:
        where = "" if error.line is None else f" (line {error.line + 2})"
        problem = f"the frontmatter {error}{where}"
        return ABSENT if could_be_prose else Frontmatter({}, body_start, problem, True)
    return _judge(loaded, body_start, could_be_prose)


def _judge(loaded: YamlBlock, body_start: int, could_be_prose: bool) -> Frontmatter:
    if loaded.value is None:
        return Frontmatter({}, body_start, "", True)
    if isinstance(loaded.value, dict):
        problem = "the frontmatter has the same key twice" if loaded.repeats_keys else ""
        return Frontmatter(loaded.value, body_start, problem, True)
    if could_be_prose or isinstance(loaded.value, str):
        return ABSENT
    return Frontmatter({}, body_start, "the frontmatter is not a list of “key: value” lines", True)


def _simple_lines(block: str) -> dict[str, Any]:
    """What the top-level lines of a block say that is too large to parse, as far as each line makes sense alone."""
    data: dict[str, Any] = {}
    for start, end, _ in each_line(block):
        line = _SIMPLE_LINE.fullmatch(block, start, min(end, start + 1_000))
        if line and len(data) < MOST_TAGS:
            try:
                data |= load_yaml(line.group()).value
            except YamlError:
                continue
    return data


def frontmatter_value(data: Mapping[str, Any], *names: str) -> Any:
    """The value of the first key that is one of `names`, whatever its case."""
    return next((value for key, value in data.items() if key.casefold() in names), None)


def _words(data: Mapping[str, Any], *names: str) -> Iterator[str]:
    value = frontmatter_value(data, *names)
    for item in value if isinstance(value, list) else [value]:
        if _is_word(item):
            yield str(item)


def _is_word(value: object) -> bool:
    return isinstance(value, (str, int)) and not isinstance(value, bool)


def _one_row(value: object) -> str:
    return " ".join(str(value).split())


def _chain(*parts: Iterable[str]) -> Iterator[str]:
    for part in parts:
        yield from part


def _unique(words: Iterable[str]) -> tuple[str, ...]:
    seen: dict[str, str] = {}
    for word in words:
        if word:
            seen.setdefault(word.casefold(), word)
        if len(seen) == MOST_TAGS:
            break
    return tuple(seen.values())
