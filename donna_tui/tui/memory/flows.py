"""Read the list of memories, and run the actions on the selected one."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import replace
from functools import partial

from textual import work
from textual.containers import Horizontal
from textual.content import Content
from textual.getters import query_one
from textual.timer import Timer
from textual.widgets import Static

from donna_tui.tui.lib.ask_line import AskLine
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.dialogs import RefusalScreen, one_dialog
from donna_tui.tui.lib.error_messages import Refusal, told
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.humanize import plural
from donna_tui.tui.lib.inputs import Notice, Words, set_label
from donna_tui.tui.lib.keymap import Keys, shown_key
from donna_tui.tui.lib.messages import ActionsChanged, EditNote
from donna_tui.tui.memory.card import MemoryCard, citation_of, note_of
from donna_tui.tui.memory.forget_dialog import ForgetScreen, Forgetting
from donna_tui.tui.memory.list import PAGE, MemoryList, words_of
from donna_tui.tui.memory.recall_panel import RecallPanel
from donna_tui.tui.memory.suggestion_dialog import SuggestionScreen
from donna_tui.tui.memory.wording import (
    NOTHING_YET,
    Narrowing,
    cannot_look,
    citation_text,
    forgets,
    list_head,
    nothing_left,
    own_words,
    suggestion_line,
)
from donna_tui.tui.search.why_found import becomes_of, correct
from donna_tui.tui.vault.flows import VaultFlows
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.memory import MemoryChunk, Suggestion
from donna_tui.vault.write.changes import OperationKind, Outcome

_TO_REMEMBER = "I prefer short answers · The server is called cassius"
_KEPT_HERE = "It is kept on this machine, found in search, and recalled where it fits."


class MemoryActs(Horizontal):
    """The base class of the Memory screen, with the actions on one memory. Subclasses read the list."""

    rows = query_one(MemoryList)
    card = query_one(MemoryCard)
    recall = query_one(RecallPanel)

    def __init__(self, outside: ExternalPrograms, keys: Keys) -> None:
        super().__init__(id="memory", classes="-on-list -empty")
        self._outside = outside
        self._keys = keys
        self._backend: Backend | None = None
        self._forgotten: list[MemoryChunk] = []
        self._kept: dict[int, MemoryChunk] = {}
        self._suggestions: tuple[Suggestion, ...] = ()
        self._writing: VaultFlows | None = None
        self._wrote_last = False

    def write_with(self, writing: VaultFlows) -> None:
        """Change notes through what the Vault screen uses too."""
        self._writing = writing

    @property
    def selected(self) -> MemoryChunk | None:
        """The memory that actions apply to."""
        raise NotImplementedError

    def look_soon(self) -> None:
        """Schedule reading the list, once for several events."""
        raise NotImplementedError

    def go(self, place: str) -> None:
        """Focus a part, and show it on narrow screens."""
        raise NotImplementedError

    async def action_memory_open(self) -> None:
        """Show a memory in its context, or open its note in the editor."""
        memory = self.selected
        if memory is None or self._backend is None:
            return
        if not note_of(memory):
            self._read_around(self._backend, memory)
            return
        self.post_message(EditNote(note_of(memory), memory.start_line))

    def action_memory_copy_citation(self) -> None:
        """Copy the citation of the memory."""
        if self.selected is not None:
            self._outside.copy(citation_text(self.selected), "Where this memory is from")

    def action_memory_copy_text(self) -> None:
        """Copy the text of the memory with its citation."""
        if self.selected is not None:
            self._outside.copy(f"{own_words(self.selected)}\n\n{citation_text(self.selected)}\n", "The memory")

    def action_memory_copy_prompt(self) -> None:
        """Copy the block for a prompt."""
        result = self.recall.result
        if result is not None and self._backend is not None:
            self._outside.copy(self._backend.memory.prompt(result), "The block for a prompt")

    def action_memory_pin(self) -> None:
        """Pin the memory, or unpin it."""
        if self.selected is not None and self._backend is not None:
            self._pin(self._backend, self.selected)

    def action_memory_correct(self) -> None:
        """Correct the memory."""
        if self.selected is not None and self._backend is not None:
            self._correct(self._backend, self.selected)

    def action_memory_forget(self) -> None:
        """Forget the memory after confirmation."""
        if self.selected is not None and self._backend is not None:
            self._forget(self._backend, self.selected)

    def action_memory_suggestions(self) -> None:
        """Answer what is offered."""
        if self._suggestions and self._backend is not None:
            self._answer(self._backend, self._suggestions)

    def action_memory_bring_back(self) -> None:
        """Take back what was done here last: bring back what was forgotten, or undo a change of a note."""
        if self._forgotten and not self._wrote_last and self._backend is not None:
            self._bring_back(self._backend, self._forgotten[-1])
        elif self._writing is not None:
            self._change(partial(self._writing.step_back, OperationKind.UNDO))

    def action_memory_redo(self) -> None:
        """Do again what was taken back in a note."""
        if self._writing is not None:
            self._change(partial(self._writing.step_back, OperationKind.REDO))

    def action_memory_remember(self) -> None:
        """Ask for a sentence, and remember it."""
        if self._backend is not None:
            self._remember(self._backend)

    def action_memory_add_task(self) -> None:
        """Ask for a task, and write its check box into a note."""
        if self._writing is not None:
            self._change(self._writing.add_task)

    def action_memory_tick(self) -> None:
        """Check the box of the task."""
        memory = self.selected
        if memory is not None and self._writing is not None:
            self._change(partial(self._writing.tick, note_of(memory), memory.source_id.rpartition("#")[2]))

    @one_dialog("change")
    async def _change(self, flow: Callable[[], Awaitable[Outcome | None]]) -> None:
        outcome = await flow()
        if outcome is not None:
            self._wrote_last = outcome.kind is not OperationKind.UNDO
            self.look_soon()

    @one_dialog("remember")
    async def _remember(self, backend: Backend) -> None:
        window = AskLine("Remember", "remember it", self._keys, placeholder=_TO_REMEMBER, says=lambda _: _KEPT_HERE)
        text = await self.app.push_screen_wait(window)
        if text is None:
            return
        try:
            for held in await backend.memory.replaced_by_text(text):
                if not await self.app.push_screen_wait(_replaces(held, text, self._keys)):
                    return
            await backend.memory.remember(text)
        except DonnaError as error:
            self._complain(error)
            return
        self.notify("Remembered.", timeout=3, markup=False)
        self.look_soon()

    @work(group="read-around", exclusive=True)
    async def _read_around(self, backend: Backend, memory: MemoryChunk) -> None:
        try:
            passage = await backend.passage(memory.source_id, memory.start_line, memory.end_line)
        except DonnaError as error:
            self._complain(error)
            return
        if memory == self.selected:
            first = passage.start_line
            self.card.show_around(passage.text, range(passage.mark_start - first, passage.mark_end - first + 1))
            self.go("text")

    @work(group="pin", exclusive=True)
    async def _pin(self, backend: Backend, memory: MemoryChunk) -> None:
        try:
            await backend.memory.pin(memory.id, pinned=not memory.pinned)
        except DonnaError as error:
            self._complain(error)
            return
        self.rows.mark(memory.id, pinned=not memory.pinned)
        self.recall.mark(memory.id, pinned=not memory.pinned)
        self.look_soon()

    @one_dialog("correct")
    async def _correct(self, backend: Backend, memory: MemoryChunk) -> None:
        words = await self._words_to_correct(backend, memory)
        stored = await correct(
            self.app,
            backend.memory,
            self._keys,
            identity=memory.id,
            text=words,
            citation=citation_of(memory),
            becomes=becomes_of(memory.source),
            query=self.recall.query_text if memory.score else "",
        )
        if stored:
            self.look_soon()

    async def _words_to_correct(self, backend: Backend, memory: MemoryChunk) -> str:
        """Return the text to correct. A recalled memory is prefixed by date and speaker, which the stored one lacks."""
        if note_of(memory) or not memory.score:
            return own_words(memory)
        try:
            known = await backend.memory.memory(memory.id)
        except DonnaError:
            return own_words(memory)
        return known.content if known is not None and known.content in memory.content else own_words(memory)

    @one_dialog("forget")
    async def _forget(self, backend: Backend, memory: MemoryChunk) -> None:
        citation, means = forgets(memory)
        window = ForgetScreen(words_of(own_words(memory)), citation, means, self._keys)
        how = await self.app.push_screen_wait(window)
        if how is None:
            return
        try:
            await backend.memory.forget(memory.id, for_good=how is Forgetting.FOR_GOOD)
        except DonnaError as error:
            self._complain(error)
            return
        self._is_forgotten(memory, for_good=how is Forgetting.FOR_GOOD)

    def _is_forgotten(self, memory: MemoryChunk, *, for_good: bool) -> None:
        if for_good:
            self.notify("Forgotten for good.", timeout=4, markup=False)
        else:
            self._wrote_last = False
            self._forgotten.append(replace(memory, forgotten=True))
            self._kept |= {
                place: replace(each, forgotten=True) for place, each in self.rows.places_of(memory.id).items()
            }
            key = shown_key(self._keys["memory.bring-back"], typing=False)
            self.notify(f"Forgotten. {key} restores it.", timeout=4, markup=False)
        self.rows.mark(memory.id, forgotten=True)
        self.recall.mark(memory.id, forgotten=True)
        self.look_soon()

    @one_dialog("forget")
    async def _bring_back(self, backend: Backend, memory: MemoryChunk) -> None:
        try:
            await backend.memory.bring_back(memory.id)
        except DonnaError as error:
            self._complain(error)
            return
        self._forgotten.remove(memory)
        self._kept = {place: each for place, each in self._kept.items() if each.id != memory.id}
        self.rows.mark(memory.id, forgotten=False)
        self.notify("It is remembered again.", timeout=3, markup=False)
        self.look_soon()

    @one_dialog("suggestions")
    async def _answer(self, backend: Backend, suggestions: tuple[Suggestion, ...]) -> None:
        remembered = await self.app.push_screen_wait(SuggestionScreen(backend.memory, suggestions, self._keys))
        if remembered:
            self.notify(f"{plural(remembered, 'preference')} remembered.", timeout=4, markup=False)
        self.look_soon()

    def _complain(self, error: DonnaError) -> None:
        self.notify(told(error), severity="error", timeout=8, markup=False)


def _replaces(held: str, text: str, keys: Keys) -> RefusalScreen:
    """Ask whether a preference may take the place of another one."""
    what = f"“{words_of(text)}” takes the place of “{words_of(held)}”."
    return RefusalScreen(Refusal(Reason.CONFLICT, "Replace it?", what, ""), keys, does="replace it")


LOOK_AGAIN = 0.4
"""Seconds after an event until the list is read again, so that many events cause one read."""

FILL = 0.03
"""Seconds until rows that became visible are read, so that scrolling reads only where it stops."""


class MemoryReading(MemoryActs):
    """The base class of the Memory screen between its actions and its layout."""

    notice = query_one("#memory-notice", Notice)

    def __init__(self, outside: ExternalPrograms, keys: Keys) -> None:
        super().__init__(outside, keys)
        self._narrowing = Narrowing()
        self._is_stale = True
        self._timer: Timer | None = None
        self._filling: Timer | None = None

    def on_show(self) -> None:
        """Read the list if it became stale while the screen was hidden."""
        if self._is_stale:
            self.look()

    def on_memory_list_wanted(self, event: MemoryList.Wanted) -> None:
        """Schedule reading visible rows that are not loaded."""
        event.stop()
        if self._filling is None:
            self._filling = self.set_timer(FILL, self._fill)

    def look(self) -> None:
        """Read the list again; while hidden, once it is shown."""
        self._is_stale = not self.display
        if self._backend is not None and not self._is_stale:
            self._look(self._backend)

    def look_soon(self) -> None:
        """Schedule reading the list and recalling again, once for several events."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(LOOK_AGAIN, self._look_again)

    def _look_again(self) -> None:
        self.look()
        self.recall.ask_again()

    @work(group="look", exclusive=True)
    async def _look(self, backend: Backend) -> None:
        wanted = self._narrowing.wanted(time.time())
        pages = self.rows.pages_in_sight
        try:
            service = backend.memory
            self.recall.connect(service)
            total = await service.count(wanted)
            found = {page: await service.memories(wanted, limit=PAGE, skip=page * PAGE) for page in pages}
            self._suggestions = await service.suggestions()
            gone = {each.id for each in self._kept.values() if await service.memory(each.id) is None}
        except DonnaError as error:
            self._say(cannot_look(error))
            return
        kept = {place: each for place, each in self._kept.items() if each.id in gone}
        self._report(total, bool(kept))
        self._tell_suggestions()
        self.rows.show(total, found, kept)
        self._follow()

    def _fill(self) -> None:
        self._filling = None
        if self._backend is not None and self.rows.missing:
            self._read_missing(self._backend)

    @work(group="fill", exclusive=True)
    async def _read_missing(self, backend: Backend) -> None:
        wanted = self._narrowing.wanted(time.time())
        for page in self.rows.missing:
            try:
                found = await backend.memory.memories(wanted, limit=PAGE, skip=page * PAGE)
            except DonnaError as error:
                self._say(cannot_look(error))
                return
            self.rows.fill(page, found)

    def _narrow(self, narrowing: Narrowing) -> None:
        """Change the filter, and list from the beginning."""
        if narrowing != self._narrowing:
            self._narrowing = narrowing
            self._kept = {}
            self.rows.select(0)
            self.look()

    def _report(self, total: int, keeps: bool) -> None:
        """Show the number of memories, or a notice if there are none."""
        if not total and not keeps and not self._narrowing.is_narrow:
            self._say(NOTHING_YET)
            return
        was_said = self.notice.has_focus
        self.remove_class("-empty")
        if was_said:
            self.rows.focus()
        key = shown_key(self._keys["memory.all"], typing=False)
        self.rows.empty_text = nothing_left(self._narrowing, key)
        self._show_head(list_head(self._narrowing, total))

    def _tell_suggestions(self) -> None:
        """Offer what was stated in chats, in one line."""
        offer = self.query_one("#memory-suggestion", Static)
        key = shown_key(self._keys["memory.suggestions"], typing=False)
        set_label(offer, suggestion_line(self._suggestions, key))
        offer.display = bool(self._suggestions)

    def _show_head(self, words: str) -> None:
        style = "$text-accent" if self._narrowing.is_narrow else "$text-disabled"
        self.query_one("#memory-head", Static).update(Content.styled(words, style))

    def _say(self, words: Words) -> None:
        """Show a notice instead of the list."""
        had_focus = self.rows.has_focus
        self.notice.say(words)
        self.add_class("-empty")
        self._show_head("")
        if had_focus:
            self.notice.focus()
        self._follow()

    def _follow(self) -> None:
        """Update the card for the selected memory."""
        self.card.show(self.selected, shown_key(self._keys["memory.pin"], typing=False))
        self.post_message(ActionsChanged())
