"""Dialogs for the path of a note, and for a plan with its diff."""

from __future__ import annotations

import posixpath
import unicodedata
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import KW_ONLY, dataclass
from enum import StrEnum

from textual import work
from textual.content import Content
from textual.widgets import Static

from donna_tui.safety.terminal import clean_line
from donna_tui.text.fuzzy import FuzzyMatch
from donna_tui.tui.lib.bindings import bindings
from donna_tui.tui.lib.dialogs import LinePrompt
from donna_tui.tui.lib.diff import VIEW_KEYS, DiffDialog, DiffView
from donna_tui.tui.lib.error_messages import sentence
from donna_tui.tui.lib.humanize import count, plural
from donna_tui.tui.lib.picker import Choice, Picker
from donna_tui.tui.vault.wording import KIND_WORDS, plan_title
from donna_tui.types.errors import DonnaError
from donna_tui.vault.note.diff import FileDiff
from donna_tui.vault.write.changes import OperationKind, Plan

_MAX_SUMMARY = 6
_MAX_REMARKS = 4


class Answer(StrEnum):
    DO = "do"
    DISCARD = "discard"
    MORE = "more"
    FEWER = "fewer"
    UNLINK = "unlink"


@dataclass(frozen=True, slots=True)
class Proposal:
    """A plan as it is shown. Texts are raw.

    `remarks` are shown before those of the plan. `does` is the verb on the key that applies it; it and `title` follow
    from the plan if they are empty. `summary` describes the change in lines. With `steps` the user can select more or
    fewer steps: an undo adds a step to an undo plan, and removes one from a redo plan. `can_discard` offers to drop the
    text permanently.
    """

    plan: Plan
    remarks: tuple[str, ...] = ()
    _: KW_ONLY
    title: str = ""
    does: str = ""
    summary: tuple[str, ...] = ()
    steps: int = 0
    most_steps: int = 0
    can_discard: bool = False


class PlanScreen(DiffDialog[Answer]):
    """Show a `Proposal`. Escape closes it without a change."""

    BINDINGS = bindings("plan")

    def __init__(self, proposal: Proposal) -> None:
        plan = proposal.plan
        self._proposal = proposal
        self._is_redone = plan.kind is OperationKind.REDO
        more, fewer = ("plan.fewer", "plan.more") if self._is_redone else ("plan.more", "plan.fewer")
        self._steps = {Answer.MORE: (more, "one more")} if proposal.steps < proposal.most_steps else {}
        self._steps |= {Answer.FEWER: (fewer, "one fewer")} if proposal.steps > 1 else {}
        does = ("plan.apply", proposal.does or KIND_WORDS[plan.kind].does)
        leave = ("esc", "keep for later" if proposal.can_discard else "cancel")
        unlink = [("plan.unlink", "unlink them")] if plan.broken_links else []
        drop = [("plan.discard", "discard")] if proposal.can_discard else []
        super().__init__(
            clean_line(proposal.title or plan_title(plan, proposal.steps)),
            DiffView(id="plan-diff"),
            [does, leave, *unlink, *self._steps.values(), *drop, *VIEW_KEYS],
            lead=_lines(proposal.summary, _MAX_SUMMARY),
            caption=Content(),
            remarks=_lines(map(sentence, (*proposal.remarks, *plan.remarks)), _MAX_REMARKS),
        )

    def on_mount(self) -> None:
        self.view.show(self._proposal.plan.changes, empty="No note changes.")

    def on_diff_view_ready(self, event: DiffView.Ready) -> None:
        event.stop()
        is_undone = self._proposal.plan.kind is OperationKind.UNDO
        self.query_one("#plan-count", Static).update(counted(self.view.diffs, is_undone=is_undone))

    def action_plan_apply(self) -> None:
        self.dismiss(Answer.DO)

    def action_plan_more(self) -> None:
        """Undo one more step, or redo one fewer."""
        self._step(Answer.FEWER if self._is_redone else Answer.MORE)

    def action_plan_fewer(self) -> None:
        """Redo one more step, or undo one fewer."""
        self._step(Answer.MORE if self._is_redone else Answer.FEWER)

    def _step(self, answer: Answer) -> None:
        if answer in self._steps:
            self.dismiss(answer)

    def action_plan_unlink(self) -> None:
        if self._proposal.plan.broken_links:
            self.dismiss(Answer.UNLINK)

    def action_plan_discard(self) -> None:
        if self._proposal.can_discard:
            self.discard_edit("plan.discard", Answer.DISCARD)


def counted(diffs: tuple[FileDiff, ...], *, is_undone: bool = False) -> Content:
    removed, added = sum(diff.removed for diff in diffs), sum(diff.added for diff in diffs)
    more = f"{plural(added, 'line')} {'restored' if is_undone else 'added'}"
    fewer = f"{plural(removed, 'line')} removed"
    parts = [*([(fewer, "$text-error")] if removed else []), *([(more, "$text-success")] if added else [])]
    where = [(f"in {plural(len(diffs), 'note')}", "$text-muted")] if len(diffs) > 1 else []
    gone = sum(diff.before_exists and not diff.after_exists for diff in diffs) if is_undone else 0
    lost = [(f"{plural(gone, 'note')} deleted", "$text-error")] if gone else []
    shown = (parts or [("no lines changed", "$text-muted")]) + where + lost
    return Content.styled(" · ", "$text-disabled").join(Content.styled(text, style) for text, style in shown)


def _lines(texts: Iterable[str], most: int) -> Content:
    lines = [clean_line(text) for text in texts]
    rest = [f"and {count(len(lines) - most)} more"] if len(lines) > most else []
    return Content("\n").join(Content(line) for line in [*lines[:most], *rest])


ENDING = ".md"


class PathPrompt(LinePrompt):
    """An input with a path in it; enter answers with it, ending added. With `is_folder` it is the path of a folder.

    `check` returns why a path cannot be used, empty if it can. Its result is shown before enter applies the path.
    """

    def __init__(
        self,
        title: str,
        path: str,
        *,
        problem: str,
        taken: frozenset[str],
        check: Callable[[str], Awaitable[str]],
        is_folder: bool = False,
    ) -> None:
        self._what = "folder" if is_folder else "note"
        placeholder = f"Folder/Name of the {self._what}"
        super().__init__(title, "continue", placeholder=placeholder, hint_for=lambda _: "", text=path)
        self._check = check
        self._problem = problem
        self._taken = taken

    def on_mount(self) -> None:
        self.field.cursor_position = len(self._text.removesuffix(ENDING))
        self._show_problem(self._problem)

    def _typed(self, text: str) -> None:
        if text == self._text:
            return
        path = self._answer(text)
        objection = self._objection(path) if path else ""
        self._show_problem(objection)
        if path and not objection:
            self._examine(path)

    @work(group="examine", exclusive=True)
    async def _examine(self, path: str) -> None:
        try:
            problem = await self._check(path)
        except DonnaError as error:
            problem = error.message
        if path == self._answer(self.field.value):
            self._show_problem(sentence(problem), path)

    def _answer(self, typed: str) -> str:
        if typed == self._text and not typed.endswith("/"):
            return typed  # it may be the name of an existing note in another form of Unicode
        return _resolved(typed.strip().strip("/")) if self._what == "folder" else note_path(typed)

    def _objection(self, answer: str) -> str:
        if answer in self._taken:
            return f"A {self._what} named {clean_line(answer)} already exists."
        return "" if answer else "Type a name."

    def _show_problem(self, problem: str, path: str = "") -> None:
        becomes = f"It will be called {clean_line(path)}" if path and path != self.field.value else ""
        self._show_hint(problem or becomes, "$text-warning" if problem else "$text-muted")


def _resolved(path: str) -> str:
    """Resolve `.`, `..` and doubled slashes, as a shell does; the path may still lead out of the vault."""
    return "" if (resolved := posixpath.normpath(path)) == "." else resolved


def note_path(typed: str) -> str:
    """Convert the typed text to the path of a note: stripped, and with its extension; empty if there is no name.

    The name is composed (NFC), since text that was copied from a file manager of macOS is not; the folder may exist.
    """
    folder, slash, name = typed.strip().rpartition("/")
    if name in ("", ".", ".."):
        return ""
    path = _resolved(f"{folder}{slash}{unicodedata.normalize('NFC', name)}")
    return path if path.lower().endswith((".md", ".markdown")) else path + ENDING


class FolderPrompt(Picker[str]):
    """Every folder, by letters of its path, and a new one. Answers with a path; the top of the vault is empty."""

    def __init__(self, title: str, folders: Iterable[str]) -> None:
        top = Choice(value="", title="the top of the vault")
        choices = [top, *(Choice(value=path, title=path) for path in folders)]
        super().__init__(title, choices, placeholder="name of a folder, or of a new one")

    def found(self, query: str) -> list[tuple[Choice[str], FuzzyMatch]]:
        typed = query.strip().strip("/")
        found = super().found(typed)
        if typed and all(choice.value != typed for choice in self.choices):
            found.append((Choice(value=typed, title=typed, note="a new folder"), FuzzyMatch(0.0, ())))
        return found
