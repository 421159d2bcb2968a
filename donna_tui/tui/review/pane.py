"""The Review screen: the waiting drafts, the selected one with its parts, and the sources of each line."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from textual.app import ComposeResult
from textual.containers import Container
from textual.widget import Widget
from textual.widgets import Static

from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.diff import DiffView
from donna_tui.tui.lib.error_messages import sentence
from donna_tui.tui.lib.inputs import Notice, Words
from donna_tui.tui.lib.jump import JumpTarget
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import RowList
from donna_tui.tui.lib.markdown import FollowLink, LinkFollowed
from donna_tui.tui.lib.messages import ActionsChanged
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.review.draft_text import DraftText
from donna_tui.tui.review.lists import DraftList, EvidenceList
from donna_tui.tui.review.reading import FIRST_LOOK, ReviewReading
from donna_tui.tui.review.wording import (
    CREATING,
    LOADING,
    lacks_repository,
    note_of,
    why_decided,
    why_no_approval,
)
from donna_tui.tui.vault.wording import why_nothing
from donna_tui.types.drafts import DraftState
from donna_tui.types.errors import DonnaError

PLACES = ("queue", "draft", "evidence", "passage")
_PARTS = ("queue", "draft", "evidence")


class ReviewPane(ReviewReading):
    """The layout of the Review screen. The width decides which parts are visible: the classes `-on-queue`, `-on-draft`
    and `-on-evidence` name the current part, and `-diffing` is set while the draft is shown as a diff.
    """

    BINDINGS = bindings("review")

    def compose(self) -> ComposeResult:
        with Panel("Drafts", id="queue-part"):
            yield Static(id="queue-head")
            yield DraftList(id="queue")
        with Container(id="draft-detail"):
            with Panel("Draft", id="draft-part"):
                yield Static(id="draft-head")
                yield DraftText(id="draft-text")
                yield DiffView(id="draft-diff")
                yield Static(id="draft-foot")
            with Panel("Sources", id="evidence-part"):
                yield Static(id="evidence-head")
                yield EvidenceList(id="evidence")
                yield PassageView(id="evidence-text")
        yield Notice(keys=self._keys, id="review-notice")

    def on_mount(self) -> None:
        self._say(LOADING)

    def connect(self, backend: Backend) -> None:
        """Connect to the backend; the waiting drafts are counted soon, even while the screen is hidden."""
        self._backend = backend
        if self.display:
            self.look()
        else:
            self.set_timer(FIRST_LOOK, self.look)

    def cannot_open(self, error: DonnaError) -> None:
        """Show why there is no engine."""
        self._say(Words(sentence(error.message), sentence(error.hint or ""), is_error=True))

    def action_state(self, base: ActionState) -> ActionState:
        """Return the state that decides which actions are possible."""
        row = None if self.has_class("-empty") else self.selected
        decided = why_decided(row)
        composing = "It is being composed." if row is not None and row.id in self._composing else ""
        return replace(
            base,
            pane="review",
            draft=row is not None,
            asks=self.asks,
            to_approve=any(each.state is DraftState.WAITING for each in self.rows.drafts),
            no_approve=composing or why_no_approval(row, self._keys),
            no_hunk=decided or self._why_no_hunk(),
            no_edit=self._why_no_edit_now(base),
            no_edit_here=composing or self._why_no_note(),
            no_reject=composing or decided,
            no_again=composing or decided,
            no_undo=why_nothing(self._undoable, redo=False),
            no_redo=why_nothing(self._redoable, redo=True),
        )

    def focus_first(self) -> None:
        """Focus the queue, or the notice in its place."""
        self.go("queue")

    def go_back(self) -> bool:
        """Go one level out. Return False if this is the outermost one."""
        if self.has_class("-zoomed"):
            self.remove_class("-zoomed")
        elif self.passage.has_focus:
            self.show_passage()
            self.go("evidence")
        elif self.is_in_evidence:
            self.go("draft")
        elif self._is_at("draft"):
            self.go("queue")
        elif self.asks:
            self.decline()
        elif self._everything:
            self.action_review_everything()
        else:
            return False
        return True

    def go(self, place: str) -> None:
        """Focus a part, and show it on narrow screens."""
        self._place("evidence" if place == "passage" else place)
        self.screen.set_focus(self._part(place))

    @property
    def is_in_evidence(self) -> bool:
        return self._is_at("evidence")

    def jump_targets(self) -> Iterable[JumpTarget]:
        """Yield the visible rows and parts."""
        for rows in (self.rows, self.passages):
            if rows.is_on_screen and rows.region:
                yield from rows.jump_targets()
        if self.text.is_on_screen and self.text.region:
            yield from self.text.jump_targets()
        for widget in (self._part("draft"), self.passage):
            if widget.is_on_screen and widget.region:
                yield JumpTarget(*widget.region.offset, go=widget.focus)

    def on_descendant_focus(self) -> None:
        """Show the part with the focus on narrow screens."""
        focused = self.screen.focused
        if focused in (self.rows, self.notice):
            self._place("queue")
        elif focused in (self.text, self.diff):
            self._place("draft")
        elif focused in (self.passages, self.passage):
            self._place("evidence")

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        """Update the draft for the selected row of the queue, and the text for the selected passage."""
        event.stop()
        if event.rows is self.rows:
            self.follow()
        else:
            self.show_passage()
            self.post_message(ActionsChanged())

    def on_row_list_opened(self, event: RowList.Opened) -> None:
        """Open the row on a double click, as Enter does."""
        event.stop()
        self.call_later(self.app.run_action, "run('review.open')", self.screen)

    def on_draft_text_moved(self, event: DraftText.Moved) -> None:
        """Update the sources for the line under the cursor."""
        event.stop()
        self.show_evidence()
        self.post_message(ActionsChanged())

    def action_review_open(self) -> None:
        """Go one level in: to the draft, its sources, the section around one; or agree to create a repository."""
        if self._backend is not None and self.asks:
            self.asks = False
            self._say(CREATING)
            self.create_repository(self._backend)
        elif self.selected is not None and lacks_repository(self.selected):
            self.action_review_regenerate()
        elif self._is_at("queue"):
            self.go("draft")
        elif self._is_at("draft"):
            self.go("evidence")
        elif self._backend is not None:
            self.read_around(self._backend)

    def action_review_follow(self) -> None:
        """Follow the link of the line."""
        self.go("draft")
        self.text.follow_link()

    def on_link_followed(self, event: LinkFollowed) -> None:
        """Say of which note the link is: of the draft, or of the passage that is shown beside it."""
        event.stop()
        passage, draft = self.passages.selected, self.draft
        if self._is_at("evidence") and passage is not None:
            self.post_message(FollowLink(passage.path, event.ref))
        elif draft is not None:
            self.post_message(FollowLink(draft.row.path, event.ref))

    def action_review_hunk(self) -> None:
        """Leave a part out, or include it again."""
        self.leave_out()

    def action_review_diff(self) -> None:
        """Show the draft as a diff, or as a note."""
        was_there = self._is_at("draft")
        self.toggle_class("-diffing")
        if was_there:
            self.go("draft")
        self.post_message(ActionsChanged())

    def action_review_layout(self) -> None:
        """Show the diff side by side, or below each other."""
        self.add_class("-diffing")
        self.diff.toggle_layout()

    def action_review_everything(self) -> None:
        """List decided drafts too, or only waiting ones."""
        self._everything = not self._everything
        self.look()

    def action_review_refresh(self) -> None:
        """Read the queue again."""
        self.look()

    def action_view_next(self) -> None:
        """Go to the next part, even if it is not visible."""
        self._walk(1)

    def action_view_previous(self) -> None:
        """Go to the previous part."""
        self._walk(-1)

    def action_view_zoom(self) -> None:
        """Zoom the part with the focus, or restore the layout."""
        self.toggle_class("-zoomed")

    def _walk(self, by: int) -> None:
        here = self.screen.focused
        place = next((each for each in PLACES if self._part(each) is here), "queue")
        self.go(PLACES[(PLACES.index(place) + by) % len(PLACES)])

    def _part(self, place: str) -> Widget:
        if self.has_class("-empty"):
            return self.notice
        shown = self.diff if self.has_class("-diffing") else self.text
        return {"queue": self.rows, "draft": shown, "evidence": self.passages, "passage": self.passage}[place]

    def _why_no_hunk(self) -> str:
        if self.has_class("-diffing"):
            key = shown_key(self._keys["review.diff"], typing=False)
            return f"Parts are left out in the text, not in the difference: {key} shows it."
        if self.draft is None:
            return "There is no text of it."
        return "" if self.text.hunk is not None else "This line is not a part that can be left out."

    def _why_no_edit_now(self, base: ActionState) -> str:
        if not self.is_in_evidence:
            return self._why_no_note() or base.no_editor
        no_note = "" if note_of(self.passages.selected) else "No note holds this passage."
        return no_note or base.no_editor

    def _why_no_note(self) -> str:
        """Return why the draft has no note to edit."""
        row = self.selected
        if row is None or (row.path and row.state in (DraftState.WAITING, DraftState.APPROVED)):
            return ""
        return "There is no note of it to edit."

    def _is_at(self, place: str) -> bool:
        """Return whether a part is the current one, which is set before the focus follows."""
        return self.has_class(f"-on-{place}")

    def _place(self, place: str) -> None:
        for each in _PARTS:
            self.set_class(each == place, f"-on-{each}")
