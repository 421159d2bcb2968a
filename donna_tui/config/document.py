"""Parse settings from bounded YAML, remember the line of every value, and report errors.

Events are read from the parser one by one instead of composing a tree first, because PyYAML's C composer recurses
without a limit and crashes on a deeply nested file, and because an alias can expand a few bytes without bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Literal

import yaml

from donna_tui.types.errors import ConfigError, Reason

Layer = Literal["default", "user", "space", "environment", "command line"]
"""The layers of the configuration; later ones take precedence."""

SHOWN_CHARS = 60
_YAML_WORDS = {"None": "nothing", "True": "true", "False": "false"}


@dataclass(frozen=True, slots=True)
class Origin:
    """The layer that set a value: `source` is a file, a variable or the name given on the command line."""

    layer: Layer
    source: str
    line: int | None = None

    def __str__(self) -> str:
        return self.source if self.line is None else f"{self.source}, line {self.line}"


def invalid(origin: Origin, problem: str, *, hint: str | None = None) -> ConfigError:
    return ConfigError(Reason.CONFIG_INVALID, f"{origin}: {problem}", hint=hint)


def shown(value: object) -> str:
    """Format a value or name for an error message: short, on one line, without control characters."""
    text = value if isinstance(value, str) else _YAML_WORDS.get(repr(value)) or repr(value)
    visible = "".join(char if char.isprintable() else "�" for char in text[: SHOWN_CHARS + 1])
    return visible if len(visible) <= SHOWN_CHARS else f"{visible[: SHOWN_CHARS - 1]}…"


MAX_DEPTH = 12

TOO_DEEP = "exceeded maximum nesting depth"
"""The message of PyYAML from 6.0.4 on if the C parser reads ahead through very many brackets."""

KeyPath = tuple[str | int, ...]
"""Path to a value: keys and list indices."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass(frozen=True, slots=True)
class Document:
    """A parsed settings file. `lines` maps each key and list item, by its path, to its 1-based line."""

    origin: Origin
    data: Mapping[str, object]
    lines: Mapping[KeyPath, int]

    def at(self, path: KeyPath) -> Origin:
        """Return the origin of a key or item, or of the nearest enclosing one that has a line."""
        while path and path not in self.lines:
            path = path[:-1]
        return Origin(self.origin.layer, self.origin.source, self.lines.get(path))


def parse_document(text: str, origin: Origin) -> Document:
    """Parse the text of a settings file. Raises ConfigError for invalid YAML and for anything but a mapping."""
    builder = Builder(text, origin)
    data = builder.build()
    if not isinstance(data, dict | None):
        raise invalid(origin, "the file must contain blocks of settings, such as 'retrieval:'")
    return Document(origin, data or {}, builder.lines)


class Builder:
    """Parse a YAML value, such as `[a, b]`. `lines` are those of its parts."""

    def __init__(self, text: str, origin: Origin) -> None:
        self._text = text
        self._origin = origin
        self.lines: dict[KeyPath, int] = {}

    def build(self) -> object:
        """Return the only value in the text, or None if it is empty. Raises ConfigError."""
        try:
            self._loader = _Loader(self._text)
            return self._single_value()
        except yaml.MarkedYAMLError as error:
            mark = error.problem_mark or error.context_mark
            line = mark.line + 1 if mark else None
            problem = "nested too deeply" if error.problem == TOO_DEEP else f"not valid YAML ({shown(error.problem)})"
            raise self._error(line, problem) from error
        except UnicodeEncodeError as error:
            raise self._error(None, "the text is not Unicode") from error
        except yaml.reader.ReaderError as error:
            line = self._text.encode().count(b"\n", 0, error.position) + 1
            raise self._error(line, "the text contains a control character") from error

    def _single_value(self) -> object:
        self._loader.get_event()
        if self._loader.check_event(yaml.StreamEndEvent):
            return None
        self._loader.get_event()
        value = self._value(())
        self._loader.get_event()
        if not self._loader.check_event(yaml.StreamEndEvent):
            raise self._error(_line(self._loader.peek_event()), "must be a single YAML document")
        return value

    def _value(self, path: KeyPath) -> object:
        event = self._loader.get_event()
        if len(path) > MAX_DEPTH:
            raise self._error(_line(event), "nested too deeply")
        if isinstance(event, yaml.AliasEvent):
            raise self._error(_line(event), "aliases (*name) are not supported")
        if event.tag is not None:
            raise self._error(_line(event), "tags (!name) are not supported")
        if isinstance(event, yaml.MappingStartEvent):
            return self._mapping(path)
        if isinstance(event, yaml.SequenceStartEvent):
            return self._sequence(path)
        return self._scalar(event)

    def _mapping(self, path: KeyPath) -> dict[str, object]:
        result: dict[str, object] = {}
        while not self._loader.check_event(yaml.MappingEndEvent):
            event = self._loader.get_event()
            if not isinstance(event, yaml.ScalarEvent):
                raise self._error(_line(event), "the name of a setting must be plain text")
            key = event.value
            if key in result:
                raise self._error(_line(event), f"{shown(key)} is set twice")
            self.lines[(*path, key)] = _line(event)
            result[key] = self._value((*path, key))
        self._loader.get_event()
        return result

    def _sequence(self, path: KeyPath) -> list[object]:
        result: list[object] = []
        while not self._loader.check_event(yaml.SequenceEndEvent):
            item_path = (*path, len(result))
            self.lines[item_path] = _line(self._loader.peek_event())
            result.append(self._value(item_path))
        self._loader.get_event()
        return result

    def _scalar(self, event: Any) -> object:
        tag = self._loader.resolve(yaml.ScalarNode, event.value, event.implicit)
        node = yaml.ScalarNode(tag, event.value, event.start_mark, event.end_mark)
        try:
            return self._loader.construct_object(node)
        except ValueError as error:
            raise self._error(_line(event), f"{shown(event.value)} is not a value that can be read") from error

    def _error(self, line: int | None, problem: str) -> ConfigError:
        return invalid(Origin(self._origin.layer, self._origin.source, line), problem)


def _line(event: Any) -> int:
    return int(event.start_mark.line) + 1
