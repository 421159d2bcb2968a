"""Picks the space to go on with."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from donna_tui.tui.backend import KnownVault
from donna_tui.tui.first_run import VaultChoice, why_not_a_vault
from donna_tui.tui.screens.picker import Choice, Picker

HERE = "This is the space that is open."


class SpacePicker(Picker[VaultChoice]):
    """Every space that Donna knows, by name; `here` are name and root of the one that is open."""

    def __init__(self, known: Iterable[KnownVault], here: tuple[str, str]) -> None:
        super().__init__("Spaces", space_choices(known, here), placeholder="the name of a space", mark_width=2)


def space_choices(known: Iterable[KnownVault], here: tuple[str, str]) -> Iterator[Choice[VaultChoice]]:
    """A row for each, the open one last; it and those whose folder is gone cannot be picked."""
    for vault in sorted(known, key=lambda each: (each.name, str(each.root)) == here):
        is_here = (vault.name, str(vault.root)) == here
        yield Choice(
            value=VaultChoice(vault.root, space=vault.space),
            title=vault.name,
            note=f"{vault.source} · {vault.root}",
            mark="•" if is_here else "",
            objection=HERE if is_here else why_not_a_vault(vault.root),
        )
