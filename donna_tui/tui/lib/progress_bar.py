"""Draw how much of the vault is indexed for keyword search, and how much of it for semantic search too."""

from __future__ import annotations

from typing import ClassVar

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

_FULL, _HALF_END, _HALF_START = "━", "╸", "╺"


def bar(meaning: int, words: int, total: int, width: int) -> Content:
    """Render a bar of `width` cells. Any progress fills at least half a cell; only completion fills the last one."""
    strong = _halves(min(meaning, words), total, width)
    weak = max(strong, _halves(words, total, width))
    cells = [_cell(index, strong, weak) for index in range(width)]
    return Content.assemble(*cells)


def _halves(part: int, total: int, width: int) -> int:
    if total <= 0 or part >= total:
        return 2 * width if total > 0 else 0
    return min(2 * width - 1, max(1, 2 * width * part // total)) if part > 0 else 0


def _cell(index: int, strong: int, weak: int) -> tuple[str, str]:
    begin = 2 * index
    for limit, style in ((strong, ".bar--semantic"), (weak, ".bar--keyword")):
        if begin + 2 <= limit:
            return _FULL, style
        if begin + 1 == limit:
            return _HALF_END, style
    return _FULL, ".bar--rest"


class ProgressBar(Widget):
    """Draw `bar` over its whole width. Counts are notes."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"bar--semantic", "bar--keyword", "bar--rest"}

    counts: reactive[tuple[int, int, int]] = reactive((0, 0, 0))

    def show(self, *, meaning: int, words: int, total: int) -> None:
        """Set the counts."""
        self.counts = (meaning, words, total)

    def render(self) -> Content:
        return bar(*self.counts, self.content_size.width)
