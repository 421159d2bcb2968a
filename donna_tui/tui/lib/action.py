"""Define actions, their state, and the objections that disable them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from donna_tui.tui.lib.panes import PANES

Context = str
"""The context in which the keys of an action are active: `global`, a pane, its input (`search.input`), or a dialog."""

Pane = str
"""The name of a pane."""

ACTIVE_IN: dict[Context, str] = {
    "global": "everywhere",
    **{
        context: entry.title if context == entry.name else f"{entry.title}, while typing"
        for entry in PANES.values()
        for context in entry.contexts
    },
    "list": "lists",
    "plan": "a change before it is made",
    "conflict": "a change that cannot be made",
    "resolve": "a conflict copy",
    "forget": "before something is forgotten",
    "suggestion": "while a preference is offered",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionState:
    """The facts that decide which actions are possible now. Text fields are reasons; empty means no objection."""

    pane: Pane = "search"
    typing: bool = False
    running: bool = False
    selected: bool = False
    start_line: bool = False
    question: bool = False
    no_editor: str = ""
    no_desktop: str = ""
    problem: bool = False
    retryable: bool = False
    paused: bool = False
    row: bool = False
    note: bool = False
    several: bool = False
    no_write: str = ""
    no_write_here: str = ""
    no_undo: str = ""
    no_redo: str = ""
    waiting_edit: bool = False
    outside_edit: bool = False
    conflict: bool = False
    memory: bool = False
    no_open: str = ""
    no_forget: str = ""
    no_bring_back: str = ""
    no_tick: str = ""
    no_writing: str = ""
    no_prompt: str = ""
    no_suggestion: str = ""
    filtered: bool = False
    draft: bool = False
    has_question: bool = False
    to_approve: bool = False
    no_approve: str = ""
    no_hunk: str = ""
    no_edit: str = ""
    no_edit_here: str = ""
    no_reject: str = ""
    no_again: str = ""
    meeting: bool = False
    no_note: str = ""
    no_draft_now: str = ""
    calendar: bool = False
    no_model_to_get: str = ""


Objection = Callable[[ActionState], str]


def always(state: ActionState) -> str:
    """Return no objection."""
    return ""


def needs_result(state: ActionState) -> str:
    """Require a selected result."""
    return "" if state.selected else "No result is selected."


def needs_question(state: ActionState) -> str:
    """Require a previous search."""
    return "" if state.question else "Nothing has been searched for yet."


def needs_space(state: ActionState) -> str:
    """Require an open vault."""
    return "" if state.running else "The vault is not open yet."


def needs_no_model(state: ActionState) -> str:
    """Require an open vault without the embedding model."""
    return needs_space(state) or state.no_model_to_get


def needs_editor(state: ActionState) -> str:
    """Require a line of the start page, or a selected result and an editor."""
    return "" if state.start_line else needs_result(state) or state.no_editor


def needs_desktop(state: ActionState) -> str:
    """Require a selected result and a desktop that can open a link."""
    return needs_result(state) or state.no_desktop


def needs_retryable(state: ActionState) -> str:
    """Require a problem that a retry may solve."""
    if not state.problem:
        return "No problem is selected."
    return "" if state.retryable else "Retrying does not help here; the problem says what does."


def needs_pause(state: ActionState) -> str:
    """Require paused indexing."""
    return "" if state.paused else "Indexing is not paused."


def needs_row(state: ActionState) -> str:
    """Require a selected note or folder."""
    return "" if state.row else "Nothing is selected."


def needs_note(state: ActionState) -> str:
    """Require a selected note."""
    return "" if state.note else "No note is selected."


def needs_writable(state: ActionState) -> str:
    """Require a note that Donna may write to."""
    return needs_note(state) or state.no_write


def needs_movable(state: ActionState) -> str:
    """Require a folder, several selected rows, or a note that Donna may write to."""
    return needs_space(state) if state.several else needs_writable(state)


def needs_editor_for_note(state: ActionState) -> str:
    """Require a note and an editor."""
    return needs_note(state) or state.no_editor


def needs_copy_in_editor(state: ActionState) -> str:
    """Require a note that Donna may write to, and an editor."""
    return needs_writable(state) or state.no_editor


def needs_plain_text(state: ActionState) -> str:
    """Require a note that Donna may write to and that a text field can show."""
    return needs_writable(state) or state.no_write_here


def needs_desktop_for_note(state: ActionState) -> str:
    """Require a note and a desktop that can open a link."""
    return needs_note(state) or state.no_desktop


def needs_undoable(state: ActionState) -> str:
    """Require an operation to undo."""
    return needs_space(state) or state.no_undo


def needs_redoable(state: ActionState) -> str:
    """Require an operation to redo."""
    return needs_space(state) or state.no_redo


def needs_waiting_edit(state: ActionState) -> str:
    """Require an unsaved edit of the note."""
    return "" if state.waiting_edit else "This note has no unsaved edit."


def needs_outside_edit(state: ActionState) -> str:
    """Require a note that was edited outside Donna, or a folder with one."""
    return "" if state.outside_edit else "Nothing here was edited outside."


def needs_conflict(state: ActionState) -> str:
    """Require a selected conflict copy."""
    return "" if state.conflict else "No conflict copy is selected."


def needs_memory(state: ActionState) -> str:
    """Require a selected memory."""
    return "" if state.memory else "No memory is selected."


def needs_memory_to_open(state: ActionState) -> str:
    """Require a memory that can be opened; one that is stored in a note needs an editor."""
    return needs_memory(state) or state.no_open


def needs_own_memory(state: ActionState) -> str:
    """Require a memory that is not stored in a note."""
    return needs_memory(state) or state.no_forget


def needs_open_task(state: ActionState) -> str:
    """Require a task that is not done, and a vault that Donna may write to."""
    return needs_memory(state) or state.no_tick or needs_writing(state)


def needs_writing(state: ActionState) -> str:
    """Require an open vault with a writer."""
    return needs_space(state) or state.no_writing


def needs_forgotten(state: ActionState) -> str:
    """Require a memory that was forgotten here, and not permanently."""
    return state.no_bring_back


def needs_suggestion(state: ActionState) -> str:
    """Require an unanswered preference that was stated in a chat."""
    return state.no_suggestion


def needs_prompt(state: ActionState) -> str:
    """Require a recall with at least one packed memory."""
    return state.no_prompt


def needs_memory_filter(state: ActionState) -> str:
    """Require a filter on the list of memories."""
    return "" if state.filtered else "Everything is listed."


@dataclass(frozen=True, slots=True, kw_only=True)
class Action:
    """A user action.

    `id` is its stable name in keymaps; `title` fits a footer; `help` is one sentence; `group` is the noun under which
    it is listed. `keys` are the defaults in Textual's names; the first one is shown. Keys that print a character act
    only outside text inputs. `why_not` returns the reason why the action is not possible now; with `hides` the footer
    then omits it.
    """

    id: str
    title: str
    help: str
    group: str
    context: Context = "global"
    keys: tuple[str, ...]
    footer: bool = False
    hides: bool = False
    why_not: Objection = always

    @property
    def method(self) -> str:
        """Return the name of the method that runs the action: `action_search_open` for `search.open`."""
        return "action_" + self.id.replace(".", "_").replace("-", "_")
