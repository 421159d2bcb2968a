"""Load the queue of the Review screen after events, and the selected draft."""

from __future__ import annotations

from time import time

from textual import work
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.timer import Timer
from textual.widgets import Static

from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.error_messages import told
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.inputs import Notice, Words
from donna_tui.tui.lib.keymap import Keys
from donna_tui.tui.lib.messages import ActionsChanged, EngineEvents
from donna_tui.tui.review.flows import ReviewActs
from donna_tui.tui.review.lists import line_of
from donna_tui.tui.review.wording import (
    NOTHING_AT_ALL,
    NOTHING_WAITS,
    approval_words,
    asks_for_repository,
    cannot_look,
    change_of,
    draft_head,
    evidence_head,
    evidence_of,
    lacks_repository,
    parts_out,
    why_decided,
    why_no_text,
)
from donna_tui.types.drafts import Draft, DraftRow, DraftState
from donna_tui.types.errors import DonnaError
from donna_tui.types.events import EngineEvent, VaultWritten
from donna_tui.vault.write.changes import Operation, Plan

LOOK_AGAIN = 0.3
"""Seconds after an event until the queue is read again, so that many events cause one read."""

FIRST_LOOK = 0.2
"""Seconds after the start until drafts are counted, so that the first search is not delayed."""

PAUSE = 0.03
"""Seconds that a draft is selected before it is read, so that scrolling through the queue reads nothing."""

_ABOUT_DRAFTS = ("vault_autowrite", "calendar")
"""Prefixes of event names after which the queue may have changed."""


class ReviewReading(ReviewActs):
    """The base class of the Review screen between its actions and its layout."""

    notice = query_one("#review-notice", Notice)

    class Counted(Message):
        """Posted with the number of waiting drafts."""

        def __init__(self, waiting: int) -> None:
            super().__init__()
            self.waiting = waiting

    def __init__(self, outside: ExternalPrograms, keys: Keys) -> None:
        super().__init__(outside, keys)
        self._everything = False
        self._show = ""
        self.asks = self._is_declined = False
        self._undoable: tuple[Operation, ...] | None = None
        self._redoable: tuple[Operation, ...] | None = None
        self._timer: Timer | None = None
        self._reading: Timer | None = None

    def on_show(self) -> None:
        """Read the queue when the screen is shown."""
        self.look()

    def on_engine_events(self, event: EngineEvents) -> None:
        """Schedule reading the queue after a draft was written, or the note of one has changed."""
        if any(map(self._is_about_drafts, event.events)):
            self.look_soon()

    def look(self, show: str = "") -> None:
        """Read the queue again, and select a draft if it is there."""
        self._show = show or self._show
        if self._backend is not None:
            self._look(self._backend)

    def decline(self) -> None:
        """Show the drafts that failed without a repository instead of the question."""
        self.asks, self._is_declined = False, True
        self.look()

    def look_soon(self) -> None:
        """Schedule reading the queue, once for several events."""
        if self._timer is not None:
            self._timer.stop()
        self._timer = self.set_timer(LOOK_AGAIN, self.look)

    @work(group="look", exclusive=True)
    async def _look(self, backend: Backend) -> None:
        try:
            drafts = await backend.drafts.drafts(everything=self._everything)
        except DonnaError as error:
            self._say(cannot_look(error))
            return
        await self._count_steps(backend)
        self.post_message(self.Counted(sum(each.state is DraftState.WAITING for each in drafts)))
        reveal, self._show = self._show, ""
        self.rows.show(drafts, time(), reveal=reveal)
        self.asks = bool(drafts) and not self._is_declined and all(map(lacks_repository, drafts))
        if self.asks:
            self._say(asks_for_repository(backend.status().root, len(drafts)))
        elif drafts:
            self._show_queue(drafts)
        else:
            self._say(NOTHING_AT_ALL if self._everything else NOTHING_WAITS)

    async def _count_steps(self, backend: Backend) -> None:
        """Load the operations that can be undone and redone; None if that fails."""
        try:
            self._undoable, self._redoable = await backend.notes.undoable(), await backend.notes.redoable()
        except DonnaError:
            self._undoable = self._redoable = None

    def follow(self) -> None:
        """Update the other parts for the selected draft: known facts at once, its text after a short delay."""
        self._show_head()
        self.post_message(ActionsChanged())
        if self._reading is not None:
            self._reading.stop()
        self._reading = self.set_timer(PAUSE, self._read_selected)

    def _read_selected(self) -> None:
        if not self.display:
            return  # read again when the screen is shown
        row = self.selected
        if row is None or self._backend is None or self.has_class("-empty"):
            self._without_text("")
        elif objection := why_no_text(row, self._keys):
            self._without_text(objection)
        else:
            self._read(self._backend, row)

    @work(group="read", exclusive=True)
    async def _read(self, backend: Backend, row: DraftRow) -> None:
        try:
            draft = await backend.drafts.draft(row.id)
        except DonnaError as error:
            self._without_text(told(error))
            return
        same = self.draft is not None and self.draft.row.id == row.id
        if draft != self._draft or self.text.line_count == 0:
            self._draft = draft
            self.text.show(draft, self.left_out, keep=same)
        self._show_head()
        self.show_evidence()
        self.post_message(ActionsChanged())
        await self._report_approval(backend, draft)

    @work(group="approval", exclusive=True)
    async def _look_at_approval(self, backend: Backend, draft: Draft) -> None:
        await self._report_approval(backend, draft)

    async def _report_approval(self, backend: Backend, draft: Draft) -> None:
        """Show the plan of approving the draft and its diff."""
        plan: Plan | None = None
        if draft.row.state is not DraftState.WAITING:
            self._show_foot(why_decided(draft.row), "$text-disabled")
        else:
            try:
                plan = await backend.drafts.plan_approval(draft.row.id, without=self.left_out)
            except DonnaError as error:
                self._show_foot(f"Cannot be approved: {told(error)}", "$text-warning")
            else:
                words = " · ".join((approval_words(plan, draft.row), *parts_out(len(self.left_out))))
                self._show_foot(f"Approving: {words}", "$text-muted")
        self.diff.show((change_of(draft, self.left_out, plan),))

    def leave_out(self) -> None:
        """Leave the part under the cursor out, or include it again."""
        draft, hunk = self.draft, self.text.hunk
        if draft is None or hunk is None or self._backend is None:
            return
        self._left_out[draft.row.id, draft.etag] = self.left_out ^ {hunk.number}
        self.text.leave_out(self.left_out)
        self.post_message(ActionsChanged())
        self._look_at_approval(self._backend, draft)

    def show_evidence(self) -> None:
        """Show the sources of the line under the cursor, or else all sources."""
        draft = self.draft
        own = evidence_of(draft, self.text.line_number) if draft is not None else ()
        whole = draft.evidence if draft is not None else ()
        self.query_one("#evidence-head", Static).update(
            Content.styled(evidence_head(len(own), len(whole)) if draft is not None else "", "$text-muted")
        )
        self.passages.empty_text = "Nothing was found to base it on." if draft is not None else ""
        self.passages.show(own or whole)

    def show_passage(self) -> None:
        """Show the text of the selected passage."""
        passage = self.passages.selected
        self.passage.show(passage.text if passage is not None else "")

    @work(group="read-around", exclusive=True)
    async def read_around(self, backend: Backend) -> None:
        """Show the section that contains the selected passage, with the passage marked."""
        evidence = self.passages.selected
        if evidence is None:
            return
        try:
            found = await backend.passage(evidence.path, evidence.start_line, evidence.end_line)
        except DonnaError as error:
            self._complain(error)
            return
        if evidence == self.passages.selected:
            first = found.start_line
            self.passage.show(found.text, range(found.mark_start - first, found.mark_end - first + 1))
            self.passage.focus()

    def _without_text(self, words: str) -> None:
        """Show a notice in the place of the text."""
        self.workers.cancel_group(self, "read")
        self._draft = None
        self.text.empty_text = self.diff.empty_text = words
        self.text.show(None)
        self.diff.show((), empty=words)
        self._show_foot("", "$text-muted")
        self._show_head()
        self.show_evidence()
        self.post_message(ActionsChanged())

    def _show_head(self) -> None:
        row = self.selected
        remarks = self.draft.remarks if self.draft is not None else ()
        shown = Content("")
        if row is not None and not self.has_class("-empty"):
            shown = draft_head(row, time(), remarks, waiting_edit=self.waits(row))
            if row.id in self._composing:
                shown = Content.assemble(shown, "\n", ("It is being composed anew …", "$text-accent"))
        self.query_one("#draft-head", Static).update(shown)

    def _show_foot(self, words: str, style: str) -> None:
        self.query_one("#draft-foot", Static).update(Content.styled(line_of(words), style))

    def _show_queue(self, drafts: tuple[DraftRow, ...]) -> None:
        """Show the queue and the number of drafts in it."""
        was_said = self.notice.has_focus
        self.remove_class("-empty")
        if was_said:
            self.rows.focus()
        waiting = sum(each.state is DraftState.WAITING for each in drafts)
        failed = sum(each.state is DraftState.FAILED for each in drafts)
        parts = (
            f"{waiting} waiting",
            f"{failed} failed" if failed else "",
            "decided ones too" if self._everything else "",
        )
        words = " · ".join(filter(None, parts))
        self.query_one("#queue-head", Static).update(Content.styled(words, "$text-disabled"))
        self.follow()

    def _say(self, words: Words) -> None:
        """Show a notice instead of the parts."""
        had_focus = self.has_focus_within
        self.notice.say(words)
        self.add_class("-empty")
        self._without_text("")
        if had_focus:
            self.notice.focus()

    def _is_about_drafts(self, event: EngineEvent) -> bool:
        if isinstance(event, VaultWritten) or event.name.startswith(_ABOUT_DRAFTS):
            return True
        path = getattr(event, "path", "")
        return bool(path) and any(path == each.path for each in self.rows.drafts)
