"""Values that are created when they are first used."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from donna_tui.platform.lazy import Lazy


def test_threads_that_ask_at_a_time_get_the_same() -> None:
    made: list[object] = []
    barrier = Barrier(8)

    def make() -> object:
        made.append(object())
        return made[-1]

    once = Lazy(make)

    def ask(_: int) -> object:
        barrier.wait()
        return once()

    assert once.made is None
    with ThreadPoolExecutor(8) as threads:
        got = list(threads.map(ask, range(8)))
    assert len(made) == 1
    assert set(map(id, got)) == {id(made[0])}
    assert once.made is made[0]


def test_lazy_value_is_made_again_after_an_error() -> None:
    answers = iter([OSError("away"), "there"])

    def make() -> str:
        answer = next(answers)
        if isinstance(answer, OSError):
            raise answer
        return answer

    once = Lazy(make)
    with pytest.raises(OSError, match="away"):
        once()
    assert once() == "there"
