"""Reads the frontmatter of a note: bounded, JSON-safe, and with a word on what could not be read."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import PurePosixPath
from typing import Any

import yaml
from frontmatter.default_handlers import YAMLHandler

LARGEST_BLOCK = 64 * 1024
"""Characters of YAML that are parsed; more is not something a person wrote."""

LARGEST_DATA = 5_000
"""Values that are kept: aliases can make a short block expand without end."""

DEEPEST = 20
MOST_TAGS = 200

_FENCE = re.compile(r"---[ \t]*(?:\r\n?|\n|$)")
_CLOSER = re.compile(r"(?:^|(?<=[\r\n]))(?:---|\.\.\.)[ \t]*(?:\r\n?|\n|$)")
_KEY = re.compile(r"(?:^|(?<=[\r\n]))(?:[\"']?[\w./ -]+[\"']?[ \t]*:(?:\s|$)|\? |-[ \t]|[\[{])")
_TOP_KEY = re.compile(r"(?:^|(?<=[\r\n]))([\w-]+)[ \t]*:[ \t]*([^\r\n]*)")
_TAG = re.compile(r"(?:^|(?<=[\s(]))#([^\W_][\w/-]*|_[\w/-]+)")
_TOO_DEEP = re.compile(r"[\[{]{100}|(?:[\[{][^\]}]*){500}")

_HANDLER = YAMLHandler()
"""python-frontmatter's own; it loads safely, so that no tag of a note can construct anything."""


@dataclass(frozen=True, slots=True)
class Frontmatter:
    """`data` is JSON-safe; the body begins at `body_start`. `problem` says why data is missing or in doubt.

    `raw` is the block as it stands in the file, without its fences.
    """

    data: dict[str, Any] = field(default_factory=dict)
    body_start: int = 0
    problem: str = ""
    present: bool = False
    raw: str = ""


def parse_frontmatter(text: str) -> Frontmatter:
    """The frontmatter of a note, if its first line opens one. Never raises, whatever is in it."""
    opening = _FENCE.match(text)
    closing = _CLOSER.search(text, opening.end()) if opening else None
    if not opening or not closing:
        return Frontmatter()
    raw = text[opening.end() : closing.start()]
    if not _is_metadata(raw):
        return Frontmatter()
    data, problem = _load(raw)
    return Frontmatter(data, closing.end(), problem, present=True, raw=raw)


def _is_metadata(raw: str) -> bool:
    """Prose between two horizontal rules is none: it begins with an empty line, as YAML that people write does not."""
    if not raw.strip():
        return True
    first = raw.lstrip(" \t")
    return first[0] not in "\r\n" or bool(_KEY.match(raw.lstrip()))


def _load(raw: str) -> tuple[dict[str, Any], str]:
    if len(raw) > LARGEST_BLOCK or _TOO_DEEP.search(raw):
        return _plain_lines(raw), "the frontmatter is too large or too deep; only its plain lines are read"
    try:
        loaded = _HANDLER.load(raw.replace("\r\n", "\n").replace("\r", "\n"))
    except yaml.YAMLError as error:
        return {}, f"the frontmatter is not valid YAML{_where(error)}"
    except (ValueError, TypeError, RecursionError, OverflowError, AttributeError):
        return _plain_lines(raw), "the frontmatter has a value that YAML cannot read; only its plain lines are read"
    if loaded is None:
        return {}, ""
    if not isinstance(loaded, dict):
        return {}, "the frontmatter is not a list of “key: value” lines"
    return _json_safe_mapping(loaded), _doubt(raw)


def _where(error: yaml.YAMLError) -> str:
    mark = getattr(error, "problem_mark", None)
    return f" (line {mark.line + 2})" if mark else ""


def _doubt(raw: str) -> str:
    """A sensitivity flag that stands twice may mean either."""
    keys = [match[1] for match in _TOP_KEY.finditer(raw)]
    twice = sorted({key for key in keys if key.startswith("donna") and keys.count(key) > 1})
    return f"the frontmatter has {twice[0]} twice" if twice else ""


def _plain_lines(raw: str) -> dict[str, Any]:
    """The simple `key: value` lines of a block that is too large or odd to parse."""
    wanted = ("title", "tags", "aliases", "type")
    return {
        match[1]: match[2].strip().strip("\"'")[:500]
        for match in _TOP_KEY.finditer(raw)
        if match[1] in wanted or match[1].startswith("donna")
    }


class _Budget:
    def __init__(self) -> None:
        self.left = LARGEST_DATA


def _json_safe_mapping(loaded: Mapping[Any, Any]) -> dict[str, Any]:
    safe = _json_safe(loaded, _Budget(), 0)
    return safe if isinstance(safe, dict) else {}


def _json_safe(value: Any, budget: _Budget, depth: int) -> Any:
    budget.left -= 1
    if budget.left < 0 or depth > DEEPEST:
        return "…"
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Mapping):
        return {_text(key): _json_safe(each, budget, depth + 1) for key, each in _bounded(value.items(), budget)}
    if isinstance(value, list | tuple | set):
        return [_json_safe(each, budget, depth + 1) for each in _bounded(value, budget)]
    if isinstance(value, int) and abs(value) < 2**63:
        return value
    if isinstance(value, float) and math.isfinite(value):
        return value
    return _text(value)


def _bounded(values: Any, budget: _Budget) -> list[Any]:
    return [each for each, _ in zip(values, range(max(0, budget.left)), strict=False)]


def _text(value: Any) -> str:
    shown = value.decode("utf-8", "replace") if isinstance(value, bytes) else str(value)
    return shown.encode("utf-8", "replace").decode("utf-8").replace("\0", "\ufffd")


def title_of(data: Mapping[str, Any], path: str) -> str:
    """The title of a note: of its frontmatter, else the name of its file. One row of text."""
    value = data.get("title")
    if isinstance(value, str | int | float) and not isinstance(value, bool) and str(value).strip():
        return " ".join(str(value).split())
    return PurePosixPath(path).stem or path


def aliases_of(data: Mapping[str, Any]) -> tuple[str, ...]:
    """The other names of a note."""
    return _words_of(data.get("aliases", data.get("alias")), split=None)


def tags_of(data: Mapping[str, Any], body: str) -> tuple[str, ...]:
    """The tags of a note, of its frontmatter and in its text, without `#`."""
    own = _words_of(data.get("tags", data.get("tag")), split=r"[,\s]+")
    inline = [match[1].rstrip("/-") for match, _ in zip(_TAG.finditer(body), range(MOST_TAGS), strict=False)]
    words = [tag for tag in (*(each.lstrip("#") for each in own), *inline) if tag and not tag.isdigit()]
    return tuple(dict.fromkeys(words))[:MOST_TAGS]


def note_type_of(data: Mapping[str, Any]) -> str:
    """The `type` of a note, such as `meeting`; empty without one."""
    value = data.get("type")
    return " ".join(value.split()) if isinstance(value, str) else ""


def _words_of(value: Any, *, split: str | None) -> tuple[str, ...]:
    if isinstance(value, str):
        parts = re.split(split, value) if split else [value]
    elif isinstance(value, list):
        parts = [str(each) for each in value if isinstance(each, str | int | float) and not isinstance(each, bool)]
    else:
        parts = []
    return tuple(" ".join(part.split()) for part in parts if part.strip())
