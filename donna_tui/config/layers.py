"""Read the values of one configuration layer: a file, the environment or the command line."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from donna_tui.config.blocks import FromSpace
from donna_tui.config.document import Document, Origin, Place, invalid, parse_value, shown
from donna_tui.config.schema import ROOT, SETTINGS, Group, Setting

PREFIX = "DONNA_"

_FLAGS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


@dataclass(frozen=True, slots=True)
class LayerValue:
    """A value from a layer, not validated yet. `below` is the list to which this one was appended."""

    value: object
    origin: Origin
    inner: Mapping[Place, Origin] = field(default_factory=dict)
    below: LayerValue | None = None

    def place_of(self, inside: Place) -> Origin:
        """Return the origin of a part of the value, such as one item of a list."""
        if self.below is not None and isinstance(self.below.value, list) and inside and isinstance(inside[0], int):
            index = inside[0] - len(self.below.value)
            if index < 0:
                return self.below.place_of(inside)
            inside = (index, *inside[1:])
        while inside and inside not in self.inner:
            inside = inside[:-1]
        return self.inner.get(inside, self.origin)


Values = dict[str, LayerValue]
"""Values by the id of their setting."""


def from_document(document: Document) -> Values:
    """Return the values set by a file. Raises ConfigError for names that do not exist or are set twice."""
    values: Values = {}
    for place, identifier, value in _leaves(document, ROOT, document.data, ()):
        _add(values, identifier, LayerValue(value, document.at(place), _inner(document, place, value)))
    return values


def from_environment(environ: Mapping[str, str]) -> Values:
    """Return the values set by variables like `DONNA_RETRIEVAL__DEFAULT_K`. Raises ConfigError.

    A variable is a setting if it contains two underscores, or names a setting outside all blocks. `DONNA_HOME` is
    neither.
    """
    values: Values = {}
    for variable, text in environ.items():
        if not variable.startswith(PREFIX):
            continue
        name = variable.removeprefix(PREFIX)
        origin = Origin("environment", variable)
        if "__" in name or isinstance(ROOT.names.get(name.lower()), Setting):
            _add(values, *_single(name.lower().split("__"), text, origin))
            continue
        for block in ROOT.names:
            if name.lower().startswith(f"{block}_"):
                meant = f"{PREFIX}{name[: len(block)]}__{name[len(block) + 1 :]}"
                raise invalid(origin, f"not a setting; did you mean {meant}, with two underscores?")
    return values


def from_overrides(overrides: Mapping[str, object]) -> Values:
    """Return the values given on the command line, by dotted name, converted like variables. Raises ConfigError."""
    values: Values = {}
    for name, value in overrides.items():
        _add(values, *_single(name.split("."), value, Origin("command line", shown(name))))
    return values


def with_space(base: Values, space: Values) -> Values:
    """Apply the file in the space to `base`. Raises ConfigError for a change that an untrusted vault may not make."""
    merged = dict(base)
    for identifier, given in space.items():
        match SETTINGS[identifier].from_space:
            case None:
                raise invalid(
                    given.origin,
                    f"a file in the vault may not set {identifier}",
                    hint="Set it in your own file; `donna config path` names it.",
                )
            case FromSpace.REPLACE:
                merged[identifier] = given
            case FromSpace.APPEND:
                below = base[identifier]
                items = [*_items(below, identifier), *_items(given, identifier)]
                merged[identifier] = LayerValue(items, given.origin, given.inner, below)
            case FromSpace.NARROW:
                allowed = _items(base[identifier], identifier)
                for index, item in enumerate(_items(given, identifier)):
                    if item not in allowed:
                        problem = f"a file in the vault may only shorten {identifier}, and {shown(item)} is not in it"
                        raise invalid(given.place_of((index,)), problem)
                merged[identifier] = given
    return merged


def _add(values: Values, identifier: str, given: LayerValue) -> None:
    if identifier in values:
        raise invalid(given.origin, f"{identifier} is set twice, here and in {values[identifier].origin}")
    values[identifier] = given


def _inner(document: Document, place: Place, value: object) -> dict[Place, Origin]:
    if not isinstance(value, list | dict):
        return {}
    depth = len(place)
    return {each[depth:]: document.at(each) for each in document.lines if each[:depth] == place}


def _items(given: LayerValue, identifier: str) -> list[object]:
    if not isinstance(given.value, list):
        raise invalid(given.origin, f"{identifier} must be a list, not {shown(given.value)}")
    return given.value


def _leaves(
    document: Document, group: Group, data: Mapping[str, object], around: Place
) -> Iterator[tuple[Place, str, object]]:
    for name, value in data.items():
        place = (*around, name)
        member = _member(group, name, document.at(place))
        if isinstance(member, Setting):
            yield place, member.id, value
        elif isinstance(value, bool) and member.is_switch:
            yield place, f"{member.id}.enabled", value
        elif isinstance(value, dict):
            yield from _leaves(document, member, value, place)
        elif value is not None:
            raise invalid(document.at(place), f"{member.id} is a block of settings, not {shown(value)}")


def _single(path: Sequence[str], value: object, origin: Origin) -> tuple[str, LayerValue]:
    """Return the id and the value of the setting at a path of names."""
    member: Setting | Group = ROOT
    for name in path:
        if isinstance(member, Setting):
            raise invalid(origin, f"{member.id} is a setting, there is nothing below it")
        member = _member(member, name, origin)
    if isinstance(member, Group):
        if not member.is_switch:
            raise invalid(origin, f"{member.id} is a block of settings; name one of them")
        member = SETTINGS[f"{member.id}.enabled"]
    if isinstance(value, str):
        value = _converted(member.kind, value, origin)
    return member.id, LayerValue(value, origin)


def _converted(kind: Any, text: str, origin: Origin) -> object:
    """Convert text to the type of a setting; text that does not fit is kept, and fails validation."""
    if kind is tuple and not text.lstrip().startswith("["):
        return [item.strip() for item in text.split(",") if item.strip()]
    if kind in (tuple, dict):
        return parse_value(text, origin)
    if kind is bool:
        return _FLAGS.get(text.lower(), text)
    if kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            return text
    return text


def _member(group: Group, name: str, origin: Origin) -> Setting | Group:
    if member := group.names.get(name):
        return member
    full = shown(f"{group.id}.{name}" if group.id else name)
    nearest = group.nearest(name)
    question = f"; did you mean {nearest}?" if nearest else ""
    known = ", ".join(member.id.rpartition(".")[2] for member in group.members)
    raise invalid(origin, f"{full} is not a setting{question}", hint=f"Known here: {known}.")
