"""The main screen: header, one pane at a time, status strip and footer, and the dispatch of actions."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial, partialmethod
from importlib import import_module
from typing import TYPE_CHECKING, ClassVar, Protocol, cast

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.geometry import Size
from textual.getters import query_one
from textual.screen import Screen
from textual.widget import Widget
from textual.widgets import Input, Static

from donna_tui.platform.paths import style_sheet
from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib import messages
from donna_tui.tui.lib.action import Action, ActionState
from donna_tui.tui.lib.action import Pane as PaneName
from donna_tui.tui.lib.actions import ACTIONS
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import BlankSwitcher
from donna_tui.tui.lib.dialogs import RefusalScreen, one_dialog, run_list_action, showing_errors
from donna_tui.tui.lib.error_messages import Refusal, error_text
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.humanize import plural
from donna_tui.tui.lib.jump import HasJumpTargets, JumpOverlay, JumpTarget, visible_targets
from donna_tui.tui.lib.keymap import anywhere_key, shown_key
from donna_tui.tui.lib.links import FollowLink, LinkRef
from donna_tui.tui.lib.panes import PANES
from donna_tui.tui.lib.places import Place, Places
from donna_tui.tui.lib.styled import TEXT_CLASSES
from donna_tui.tui.search.pane import SearchPane
from donna_tui.tui.shell.bars import FooterBar, HeaderBar, StatusStrip, Tab, no_model_to_get
from donna_tui.tui.vault.parts_pane import PartsPane
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.search import NameMatch

if TYPE_CHECKING:
    from donna_tui.tui.app import DonnaApp
    from donna_tui.tui.bridge import EngineBridge
    from donna_tui.tui.meetings.pane import MeetingsPane
    from donna_tui.tui.review.pane import ReviewPane
    from donna_tui.tui.vault.pane import VaultPane
    from donna_tui.types.notes import Destination, Edit

_VIEWS = {entry.action: entry.name for entry in PANES.values()}

_SMALLEST = (60, 15)


class Pane(Protocol):
    """A screen with its own actions.

    A pane also handles the messages `EngineEvents` and `StatusChanged`, has a method `action_…` for each action of its
    context, which the help of the action describes, and posts `ActionsChanged` when other actions become possible.
    """

    def connect(self, backend: Backend) -> None:
        """Show the vault of a backend; called once, when its engine runs."""

    def cannot_open(self, error: DonnaError) -> None:
        """Show the reason why there is no engine."""

    def action_state(self, base: ActionState) -> ActionState:
        """Return the action state of this pane, based on the global one."""

    def focus_first(self) -> None:
        """Focus the initial part."""

    def go_back(self) -> None:
        """Leave the current level, unless it is the outermost one. A maximised part is restored first."""

    def action_view_zoom(self) -> None:
        """Maximise the current part, which the class `-zoomed` marks, or restore it."""


class MainScreen(Screen[None], inherit_bindings=False):
    """The screen of all panes. Every key, click, palette entry and footer item is handled by `action_run`."""

    BINDINGS: ClassVar[list[BindingType]] = [*bindings("global"), Binding("ctrl+c", "copy_or_hint", show=False)]
    COMPONENT_CLASSES: ClassVar[set[str]] = TEXT_CLASSES
    HORIZONTAL_BREAKPOINTS = [(0, "-cramped"), (_SMALLEST[0], "-narrow"), (100, "-normal"), (140, "-wide")]  # noqa: RUF012
    VERTICAL_BREAKPOINTS = [(0, "-flat"), (_SMALLEST[1], "-low"), (30, "-tall")]  # noqa: RUF012
    BLANK = True  # the panes cover it; see lib/containers.py

    header = query_one(HeaderBar)
    footer = query_one(FooterBar)
    strip = query_one(StatusStrip)
    search = query_one(SearchPane)
    switcher = query_one("#panes", BlankSwitcher)

    def __init__(self, programs: ExternalPrograms, space: str, first_notes: tuple[NameMatch, ...] = ()) -> None:
        super().__init__(id="main")
        self._first_notes = first_notes
        self._programs = programs
        self._space = space
        self._bridges: tuple[EngineBridge, ...] = ()
        self._backend: Backend | None = None
        self._greeting: Callable[[Pane], None] | None = None
        self._panes: list[Widget] = []
        self._left_at: dict[PaneName, Widget] = {}
        self._places = Places()
        self._completing = asyncio.Lock()
        self.pane_is_shown = asyncio.Event()
        self.pane_is_shown.set()
        self._panes_awaited = 0
        self.is_complete = self._is_leaving = False
        self._warned_of: tuple[str, tuple[str, ...]] = ("", ())
        self._no_editor = programs.external.no_editor
        self._no_desktop = programs.external.no_desktop

    def compose(self) -> ComposeResult:
        self.add_class(*self._breakpoints(self.app.size), update=False)
        yield HeaderBar(self._space)
        with BlankSwitcher(initial="search", id="panes"):
            yield SearchPane(self._programs, self._first_notes)
        yield StatusStrip(len(self._first_notes), id="strip")
        yield FooterBar(id="footer")
        yield Static(Content(f"Donna needs {_SMALLEST[0]} × {_SMALLEST[1]} characters."), id="too-small")

    def _breakpoints(self, size: Size) -> Iterator[str]:
        """Return the classes for a size before the first layout: a later change of them would restyle every widget."""
        for breakpoints, extent in (
            (self.HORIZONTAL_BREAKPOINTS, size.width),
            (self.VERTICAL_BREAKPOINTS, size.height),
        ):
            yield max(each for each in breakpoints if each[0] <= extent)[1]

    def on_mount(self) -> None:
        self._panes.append(self.search)
        self.search.focus_first()

    @property
    def here(self) -> tuple[str, str]:
        """Return the name and folder of the current space; empty if there is none."""
        status = self.strip.status
        return (status.space, status.root) if status is not None else ("", "")

    @property
    def pane(self) -> Pane:
        return cast(Pane, self.switcher.visible_content)

    @property
    def backend(self) -> Backend:
        """Return the backend, for what is only possible once the vault is open."""
        assert self._backend is not None
        return self._backend

    def listen(self, backend: Backend) -> None:
        """Subscribe to the events of an engine before it starts; events for panes that do not exist yet are queued."""
        from donna_tui.tui.bridge import EngineBridge

        later = self._panes[1:] if self.is_complete else ()
        self._bridges = EngineBridge(backend, (self, self.search)), EngineBridge(backend, later)

    def connect(self, backend: Backend) -> None:
        self._backend = backend
        self._greet(lambda pane: pane.connect(backend))
        self._share_flows()
        self.run_worker(self._complete_after_answer(backend), group="panes")
        self.post_message(messages.StatusChanged(backend.status()))

    def disconnect(self) -> None:
        for bridge in self._bridges:
            bridge.close()

    async def shut_down(self) -> None:
        """Unsubscribe, stop adding panes, since a partly mounted one cannot be removed, and stop loading into them:
        Textual removes the children of a widget before it cancels the widget's workers.
        """
        self.disconnect()
        self.search.save_question()
        if not self._is_leaving:
            self._is_leaving = True
            await self._completing.acquire()
        self.pane_is_shown.set()
        for pane in self._panes:
            for node in pane.walk_children(with_self=True):
                self.workers.cancel_node(node)

    def cannot_open(self, error: DonnaError) -> None:
        self.strip.trouble = error.message
        self._greet(lambda pane: pane.cannot_open(error))
        self.run_worker(self.complete(), group="panes")

    def _greet(self, greeting: Callable[[Pane], None]) -> None:
        """Apply a function to the existing panes, and to the others once they are added."""
        self._greeting = greeting
        for pane in self._panes:
            greeting(cast(Pane, pane))

    async def _complete_after_answer(self, backend: Backend) -> None:
        """Complete the panes after the first answer: their imports would delay it, and the model."""
        await self.search.wait_until_idle()
        await backend.wait_for_first_search()
        await self.complete()

    async def complete(self) -> None:
        """Add the missing panes, one at a time, so that keys are handled in between."""
        async with self._completing:
            if not self.is_complete:
                entries = list(PANES.values())[1:]
                # on a thread, because this takes as long as about ten key presses
                modules = await asyncio.to_thread(lambda: [import_module(entry.module) for entry in entries])
                if self._backend is not None:
                    await asyncio.to_thread(self._backend.warm_up)
                for entry, module in zip(entries, modules, strict=True):
                    with contextlib.suppress(FileNotFoundError):
                        self.app.stylesheet.read(style_sheet(entry.name))
                    pane: Widget = getattr(module, entry.widget)(self._programs)
                    if self._is_leaving:
                        return
                    await self.switcher.add_content(pane)
                    self._panes.append(pane)
                    if self._greeting is not None:
                        self._greeting(cast(Pane, pane))
                for bridge in self._bridges[1:]:
                    bridge.serve(self._panes[1:])
                self.is_complete = True
                self.search.completed()
                self._share_flows()

    def _share_flows(self) -> None:
        for pane in self._panes if self.is_complete else ():
            if isinstance(pane, PartsPane):
                pane.vault_flows = self._vault.vault_flows

    def holds_back(self, action_id: str = "app.quit") -> bool:
        """Check whether leaving this space now would lose an edit. A second call after the warning returns False."""
        waiting = self._vault.edits_in_memory_only if self.is_complete else ()
        if not waiting or (action_id, waiting) == self._warned_of:
            return False
        self._warned_of = (action_id, waiting)
        others = f" and {plural(len(waiting) - 1, 'other note')}" if len(waiting) > 1 else ""
        what = f"Your edit of {clean_line(waiting[0])}{others} is unsaved, and cannot be saved to disk."
        message = f"{what} Press {shown_key(action_id, typing=True)} again to quit without it."
        self.notify(message, severity="warning", timeout=8)
        return True

    def unsaved(self, screens: Sequence[Screen[object]]) -> tuple[Edit, ...]:
        """Return the edits that could not be saved to disk, and the texts typed on these screens."""
        flows = self._vault.vault_flows if self.is_complete else None
        edits = dict(flows.edits.in_memory_only) if flows is not None else {}
        for screen in screens:
            typed: Edit | None = getattr(screen, "typed", None)  # of an EditScreen, which is imported late
            if typed is not None and typed.text != typed.base:
                edits[typed.path] = typed
        return tuple(edits.values())

    def state(self) -> ActionState:
        status = self.strip.status
        base = ActionState(
            pane=self.switcher.current or "search",
            typing=isinstance(self.focused, Input),
            running=self._backend is not None,
            loading=self.pane.loading_words if self._backend is not None and isinstance(self.pane, PartsPane) else "",
            no_editor=self._no_editor,
            no_desktop=self._no_desktop,
            paused=status is not None and status.state == "paused",
            no_model_to_get=no_model_to_get(status),
        )
        return self.pane.action_state(base)

    async def action_run(self, action_id: str) -> None:
        """Run an action, or show why it is not possible. Keys that arrive before the screen is mounted, or while it is
        being removed, are ignored.
        """
        action = ACTIONS[action_id]
        if self.is_mounted and isinstance(self.pane, PartsPane) and action.context == self.pane.id:
            await self.pane.wait_until_loaded()
        if self.is_mounted and isinstance(self.pane, (PartsPane, SearchPane)):
            await self.pane.update_needs(action)
        if self._is_leaving or not self.is_mounted:
            return
        objection = action.why_not(self.state())
        if objection:
            self.notify(objection, timeout=4)
        elif action.context == "list":
            await run_list_action(self, action)
        elif action.id in _VIEWS:
            self.show_pane(_VIEWS[action.id])
        else:
            target = self.pane if hasattr(self.pane, action.method) else self
            await self.app.run_action(action.method.removeprefix("action_"), cast(Widget, target))
        self.refresh_footer()

    def refresh_footer(self) -> None:
        if self.is_mounted:
            self.footer.show(self.state())

    def on_status_changed(self, event: messages.StatusChanged) -> None:
        self.strip.status = event.status
        self.header.name_space(event.status.space)
        self.refresh_footer()

    def on_actions_changed(self, event: messages.ActionsChanged) -> None:
        event.stop()
        self.refresh_footer()

    def on_review_pane_counted(self, event: ReviewPane.Counted) -> None:
        self.query_one("#tab-review", Tab).waiting = event.waiting

    def on_open_draft(self, event: messages.OpenDraft) -> None:
        self.show_pane("review")
        self._review.reload(event.identity)

    @work(group="panes")
    async def on_open_note(self, event: messages.OpenNote) -> None:
        await self._show_note(event.path, event.line)

    @work(group="panes")
    async def on_open_meeting(self, event: messages.OpenMeeting) -> None:
        if await self._show_completed("meetings"):
            cast("MeetingsPane", self.pane).select_meeting(event.identity, event.day)

    def on_go_to(self, event: messages.GoTo) -> None:
        self.show_pane(event.pane)

    def on_remember_place(self, event: messages.RememberPlace) -> None:
        self._places.push_back(event.place)

    @work(group="panes")
    async def on_step_back(self, event: messages.StepBack) -> None:
        """Undo or redo from a screen that shows no notes."""
        await self.complete()
        if self.is_complete:
            (self._vault.action_vault_redo if event.redo else self._vault.action_vault_undo)()

    async def on_edit_note(self, event: messages.EditNote) -> None:
        await self._edit(event.path, event.line)

    def on_descendant_focus(self) -> None:
        """Redraw the footer, because the active keys depend on the focus."""
        self.refresh_footer()

    def on_screen_suspend(self) -> None:
        """Show the keys of the dialog in front in the footer, once it is drawn. Only that dialog shows messages."""
        self.query("ToastRack").set(display=False)
        self.app.call_later(self.cover_footer)

    def cover_footer(self) -> None:
        front = self.app.screen
        if front is self or self not in self.app.screen_stack or not self.query(FooterBar):
            return
        if not front.is_mounted:
            front.call_later(self.cover_footer)
            return
        self.footer.cover(getattr(front, "footer_keys", (("esc", "close"),)))

    def on_screen_resume(self) -> None:
        self.footer.cover(())
        self.refresh_footer()

    @work(group="draft")
    async def _write_today(self, skill: str) -> None:
        if await self._show_completed("review"):
            self._review.write_today(skill)

    action_draft_weekly_review = partialmethod(_write_today, "weekly_review")
    action_draft_daily_reflection = partialmethod(_write_today, "daily_reflection")

    def action_search_focus(self) -> None:
        self.show_pane("search")
        self.search.focus_first()

    action_view_next = partialmethod(Screen.focus_next)
    action_view_previous = partialmethod(Screen.focus_previous)

    def action_view_back(self) -> None:
        if cast(Widget, self.pane).has_class("-zoomed"):
            self.pane.action_view_zoom()
        else:
            self.pane.go_back()

    def action_view_jump(self) -> None:
        self.app.push_screen(JumpOverlay(self._jump_targets()), lambda target: target.go() if target else None)

    @one_dialog("daily")
    async def action_app_daily(self) -> None:
        if not await self._show_completed("vault"):
            return
        with showing_errors(self):
            daily = await self.backend.notes.daily_note()
            try:
                await self.backend.notes.read_note(daily.path)
            except DonnaError as error:
                if error.reason is not Reason.MISSING:
                    raise
            else:
                await self._show_note(daily.path, 1)
                return
            if daily.problem:
                problem = f"Obsidian’s setting for daily notes is not used: {clean_line(daily.problem)}."
                self.notify(problem, severity="warning", timeout=8)
            self._vault.create(daily.path, daily.template)

    @one_dialog("switch")
    async def action_app_switch(self) -> None:
        from donna_tui.tui.vault.switcher import CreateNote, Switcher

        chosen = await self.app.push_screen_wait(Switcher(self.backend.names))
        if chosen is None:
            return
        if isinstance(chosen, CreateNote):
            await self._show_completed("vault")
            self._vault.create(chosen.path)
        elif chosen.in_editor:
            await self._edit(chosen.path, chosen.line)
        else:
            await self._show_note(chosen.path, chosen.line)

    @one_dialog("follow")
    async def on_follow_link(self, event: FollowLink) -> None:
        with showing_errors(self):
            found = await _destination(self.backend, event.path, event.ref)
            if found.url:
                await self._programs.open_page(found.url)
            if found.problem:
                self.notify(clean_line(found.problem), severity="warning", timeout=5)
            if found.path and found.exists:
                await self._show_note(found.path, found.line)
            elif found.path:
                refusal = Refusal("No such note", "The note of this link does not exist.", "", clean_line(found.path))
                if await self.app.push_screen_wait(RefusalScreen(refusal, does="create it")):
                    await self._show_completed("vault")
                    self._vault.create(found.path)

    async def _show_note(self, path: str, line: int) -> None:
        """Show a note in the Vault, and add the current place to the navigation history."""
        if self.is_complete:
            self._places.push_back(self._place)
        if await self._show_completed("vault"):
            self._vault.open_note(path, line)

    @property
    def _place(self) -> Place:
        name = self.header.active
        if name == "search" and not self.search.question.is_empty:
            return self.search.place
        note = (self._vault.opening or self._vault.place) if name == "vault" else None
        return Place(name, note, partial(self._vault.open_note, *note)) if note is not None else Place(name)

    def action_view_backward(self) -> None:
        self._navigate(self._places.back(self._place) if self.is_complete else None, "There is nothing to go back to.")

    def action_view_forward(self) -> None:
        place = self._places.forward(self._place) if self.is_complete else None
        self._navigate(place, "There is nothing to go forward to.")

    def _navigate(self, place: Place | None, otherwise: str) -> None:
        if place is None:
            self.notify(otherwise, timeout=3)
        else:
            self._switch_to(place.pane, remember=False)
            place.show()

    async def _edit(self, path: str, line: int) -> None:
        """Open a note in the editor. The saved text is committed if the Vault screen has been loaded."""
        if self._no_editor:
            self.notify(self._no_editor, timeout=6)
            return
        if self.is_complete and self._vault.vault_flows is not None:
            self._vault.edit_file(path, line)
            return
        with showing_errors(self):
            await self._programs.edit(self.backend.absolute_path(path), line)

    def action_app_palette(self) -> None:
        from donna_tui.tui.shell.windows import Palette

        self.app.push_screen(Palette(self.state(), self.app.theme), self._picked)

    def action_app_theme(self) -> None:
        from donna_tui.tui.shell.windows import ThemePicker

        self.app.push_screen(ThemePicker(self.app.theme), lambda name: self._use_theme(name) if name else None)

    def _use_theme(self, name: str) -> None:
        cast("DonnaApp", self.app).pick_theme(name)

    @one_dialog("model")
    async def action_app_model(self) -> None:
        from donna_tui.tui.shell.windows import DOWNLOAD

        screen = RefusalScreen(DOWNLOAD, does="download", leaves="not now")
        if not await self.app.push_screen_wait(screen):
            return
        try:
            await self.backend.install_model()
        except DonnaError as error:
            self.notify(error_text(error), severity="error", timeout=12)

    def action_app_keys(self) -> None:
        from donna_tui.tui.shell.windows import KeyList

        self.app.push_screen(KeyList(self.state()), self._picked)

    def action_app_help(self) -> None:
        from donna_tui.tui.shell.windows import HelpScreen

        self.app.push_screen(HelpScreen(self.header.active))

    def action_app_space(self) -> None:
        self.post_message(messages.ChooseSpace())

    def action_app_suspend(self) -> None:
        self.app.action_suspend_process()

    async def action_app_quit(self) -> None:
        await self.app.run_action("leave")

    def action_copy_or_hint(self) -> None:
        """Copy the selected text, as terminals do; without a selection show the key that quits."""
        selected = self.get_selected_text()
        if selected:
            self._programs.copy(selected, "The selected text")
        else:
            self.notify(f"{anywhere_key('app.quit')} quits.", timeout=3)

    @property
    def _vault(self) -> VaultPane:
        return cast("VaultPane", self.switcher.get_child_by_id("vault"))

    @property
    def _review(self) -> ReviewPane:
        return cast("ReviewPane", self.switcher.get_child_by_id("review"))

    def show_pane(self, name: PaneName) -> None:
        if name == "search" or self.is_complete:
            self._switch_to(name)
        else:
            self.pane_is_shown.clear()
            self.run_worker(self._show_completed(name), group="panes")

    async def _show_completed(self, name: PaneName) -> bool:
        """Load the panes if necessary, and show one of them. Keys wait meanwhile. False if the app is closing."""
        self._panes_awaited += 1
        self.pane_is_shown.clear()
        try:
            await self.complete()
            if self.is_complete:
                self._switch_to(name)
            return self.is_complete
        finally:
            self._panes_awaited -= 1
            if not self._panes_awaited:
                self.pane_is_shown.set()

    def _switch_to(self, name: PaneName, *, remember: bool = True) -> None:
        left = self.header.active
        if remember and name != left and self.is_complete:
            self._places.push_back(self._place)
        if self.focused is not None and cast(Widget, self.pane) in self.focused.ancestors:
            self._left_at[left] = self.focused
        self.switcher.current = name
        self.header.active = name
        before = self._left_at.get(name) if name != left else None
        if before not in (None, self.search.bar.input) and before.is_attached and before.focusable:
            before.focus(scroll_visible=False)
        else:
            self.pane.focus_first()
        self.refresh_footer()
        self.app._refresh_notifications()

    async def _picked(self, value: str | None) -> None:
        from donna_tui.tui.shell.windows import ELSEWHERE, THEME

        if value is None:
            return
        if value.startswith(THEME):
            self._use_theme(value.removeprefix(THEME))
        elif value.startswith(ELSEWHERE):
            self._show_where(ACTIONS[value.removeprefix(ELSEWHERE)])
        else:
            await self.action_run(value)

    def _show_where(self, action: Action) -> None:
        from donna_tui.tui.shell.windows import pane_of

        pane = pane_of(action)
        if pane is not None:
            self.show_pane(pane)
            here = shown_key(action.id, typing=isinstance(self.focused, Input))
            key = here or f"esc, then {shown_key(action.id)}"
            self.notify(f"{key} does it here: {action.help}", timeout=5)

    def _jump_targets(self) -> Iterator[JumpTarget]:
        if isinstance(self.pane, HasJumpTargets):
            yield from self.pane.jump_targets()
        else:
            pane = cast(Widget, self.pane)
            yield from visible_targets(widget for widget in self.focus_chain if pane in widget.ancestors)
        for tab in self.query(Tab):
            yield JumpTarget(*tab.region.offset, go=tab.on_click)


async def _destination(backend: Backend, path: str, ref: LinkRef) -> Destination:
    """Resolve a link that is written in the note at `path`. Raises DonnaError."""
    if ref.form != "note":
        return await backend.notes.follow(path, ref.written, is_wiki=ref.form == "wiki")
    if ref.fragment:
        return await backend.notes.follow(ref.written, f"#{ref.fragment}", is_wiki=True)
    from donna_tui.types.notes import Destination

    return Destination(path=ref.written, line=ref.line)
