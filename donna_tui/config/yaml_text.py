"""Parse settings from bounded YAML, with the line of every value, and add an item without changing another byte.

Events are read from the parser one by one instead of composing a tree first, because PyYAML's C composer recurses
without a limit and crashes on a deeply nested file, and because an alias can expand a few bytes without bound.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import yaml

from donna_tui.config.document import KeyPath, Origin, SettingsFile, invalid, shown
from donna_tui.types.errors import ConfigError

MAX_DEPTH = 12

TOO_DEEP = "exceeded maximum nesting depth"
"""The message of PyYAML from 6.0.4 on if the C parser reads ahead through very many brackets."""

_Loader: Any = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


def parse_document(text: str, origin: Origin) -> SettingsFile:
    """Parse the text of a settings file. Raises ConfigError for invalid YAML and for anything but a mapping."""
    builder = Builder(text, origin)
    data = builder.build()
    if not isinstance(data, dict | None):
        raise invalid(origin, "the file must contain blocks of settings, such as 'retrieval:'")
    return SettingsFile(origin, data or {}, builder.lines)


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


def with_item(text: str, key: str, item: Mapping[str, Any], origin: Origin) -> str:
    """Append one item to the list at `key` in `text`, and keep the rest. Raises ConfigError if that is not possible."""
    before = parse_document(text, origin).data  # bounded, as for every settings file
    listed = before.get(key)
    if listed is not None and not isinstance(listed, list):
        raise invalid(origin, f"{key} is not a list")
    line = yaml.safe_dump(dict(item), default_flow_style=True, sort_keys=False, allow_unicode=True, width=100_000)
    entry = f"- {line.strip()}\n"
    if key not in before:
        new_text = f"{_terminated(text)}{key}:\n  {entry}"
    else:
        new_text = _inserted(text, key, entry, is_empty=not listed)
    after = parse_document(new_text, origin).data
    if after != {**before, key: [*(listed or ()), dict(item)]}:
        raise invalid(origin, f"Donna cannot add to {key} as it is written there; add this line: {entry.strip()}")
    return new_text


def _inserted(text: str, key: str, entry: str, *, is_empty: bool) -> str:
    root: Any = yaml.compose(text, yaml.SafeLoader)
    name, node = next((name, value) for name, value in root.value if name.value == key)
    terminated = _terminated(text)
    if is_empty:
        end = terminated.index("\n", node.end_mark.index)
        comment = terminated[node.end_mark.index : end].lstrip(":")
        return f"{terminated[: name.end_mark.index]}:{comment}\n  {entry}{terminated[end + 1 :]}"
    if node.flow_style:
        close = node.end_mark.index - 1
        return f"{text[:close].rstrip().removesuffix(',')}, {entry.removeprefix('- ').strip()}{text[close:]}"
    position = terminated.index("\n", _last(node).end_mark.index) + 1
    return f"{terminated[:position]}{' ' * node.start_mark.column}{entry}{terminated[position:]}"


def _last(node: Any) -> Any:
    """Return the last scalar or flow collection of a block collection, whose own end follows trailing comments."""
    while not getattr(node, "flow_style", True) and node.value:
        last = node.value[-1]
        node = last[1] if isinstance(last, tuple) else last
    return node


def _terminated(text: str) -> str:
    return text if not text or text.endswith("\n") else f"{text}\n"
