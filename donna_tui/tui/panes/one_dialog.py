"""Workers that ask something in a dialog: one at a time, so that no dialog is left open with nobody waiting for it."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import wraps
from typing import Concatenate, ParamSpec, TypeVar, cast

from textual import work
from textual.widget import Widget

P = ParamSpec("P")
W = TypeVar("W", bound=Widget)


def one_dialog(
    group: str,
) -> Callable[[Callable[Concatenate[W, P], Awaitable[None]]], Callable[Concatenate[W, P], None]]:
    """Run a method in a worker of this group, unless one of the widget's is still running: keys typed in a burst ask
    once. An exclusive worker would cancel the first one instead, perhaps in the middle of a write.
    """

    def decorate(method: Callable[Concatenate[W, P], Awaitable[None]]) -> Callable[Concatenate[W, P], None]:
        start = work(group=group)(method)

        @wraps(method)
        def begin(widget: W, /, *args: P.args, **kwargs: P.kwargs) -> None:
            running = (each for each in widget.workers if each.node is widget and each.group == group)
            if all(each.is_finished for each in running):
                start(widget, *args, **kwargs)

        return cast(Callable[Concatenate[W, P], None], begin)

    return decorate
