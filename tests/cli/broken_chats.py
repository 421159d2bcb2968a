"""Run `donna` with a fault that prevents indexing chats: `python -m tests.cli.broken_chats VERB …`."""

from __future__ import annotations

from donna_tui.__main__ import main
from donna_tui.embedding import files
from donna_tui.memory import deriver


def broken(*_: object) -> str:
    """Raise an unexpected error."""
    raise RuntimeError("a fault")


if __name__ == "__main__":
    files.find_weights = lambda: None
    deriver.title_of = broken
    main()
