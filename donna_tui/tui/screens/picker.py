"""A dialogue to pick one thing by typing part of its name: actions, keys, folders, themes."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import ClassVar, Generic, TypeVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content
from textual.getters import query_one
from textual.screen import ModalScreen
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from donna_tui.records import dataclass
from donna_tui.safety.terminal import clean_line
from donna_tui.text.fuzzy import Match, fuzzy_match
from donna_tui.tui.bindings import action_binding
from donna_tui.tui.widgets.line_input import LineInput

T = TypeVar("T")
MOST_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Choice(Generic[T]):
    """Something to pick. `mark` stands before it, `note` after it; `objection` says why it is not possible now."""

    value: T
    title: str
    note: str = ""
    mark: str = ""
    section: str = ""
    objection: str = ""


class Picker(ModalScreen[T | None], Generic[T]):
    """Choices in sections, narrowed while one types. Enter or a click picks, escape leaves."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape", "dismiss(None)", show=False),
        Binding("down,ctrl+n", "move('cursor_down')", show=False),
        Binding("up,ctrl+p", "move('cursor_up')", show=False),
        Binding("pagedown", "move('page_down')", show=False),
        Binding("pageup", "move('page_up')", show=False),
        action_binding("app.quit", "app.leave"),
    ]

    options = query_one(OptionList)

    def __init__(self, title: str, choices: Iterable[Choice[T]], *, placeholder: str, mark_width: int = 0) -> None:
        super().__init__(classes="dialogue")
        self._title = title
        self._choices = tuple(choices)
        self._placeholder = placeholder
        self._mark_width = mark_width
        self._shown: list[Choice[T] | None] = []

    def compose(self) -> ComposeResult:
        with Vertical(classes="picker-box") as box:
            box.border_title = Content(self._title)
            yield LineInput(placeholder=self._placeholder, compact=True)
            yield OptionList(markup=False, compact=True)
            yield Static(classes="picker-objection")

    def on_mount(self) -> None:
        self.options.can_focus = False
        self._narrow("")

    def on_input_changed(self, event: Input.Changed) -> None:
        event.stop()
        self._narrow(event.value)

    def on_input_submitted(self, event: Input.Submitted) -> None:
        event.stop()
        self.options.action_select()

    def on_option_list_option_highlighted(self, event: OptionList.OptionHighlighted) -> None:
        event.stop()
        choice = self._shown[event.option_index]
        self._object(choice.objection if choice is not None else "")

    def on_option_list_option_selected(self, event: OptionList.OptionSelected) -> None:
        event.stop()
        choice = self._shown[event.option_index]
        if choice is not None and not choice.objection:
            self.dismiss(choice.value)

    def on_click(self, event: events.Click) -> None:
        """A click beside the dialogue leaves it."""
        if event.widget is self:
            self.dismiss(None)

    def action_move(self, how: str) -> None:
        """Move the selection while the input keeps the focus."""
        getattr(self.options, f"action_{how}")()

    def _narrow(self, query: str) -> None:
        found = matching(query, self._choices)[:MOST_SHOWN]
        options: list[Option] = []
        self._shown = []
        section = ""
        for choice, match in found:
            if choice.section != section and not query.strip():
                section = choice.section
                self._shown.append(None)
                options.append(Option(Content.styled(section, "$text-disabled bold"), disabled=True))
            self._shown.append(choice)
            options.append(Option(self._row(choice, match)))
        self.options.set_options(options)
        first = next((place for place, choice in enumerate(self._shown) if choice is not None), None)
        self.options.highlighted = first
        self._object("" if found else "Nothing of that name.")

    def _row(self, choice: Choice[T], match: Match) -> Content:
        title = Content(clean_line(choice.title))
        if len(title) == len(choice.title):
            for place in match.places:
                title = title.stylize("bold $accent", place, place + 1)
        mark = clean_line(choice.mark).ljust(self._mark_width)
        row = Content.assemble((mark, "$text-disabled" if choice.objection else "$accent"), title)
        note = Content.styled(f"  {clean_line(choice.note)}" if choice.note else "", "$text-muted")
        whole = Content.assemble(row, note)
        return whole.stylize("$text-disabled") if choice.objection else whole

    def _object(self, text: str) -> None:
        label = self.query_one(".picker-objection", Static)
        label.update(Content(text))
        label.display = bool(text)


def matching(query: str, choices: Sequence[Choice[T]]) -> list[tuple[Choice[T], Match]]:
    """The choices whose title matches, best first; all of them in their own order for an empty query."""
    found = [(choice, match) for choice in choices if (match := fuzzy_match(query, choice.title)) is not None]
    return sorted(found, key=lambda item: -item[1].score) if query.strip() else found
