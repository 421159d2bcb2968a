"""List the panes of the main screen."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class PaneEntry:
    """A pane: its name, which is also the context of its actions, and the class that is imported on first use.

    The class is created with the external programs. Its package may have a `help.md`, and `styles/` a
    style sheet of this name. `has_input` adds the context `<name>.input`, whose keys act while the user types.
    """

    name: str
    title: str
    keys: tuple[str, ...]
    module: str
    widget: str
    has_input: bool = False

    @property
    def action(self) -> str:
        return f"view.{self.name}"

    @property
    def contexts(self) -> tuple[str, ...]:
        return (self.name, f"{self.name}.input") if self.has_input else (self.name,)


def _entry(name: str, number: int, *, has_input: bool = False) -> PaneEntry:
    title = name.capitalize()
    return PaneEntry(
        name=name,
        title=title,
        keys=(str(number), f"alt+{number}"),
        module=f"donna_tui.tui.{name}.pane",
        widget=f"{title}Pane",
        has_input=has_input,
    )


PANES: dict[str, PaneEntry] = {
    entry.name: entry
    for entry in (
        _entry("search", 1, has_input=True),
        _entry("vault", 2, has_input=True),
        _entry("review", 3),
        _entry("meetings", 4),
        _entry("memory", 5, has_input=True),
        _entry("activity", 6),
    )
}
"""The panes by name, in the order of the tabs. The first one is part of the first frame."""
