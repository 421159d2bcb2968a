"""The Vault screen: the tree with its states, the note, its history and authors, and what changed."""

from __future__ import annotations

import asyncio
from pathlib import Path

import pytest
from textual.widgets import Static

from donna_tui.tui.lib.dialogs import DetailScreen, RefusalScreen
from donna_tui.tui.lib.edit_dialog import EditScreen
from donna_tui.tui.lib.messages import OpenNote, StepBack
from donna_tui.tui.vault.pane import _new_place
from donna_tui.tui.vault.plan_dialog import PathPrompt, PlanScreen
from donna_tui.tui.vault.wording import names_of
from donna_tui.types.errors import Reason, VaultReadError, VaultWriteError
from donna_tui.types.events import EngineStateChanged, NoteDeleted, NoteIndexed, NoteRenamed, StageTimes
from donna_tui.types.memory_events import VaultWritten
from donna_tui.types.notes import Edit
from donna_tui.vault.write.changes import OperationKind, Outcome
from tests.tui import scenarios
from tests.tui.driving import Driver, driving, marked_rows, notices
from tests.tui.fake_backend import FakeBackend
from tests.tui.vault_scenarios import DECISIONS, DRAFT, GARDEN, JOURNAL, PRIYA, RUNBOOK, SYNC

LARGE = (160, 48)
SMALL = (80, 24)


def names(donna: Driver) -> list[str]:
    return [row.name for row in donna.vault.note_tree.items]


def diffed(donna: Driver) -> list[str]:
    return [diff.path for diff in donna.vault.detail.diff.diffs]


async def test_a_key_marks_a_note_and_unmarks_it() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        await donna.press("home", "space", "home")
        assert len(donna.vault.note_tree.marked) == 1
        await donna.press("space")
        assert not donna.vault.note_tree.marked
        donna.vault.note_tree.select(names(donna).index("People"))
        await donna.press("space", "space")
        assert donna.vault.note_tree.marked == ("People",)
        assert str(donna.vault.query_one("#tree-foot", Static).content).startswith("2 selected")


@pytest.mark.slow
async def test_the_tree_shows_folders_first_and_what_is_special_about_each_note() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        text = donna.screen_text()
        for name, word in (
            ("Garden", "edited"),
            ("2026-11-19", "private"),
            ("Health", "sensitive"),
            ("2025-11-04-review", "left out"),
            ("2026-11-20-platform", "draft"),
            ("runbook", "waiting"),
        ):
            assert any(name in line and line[:35].rstrip(" │").endswith(word) for line in text.splitlines()), (
                name,
                word,
            )
        assert names(donna)[:2] == ["Ideas", "Garden.md"]
        assert "11 notes · 1 left out" in text


@pytest.mark.slow
async def test_a_folder_is_folded_and_unfolded_and_says_what_was_edited_inside() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        await donna.press("enter")
        assert "Garden.md" not in names(donna)
        assert "1 edited" in donna.screen_text()
        await donna.press("right")
        assert "Garden.md" in names(donna)
        await donna.press("j", "left")
        assert donna.vault.note_tree.selected_index == 0


@pytest.mark.slow
async def test_list_keys_move_through_the_tree() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        tree = donna.vault.note_tree
        await donna.press("j", "j", "k")
        assert tree.selected_index == 1
        await donna.press("G")
        assert tree.selected_index == tree.line_count - 1
        await donna.press("g")
        assert tree.selected_index == 0
        await donna.press("pagedown")
        assert tree.selected_index > 1


@pytest.mark.slow
async def test_typing_narrows_the_tree_by_path_and_by_state() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        await donna.press("f")
        await donna.type("gateway")
        assert [name for name in names(donna) if name.endswith(".md")] == [
            "2026-11-18-gateway-sync.md",
            "decisions.md",
            "runbook.md",
        ]
        assert "3 of 12" in donna.screen_text()
        await donna.press("down", "enter")
        assert donna.vault.note_tree.has_focus
        await donna.press("escape")
        assert "11 notes · 1 left out" in donna.screen_text()
        await donna.press("slash")
        await donna.type("edited outside")
        assert names(donna) == ["Ideas", "Garden.md"]
        await donna.press(*["backspace"] * 14)
        await donna.type("zzz")
        assert "Nothing matches “zzz”" in donna.screen_text()


@pytest.mark.slow
async def test_the_filter_is_fuzzy_and_selects_the_note_that_fits_best() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        await donna.press("f")
        await donna.type("gwdec")
        row = donna.vault.note_tree.selected
        assert row.path == "Projects/gateway/decisions.md"
        await donna.press("backspace", "backspace")
        assert donna.vault.note_tree.selected.path == "Projects/gateway/decisions.md"


@pytest.mark.slow
async def test_enter_after_a_burst_of_letters_selects_what_they_find_before_the_next_key() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        await donna.press("f")
        donna.queue(*"gwdec", "enter")
        await donna.until(lambda: donna.app.focused is donna.vault.note_tree, "the tree has the focus")
        row = donna.vault.note_tree.selected
        assert row.path == "Projects/gateway/decisions.md"


@pytest.mark.slow
async def test_a_note_that_leaves_the_filter_when_it_is_moved_stays_selected() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        await donna.press("f")
        await donna.type("runbook")
        await donna.window(PathPrompt, "enter", "m")
        await donna.press("ctrl+u")
        await donna.type("Ideas/Manual")
        await donna.window(PlanScreen, "enter")
        await donna.press("enter")
        await donna.until(lambda: "Ideas/Manual.md" in names_of(donna.vault.note_tree.notes), "it is moved")
        await donna.rest()
        assert donna.vault.note_tree.selected.path == "Ideas/Manual.md"


async def test_the_note_under_the_cursor_is_read_with_its_states() -> None:
    async with driving(scenarios.normal(), note=GARDEN) as donna:
        text = donna.screen_text()
        assert "Ideas/Garden.md" in text
        assert "edited outside · 145 bytes" in text
        assert "forty cloves" in text


@pytest.mark.slow
async def test_moving_through_the_tree_reads_only_the_last_note() -> None:
    backend = scenarios.normal()
    async with driving(backend, at="vault") as donna:
        backend.calls.clear()
        for _ in range(8):
            donna.vault.note_tree.action_cursor_down()
        await donna.rest()
        assert len(backend.called("read_note")) <= 1


@pytest.mark.slow
async def test_a_key_right_after_a_movement_is_about_the_note_that_is_read_next() -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        donna.queue("j", "m")
        assert (await donna.window(PathPrompt)).field.value == RUNBOOK


async def test_a_note_is_shown_before_git_says_what_changed_in_it() -> None:
    backend = scenarios.normal()
    backend.gates.hold("outside_change")
    async with driving(backend, note=GARDEN) as donna:
        await donna.until(lambda: "The quince needs a stake." in donna.screen_text(), "its text is shown")
        await donna.open_note(PRIYA)
        assert "The quince needs a stake." not in donna.screen_text()
        backend.gates.release("outside_change")


@pytest.mark.slow
async def test_changes_never_shows_those_of_the_note_before() -> None:
    backend = scenarios.normal()
    backend.vault.files[PRIYA] += b"Edited outside.\n"
    async with driving(backend, size=LARGE, note=GARDEN) as donna:
        await donna.until(lambda: diffed(donna) == [GARDEN], "its edit is shown")
        backend.gates.hold("outside_change", PRIYA)
        await donna.open_note(PRIYA)
        diff = donna.vault.detail.diff
        await donna.until(lambda: diff.empty_text == "Asking git what changed …", "git is asked")
        assert diffed(donna) == []
        await donna.press("l", "n")
        assert diff.empty_text == "Asking git what changed …"
        backend.gates.release("outside_change", PRIYA)
        await donna.until(lambda: diffed(donna) == [PRIYA], "git has answered")


@pytest.mark.parametrize(("method", "keys"), [("drop_edit", ("X", "X")), ("whereabouts", ("o",))])
async def test_keys_do_not_wait_for_git_without_limit(method: str, keys: tuple[str, ...]) -> None:
    backend = scenarios.normal()
    backend.vault.edits[GARDEN] = Edit(GARDEN, "a", "e", "b")
    backend.gates.hold(method)
    async with driving(backend, note=GARDEN) as donna:
        await donna.rest()
        async with asyncio.timeout(10):
            await donna.press(*keys, "1")
            await donna.until(lambda: donna.main.header.active == "search", "the next key is handled")
        assert backend.called(method)
        backend.gates.release(method)


@pytest.mark.slow
async def test_why_a_note_is_left_out_and_why_donna_does_not_write_to_it() -> None:
    async with driving(scenarios.normal(), note="Meetings/2025-11-04-review.md") as donna:
        assert "The block of properties cannot be read (line 2)." in donna.screen_text()
        await donna.open_note("Journal/Health.md")
        assert "This note is marked as sensitive, so Donna never writes to it." in donna.screen_text()
        for key in ("E", "i", "m", "D"):
            donna.app.clear_notifications()
            await donna.press(key)
            assert "e opens the file itself." in notices(donna.app)


async def test_a_note_that_cannot_be_read_says_so_once() -> None:
    backend = scenarios.normal()
    backend.vault.details[PRIYA] = "it has 5.3 MB; notes up to 2.0 MB are indexed"
    too_large = VaultReadError(Reason.TOO_LARGE, "it has 5.3 MB; notes up to 2.0 MB are indexed")
    backend.fail("read_note", too_large, PRIYA)
    async with driving(backend, at="vault") as donna:
        donna.vault.open_note(PRIYA)
        await donna.until(lambda: "Split the note" in donna.screen_text(), "the next step is shown")
        assert donna.screen_text().count("It has 5.3 MB") == 1


async def test_a_key_on_a_list_that_is_being_loaded_says_so() -> None:
    backend = scenarios.normal()
    backend.gates.hold("vault_rows")
    async with driving(backend) as donna:
        await donna.press("escape", "2", "e")
        await donna.until(lambda: "Loading your notes" in notices(donna.app), "it says what it waits for")
        backend.gates.release("vault_rows")
        await donna.until(lambda: donna.vault.note_tree.notes, "the tree is shown")


@pytest.mark.slow
@pytest.mark.parametrize("key", ["i", "h"])
async def test_a_key_right_after_a_note_was_asked_for_is_about_that_note(key: str) -> None:
    backend = scenarios.normal()
    backend.gates.hold("vault_rows")
    async with driving(backend) as donna:
        donna.main.post_message(OpenNote(DECISIONS, 1))
        await donna.until(lambda: donna.main.header.active == "vault", "the Vault is shown")
        asyncio.get_running_loop().call_later(0.1, backend.gates.release, "vault_rows")
        await donna.press(key)
        if key == "i":
            await donna.until(lambda: isinstance(donna.app.screen, EditScreen), "the note is edited")
        else:
            await donna.until(lambda: donna.vault.detail.history.items, "the history is read")
            await donna.rest()
            assert donna.vault.detail.tab == "history"
            assert donna.vault.place == (DECISIONS, 1)


@pytest.mark.slow
async def test_files_that_are_not_indexed_are_counted_separately() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        total = len(donna.vault.note_tree.notes)
        assert f"{total - 1} notes · 1 left out" in donna.screen_text()


@pytest.mark.slow
async def test_sections_are_walked_and_marked() -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        text = donna.vault.detail.text
        await donna.press("]")
        assert text.section.heading_path == ("Gateway",)
        await donna.press("]", "]")
        assert text.section.heading_path[-1] == "Cache"
        assert any("Cache" in row for row in marked_rows(text))
        await donna.press("[")
        assert text.section.heading_path[-1] == "Decisions"
        assert text.line == 5


@pytest.mark.slow
async def test_the_history_of_a_note_and_of_the_vault() -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        await donna.press("h")
        sandbox = donna.vault.detail
        await donna.until(lambda: sandbox.history.items, "the history is read")
        assert len(sandbox.history.items) == 1
        assert "20 Nov 11:32 you" in donna.screen_text()
        await donna.press("h")
        await donna.until(lambda: len(sandbox.history.items) == 6, "that of the vault is read")
        text = donna.screen_text()
        assert "History of the vault" in text
        assert f"now          you         edited outside: {GARDEN}" in text
        assert "claude      wrote People/Priya Raman.md" in text
        assert "Donna       created Meetings/2026-11-20-platform-review.md" in text
        assert "Noor        The runbook of the gateway" in text
        await donna.press("h")
        await donna.until(lambda: len(sandbox.history.items) == 1, "that of the note is back")
        await donna.press("h")
        await donna.until(lambda: len(sandbox.history.items) == 6, "that of the vault is shown")
        await donna.press("g")
        await donna.until(lambda: diffed(donna) == [GARDEN], "what was edited outside is shown")
        await donna.press("escape", "h")
        await donna.until(lambda: len(sandbox.history.items) == 1, "from the tree, it is that of the note")


@pytest.mark.slow
async def test_the_difference_follows_the_history() -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        await donna.press("h", "h")
        await donna.until(lambda: diffed(donna) == [DECISIONS], "the first change is shown")
        await donna.press("j")
        await donna.until(lambda: diffed(donna) == [DRAFT], "the second change is shown")
        assert "new note" in donna.screen_text()
        await donna.press("enter")
        assert donna.vault.detail.diff.has_focus
        await donna.press("escape")
        assert donna.vault.detail.history.has_focus


@pytest.mark.slow
async def test_an_edit_outside_is_shown_as_the_users_own() -> None:
    async with driving(scenarios.normal(), note=GARDEN) as donna:
        await donna.press("d")
        await donna.until(lambda: "+ The quince needs a stake." in donna.screen_text(), "the edit is shown")
        assert diffed(donna) == [GARDEN]
        assert "You edited this outside; it is not in the history yet" in donna.screen_text()
        await donna.press("h")
        await donna.until(lambda: donna.vault.detail.history.items, "the history is read")
        assert "now          you         edited outside, not in the history yet" in donna.screen_text()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("note", "advice"),
    [(GARDEN, "not in the history yet. C commits it."), (RUNBOOK, "not made with Donna. In a terminal, git revert ")],
)
async def test_undo_in_the_history_of_a_change_made_without_donna_undoes_nothing_else(note: str, advice: str) -> None:
    backend = scenarios.normal()
    backend.vault.undo_stack.clear()
    async with driving(backend, note=note) as donna:
        await donna.press("h")
        await donna.until(lambda: donna.vault.detail.history.items, "the history is read")
        await donna.press("g", "z")
        await donna.until(lambda: advice in notices(donna.app), "it says so")
        await donna.rest()
        assert not isinstance(donna.app.screen, PlanScreen)


async def test_a_note_without_changes_is_reported() -> None:
    async with driving(scenarios.normal(), size=LARGE, note=DECISIONS) as donna:
        assert "This note has no changes since the last commit." in donna.screen_text()


@pytest.mark.slow
async def test_blame_of_the_section_and_the_change_behind_a_line() -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        await donna.press("]", "]", "]", "]", "b")
        sandbox = donna.vault.detail
        await donna.until(lambda: sandbox.blame.selected is not None, "the blame is loaded")
        assert sandbox.blame.selected.line == 19
        await donna.press("j", "j")
        await donna.until(lambda: diffed(donna) == [DECISIONS], "its change is shown")
        assert "Upstream calls give up" in sandbox.blame.selected.text
        await donna.press("[")
        await donna.until(
            lambda: sandbox.blame.selected is not None and sandbox.blame.selected.line == 7, "another section"
        )


@pytest.mark.slow
async def test_blame_follows_the_cursor_and_begins_with_the_first_text() -> None:
    backend = scenarios.normal()
    backend.vault.files[RUNBOOK] = backend.vault.recorded[RUNBOOK] = (
        b"---\ntags: [a]\n---\n\n# Runbook\n\nCall Priya.\n"
    )
    async with driving(backend, note=DECISIONS) as donna:
        await donna.press("b")
        await donna.open_note(RUNBOOK)
        await donna.until(lambda: "   5  # Runbook" in donna.screen_text(), "the lines of the other note are shown")
        assert "   7  Call Priya." in donna.screen_text()


@pytest.mark.slow
async def test_blame_attributes_uncommitted_lines_to_the_user() -> None:
    async with driving(scenarios.normal(), note=GARDEN) as donna:
        await donna.press("]", "]", "b")
        await donna.until(lambda: donna.vault.detail.blame.selected is not None, "the blame is loaded")
        assert "now · you" in donna.screen_text()


@pytest.mark.slow
async def test_a_difference_side_by_side_unfolded_and_unwrapped() -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        await donna.press("h")
        view = donna.vault.detail.diff
        await donna.until(lambda: view.line_count, "the diff is shown")
        folded = view.line_count
        await donna.press("x")
        await donna.until(lambda: view.line_count > folded, "it is unfolded")
        assert "unchanged lines" not in "\n".join(view.line(i, 80).plain for i in range(view.line_count))
        unfolded = view.line_count
        await donna.press("w")
        assert view.line_count < unfolded
        await donna.press("s")
        assert view.is_side_by_side
        assert all("│" in view.line(i, 80).plain for i in range(1, view.line_count))


@pytest.mark.slow
async def test_links_and_texts_are_copied(monkeypatch: pytest.MonkeyPatch) -> None:
    copied: list[str] = []
    async with driving(scenarios.normal()) as donna:
        monkeypatch.setattr(donna.app, "copy_to_clipboard", copied.append)
        await donna.open_note(GARDEN)
        await donna.press("y", "Y", "d")
        await donna.until(lambda: diffed(donna), "the diff is shown")
        await donna.press("Y")
    assert copied[0] == "[[Ideas/Garden]]"
    assert copied[1].startswith("# Garden\n")
    assert copied[2].startswith("--- a/Ideas/Garden.md\n+++ b/Ideas/Garden.md\n@@ ")


@pytest.mark.slow
async def test_a_small_screen_shows_one_part_at_a_time() -> None:
    async with driving(scenarios.normal(), size=SMALL, note=DECISIONS) as donna:
        assert "Priya Raman" in donna.screen_text()
        await donna.press("enter")
        assert "Platform lead" not in donna.screen_text()
        assert "We moved off Redis" in donna.screen_text()
        await donna.press("h", "enter")
        await donna.until(lambda: diffed(donna), "the diff is shown")
        assert "Upstream calls give up" in donna.screen_text()
        await donna.press("escape", "escape")
        assert donna.vault.note_tree.has_focus
        assert "Priya Raman" in donna.screen_text()


@pytest.mark.slow
async def test_a_large_screen_shows_all_three() -> None:
    async with driving(scenarios.normal(), size=LARGE, note=DECISIONS) as donna:
        await donna.press("h")
        await donna.until(lambda: diffed(donna), "the diff is shown")
        text = donna.screen_text()
        assert all(words in text for words in ("Priya Raman", "20 Nov 11:32 you", "Upstream calls give up"))


@pytest.mark.slow
async def test_zoom_maximises_a_part() -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        await donna.press("enter", "+")
        assert "Priya Raman.md" not in donna.screen_text().replace("Priya Raman,", "")
        assert donna.vault.detail.text.size.width > 110
        await donna.press("escape")
        assert donna.vault.detail.text.size.width < 100


@pytest.mark.slow
async def test_events_of_notes_read_the_tree_again_once() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=GARDEN) as donna:
        backend.calls.clear()
        del backend.vault.files[RUNBOOK]
        indexed = NoteIndexed(path=SYNC, why="changed", chunks=1, embedded=0, stages=StageTimes(), found_after_ms=1)
        backend.post(NoteDeleted(path=RUNBOOK), *[indexed] * 50)
        await donna.until(lambda: "runbook.md" not in names(donna), "the note is gone from the tree")
        await donna.rest()
        assert len(backend.called("vault_rows")) == 1
        assert donna.vault.note_tree.selected.path == GARDEN


ORCHARD = "Projects/Orchard.md"


def rename_garden(backend: FakeBackend) -> None:
    vault = backend.vault
    for files in (vault.files, vault.recorded):
        files[ORCHARD] = files.pop(GARDEN)


@pytest.mark.parametrize("is_listed_first", [False, True])
async def test_the_cursor_and_the_selection_follow_a_note_that_is_renamed_outside(is_listed_first: bool) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=GARDEN) as donna:
        await donna.press("space", "k")
        rename_garden(backend)
        if is_listed_first:
            backend.post(NoteDeleted(path=SYNC))
            await donna.until(lambda: "Garden.md" not in names(donna), "it is listed under its new name")
        backend.post(NoteRenamed(path=ORCHARD, old_path=GARDEN))
        place = donna.vault
        await donna.until(lambda: place.place is not None and place.place[0] == ORCHARD, "the same note is shown")
        assert place.note_tree.selected.path == ORCHARD
        assert place.note_tree.marked == (ORCHARD,)


@pytest.mark.parametrize(("joins", "marked"), [("", ("Persons",)), ("Persons/Old.md", ())])
async def test_a_folder_that_is_renamed_outside_stays_selected_and_folded(joins: str, marked: tuple[str, ...]) -> None:
    """A folder that also has other notes is not selected in its place: deleting it would delete those too."""
    backend = scenarios.normal()
    files = backend.vault.files
    if joins:
        files[joins] = b"# Old\n"
    async with driving(backend, at="vault") as donna:
        tree = donna.vault.note_tree
        tree.select(names(donna).index("People"))
        await donna.press("left", "space")
        assert tree.marked == ("People",)
        moved = {path: f"Persons/{path.removeprefix('People/')}" for path in files if path.startswith("People/")}
        for path, new in moved.items():
            files[new] = files.pop(path)
        backend.post(NoteDeleted(path=SYNC))
        await donna.until(lambda: "People" not in names(donna), "the new folder is listed")
        backend.post(*(NoteRenamed(path=new, old_path=path) for path, new in moved.items()))
        await donna.until(lambda: tree.marked == marked, "the selection follows")
        await donna.until(lambda: tree.items[names(donna).index("Persons")].folded is bool(marked), "it is folded")


@pytest.mark.slow
async def test_a_note_that_replaces_a_deleted_one_is_not_selected() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=GARDEN) as donna:
        await donna.press("space")
        text = backend.vault.files.pop(GARDEN)
        backend.post(NoteDeleted(path=GARDEN))
        await donna.until(lambda: "Garden.md" not in names(donna), "it is gone")
        backend.vault.files[GARDEN] = text
        backend.post(NoteDeleted(path=SYNC))
        await donna.until(lambda: "Garden.md" in names(donna), "there is a note again")
        assert donna.vault.note_tree.marked == ()


@pytest.mark.slow
async def test_no_other_note_takes_the_place_of_one_that_is_deleted_elsewhere() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=GARDEN) as donna:
        place = donna.vault.note_tree.selected_index
        del backend.vault.files[GARDEN]
        backend.post(NoteDeleted(path=GARDEN))
        await donna.until(lambda: "Garden.md" not in names(donna), "it is gone")
        assert donna.vault.note_tree.selected is None
        await donna.press("e", "D", "m")
        await donna.until(lambda: "was deleted elsewhere" in notices(donna.app), "the user is told")
        assert donna.app.screen.id == "main"
        await donna.press("j")
        assert donna.vault.note_tree.selected_index == place


@pytest.mark.slow
async def test_a_note_that_donna_deletes_in_another_way_leaves_the_cursor_at_a_sibling() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=GARDEN) as donna:
        del backend.vault.files[GARDEN]
        written = VaultWritten(kind="delete", operation="1", commit="a", paths=(GARDEN,), actor="agent")
        backend.post(written, NoteDeleted(path=GARDEN))
        await donna.until(lambda: "Garden.md" not in names(donna), "it is gone")
        assert donna.vault.note_tree.selected is not None
        assert "deleted elsewhere" not in notices(donna.app)


@pytest.mark.slow
async def test_the_cursor_stays_at_a_folder_that_a_filter_hides() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        tree = donna.vault.note_tree
        tree.select(names(donna).index("People"))
        await donna.press("f")
        await donna.type("zzz")
        await donna.press("escape")
        await donna.until(lambda: len(tree.items) > 3, "the filter is gone")
        assert tree.selected is not None


@pytest.mark.slow
async def test_the_cursor_stays_at_a_chosen_note_if_a_deleted_one_comes_back() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=GARDEN) as donna:
        text = backend.vault.files.pop(GARDEN)
        backend.post(NoteDeleted(path=GARDEN))
        await donna.until(lambda: "Garden.md" not in names(donna), "it is gone")
        await donna.press("j", "k")
        chosen = donna.vault.note_tree.selected
        backend.vault.files[GARDEN] = text
        backend.post(NoteDeleted(path=GARDEN))
        await donna.until(lambda: "Garden.md" in names(donna), "it is there again")
        assert chosen is not None
        assert donna.vault.note_tree.selected.path == chosen.path


@pytest.mark.slow
async def test_a_note_is_not_taken_for_an_earlier_one_of_its_path() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        rename_garden(backend)
        backend.vault.files[GARDEN] = b"# Another garden\n"
        indexed = NoteIndexed(path=GARDEN, why="new", chunks=1, embedded=0, stages=StageTimes(), found_after_ms=1)
        backend.post(NoteRenamed(path=ORCHARD, old_path=GARDEN), indexed)
        await donna.until(lambda: "Orchard.md" in names(donna), "both are listed")
        await donna.open_note(GARDEN)
        del backend.vault.files[GARDEN]
        backend.post(NoteDeleted(path=GARDEN))
        await donna.until(lambda: "Garden.md" not in names(donna), "it is gone")
        assert donna.vault.note_tree.selected is None


@pytest.mark.slow
async def test_a_cursor_that_was_moved_meanwhile_stays_when_a_note_is_renamed() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=GARDEN) as donna:
        rename_garden(backend)
        backend.post(NoteRenamed(path=ORCHARD, old_path=GARDEN))
        donna.vault.note_tree.reveal(PRIYA)
        await donna.until(lambda: "Orchard.md" in names(donna), "it is listed under its new name")
        await donna.rest()
        assert donna.vault.note_tree.selected.path == PRIYA


@pytest.mark.slow
async def test_an_undo_from_the_search_leaves_cursor_and_filter_of_the_vault_alone() -> None:
    backend = scenarios.normal()
    async with driving(backend, at="vault") as donna:
        await donna.press("f")
        await donna.type("garden")
        await donna.press("enter", "1")
        donna.search.post_message(StepBack())
        await donna.window(PlanScreen)
        await donna.press("enter")
        await donna.until(lambda: backend.vault.files[DECISIONS] != scenarios.normal().vault.files[DECISIONS], "undone")
        await donna.press("escape", "2")
        await donna.until(lambda: donna.vault.note_tree.notes, "the tree is shown")
        await donna.rest()
        assert donna.vault.note_tree.query_text == "garden"
        assert donna.vault.note_tree.selected.path == GARDEN


@pytest.mark.parametrize(
    ("kind", "selected", "shown"),
    [
        (OperationKind.MOVE, "old.md", "new.md"),
        (OperationKind.MOVE, "link.md", "link.md"),
        (OperationKind.UNDO, "other.md", "link.md"),
        (OperationKind.UNDO, "new.md", "new.md"),
        (OperationKind.DELETE, "old.md", ""),
    ],
)
def test_the_note_shown_after_a_change_is_the_selected_one_or_what_the_change_is_about(
    kind: OperationKind, selected: str, shown: str
) -> None:
    outcome = Outcome(
        operation="id", commit="c", kind=kind, paths=("new.md", "old.md", "link.md"), etags=("e1", "", "e2")
    )
    assert _new_place(outcome, selected) == shown


@pytest.mark.slow
async def test_an_event_does_not_lose_the_note_that_is_being_opened() -> None:
    backend = scenarios.normal()
    async with driving(backend, at="vault") as donna:
        backend.gates.hold("vault_rows")
        donna.vault.open_note(RUNBOOK)
        await donna.pilot.pause()
        donna.vault.reload()
        backend.gates.release("vault_rows")
        await donna.until(lambda: donna.vault.place is not None and donna.vault.place[0] == RUNBOOK, "it is shown")


async def test_the_file_itself_opens_in_the_editor_at_the_section(edited: list[tuple[Path, int]]) -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        await donna.press("]", "]", "e")
    assert edited == [(Path("/home/noor/notes", DECISIONS), 5)]


async def test_an_empty_vault_offers_to_begin_a_note() -> None:
    async with driving(scenarios.empty()) as donna:
        donna.main.show_pane("vault")
        await donna.until(lambda: "This vault has no notes yet." in donna.screen_text(), "the notice is shown")
        assert "create a note" in donna.screen_text()
        await donna.press("f")
        assert "There are no notes to filter." in notices(donna.app)
        assert not donna.vault.filter.has_focus, "it would take the keys without being visible"


async def test_a_vault_of_empty_folders_lists_them() -> None:
    backend = scenarios.empty()
    backend.vault.empty.append("Projects")
    async with driving(backend) as donna:
        donna.main.show_pane("vault")
        await donna.until(lambda: "▾ Projects" in donna.screen_text(), "the folder is listed")
        assert donna.vault.note_tree.has_focus


@pytest.mark.slow
async def test_no_note_is_shown_beside_a_filter_that_matches_none() -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        assert "800 ms" in donna.screen_text()
        await donna.press("f")
        await donna.type("zzz")
        await donna.until(lambda: "800 ms" not in donna.screen_text(), "its text is gone")


async def test_a_vault_that_cannot_be_listed_says_why_and_tries_again() -> None:
    backend = scenarios.normal()
    backend.fail("vault_rows", VaultReadError(Reason.ROOT_MISSING, "the folder is gone", hint="plug the drive in"))
    async with driving(backend) as donna:
        donna.main.show_pane("vault")
        await donna.until(lambda: "The folder is gone." in donna.screen_text(), "the notice is shown")
        assert "Plug the drive in." in donna.screen_text()
        backend.failures.clear()
        await donna.press("r")
        await donna.until(lambda: donna.vault.note_tree.notes, "the tree is shown")
        assert donna.vault.note_tree.has_focus


@pytest.mark.parametrize(("method", "key"), [("history", "h"), ("blame", "b")])
async def test_vault_views_report_a_missing_repository(method: str, key: str) -> None:
    backend = scenarios.normal()
    backend.fail(method, VaultWriteError(Reason.NO_REPOSITORY, ""))
    async with driving(backend, note=JOURNAL) as donna:
        await donna.press(key)
        await donna.until(
            lambda: "This vault is not in a git repository yet" in donna.screen_text(), "the notice is shown"
        )


@pytest.mark.slow
async def test_a_vault_without_a_repository_names_the_key_that_creates_one() -> None:
    backend = scenarios.normal()
    for method in ("undoable", "blame"):
        backend.fail(method, VaultWriteError(Reason.NO_REPOSITORY, "", hint="in scripts: --yes"))
    backend.vault.revisions.clear()
    words = "This vault is not in a git repository yet, so it has no history. C creates one."
    async with driving(backend, size=LARGE, note=JOURNAL) as donna:
        for key in ("h", "b"):
            await donna.press(key)
            await donna.until(lambda: words in donna.vault.detail.part.empty_text, "it names the key")
            assert donna.vault.detail.diff.empty_text == words
        await donna.window(RefusalScreen, "C")
        backend.failures.clear()
        await donna.press("enter")
        await donna.until(lambda: "first commit" in notices(donna.app), "it says what was done")
        assert backend.called("create_repository")
        await donna.until(lambda: words not in donna.screen_text(), "the sentence disappears")


async def test_without_git_no_note_is_called_unchanged() -> None:
    backend = scenarios.normal()
    backend.fail("undoable", VaultWriteError(Reason.GIT_FAILED, "git is not installed", hint="install git"))
    async with driving(backend, size=LARGE, note=JOURNAL) as donna:
        await donna.until(lambda: "Git is not installed. Install git." in donna.screen_text(), "it says why")
        assert "no changes since the last commit" not in donna.screen_text()


@pytest.mark.slow
@pytest.mark.parametrize(("method", "key"), [("read_note", "v"), ("history", "h"), ("blame", "b"), ("links", "L")])
async def test_a_part_that_could_not_be_read_is_read_again_when_the_vault_is_back(method: str, key: str) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=JOURNAL) as donna:
        backend.fail(method, VaultReadError(Reason.ROOT_MISSING, "the folder is gone"))
        if method == "read_note":
            await donna.press("escape", "k", "j")
        await donna.press(key)
        await donna.until(lambda: "The folder is gone." in donna.screen_text(), "it says so")
        backend.failures.clear()
        backend.post(EngineStateChanged(state="running"))
        await donna.until(lambda: "The folder is gone." not in donna.screen_text(), "it is shown again")


@pytest.mark.slow
async def test_a_note_that_is_gone_meanwhile_is_reported() -> None:
    backend = scenarios.normal()
    backend.fail("read_note", VaultReadError(Reason.MISSING, "this note is no longer there"), PRIYA)
    async with driving(backend, at="vault") as donna:
        donna.vault.note_tree.reveal(PRIYA)
        await donna.until(lambda: "This note is no longer there." in donna.screen_text(), "the notice is shown")


@pytest.mark.slow
async def test_a_note_of_any_length_is_shown_page_by_page() -> None:
    backend = scenarios.normal()
    text = "".join(f"## Part {number}\n\n{'word ' * 400}\n\n" for number in range(120))
    backend.vault.files[GARDEN] = text.encode()
    async with driving(backend, note=GARDEN) as donna:
        assert "page 1 of" in donna.screen_text()
        await donna.press("enter", "G", "j")
        assert "page 2 of" in donna.screen_text()
        await donna.press("k")
        assert "page 1 of" in donna.screen_text()
        await donna.press("g", *["]"] * 40)
        section = donna.vault.detail.text.section
        assert section.heading_path == ("Part 39",)
        assert "Part 39" in donna.screen_text()


@pytest.mark.slow
async def test_help_and_key_list_know_the_screen() -> None:
    async with driving(scenarios.normal(), note=GARDEN) as donna:
        await donna.press("?")
        await donna.until(lambda: "edit here" in donna.screen_text(), "the keys are listed")
        await donna.press("escape", "H")
        await donna.until(lambda: "The tree" in donna.screen_text(), "the help is shown")
        assert not isinstance(donna.app.screen, DetailScreen)


@pytest.mark.slow
async def test_a_click_selects_and_a_second_one_opens() -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        await donna.pilot.click("#tree", offset=(8, 1))
        assert donna.vault.note_tree.selected.path == GARDEN
        await donna.pilot.click("#tree", offset=(8, 1), times=2)
        await donna.until(lambda: donna.vault.detail.text.has_focus, "the note has the focus")
