"""The app as a whole: start and end, screens, sizes, hostile text, and modules that it must not import."""

from __future__ import annotations

import asyncio
import itertools
import subprocess
import sys
from collections.abc import Sequence
from contextvars import copy_context
from dataclasses import replace
from functools import partial

import pytest
from textual import events
from textual._xterm_parser import XTermParser
from textual.color import Color
from textual.geometry import Offset
from textual.message import Message
from textual.notifications import Notification
from textual.theme import Theme
from textual.widgets import Input
from textual.widgets._toast import Toast

from donna_tui.tui.app import DonnaApp
from donna_tui.tui.lib.action import Pane
from donna_tui.tui.lib.edit_dialog import CorrectScreen
from donna_tui.tui.lib.jump import LABELS, JumpOverlay, JumpTarget, labelled
from donna_tui.tui.lib.keymap import DEFAULT_KEYS, load_keymap, use_keys
from donna_tui.tui.shell.main import MainScreen
from donna_tui.tui.shell.windows import HelpScreen, KeyList, Palette, help_text
from donna_tui.tui.themes import OWN_THEMES, THEME_NAMES
from donna_tui.tui.vault.plan_dialog import PlanScreen
from donna_tui.types.errors import DonnaError, Reason, SpaceError
from donna_tui.types.events import NoteDeleted
from tests.tui import hostile, scenarios
from tests.tui.bursts import check
from tests.tui.driving import DESKTOP, SIZE, Driver, driving, hit, notices, outcome, screen_text
from tests.tui.fake_backend import FakeBackend

HEAVY = ("apsw", "numpy", "onnxruntime", "pydantic", "watchfiles", "torch", "tokenizers", "sqlite3", "sqlite_vec")


def test_the_app_is_imported_without_anything_heavy() -> None:
    code = (
        "import sys, donna_tui.tui.app, donna_tui.tui.shell.first_run\n"
        f"sys.exit(' '.join(name for name in {HEAVY} if name in sys.modules) or 0)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


async def test_the_first_frame_comes_before_the_backend_is_made() -> None:
    drawn: list[bool] = []

    def make(choice: object) -> FakeBackend:
        drawn.append("Search your notes" in screen_text(app))
        return scenarios.normal()

    app = DonnaApp(make, external=DESKTOP)
    async with app.run_test(size=SIZE) as pilot:
        donna = Driver(app, pilot)
        await donna.until(lambda: drawn, "the backend is made")
        await donna.complete()
    assert drawn == [True]


async def test_the_backend_is_started_once_and_stopped_on_leaving() -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        await donna.press("ctrl+q")
    assert [call.name for call in backend.calls if call.name in ("start", "stop")] == ["start", "stop"]
    assert backend.listeners == []


@pytest.mark.parametrize("where", ["make", "start"])
async def test_a_vault_that_cannot_be_opened_is_reported_on_every_screen(where: str) -> None:
    error = SpaceError(Reason.ROOT_MISSING, "The folder is gone.", hint="Is a drive missing?")
    backend = scenarios.normal()
    if where == "start":
        backend.fail("start", error)

    def make(choice: object) -> FakeBackend:
        if where == "make":
            raise error
        return backend

    app = DonnaApp(make, external=DESKTOP)
    async with app.run_test(size=SIZE) as pilot:
        await Driver(app, pilot).until(lambda: "The folder is gone." in screen_text(app), "the error is shown")
        assert "Is a drive missing?" in screen_text(app)
        await pilot.press("escape", "6")
        await pilot.pause()
        text = screen_text(app)
        assert "The folder is gone." in text
        await pilot.press("ctrl+q")


async def test_a_broken_installation_is_reported() -> None:
    def make(choice: object) -> FakeBackend:
        raise ModuleNotFoundError("No module named 'apsw'", name="apsw")

    app = DonnaApp(make, external=DESKTOP)
    async with app.run_test(size=SIZE) as pilot:
        donna = Driver(app, pilot)
        await donna.until(lambda: "apsw cannot be loaded" in screen_text(app), "the error is shown")
        await donna.complete()


async def test_quitting_while_the_vault_opens_stops_the_backend() -> None:
    backend = scenarios.normal()
    backend.gates.hold("start")
    async with driving(backend, connected=False) as donna:
        await donna.until(lambda: backend.called("start"), "it is being opened")
        await donna.press("ctrl+q")
    assert backend.called("stop")


@pytest.mark.slow
async def test_numbers_and_clicks_switch_screens_and_numbers_only_where_nothing_is_typed() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.press("6")
        assert donna.search.bar.input.value == "6"
        await donna.press("escape", "6")
        assert donna.main.header.active == "activity"
        await donna.press("1")
        assert donna.main.header.active == "search"
        assert donna.search.results.has_focus
        await donna.pilot.click("#tab-activity")
        assert donna.main.header.active == "activity"
        await donna.press("1", "slash", "alt+6")
        assert donna.main.header.active == "activity"
        assert donna.search.bar.input.value == "6"


@pytest.mark.slow
async def test_coming_back_to_a_screen_finds_part_selection_and_scroll_as_they_were() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.search_for("redis failover")
        await donna.press("escape", "j", "j", "tab", "j", "j")
        assert donna.search.preview.view.has_focus
        place, scrolled = donna.search.results.selected_index, donna.search.preview.view.scroll_offset
        await donna.press("2", "j", "6", "1")
        assert donna.search.preview.view.has_focus
        assert (donna.search.results.selected_index, donna.search.preview.view.scroll_offset) == (place, scrolled)
        await donna.press("2")
        assert donna.vault.note_tree.selected_index == 1


@pytest.mark.slow
async def test_the_palette_goes_to_the_screen_of_an_action_that_works_elsewhere() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.press("ctrl+p")
        await donna.type("vaultblame")
        assert "Works in Vault" in donna.screen_text()
        await donna.press("enter")
        assert donna.main.header.active == "vault"
        assert "b does it here" in notices(donna.app)


@pytest.mark.slow
async def test_the_palette_names_a_key_that_works_in_the_search_box_it_goes_to() -> None:
    async with driving(scenarios.normal()) as donna:
        for name, key in (("search: undo", "esc, then z"), ("search: show in Vault", "f7")):
            await donna.press("alt+6", "ctrl+p")
            await donna.type(name)
            await donna.press("enter")
            assert donna.search.bar.input.has_focus
            assert f"{key} does it here" in notices(donna.app)
        await donna.press("escape", "z")
        assert donna.search.bar.input.value == ""


@pytest.mark.slow
async def test_neither_escape_nor_control_c_leaves() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.search_for("redis")
        await donna.press(*["escape"] * 8)
        assert donna.app.is_running
        assert isinstance(donna.app.screen, MainScreen)
        await donna.press("ctrl+c")
        assert "ctrl+q quits." in notices(donna.app)
        assert donna.app.is_running


@pytest.mark.slow
async def test_app_listens_before_the_backend_starts() -> None:
    backend, heard = scenarios.normal(), list[int]()
    start = backend.start

    async def starting() -> None:
        heard.append(len(backend.listeners))
        await start()

    backend.start = starting  # type: ignore[method-assign]  # only to look at the moment before
    async with driving(backend):
        pass
    assert heard
    assert heard[0] > 0


@pytest.mark.slow
async def test_a_screen_can_be_asked_for_before_it_is_there() -> None:
    backend = scenarios.normal()
    backend.gates.hold("start")
    async with driving(backend, connected=False) as donna:
        assert not donna.main.is_complete
        await donna.press("escape", "2")
        await donna.until(lambda: donna.main.header.active == "vault", "it is shown")
        assert not donna.vault.note_tree.notes
        backend.gates.release("start")
        await donna.until(lambda: donna.vault.note_tree.notes, "it shows the notes of the vault")


async def test_earlier_events_reach_a_screen_that_is_mounted_later() -> None:
    backend = scenarios.empty()
    backend.gates.hold("start")
    async with driving(backend, connected=False) as donna:
        await donna.until(lambda: backend.listeners, "the engine has a listener")
        backend.post(NoteDeleted(path="gone before.md"))
        await donna.rest()
        backend.gates.release("start")
        await donna.complete()
        donna.main.show_pane("activity")
        await donna.until(lambda: "gone before.md" in donna.screen_text(), "it is in the list of events")


async def test_quitting_while_screens_are_mounted_exits_cleanly() -> None:
    async with driving(scenarios.normal(), connected=False) as donna:
        await donna.until(lambda: len(donna.main.switcher.children) > 1, "the second screen is begun")
        await donna.press("ctrl+q")
    assert donna.app.return_code == 0


async def test_leaving_stops_reading_before_widgets_are_removed() -> None:
    backend = scenarios.normal()
    async with driving(backend) as donna:
        await donna.open_note("Projects/gateway/decisions.md")
        backend.gates.hold("vault_rows")
        backend.gates.hold("read_note")
        donna.vault.reload()
        donna.vault.detail.reload()
        await donna.main.shut_down()
        reading = {donna.vault, donna.vault.detail}
        await donna.until(lambda: reading.isdisjoint(each.node for each in donna.app.workers), "nothing is read")


@pytest.mark.parametrize("pane", ["search", "activity"])
def test_help_names_the_keys_in_force(pane: Pane) -> None:
    context = copy_context()
    context.run(use_keys, {**DEFAULT_KEYS, "search.near": ("f7",), "activity.retry": ("f8",)})
    text = context.run(help_text, pane)
    assert "{" not in text
    assert ("`f7`" if pane == "search" else "`f8`") in text


@pytest.mark.slow
async def test_footer_notices_palette_and_messages_name_the_keys_in_force() -> None:
    own = {"search.mode": ["f8"], "app.quit": ["f12"], "vault.new": ["f10"]}
    nothing = FakeBackend(scenarios.AT_REST, answers=outcome)
    async with driving(nothing, keymap=load_keymap(own=own)) as donna:
        await donna.search_for("zebra")
        assert "f8   " in donna.screen_text()
        await donna.press("ctrl+c")
        assert "f12 quits." in notices(donna.app)
        palette = await donna.window(Palette, "ctrl+p")
        assert {choice.title: choice.mark for choice in palette.choices}["vault: new"] == "f10"
        await donna.press("escape", "alt+2")
        await donna.until(lambda: "f10 new" in donna.screen_text(), "the footer of the Vault is shown")


async def test_no_cursor_blinks() -> None:
    async with driving(scenarios.normal()) as donna:
        fields = list(donna.app.screen.query(Input))
        assert fields
        assert not any(each.cursor_blink for each in fields)


@pytest.mark.slow
async def test_help_and_keys_open_and_close() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.press("f1")
        assert isinstance(donna.app.screen, HelpScreen)
        assert "A result" in donna.screen_text()
        await donna.press("escape", "escape", "question_mark")
        assert "Everywhere" in donna.screen_text()
        await donna.press("escape")
        assert donna.app.screen is donna.main


@pytest.mark.slow
async def test_a_small_key_list_says_in_full_what_a_key_does_and_why_it_is_not_possible() -> None:
    async with driving(scenarios.normal(), size=(80, 24)) as donna:
        await donna.press("escape", "question_mark")
        await donna.window(KeyList)
        await donna.until(
            lambda: "preview, follow a link." in donna.screen_text(), "the help of the first key is shown"
        )
        await donna.press("down", "down", "down", "down")
        await donna.until(lambda: "No result is selected." in donna.screen_text(), "the reason is shown")


@pytest.mark.slow
async def test_an_action_can_be_run_from_the_key_list() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.search_for("redis")
        await donna.press("escape", "question_mark")
        await donna.type("mode")
        await donna.press("enter")
        await donna.until(lambda: donna.search.question.mode == "semantic", "the mode changed")


@pytest.mark.slow
async def test_jump_goes_to_a_result_by_its_label_and_any_other_key_leaves() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.search_for("redis failover")
        await donna.press("ctrl+g")
        overlay = donna.app.screen
        assert isinstance(overlay, JumpOverlay)
        results = donna.search.results
        third = Offset(results.content_region.x, results.content_region.y + 2 * results.row_height)
        label = next(letter for letter, target in overlay._targets.items() if (target.x, target.y) == third)
        await donna.press(label)
        assert results.selected_index == 2
        assert results.has_focus
        await donna.press("apostrophe")
        assert isinstance(donna.app.screen, JumpOverlay)
        await donna.press("escape")
        assert donna.app.screen is donna.main
        await donna.window(JumpOverlay, "ctrl+g")
        await donna.pilot.resize_terminal(80, 24)
        await donna.until(lambda: donna.app.screen is donna.main, "no label is left at a place that moved")


@pytest.mark.slow
async def test_jump_labels_have_two_letters_where_one_is_not_enough() -> None:
    gone: list[int] = []
    targets = [JumpTarget(0, place, go=partial(gone.append, place)) for place in range(60)]
    async with driving(scenarios.normal()) as donna:
        names = list(labelled(targets))
        assert len(set(names)) == 60
        assert {len(name) for name in names} == {2}
        assert set(labelled(targets[:26])) == set(LABELS)
        donna.app.push_screen(JumpOverlay(targets), lambda target: target.go() if target else None)
        await donna.press(*names[57])
        assert gone == [57]


@pytest.mark.slow
async def test_search_to_copied_link_works_with_the_keyboard_alone() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.search_for("rate limits")
        await donna.press("tab")
        assert donna.search.results.has_focus
        await donna.press("j", "tab")
        assert donna.search.preview.view.has_focus
        await donna.press("j", "k", "y")
        selected = donna.search.selected
        assert selected is not None
        assert donna.app.clipboard.startswith(f"[[{selected.path.removesuffix('.md')}")
        await donna.press("shift+tab", "shift+tab")
        assert donna.search.bar.input.has_focus


async def test_the_status_strip_follows_the_engine() -> None:
    backend = scenarios.indexing()
    async with driving(backend) as donna:
        assert "423 of 501 notes" in donna.screen_text()
        assert "semantic 78 %" in donna.screen_text()
        done = scenarios.AT_REST.coverage
        backend.change(coverage=done, seconds_left=None, problems=())
        backend.post(*scenarios.morning())
        await donna.until(lambda: "keyword and semantic ready" in donna.screen_text(), "the strip shows it")


@pytest.mark.slow
@pytest.mark.parametrize("scenario", ["empty", "normal", "hostile"])
@pytest.mark.parametrize(
    "sizes",
    [
        ((60, 15),),
        pytest.param(((1, 1), (2, 3), (10, 4), (40, 10), (59, 14), (200, 60)), marks=pytest.mark.stress),
    ],
    ids=["some", "others"],
)
async def test_app_works_at_every_terminal_size(scenario: str, sizes: tuple[tuple[int, int], ...]) -> None:
    async with driving(getattr(scenarios, scenario)()) as donna:
        await donna.search_for("redis")
        for size in sizes:
            await donna.pilot.resize_terminal(*size)
            await donna.press("down", "escape", "plus", "escape", "6", "1", "escape")
            await donna.pilot.resize_terminal(*SIZE)
            assert "Donna" in donna.screen_text(), size
            await donna.press("slash")
            assert donna.search.bar.input.has_focus, size


async def test_too_small_a_terminal_is_reported() -> None:
    async with driving(scenarios.normal(), size=(59, 20)) as donna:
        assert "Donna needs 60 × 15 characters." in donna.screen_text()
        await donna.pilot.resize_terminal(80, 24)
        await donna.pilot.pause()
        assert "Donna needs" not in donna.screen_text()
        assert donna.search.bar.input.has_focus


@pytest.mark.slow
@pytest.mark.parametrize(
    "themes", [THEME_NAMES[::4], pytest.param(THEME_NAMES, marks=pytest.mark.stress)], ids=["some", "all"]
)
async def test_every_theme_renders(themes: Sequence[str]) -> None:
    async with driving(scenarios.normal(), theme=THEME_NAMES[-1]) as donna:
        assert donna.app.theme == THEME_NAMES[-1]
        await donna.search_for("redis")
        await donna.press("escape")
        for theme in themes:
            donna.app.theme = theme
            await donna.press("question_mark", "escape")
            assert donna.app.theme == theme
            assert donna.app.screen is donna.main
            assert "▌ Gateway" in donna.screen_text()


async def test_an_unknown_theme_becomes_the_default_and_is_mentioned() -> None:
    async with driving(scenarios.normal(), theme="[/]solarised") as donna:
        assert donna.app.theme == "donna-dark"
        assert "solarised" in notices(donna.app)


@pytest.mark.parametrize("theme", OWN_THEMES, ids=lambda theme: theme.name)
def test_theme_text_has_sufficient_contrast(theme: Theme) -> None:
    for background in (theme.background, theme.surface, theme.variables["row-selected"]):
        assert contrast(theme.foreground, background) >= 7
        for colour in (theme.variables["text-muted"], theme.accent, theme.warning, theme.error):
            assert contrast(colour, background) >= 4.5
        assert contrast(theme.variables["text-disabled"], background) >= 3


def contrast(first: str | None, second: str | None) -> float:
    """Return the contrast ratio of WCAG 2.2."""
    darker, lighter = sorted(_luminance(Color.parse(each or "")) for each in (first, second))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: Color) -> float:
    """Return the relative luminance of WCAG 2.2."""
    parts = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in colour.normalized]
    return 0.2126 * parts[0] + 0.7152 * parts[1] + 0.0722 * parts[2]


@pytest.mark.slow
async def test_no_color_environment_variable_disables_colours(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NO_COLOR", "1")
    async with driving(scenarios.normal()) as donna:
        await donna.search_for("redis")
        assert donna.app.no_color
        assert "▌ Gateway" in donna.screen_text()


@pytest.mark.slow
async def test_hostile_text_reaches_no_screen_as_it_is() -> None:
    async with driving(scenarios.hostile()) as donna:
        await donna.search_for("anything")
        await donna.rest()
        for keys in (["escape"], ["j"], ["G"], ["plus"], ["escape"], ["n"], ["question_mark"], ["escape"], ["f"]):
            await donna.press(*keys)
            _assert_harmless(donna.screen_text())
        await donna.press("escape", "m")
        await donna.rest()
        _assert_harmless(donna.screen_text())
        assert donna.app.is_running
        assert isinstance(donna.main, MainScreen)


def _assert_harmless(text: str) -> None:
    assert not [char for char in text if char != "\n" and (ord(char) < 32 or 0x7F <= ord(char) < 0xA0)]
    assert not set("\u202e\u2066\u200b\ud800") & set(text)


async def test_a_click_on_action_markup_in_a_note_does_nothing() -> None:
    payload = hostile.MARKUP["action"]
    backend = FakeBackend(
        scenarios.AT_REST,
        answers=lambda request: replace(outcome(request), hits=(hit("one", title=payload),)),
        folders=(payload,),
    )
    async with driving(backend) as donna:
        await donna.search_for("x")
        assert payload in donna.screen_text()
        await donna.pilot.click("#results", offset=(6, 0))
        await donna.press("f")
        await donna.pilot.pause()
        assert donna.app.is_running
        assert "[@click=app.quit]DONNA-CLICK[/]" in donna.screen_text()


@pytest.mark.slow
async def test_errors_with_control_bytes_are_shown_harmless() -> None:
    backend = scenarios.normal()
    backend.fail("search", DonnaError(Reason.INTERNAL, hostile.EVERYTHING, hint=hostile.EVERYTHING))
    backend.fail("passage", DonnaError(Reason.INTERNAL, hostile.EVERYTHING))
    backend.fail("folders", DonnaError(Reason.INTERNAL, hostile.EVERYTHING))
    async with driving(backend) as donna:
        await donna.type("x")
        await donna.rest()
        await donna.press("ctrl+f")
        await donna.rest()
        _assert_harmless(donna.screen_text())


@pytest.mark.slow
async def test_no_worker_runs_while_the_app_is_idle() -> None:
    async with driving(scenarios.normal()) as donna:
        await donna.search_for("redis")
        await donna.press("escape")
        await donna.rest()
        busy = [task for task in asyncio.all_tasks() if "worker" in (task.get_name() or "").lower()]
        assert busy == []


@pytest.mark.parametrize("leave", ["3", "?"])
async def test_a_message_about_a_key_ends_with_the_screen_or_dialog_that_it_is_about(leave: str) -> None:
    async with driving(scenarios.normal(), at="vault") as donna:
        await donna.press("ctrl+right")
        donna.app.notify("The model is missing.", severity="warning")
        assert "There is nothing to go forward to." in notices(donna.app)
        await donna.press(leave)
        await donna.rest()
        assert notices(donna.app) == "The model is missing."


async def test_a_message_that_expires_while_it_is_created_is_removed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A timer of Textual with a negative interval never returns to the event loop."""
    timed = []

    def left(notification: Notification) -> float:
        timed.append(notification)
        return -0.1

    async with driving(scenarios.normal()) as donna:
        monkeypatch.setattr(Notification, "has_expired", False)
        monkeypatch.setattr(Notification, "time_left", property(left))
        donna.app.notify("in the last moment")
        await donna.until(lambda: timed, "its timer starts")
        await donna.until(lambda: not donna.app.screen.query(Toast), "it is removed")


async def test_brackets_in_a_message_are_no_markup() -> None:
    async with driving(scenarios.normal()) as donna:
        donna.main.notify("Copied [bold]a[/bold].md.")
        await donna.until(lambda: "Copied [bold]a[/bold].md." in donna.screen_text(), "it is shown as written")


async def test_a_message_may_expire_while_another_one_is_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    looks = itertools.count()
    async with driving(scenarios.normal()) as donna:
        donna.app.notify("It was moved.")
        await donna.rest()
        monkeypatch.setattr(Notification, "has_expired", property(lambda _: next(looks) > 0))
        donna.app.notify("It was deleted.")
        await donna.rest()
        check(donna, "the first one expired")


@pytest.mark.slow
async def test_a_key_for_a_dialog_that_opens_meanwhile_waits_for_its_widgets() -> None:
    class Slow(CorrectScreen):
        async def _compose(self) -> None:
            await asyncio.sleep(0.1)
            await super()._compose()

    async with driving(scenarios.normal()) as donna:
        donna.main.pane_is_shown.clear()
        donna.app.post_message(events.Key("escape", None))
        await asyncio.sleep(0.05)
        donna.app.push_screen(Slow("a.md", "Redis is fast.", ""))
        donna.main.pane_is_shown.set()
        await donna.until(lambda: donna.app.screen is donna.main, "the dialog is closed")
        check(donna, "escape before the dialog had its text")


async def test_a_dialog_that_is_closed_before_it_has_its_widgets_just_closes() -> None:
    async with driving(scenarios.normal()) as donna:
        dialog = CorrectScreen("a.md", "Redis is fast.", "")
        donna.app.push_screen(dialog)
        assert not dialog.is_mounted
        await donna.app.run_action("leave", dialog)
        await donna.until(lambda: donna.app.screen is donna.main, "the dialog is closed")
        check(donna, "escape before the dialog had its text")


async def test_the_place_of_a_removed_message_is_redrawn() -> None:
    """Textual forgets it if the map of the widgets is built again before the next layout."""
    async with driving(scenarios.normal()) as donna:
        donna.app.notify("No note is selected.")
        await donna.until(lambda: any(toast.region for toast in donna.app.screen.query(Toast)), "it is shown")
        toast, compositor = donna.app.screen.query_one(Toast), donna.main._compositor
        place = toast.region
        with donna.app.batch_update():  # nothing is laid out or drawn meanwhile
            compositor._full_map_invalidated = True
            await toast.remove()
            assert any(region.contains_region(place) for region in compositor._dirty_regions)


async def test_a_change_is_drawn_without_the_widgets_elsewhere() -> None:
    """Textual renders all widgets whose container is partly in the changed part."""
    async with driving(scenarios.normal()) as donna:
        compositor, changed = donna.main._compositor, donna.main.query_one("#search").region
        elsewhere = [each.region for each in donna.main.children if not each.region.overlaps(changed)]
        rendered = [region for region, _, _ in compositor._get_renders(changed)]
        assert elsewhere
        assert not set(elsewhere).intersection(rendered)
        part = compositor._render_chops(changed, lambda y: True)
        whole = compositor._render_chops(compositor.size.region, lambda y: True)
        for y in changed.line_range:
            assert {x: whole[y][x] for x in part[y] if changed.contains(x, y)} == {
                x: strip for x, strip in part[y].items() if changed.contains(x, y)
            }


def test_malformed_key_sequences_do_not_raise() -> None:
    """Textual raises ValueError in the thread that reads the terminal."""
    parser = XTermParser()
    for sequence in ("\x1b[:5S", "\x1b[1:2:3:4u", "\x1b[;u", "\x1b[99999999u"):
        assert all(isinstance(each, Message) for each in [*parser.feed(sequence), *parser.feed("x")])


@pytest.mark.parametrize("size", [1, 4, 100])
def test_escape_characters_in_a_paste_start_no_keys(size: int) -> None:
    parser, typed = XTermParser(), "a\x1b[200~one\x1b[31mD\r\x1b\x1b[201~\x1b[A"
    read = [each for at in range(0, len(typed), size) for each in parser.feed(typed[at : at + size])]
    assert [each.text if isinstance(each, events.Paste) else each.key for each in read] == [
        "a",
        "one␛[31mD\r␛",
        "up",
    ]


async def test_the_newest_message_is_shown_below_a_dialog_as_high_as_the_screen() -> None:
    async with driving(scenarios.normal(), size=(60, 20)) as donna:
        await donna.press("escape", "2")
        await donna.until(lambda: donna.vault.note_tree.items, "the vault is shown")
        await donna.press("G", "D")
        screen = await donna.window(PlanScreen)
        for number in range(4):
            donna.app.notify(f"Message {number}: {'words ' * 12}")
        await donna.until(lambda: "Message 3" in donna.screen_text(), "the newest is shown")
        box = screen.query_one(".plan-box")
        assert box.region.y == 1
        assert "Delete" in donna.screen_text().splitlines()[1]
        assert "esc cancel" in donna.screen_text()
        assert "Message 2" not in donna.screen_text()


@pytest.mark.slow
async def test_a_message_that_is_repeated_leaves_nothing_in_the_screen() -> None:
    async with driving(scenarios.normal()) as donna:
        for _ in range(5):
            donna.app.notify("There is nothing to go back to.")
            await donna.rest()
        assert len(donna.main.query("ToastHolder")) == 1
