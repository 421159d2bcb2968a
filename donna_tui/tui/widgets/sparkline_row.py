"""A small graph of the last values of one figure, made of block characters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from textual.content import Content
from textual.reactive import reactive
from textual.widget import Widget

_BLOCKS = " ▁▂▃▄▅▆▇█"
_STEPS = len(_BLOCKS) - 1


def spark_lines(values: Sequence[float], width: int, height: int) -> list[str]:
    """The last `width` values as `height` lines of blocks, newest at the right; what is above zero shows a block."""
    shown = [max(0.0, value) for value in values[-width:]] if width > 0 else []
    peak = max(shown, default=0.0)
    heights = [_level(value, peak, height * _STEPS) for value in shown]
    lines = []
    for row in reversed(range(height)):
        line = "".join(_BLOCKS[min(_STEPS, max(0, level - row * _STEPS))] for level in heights)
        lines.append(line.rjust(width))
    return lines


def _level(value: float, peak: float, steps: int) -> int:
    return max(1, round(value / peak * steps)) if value > 0 else 0


class SparklineRow(Widget):
    """Draws `spark_lines` over its whole room, above a base line."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"spark--line", "spark--base"}

    values: reactive[tuple[float, ...]] = reactive(())

    def render(self) -> Content:
        width, height = self.content_size
        lines = spark_lines(self.values, width, max(1, height))
        *upper, last = (Content.styled(line, ".spark--line") for line in lines)
        base = "".join("▁" if block == " " else " " for block in last.plain)
        drawn = "".join(block if block != " " else "▁" for block in last.plain)
        bottom = Content(drawn)
        for index, block in enumerate(base):
            bottom = bottom.stylize(".spark--base" if block == "▁" else ".spark--line", index, index + 1)
        return Content("\n").join([*upper, bottom])
