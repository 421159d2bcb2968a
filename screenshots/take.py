"""Drive the real app, with the real model, on the demo vault, and save the screens as SVG.

python screenshots/take.py [NAME …]
"""

from __future__ import annotations

import asyncio
import os
import re
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from textual.pilot import Pilot

    from donna_tui.cli.session import Session
    from donna_tui.engine.engine import Engine
    from donna_tui.tui.app import DonnaApp

FOLDER = Path(__file__).resolve().parent
PATIENCE_SECONDS = 120.0
MIN_TEXTS = 10
"""The least number of pieces of text in a picture of a drawn screen."""

UNDER_WAY = re.compile(r"(?:Comparing|Reading|Loading(?!&#160;the&#160;mod)|Looking)[^<]*…")
"""Text that shows work in progress. The event “Loading the model”, shortened in a narrow column, does not."""


@dataclass(frozen=True, slots=True)
class Shot:
    """A picture: its name, the size of the terminal, the theme, the text to type, and the keys to press after that."""

    name: str
    size: tuple[int, int]
    theme: str = "donna-dark"
    query: str = ""
    keys: tuple[str, ...] = ()


TO_THE_NOTE = ("f", *"decisions", "enter", "j", "j")
ASKED = ("slash", *("space" if char == " " else char for char in "redis failover drill"), "enter", "j")
TO_THE_DRAFT = ("escape", "3", "enter", "j", "j", "j", "j")
SIZES = ((80, 24), (120, 36), (160, 48))
SCREENS: dict[str, tuple[str, tuple[str, ...]]] = {
    "start": ("", ()),
    "search": ("why did we move off redis", ()),
    "vault": ("", ("escape", "2", *TO_THE_NOTE)),
    "vault-history": ("", ("escape", "2", *TO_THE_NOTE, "h")),
    "vault-undo": ("", ("escape", "2", "z")),
    "review": ("", TO_THE_DRAFT),
    "review-approve": ("", ("escape", "3", "a")),
    "meetings": ("", ("escape", "4")),
    "memory": ("", ("escape", "5", *ASKED)),
    "activity": ("", ("escape", "6")),
}
"""The text and keys that lead to each screen, of which pictures are taken in all sizes."""

SHOTS = (
    *(
        Shot(f"{name}-{width}x{height}", (width, height), query=query, keys=keys)
        for name, (query, keys) in SCREENS.items()
        for width, height in SIZES
    ),
    Shot("search-light-120x36", (120, 36), theme="donna-light", query="when does the printer jam"),
    Shot("search-nord-120x36", (120, 36), theme="nord", query="idempotency keys"),
    Shot("nothing-120x36", (120, 36), query="zebra zeppelin"),
    Shot("keys-120x36", (120, 36), query="ferry", keys=("escape", "question_mark")),
)


async def take(shots: Sequence[Shot], home: Path) -> None:
    """Start the app once for each picture of one size, wait until it is idle, and save the picture."""
    from donna_tui.engine.engine import Engine
    from donna_tui.tui.app import DonnaApp

    session = furnished(home)
    for shot in shots:
        engine = Engine(session.space, session.config, session.paths, what="the screenshots")
        app = DonnaApp(lambda _, engine=engine: engine, theme=shot.theme, space_name=session.space.name)
        async with app.run_test(size=shot.size) as pilot:
            await ready(engine, app)
            await pilot.press(*[key_of(char) for char in shot.query], *shot.keys)
            (FOLDER / f"{shot.name}.svg").write_text(await still_picture(app, pilot), encoding="utf-8")
        print(f"screenshots/{shot.name}.svg", flush=True)


def furnished(home: Path) -> Session:
    """Create the demo vault as at a first start."""
    from donna_tui.cli.demo import fill_demo
    from donna_tui.cli.demo_vault import demo_folder, make_demo
    from donna_tui.cli.session import session_for
    from donna_tui.platform.paths import app_paths
    from donna_tui.platform.spaces import space_at

    paths = app_paths({"DONNA_HOME": str(home)}).make()
    session = session_for(space_at(make_demo(demo_folder(paths)), paths), paths)
    fill_demo(session)
    return session


async def ready(engine: Engine, app: DonnaApp) -> None:
    """Wait until all notes are embedded, the drafts are written, and every screen is mounted."""
    from donna_tui.tui.shell.main import MainScreen

    await until(lambda: indexed(engine))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while len(await engine.drafts.drafts()) < 2:
            await asyncio.sleep(0.2)
    await until(lambda: isinstance(app.screen, MainScreen) and app.screen.is_complete)
    await asyncio.sleep(2.0)


async def still_picture(app: DonnaApp, pilot: Pilot[None]) -> str:
    """Return the picture of a screen that is drawn and has not changed for a second, with no work in progress."""
    before = ""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while True:
            await pilot.pause(1.0)
            shown = app.export_screenshot()
            if shown == before and shown.count("<text") > MIN_TEXTS and not UNDER_WAY.search(shown):
                return shown
            before = shown


def indexed(engine: Engine) -> bool:
    """Return whether every note is embedded."""
    coverage = engine.status().coverage
    return bool(coverage.notes) and coverage.vectors == coverage.notes


async def until(condition: Callable[[], bool]) -> None:
    """Wait until a condition is true, with a time limit."""
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not condition():
            await asyncio.sleep(0.2)


def key_of(char: str) -> str:
    """Return the name of the key that types a character."""
    return {" ": "space", "'": "apostrophe", '"': "quotation_mark", ":": "colon"}.get(char, char)


async def main() -> None:
    """Take all pictures, or the named ones, with Donna's files in a temporary folder."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "donna"
        os.environ["DONNA_HOME"] = str(home)
        wanted = sys.argv[1:] or [shot.name for shot in SHOTS]
        await take([each for each in SHOTS if each.name in wanted], home)


if __name__ == "__main__":
    asyncio.run(main())
