"""Define actions, their state, and the objections that disable them."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

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
    "plan": "preview of a change",
    "conflict": "conflict dialog",
    "resolve": "conflict copy dialog",
    "forget": "forget dialog",
    "suggestion": "suggestion dialog",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ActionState:
    """The facts that decide which actions are possible now. Text fields are reasons; empty means no objection."""

    pane: Pane = "search"
    typing: bool = False
    running: bool = False
    loading: str = ""
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
    no_move: str = ""
    no_undo: str = ""
    no_redo: str = ""
    unsaved_edit: bool = False
    outside_edit: bool = False
    conflict: bool = False
    memory: bool = False
    no_open: str = ""
    no_forget: str = ""
    no_bring_back: str = ""
    no_tick: str = ""
    no_writing: str = ""
    no_prompt: str = ""
    no_budget: str = ""
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
    zoomable: bool = True


_MISSING = {
    "running": "The vault is not open yet.",
    "selected": "No result is selected.",
    "question": "Nothing has been searched for yet.",
    "problem": "No problem is selected.",
    "retryable": "Retrying cannot fix this problem; its description says what can.",
    "paused": "No deletion is waiting for confirmation.",
    "row": "Nothing is selected.",
    "note": "No note is selected.",
    "unsaved_edit": "This note has no unsaved edit.",
    "outside_edit": "Nothing here was edited outside.",
    "conflict": "No conflict copy is selected.",
    "memory": "No memory is selected.",
    "filtered": "No filter is set.",
    "draft": "No draft is selected.",
    "to_approve": "No draft is waiting.",
    "meeting": "No meeting is selected.",
    "calendar": "No calendar is followed yet.",
    "zoomable": "There is nothing to maximise.",
}
"""The objection to an action that needs a fact which is false."""


@dataclass(frozen=True, slots=True)
class Action:
    """A user action.

    `id` is its stable name in keymaps: the noun under which it is listed, and a verb. `defaults` are its keys in the
    form of Textual's bindings; the first one is shown. Keys that print a character act only outside text inputs.
    `title` fits a footer; `help` is one sentence. Its keys are active in the context of its noun, or everywhere if the
    noun is not a context, unless it has another `context`. `needs` are fields of `ActionState`, in the order in which
    they are checked: each fact must be true, and each reason empty, `unless` another fact is true. The `footer` shows
    the action while it is possible.
    """

    id: str
    defaults: str
    title: str
    help: str
    _: KW_ONLY
    context: Context = ""
    footer: bool = False
    needs: str = ""
    unless: str = ""

    def __post_init__(self) -> None:
        if not self.context:
            object.__setattr__(self, "context", self.group if self.group in ACTIVE_IN else "global")

    @property
    def group(self) -> str:
        """Return the noun under which it is listed: `search` for `search.open`."""
        return self.id.partition(".")[0]

    @property
    def keys(self) -> tuple[str, ...]:
        return tuple(self.defaults.split(","))

    @property
    def method(self) -> str:
        """Return the name of the method that runs the action: `action_search_open` for `search.open`."""
        return "action_" + self.id.replace(".", "_").replace("-", "_")

    def why_not(self, state: ActionState) -> str:
        """Return the reason why the action is not possible now; empty if it is."""
        if self.unless and getattr(state, self.unless):
            return ""
        for field in self.needs.split():
            value: bool | str = getattr(state, field)
            objection = value if isinstance(value, str) else "" if value else state.loading or _MISSING[field]
            if objection:
                return objection
        return ""
