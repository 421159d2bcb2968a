"""Run `donna` with an app that fails when F9 is pressed: `python -m tests.tui.crashing_app VAULT`."""

from __future__ import annotations

from textual import events

from donna_tui.__main__ import main
from donna_tui.embedding import files
from donna_tui.tui.app import DonnaApp


async def fail_at_f9(app: DonnaApp, event: events.Key) -> None:
    if event.key == "f9":
        raise IndexError("the text of a private note")


if __name__ == "__main__":
    files.find_weights = lambda: None
    DonnaApp._on_key = fail_at_f9  # type: ignore[assignment]
    main()
