"""Parse a block of untrusted YAML to plain data, bounded in time, memory and depth."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

import yaml

try:
    from yaml import CSafeLoader as _SafeLoader
except ImportError:  # PyYAML was built without libyaml: slower, with the same results
    from yaml import SafeLoader as _SafeLoader  # type: ignore[assignment]

LARGEST = 20_000
"""Maximum size of a block, in values and hundreds of characters. Aliases count with their expansion."""

DEEPEST = 40
LARGEST_INT = 2**63 - 1
"""The largest integer of SQLite."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")
_KEEPS_BLANK_LINES = re.compile(r"[^\r\n#]*\+")


class YamlError(Exception):
    """The block is rejected. The message never contains text of the block; `line` is 0-based, or None if unknown."""

    def __init__(self, message: str, line: int | None = None) -> None:
        super().__init__(message)
        self.line = line


@dataclass(frozen=True, slots=True)
class YamlBlock:
    """The JSON-serialisable content of a block, and whether two of its top-level keys are equal."""

    value: Any
    repeats_keys: bool


class _Loader(_SafeLoader):
    """Resolve plain scalars as Obsidian does (YAML 1.2): dates, `12:30`, `007`, `1.10`, `no` and `on` remain text."""

    yaml_implicit_resolvers: dict[str, list[tuple[str, re.Pattern[str]]]] = {}  # noqa: RUF012


_Loader.add_implicit_resolver("tag:yaml.org,2002:null", re.compile(r"(?:~|null|Null|NULL|)\Z"), ["~", "n", "N", ""])
_Loader.add_implicit_resolver("tag:yaml.org,2002:bool", re.compile(r"(?:[Tt]rue|TRUE|[Ff]alse|FALSE)\Z"), list("tTfF"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:int", re.compile(r"[-+]?(?:0|[1-9]\d{0,18})\Z"), list("-+0123456789"))
_Loader.add_implicit_resolver("tag:yaml.org,2002:merge", re.compile(r"<<\Z"), ["<"])


def load_yaml(block: str) -> YamlBlock:
    """Parse a YAML block. Raises YamlError if it is invalid, too deep or too large."""
    try:
        survey = _Survey()
        for event in yaml.parse(block, _Loader):
            survey.see(event)
        return YamlBlock(_plain(yaml.load(block, _Loader)), survey.repeats_keys)  # noqa: S506 - a safe loader
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark
        raise YamlError("is not valid YAML", None if mark is None else mark.line) from error
    except (yaml.YAMLError, ValueError, TypeError, ArithmeticError, RecursionError) as error:
        raise YamlError("is not valid YAML") from error


@dataclass(slots=True)
class YamlNode:
    """The span of a key or value in a block, as half-open character offsets without what follows it."""

    start: int
    end: int
    is_linked: bool
    """True if it contains an anchor or an alias."""


def top_level_nodes(block: str) -> list[YamlNode]:
    """Return the keys and values, alternating, of a mapping. `load_yaml` must have accepted the block."""
    nodes: list[YamlNode] = []
    flows: list[bool] = []
    event: Any  # the stubs give it no marks
    for event in yaml.parse(block, _Loader):
        start, end = event.start_mark.index, event.end_mark.index
        if isinstance(event, yaml.NodeEvent):
            if len(flows) == 1:
                nodes.append(YamlNode(start, end, False))
            if nodes:
                nodes[-1].is_linked |= event.anchor is not None
        if isinstance(event, yaml.CollectionStartEvent):
            flows.append(bool(event.flow_style))
        elif isinstance(event, yaml.CollectionEndEvent):
            if flows.pop() and nodes:
                nodes[-1].end = end
        elif isinstance(event, yaml.NodeEvent) and nodes:
            is_block = isinstance(event, yaml.ScalarEvent) and event.style in ("|", ">")
            if is_block and not _KEEPS_BLANK_LINES.match(block, start, end):  # blank lines after it are not part of it
                end = start + len(block[start:end].rstrip(" \t\r\n"))
            nodes[-1].end = end
    return nodes


@dataclass(slots=True)
class _Survey:
    """Measure the events of a block before anything is built from them, to stop an expansion of aliases."""

    repeats_keys: bool = False
    _open: list[_Node] = field(default_factory=list)
    _sizes: dict[str, int] = field(default_factory=dict)
    _keys: set[str] = field(default_factory=set)

    def see(self, event: yaml.Event) -> None:
        if isinstance(event, yaml.CollectionStartEvent):
            self._open.append(_Node(event.anchor, isinstance(event, yaml.MappingStartEvent)))
            if len(self._open) > DEEPEST:
                raise YamlError("is nested too deeply")
        elif isinstance(event, yaml.CollectionEndEvent):
            node = self._open.pop()
            self._value(node.size, node.anchor)
        elif isinstance(event, yaml.ScalarEvent):
            if len(self._open) == 1 and self._open[0].is_mapping and self._open[0].values % 2 == 0:
                self.repeats_keys = self.repeats_keys or event.value in self._keys
                self._keys.add(event.value)
            self._value(1 + len(event.value) // 100, event.anchor)
        elif isinstance(event, yaml.AliasEvent):
            if event.anchor in {node.anchor for node in self._open}:
                raise YamlError("contains itself")
            self._value(self._sizes.get(event.anchor or "", 1), None)

    def _value(self, size: int, anchor: str | None) -> None:
        if anchor:
            self._sizes[anchor] = size
        if self._open:
            self._open[-1].size += size
            self._open[-1].values += 1
        if size > LARGEST:
            raise YamlError("has too many values")


@dataclass(slots=True)
class _Node:
    """A collection that is still open: `size` counts all nodes in it, `values` its own children."""

    anchor: str | None
    is_mapping: bool
    size: int = 1
    values: int = 0


def _plain(value: Any) -> Any:
    """Convert `value` to JSON types: keys become text, and so does what JSON or SQLite cannot hold."""
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, dict):
        return {_text(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    if isinstance(value, (set, frozenset)):
        return sorted(_text(item) for item in value)
    return value if isinstance(value, int) and abs(value) <= LARGEST_INT else _text(value)


def _text(value: Any) -> str:
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    if isinstance(value, bytes):
        value = value.decode("utf-8", "replace")
    return _UNSTORABLE.sub("�", str(value))
