"""Drive the real app over a `FakeBackend`: send keys, and read the screen."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any, TypeVar

from textual.events import Key
from textual.pilot import Pilot

from donna_tui.tui.app import DonnaApp
from donna_tui.tui.lib.external import External
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.meetings.pane import MeetingsPane
from donna_tui.tui.memory.pane import MemoryPane
from donna_tui.tui.review.pane import ReviewPane
from donna_tui.tui.search.pane import SearchPane
from donna_tui.tui.shell.main import MainScreen
from donna_tui.tui.vault.pane import VaultPane
from donna_tui.types.search import Hit, SearchOutcome, SearchRequest, Snippet
from tests.tui.fake_backend import FakeBackend
from tests.tui.quiet import draw, until_quiet

SIZE = (120, 36)
LATER = 0.5
GENEROUS_SECONDS = 20.0

W = TypeVar("W")
DESKTOP = External(environ={"EDITOR": "vim", "DISPLAY": ":0"}, platform="linux", which=lambda name: f"/usr/bin/{name}")


class Driver:
    """A running app."""

    def __init__(self, app: DonnaApp, pilot: Pilot[None]) -> None:
        self.app = app
        self.pilot = pilot

    @property
    def main(self) -> MainScreen:
        """Return the main screen, even behind a dialog."""
        return next(screen for screen in self.app.screen_stack if isinstance(screen, MainScreen))

    @property
    def search(self) -> SearchPane:
        """Return the Search screen."""
        return self.main.search

    @property
    def vault(self) -> VaultPane:
        """Return the Vault screen."""
        return self.main.query_one(VaultPane)

    @property
    def memory(self) -> MemoryPane:
        """Return the Memory screen."""
        return self.main.query_one(MemoryPane)

    @property
    def review(self) -> ReviewPane:
        """Return the Review screen."""
        return self.main.query_one(ReviewPane)

    @property
    def meetings(self) -> MeetingsPane:
        """Return the Meetings screen."""
        return self.main.query_one(MeetingsPane)

    async def complete(self) -> None:
        """Wait until all panes are mounted."""
        await self.until(lambda: self.main.is_complete, "all panes are there")

    async def show(self, pane: str) -> None:
        """Show a screen with its key, and wait until its list is loaded."""
        key, is_loaded = {
            "vault": ("2", lambda: self.vault.note_tree.notes),
            "review": ("3", lambda: self.review.draft),
            "meetings": ("4", lambda: self.meetings.rows.line_count),
            "memory": ("5", lambda: self.memory.rows.line_count),
        }[pane]
        await self.press("escape", key)
        await self.until(is_loaded, f"{pane} is loaded")
        await self.rest()

    async def open_note(self, path: str) -> None:
        """Show the Vault screen with the cursor on a note, and wait until it is loaded."""
        self.main.show_pane("vault")
        vault = self.vault
        await self.until(lambda: vault.note_tree.notes, "the tree is shown")
        vault.note_tree.reveal(path)
        await self.until(lambda: vault.detail.note is not None and vault.detail.note.path == path, f"{path!r} is read")
        await self.pilot.pause()

    async def window(self, kind: type[W], *keys: str) -> W:
        """Press keys, if any, and wait for a dialog of some type."""
        if keys:
            await self.press(*keys)
        await self.until(lambda: isinstance(self.app.screen, kind), f"{kind.__name__} opens")
        await self.rest()
        assert isinstance(self.app.screen, kind)
        return self.app.screen

    @property
    def paths(self) -> list[str]:
        """Return the paths of the results, in order."""
        return [row.hit.path for row in self.search.results.rows]

    async def until(self, condition: Callable[[], object], what: str) -> None:
        """Wait until a condition is true."""
        deadline = time.monotonic() + GENEROUS_SECONDS
        while not condition():
            assert time.monotonic() < deadline, f"this was never true: {what}"
            draw(self.app)
            await asyncio.sleep(0.01)

    async def type(self, text: str) -> None:
        """Type into the focused widget."""
        await self.pilot.press(*("space" if char == " " else char for char in text))

    async def press(self, *keys: str) -> None:
        """Press keys, and wait until the app is idle."""
        await self.pilot.press(*keys)
        await self.pilot.pause()

    def queue(self, *keys: str) -> None:
        """Queue keys for the focused widget before the first of them is handled, as in a fast burst."""
        assert self.app.focused is not None
        for key in keys:
            self.app.focused.post_message(Key(key, "\r" if key == "enter" else key))

    async def rest(self) -> None:
        """Wait until the app is idle, including delayed checks and periodic updates."""
        await until_quiet(LATER)
        await self.pilot.pause()

    async def search_for(self, text: str) -> None:
        """Type a question and wait for its answer."""
        await self.type(text)
        await self.until(lambda: self._answered(text), f"{text!r} is answered")
        await self.pilot.pause()

    def screen_text(self) -> str:
        """Return the visible text."""
        return screen_text(self.app)

    def _answered(self, text: str) -> bool:
        outcome = self.search._outcome
        return outcome is not None and outcome.request.text == text


@asynccontextmanager
async def driving(
    backend: FakeBackend,
    *,
    size: tuple[int, int] = SIZE,
    connected: bool = True,
    at: str = "",
    note: str = "",
    **options: Any,
) -> AsyncIterator[Driver]:
    """Run the app on a backend and, by default, wait until it is connected. Show the screen `at` or a note if one is
    named.
    """
    app = DonnaApp(lambda choice: backend, **{"external": DESKTOP, "space_name": "notes", **options})
    async with app.run_test(size=size, notifications=True) as pilot:
        driver = Driver(app, pilot)
        if connected:
            await driver.until(lambda: driver.main.strip.status is not None, "the app is connected")
            await driver.complete()
        if at:
            await driver.show(at)
        if note:
            await driver.open_note(note)
        yield driver
        if driver.app.screen_stack:
            await driver.main.shut_down()
        driver.app.workers.cancel_all()  # as in a terminal; `run_test` removes the widgets that they use first


def hit(name: str, **fields: Any) -> Hit:
    """Return a hit in the note `name`."""
    path = fields.pop("path", f"Notes/{name}.md")
    defaults: dict[str, Any] = {
        "chunk_id": name,
        "document_id": path,
        "source_type": "vault",
        "path": path,
        "title": name,
        "heading_path": (name, "Part"),
        "start_line": 3,
        "end_line": 5,
        "content": f"the text of {name}",
        "snippet": Snippet(f"the text of {name}", ((4, 8),)),
        "score": 0.5,
        "rank_score": 0.5,
        "vector_rank": 1,
        "keyword_rank": 2,
        "uri": f"obsidian://{name}",
        "sensitive": False,
        "metadata": {},
    }
    return Hit(**{**defaults, **fields})


def outcome(request: SearchRequest, *names: str, **fields: Any) -> SearchOutcome:
    """Return an answer with a hit for each name."""
    hits = tuple(hit(name) for name in names)
    return SearchOutcome(request=request, mode=request.mode, hits=hits, searched_notes=9, latency_ms=4.0, **fields)


def marked_rows(view: PassageView) -> list[str]:
    """Return the rows of the passage that a view marks, as plain text."""
    return [content.plain for content, lines in view._rows if view._is_marked(lines)]


def screen_text(app: DonnaApp) -> str:
    """Return the visible text, row by row."""
    return "\n".join(strip.text for strip in app.screen._compositor.render_strips())


def notices(app: DonnaApp) -> str:
    """Return the texts of the notifications."""
    return "\n".join(notification.message for notification in app._notifications)


def row_with(donna: Driver, words: str) -> str:
    """Return the first row of the screen with these words."""
    return next(line for line in donna.screen_text().splitlines() if words in line)


def assert_clean(donna: Driver) -> None:
    """Assert that no hidden or control character is on the screen."""
    assert not set(donna.screen_text()) & {"\x1b", "\x07", "\x9b", "\u202e", "\u200b", "\r", "\x00"}
