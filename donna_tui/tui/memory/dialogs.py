"""Dialogs about memories: what would be forgotten, and the preferences that were stated in chats."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partialmethod
from typing import TYPE_CHECKING

from textual import work
from textual.content import Content
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.dialogs import TextDialog
from donna_tui.tui.lib.error_messages import error_text
from donna_tui.tui.lib.humanize import day
from donna_tui.tui.lib.inputs import show_label
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.types.errors import DonnaError
from donna_tui.types.memory import Suggestion

if TYPE_CHECKING:
    from donna_tui.engine.memory_service import MemoryService


class ForgetScreen(TextDialog[bool]):
    """Show one line of what is forgotten; return whether it is erased for good. All texts are safe to show."""

    BINDINGS = bindings("forget")

    def __init__(self, words: str, citation: str, means: str) -> None:
        texts = (("forget-words", words), ("refusal-path", citation), ("refusal-step", means))
        items = (("forget.apply", "forget"), ("esc", "cancel"), ("forget.for-good", "for good"))
        super().__init__("Forget this?", texts, *items)
        self._warned = False

    def action_forget_apply(self) -> None:
        self.dismiss(False)

    def action_forget_for_good(self) -> None:
        if self._warned:
            self.dismiss(True)
            return
        self._warned = True
        words = (
            "This erases its text from Donna's memory, from summaries of its conversation and from the backups. "
            f"This cannot be undone. Press {shown_key('forget.for-good')} again to erase it, esc to cancel."
        )
        self.query_one(".refusal-step", Static).update(Content.styled(words, "$text-warning"))


class SuggestionScreen(TextDialog[int]):
    """A dialog that returns the number of preferences remembered. It shows first what they would replace."""

    BINDINGS = bindings("suggestion")

    def __init__(self, memory: MemoryService, suggestions: Sequence[Suggestion]) -> None:
        texts = (("refusal-what", ""), ("refusal-path", ""), ("refusal-step", ""))
        answers = (("suggestion.accept", "remember"), ("suggestion.dismiss", "dismiss"), ("suggestion.skip", "skip"))
        super().__init__("", texts, *answers, ("esc", "close"))
        self._memory = memory
        self._left = list(suggestions)
        self._total = len(suggestions)
        self._remembered = 0
        self._is_answering = False

    def on_mount(self) -> None:
        self._show()

    def leave(self) -> None:
        self.dismiss(self._remembered)

    def action_suggestion_skip(self) -> None:
        if not self._is_answering:
            self._next()

    def _next(self) -> None:
        self._left = self._left[1:]
        if self._left:
            self._show()
        else:
            self.dismiss(self._remembered)

    def _show(self) -> None:
        one, number = self._left[0], self._total - len(self._left) + 1
        of = f" ({number} of {self._total})" if self._total > 1 else ""
        self.query_one(".refusal-box").border_title = Content(f"Remember this preference?{of}")
        self.query_one(".refusal-what", Static).update(Content(f"“{clean_line(one.text)}”"))
        where = f"said in the chat {clean_line(one.session)}, turn {one.turn}"
        self.query_one(".refusal-path", Static).update(Content(f"{where}, {day(one.at)}" if one.at else where))
        self._report("")
        self._show_replaced(one)

    def _report(self, words: str) -> None:
        show_label(self.query_one(".refusal-step", Static), Content.styled(words, "$text-warning"))

    @work(group="load", exclusive=True)
    async def _show_replaced(self, one: Suggestion) -> None:
        try:
            replaced = await self._memory.replaced_by(one)
        except DonnaError as error:
            self._report(error_text(error))
            return
        if replaced and self._left and self._left[0] is one:
            self._report("It replaces " + ", ".join(f"“{clean_line(text)}”" for text in replaced) + ".")

    def _answer(self, *, accepted: bool) -> None:
        if not self._is_answering:
            self._is_answering = True
            self._store(self._left[0], accepted=accepted)

    action_suggestion_accept = partialmethod(_answer, accepted=True)
    action_suggestion_dismiss = partialmethod(_answer, accepted=False)

    @work(group="answer")
    async def _store(self, one: Suggestion, *, accepted: bool) -> None:
        try:
            await self._memory.answer_suggestion(one.id, accepted=accepted)
        except DonnaError as error:
            self._report(error_text(error))
            return
        finally:
            self._is_answering = False
        self._remembered += accepted
        self._next()
