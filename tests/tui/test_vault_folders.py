"""Folders in the Vault, and several notes at once: selecting, moving, deleting, each as one operation."""

from __future__ import annotations

import pytest

from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.vault.plan_dialog import FolderPrompt, PathPrompt
from donna_tui.types.errors import Reason, VaultWriteError
from tests.tui import scenarios
from tests.tui.driving import Driver, driving, notices
from tests.tui.vault_scenarios import RUNBOOK, back, confirm, plan

FOLDER = RUNBOOK.rpartition("/")[0]


async def on(donna: Driver, path: str) -> None:
    """Put the cursor on a row of the tree."""
    if not donna.vault.display:
        await donna.press("escape", "2")
    await donna.until(lambda: donna.vault.note_tree.items, "the tree is shown")
    donna.vault.note_tree.reveal(path)
    await donna.rest()
    selected = donna.vault.note_tree.selected
    assert selected.path == path


@pytest.mark.slow
async def test_a_folder_is_renamed_with_all_that_is_in_it() -> None:
    backend = scenarios.normal()
    inside = backend.vault.inside(FOLDER)
    async with driving(backend) as donna:
        await on(donna, FOLDER)
        window = await donna.window(PathPrompt, "m")
        window.field.value = "Projects/door"
        await donna.until(lambda: "why_not_new" in {call.name for call in backend.calls}, "the name is checked")
        await confirm(donna, "enter")
        assert backend.vault.inside(FOLDER) == []
        assert len(backend.vault.inside("Projects/door")) == len(inside)
        await donna.until(lambda: f"Moved {len(inside)} notes" in notices(donna.app), "it says how many")
        await confirm(donna, "z")
        assert backend.vault.inside(FOLDER) == inside


@pytest.mark.slow
async def test_the_name_of_an_existing_folder_is_not_a_new_name() -> None:
    async with driving(scenarios.normal()) as donna:
        await on(donna, FOLDER)
        window = await donna.window(PathPrompt, "m")
        window.field.value = "Projects"
        await donna.rest()
        assert "A folder named Projects already exists." in donna.screen_text()
        await donna.press("enter")
        assert isinstance(donna.app.screen, PathPrompt)


async def test_the_end_of_a_path_that_is_longer_than_its_box_is_visible() -> None:
    backend, path = scenarios.normal(), f"{'A long name of a folder/' * 4}the end"
    backend.vault.empty.append(path)
    async with driving(backend, size=(80, 24)) as donna:
        await on(donna, path)
        await donna.window(PathPrompt, "m")
        assert "folder/the end" in donna.screen_text()


@pytest.mark.slow
async def test_a_folder_is_created_renamed_and_deleted() -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        await on(donna, FOLDER)
        await donna.window(PathPrompt, "N")
        await donna.type("ideas")
        await back(donna, "enter")
        assert backend.vault.empty == [f"{FOLDER}/ideas"]
        await donna.until(lambda: "empty" in donna.screen_text(), "it is in the tree")
        selected = donna.vault.note_tree.selected
        assert selected.path == f"{FOLDER}/ideas"
        window = await donna.window(PathPrompt, "m")
        window.field.value = f"{FOLDER}/plans"
        await back(donna, "enter")
        assert backend.vault.empty == [f"{FOLDER}/plans"]
        backend.fail("remove_folder", VaultWriteError(Reason.UNREADABLE, "permission denied"))
        await donna.window(RefusalScreen, "D")
        await back(donna, "escape")
        assert donna.vault.note_tree.selected.path == f"{FOLDER}/plans"
        backend.failures.clear()
        await donna.press("D")
        await donna.until(lambda: not backend.vault.empty, "it is gone")


@pytest.mark.slow
async def test_several_notes_are_selected_and_moved_as_one() -> None:
    backend = scenarios.normal()
    first, second, *_ = backend.vault.inside(FOLDER)
    before = len(backend.vault.undo_stack)
    async with driving(backend) as donna:
        for path in (first, second):
            await on(donna, path)
            await donna.press("space")
        assert "2 selected" in donna.screen_text()
        assert donna.screen_text().count("●") >= 2
        await donna.window(FolderPrompt, "m")
        await donna.type("Archive")
        await donna.rest()
        assert "a new folder" in donna.screen_text()
        await confirm(donna, "enter")
        assert len(backend.vault.inside("Archive")) == 2
        assert len(backend.vault.undo_stack) == before + 1
        assert donna.vault.note_tree.marked == ()


@pytest.mark.slow
async def test_deletion_applies_to_all_selected_notes() -> None:
    backend = scenarios.normal()
    first, second, *_ = backend.vault.inside(FOLDER)
    async with driving(backend) as donna:
        await on(donna, first)
        await donna.press("space")
        await on(donna, second)
        await donna.press("space", "escape")
        assert donna.vault.note_tree.marked == ()
        for path in (first, second):
            await on(donna, path)
            await donna.press("space")
        await confirm(donna, "D")
        assert first not in backend.vault.files
        assert second not in backend.vault.files


@pytest.mark.slow
async def test_a_note_that_was_deleted_outside_is_committed_with_its_folder_once_confirmed() -> None:
    backend = scenarios.normal()
    del backend.vault.files[RUNBOOK]
    async with driving(backend) as donna:
        await on(donna, FOLDER)
        await donna.until(lambda: "1 note edited outside" in donna.screen_text(), "the folder says so")
        assert not donna.vault.note_tree.contains(RUNBOOK)
        await donna.press("d")
        await donna.until(lambda: f"{RUNBOOK}  deleted" in donna.screen_text(), "the change in the folder is shown")
        await donna.press("escape", "escape")
        await plan(donna, "C")
        assert f"Deleted or moved outside: {RUNBOOK}" in donna.screen_text()
        await back(donna, "enter")
        assert RUNBOOK not in backend.vault.recorded
        await donna.until(lambda: "edited outside" not in donna.screen_text(), "nothing is left to commit")


@pytest.mark.slow
async def test_marking_a_folder_replaces_marks_inside_it() -> None:
    backend = scenarios.normal()
    inside = backend.vault.inside(FOLDER)
    async with driving(backend) as donna:
        for path in (FOLDER, inside[0]):
            await on(donna, path)
            await donna.press("space")
        assert donna.vault.note_tree.marked == (FOLDER,)


@pytest.mark.slow
async def test_the_name_of_a_new_note_is_checked_while_it_is_typed() -> None:
    async with driving(scenarios.normal()) as donna:
        await on(donna, RUNBOOK)
        window = await donna.window(PathPrompt, "m")
        window.field.value = f"{FOLDER}/why?"
        await donna.until(lambda: "Windows cannot open it" in donna.screen_text(), "the reason is shown")
        window.field.value = f"{FOLDER}/why"
        await donna.until(lambda: f"It will be called {FOLDER}/why.md" in donna.screen_text(), "it says the name")


@pytest.mark.parametrize("typed", ["/Projects", "Projects/", "/Projects/"])
def test_a_folder_may_be_typed_with_slashes_around_it(typed: str) -> None:
    prompt = FolderPrompt("Move to", ("Projects", "People"))
    assert [choice.value for choice, _ in prompt.found(typed)] == ["Projects"]
