"""The Review screen: the waiting drafts, the selected one with its hunks, and the sources of each line."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from time import time

from textual import work
from textual.app import ComposeResult
from textual.containers import Container
from textual.content import Content
from textual.getters import query_one
from textual.message import Message
from textual.timer import Timer
from textual.widget import Widget
from textual.widgets import Static

from donna_tui.drafts.hunks import without_hunks
from donna_tui.tui.lib.action import ActionState
from donna_tui.tui.lib.backend import Backend
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.containers import Panel
from donna_tui.tui.lib.dialogs import one_dialog, showing_errors
from donna_tui.tui.lib.diff import DiffView
from donna_tui.tui.lib.error_messages import error_text
from donna_tui.tui.lib.external import ExternalPrograms
from donna_tui.tui.lib.humanize import one_line
from donna_tui.tui.lib.inputs import Notice, NoticeText, error_notice
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.lib.lines import RowList
from donna_tui.tui.lib.messages import ActionsChanged, EditNote, EngineEvents
from donna_tui.tui.lib.passage_view import PassageView
from donna_tui.tui.review import wording
from donna_tui.tui.review.draft_text import DraftText
from donna_tui.tui.review.flows import DraftFlows
from donna_tui.tui.review.lists import DraftList, EvidenceList, citation_text
from donna_tui.tui.vault.parts_pane import LOAD_DELAY, PartsPane
from donna_tui.tui.vault.wording import why_no_write, why_not_here
from donna_tui.types.drafts import Draft, DraftRow, DraftState
from donna_tui.types.errors import DonnaError
from donna_tui.types.events import EngineEvent, EngineStateChanged, NoteIndexed
from donna_tui.vault.write.changes import OperationKind, Outcome, Plan

_UNSAVED_EDIT = "your own edit of this draft is unsaved, and not included"

FIRST_LOAD_DELAY = 0.2
"""Seconds after the start until drafts are counted, so that the first search is not delayed."""


class ReviewPane(PartsPane):
    """The Review screen: the queue of drafts, the selected one, and its evidence.

    The class `-diffing` is set while the draft is shown as a diff.
    """

    rows = query_one(DraftList)
    text = query_one(DraftText)
    diff = query_one("#draft-diff", DiffView)
    passages = query_one(EvidenceList)
    passage = query_one("#evidence-text", PassageView)

    @dataclass
    class Counted(Message):
        waiting: int

    BINDINGS = bindings("review")
    parts = ("queue", "draft", "evidence")
    places = (*parts, "passage")

    def __init__(self, programs: ExternalPrograms) -> None:
        super().__init__("review", programs)
        self._draft: Draft | None = None
        self._excluded: dict[str, frozenset[wording.HunkText]] = {}
        """The excluded hunks by the id of their draft."""
        self._composing: set[str] = set()
        self._everything = False
        self._show = ""
        self.has_question = self._is_declined = False
        self._reading: Timer | None = None

    def compose(self) -> ComposeResult:
        with Panel("Drafts", id="queue-part", name="queue"):
            yield Static(id="queue-head", classes="one-line")
            yield DraftList(id="queue")
        with Container(id="draft-detail"):
            with Panel("Draft", id="draft-part", name="draft"):
                yield Static(id="draft-head")
                yield DraftText(id="draft-text")
                yield DiffView(id="draft-diff")
                yield Static(id="draft-foot")
            with Panel("Sources", id="evidence-part", name="evidence"):
                yield Static(id="evidence-head", classes="one-line")
                yield EvidenceList(id="evidence")
                yield PassageView(id="evidence-text")
        yield Notice(id="review-notice", name="queue")

    def on_mount(self) -> None:
        self._show_notice(wording.LOADING)

    def connect(self, backend: Backend) -> None:
        """Connect to the backend; the waiting drafts are counted soon, even while the screen is hidden."""
        self._backend = backend
        if self.display:
            self.reload()
        else:
            self.set_timer(FIRST_LOAD_DELAY, self.reload)

    def action_state(self, base: ActionState) -> ActionState:
        row = None if self.has_class("-empty") else self.selected
        decided = wording.why_decided(row)
        composing = "It is being drafted." if row is not None and row.id in self._composing else ""
        return replace(
            base,
            draft=row is not None,
            has_question=self.has_question,
            to_approve=any(each.state is DraftState.WAITING for each in self.rows.items),
            no_approve=composing or wording.why_no_approval(row),
            no_hunk=decided or self._why_no_hunk(),
            no_edit=self._why_no_edit_now(base),
            no_edit_here=composing or self._why_no_note(),
            no_reject=composing or wording.why_no_rejection(row),
            no_again=composing or wording.why_no_redraft(row),
            no_undo=self._no_undo,
            no_redo=self._no_redo,
            zoomable=not self.has_class("-empty"),
        )

    def go_back(self) -> None:
        if self.screen.focused is self.passage:
            self.show_passage()
            self.show_part("evidence")
        elif self._is_at("evidence"):
            self.show_part("draft")
        elif self._is_at("draft"):
            self.show_part("queue")
        elif self.has_question:
            self.has_question, self._is_declined = False, True
            self.reload()
        elif self._everything:
            self.action_review_everything()

    def on_row_list_selected(self, event: RowList.Selected) -> None:
        event.stop()
        if event.rows is self.rows:
            self.follow()
        else:
            self.show_passage()
            self.post_message(ActionsChanged())

    def on_draft_text_moved(self, event: DraftText.Moved) -> None:
        event.stop()
        self.show_evidence()
        self.post_message(ActionsChanged())

    def action_review_open(self) -> None:
        """Open the next level: the draft, its sources, the section around one; or agree to create a repository."""
        if self.has_question:
            self.has_question = False
            self._show_notice(wording.CREATING)
            self.create_repository()
        elif self.selected is not None and wording.lacks_repository(self.selected):
            self.action_review_regenerate()
        elif self._is_at("queue"):
            self.show_part("draft")
        elif self._is_at("draft"):
            self.show_part("evidence")
        else:
            self.read_around()

    def action_review_follow(self) -> None:
        self.show_part("draft")
        self.text.follow_link()

    def action_review_diff(self) -> None:
        was_there, is_hidden = self._is_at("draft"), not self.query_one("#draft-part").region
        self.set_class(is_hidden or not self.has_class("-diffing"), "-diffing")
        if was_there or is_hidden:
            self.show_part("draft")
        self.post_message(ActionsChanged())

    def action_review_layout(self) -> None:
        self.add_class("-diffing")
        self.diff.toggle_layout()

    def action_review_everything(self) -> None:
        self._everything = not self._everything
        self.reload()

    def _part(self, place: str) -> Widget:
        if self.has_class("-empty"):
            return self.notice
        shown = self.diff if self.has_class("-diffing") else self.text
        return {"queue": self.rows, "draft": shown, "evidence": self.passages, "passage": self.passage}[place]

    def _why_no_hunk(self) -> str:
        if self.has_class("-diffing"):
            return f"You can exclude hunks only in the text view; {shown_key('review.diff')} shows it."
        if not self.query_one("#draft-part").region:
            return f"The draft is not visible; {shown_key('review.open')} shows it."
        if self.draft is None:
            return "It has no text."
        return "" if self.text.hunk is not None else "This line is not in a hunk that can be excluded."

    def _why_no_edit_now(self, base: ActionState) -> str:
        if not self._is_at("evidence"):
            return self._why_no_note() or base.no_editor
        passage = self.passages.selected
        return base.no_editor if passage is not None and passage.note else "No note contains this passage."

    def _why_no_note(self) -> str:
        row = self.selected
        if row is None or (row.path and row.state in (DraftState.WAITING, DraftState.APPROVED)):
            return ""
        return "This draft has no note that can be edited."

    @property
    def selected(self) -> DraftRow | None:
        return self.rows.selected

    @property
    def draft(self) -> Draft | None:
        """Return the selected draft, once it is loaded."""
        row = self.selected
        return self._draft if row is not None and self._draft is not None and self._draft.row.id == row.id else None

    @property
    def left_out(self) -> frozenset[int]:
        """Return the numbers of the hunks left out of the selected draft."""
        draft = self.draft
        return wording.numbers_of(draft, self._excluded_of(draft.row)) if draft is not None else frozenset()

    def _excluded_of(self, row: DraftRow) -> frozenset[wording.HunkText]:
        return self._excluded.get(row.id, frozenset())

    def has_unsaved_edit(self, row: DraftRow | None) -> bool:
        return bool(row and row.path and self.vault_flows is not None and self.vault_flows.edits.of(row.path))

    def action_review_approve(self) -> None:
        row = self.selected
        if row is not None:
            remarks = (_UNSAVED_EDIT,) if self.has_unsaved_edit(row) else ()
            self._decide(partial(self._draft_flows.approve, row, self._excluded_of(row), remarks))

    def action_review_reject(self) -> None:
        if self.selected is not None:
            self._decide(partial(self._draft_flows.reject, self.selected))

    def action_review_approve_all(self) -> None:
        waiting = tuple(row for row in self.rows.items if row.state is DraftState.WAITING)
        self._decide(partial(self._draft_flows.approve_all, waiting, self._excluded))

    def action_review_undo(self) -> None:
        self._decide(partial(self.flows.step_back, OperationKind.UNDO))

    def action_review_redo(self) -> None:
        self._decide(partial(self.flows.step_back, OperationKind.REDO))

    async def action_review_edit(self) -> None:
        passage = self.passages.selected
        if not self._is_at("evidence"):
            if self.selected is not None:
                self._edit(self.selected, here=False)
        elif passage is not None:
            self.post_message(EditNote(passage.note, passage.start_line))

    def action_review_edit_here(self) -> None:
        if self.selected is not None:
            self._edit(self.selected, here=True)

    def action_review_copy_citation(self) -> None:
        passage, row = self.passages.selected, self.selected
        if self._is_at("evidence") and passage is not None:
            self._programs.copy(citation_text(passage), "The citation")
        elif row is not None:
            self._programs.copy(f"[[{(row.path or row.target).removesuffix('.md')}]]", "The link to this draft")

    def action_review_copy_text(self) -> None:
        passage, draft = self.passages.selected, self.draft
        if self._is_at("evidence") and passage is not None:
            self._programs.copy(f"{passage.text}\n\n{citation_text(passage)}\n", "The passage")
        elif draft is not None:
            self._programs.copy(without_hunks(draft.text, self.left_out), "The text of the draft")

    @property
    def _draft_flows(self) -> DraftFlows:
        return DraftFlows(self, self.backend)

    @one_dialog("decide")
    async def _decide(self, flow: Callable[[], Awaitable[Outcome | None]]) -> None:
        await flow()
        self.reload()

    @one_dialog("decide")
    async def _edit(self, row: DraftRow, *, here: bool) -> None:
        line = max(1, self.text.line_number)
        with showing_errors(self):
            note = await self.backend.notes.read_note(row.path)
            objection = why_no_write(note, f"In the Vault, {shown_key('vault.edit')}")
            if here and not objection:
                objection = why_not_here(note, shown_key("review.edit"))
            if objection:
                self.notify(objection, timeout=6)
            else:
                await self.flows.edit_text(note, line, here=here)
                self.reload()

    @work(group="compose")
    async def action_review_regenerate(self) -> None:
        row = self.selected
        if row is None or (row.state is not DraftState.FAILED and not await self._draft_flows.agrees_to_compose(row)):
            return
        rows = [row]
        try:
            with showing_errors(self):
                if wording.lacks_repository(row):
                    if not await self._draft_flows.creates_repository():
                        return
                    rows += [other for other in await self._draft_flows.without_repository() if other.id != row.id]
                await self._compose_each(rows)
        finally:
            self.reload_soon()

    async def _compose_each(self, rows: Sequence[DraftRow]) -> None:
        try:
            for row in rows:
                self._composing.add(row.id)
                self.reload()
                new = await self.backend.drafts.regenerate(row.id)
                self.notify(f"Redrafted: {one_line(new.title)}.", timeout=4)
                self.reload(new.id)
        finally:
            self._composing -= {other.id for other in rows}

    @one_dialog("repository")
    async def create_repository(self) -> None:
        """Create a repository after the user agreed, and write the drafts that failed without one."""
        with showing_errors(self):
            await self.backend.notes.create_repository()
            await self._compose_each(await self._draft_flows.without_repository())
        self.reload_soon()

    @work(group="compose")
    async def write_today(self, skill: str) -> None:
        """Write the draft of a skill for today or this week, and select it; show a notice if there is none."""
        if self._backend is None:
            return
        self.notify(f"Writing the {skill.replace('_', ' ')} …", timeout=3)
        with showing_errors(self):
            row = await self._backend.drafts.write_today(skill)
            if row is not None and row.state in (DraftState.WAITING, DraftState.FAILED):
                self.reload(row.id)
            else:
                self.notify(wording.why_none_today(skill, row), timeout=6)

    def on_engine_events(self, event: EngineEvents) -> None:
        """Schedule reading the queue after it or a note in it has changed, or the vault is missing or back."""
        if any(map(self._is_about_drafts, event.events)):
            self.reload_soon()

    def reload(self, show: str = "") -> None:
        """Reload the queue, and select a draft if it exists."""
        self._show = show or self._show
        if self._backend is not None:
            self._load(self._backend)

    action_review_refresh = reload

    @work(group="load", exclusive=True)
    async def _load(self, backend: Backend) -> None:
        try:
            drafts = await backend.drafts.drafts(everything=self._everything)
        except DonnaError as error:
            self._show_notice(error_notice(error, ("review.refresh", "try again")))
            return
        await self._read_steps(backend)
        self.post_message(self.Counted(sum(draft.state is DraftState.WAITING for draft in drafts)))
        reveal, self._show = self._show, ""
        self.rows.show(drafts, time(), reveal=reveal)
        self.has_question = bool(drafts) and not self._is_declined and all(map(wording.lacks_repository, drafts))
        if self.has_question:
            self._show_notice(wording.repository_prompt(backend.status().root, len(drafts)))
        elif drafts:
            self._show_queue(drafts)
        else:
            self._show_notice(wording.NOTHING_AT_ALL if self._everything else wording.NOTHING_WAITS)

    def follow(self) -> None:
        """Update the other parts for the selected draft: known facts at once, its text after a short delay."""
        self._show_head()
        self.post_message(ActionsChanged())
        if self._reading is not None:
            self._reading.stop()
        self._reading = self.set_timer(LOAD_DELAY, self._read_selected)

    def _read_selected(self) -> None:
        if not self.display:
            return  # read again when the screen is shown
        row = self.selected
        if row is None or self._backend is None or self.has_class("-empty"):
            self._without_text("")
        elif objection := wording.why_no_text(row):
            self._without_text(objection)
        else:
            self._read(row)

    @work(group="read", exclusive=True)
    async def _read(self, row: DraftRow) -> None:
        try:
            draft = await self.backend.drafts.draft(row.id)
        except DonnaError as error:
            self._without_text(error_text(error))
            return
        same = self.draft is not None and self.draft.row.id == row.id
        if draft != self._draft or self.text.line_count == 0:
            self._draft = draft
            self.text.show(draft, self.left_out, keep=same)
        self._show_head()
        self.show_evidence()
        self.post_message(ActionsChanged())
        await self._report_approval(draft)

    @work(group="approval", exclusive=True)
    async def _reload_approval(self, draft: Draft) -> None:
        await self._report_approval(draft)

    async def _report_approval(self, draft: Draft) -> None:
        plan: Plan | None = None
        if draft.row.state is not DraftState.WAITING:
            self._show_foot(wording.why_decided(draft.row), "$text-disabled")
        else:
            try:
                approval = self.backend.drafts.plan_approval(draft.row.id, without=self.left_out, etag=draft.etag)
                plan = await approval
            except DonnaError as error:
                self._show_foot(f"Cannot be approved: {error_text(error)}", "$text-warning")
            else:
                excluded = wording.hunks_excluded(len(self.left_out))
                parts = (wording.approval_words(plan, draft.row), *excluded, *plan.remarks)
                words = " · ".join(parts)
                self._show_foot(f"Approving: {words}", "$text-muted")
        self.diff.show((wording.change_of(draft, self.left_out, plan),))

    def action_review_hunk(self) -> None:
        draft, hunk = self.draft, self.text.hunk
        if draft is None or hunk is None:
            return
        numbers = self.left_out ^ {hunk.number}
        texts = wording.hunk_texts(draft).items()
        self._excluded[draft.row.id] = frozenset(text for text, number in texts if number in numbers)
        self.text.leave_out(self.left_out)
        self.post_message(ActionsChanged())
        self._reload_approval(draft)

    def show_evidence(self) -> None:
        draft = self.draft
        own = wording.evidence_of(draft, self.text.line_number) if draft is not None else ()
        whole = draft.evidence if draft is not None else ()
        words = wording.evidence_head(len(own), len(whole)) if draft is not None else ""
        self.query_one("#evidence-head", Static).update(Content.styled(words, "$text-muted"))
        none = "It quotes no note, or it was drafted on another device."
        self.passages.empty_text = none if draft is not None else ""
        self.passages.set_items(own or whole)

    def show_passage(self) -> None:
        passage = self.passages.selected
        text, self.passage.path = (passage.text, passage.cited_path) if passage is not None else ("", "")
        self.passage.show(text)

    @work(group="read-around", exclusive=True)
    async def read_around(self) -> None:
        """Show the section that contains the selected passage, with the passage marked."""
        evidence = self.passages.selected
        if evidence is None:
            return
        with showing_errors(self):
            found = await self.backend.passage(evidence.path, evidence.start_line, evidence.end_line)
            if evidence == self.passages.selected:
                self.passage.show_passage(found)
                self.passage.focus()

    def _without_text(self, words: str) -> None:
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
        draft, remarks = self.draft, tuple[str, ...]()
        if draft is not None:
            changed = wording.hunks_changed(len(self._excluded_of(draft.row)) - len(self.left_out))
            remarks = (*changed, *draft.remarks)
        shown = Content("")
        if row is not None and not self.has_class("-empty"):
            lines = wording.head_lines(row, time(), remarks, unsaved_edit=self.has_unsaved_edit(row))
            shown = Content("\n").join(lines)
            if row.id in self._composing:
                shown = Content.assemble(shown, "\n", ("Redrafting …", "$text-accent"))
        self.query_one("#draft-head", Static).update(shown)

    def _show_foot(self, words: str, style: str) -> None:
        self.query_one("#draft-foot", Static).update(Content.styled(one_line(words), style))

    def _show_queue(self, drafts: tuple[DraftRow, ...]) -> None:
        self._hide_notice(self.rows)
        waiting = sum(draft.state is DraftState.WAITING for draft in drafts)
        failed = sum(draft.state is DraftState.FAILED for draft in drafts)
        parts = (
            f"{waiting} waiting",
            f"{failed} failed" if failed else "",
            "all listed" if self._everything else "",
        )
        words = " · ".join(filter(None, parts))
        self.query_one("#queue-head", Static).update(Content.styled(words, "$text-disabled"))
        self.follow()

    def _show_notice(self, words: NoticeText) -> None:
        self._set_notice(words, takes_focus=self.has_focus_within)
        self._without_text("")

    def _is_about_drafts(self, event: EngineEvent) -> bool:
        if isinstance(event, EngineStateChanged):
            return event.state in ("paused", "running")
        if wording.may_change_drafts(event) or (isinstance(event, NoteIndexed) and event.why == "new"):
            return True
        path = getattr(event, "path", "")
        return bool(path) and any(path == row.path for row in self.rows.items)
