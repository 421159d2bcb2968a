"""`dataclass` for all of Donna: the standard library's, without compiling what is alike for every class.

Until Python 3.13 the standard library writes six methods of each frozen dataclass out as text and compiles them, half a
millisecond a class: a tenth of a search from the shell, and nearly as much of the app's start. Here only `__init__` is
compiled. Fields, slots and inheritance, `replace`, `asdict` and `fields` are the standard library's own, and so is what
a type checker sees. Every field is a parameter; there is no `InitVar` and no order, since nothing uses them.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from dataclasses import MISSING, Field, FrozenInstanceError
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeVar

T = TypeVar("T")
Methods = dict[str, Any]


def _dataclass(
    *, frozen: bool = False, slots: bool = False, kw_only: bool = False
) -> Callable[[type[T]], type[T]]:  # fmt: skip
    with_fields = dataclasses.dataclass(init=False, repr=False, eq=False, slots=slots, kw_only=kw_only)

    def finish(bare: type[T]) -> type[T]:
        cls = with_fields(bare)
        fields: tuple[Field[Any], ...] = dataclasses.fields(cls)  # type: ignore[arg-type]  # which it is by now
        methods = {"__init__": _init(cls, fields, frozen=frozen), "__repr__": _repr, **_compared(fields, frozen=frozen)}
        for name, method in (methods | _FROZEN if frozen else methods).items():
            if name not in vars(cls):
                setattr(cls, name, method)
        return cls

    return finish


if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    dataclass = _dataclass


def _init(cls: type, fields: Sequence[Field[Any]], *, frozen: bool) -> Callable[..., None]:
    """An `__init__` with one parameter for each field; those that only have a name come last."""
    scope: dict[str, Any] = {"_missing": MISSING}
    for each in fields:
        scope |= {f"_default_{each.name}": each.default, f"_make_{each.name}": each.default_factory}
        scope[f"_put_{each.name}"] = _put(cls, each.name)
    by_place = [_parameter(each) for each in fields if not each.kw_only]
    by_name = [_parameter(each) for each in fields if each.kw_only]
    parameters = ", ".join(["self", *by_place, *(["*", *by_name] if by_name else [])])
    put = "_put_{0}(self, {1})" if frozen else "self.{0} = {1}"
    lines = [put.format(each.name, _value(each)) for each in fields]
    lines.append("self.__post_init__()" if hasattr(cls, "__post_init__") else "return")
    exec(f"def __init__({parameters}):\n  " + "\n  ".join(lines), scope)  # noqa: S102  # names of fields only
    init: Callable[..., None] = scope["__init__"]
    init.__qualname__ = f"{cls.__qualname__}.__init__"
    return init


def _put(cls: type, name: str) -> Callable[[object, Any], None]:
    """What gives a frozen instance the value of a field; a slot does so in two thirds of the time."""
    by_slot: Callable[[object, Any], None] | None = getattr(getattr(cls, name, None), "__set__", None)
    return by_slot or (lambda self, value: object.__setattr__(self, name, value))


def _parameter(each: Field[Any]) -> str:
    if each.default_factory is not MISSING:
        return f"{each.name}=_missing"
    return each.name if each.default is MISSING else f"{each.name}=_default_{each.name}"


def _value(each: Field[Any]) -> str:
    if each.default_factory is MISSING:
        return each.name
    return f"_make_{each.name}() if {each.name} is _missing else {each.name}"


def _compared(fields: Sequence[Field[Any]], *, frozen: bool) -> Methods:
    """Equal are two of one class whose fields are equal; what can change has no hash."""
    values = attrgetter("__class__", *(each.name for each in fields if each.compare))

    def equal(self: object, other: object) -> Any:
        return values(self) == values(other) if type(other) is type(self) else NotImplemented

    def hashed(self: object) -> int:
        return hash(values(self))

    return {"__eq__": equal, "__hash__": hashed if frozen else None}


def _repr(self: Any) -> str:
    shown = (f"{each.name}={getattr(self, each.name)!r}" for each in dataclasses.fields(self) if each.repr)
    return f"{type(self).__qualname__}({', '.join(shown)})"


def _refuse_to_assign(self: object, name: str, value: object) -> None:
    raise FrozenInstanceError(f"cannot assign to field {name!r}")


def _refuse_to_delete(self: object, name: str) -> None:
    raise FrozenInstanceError(f"cannot delete field {name!r}")


def _state(self: Any) -> list[Any]:
    return [getattr(self, each.name) for each in dataclasses.fields(self)]


def _restore(self: Any, state: Sequence[Any]) -> None:
    for each, value in zip(dataclasses.fields(self), state, strict=True):
        object.__setattr__(self, each.name, value)


_FROZEN: Methods = {
    "__setattr__": _refuse_to_assign,
    "__delattr__": _refuse_to_delete,
    "__getstate__": _state,
    "__setstate__": _restore,
}
"""Copies and pickles take the last two; without them they would assign."""
