"""Record the real app on the demo vault as one animated SVG.

python screenshots/movie.py

Each row of the terminal is drawn once for as long as it does not change, and CSS shows it at the right time, so that a
film of half a minute is no larger than a few pictures.
"""

from __future__ import annotations

import asyncio
import os
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING

from rich.cells import cell_len
from rich.color import Color
from rich.style import Style
from take import FOLDER, furnished, key_of, ready
from textual.strip import Strip

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from donna_tui.engine.engine import Engine

NAME, SIZE, THEME = "donna", (100, 28), "donna-dark"
QUESTION, NOTE = "why did we move off redis", "Projects/gateway/decisions.md"
CELL, LINE, FONT = 8.4, 18, 14
MARGIN, BAR = 12, 30
FOREGROUND, BACKGROUND = "#e3e6eb", "#131519"

Row = tuple[tuple[str, str, str, bool, bool], ...]
"""The pieces of a line: text, colour, background, bold, italic."""


@dataclass(slots=True)
class Film:
    """The frames, each with its duration in seconds."""

    frames: list[tuple[list[Row], float]] = field(default_factory=list)

    async def hold(self, pilot: Pilot[None], seconds: float) -> None:
        """Show what is on the screen for some seconds."""
        await pilot.pause()
        rows = [row_of(strip) for strip in pilot.app.screen._compositor.render_strips()]
        if self.frames and self.frames[-1][0] == rows:
            self.frames[-1] = (rows, self.frames[-1][1] + seconds)
        else:
            self.frames.append((rows, seconds))


async def play(engine: Engine, film: Film, pilot: Pilot[None]) -> None:
    """Type a question, read the answer, open its note, and undo a change."""
    await film.hold(pilot, 2.0)
    for char in QUESTION:
        await pilot.press(key_of(char))
        await asyncio.sleep(0.15)
        await film.hold(pilot, 0.09)
    await pilot.pause(0.6)
    await film.hold(pilot, 2.2)
    for _ in range(2):
        await pilot.press("down")
        await pilot.pause(0.4)
        await film.hold(pilot, 0.9)
    await pilot.press("ctrl+k")
    await pilot.pause(0.5)
    await film.hold(pilot, 0.6)
    for char in "decis":
        await pilot.press(char)
        await pilot.pause(0.2)
        await film.hold(pilot, 0.1)
    await pilot.press("enter")
    await pilot.pause(1.0)
    await film.hold(pilot, 2.0)
    await pilot.press("z")
    await pilot.pause(1.2)
    await film.hold(pilot, 3.2)
    await pilot.press("enter")
    await pilot.pause(1.5)
    await film.hold(pilot, 2.5)


async def change_note(engine: Engine) -> None:
    """Reopen the decision in the note, which is then undone."""
    note = await engine.notes.read_note(NOTE)
    text = note.text.replace("**Status:** done. Redis is switched off", "**Status:** open again. Redis is back on", 1)
    await engine.notes.apply_plan(await engine.notes.plan_write(NOTE, text, note.etag))


def row_of(strip: Strip) -> Row:
    """Return the pieces of a line with their colours."""
    pieces: list[tuple[str, str, str, bool, bool]] = []
    for text, style, _ in strip:
        style = style or Style.null()
        colour, background = hexed(style.color, FOREGROUND), hexed(style.bgcolor, BACKGROUND)
        if style.reverse:
            colour, background = background, colour
        look = (background, bool(style.bold), bool(style.italic))
        if pieces and pieces[-1][2:] == look and (colour == pieces[-1][1] or not text.strip()):
            pieces[-1] = (pieces[-1][0] + text, *pieces[-1][1:])
        else:
            pieces.append((text, colour, *look))
    return tuple(pieces)


def hexed(color: Color | None, otherwise: str) -> str:
    """Format a colour for SVG."""
    return otherwise if color is None or color.is_default else color.get_truecolor().hex


def svg_of(frames: Sequence[tuple[list[Row], float]], size: tuple[int, int], title: str) -> str:
    """Return the frames as an animated SVG that repeats."""
    width, height = size[0] * CELL + 2 * MARGIN, size[1] * LINE + 2 * MARGIN + BAR
    whole = sum(seconds for _, seconds in frames)
    spans = list(intervals(frames))
    styles, shown = [], []
    for number, (line, row, begin, end) in enumerate(spans):
        drawn = "".join(drawn_row(row, MARGIN + BAR + line * LINE))
        if end - begin >= whole - 0.001:
            shown.append(f"<g>{drawn}</g>")
            continue
        first, last = 100 * begin / whole, 100 * end / whole
        before = "" if first < 0.001 else "0%{visibility:hidden}"
        after = "" if last > 99.999 else f"{last:.3f}%{{visibility:hidden}}"
        styles.append(f"@keyframes k{number}{{{before}{first:.3f}%{{visibility:visible}}{after}}}")
        shown.append(f'<g style="animation:k{number} {whole:.2f}s step-end infinite">{drawn}</g>')
    dots = "".join(
        f'<circle cx="{MARGIN + 8 + 18 * place}" cy="{BAR / 2 + 4}" r="5.5" fill="{colour}"/>'
        for place, colour in enumerate(("#ff5f57", "#febc2e", "#28c840"))
    )
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width:.0f} {height}" role="img">'
        f"<title>{escape(title)}</title><style>text{{font-family:ui-monospace,Menlo,Consolas,'DejaVu Sans Mono',"
        f"monospace;font-size:{FONT}px;white-space:pre}}{''.join(styles)}</style>"
        f'<rect width="100%" height="100%" rx="9" fill="{BACKGROUND}"/>{dots}{"".join(shown)}</svg>\n'
    )


def intervals(frames: Sequence[tuple[list[Row], float]]) -> Iterator[tuple[int, Row, float, float]]:
    """Yield each line, its content, and when that appears and disappears."""
    for line in range(len(frames[0][0])):
        begin = now = 0.0
        row = frames[0][0][line]
        for rows, seconds in frames:
            if rows[line] != row:
                yield line, row, begin, now
                row, begin = rows[line], now
            now += seconds
        yield line, row, begin, now


def drawn_row(row: Row, y: float) -> Iterator[str]:
    """Yield the rectangles and texts of a line."""
    x = float(MARGIN)
    for text, colour, background, bold, italic in row:
        width = cell_len(text) * CELL
        if background != BACKGROUND and width:
            yield f'<rect x="{x:.1f}" y="{y:.0f}" width="{width + 0.3:.1f}" height="{LINE}" fill="{background}"/>'
        bare = text.strip()
        if bare:
            start = x + (len(text) - len(text.lstrip())) * CELL
            weight = ' font-weight="bold"' if bold else ""
            slant = ' font-style="italic"' if italic else ""
            yield (
                f'<text x="{start:.1f}" y="{y + FONT:.0f}" fill="{colour}" textLength="{cell_len(bare) * CELL:.1f}"'
                f"{weight}{slant}>{escape(bare)}</text>"
            )
        x += width


async def main() -> None:
    """Record, with Donna's files in a temporary folder."""
    from donna_tui.engine.engine import Engine
    from donna_tui.tui.app import DonnaApp

    with tempfile.TemporaryDirectory() as folder:
        os.environ["DONNA_HOME"] = str(Path(folder) / "donna")
        session = furnished(Path(folder) / "donna")
        engine, film = Engine(session.space, session.config, session.paths), Film()
        app = DonnaApp(lambda _: engine, theme=THEME, space_name=session.space.name)
        async with app.run_test(size=SIZE) as pilot:
            await ready(engine, app)
            await change_note(engine)
            await pilot.pause(1.5)
            await play(engine, film, pilot)
    file = FOLDER / f"{NAME}.svg"
    file.write_text(svg_of(film.frames, SIZE, "Donna: search, open a note, undo a change"), encoding="utf-8")
    print(f"screenshots/{file.name}: {file.stat().st_size // 1000} kB, {len(film.frames)} frames")


if __name__ == "__main__":
    asyncio.run(main())
