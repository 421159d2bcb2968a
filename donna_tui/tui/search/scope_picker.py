"""The dialog that chooses where to search."""

from __future__ import annotations

from collections.abc import Iterator

from donna_tui.tui.lib.picker import Choice, Picker
from donna_tui.tui.search.wording import Scope


class ScopePicker(Picker[Scope]):
    """A picker of the scope: everywhere, all spaces, every folder, and the sources if there is more than one."""

    def __init__(self, folders: tuple[str, ...], sources: tuple[str, ...], chosen: Scope) -> None:
        choices = [
            Choice(value=scope, title=title, mark="✓" if scope == chosen else "", section=section)
            for scope, title, section in _scopes(folders, sources, chosen)
        ]
        super().__init__("Search in", choices, placeholder="folder or source", mark_width=2)


def _scopes(folders: tuple[str, ...], sources: tuple[str, ...], chosen: Scope) -> Iterator[tuple[Scope, str, str]]:
    yield Scope(), "everything", "Everywhere"
    yield Scope(every_space=True), "everything in all spaces", "Everywhere"
    for folder in folders:
        yield Scope(folder, chosen.source), folder, "Folders"
    if len(sources) > 1:
        for source in sources:
            yield Scope(chosen.folder, source), source, "Sources"
