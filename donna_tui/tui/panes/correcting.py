"""Saying that something is wrong, and what is right: the same from Search and from the Memory screen."""

from __future__ import annotations

from typing import Any

from textual.app import App

from donna_tui.errors import DonnaError
from donna_tui.memories import MemorySource
from donna_tui.tui.backend import MemoryBackend
from donna_tui.tui.keysheet import Keys
from donna_tui.tui.refusals import told


def becomes_of(source: MemorySource) -> str:
    """What a correction of something of this source does."""
    if source is MemorySource.MEMORY:
        return "Donna says it this way from now on; what it said before is kept in the correction."
    if source in (MemorySource.VAULT, MemorySource.TASK):
        return "It is kept as a correction beside the note. The note itself stays as it is."
    return "It is kept as a correction; what was said stays as it was said."


async def correct(
    app: App[Any],
    desk: MemoryBackend,
    keys: Keys,
    *,
    identity: str,
    text: str,
    citation: str,
    becomes: str,
    query: str = "",
) -> bool:
    """Ask what is right, and store it. Whether it was stored; what fails is said."""
    from donna_tui.tui.screens.correct import CorrectScreen

    right = await app.push_screen_wait(CorrectScreen(citation, text, becomes, keys))
    if right is None:
        return False
    try:
        await desk.correct(identity, right, query=query, original=text)
    except DonnaError as error:
        app.notify(f"Not stored: {told(error)}", severity="error", timeout=8, markup=False)
        return False
    app.notify("The correction is stored.", timeout=3, markup=False)
    return True
