"""Switching to another space."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path

import pytest
from textual.events import Key
from textual.widgets import Input

from donna_tui.tui.app import DonnaApp
from donna_tui.tui.lib.backend import KnownVault
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.search.dialogs import ScopePicker
from donna_tui.tui.shell.first_run import VaultChoice
from donna_tui.tui.shell.windows import HERE, SpacePicker
from donna_tui.types.errors import Reason, SpaceError
from donna_tui.types.search import SearchOutcome, SearchRequest
from tests.tui import hostile, scenarios
from tests.tui.driving import DESKTOP, SIZE, Driver, hit, notices, outcome, screen_text
from tests.tui.fake_backend import FakeBackend


class Spaces:
    """An app that knows two folders, each with its own backend."""

    def __init__(self, folder: Path) -> None:
        self.backends: dict[str, FakeBackend] = {}
        self.made: list[VaultChoice | None] = []
        self.known: list[KnownVault] = []
        self.error: SpaceError | None = None
        for name in ("notes", "work"):
            (folder / name).mkdir()
            backend = scenarios.normal()
            backend.current = replace(backend.current, space=name, root=str(folder / name))
            backend.answers = lambda request, name=name: outcome(request, f"of {name}")  # type: ignore[misc]
            self.backends[name] = backend
            self.known.append(KnownVault(name, folder / name, "open before"))
        self.app = DonnaApp(self._make, external=DESKTOP, space_name="notes", spaces=lambda: self.known)

    def _make(self, choice: VaultChoice | None) -> FakeBackend:
        self.made.append(choice)
        if choice is not None and self.error is not None:
            raise self.error
        return self.backends[choice.root.name if choice else "notes"]

    @asynccontextmanager
    async def running(self) -> AsyncIterator[Driver]:
        """Run the app, and wait until the first space is open."""
        async with self.app.run_test(size=SIZE, notifications=True) as pilot:
            donna = Driver(self.app, pilot)
            await connected(donna, "notes")
            yield donna


@pytest.fixture
def spaces(tmp_path: Path) -> Spaces:
    return Spaces(tmp_path)


async def connected(donna: Driver, name: str) -> None:
    def is_there() -> bool:
        status = donna.main.strip.status
        return status is not None and status.space == name

    await donna.until(is_there, f"{name} is open")
    await donna.complete()


async def pick(donna: Driver, name: str) -> None:
    await donna.press("ctrl+o")
    await donna.window(SpacePicker)
    await donna.type(name)
    await donna.press("enter")


@pytest.mark.slow
async def test_another_space_takes_the_place_of_the_open_one(spaces: Spaces) -> None:
    async with spaces.running() as donna:
        await donna.search_for("plan")
        assert donna.paths == ["Notes/of notes.md"]
        await pick(donna, "work")
        await connected(donna, "work")
        assert spaces.backends["notes"].called("stop")
        assert spaces.backends["notes"].listeners == []
        await donna.search_for("plan")
        assert donna.paths == ["Notes/of work.md"]
        assert "work" in screen_text(spaces.app).splitlines()[0]
    assert spaces.backends["work"].called("stop")
    assert spaces.made == [None, VaultChoice(spaces.known[1].root)]


@pytest.mark.slow
async def test_a_path_that_is_typed_adds_a_folder(spaces: Spaces, tmp_path: Path) -> None:
    (tmp_path / "garden").mkdir()
    spaces.backends["garden"] = spaces.backends["work"]
    async with spaces.running() as donna:
        await donna.press("ctrl+o")
        picker = await donna.window(SpacePicker)
        await donna.type(f"{tmp_path}/gard")
        await donna.press("enter")
        assert isinstance(spaces.app.screen, SpacePicker)
        assert "There is no such folder." in screen_text(spaces.app)
        await donna.press("tab")
        await donna.until(lambda: picker.query_one(Input).value.endswith("/garden/"), "the path is completed")
        await donna.rest()
        await donna.press("enter")
        await donna.until(lambda: len(spaces.made) == 2, "it is opened")
    assert spaces.made[1] == VaultChoice(tmp_path / "garden")


@pytest.mark.slow
async def test_spaces_can_be_switched_repeatedly(spaces: Spaces) -> None:
    async with spaces.running() as donna:
        for name in ("work", "notes", "work"):
            await pick(donna, name)
            await connected(donna, name)
        assert len(spaces.app.screen_stack) == 2


@pytest.mark.slow
async def test_a_click_on_the_name_offers_the_spaces(spaces: Spaces) -> None:
    async with spaces.running() as donna:
        await donna.pilot.click("#space")
        await donna.window(SpacePicker)
        await donna.press("down")
        assert HERE in screen_text(spaces.app)
        await donna.press("enter")
        assert isinstance(spaces.app.screen, SpacePicker)
        await donna.press("escape")
        assert not spaces.backends["notes"].called("stop")


@pytest.mark.slow
async def test_a_folder_that_is_gone_cannot_be_picked(spaces: Spaces) -> None:
    spaces.known[1].root.rmdir()
    async with spaces.running() as donna:
        await pick(donna, "work")
        assert "There is no such folder." in screen_text(spaces.app)
        assert spaces.made == [None]


@pytest.mark.slow
async def test_a_space_that_cannot_be_opened_leaves_the_way_back(spaces: Spaces) -> None:
    spaces.error = SpaceError(Reason.BUSY, "It is just being made.", hint="Try again in a moment.")
    async with spaces.running() as donna:
        await pick(donna, "work")
        await donna.until(lambda: "It is just being made." in screen_text(spaces.app), "the notice is shown")
        spaces.error = None
        await pick(donna, "notes")
        await connected(donna, "notes")


@pytest.mark.slow
async def test_switching_the_space_warns_about_an_edit_that_would_be_lost(
    spaces: Spaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("donna_tui.tui.vault.pane.VaultPane.edits_in_memory_only", property(lambda _: ("a.md",)))
    async with spaces.running() as donna:
        await pick(donna, "work")
        await donna.until(lambda: "a.md" in notices(spaces.app), "the notice is shown")
        assert spaces.made == [None]
        await pick(donna, "work")
        await connected(donna, "work")


@pytest.mark.slow
async def test_space_picker_contains_no_control_characters(spaces: Spaces) -> None:
    spaces.known += [KnownVault(text, Path("/nowhere"), text) for text in hostile.ALL.values()]
    async with spaces.running() as donna:
        await donna.press("ctrl+o")
        await donna.window(SpacePicker)
        text = screen_text(spaces.app)
        assert not [char for char in text if char != "\n" and (ord(char) < 32 or 0x7F <= ord(char) < 0xA0)]


async def search_all(donna: Driver) -> None:
    """Search all spaces."""
    await donna.press("ctrl+f")
    await donna.window(ScopePicker)
    await donna.type("all spaces")
    await donna.press("enter")
    await donna.until(lambda: donna.search.question.scope.every_space, "all spaces are searched")


def from_two(request: SearchRequest) -> SearchOutcome:
    """Return answers of the open space, and of another one if it is asked."""
    own = outcome(request, "own")
    if not request.everywhere:
        return own
    return replace(own, hits=(replace(own.hits[0], space="notes"), hit("theirs", space="work")))


@pytest.mark.slow
async def test_all_spaces_are_searched_at_once(spaces: Spaces) -> None:
    backend = spaces.backends["notes"]
    backend.answers = from_two
    async with spaces.running() as donna:
        await donna.search_for("plan")
        assert donna.paths == ["Notes/own.md"]
        await search_all(donna)
        await donna.until(lambda: len(donna.paths) == 2, "both answer")
        assert "all spaces" in screen_text(spaces.app)
        assert "work › Notes/theirs.md" in screen_text(spaces.app)
        await donna.press("down")
        await donna.until(lambda: reads_elsewhere(backend), "the passage is read where it is")


def reads_elsewhere(backend: FakeBackend) -> bool:
    return any(call.name == "passage" and call.args[-1] == "work" for call in backend.calls)


@pytest.mark.slow
async def test_action_on_a_hit_of_another_space_names_that_space(spaces: Spaces) -> None:
    spaces.backends["notes"].answers = from_two
    async with spaces.running() as donna:
        await donna.search_for("plan")
        await search_all(donna)
        await donna.until(lambda: len(donna.paths) == 2, "both answer")
        await donna.press("escape", "down", "W")
        await donna.until(lambda: "Switch to work to correct it." in notices(spaces.app), "the notice is shown")
        await donna.press("y")
        assert "work › Notes/theirs.md" in spaces.app.clipboard


@pytest.mark.slow
async def test_keys_typed_while_an_editor_starts_on_a_hit_of_another_space_are_discarded(
    spaces: Spaces, monkeypatch: pytest.MonkeyPatch
) -> None:
    started, closed = asyncio.Event(), asyncio.Event()

    async def edit(programs: ExternalPrograms, path: Path, line: int) -> None:
        programs.has_terminal = True
        started.set()
        await closed.wait()
        programs.has_terminal = False

    monkeypatch.setattr(ExternalPrograms, "edit", edit)
    spaces.backends["notes"].answers = from_two
    async with spaces.running() as donna:
        await donna.search_for("plan")
        await search_all(donna)
        await donna.until(lambda: len(donna.paths) == 2, "both answer")
        await donna.press("escape", "down")
        for key in ("e", "2"):
            spaces.app.post_message(Key(key, key))
        await donna.until(started.is_set, "the editor runs")
        await donna.rest()
        closed.set()
        await donna.rest()
        assert donna.main.header.active == "search"


@pytest.mark.slow
async def test_space_switch_requested_during_a_switch_is_not_started_twice(spaces: Spaces) -> None:
    """Otherwise the engine that is stopping would be left half stopped, with its lock."""
    spaces.backends["notes"].gates.hold("stop")
    async with spaces.running() as donna:
        await pick(donna, "work")
        await donna.until(lambda: spaces.backends["notes"].called("stop"), "the first engine stops")
        await donna.press("ctrl+o", "ctrl+p", "escape", "a")
        spaces.backends["notes"].gates.release("stop")
        await connected(donna, "work")
        assert len([call for call in spaces.backends["notes"].calls if call.name == "stop"]) == 1
        assert spaces.made == [None, VaultChoice(spaces.known[1].root)]


async def test_settings_that_cannot_be_read_are_reported(spaces: Spaces) -> None:
    def broken() -> list[KnownVault]:
        raise SpaceError(Reason.USAGE, "line 3 of the settings is broken")

    spaces.app._spaces = broken
    async with spaces.running() as donna:
        await donna.press("ctrl+o")
        await donna.until(lambda: "Line 3 of the settings is broken." in notices(spaces.app), "the notice is shown")


@pytest.mark.slow
async def test_spaces_sharing_a_folder_are_distinguished(spaces: Spaces) -> None:
    spaces.known.append(KnownVault("peter", spaces.known[0].root, "agent", "peter"))
    async with spaces.running() as donna:
        await pick(donna, "peter")
        await donna.until(lambda: len(spaces.made) == 2, "it is opened")
    assert spaces.made[1] == VaultChoice(spaces.known[0].root, space="peter")
