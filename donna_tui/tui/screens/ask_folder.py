"""Picks the folder that notes are moved to, or names a new one."""

from __future__ import annotations

from collections.abc import Iterable

from donna_tui.text.fuzzy import Match
from donna_tui.tui.screens.picker import Choice, Picker

TOP = "the top of the vault"


class AskFolder(Picker[str]):
    """Every folder, by letters of its path, and a new one. Answers with a path; the top of the vault is empty."""

    def __init__(self, title: str, folders: Iterable[str]) -> None:
        choices = [Choice(value="", title=TOP), *(Choice(value=path, title=path) for path in folders)]
        super().__init__(title, choices, placeholder="letters of a folder, or a new one")

    def found(self, query: str) -> list[tuple[Choice[str], Match]]:
        typed = query.strip().strip("/")
        found = super().found(query)
        if typed and all(each.value != typed for each in self.choices):
            found.append((Choice(value=typed, title=typed, note="a new folder"), Match(0.0, ())))
        return found
