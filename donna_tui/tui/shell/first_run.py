"""Prompt for the folder of the notes at the first start."""

from __future__ import annotations

import asyncio
import difflib
import os
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import islice
from pathlib import Path
from typing import ClassVar

from textual import events, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.message import Message
from textual.widgets import Input, OptionList, Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.backend import KnownVault
from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.dialogs import ClosesOnce
from donna_tui.tui.lib.inputs import LineInput, ValueOption


@dataclass(frozen=True, slots=True)
class FirstRun:
    """The options of the first-run screen: the vaults that Obsidian knows, and the folder of a demo vault."""

    known: tuple[KnownVault, ...] = ()
    demo_folder: Path | None = None


@dataclass(frozen=True, slots=True)
class VaultChoice:
    """The choice of the user: a folder with notes, the demo vault at its folder, or the space of this name."""

    root: Path
    is_demo: bool = False
    space: str = ""


def why_not_a_vault(root: Path) -> str:
    """Explain why a folder cannot be used as a vault; empty if it can."""
    if not root.exists():
        return "There is no such folder."
    if not root.is_dir():
        return "This is a file; Donna needs the folder that contains your notes."
    if not os.access(root, os.R_OK | os.X_OK):
        return "Permission denied: this folder cannot be read."
    return ""


MAX_LISTED = 5_000
"""Entries of a folder that are searched for a completion or a suggestion."""


def what_is_wrong(root: Path) -> str:
    """Explain why a folder cannot be used as a vault, which part of its path is missing, and suggest a similar name."""
    reason = why_not_a_vault(root)
    if not reason or root.exists():
        return reason
    there = next((parent for parent in root.parents if parent.is_dir()), None)
    if there is None:
        return reason
    missing = root.relative_to(there).parts[0]
    near = difflib.get_close_matches(missing, _folders(there, hidden=missing.startswith(".")), 1)
    meant = f" Did you mean “{near[0]}”?" if near else ""
    return f"{reason} {clean_line(str(there))} contains no “{clean_line(missing)}”.{meant}"


@dataclass(frozen=True, slots=True)
class Completion:
    """A typed path, completed as far as it is unambiguous, and the names of the possible folders."""

    text: str
    names: tuple[str, ...] = ()


def completed(text: str) -> Completion:
    """Complete the last part of a typed path as a shell does: only folders, hidden ones after a dot, and
    case-insensitively if nothing else matches.
    """
    if text.strip() == "~":
        return Completion("~/")
    head, slash, begun = text.rpartition("/")
    folder = typed_path(head + slash if slash else ".")
    if folder is None:
        return Completion(text)
    names = list(_folders(folder, hidden=begun.startswith(".")))
    found = [name for name in names if name.startswith(begun)]
    found = sorted(found or [name for name in names if name.casefold().startswith(begun.casefold())])
    if not found:
        return Completion(text)
    common = os.path.commonprefix(found)  # noqa: RUF071 - the names of one folder
    certain = f"{common}/" if len(found) == 1 else common if len(common) >= len(begun) else begun
    return Completion(f"{head}{slash}{certain}", tuple(found) if len(found) > 1 else ())


async def complete_path(field: Input, typed: str) -> Completion | None:
    """Complete the path typed in an input, on a thread as the disk may be slow; None if it was edited meanwhile."""
    found = await asyncio.to_thread(completed, typed)
    if field.value != typed:
        return None
    if found.text != typed:
        field.value = found.text
        field.cursor_position = len(found.text)
    return found


def _folders(folder: Path, *, hidden: bool) -> Iterator[str]:
    """Return the names of the printable folders in a folder; none if it cannot be read."""
    try:
        with os.scandir(folder) as entries:
            for entry in islice(entries, MAX_LISTED):
                if entry.name.startswith(".") == hidden and clean_line(entry.name) == entry.name and entry.is_dir():
                    yield entry.name
    except OSError:
        return


def typed_path(text: str) -> Path | None:
    """Convert typed text to an absolute path, with `~` expanded; None if it is empty or names an unknown user."""
    stripped = text.strip().strip("\"'")
    if not stripped or "\0" in stripped:
        return None
    try:
        return Path(stripped).expanduser().absolute()
    except RuntimeError:
        return None


_ABOUT = (
    "Donna searches the Markdown notes in a folder and its subfolders. The index is stored elsewhere on this machine."
)
_PROMISE = "Opening a folder changes nothing in it."
_MAX_NAMES = 12


class PathInput(LineInput):
    """An input for a path; tab completes it, and dropping a folder onto it pastes its path."""

    LONGEST_PASTE = 4_096
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("tab", "complete", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def action_complete(self) -> None:
        if self.value.strip() and self.cursor_position == len(self.value):
            self._complete(self.value)
        else:
            self.screen.focus_next()

    @work(group="complete", exclusive=True)
    async def _complete(self, typed: str) -> None:
        if found := await complete_path(self, typed):
            self.post_message(self.Completed(found.names))

    @dataclass
    class Completed(Message):
        """A path is completed as far as it is unambiguous; `names` are the possible folders."""

        names: tuple[str, ...]


class FirstRunScreen(ClosesOnce[VaultChoice]):
    """Offer the vaults that Obsidian knows, any folder by its path, and the demo vault. Returns the choice."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move('cursor_down')", show=False),
        Binding("k", "move('cursor_up')", show=False),
        Binding("/", "type('/')", show=False),
        Binding("~", "type('~')", show=False),
        action_binding("app.quit", "app.leave"),
    ]

    VERTICAL_BREAKPOINTS = [(0, "-low"), (22, "-tall")]  # noqa: RUF012

    def __init__(self, offer: FirstRun, *, typed: str = "", reason: str = "") -> None:
        super().__init__(classes="first-run")
        self._typed, self._reason = typed, reason
        self._choices = [ValueOption(_vault_row(vault), VaultChoice(vault.root)) for vault in offer.known]
        if offer.demo_folder is not None:
            place = clean_line(str(offer.demo_folder))
            row = Content.assemble("A demo vault", (f"  to try Donna, created in {place}", "$text-muted"))
            self._choices.append(ValueOption(row, VaultChoice(offer.demo_folder, is_demo=True)))

    def compose(self) -> ComposeResult:
        with Vertical(id="first-run-box"):
            yield Static(Content.assemble(("Donna", "bold $accent"), "  the memory of your vault"))
            yield Static(Content.styled(_ABOUT, "$text-muted"), id="first-run-about")
            yield Static(Content(_PROMISE), id="first-run-promise")
            if self._choices:
                yield Static(Content.styled("Open", "bold"), classes="first-run-label")
                yield OptionList(*self._choices, markup=False, compact=True, id="first-run-list")
            label = "Or the folder with your notes" if self._choices else "The folder with your notes"
            yield Static(Content.styled(label, "bold"), classes="first-run-label")
            yield PathInput(
                self._typed, placeholder="~/Documents/notes", compact=True, select_on_focus=False, id="first-run-path"
            )
            yield Static(id="first-run-reason")
            yield Static(self._keys(), id="first-run-keys")

    def on_mount(self) -> None:
        self.query_one("#first-run-list" if self._choices and not self._typed else "#first-run-path").focus()
        if self._reason:
            self.call_after_refresh(self._show_reason, self._reason, is_error=True)

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        choice = self._choices[event.option_index].value  # this list never changes
        reason = "" if choice.is_demo else what_is_wrong(choice.root)
        self._answer(choice, reason)

    def on_input_changed(self, event: Input.Changed) -> None:
        path = typed_path(event.value)
        self._show_reason(why_not_a_vault(path) if path is not None else "", is_error=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        path = typed_path(event.value)
        if path is None:
            self._show_reason("Type the path of a folder, for example ~/Documents/notes.", is_error=True)
        else:
            self._answer(VaultChoice(path), what_is_wrong(path))

    def on_path_input_completed(self, event: PathInput.Completed) -> None:
        event.stop()
        names = event.names
        more = f"  … {len(names) - _MAX_NAMES} more" if len(names) > _MAX_NAMES else ""
        if names:
            self._show_reason("  ".join(f"{name}/" for name in names[:_MAX_NAMES]) + more, is_error=False)

    def action_move(self, how: str) -> None:
        if isinstance(self.focused, OptionList):
            getattr(self.focused, f"action_{how}")()

    def action_type(self, text: str) -> None:
        """Begin to type a path, from the list."""
        field = self.query_one(PathInput)
        field.focus()
        field.insert_text_at_cursor(text)

    def on_paste(self, event: events.Paste) -> None:
        field = self.query_one(PathInput)
        field.focus()
        field.on_paste(event)

    def _answer(self, choice: VaultChoice, reason: str) -> None:
        if reason:
            self._show_reason(reason, is_error=True)
        else:
            self.dismiss(choice)

    def _show_reason(self, text: str, *, is_error: bool) -> None:
        style = "$text-error" if is_error else "$text-muted"
        self.query_one("#first-run-reason", Static).update(Content.styled(clean_line(text), style))

    def _keys(self) -> Content:
        keys = (("↵", "open"), ("tab", "complete"), ("shift+tab", "back"), ("ctrl+q", "quit"))
        return Content("  ").join(Content.assemble((key, "$accent"), f" {does}") for key, does in keys)


def _vault_row(vault: KnownVault) -> Content:
    missing = "  no longer there" if why_not_a_vault(vault.root) else ""
    where = f"  {clean_line(str(vault.root))} · {clean_line(vault.source)}"
    return Content.assemble(clean_line(vault.name), (missing, "$text-warning"), (where, "$text-muted"))
