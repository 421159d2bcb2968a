"""The Textual app: themes, keys, the first screen, and an engine that starts after the first frame."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Callable, Iterable
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from textual import events, work
from textual.app import App, ScreenError
from textual.driver import Driver
from textual.errors import NoWidget
from textual.notifications import Notification, Notify
from textual.screen import Screen
from textual.widgets._toast import ToastHolder, ToastRack
from textual.worker import Worker, WorkerFailed

import donna_tui.tui.textual_faults  # noqa: F401
from donna_tui.platform.paths import style_sheet
from donna_tui.tui import terminal
from donna_tui.tui.lib.backend import Backend, KnownVault
from donna_tui.tui.lib.bindings import textual_keymap
from donna_tui.tui.lib.dialogs import Modal, flow_without_dialog, showing_errors
from donna_tui.tui.lib.error_messages import error_text
from donna_tui.tui.lib.external import External, ExternalPrograms
from donna_tui.tui.lib.keymap import DEFAULT_KEYMAP, Keymap, use_keys
from donna_tui.tui.lib.messages import ChooseSpace
from donna_tui.tui.shell.bars import HeaderBar
from donna_tui.tui.shell.main import MainScreen
from donna_tui.tui.themes import DARK, OWN_THEMES, fills, tones
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.search import NameMatch

if TYPE_CHECKING:  # not needed for the first frame
    from donna_tui.tui.shell.first_run import FirstRun, VaultChoice
    from donna_tui.types.notes import Edit

ListSpaces = Callable[[], Iterable[KnownVault]]
"""Lists the known spaces. Runs on a thread."""

MakeBackend: TypeAlias = "Callable[[VaultChoice | None], Backend]"
"""Builds the engine of a space. Runs on a thread after the first frame, so slow imports are allowed.

The argument is the choice of the user, or None if the space is already known. May raise DonnaError.
"""

LONGEST_WAIT_SECONDS = 2.0
"""Maximum number of seconds that a key waits for the widgets of a screen."""
LONGEST_PANE_WAIT_SECONDS = 10.0
"""Maximum number of seconds that a key waits for a pane that is still loading."""

_TURNS = 5
"""Turns of the event loop before the next key, in which workers open a dialog and messages about a selection arrive."""

_ANSWER_TURNS = 50
"""Turns of the event loop in which a dialog receives the answer from its text box and list, and closes."""

LONGEST_FLOW_SECONDS = 0.5
"""Maximum number of seconds that a key waits for the next dialog of a flow."""
_FLOW_CHECK_SECONDS = 0.005

_STYLES = ("base", "search")
"""The style sheets of the main screen's first frame; the other panes load their own."""


class DonnaApp(App[None], inherit_bindings=False):
    """The Donna app.

    `space_name` is shown in the header until the engine reports the name; with `first_run` the user is asked for a
    vault first. An unknown `theme` is replaced by the default. `external` lists the available programs; `pressed` is
    called for each key. `first_notes` are listed until the engine reports notes. `is_git_running` is asked when the app
    takes long to end.
    """

    TITLE = "Donna"
    ENABLE_COMMAND_PALETTE = False
    ESCAPE_TO_MINIMIZE = False

    def __init__(
        self,
        make_backend: MakeBackend,
        *,
        keymap: Keymap = DEFAULT_KEYMAP,
        theme: str = DARK.name,
        space_name: str = "",
        first_run: FirstRun | None = None,
        spaces: ListSpaces = tuple,
        external: External | None = None,
        pressed: Callable[[], None] = lambda: None,
        save_theme: Callable[[str], None] = lambda theme: None,
        first_notes: tuple[NameMatch, ...] = (),
        is_git_running: Callable[[], bool] = lambda: False,
    ) -> None:
        styles = _STYLES if first_run is None else (*_STYLES, "first_run")
        super().__init__(css_path=[style_sheet(name) for name in styles])
        self._make_backend = make_backend
        self._wanted_theme = theme
        self._space_name = space_name
        self._first_run = first_run
        self._spaces = spaces
        self._chosen_keymap = keymap
        self._programs = ExternalPrograms(self, external or External(in_browser=self.is_web))
        self._programs.whereabouts = self._whereabouts
        self._main: MainScreen | None = None
        self._backend: Backend | None = None
        self._opening: Worker[None] | None = None
        self._is_switching = False
        self._pressed = pressed
        self._save_theme = save_theme
        self._acted_at = 0.0
        self._messages_at: tuple[Screen[Any] | None, str] = None, ""
        self._slow_flow: Worker[None] | None = None
        self._first_notes = first_notes
        self._is_git_running = is_git_running
        self._had_terminal = terminal.has_terminal()
        self._signals = ExitStack()
        self._unsaved: tuple[Edit, ...] = ()
        self.failure: Exception | None = None
        """The error that ended the app, if any."""
        self.last_words: list[str] = []
        """Messages to print after the app has ended: the locations of unsaved edits."""
        for own in OWN_THEMES:
            self.register_theme(own)
        # The most common theme: a later change reads all style sheets again.
        self.set_reactive(App.theme, DARK.name)
        self.stylesheet.set_variables(self.get_css_variables())
        self.set_keymap(textual_keymap(keymap))

    def get_theme_variable_defaults(self) -> dict[str, str]:
        return fills(self.current_theme)

    def get_css_variables(self) -> dict[str, str]:
        return {**super().get_css_variables(), **tones(self.current_theme)}

    def get_driver_class(self) -> type[Driver]:
        found = super().get_driver_class()
        return terminal.TerminalDriver if found.__name__ == "LinuxDriver" else found

    async def on_event(self, event: events.Event) -> None:
        """Discard the character of an alt key: most terminals send it as well, and an input would insert it. Discard
        keys that were typed for an editor while it started.
        """
        if isinstance(event, events.Key | events.Paste) and not event.is_forwarded:
            await self._wait_for_pane()
            await self._wait_for_flow()
            if self._programs.has_terminal:
                return
        if isinstance(event, events.InputEvent | events.Paste):
            await self._wait_for_widgets()  # last, since a dialog may open during the other wait
        if isinstance(event, events.MouseEvent):
            self._lay_out_below(event)
        if isinstance(event, events.Key | events.MouseDown):
            self._acted_at = time.time()
        if isinstance(event, events.Key):
            self._pressed()
            if event.key.startswith("alt+"):
                event.character = None
            if await self._acts_at_once(event):
                return
        dialog = self.screen if isinstance(event, events.Key) and not event.is_printable else None
        await super().on_event(event)
        if isinstance(dialog, Modal):
            await self._wait_for_answer(dialog)

    async def _wait_for_answer(self, dialog: Modal[Any]) -> None:
        """Wait until a key such as enter in a text box has closed its dialog, if it does: letters that follow it in a
        burst are not for that box.
        """
        for _ in range(_ANSWER_TURNS):
            if self.screen is not dialog:
                return
            await asyncio.sleep(0)

    async def _wait_for_flow(self) -> None:
        """Wait until a key or answer has had its effect: a dialog that opens next gets the keys typed ahead.

        A flow that takes long, such as a download, is awaited only once.
        """
        flow = flow_without_dialog(self)
        if flow is None or flow is self._slow_flow:
            return
        deadline = time.monotonic() + LONGEST_FLOW_SECONDS
        while flow_without_dialog(self) is flow and not self._programs.has_terminal:
            if time.monotonic() > deadline:
                self._slow_flow = flow
                return
            await asyncio.sleep(_FLOW_CHECK_SECONDS)

    async def _wait_for_widgets(self) -> None:
        """Wait until a screen that was just opened has its widgets. Textual does so before the next message, unless
        that message was waiting already when a worker opened the screen.
        """
        for screen in self.screen_stack[-1:]:
            if not screen.is_mounted:
                with suppress(TimeoutError):
                    await asyncio.wait_for(screen._mounted_event.wait(), LONGEST_WAIT_SECONDS)

    @property
    def _is_typing(self) -> bool:
        return self.focused is not None and self.focused.check_consume_key("a", "a")

    async def _wait_for_pane(self) -> None:
        """Wait until the pane that was asked for is shown: keys typed after `2` would act on the pane before it.

        The wait also lets workers and messages of the key before go first, which text for a box does not need.
        """
        if self._main is not None and self.screen is self._main:
            if self._main.pane_is_shown.is_set() and self._is_typing:
                return
            try:
                await asyncio.wait_for(self._main.pane_is_shown.wait(), LONGEST_PANE_WAIT_SECONDS)
            except TimeoutError:
                self._main.pane_is_shown.set()

    def _lay_out_below(self, event: events.MouseEvent) -> None:
        """Lay out the screen before a mouse event on a widget that was removed since it was drawn: Textual would pass
        the event to that widget, and fail when it needs its parent.
        """
        with suppress(NoWidget, ScreenError):
            widget, _ = self.get_widget_at(event.x, event.y)
            if widget is not self.screen and not widget.is_attached:
                self.screen._refresh_layout()

    async def _acts_at_once(self, event: events.Key) -> bool:
        """Run the action of a key before the next key is handled. In a text box only keys with priority act at once.

        Textual lets the key bubble up first, and sends the following keys of a burst to the widget that had the focus
        before the action: the first letters typed after `/` would be lost.
        """
        if event.is_forwarded:
            return False
        is_typing = self._is_typing
        acted = await self._check_bindings(event.key, priority=True)
        acted = acted or (not is_typing and await self._check_bindings(event.key))
        for _ in range(_TURNS if acted else 0):
            await asyncio.sleep(0)
        return acted

    def on_notify(self, event: Notify) -> None:
        """Replace an equal notification, so that it is shown once, and those about the outcome of an earlier key:
        “Deleted · z undo” is no longer true once the deletion is undone. Warnings stay. The text is never markup: it
        may quote a note.
        """
        new = event.notification
        new.markup = False

        def is_replaced(old: Notification) -> bool:
            is_earlier = new.severity == "information" and self._is_earlier(old)
            return is_earlier or (old.message, old.severity) == (new.message, new.severity)

        self._end_messages(is_replaced)

    def _is_earlier(self, message: Notification) -> bool:
        """Check whether a message is about the outcome of a key before the last one."""
        return message.severity == "information" and message.raised_at < self._acted_at

    def _end_messages(self, are_over: Callable[[Notification], bool]) -> None:
        # not `list(…)`: it asks for the length, which removes expired notifications during the iteration
        for message in [each for each in self._notifications if are_over(each)]:
            self._unnotify(message, refresh=False)

    def _refresh_notifications(self) -> None:
        """Show the messages there are. Those about an earlier key end with the screen or dialog that they were for: the
        keys that they name would do something else. Where one ended early, Textual removes its text and leaves the
        widget around that in the screen for good, so that every message repeated would make each change of the focus
        slower.
        """
        bars = () if self._main is None else self._main.query(HeaderBar)  # there is none while the app starts or ends
        pane = next((bar.active for bar in bars), "")
        place = self.screen_stack[-1] if self.screen_stack else None, pane
        if place != self._messages_at:
            self._messages_at = place
            self._end_messages(self._is_earlier)
        shown = {ToastRack._toast_id(notification) for notification in self._notifications}
        for screen in self.screen_stack[-1:]:
            for holder in screen.query(ToastHolder):
                if holder.id not in shown:
                    holder.remove()
        super()._refresh_notifications()

    def on_actions_changed(self) -> None:
        """Show the changed keys of a dialog in the footer."""
        if self._main is not None:
            self._main.cover_footer()

    def on_load(self) -> None:
        """Set keys and theme before any widget exists: a later change of the theme restyles all of them."""
        use_keys(self._chosen_keymap.keys)
        self.theme = self._wanted_theme if self._wanted_theme in self.available_themes else DARK.name

    def pick_theme(self, name: str) -> None:
        self.theme = name
        with suppress(OSError):  # on a full disk it is used until the end
            self._save_theme(name)

    async def on_mount(self) -> None:
        """Show the first screen; slow work starts after it."""
        if not self.is_headless:
            self._signals.enter_context(terminal.ending_signals(self._end_by_signal))
        self.set_interval(terminal.TTY_CHECK_SECONDS, self._quit_without_terminal)
        await self._show_main(self._space_name)
        if self._first_run is None:
            self.call_after_refresh(self._chosen, None)
        else:
            self._ask_for_vault(self._first_run)
        if self.theme != self._wanted_theme:
            self.notify(f"There is no theme {self._wanted_theme!r}.", severity="warning")

    async def on_unmount(self) -> None:
        """Save unsaved text and stop the engine cleanly, however the app ends."""
        if not self.is_headless:
            asyncio.get_running_loop().call_later(terminal.SILENT_SECONDS, self._explain_wait)
        if self._main is not None:
            self._main.disconnect()
        if self._backend is not None:
            self.last_words += await terminal.save_unsaved(self._unsaved, self._backend.notes.save_edit)
        await self._close()
        self._signals.close()

    def _explain_wait(self) -> None:
        """Print that the end of the app waits for git, if it does. The screen is gone then."""
        if self._is_git_running():
            with suppress(OSError, ValueError):
                print("Waiting for git to finish …", file=sys.__stderr__, flush=True)

    def _handle_exception(self, error: Exception) -> None:
        """End the app after an unhandled error. Textual would print it with the values of all variables, which may
        contain text of notes; the caller of the app reports `failure` instead.
        """
        if self.failure is None:
            cause = error.error if isinstance(error, WorkerFailed) else error
            self.failure = cause if isinstance(cause, Exception) else error
            self._collect_unsaved()
            self._exception = error
            self._exception_event.set()
        self._close_messages_no_wait()

    def panic(self, *renderables: Any) -> None:
        """End the app when the driver fails."""
        self._handle_exception(self.failure or RuntimeError("the terminal cannot be read"))

    def _collect_unsaved(self) -> None:
        """Collect unsaved edits while their screens exist: they are removed before the app ends."""
        with suppress(Exception):
            self._unsaved = self._main.unsaved(self.screen_stack) if self._main is not None else ()

    def _end_by_signal(self, number: int) -> None:
        self._collect_unsaved()
        self.run_worker(self._shut_down(128 + number), group="leave")

    async def action_leave(self) -> None:
        if self._main is None or not self._main.holds_back():
            await self._shut_down()

    async def _quit_without_terminal(self) -> None:
        """Quit if the terminal was closed, which sends no signal to a program that leads its own session."""
        if self._had_terminal and not terminal.has_terminal():
            self._collect_unsaved()
            await self._shut_down()

    async def _shut_down(self, code: int = 0) -> None:
        """Exit; `on_unmount` stops the engine. A signal while the app is ending changes nothing."""
        if self._exit:
            return
        if self._main is not None:
            with suppress(TimeoutError):
                async with asyncio.timeout(terminal.LONGEST_LEAVE_SECONDS if code else None):
                    await self._main.shut_down()
        self.exit(return_code=code)

    def _chosen(self, choice: VaultChoice | None) -> None:
        self._opening = self._open(choice)

    @work(group="spaces")
    async def on_choose_space(self, event: ChooseSpace) -> None:
        """Offer the known spaces, and switch to the chosen one; only one switch runs at a time."""
        if self._is_switching or self._main is None:
            return
        self._is_switching = True
        try:
            with showing_errors(self):
                await self._switch(self._main)
        finally:
            self._is_switching = False

    async def _switch(self, main: MainScreen) -> None:
        from donna_tui.tui.shell.windows import SpacePicker

        known = await asyncio.to_thread(lambda: tuple(self._spaces()))
        chosen = await self.push_screen_wait(SpacePicker(known, main.here))
        if chosen is None or main.holds_back("app.space"):
            return
        if self._opening is not None:
            await self._opening.wait()
        await main.shut_down()
        await self._show_main(chosen.space or chosen.root.name)  # callers of the old engine are removed before it stops
        await self._close()
        self._opening = self._open(chosen)

    async def _show_main(self, space: str) -> None:
        while self._main in self.screen_stack:
            await self.pop_screen()
        self._main = MainScreen(self._programs, space, self._first_notes)
        self._first_notes = ()
        await self.push_screen(self._main)

    async def _close(self) -> None:
        if self._backend is not None:
            backend, self._backend = self._backend, None
            await backend.stop()

    @work(group="engine", exclusive=True)
    async def _open(self, choice: VaultChoice | None) -> None:
        try:
            try:
                self._backend = await asyncio.to_thread(self._make_backend, choice)
            except DonnaError as error:
                if self._prompt_again(choice, error):
                    return
                raise
            if self._main is not None:
                self._main.listen(self._backend)
            await self._backend.start()
        except DonnaError as error:
            self._cannot_open(error)
        except ImportError as error:
            message = f"Donna is not installed completely: {error.name or 'a part'} cannot be loaded."
            self._cannot_open(DonnaError(Reason.INTERNAL, message, hint="Reinstall Donna."))
        else:
            if self._main is not None:
                self._main.connect(self._backend)

    async def _whereabouts(self, path: Path) -> str:
        """Explain what happened to a missing file of this vault; empty if this is unknown."""
        with suppress(DonnaError, ValueError):
            if self._backend is not None:
                relative = path.relative_to(self._backend.status().root)
                return await self._backend.notes.whereabouts(relative.as_posix())
        return ""

    def _prompt_again(self, choice: VaultChoice | None, error: DonnaError) -> bool:
        """Prompt for a vault again if the first one cannot be used, with the typed text and the reason."""
        if self._first_run is None or choice is None or choice.space or self._is_switching:
            return False
        self._ask_for_vault(self._first_run, typed="" if choice.is_demo else str(choice.root), reason=error_text(error))
        return True

    def _ask_for_vault(self, offer: FirstRun, *, typed: str = "", reason: str = "") -> None:
        from donna_tui.tui.shell.first_run import FirstRunScreen

        self.push_screen(FirstRunScreen(offer, typed=typed, reason=reason), self._chosen)

    def _cannot_open(self, error: DonnaError) -> None:
        if self._main is not None:
            self._main.cannot_open(error)
