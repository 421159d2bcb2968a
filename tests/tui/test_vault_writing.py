"""Changing the vault from its screen: each change is a diff, then one key, and nothing that was typed is lost."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest
from textual import events
from textual.screen import Screen
from textual.widgets import Input

from donna_tui.tui.lib import edit_dialog as edit_screen
from donna_tui.tui.lib.dialogs import RefusalScreen
from donna_tui.tui.lib.edit_dialog import EditScreen, NoteField
from donna_tui.tui.lib.external import External
from donna_tui.tui.lib.inputs import fitting
from donna_tui.tui.lib.messages import OpenNote
from donna_tui.tui.lib.picker import Picker
from donna_tui.tui.vault.conflict_dialogs import ConflictScreen, ThreeWayScreen
from donna_tui.tui.vault.plan_dialog import PathPrompt, PlanScreen
from donna_tui.types.errors import Reason, VaultWriteError
from donna_tui.types.events import NoteRenamed
from donna_tui.types.notes import Edit
from donna_tui.vault.write.changes import OperationKind, etag_of
from tests.tui import scenarios
from tests.tui.bursts import send
from tests.tui.driving import Driver, driving, notices
from tests.tui.fake_backend import FakeBackend
from tests.tui.vault_scenarios import DECISIONS, DRAFT, GARDEN, PRIYA, RUNBOOK, SYNC, back, confirm, plan

SMALL = (80, 24)


def editor(monkeypatch: pytest.MonkeyPatch, donna: Driver, change: Callable[[str], str]) -> list[tuple[Path, int]]:
    """Replace the user's editor by this change. Return the list of files that it was given."""
    given: list[tuple[Path, int]] = []

    async def edit(path: Path, line: int) -> None:
        given.append((path, line))
        path.write_bytes(change(path.read_bytes().decode()).encode())

    monkeypatch.setattr(donna.vault._programs, "edit", edit)
    return given


def kinds(backend: FakeBackend) -> list[OperationKind]:
    return [call[0].kind for call in backend.called("apply_plan")]


@pytest.mark.slow
async def test_an_edit_in_the_editor_is_shown_and_then_written(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=DECISIONS) as donna:
        given = editor(monkeypatch, donna, lambda text: text.replace("800 ms", "900 ms"))
        screen = await plan(donna, "]", "]", "]", "E")
        text = donna.screen_text()
        assert f"Write {DECISIONS}" in text
        assert "1 line removed · 1 line added" in text
        assert "↵ write it   esc keep for later" in text
        assert b"900 ms" not in backend.vault.files[DECISIONS]
        assert screen.view.diffs[0].added == 1
        await back(donna, "enter")
        assert b"900 ms" in backend.vault.files[DECISIONS]
        (path, line) = given[0]
        assert (path.name, line) == ("decisions.md", 7)
        assert not path.exists()
        assert not path.parent.exists()
        assert "900 ms" in donna.screen_text() or donna.vault.detail.note is not None


async def test_the_copy_for_the_editor_is_private(monkeypatch: pytest.MonkeyPatch) -> None:
    modes: list[int] = []
    async with driving(scenarios.normal()) as donna:

        async def edit(path: Path, line: int) -> None:
            modes.extend((path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777))

        monkeypatch.setattr(donna.vault._programs, "edit", edit)
        await donna.open_note(DECISIONS)
        await donna.press("E")
        await donna.until(lambda: "Nothing was changed." in notices(donna.app), "the notice is shown")
    assert modes == [0o600, 0o700]


@pytest.mark.slow
async def test_an_abandoned_edit_is_kept_and_can_be_continued(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: text + "One more line.\n")
        await plan(donna, "E")
        await back(donna, "escape")
        assert "unsaved edit" in donna.screen_text()
        await plan(donna, "E")
        assert donna.screen_text().count("One more line.") == 2
        await back(donna, "enter")
        assert backend.vault.files[PRIYA].decode().count("One more line.") == 2
        assert "unsaved edit" not in donna.screen_text()


@pytest.mark.slow
@pytest.mark.parametrize("is_outside", [False, True])
async def test_an_unsaved_edit_follows_its_note_that_is_renamed(
    is_outside: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    backend, renamed = scenarios.normal(), "People/Raman.md"
    files = backend.vault.files
    async with driving(backend, note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: text + "One more line.\n")
        await plan(donna, "E")
        await back(donna, "escape")
        if is_outside:
            files[renamed] = files.pop(PRIYA)
            backend.post(NoteRenamed(path=renamed, old_path=PRIYA))
        else:
            (await donna.window(PathPrompt, "m")).field.value = renamed
            await plan(donna, "enter")
            await back(donna, "enter")
        edits = donna.vault.flows.edits
        await donna.until(lambda: edits.paths == (renamed,), "the edit has the new path")
        await donna.until(lambda: donna.vault.place and donna.vault.place[0] == renamed, "the note is shown")
        assert [edit.path for edit in await backend.unsaved_edits()] == [renamed]
        await confirm(donna, "E")
        assert files[renamed].decode().count("One more line.") == 2
    assert PRIYA not in files


@pytest.mark.slow
async def test_an_edit_of_a_note_that_was_moved_meanwhile_is_written_where_the_note_is_now() -> None:
    backend, moved = scenarios.normal(), "Ideas/Moved.md"
    files = backend.vault.files
    async with driving(backend, note=PRIYA) as donna:
        files["Ideas/Copy.md"] = files[PRIYA]
        await donna.press("r")
        await donna.rest()
        await donna.window(EditScreen, "i")
        await donna.type("Typed. ")
        files[moved] = files.pop(PRIYA)
        await plan(donna, "ctrl+s")
        assert f"Write {moved}" in donna.screen_text()
        assert f"The note was moved to {moved} while you edited it." in donna.screen_text()
        await back(donna, "enter")
    assert b"Typed. " in files[moved]
    assert PRIYA not in files
    assert backend.vault.edits == {}


@pytest.mark.slow
async def test_an_edit_is_dropped_only_with_a_second_key(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: text + "No.\n")
        await plan(donna, "E")
        await donna.press("X")
        assert "This discards your edit for good. Press X again to discard it, esc to keep it." in donna.screen_text()
        await donna.press("X")
        await back(donna)
        assert "unsaved edit" not in donna.screen_text()
    assert backend.called("apply_plan") == []


@pytest.mark.slow
async def test_a_sentence_in_place_of_the_keys_is_complete_in_a_narrow_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with driving(scenarios.normal(), size=(60, 20), note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: text + "Mine.\n")
        await plan(donna, "E")
        await donna.press("X")
        await donna.until(lambda: "This discards your edit" in donna.screen_text(), "it warns")
        assert "discard it, esc to keep it." in donna.screen_text()


@pytest.mark.slow
async def test_a_waiting_edit_is_dropped_from_the_tree_with_two_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: text + "No.\n")
        await donna.press("X")
        assert "This note has no unsaved edit." in notices(donna.app)
        await plan(donna, "E")
        await back(donna, "escape")
        await donna.press("X", "j", "k", "X")
        assert list(backend.vault.edits) == [PRIYA]
        await donna.press("X")
        await donna.until(lambda: backend.vault.edits == {}, "it is dropped")
        await donna.press("X")
        assert notices(donna.app).endswith("This note has no unsaved edit.")


@pytest.mark.slow
async def test_an_edit_that_waits_is_there_again_at_the_next_start(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: text + "Wait.\n")
        await plan(donna, "E")
        await back(donna, "escape")
        await donna.press("ctrl+q")
        await donna.until(lambda: not donna.app.is_running, "the app exits")
    later = scenarios.normal()
    later.vault.edits = backend.vault.edits
    async with driving(later) as donna:
        await donna.until(
            lambda: "In the Vault, i continues it, and X discards it." in notices(donna.app), "the notice is shown"
        )
        await donna.open_note(PRIYA)
        assert "unsaved edit" in donna.screen_text()
        editor(monkeypatch, donna, lambda text: text)
        await confirm(donna, "E")
    assert later.vault.files[PRIYA].endswith(b"Wait.\n")
    assert later.vault.edits == {}


@pytest.mark.slow
async def test_leaving_with_an_edit_that_the_disk_does_not_take_asks_once(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    backend.failures["save_edit", ""] = VaultWriteError(Reason.DISK_FULL, "the disk is full")
    async with driving(backend, note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: text + "Wait.\n")
        await plan(donna, "E")
        assert "Your edit is not saved to disk for now" in notices(donna.app)
        await back(donna, "escape")
        await donna.press("ctrl+q")
        assert donna.app.is_running
        assert "cannot be saved to disk" in notices(donna.app)
        await donna.press("ctrl+q")
        await donna.until(lambda: not donna.app.is_running, "the app exits")


@pytest.mark.slow
async def test_an_edit_of_a_note_that_is_gone_is_a_row_and_is_written_as_a_new_one() -> None:
    backend = scenarios.normal()
    gone = Edit("Gone.md", "old\n", etag_of(b"old\n"), "old\nand new\n")
    backend.vault.edits = {gone.path: gone}
    async with driving(backend) as donna:
        donna.main.show_pane("vault")
        await donna.until(lambda: donna.vault.note_tree.notes, "the tree is shown")
        donna.vault.note_tree.reveal(gone.path)
        await donna.until(lambda: donna.vault.note is not None, "what waits is there")
        await donna.rest()
        assert "unsaved" in donna.screen_text()
        assert "Your unsaved edit of it is kept: i continues it" in " ".join(donna.screen_text().split())
        for key in ("m", "D"):
            donna.app.clear_notifications()
            await donna.press(key)
            assert "This note no longer exists. Your unsaved edit" in notices(donna.app)
        await donna.window(EditScreen, "i")
        assert "and new" in donna.screen_text()
        await donna.window(ConflictScreen, "escape")
        await confirm(donna, "c")
    assert backend.vault.files[gone.path] == b"old\nand new\n"
    assert backend.vault.edits == {}


@pytest.mark.slow
async def test_typed_text_is_saved_while_typing(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(edit_screen, "SAVE_SECONDS", 0.01)
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        await donna.window(EditScreen, "i")
        await donna.type("Half a thou")
        await donna.until(lambda: PRIYA in backend.vault.edits, "it is kept")
        await donna.until(lambda: backend.vault.edits[PRIYA].text.startswith("Half a thou"), "all of it is kept")


@pytest.mark.slow
async def test_an_editor_with_a_separate_window_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    code = External(environ={"EDITOR": "code"}, platform="linux", which=lambda name: f"/usr/bin/{name}")
    async with driving(scenarios.normal(), external=code, note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: text + "From a window.\n")
        await donna.window(RefusalScreen, "E")
        assert "is open in your editor's window." in donna.screen_text()
        await plan(donna, "enter")
        assert "+ From a window." in donna.screen_text()


@pytest.mark.slow
async def test_a_note_is_edited_on_the_screen() -> None:
    backend = scenarios.normal()
    backend.vault.files[PRIYA] = backend.vault.recorded[PRIYA] = b"# Priya\r\n\r\nLead.\r\n"
    async with driving(backend, note=PRIYA) as donna:
        await donna.window(EditScreen, "i")
        await donna.type("New ")
        await confirm(donna, "escape")
    assert backend.vault.files[PRIYA] == b"New # Priya\r\n\r\nLead.\r\n"


@pytest.mark.parametrize("close", ["\x13", "\x1bOQ", "\x1b"])
async def test_keys_of_a_burst_act_on_the_text_in_their_order_and_none_is_lost_on_saving(close: str) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        before = (await donna.window(EditScreen, "i")).field.text
        send(donna.app, ["ab\x7f\x7fc ", "word " * 100, "\x1b[1;5FEnd.", close])
        await donna.window(PlanScreen)
    assert backend.called("plan_write")[-1][1] == f"c {'word ' * 100}{before}End."


@pytest.mark.slow
async def test_closing_an_unchanged_editor_asks_nothing() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        await donna.window(EditScreen, "i")
        await back(donna, "escape")
        assert "Nothing was changed." in notices(donna.app)
    assert backend.called("plan_write") == []


UNEDITABLE = {
    "control.md": (b"one\n\x1b[31mred\n", "Line 2 contains control characters or invisible ones."),
    "c1.md": ("a\x9bb\n".encode(), "Line 1 contains control characters"),
    "separator.md": ("a\u2028b\n".encode(), "Line 1 contains control characters"),
    "mark.md": ("x\n\ufeffy\n".encode(), "Line 2 contains control characters"),
    "mixed.md": (b"one\r\ntwo\n", "It has mixed line endings"),
    "old mac.md": (b"one\rtwo\n", "It has mixed line endings"),
    "utf-16.md": (b"\xff\xfe\n", "It is not valid UTF-8"),
}


@pytest.mark.slow
async def test_what_a_text_field_cannot_hold_is_not_edited_on_the_screen() -> None:
    backend = scenarios.normal()
    backend.vault.files.update({path: data for path, (data, _) in UNEDITABLE.items()})
    async with driving(backend) as donna:
        for path, (_, reason) in UNEDITABLE.items():
            await donna.open_note(path)
            donna.app.clear_notifications()
            await donna.press("i")
            assert reason in notices(donna.app), path
            assert donna.app.screen is donna.main


@pytest.mark.slow
async def test_a_note_that_is_not_utf_8_can_be_deleted_but_not_edited() -> None:
    backend = scenarios.normal()
    backend.vault.files["latin.md"] = b"caf\xe9\n"
    async with driving(backend, note="latin.md") as donna:
        await donna.press("E")
        assert "It is not valid UTF-8" in notices(donna.app)
        await confirm(donna, "D")
    assert "latin.md" not in backend.vault.files


@pytest.mark.slow
async def test_the_editor_begins_below_the_properties_and_jumps_to_the_ends() -> None:
    backend = scenarios.normal()
    backend.vault.files[PRIYA] = b"---\ntags: [a]\n---\n\nOne\nTwo\n"
    async with driving(backend) as donna:
        field = await text_field(donna)
        assert field.cursor_location == (3, 0)
        await donna.press("ctrl+end")
        assert field.cursor_location == (6, 0)
        await donna.press("ctrl+home")
        assert field.cursor_location == (0, 0)
        await back(donna, "escape")


async def text_field(donna: Driver) -> NoteField:
    """Return the text field of a note that is edited in place."""
    await donna.open_note(PRIYA)
    await donna.press("i")
    return (await donna.window(EditScreen)).field


@pytest.mark.slow
async def test_what_is_pasted_into_the_text_field_is_inserted_once_and_without_hidden_characters() -> None:
    async with driving(scenarios.normal()) as donna:
        field = await text_field(donna)
        before = field.text
        donna.app.post_message(events.Paste("a\x1b]52;c;eA==\x07b\tc\r\nd \u200fpm\ufeff می\u200cخواهم 👩\u200d👧\n"))
        await donna.until(lambda: field.text != before, "it is pasted")
        await donna.rest()
        assert field.text == f"a]52;c;eA==b\tc\nd pm می\u200cخواهم 👩\u200d👧\n{before}"
        assert "Hidden characters were removed from the pasted text." in notices(donna.app)


@pytest.mark.slow
async def test_the_change_whose_diff_is_read_is_the_one_that_is_undone() -> None:
    backend = scenarios.normal()
    vault = backend.vault
    first = vault.apply(vault.plan_write(PRIYA, "edited\n", vault.read(PRIYA).etag))
    vault.apply(vault.plan_write(PRIYA, "edited again\n", vault.read(PRIYA).etag))
    async with driving(backend, note=PRIYA) as donna:
        await donna.press("h")
        detail = donna.vault.detail
        await donna.until(lambda: detail.selected_operation is not None, "the history is shown")
        await donna.press("down", "enter")
        await donna.until(lambda: donna.app.screen.focused is detail.diff, "the diff has the focus")
        await donna.window(ThreeWayScreen, "z")
        assert backend.called("plan_undo_one") == [(first.operation,)]


@pytest.mark.slow
async def test_after_a_change_made_from_the_history_the_undo_key_is_about_that_change(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend = scenarios.normal()
    vault = backend.vault
    vault.apply(vault.plan_write(PRIYA, "edited\n", vault.read(PRIYA).etag))
    vault.apply(vault.plan_write(PRIYA, "edited again\n", vault.read(PRIYA).etag))
    async with driving(backend, note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: f"{text}a line\n")
        await donna.press("h")
        detail = donna.vault.detail
        await donna.until(lambda: detail.selected_operation is not None, "the history is shown")
        await donna.press("down")
        await confirm(donna, "E")
        assert "z undo" in notices(donna.app)
        await plan(donna, "z")
        made = vault.revisions[0].operation
        assert made is not None
        assert backend.called("plan_undo_one") == [(made.id,)]


async def test_an_undone_change_in_the_history_names_the_key_that_redoes_it() -> None:
    backend = scenarios.normal()
    vault = backend.vault
    vault.apply(vault.plan_write(PRIYA, "edited\n", vault.read(PRIYA).etag))
    vault.apply(vault.plan_steps(OperationKind.UNDO, 1))
    async with driving(backend, note=PRIYA) as donna:
        await donna.press("h")
        await donna.until(lambda: donna.vault.detail.selected_operation is not None, "the history is shown")
        await donna.press("z")
        assert "This was an undo. Z redoes what was undone last." in notices(donna.app)
        await donna.press("down", "z")
        assert "This change has already been undone. Z redoes what was undone last." in notices(donna.app)
        assert not backend.called("plan_undo_one")


@pytest.mark.slow
async def test_a_key_right_after_a_note_was_opened_is_for_that_note() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        backend.gates.hold("vault_rows")
        donna.main.post_message(OpenNote(GARDEN))
        await plan(donna, "D")
        assert GARDEN in donna.screen_text()
        assert PRIYA not in donna.screen_text()
        await donna.press("escape")
        backend.gates.release("vault_rows")
        await back(donna)


@pytest.mark.slow
async def test_undo_and_redo_of_many_lines_hide_the_scroll_bar_again() -> None:
    async with driving(scenarios.normal()) as donna:
        field = await text_field(donna)
        before = field.text
        donna.app.post_message(events.Paste("line\n" * 200))
        await donna.until(lambda: field.text != before, "it is pasted")
        await donna.rest()
        await donna.press("ctrl+z")
        await donna.until(lambda: field.text == before, "it is undone")
        await donna.press("ctrl+y")
        await donna.until(lambda: field.text != before, "it is done again")
        await donna.press("f7", "delete", "ctrl+z")
        await donna.until(lambda: field.text.count("line\n") == 200, "the deletion is undone")
        await donna.press("ctrl+y")
        await donna.until(lambda: not field.text, "the text is deleted again")
        await donna.rest()


@pytest.mark.slow
async def test_typed_zero_width_joiners_are_inserted() -> None:
    async with driving(scenarios.normal()) as donna:
        field = await text_field(donna)
        before = field.text
        for char in "می\u200cخ":
            field.post_message(events.Key("x", char))
        await donna.until(lambda: field.text == f"می\u200cخ{before}", "it is typed")


@pytest.mark.slow
async def test_keys_typed_ahead_reach_the_dialogs_that_open_meanwhile(edited: list[tuple[Path, int]]) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=PRIYA) as donna:
        send(donna.app, ["n\rAda\r"])  # an empty note, its name
        await donna.until(lambda: edited, "the note is created")
        await back(donna)
        assert "People/Ada.md" in backend.vault.files
        send(donna.app, ["m 2\r\rD\r"])  # the new name and a look at the change; the same note, another look
        await donna.until(lambda: len(kinds(backend)) == 3, "the note is renamed and deleted")
        assert kinds(backend)[1:] == [OperationKind.MOVE, OperationKind.DELETE]
        assert not {"People/Ada.md", "People/Ada 2.md"} & backend.vault.files.keys()
        assert PRIYA in backend.vault.files


@pytest.mark.slow
async def test_a_new_note_from_a_template(edited: list[tuple[Path, int]]) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=SYNC) as donna:
        picker = await donna.window(Picker, "n")
        await donna.press("down")
        await donna.until(lambda: picker.options.highlighted == 2, "the template is selected")
        screen = await donna.window(PathPrompt, "enter")
        assert screen.field.value == "Meetings/"
        await donna.type("Offsite")
        assert "Meetings/Offsite.md" in donna.screen_text()
        await donna.press("enter")
        await donna.until(lambda: edited, "it opens in the editor, without a difference to look at")
        await back(donna)
        text = backend.vault.files["Meetings/Offsite.md"].decode()
        assert "# Offsite\n" in text
        assert "{{" not in text
        assert donna.vault.note_tree.selected.path == "Meetings/Offsite.md"


@pytest.mark.slow
async def test_a_name_that_is_taken_or_refused_is_asked_for_again() -> None:
    backend = scenarios.normal()
    error = VaultWriteError(Reason.OUTSIDE_ALLOWLIST, "Donna may not write to Secret")
    backend.fail("plan_write", error, "Secret/x.md")
    async with driving(backend, note=SYNC) as donna:
        await donna.window(Picker, "n")
        await donna.window(PathPrompt, "enter")
        await donna.type("2026-11-18-gateway-sync")
        await donna.press("enter")
        assert "A note named Meetings/2026-11-18-gateway-sync.md already exists." in donna.screen_text()
        donna.app.screen.query_one(Input).value = "Secret/x"
        await donna.press("enter")
        await donna.until(lambda: "Donna may not write to Secret." in donna.screen_text(), "the reason is shown")
        assert donna.app.screen.query_one(Input).value == "Secret/x.md"
        await back(donna, "escape")


@pytest.mark.slow
async def test_a_refusal_that_no_other_name_resolves_names_its_note_and_is_tried_again() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=DECISIONS) as donna:
        backend.fail(
            "apply_plan", VaultWriteError(Reason.CONFLICT, "this note was just edited elsewhere", path=RUNBOOK)
        )
        await donna.window(PathPrompt, "m")
        await donna.type("2")
        await plan(donna, "enter")
        await donna.window(RefusalScreen, "enter")
        text = donna.screen_text()
        assert "Not moved: conflict" in text
        assert RUNBOOK in text
        backend.failures.clear()
        await plan(donna, "enter")
        await back(donna, "enter")
        assert DECISIONS.replace(".md", "2.md") in backend.vault.files


@pytest.mark.slow
async def test_a_note_is_moved_with_the_links_to_it() -> None:
    backend = scenarios.normal()
    backend.vault.files[DRAFT] += b"\nSee [[runbook]].\n"
    async with driving(backend, note=RUNBOOK) as donna:
        screen = await donna.window(PathPrompt, "m")
        screen.field.value = "Projects/gateway/handbook.md"
        await plan(donna, "enter")
        text = donna.screen_text()
        assert f"Move {RUNBOOK} to Projects/gateway/handbook.md" in text
        assert f"{RUNBOOK} → Projects/gateway/handbook.md  moved unchanged" in text
        assert "See [[handbook]]." in text
        await back(donna, "enter")
        assert RUNBOOK not in backend.vault.files
        assert b"[[handbook]]" in backend.vault.files[DRAFT]
        assert donna.vault.note_tree.selected.path == "Projects/gateway/handbook.md"


@pytest.mark.slow
async def test_a_note_is_deleted_after_a_look_and_comes_back_with_undo() -> None:
    backend = scenarios.normal()
    kept = backend.vault.files[GARDEN]
    async with driving(backend, note=GARDEN) as donna:
        await plan(donna, "D")
        text = donna.screen_text()
        assert "7 lines removed" in text
        assert "Your own edits to this note are not in the history yet; they are recorded there first" in text
        await back(donna, "escape")
        assert GARDEN in backend.vault.files
        await confirm(donna, "D")
        assert GARDEN not in backend.vault.files
        await plan(donna, "z")
        text = donna.screen_text()
        assert "you · deleted Ideas/Garden.md" in text
        assert "7 lines restored" in text
        await back(donna, "enter")
    assert backend.vault.files[GARDEN] == kept
    assert kinds(backend) == [OperationKind.DELETE, OperationKind.UNDO]


@pytest.mark.slow
async def test_undo_says_whose_change_it_takes_back_and_redo_does_it_again() -> None:
    backend = scenarios.normal()
    now = backend.vault.files[DECISIONS]
    async with driving(backend, note=GARDEN) as donna:
        await donna.press("Z")
        assert "There is nothing to redo." in notices(donna.app)
        await plan(donna, "z")
        text = donna.screen_text()
        assert f"20 Nov 11:32 · you · wrote {DECISIONS}" in text
        assert "1 line removed · 1 line restored" in text
        await back(donna, "enter")
        assert b"500 ms, twice" in backend.vault.files[DECISIONS]
        await plan(donna, "Z")
        assert "Redo" in donna.screen_text()
        await back(donna, "enter")
    assert backend.vault.files[DECISIONS] == now


@pytest.mark.slow
async def test_the_memories_of_an_agents_session_are_redone_and_undone_with_its_notes() -> None:
    backend = scenarios.normal()
    vault = backend.vault
    vault.undo_stack[0] = replace(vault.undo_stack[0], session="a1")
    for key, calls in (("z", []), ("Z", ["redo_session"]), ("z", ["redo_session", "undo_session"])):
        async with driving(backend) as donna:  # also after a restart
            await donna.open_note(GARDEN)
            await confirm(donna, key)
            await donna.rest()
            assert [each.name for each in backend.calls if each.name.endswith("_session")] == calls


@pytest.mark.slow
async def test_several_steps_are_undone_at_once() -> None:
    backend = scenarios.normal()
    async with driving(backend, size=SMALL, note=GARDEN) as donna:
        await plan(donna, "z")
        await donna.press("z")
        await donna.until(lambda: "Undo 2 changes" in donna.screen_text(), "two steps are shown")
        assert f"19 Nov 14:32 · Donna · created {DRAFT}" in donna.screen_text()
        await donna.press("z")
        await donna.until(lambda: "Undo 3 changes" in donna.screen_text(), "three steps are shown")
        await donna.press("Z")
        await donna.until(lambda: "Undo 2 changes" in donna.screen_text(), "two steps are shown again")
        await confirm(donna)
        assert DRAFT not in backend.vault.files
        assert "draft" not in donna.screen_text()
    assert kinds(backend) == [OperationKind.UNDO]


@pytest.mark.parametrize("has_repository", [True, False])
async def test_with_nothing_to_undo_the_key_says_so(has_repository: bool) -> None:
    backend = scenarios.normal()
    backend.vault.undo_stack.clear()
    if not has_repository:
        backend.fail("undoable", VaultWriteError(Reason.NO_REPOSITORY, ""))
    async with driving(backend, note=GARDEN) as donna:
        await donna.press("z")
        assert "There is nothing to undo. z undoes changes made with Donna." in notices(donna.app)


@pytest.mark.slow
async def test_an_undo_in_the_way_of_a_later_edit_shows_three_versions() -> None:
    backend = scenarios.normal()
    backend.vault.files[DECISIONS] = backend.vault.files[DECISIONS].replace(b"800 ms, once", b"900 ms, once")
    async with driving(backend, size=(160, 48), note=GARDEN) as donna:
        await donna.window(ThreeWayScreen, "z")
        text = donna.screen_text()
        for title in ("After this change", "As it is now", "To be restored"):
            assert title in text
        assert text.count("800 ms, once") == text.count("900 ms, once") == text.count("500 ms, twice") == 1
        assert "take back what does not touch" not in text
        await donna.press("m")
        assert "changed the same lines" in notices(donna.app)
        await back(donna, "escape")
    assert backend.called("apply_plan") == []


async def test_an_undo_that_conflicts_with_no_note_any_more_can_be_left() -> None:
    backend = scenarios.normal()
    backend.fail("plan_undo", VaultWriteError(Reason.UNDO_CONFLICT, "", path=DECISIONS))
    async with driving(backend, note=GARDEN) as donna:
        await donna.window(ThreeWayScreen, "z")
        await donna.press("o", "m", "escape")
        await back(donna)
    assert backend.called("apply_plan") == []


@pytest.mark.slow
async def test_what_later_edits_do_not_touch_can_be_undone() -> None:
    backend = scenarios.normal()
    backend.vault.files[DECISIONS] = backend.vault.files[DECISIONS].replace(b"180 MB", b"190 MB")
    async with driving(backend, size=SMALL, note=GARDEN) as donna:
        await donna.window(ThreeWayScreen, "z")
        assert "m undo what does not overlap" in donna.screen_text()
        await confirm(donna, "m")
    written = backend.vault.files[DECISIONS]
    assert b"190 MB" in written
    assert b"500 ms, twice" in written


async def test_an_earlier_change_of_a_note_is_undone_without_the_later_ones() -> None:
    backend = scenarios.normal()
    vault = backend.vault
    for old, new in ((b"800 ms", b"700 ms"), (b"180 MB", b"190 MB")):
        text = vault.files[DECISIONS].replace(old, new).decode()
        vault.apply(vault.plan_write(DECISIONS, text, vault.read(DECISIONS).etag))
    async with driving(backend, note=DECISIONS) as donna:
        await donna.press("h")
        await donna.until(lambda: donna.vault.detail.selected_operation is not None, "the history is shown")
        await donna.press("down")
        await donna.window(ThreeWayScreen, "z")
        await confirm(donna, "m")
    assert b"800 ms" in vault.files[DECISIONS]
    assert b"190 MB" in vault.files[DECISIONS]


def edited_elsewhere(backend: FakeBackend, old: bytes, new: bytes) -> Callable[[str], str]:
    """Return an editor's change of the cache section, during which somebody else changes the note."""

    def change(text: str) -> str:
        backend.vault.files[DECISIONS] = backend.vault.files[DECISIONS].replace(old, new)
        return text.replace("180 MB", "200 MB")

    return change


@pytest.mark.slow
async def test_a_conflict_is_merged_where_the_edits_do_not_touch(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=DECISIONS) as donna:
        editor(monkeypatch, donna, edited_elsewhere(backend, b"800 ms", b"700 ms"))
        await donna.window(ConflictScreen, "E")
        text = donna.screen_text()
        assert "This note was edited elsewhere a moment ago. Your text is safe here." in text
        assert "m merge   o overwrite   t discard mine   e edit both   c save a copy   esc later" in text
        await confirm(donna, "m")
    written = backend.vault.files[DECISIONS]
    assert b"700 ms" in written
    assert b"200 MB" in written


async def test_a_write_that_waits_for_git_says_so() -> None:
    backend = scenarios.normal()
    backend.gates.hold("apply_plan")
    async with driving(backend, note=DECISIONS) as donna:
        await plan(donna, "D")
        await donna.press("enter")
        await donna.until(lambda: "Waiting for git …" in notices(donna.app), "it says so")
        assert DECISIONS in backend.vault.files
        backend.gates.release("apply_plan")
        await donna.until(lambda: "Deleted" in notices(donna.app), "it says what happened")


@pytest.mark.slow
async def test_the_key_at_the_end_of_a_message_is_shown_in_the_smallest_terminal(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with driving(scenarios.normal(), size=(60, 20), note=DECISIONS) as donna:
        editor(monkeypatch, donna, lambda text: text + "a line\n" * 10)
        await confirm(donna, "E")
        message = donna.screen_text().partition("Written · ")[2].partition(" notes ")[0]
        assert " ".join(message.replace("│", " ").split()).startswith("+10 −0 · z undo")


@pytest.mark.slow
async def test_a_message_covers_no_key_of_a_dialog() -> None:
    async with driving(scenarios.normal(), size=SMALL, note=DECISIONS) as donna:
        await plan(donna, "z")
        keys = next(line for line in donna.screen_text().splitlines() if "↵ undo" in line)
        message = (
            "Your edit is not saved to disk for now: the disk is full. The note is as it was, and nothing is lost."
        )
        donna.app.notify(message)
        await donna.until(lambda: "Your edit is not saved" in donna.screen_text(), "the message is shown")
        assert keys in donna.screen_text().splitlines()
        assert "it was, and nothing is lost." in donna.screen_text()


@pytest.mark.slow
async def test_the_footer_of_a_dialog_ends_with_a_whole_key(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, size=SMALL, note=DECISIONS) as donna:
        editor(monkeypatch, donna, edited_elsewhere(backend, b"800 ms", b"700 ms"))
        await donna.window(ConflictScreen, "E")
        await donna.until(lambda: "o overwrite" in donna.screen_text().splitlines()[-1], "the footer has the keys")
        assert donna.screen_text().splitlines()[-1].strip() == (
            "m merge  o overwrite  t discard mine  e edit both  c save a copy  esc later"
        )


def test_the_key_that_closes_a_dialog_is_shown_at_any_width() -> None:
    items = [("m", "merge"), ("o", "overwrite"), ("esc", "cancel"), ("s", "side by side")]
    assert list(fitting(items, 34, 3)) == items[:3]
    assert list(fitting(items, 33, 3)) == [items[0], items[2]]
    assert list(fitting(items, 5, 3)) == [items[2]]


@pytest.mark.slow
async def test_a_conflict_of_the_same_line_says_so_and_keeps_a_copy(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=DECISIONS) as donna:
        editor(monkeypatch, donna, edited_elsewhere(backend, b"180 MB", b"190 MB"))
        await donna.window(ConflictScreen, "E")
        assert "Both changed line 13, so choose one of them, or edit both in one text." in donna.screen_text()
        await donna.press("m")
        assert isinstance(donna.app.screen, ConflictScreen)
        await confirm(donna, "c")
    assert b"190 MB" in backend.vault.files[DECISIONS]
    assert b"200 MB" in backend.vault.files["Projects/gateway/decisions (my edit).md"]


@pytest.mark.slow
@pytest.mark.parametrize(("key", "kept"), [("o", b"200 MB"), ("e", b"200 MB, or 190 MB")])
async def test_a_conflict_of_the_same_line_can_be_overwritten_or_edited_in_one_text(
    monkeypatch: pytest.MonkeyPatch, key: str, kept: bytes
) -> None:
    backend = scenarios.normal()
    texts: list[str] = []

    async def edit(path: Path, line: int) -> None:
        texts.append(text := path.read_text())
        if len(texts) == 1:
            backend.vault.files[DECISIONS] = backend.vault.files[DECISIONS].replace(b"180 MB", b"190 MB")
            path.write_text(text.replace("180 MB", "200 MB"))
        else:
            start, end = text.index("<<<<<<< mine\n"), text.index(">>>>>>> theirs\n") + len(">>>>>>> theirs\n")
            assert line == text[:start].count("\n") + 1
            path.write_text(f"{text[:start]}200 MB, or 190 MB\n{text[end:]}")

    async with driving(backend, note=DECISIONS) as donna:
        monkeypatch.setattr(donna.vault._programs, "edit", edit)
        await donna.window(ConflictScreen, "E")
        await confirm(donna, key)
    assert kept in backend.vault.files[DECISIONS]
    assert b"<<<<<<<" not in backend.vault.files[DECISIONS]
    assert backend.vault.edits == {}


@pytest.mark.slow
@pytest.mark.parametrize("key", ["o", "e"])
async def test_an_undo_of_a_note_that_was_changed_since_restores_it_or_edits_both(
    monkeypatch: pytest.MonkeyPatch, key: str
) -> None:
    backend = scenarios.normal()
    before = backend.vault.files[DECISIONS]
    async with driving(backend, note=DECISIONS) as donna:
        editor(monkeypatch, donna, lambda text: text.replace("180 MB", "200 MB"))
        await confirm(donna, "E")
        backend.vault.files[DECISIONS] = backend.vault.files[DECISIONS].replace(b"200 MB", b"210 MB")
        editor(monkeypatch, donna, lambda text: text.replace("210 MB", "220 MB"))
        await donna.window(ThreeWayScreen, "z")
        await plan(donna, key)
        assert ("Conflict markers are still in it." in donna.screen_text()) is (key == "e")
        await back(donna, "enter")
    after = backend.vault.files[DECISIONS]
    assert (
        after == before if key == "o" else (b"180 MB" in after and b"220 MB" in after and b"<<<<<<< restored" in after)
    )


@pytest.mark.slow
async def test_an_undo_of_several_notes_is_not_done_for_one_of_them(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=GARDEN) as donna:
        editor(monkeypatch, donna, lambda text: f"{text}\nMore.\n")
        await confirm(donna, "E")
        backend.vault.files[DECISIONS] = backend.vault.files[DECISIONS].replace(b"180 MB", b"190 MB")
        files = dict(backend.vault.files)
        await plan(donna, "z")
        await donna.window(ThreeWayScreen, "z")
        assert "1 other note would not be undone" in donna.screen_text()
        await donna.press("o", "m", "e", "escape")
        await back(donna)
    assert backend.vault.files == files


@pytest.mark.slow
async def test_a_conflict_can_be_left_for_later_or_dropped_with_two_keys(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=DECISIONS) as donna:
        editor(monkeypatch, donna, edited_elsewhere(backend, b"180 MB", b"190 MB"))
        await donna.window(ConflictScreen, "E")
        await back(donna, "escape")
        assert "unsaved edit" in donna.screen_text()
        await donna.window(ConflictScreen, "E")
        await donna.press("r")
        assert "Press t again to discard it" in donna.screen_text()
        await donna.press("r")
        await back(donna)
        await donna.until(lambda: "190 MB" in donna.screen_text(), "the note as it is now is shown")
        assert "unsaved edit" not in donna.screen_text()


@pytest.mark.slow
@pytest.mark.parametrize("key", ["D", "m"])
async def test_a_note_edited_elsewhere_is_shown_as_it_is_now_before_the_next_attempt(key: str) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=DECISIONS) as donna:
        await donna.press(key)
        if key == "m":
            (await donna.window(PathPrompt)).field.value = "Ideas/choices.md"
            await plan(donna, "enter")
        backend.vault.files[DECISIONS] += b"\nLater.\n"
        await donna.press("enter")
        await donna.window(RefusalScreen)
        await confirm(donna, "enter")
    assert DECISIONS not in backend.vault.files


@pytest.mark.slow
async def test_after_a_deletion_the_next_note_of_the_folder_is_selected() -> None:
    async with driving(scenarios.normal(), note=DECISIONS) as donna:
        await confirm(donna, "D")
        assert donna.vault.note_tree.selected.path == RUNBOOK, "not the folder, which the same keys would delete"


@pytest.mark.slow
async def test_a_deletion_says_which_links_break_and_unlinks_them_on_demand() -> None:
    backend = scenarios.normal()
    backend.vault.files["Links.md"] = backend.vault.recorded["Links.md"] = b"To the [[Garden]].\n"
    async with driving(backend, note=GARDEN) as donna:
        await plan(donna, "D")
        assert "1 links in 1 notes will be broken." in donna.screen_text()
        assert "u unlink them" in donna.screen_text()
        await donna.press("u")
        await donna.until(lambda: "u unlink them" not in donna.screen_text(), "the other plan is shown")
        await plan(donna)
        assert "To the Garden." in donna.screen_text()
        await back(donna, "enter")
        assert "Deleted with links in 1 note" in notices(donna.app)
    assert GARDEN not in backend.vault.files
    assert backend.vault.files["Links.md"] == b"To the Garden.\n"


@pytest.mark.slow
async def test_a_note_deleted_meanwhile_is_put_back_on_demand(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()

    def change(text: str) -> str:
        del backend.vault.files[PRIYA]
        return text + "Still here.\n"

    async with driving(backend, note=PRIYA) as donna:
        editor(monkeypatch, donna, change)
        await donna.window(ConflictScreen, "E")
        assert "was deleted or moved elsewhere" in donna.screen_text()
        await confirm(donna, "c")
    assert b"Still here." in backend.vault.files[PRIYA]


@pytest.mark.slow
async def test_a_conflict_between_the_look_and_the_key_is_caught_too(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    async with driving(backend, note=DECISIONS) as donna:
        editor(monkeypatch, donna, lambda text: text.replace("180 MB", "200 MB"))
        await plan(donna, "E")
        backend.vault.files[DECISIONS] += b"Added elsewhere.\n"
        await donna.window(ConflictScreen, "enter")
        await confirm(donna, "m")
    assert b"Added elsewhere." in backend.vault.files[DECISIONS]
    assert b"200 MB" in backend.vault.files[DECISIONS]


@pytest.mark.slow
async def test_without_a_history_one_key_creates_one_and_continues() -> None:
    backend = scenarios.normal()
    backend.vault.has_repository = False
    async with driving(backend, note=PRIYA) as donna:
        await plan(donna, "D")
        await donna.window(RefusalScreen, "enter")
        text = donna.screen_text()
        assert "Create a repository in " in text
        assert "↵ create   esc not now" in text
        assert PRIYA in backend.vault.files
        await back(donna, "enter")
    assert backend.called("create_repository") == [()]
    assert PRIYA not in backend.vault.files


@pytest.mark.cases(1)
@pytest.mark.parametrize("agreed", [True, False])
async def test_the_first_commit_of_a_note_that_was_private_is_asked_about(agreed: bool) -> None:
    backend = scenarios.normal()
    backend.vault.untracked, backend.vault.asks_to_track = frozenset({PRIYA}), True
    async with driving(backend, note=PRIYA) as donna:
        await plan(donna, "D")
        await donna.window(RefusalScreen, "enter")
        text = donna.screen_text()
        assert "Commit a note that was private?" in text
        assert "↵ commit it to git" in text
        await donna.press("enter" if agreed else "escape")
        await back(donna)
    assert [call[0].may_track for call in backend.called("apply_plan")] == ([False, True] if agreed else [False])
    assert (PRIYA in backend.vault.files) is not agreed


@pytest.mark.slow
async def test_change_kept_out_of_git_is_reported() -> None:
    backend = scenarios.normal()
    backend.vault.untracked = frozenset({PRIYA})
    async with driving(backend, note=PRIYA) as donna:
        await confirm(donna, "D")
        assert "Private: recorded only in refs/donna/operations" in notices(donna.app)


@pytest.mark.slow
async def test_declining_a_history_keeps_the_edit(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    backend.vault.has_repository = False
    async with driving(backend, note=PRIYA) as donna:
        editor(monkeypatch, donna, lambda text: text + "Mine.\n")
        await plan(donna, "E")
        await donna.window(RefusalScreen, "enter")
        await back(donna, "escape")
        assert "unsaved edit" in donna.screen_text()
    assert backend.called("create_repository") == []
    assert backend.vault.edits[PRIYA].text.endswith("Mine.\n")


@pytest.mark.slow
async def test_a_refusal_says_what_it_is_and_changes_nothing() -> None:
    backend = scenarios.normal()
    backend.fail("plan_delete", VaultWriteError(Reason.GIT_BUSY, "a merge is under way", hint="finish it", path=PRIYA))
    async with driving(backend, note=PRIYA) as donna:
        await donna.window(RefusalScreen, "D")
        text = donna.screen_text()
        assert "Not deleted: a git operation is in progress" in text
        assert "A merge is under way." in text
        assert "Finish it." in text
        assert "↵ try again" in text
        backend.failures.clear()
        await plan(donna, "enter")


@pytest.mark.slow
@pytest.mark.parametrize("method", ["begin_edit", "edited_text"])
async def test_a_failed_copy_for_the_editor_is_tried_again(method: str, monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    backend.fail(method, VaultWriteError(Reason.IO_ERROR, "the disk does not answer"))
    async with driving(backend, note=PRIYA) as donna:
        given = editor(monkeypatch, donna, lambda text: text + "Mine.\n")
        await donna.window(RefusalScreen, "E")
        backend.failures.clear()
        await donna.press("enter")
        assert "Mine." in (await plan(donna)).view.text
        assert len(given) == 1


@pytest.mark.slow
async def test_creating_a_repository_is_tried_again() -> None:
    backend = scenarios.normal()
    backend.vault.has_repository = False
    backend.fail("undoable", VaultWriteError(Reason.NO_REPOSITORY, ""))
    backend.fail("create_repository", VaultWriteError(Reason.IO_ERROR, "the disk does not answer"))
    async with driving(backend, note=PRIYA) as donna:
        await donna.window(RefusalScreen, "C")
        await donna.press("enter")
        await donna.until(lambda: "Not created: " in donna.screen_text(), "the refusal is shown")
        backend.failures.clear()
        await donna.press("enter")
        await donna.until(lambda: "Create a repository" in donna.screen_text(), "the question is asked again")
        await donna.press("enter")
        await donna.until(lambda: "first commit" in notices(donna.app), "it is created")
    assert len(backend.called("create_repository")) == 2


@pytest.mark.slow
async def test_remarks_of_a_plan_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    made = backend.vault.plan_delete
    remark = "2 links to it will lead nowhere"
    monkeypatch.setattr(
        backend.vault, "plan_delete", lambda path, etag, **_: replace(made(path, etag), remarks=(remark,))
    )
    async with driving(backend, note=PRIYA) as donna:
        await plan(donna, "D")
        assert f"{remark}." in donna.screen_text()


@pytest.mark.slow
async def test_escape_and_a_click_outside_close_every_dialog_without_a_change() -> None:
    backend = scenarios.normal()
    async with driving(backend, size=(170, 48), note=PRIYA) as donna:
        windows: list[tuple[str, type[Screen[object]]]] = [("D", PlanScreen), ("m", PathPrompt), ("z", PlanScreen)]
        for key, window in windows:
            await donna.window(window, key)
            await back(donna, "escape")
            await donna.window(window, key)
            await donna.pilot.click(offset=(1, 40))
            await back(donna)
    assert backend.called("apply_plan") == []


def saving(
    monkeypatch: pytest.MonkeyPatch, donna: Driver, backend: FakeBackend, change: Callable[[bytes], bytes]
) -> None:
    """Replace the user's editor by one that saves the note itself."""

    async def edit(path: Path, line: int) -> None:
        name = path.relative_to("/home/noor/notes").as_posix()
        assert backend.called("commit_version"), "the earlier version must be in git before the editor runs"
        backend.vault.files[name] = change(backend.vault.files[name])

    monkeypatch.setattr(donna.vault._programs, "edit", edit)


@pytest.mark.slow
async def test_what_an_editor_saves_in_the_note_itself_is_one_step_of_undo(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    before = backend.vault.files[DECISIONS]
    async with driving(backend, note=DECISIONS) as donna:
        saving(monkeypatch, donna, backend, lambda data: data.replace(b"800 ms", b"900 ms"))
        await donna.press("e")
        await donna.until(lambda: kinds(backend), "it is committed")
        await back(donna)
        assert "Committed · +1 −1 · z undo" in notices(donna.app)
        assert b"900 ms" in backend.vault.recorded[DECISIONS]
        await confirm(donna, "z")
        assert backend.vault.files[DECISIONS] == before
        assert "Undone · +1 −1 · Z redo" in notices(donna.app)


@pytest.mark.slow
async def test_a_note_that_was_moved_while_an_editor_had_it_open_is_reported_to_exist_twice(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    backend, moved = scenarios.normal(), "Ideas/Moved.md"

    def move_and_save(data: bytes) -> bytes:
        backend.vault.files[moved] = data
        return data.replace(b"800 ms", b"900 ms")

    async with driving(backend, note=DECISIONS) as donna:
        saving(monkeypatch, donna, backend, move_and_save)
        await donna.press("e")
        await donna.until(lambda: f"The note was moved to {moved}" in notices(donna.app), "it says where it is")
        assert "Committed · +1 −1 · z undo" in notices(donna.app)


async def test_what_an_editor_saved_is_not_said_to_be_unwritten(monkeypatch: pytest.MonkeyPatch) -> None:
    backend = scenarios.normal()
    backend.fail("plan_since", VaultWriteError(Reason.GIT_BUSY, "a merge is in progress"))
    async with driving(backend, note=DECISIONS) as donna:
        saving(monkeypatch, donna, backend, lambda data: data.replace(b"800 ms", b"900 ms"))
        await donna.window(RefusalScreen, "e")
        assert "Not committed: a git operation is in progress" in donna.screen_text()
        assert "↵ try again   esc cancel" in donna.screen_text()


@pytest.mark.slow
async def test_a_note_that_is_not_committed_opens_in_the_editor_all_the_same(edited: list[tuple[Path, int]]) -> None:
    backend = scenarios.normal()
    async with driving(backend, note="Journal/Health.md") as donna:
        await donna.press("e")
        await donna.until(lambda: edited, "the editor runs")
        await back(donna)
    assert kinds(backend) == []


@pytest.mark.slow
async def test_a_note_opens_in_the_editor_without_a_repository_too(edited: list[tuple[Path, int]]) -> None:
    backend = scenarios.normal()
    backend.vault.has_repository = False
    async with driving(backend, note=DECISIONS) as donna:
        await donna.window(RefusalScreen, "e")
        await donna.press("escape")
        await donna.until(lambda: edited, "the editor runs")
        await back(donna)
        await donna.press("e")
        await donna.until(lambda: len(edited) == 2, "the question is not repeated")
    assert not backend.called("create_repository")


@pytest.mark.slow
async def test_outside_edits_are_committed_with_one_key() -> None:
    backend = scenarios.normal()
    async with driving(backend, note=GARDEN) as donna:
        assert "C commit" in donna.screen_text()
        await donna.press("C")
        await donna.until(lambda: kinds(backend), "it is committed")
        await back(donna)
        assert backend.vault.recorded[GARDEN] == backend.vault.files[GARDEN]
        assert "edited outside" not in donna.screen_text()


@pytest.mark.slow
async def test_redo_key_in_a_preview_reduces_the_steps_to_undo() -> None:
    async with driving(scenarios.normal()) as donna:
        for path in (PRIYA, RUNBOOK):
            await donna.open_note(path)
            await confirm(donna, "D")
        await plan(donna, "z")
        await confirm(donna, "z")
        await plan(donna, "Z")
        await plan(donna, "Z")
        assert "Redo 2 changes" in donna.screen_text()
        assert "z one fewer" in donna.screen_text()
        await plan(donna, "z")
        assert "Redo 2 changes" not in donna.screen_text()


@pytest.mark.slow
async def test_equal_messages_are_shown_once() -> None:
    async with driving(scenarios.normal()) as donna:
        for _ in range(10):
            donna.main.notify("The same.")
        await donna.rest()
        assert notices(donna.app).count("The same.") == 1


async def test_what_an_earlier_key_did_is_no_longer_shown_once_another_one_has_done_something() -> None:
    async with driving(scenarios.normal()) as donna:
        donna.main.notify("Deleted · z undo")
        donna.main.notify("The disk is almost full.", severity="warning")
        await donna.press("j")
        assert "Deleted · z undo" in notices(donna.app)
        for line in ("Undone · Z redo", "The memory is as it was."):
            donna.main.notify(line)
        await donna.rest()
        shown = ["The disk is almost full.", "Undone · Z redo", "The memory is as it was."]
        assert notices(donna.app).splitlines() == shown
