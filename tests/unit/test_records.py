"""Donna's `dataclass` is the standard library's, in all that Donna uses of it."""

from __future__ import annotations

import copy
import dataclasses
import inspect
import pickle
from collections.abc import Callable
from dataclasses import FrozenInstanceError, asdict, field, fields, is_dataclass, replace
from typing import Any, ClassVar, Generic, TypeVar

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui import records

T = TypeVar("T")


def family(dataclass: Callable[..., Any]) -> tuple[type[Any], ...]:
    """One class of each kind that there is, made by this decorator."""

    @dataclass(frozen=True, slots=True)
    class Place:
        """Where something is."""

        path: str
        line: int = 1
        tags: tuple[str, ...] = ()

        def __post_init__(self) -> None:
            if self.line < 1:
                raise ValueError(self.line)

        @property
        def shown(self) -> str:
            return f"{self.path}:{self.line}"

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Happened:
        """An event."""

        name: ClassVar[str] = "happened"
        at: list[int] = field(default_factory=lambda: [7])

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Moved(Happened):
        """An event with more to say, and a secret."""

        name: ClassVar[str] = "moved"
        whence: Place
        key: str = field(default="", repr=False)

    @dataclass(slots=True)
    class Counted:
        """What changes."""

        last: int
        seen: dict[str, int] = field(default_factory=dict)
        asked: int = field(default=0, compare=False)

    @dataclass(frozen=True, slots=True)
    class Boxed(Generic[T]):
        """One value of any kind."""

        value: T

    return Place, Happened, Moved, Counted, Boxed


OURS, THEIRS = family(records.dataclass), family(dataclasses.dataclass)
Place, Happened, Moved, Counted, Boxed = OURS

PAIRS = pytest.mark.parametrize(("ours", "theirs"), list(zip(OURS, THEIRS, strict=True)), ids=lambda cls: cls.__name__)

PLACES = st.tuples(st.text(), st.integers(1))

SAMPLES = [
    lambda place, *_: place("a.md"),
    lambda place, *_: place("a.md", 3, tags=("x",)),
    lambda _, happened, *__: happened(),
    lambda place, _, moved, *__: moved(whence=place("b.md"), at=[1], key="secret"),
    lambda _, __, ___, counted, ____: counted(2, {"a": 1}),
    lambda *classes: classes[4]("x"),
]
SAMPLED = pytest.mark.parametrize("sample", SAMPLES)


@PAIRS
def test_a_class_looks_the_same(ours: type[Any], theirs: type[Any]) -> None:
    assert is_dataclass(ours)
    assert [(f.name, f.kw_only, f.repr) for f in fields(ours)] == [(f.name, f.kw_only, f.repr) for f in fields(theirs)]
    assert list(inspect.signature(ours).parameters) == list(inspect.signature(theirs).parameters)
    assert ours.__slots__ == theirs.__slots__
    assert ours.__match_args__ == theirs.__match_args__
    assert ours.__init__.__qualname__ == theirs.__init__.__qualname__
    assert (ours.__hash__ is None) == (theirs.__hash__ is None)


@SAMPLED
def test_an_instance_says_the_same(sample: Callable[..., Any]) -> None:
    ours, theirs = sample(*OURS), sample(*THEIRS)
    assert repr(ours) == repr(theirs)
    assert asdict(ours) == asdict(theirs)
    assert "secret" not in repr(ours)


@SAMPLED
def test_equal_are_two_of_one_class_with_equal_fields(sample: Callable[..., Any]) -> None:
    one, other = sample(*OURS), sample(*OURS)
    assert one == other
    assert one is not other
    assert one != sample(*THEIRS)
    assert (one == 3) is False


@given(PLACES, PLACES)
def test_equality_and_hash_go_by_the_fields(one: tuple[str, int], other: tuple[str, int]) -> None:
    assert (Place(*one) == Place(*other)) == (one == other)
    assert hash(Place(*one)) == hash(Place(*one))
    assert len({Place(*one), Place(*other)}) == len({one, other})


def test_of_one_field_with_nothing_in_common_two_classes_differ() -> None:
    assert Boxed(1) != Happened(at=1)
    assert Boxed(1) == Boxed(1.0)


def test_what_is_frozen_refuses_to_change() -> None:
    place = Place("a.md")
    with pytest.raises(FrozenInstanceError, match="cannot assign to field 'line'"):
        place.line = 2
    with pytest.raises(FrozenInstanceError, match="cannot delete field 'path'"):
        del place.path
    with pytest.raises(AttributeError):
        place.other = 1
    assert (place.path, place.line) == ("a.md", 1)
    assert place.shown == "a.md:1"


def test_what_is_not_frozen_changes_and_has_no_hash() -> None:
    counted = Counted(1)
    counted.last = 2
    assert counted == Counted(2)
    with pytest.raises(TypeError, match="unhashable"):
        hash(counted)
    with pytest.raises(AttributeError):
        counted.other = 1


def test_a_field_can_be_left_out_of_a_comparison() -> None:
    assert Counted(1, asked=3) == Counted(1)
    assert Counted(1, asked=3) != Counted(2, asked=3)


def test_what_comes_after_init_is_done() -> None:
    with pytest.raises(ValueError, match="0"):
        Place("a.md", 0)


def test_each_has_a_default_of_its_own() -> None:
    one, other = Counted(1), Counted(1)
    one.seen["a"] = 1
    assert other.seen == {}
    assert Happened().at is not Happened().at


@pytest.mark.parametrize(
    "build", [Place, lambda: Place("a", 1, (), 4), lambda: Place("a", wrong=1), lambda: Moved("a")]
)
def test_what_does_not_fit_the_fields_is_refused(build: Callable[[], Any]) -> None:
    with pytest.raises(TypeError, match=r"(Place|Moved)\.__init__\(\)"):
        build()


def test_replace_checks_the_names() -> None:
    assert replace(Place("a.md", 3), line=4) == Place("a.md", 4)
    with pytest.raises(TypeError):
        replace(Place("a.md"), wrong=1)


def test_a_pattern_matches() -> None:
    match Place("a.md", 3):
        case Place(path, line):
            assert (path, line) == ("a.md", 3)


@SAMPLED
def test_copies_are_equal(sample: Callable[..., Any]) -> None:
    one = sample(*OURS)
    assert copy.copy(one) == one
    assert copy.deepcopy(one) == one


@records.dataclass(frozen=True, slots=True)
class Kept:
    """A class that pickle can find."""

    name: str
    parts: tuple[int, ...] = ()


def test_a_pickle_is_restored() -> None:
    kept = Kept("a", (1, 2))
    assert pickle.loads(pickle.dumps(kept)) == kept


def test_an_own_method_stays() -> None:
    @records.dataclass(frozen=True, slots=True)
    class Named:
        name: str

        def __repr__(self) -> str:
            return self.name

        def __eq__(self, other: object) -> bool:
            return True

        def __hash__(self) -> int:
            return 5

    assert repr(Named("a")) == "a"
    assert Named("a") == 3
    assert hash(Named("b")) == 5
