"""The list of results draws only lines that changed, and what is in sight is what it would draw anew."""

from __future__ import annotations

import random

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.strip import Strip

from donna_tui.results import Snippet
from donna_tui.tui.widgets.result_list import ResultList
from donna_tui.tui.widgets.result_row import Row
from tests.tui.driving import hit

STEPS = 80


class Lists(App[None]):
    """A list alone."""

    CSS = "ResultList { height: 1fr; content-align: center middle; overflow-y: scroll; }"

    def compose(self) -> ComposeResult:
        yield ResultList(id="results")

    @property
    def in_sight(self) -> list[list[tuple[str, str]]]:
        strips = self.screen._compositor.render_strips()
        return [[(each.text, str(each.style)) for each in strip.simplify()] for strip in strips]


def rows(chance: random.Random) -> tuple[Row, ...]:
    number = chance.choice((0, 1, 3, 12, 25))
    return tuple(
        Row(
            hit(
                f"{chance.choice('abc')}{place}",
                chunk_id=str(place),
                score=chance.choice((None, 0.25, 0.5)),
                snippet=Snippet("some words of a note", chance.choice(((), ((5, 10),)))),
            ),
            near=chance.random() < 0.2,
        )
        for place in range(number)
    )


def step(results: ResultList, chance: random.Random) -> None:
    match chance.choice(("show", "show", "show", "say", "select", "scroll", "focus", "lines")):
        case "show":
            results.show(rows(chance), keep=str(chance.randint(0, 30)))
        case "say":
            results.say(Content(chance.choice(("nothing", "two\nlines"))))
        case "select":
            results.select(chance.randint(0, 24))
        case "scroll":
            results.scroll_to(y=chance.randint(0, 60), animate=False, immediate=True)
        case "focus":
            results.screen.set_focus(None if results.has_focus else results)
        case "lines":
            results.snippet_lines = chance.choice((1, 2))


async def test_what_is_in_sight_is_what_would_be_drawn_anew() -> None:
    chance = random.Random(20261123)  # which steps
    app = Lists()
    async with app.run_test(size=(60, 20)) as pilot:
        results = app.query_one(ResultList)
        for _ in range(STEPS):
            for _ in range(chance.randint(1, 3)):
                step(results, chance)
            await pilot.pause()
            before = app.in_sight
            results.notify_style_update()
            results.refresh()
            await pilot.pause()
            assert app.in_sight == before


async def test_lines_that_say_the_same_are_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    app = Lists()
    async with app.run_test(size=(60, 20)) as pilot:
        results = app.query_one(ResultList)
        results.show(tuple(Row(hit(name)) for name in "abc"))
        await pilot.pause()
        asked, draw = list[int](), results.render_line

        def render_line(y: int) -> Strip:
            asked.append(y)
            return draw(y)

        monkeypatch.setattr(results, "render_line", render_line)
        results.show((Row(hit("a")), Row(hit("b", score=0.9)), Row(hit("c"))))
        await pilot.pause()
        assert asked == [results.row_height]
