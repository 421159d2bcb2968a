"""Small widgets: a one-line input, the keys of a dialog, a notice, tabs, option lists, and a progress bar."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import ClassVar, Generic, TypeVar

from rich.cells import cell_len
from textual import events
from textual.actions import SkipAction
from textual.binding import Binding, BindingType
from textual.content import Content
from textual.dom import DOMNode
from textual.geometry import Region, Size
from textual.message import Message
from textual.reactive import Reactive, reactive
from textual.widget import Widget
from textual.widgets import Input, OptionList, Static
from textual.widgets.option_list import Option

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.actions import ACTIONS
from donna_tui.tui.lib.error_messages import refusal_of
from donna_tui.tui.lib.keymap import anywhere_key, shown_key
from donna_tui.types.errors import DonnaError


async def run_key(field: Widget, event: events.Key, *nodes: DOMNode) -> None:
    """Run the action that a key has in one of the nodes, before the next key: through the app it would run after
    letters that were typed later. A key without an effect, such as copy without a selection, is passed on.
    """
    active = None if event.is_printable else field.screen.active_bindings.get(event.key)
    if active is None or active.node not in nodes or not active.enabled:
        return
    if await field.app.run_action(active.binding.action, active.node):
        event.stop()
        event.prevent_default()


class LineInput(Input):
    """A one-line input whose cursor does not blink. Pasted lines are joined, and control characters are removed."""

    LONGEST_PASTE: ClassVar[int] = 1_000

    virtual_size: Reactive[Size] = Reactive(Size(0, 0))
    """The size of the text. As a non-reactive layout value it does not trigger a layout of the whole screen at every
    key.
    """

    focus_after: Callable[[], Widget] | None = None
    """Returns the widget that is focused on enter. It is focused before `Submitted` is handled, since keys typed in a
    burst after enter are meant for it.
    """

    def on_mount(self) -> None:
        self.cursor_blink = False

    def on_resize(self) -> None:
        """Scroll to the cursor: Textual does so only when it moves, so the end of a long text was not visible."""
        self.scroll_to_region(Region(self._cursor_offset, 0, 1, 1), force=True, animate=False)

    async def action_submit(self) -> None:
        await super().action_submit()
        if self.focus_after is not None:
            self.screen.set_focus(self.focus_after())

    def action_cursor_left_word(self, select: bool = False) -> None:
        """Move one word to the left; at the beginning pass the key on, where it navigates back."""
        if not select and self.cursor_position == 0:
            raise SkipAction
        super().action_cursor_left_word(select)

    def action_cursor_right_word(self, select: bool = False) -> None:
        """Move one word to the right; at the end pass the key on, where it navigates forward."""
        if not select and self.cursor_position == len(self.value):
            raise SkipAction
        super().action_cursor_right_word(select)

    async def _on_key(self, event: events.Key) -> None:
        """Run the action of a key immediately. Pass on a key that was queued here before an earlier key, such as enter,
        moved the focus.
        """
        focused = self.screen.focused
        if focused is not None and focused is not self:
            event.stop()
            event.prevent_default()
            focused.post_message(events.Key(event.key, event.character))
            return
        await run_key(self, event, self)

    def on_paste(self, event: events.Paste) -> None:
        """Replace the paste handler of Textual."""
        event.stop()
        event.prevent_default()
        lines = event.text[: self.LONGEST_PASTE].splitlines()
        if lines:
            several = (stripped for line in lines if (stripped := line.strip()))
            self.insert_text_at_cursor(clean_line(" ".join(several) if len(lines) > 1 else lines[0]))


_GAP = 3
Item = tuple[str, str]
"""An action of the registry or a displayed key, and its effect."""


def fitting(items: Iterable[Item], width: int, gap: int) -> Iterator[Item]:
    """Return the first items that fit whole into `width` cells, with `gap` cells between them, and always `esc`."""
    cells = {item: cell_len(item[0]) + 1 + cell_len(item[1]) + gap for item in items}
    room = width + gap - sum(cells[item] for item in cells if item[0] == "esc")
    for item in cells:
        if item[0] != "esc":
            room -= cells[item]
        if item[0] == "esc" or room >= 0:
            yield item


def key_words(item: Item) -> Content:
    key, does = item
    return Content.assemble((key, "$accent"), (f" {does}", "$text-muted"))


class KeyLine(Widget):
    """Items in order of importance, as many as fit. A sentence can replace them."""

    def __init__(self, *items: Item) -> None:
        super().__init__(classes="key-line")
        self.items = tuple((shown_key(name) if name in ACTIONS else name, does) for name, does in items)
        """The displayed keys and their effects."""
        self._words = ""

    def set_text(self, words: str) -> None:
        self._words = words
        self.refresh(layout=True)

    def render(self) -> Content:
        if self._words:
            return Content.styled(self._words, "$text-warning")
        items = fitting(self.items, self.content_size.width, _GAP)
        return Content(" " * _GAP).join(map(key_words, items))


@dataclass(frozen=True, slots=True)
class NoticeText:
    """The text of a notice. All of it is sanitised.

    `examples` are things to type with their meaning; `actions` are ids of suggested actions with their effect. A notice
    that `is_loading` also answers keys that need what is not loaded yet.
    """

    title: str
    text: str = ""
    examples: tuple[tuple[str, str], ...] = ()
    actions: tuple[tuple[str, str], ...] = ()
    is_error: bool = False
    is_loading: bool = False


def error_notice(error: DonnaError, *actions: Item) -> NoticeText:
    """Describe an error, with the actions that help."""
    refusal = refusal_of(error)
    return NoticeText(refusal.what, refusal.step, actions=actions, is_error=True)


class Notice(Static, can_focus=True):
    """Show `NoticeText`. It takes the focus like the list that it replaces, so that letters are keys here too."""

    words = NoticeText("")

    def set_text(self, words: NoticeText) -> None:
        """Replace the text. The notice fills its container, so no new layout is needed."""
        if words != self.words:
            self.words = words
            self.update(notice_content(words), layout=False)


def notice_content(words: NoticeText) -> Content:
    helps = (*words.examples, *((anywhere_key(action), does) for action, does in words.actions))
    parts = [
        Content.styled(words.title, "bold $text-error" if words.is_error else "bold"),
        *([Content.styled(words.text, "$text-muted")] if words.text else []),
        *([_table(helps)] if helps else []),
    ]
    return Content("\n\n").join(parts)


def _table(rows: tuple[tuple[str, str], ...]) -> Content:
    """Pad rows to equal width, so that they stay aligned when they are centred."""
    left, right = (max(cell_len(row[column]) for row in rows) for column in (0, 1))
    lines = (
        Content.assemble(
            (name + " " * (left - cell_len(name)), "$accent"),
            "   ",
            (does + " " * (right - cell_len(does)), "$text-muted"),
        )
        for name, does in rows
    )
    return Content("\n").join(lines)


def set_label(label: Static, content: Content, *, layout: bool = True) -> None:
    """Update a label. An unchanged text costs nothing; a layout of the screen takes milliseconds.

    `layout` is False for a label whose size does not depend on its text.
    """
    before = label.content
    if not (isinstance(before, Content) and before.is_same(content)):
        label.update(content, layout=layout)


def show_label(label: Static, content: Content, *, layout: bool = True) -> None:
    """Update a label as `set_label` does, and hide it while it is empty."""
    set_label(label, content, layout=layout)
    label.display = bool(content)


class SectionTabs(Widget, can_focus=True):
    """Names with an optional count each; arrow keys and clicks choose."""

    COMPONENT_CLASSES: ClassVar[set[str]] = {"tabs--chosen", "tabs--other"}
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("left,h", "choose(-1)", "previous part", show=False),
        Binding("right,l", "choose(1)", "next part", show=False),
    ]

    names: reactive[tuple[str, ...]] = reactive(())
    chosen: reactive[int] = reactive(0)

    @dataclass
    class Chosen(Message):
        index: int

    def __init__(self, *names: str, gap: int = _GAP, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._gap = gap
        self.set_reactive(SectionTabs.names, names)

    def render(self) -> Content:
        styles = (".tabs--chosen" if index == self.chosen else ".tabs--other" for index in range(len(self.names)))
        parts = [Content.styled(name, style) for name, style in zip(self.names, styles, strict=True)]
        return Content(" " * self._gap).join(parts)

    def watch_chosen(self, chosen: int) -> None:
        self.post_message(self.Chosen(chosen))

    def action_choose(self, by: int) -> None:
        if self.names:
            self.chosen = (self.chosen + by) % len(self.names)

    def on_click(self, event: events.Click) -> None:
        start = 0
        for index, name in enumerate(self.names):
            if start <= event.x < start + len(name):
                self.chosen = index
            start += len(name) + self._gap


T = TypeVar("T")


class ValueOption(Option, Generic[T]):
    """A row with its value. A message about a row may arrive after the list was filtered, when its row number refers to
    another row or none.
    """

    def __init__(self, row: Content, value: T) -> None:
        super().__init__(row)
        self.value = value


class OptionRows(OptionList):
    """A list whose rows may be replaced at any time, and that accepts keys before it has a size."""

    def action_page_up(self) -> None:
        """Do nothing before the first layout: `OptionList` looks up lines that do not exist yet."""
        if self.scrollable_content_region:
            super().action_page_up()  # type: ignore[no-untyped-call]

    def action_page_down(self) -> None:
        """Do nothing before the first layout, as in `action_page_up`."""
        if self.scrollable_content_region:
            super().action_page_down()  # type: ignore[no-untyped-call]

    def on_click(self, event: events.Click) -> None:
        """Ignore a click on a row that was removed from the list since the screen was drawn."""
        row = event.style.meta.get("option")
        if row is not None and row >= self.option_count:
            event.prevent_default()


def bar(meaning: int, words: int, total: int, width: int) -> Content:
    """Render a bar of `width` cells. Any progress fills at least half a cell; only completion fills the last one."""
    strong = _halves(min(meaning, words), total, width)
    weak = max(strong, _halves(words, total, width))
    parts, begin = list[tuple[str, str]](), 0
    for end, style in ((strong, "$accent"), (weak, "$text-disabled"), (2 * width, "$border-blurred")):
        if end > begin:
            parts += [("━", style)] * ((end - begin) // 2) + [("╸", style)] * (end % 2)
            begin = end + end % 2
    return Content.assemble(*parts)


def _halves(part: int, total: int, width: int) -> int:
    if total <= 0 or part >= total:
        return 2 * width if total > 0 else 0
    return min(2 * width - 1, max(1, 2 * width * part // total)) if part > 0 else 0


class ProgressBar(Widget):
    counts: reactive[tuple[int, int, int]] = reactive((0, 0, 0))
    """The numbers of notes indexed for semantic search and for keyword search, and of all notes."""

    def render(self) -> Content:
        return bar(*self.counts, self.content_size.width)
