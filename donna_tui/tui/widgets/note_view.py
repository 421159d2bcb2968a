"""The text of a whole note, a page at a time if it is long, with the section one walks to marked."""

from __future__ import annotations

from textual.message import Message

from donna_tui.text.markdown import Section
from donna_tui.tui.humanize import count
from donna_tui.tui.widgets.note_pages import Pages, pages_of
from donna_tui.tui.widgets.passage_view import PassageView


class NoteView(PassageView):
    """Scrolls through a note; past the end of a page the next one begins."""

    class Moved(Message):
        """Another page or section is in sight."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._pages = Pages((), ())
        self._page = 0
        self._chosen: int | None = None
        self._text: str | None = None
        self._aim: int | None = None

    def show_note(self, text: str, *, keep: bool = False) -> None:
        """Show a note from its beginning, or from where one was if it is a newer version of the same one."""
        if keep and text == self._text:
            return
        line = self.line if keep else 1
        changed = changed_lines(self._text, text) if keep and self._text else range(0)
        self._text = text
        self._pages = pages_of(text)
        self._chosen = None
        self._open(self._pages.page_of(line))
        self.scroll_to_line(line - self._first_line)
        if changed:
            self._flash_lines(changed)

    def _flash_lines(self, lines: range) -> None:
        """Highlight lines of the note (1-based) for a moment, on the page that they are on."""
        page = self._pages.page_of(lines.start)
        if page != self._page:
            self._open(page)
        self.flash(range(lines.start - self._first_line, lines.stop - self._first_line))

    @property
    def line(self) -> int:
        """The line of the file at the top, or that of the chosen section. 1-based."""
        if self._aim is not None:
            return self._aim
        if self._chosen is not None:
            return self._pages.sections[self._chosen].start_line
        return self._first_line + self.top_line

    @property
    def section(self) -> Section | None:
        """The section that was walked to, or the one at the top."""
        if not self._pages.sections:
            return None
        return self._pages.sections[self._section_index]

    @property
    def place(self) -> str:
        """Which page this is, if there are several."""
        whole = len(self._pages.pages)
        return f"page {count(self._page + 1)} of {count(whole)}" if whole > 1 else ""

    def walk(self, by: int) -> None:
        """Go `by` sections on."""
        if not self._pages.sections:
            return
        start = self._section_index if self._chosen is not None or by < 0 else self._section_index - 1
        if self._chosen is None and self.top_line:
            start = self._section_index
        self._choose(max(0, min(start + by, len(self._pages.sections) - 1)))

    def go_to(self, line: int) -> None:
        """Show the section that begins at a line (1-based), marked, or the line itself where it is inside of one."""
        if self._pages.sections:
            index = self._pages.section_of(line)
            self._choose(index, None if line == self._pages.sections[index].start_line else line)

    def action_cursor_down(self) -> None:
        if self.scroll_offset.y >= self.max_scroll_y:
            self._turn(1)
        else:
            super().action_cursor_down()

    def action_cursor_up(self) -> None:
        if self.scroll_offset.y <= 0:
            self._turn(-1)
        else:
            super().action_cursor_up()

    def action_page_down(self) -> None:
        if self.scroll_offset.y >= self.max_scroll_y:
            self._turn(1)
        else:
            super().action_page_down()

    def action_page_up(self) -> None:
        if self.scroll_offset.y <= 0:
            self._turn(-1)
        else:
            super().action_page_up()

    @property
    def _first_line(self) -> int:
        return self._pages.pages[self._page].first_line if self._pages.pages else 1

    @property
    def _section_index(self) -> int:
        if self._chosen is not None:
            return self._chosen
        return self._pages.section_of(self._first_line + self.top_line)

    def _choose(self, index: int, line: int | None = None) -> None:
        self._chosen, self._aim = index, line
        section = self._pages.sections[index]
        begin, end = (line, line) if line is not None else (section.start_line, section.end_line)
        self._page = self._pages.page_of(begin)
        first = self._first_line
        mark = range(begin - first, end - first + 1)
        self.show(self._pages.pages[self._page].text, mark)
        self.post_message(self.Moved())

    def _open(self, page: int) -> None:
        self._page, self._aim = page, None
        self.show(self._pages.pages[page].text if self._pages.pages else "")
        self.scroll_home(animate=False, immediate=True)
        self.post_message(self.Moved())

    def _turn(self, by: int) -> None:
        """Go to the next page, or to the end of the one before."""
        page = self._page + by
        if 0 <= page < len(self._pages.pages):
            self._chosen = None
            self._open(page)
            if by < 0:
                self.scroll_end(animate=False)


def changed_lines(before: str, after: str) -> range:
    """The lines (1-based) of a text from the first to the last one that differs from an earlier version of it."""
    old, new = before.split("\n"), after.split("\n")
    most = min(len(old), len(new))
    head = next((number for number in range(most) if old[number] != new[number]), most)
    tail = next((number for number in range(most - head) if old[-1 - number] != new[-1 - number]), most - head)
    first = min(head + 1, len(new))
    return range(first, max(len(new) - tail, first) + 1)
