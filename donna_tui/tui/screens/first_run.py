"""The first start: which notes are yours?"""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.backend import KnownVault
from donna_tui.tui.bindings import action_binding
from donna_tui.tui.first_run import FirstRun, VaultChoice, typed_path, why_not_a_vault
from donna_tui.tui.widgets.line_input import LineInput
from donna_tui.tui.widgets.modal import ClosesOnce

_PROMISE = (
    "Donna searches the Markdown notes in one folder and below it. She only reads them: "
    "her index is kept elsewhere, nothing leaves this machine, and nothing in the folder changes."
)


class PathInput(LineInput):
    """An input for a path; dropping a folder onto it pastes its path."""

    LONGEST_PASTE = 4_096


class FirstRunScreen(ClosesOnce[VaultChoice]):
    """Offers the vaults that Obsidian knows, any folder by its path, and the demo vault. Gives back the choice."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("j", "move('cursor_down')", show=False),
        Binding("k", "move('cursor_up')", show=False),
        Binding("/", "type", show=False),
        action_binding("app.quit", "app.leave"),
    ]

    def __init__(self, offer: FirstRun) -> None:
        super().__init__(id="first-run")
        self._offer = offer
        self._choices = [
            *(VaultChoice(vault.root) for vault in offer.known),
            *([VaultChoice(offer.demo_folder, is_demo=True)] if offer.demo_folder is not None else []),
        ]

    def compose(self) -> ComposeResult:
        with Vertical(id="first-run-box"):
            yield Static(
                Content.assemble(("Donna", "bold $accent"), "  the memory of your vault"), id="first-run-title"
            )
            yield Static(Content.styled(_PROMISE, "$text-muted"), id="first-run-promise")
            if self._choices:
                yield Static(Content.styled("Open", "bold"), classes="first-run-label")
                yield OptionList(*map(Option, self._rows()), markup=False, compact=True, id="first-run-list")
            label = "Or the folder with your notes" if self._choices else "The folder with your notes"
            yield Static(Content.styled(label, "bold"), classes="first-run-label")
            yield PathInput(placeholder="~/Documents/notes", compact=True, id="first-run-path")
            yield Static(id="first-run-reason")
            yield Static(self._keys(), id="first-run-keys")

    def on_mount(self) -> None:
        self.query_one("#first-run-list" if self._choices else "#first-run-path").focus()

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        choice = self._choices[event.option_index]  # this list never changes
        reason = "" if choice.is_demo else why_not_a_vault(choice.root)
        self._answer(choice, reason)

    def on_input_changed(self, event: Input.Changed) -> None:
        path = typed_path(event.value)
        self._say(why_not_a_vault(path) if path is not None else "", is_error=False)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        path = typed_path(event.value)
        if path is None:
            self._say("Type the path of a folder, for example ~/Documents/notes.", is_error=True)
        else:
            self._answer(VaultChoice(path), why_not_a_vault(path))

    def action_move(self, how: str) -> None:
        """Move in the list, when it has the focus."""
        if isinstance(self.focused, OptionList):
            getattr(self.focused, f"action_{how}")()

    def action_type(self) -> None:
        """Begin to type a path."""
        self.query_one("#first-run-path").focus()

    def _answer(self, choice: VaultChoice, reason: str) -> None:
        if reason:
            self._say(reason, is_error=True)
        else:
            self.dismiss(choice)

    def _say(self, text: str, *, is_error: bool) -> None:
        style = "$text-error" if is_error else "$text-muted"
        self.query_one("#first-run-reason", Static).update(Content.styled(clean_line(text), style))

    def _rows(self) -> list[Content]:
        rows = [_vault_row(vault) for vault in self._offer.known]
        if self._offer.demo_folder is not None:
            place = clean_line(str(self._offer.demo_folder))
            rows.append(Content.assemble("A demo vault", (f"  to look around, made in {place}", "$text-muted")))
        return rows

    def _keys(self) -> Content:
        keys = (("↵", "open"), ("tab", "next"), ("ctrl+q", "leave"))
        return Content("  ").join(Content.assemble((key, "$accent"), f" {does}") for key, does in keys)


def _vault_row(vault: KnownVault) -> Content:
    missing = "  not there any more" if why_not_a_vault(vault.root) else ""
    where = f"  {clean_line(str(vault.root))} · {clean_line(vault.source)}"
    return Content.assemble(clean_line(vault.name), (missing, "$text-warning"), (where, "$text-muted"))
