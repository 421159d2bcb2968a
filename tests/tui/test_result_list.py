"""The list of results draws only changed lines, and shows exactly what a full redraw would."""

from __future__ import annotations

import random
from typing import Self

import pytest
from textual.app import App, ComposeResult
from textual.content import Content
from textual.geometry import Region

from donna_tui.tui.search.results import ResultList, ResultRow
from donna_tui.types.search import Snippet
from tests.tui.driving import hit

STEPS = 80


class Watched(ResultList):
    """Records which of its lines are to be drawn; no region means all of them."""

    def __init__(self) -> None:
        super().__init__(id="results")
        self.to_draw: list[int] = []

    def refresh(self, *regions: Region, repaint: bool = True, layout: bool = False, recompose: bool = False) -> Self:
        self.to_draw += [y for each in regions or [self.size.region] for y in each.line_range]
        return super().refresh(*regions, repaint=repaint, layout=layout, recompose=recompose)


class Lists(App[None]):
    """An app with only a list."""

    CSS = "ResultList { height: 1fr; content-align: center middle; overflow-y: scroll; }"

    def compose(self) -> ComposeResult:
        yield Watched()

    @property
    def in_sight(self) -> list[list[tuple[str, str]]]:
        strips = self.screen._compositor.render_strips()
        return [[(each.text, str(each.style)) for each in strip.simplify()] for strip in strips]


def rows(chance: random.Random) -> tuple[ResultRow, ...]:
    number = chance.choice((0, 1, 3, 12, 25))
    return tuple(
        ResultRow(
            hit(
                f"{chance.choice('abc')}{place}",
                chunk_id=str(place),
                rank_score=chance.choice((0.1, 0.25, 0.5)),
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
            results.show_notice(Content(chance.choice(("nothing", "two\nlines"))))
        case "select":
            results.select(chance.randint(0, 24))
        case "scroll":
            results.scroll_to(y=chance.randint(0, 60), animate=False, immediate=True)
        case "focus":
            results.screen.set_focus(None if results.has_focus else results)
        case "lines":
            results.set_snippet_lines(chance.choice((1, 2)))


@pytest.mark.slow
async def test_result_list_redraws_every_changed_line() -> None:
    chance = random.Random(20261123)  # chooses the steps
    app = Lists()
    async with app.run_test(size=(60, 20)) as pilot:
        results = app.query_one(Watched)
        await pilot.pause()
        on_the_terminal = app.in_sight
        for _ in range(STEPS):
            results.to_draw.clear()
            for _ in range(chance.randint(1, 3)):
                step(results, chance)
            await pilot.pause()
            for y in results.to_draw:
                on_the_terminal[y] = app.in_sight[y]
            assert [line[:-1] for line in on_the_terminal] == [line[:-1] for line in app.in_sight]


async def test_result_list_does_not_redraw_unchanged_lines() -> None:
    app = Lists()
    async with app.run_test(size=(60, 20)) as pilot:
        results = app.query_one(Watched)
        results.show(tuple(ResultRow(hit(name)) for name in "abc"))
        await pilot.pause()
        results.to_draw.clear()
        results.show((ResultRow(hit("a")), ResultRow(hit("b", rank_score=0.9)), ResultRow(hit("c"))))
        await pilot.pause()
        assert results.to_draw == [results.row_height]
