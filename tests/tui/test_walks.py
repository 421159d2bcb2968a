"""Nine everyday tasks, with the keys that the key reference lists for them."""

from __future__ import annotations

from datetime import date
from pathlib import Path
from unittest.mock import AsyncMock

import pytest

from docs.walks import MAX_KEYS, WALKS
from donna_tui.memory.checkboxes import task_key_hash, tasks_in
from donna_tui.tui.lib.dialogs import DetailScreen
from donna_tui.tui.lib.jump import JumpOverlay
from donna_tui.tui.vault.conflict_dialogs import ConflictScreen
from donna_tui.tui.vault.plan_dialog import PathPrompt, PlanScreen
from donna_tui.tui.vault.switcher import Switcher
from donna_tui.types.memory import MemoryType
from donna_tui.types.search import MemorySource, SearchOutcome
from donna_tui.vault.obsidian import DailyNote
from tests.tui import scenarios
from tests.tui.driving import Driver, driving, hit
from tests.tui.fake_backend import FakeBackend, no_hits
from tests.tui.fake_vault import FakeVault
from tests.tui.memory_scenarios import memory
from tests.tui.sample_vault import NOW
from tests.tui.vault_scenarios import DECISIONS, RUNBOOK


class KeyPlayer:
    """Sends the keys of a walk in order, and no others."""

    def __init__(self, donna: Driver, name: str) -> None:
        self._donna = donna
        self._left = list(WALKS[name].keys)

    async def press(self, many: int = 1) -> None:
        """Send the next keys."""
        for _ in range(many):
            await self._donna.press(self._left.pop(0))
        await self._donna.rest()

    def is_done(self) -> bool:
        """Return whether no key is left."""
        return not self._left


def test_every_walk_stays_below_the_key_limit() -> None:
    assert all(len(walk.keys) < MAX_KEYS for walk in WALKS.values())
    assert len(WALKS) == 9


@pytest.mark.slow
async def test_walk_opens_a_note() -> None:
    async with driving(scenarios.normal()) as donna:
        hand = KeyPlayer(donna, "open")
        await hand.press()
        await donna.window(Switcher)
        await donna.until(lambda: donna.app.screen.options.option_count, "notes are listed")  # type: ignore[attr-defined]
        await hand.press(2)
        await donna.until(lambda: donna.main.header.active == "vault" and donna.vault.place, "a note is open")
        assert hand.is_done()


@pytest.mark.slow
async def test_walk_follows_links_and_goes_back() -> None:
    notes = {
        "Home.md": "# Home\n\nTo [[Plants]].\n",
        "Plants.md": "# Plants\n\n[[List]] or [[Home]].\n",
        "List.md": "# List\n",
    }
    backend = FakeBackend(scenarios.AT_REST, vault=FakeVault.of(notes, NOW))
    async with driving(backend) as donna:
        await donna.open_note("Home.md")
        await donna.press("enter")
        hand = KeyPlayer(donna, "links")

        def at(path: str) -> bool:
            return donna.vault.place is not None and donna.vault.place[0] == path

        await hand.press()
        await donna.until(lambda: at("Plants.md"), "the first link is followed")
        await hand.press()
        await donna.window(JumpOverlay)
        await hand.press()
        await donna.until(lambda: at("List.md"), "the second link is followed")
        await hand.press()
        await donna.until(lambda: at("Plants.md"), "it goes back")
        await hand.press()
        await donna.until(lambda: at("Home.md"), "it goes back again")
        assert hand.is_done()


@pytest.mark.slow
async def test_walk_finds_a_passage_and_opens_its_note() -> None:
    backend = scenarios.normal()
    found = hit("Runbook", path=RUNBOOK, start_line=3, end_line=4)
    backend.answers = lambda request: SearchOutcome(
        request=request, mode=request.mode, hits=(found,), searched_notes=4, latency_ms=1.0
    )
    async with driving(backend) as donna:
        hand = KeyPlayer(donna, "find")
        await hand.press(len("failover"))
        await donna.until(lambda: donna.paths, "there is a result")
        await hand.press()
        await donna.until(lambda: donna.vault.place is not None and donna.vault.place[0] == RUNBOOK, "its note is open")
        assert hand.is_done()


@pytest.mark.slow
async def test_walk_renames_a_note() -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        await donna.open_note(RUNBOOK)
        hand = KeyPlayer(donna, "rename")
        await hand.press()
        await donna.window(PathPrompt)
        await hand.press(2)
        await donna.window(PlanScreen)
        await hand.press()
        await donna.until(lambda: RUNBOOK not in backend.vault.files, "it is renamed")
        assert RUNBOOK.replace(".md", "2.md") in backend.vault.files
        assert hand.is_done()


@pytest.mark.slow
async def test_walk_undoes_an_earlier_change() -> None:
    backend = scenarios.normal()
    vault = backend.vault
    before = vault.files[RUNBOOK]
    for path, text in ((RUNBOOK, "edited\n"), (DECISIONS, "edited later\n")):
        vault.apply(vault.plan_write(path, text, vault.read(path).etag))
    async with driving(backend) as donna:
        await donna.open_note(RUNBOOK)
        hand = KeyPlayer(donna, "undo")
        await hand.press()
        await donna.until(lambda: donna.vault.detail.selected_operation is not None, "the history is shown")
        await hand.press()
        await donna.window(PlanScreen)
        await hand.press()
        await donna.until(lambda: vault.files[RUNBOOK] == before, "the edit is undone")
        assert vault.files[DECISIONS] == b"edited later\n"
        assert hand.is_done()


@pytest.mark.slow
async def test_walk_merges_a_conflicting_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()

    async def edit(path: Path, line: int) -> None:
        backend.vault.files[DECISIONS] = backend.vault.files[DECISIONS].replace(b"180 MB", b"190 MB")
        path.write_text(path.read_text().replace("180 MB", "200 MB"))

    async with driving(backend) as donna:
        monkeypatch.setattr(donna.vault._programs, "edit", edit)
        await donna.open_note(DECISIONS)
        await donna.press("E")
        await donna.window(ConflictScreen)
        hand = KeyPlayer(donna, "conflict")
        await hand.press()
        await donna.window(PlanScreen)
        await hand.press()
        await donna.until(lambda: b"200 MB" in backend.vault.files[DECISIONS], "it is written")
        assert hand.is_done()


@pytest.mark.slow
async def test_walk_opens_the_daily_note(edited: list[tuple[Path, int]]) -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        hand = KeyPlayer(donna, "daily")
        await hand.press()
        await donna.until(lambda: edited, "it opens in the editor")
        assert f"Daily/{date.today().isoformat()}.md" in backend.vault.files
        assert hand.is_done()
        await donna.until(lambda: donna.app.screen is donna.main, "no window is left")
        await donna.press("escape", "1", "alt+d")
        await donna.until(lambda: donna.main.header.active == "vault", "it is shown once it is there")


@pytest.mark.slow
async def test_the_daily_note_is_filled_from_the_template_of_obsidian(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    backend.vault.files["Templates/Day.md"] = backend.vault.recorded["Templates/Day.md"] = b"# {{title}}\n"
    backend.daily = DailyNote("Journal/5 March.md", "Templates/Day.md")
    async with driving(backend) as donna:
        monkeypatch.setattr(donna.vault._programs, "edit", AsyncMock())
        await donna.press("alt+d")
        await donna.until(lambda: "Journal/5 March.md" in backend.vault.files, "it is created")
        assert backend.vault.files["Journal/5 March.md"] == b"# 5 March\n"
        backend.daily = DailyNote("Daily/2026-03-05.md", problem="its date format has “Do”, which is not supported")
        await donna.until(lambda: donna.app.screen is donna.main, "no window is left")
        await donna.press("escape", "1", "alt+d")
        await donna.until(lambda: "which is not supported." in donna.screen_text(), "the problem is shown")


@pytest.mark.slow
async def test_walk_completes_a_task() -> None:
    backend = scenarios.normal()
    text = "# Tasks\n\n- [ ] Call Priya\n"
    backend.vault.files["Tasks.md"] = backend.vault.recorded["Tasks.md"] = text.encode()
    key = task_key_hash(tasks_in(text)[0])
    backend.memory.everything.append(
        memory(MemorySource.TASK, f"Tasks.md#{key}", "Call Priya\nstatus: todo", -1.0, memory_type=MemoryType.WORKING)
    )
    async with driving(backend) as donna:
        hand = KeyPlayer(donna, "tick")
        await hand.press()
        await donna.until(lambda: donna.memory.rows.line_count, "memories are listed")
        await hand.press()
        await donna.until(
            lambda: donna.memory.selected is not None and donna.memory.selected.source is MemorySource.TASK, "tasks"
        )
        await hand.press()
        await donna.until(lambda: b"- [x] Call Priya" in backend.vault.files["Tasks.md"], "it is done")
        assert hand.is_done()


@pytest.mark.slow
async def test_walk_explains_why_a_note_is_not_found() -> None:
    backend = scenarios.normal()
    backend.answers = no_hits
    async with driving(backend) as donna:
        await donna.search_for("plan")
        hand = KeyPlayer(donna, "why")
        await hand.press()
        switcher = await donna.window(Switcher)
        await hand.press(len("runbook"))
        await donna.until(lambda: switcher._answered == "runbook", "the name is answered")
        await hand.press()
        await donna.window(DetailScreen)
        assert "Why it is not found" in donna.screen_text()
        assert hand.is_done()
