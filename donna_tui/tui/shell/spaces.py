"""Choose the space to open, or add one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import ClassVar

from textual import work
from textual.binding import Binding, BindingType
from textual.widgets import Input

from donna_tui.text.fuzzy import FuzzyMatch
from donna_tui.tui.lib.backend import KnownVault
from donna_tui.tui.lib.picker import Choice, Picker
from donna_tui.tui.shell.first_run import VaultChoice, complete_path, typed_path, what_is_wrong, why_not_a_vault

HERE = "This is the space that is open."


class SpacePicker(Picker[VaultChoice]):
    """The spaces by name; `here` are name and root of the open one.

    A path that is typed adds the folder there; tab completes it as a shell does.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("tab", "complete", show=False, priority=True)]

    def __init__(self, known: Iterable[KnownVault], here: tuple[str, str]) -> None:
        choices = space_choices(known, here)
        super().__init__("Spaces", choices, placeholder="the name of a space, or the path of a folder", mark_width=2)

    def found(self, query: str) -> list[tuple[Choice[VaultChoice], FuzzyMatch]]:
        path = typed_path(query) if is_path(query) else None
        if path is None:
            return super().found(query)
        known = [choice for choice in self.choices if choice.value.root == path]
        added = Choice(
            value=VaultChoice(path), title=f"Add {path}", note="a new space", mark="+", objection=what_is_wrong(path)
        )
        return [(space, FuzzyMatch(0.0, ())) for space in known or [added]]

    @work(group="complete", exclusive=True)
    async def action_complete(self) -> None:
        field = self.query_one(Input)
        if is_path(field.value):
            await complete_path(field, field.value)


def is_path(text: str) -> bool:
    return text.strip().startswith(("/", "~", "./", "../"))


def space_choices(known: Iterable[KnownVault], here: tuple[str, str]) -> Iterator[Choice[VaultChoice]]:
    """Return a choice for each space, the open one last; it and spaces with a missing folder cannot be picked."""
    for vault in sorted(known, key=lambda each: (each.name, str(each.root)) == here):
        is_here = (vault.name, str(vault.root)) == here
        yield Choice(
            value=VaultChoice(vault.root, space=vault.space),
            title=vault.name,
            note=f"{vault.source} · {vault.root}",
            mark="•" if is_here else "",
            objection=HERE if is_here else why_not_a_vault(vault.root),
        )
