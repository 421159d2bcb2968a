"""A dialog to pick an item by typing part of its name: actions, keys, folders, themes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from donna_tui.safety.terminal import clean_line
from donna_tui.text.fuzzy import FuzzyMatch, fuzzy_match
from donna_tui.tui.lib.bindings import action_binding
from donna_tui.tui.lib.dialogs import Modal
from donna_tui.tui.lib.inputs import LineInput, OptionRows, ValueOption, show_label

T = TypeVar("T")
MAX_SHOWN = 200
SHARE, AROUND, NOTE = 0.85, 6, 3
"""The maximum share of the height for a picker and its margin, the number of those lines outside the list, and the
lines reserved for the note of the selected row.
"""

_PADDING = 2
"""Cells of a row of the list that are empty."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Generic[T]):
    """Something to pick. `mark` precedes it, `note` follows it; `objection` is the reason why it is unavailable."""

    value: T
    title: str
    note: str = ""
    mark: str = ""
    section: str = ""
    objection: str = ""


class ListDialog(Modal[T], Generic[T]):
    """A list whose selection is moved while the focus stays in the input above it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("down,ctrl+n", "move('cursor_down')", show=False),
        Binding("up,ctrl+p", "move('cursor_up')", show=False),
        Binding("pagedown", "move('page_down')", show=False),
        Binding("pageup", "move('page_up')", show=False),
        action_binding("app.quit", "app.leave"),
    ]

    options = query_one(OptionRows)

    def action_move(self, how: str) -> None:
        getattr(self.options, f"action_{how}")()


class Picker(ListDialog[T], Generic[T]):
    """Choices in sections, filtered while typing. Enter or a click picks, escape closes."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("escape", "dismiss(None)", show=False)]
    footer_keys = (("↵", "choose"), ("↑↓", "select"), ("pgup pgdn", "a page"), ("esc", "cancel"))

    def __init__(self, title: str, choices: Iterable[Choice[T]], *, placeholder: str, mark_width: int = 0) -> None:
        super().__init__(classes="dialog")
        self._title = title
        self.choices = tuple(choices)
        self._placeholder = placeholder
        self._mark_width = mark_width

    def compose(self) -> ComposeResult:
        with Vertical(classes="picker-box") as box:
            box.border_title = Content(self._title)
            yield LineInput(placeholder=self._placeholder, compact=True)
            yield OptionRows(markup=False, compact=True)
            yield Static(classes="picker-objection")

    def on_mount(self) -> None:
        self.options.can_focus = False
        self._narrow("")

    @property
    def _room(self) -> int:
        """Return the number of lines for the list and the note of the selected row."""
        return int(self.size.height * SHARE) - AROUND

    @property
    def _shows_notes(self) -> bool:
        return self._room > 3 * NOTE

    def on_resize(self) -> None:
        """Set the height of the list to the available room, so that the selection is never below the edge."""
        self.options.styles.max_height = max(3, self._room - NOTE * self._shows_notes)
        self.call_after_refresh(self._show_more)

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._narrow(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.options.action_select()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        """Say more about the highlighted choice; ignore a row that is no longer highlighted."""
        event.stop()
        if event.option is self.options.highlighted_option:
            self._show_more()

    def _show_more(self) -> None:
        """Show why the highlighted choice is not possible, or else its note if the row has no room for it."""
        if not (self.query(OptionRows) and self.query(".picker-objection")):  # closed before the screen was drawn
            return
        option = self.options.highlighted_option
        if isinstance(option, ValueOption):
            choice: Choice[T] = option.value
            is_cut = 0 < self.options.scrollable_content_region.width - _PADDING < self._row(choice).cell_length
            self._object(choice.objection or (clean_line(choice.note) if is_cut and self._shows_notes else ""))

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        """Pick the choice of the row, which may have been removed from the list since it was clicked."""
        event.stop()
        if isinstance(event.option, ValueOption) and not event.option.value.objection:
            self.dismiss(event.option.value.value)

    def found(self, query: str) -> list[tuple[Choice[T], FuzzyMatch]]:
        return matching(query, self.choices)

    def _narrow(self, query: str) -> None:
        found = self.found(query)[:MAX_SHOWN]
        options: list[Option] = []
        section = ""
        for choice, match in found:
            if choice.section != section and not query.strip():
                section = choice.section
                options.append(Option(Content.styled(section, "$text-disabled bold"), disabled=True))
            options.append(ValueOption(self._row(choice, match.places), choice))
        self.options.set_options(options)
        places = (place for place, option in enumerate(options) if isinstance(option, ValueOption))
        self.options.highlighted = next(places, None)
        if found:
            self._show_more()
        else:
            self._object("Nothing matches.")

    def _row(self, choice: Choice[T], places: Iterable[int] = ()) -> Content:
        title = highlighted(choice.title, places)
        mark = clean_line(choice.mark).ljust(self._mark_width)
        row = Content.assemble((mark, "$text-disabled" if choice.objection else "$accent"), title)
        note = Content.styled(f"  {clean_line(choice.note)}" if choice.note else "", "$text-muted")
        whole = Content.assemble(row, note)
        return whole.stylize("$text-disabled") if choice.objection else whole

    def _object(self, text: str) -> None:
        show_label(self.query_one(".picker-objection", Static), Content(text))


def highlighted(name: str, places: Iterable[int]) -> Content:
    """Highlight the characters at these places of a name, unless it was changed when it was sanitised."""
    content = Content(clean_line(name))
    for place in places if len(content) == len(name) else ():
        content = content.stylize("bold $accent", place, place + 1)
    return content


def matching(query: str, choices: Sequence[Choice[T]]) -> list[tuple[Choice[T], FuzzyMatch]]:
    """Return the choices whose title matches, best first, then those whose key or explanation contains the query; all
    of them in their own order for an empty query.
    """
    words = query.strip().casefold()
    found: list[tuple[Choice[T], FuzzyMatch]] = []
    others: list[tuple[Choice[T], FuzzyMatch]] = []
    for choice in choices:
        if (match := fuzzy_match(query, choice.title)) is not None:
            found.append((choice, match))
        elif words in choice.mark.casefold().split() or words in choice.note.casefold():
            others.append((choice, FuzzyMatch(0.0, ())))
    return [*sorted(found, key=lambda item: -item[1].score), *others] if words else found
