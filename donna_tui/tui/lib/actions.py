"""Define the registry of actions, read by bindings, footer, key list, palette, `donna keys` and the key reference."""

from __future__ import annotations

from collections.abc import Iterable

from donna_tui.tui.lib.action import Action, ActionState, Context, Pane
from donna_tui.tui.lib.panes import PANES
from donna_tui.tui.memory.actions import MEMORY, MEMORY_DIALOGS
from donna_tui.tui.review.actions import MEETINGS, REVIEW
from donna_tui.tui.vault.actions import VAULT, VAULT_DIALOGS

_SEARCH = (
    Action("search.open", "enter", "open", needs="selected no_editor", unless="start_line", footer=True,
        help="Open the note in your editor, at the line of the passage; in the preview, follow a link."),
    Action("search.edit", "e", "edit", needs="selected no_editor", unless="start_line",
        help="Open the note in your editor, at the line of the passage."),
    Action("search.show", "v,f7", "show in Vault", needs="selected", footer=True,
        help="Show the passage in its note, in the Vault."),
    Action("search.next", "down", "next result", context="search.input",
        help="Select the next result, or line of the start page, while you type."),
    Action("search.previous", "up", "previous result", context="search.input",
        help="Select the previous result while you type; above the first one, recall the previous question."),
    Action("search.obsidian", "o", "Obsidian", "Open the note in Obsidian.", needs="selected no_desktop", footer=True),
    Action("search.copy-link", "y", "copy link", needs="selected", footer=True,
        help="Copy a wikilink to the section, to paste into a note."),
    Action("search.copy-text", "Y", "copy text", "Copy the passage with its citation.", needs="selected"),
    Action("search.unfold", "space,right,l", "other passages", needs="selected",
        help="Show or hide the other passages of the selected note."),
    Action("search.fold", "left,h", "fold", "Show only the best passage of the selected note.", needs="selected"),
    Action("search.more", "m", "more like this", needs="selected", footer=True,
        help="Find passages that resemble the selected one."),
    Action("search.correct", "W", "correct", needs="selected",
        help="Correct a passage that is wrong; the note itself is not changed."),
    Action("search.why", "w,f6", "why", needs="question",
        help="Explain why the selected passage is found, or why a note of your choice is not."),
    Action("search.filter", "f,ctrl+f", "filter", needs="running", footer=True,
        help="Search in one folder or one source only."),
    Action("search.near", "n,alt+n", "near misses", "Show or hide near misses.", needs="question", footer=True),
    Action("search.mode", "s,ctrl+t", "mode", "Switch between hybrid, semantic and keyword search.", footer=True),
    Action("search.undo", "z", "undo", "Preview and undo Donna's last change in the vault.", needs="running"),
    Action("search.redo", "Z", "redo", "Preview and redo the last undone change in the vault.", needs="running"),
    Action("search.refresh", "r,f5", "refresh", "Search again, with the index as it is now.", needs="question"),
)  # fmt: skip

_ACTIVITY = (
    Action("activity.details", "enter", "details", "Show the selected problem or event in full.", footer=True),
    Action("activity.retry", "r", "retry", needs="problem retryable", footer=True,
        help="Try the selected problem again now."),
    Action("activity.retry-all", "R", "retry all", needs="running", footer=True,
        help="Rescan the vault, and try every failed note again now."),
    Action("activity.resume", "c", "confirm deletions", needs="paused", footer=True, hides=True,
        help="Confirm that the missing notes were deleted, and remove them from the index."),
    Action("activity.filter", "f", "filter", "Show only events that contain some words, or of one kind.", footer=True),
    Action("activity.pause", "space", "pause", "Pause the log, or resume it.", footer=True),
)  # fmt: skip

_LISTS = (
    Action("list.down", "j,down", "down", "Go to the next row."),
    Action("list.up", "k,up", "up", "Go to the previous row."),
    Action("list.first", "g,home", "first", "Go to the first row; in Review, g redrafts and home goes there."),
    Action("list.last", "G,end", "last", "Go to the last row."),
    Action("list.page-down", "pagedown", "page down", "Go down a page."),
    Action("list.page-up", "pageup", "page up", "Go up a page."),
)  # fmt: skip

_VIEWS = (
    Action("search.focus", "/", "search", context="global", footer=True,
        help="Go to the search box; in Vault and Activity to the filter, in Memory to the question."),
    Action("view.zoom", "+,f3", "zoom", "Maximise the preview or the current part, or restore it.", footer=True),
    *(
        Action(entry.action, ",".join(entry.keys), entry.title, f"Go to the {entry.title} screen.")
        for entry in PANES.values()
    ),
    Action("view.next", "tab", "next part", "Go to the next part of the screen."),
    Action("view.previous", "shift+tab", "previous part", "Go to the previous part of the screen."),
    Action("view.jump", "ctrl+g,'", "jump", "Label everything visible, and jump to the label you type."),
    Action("view.backward", "ctrl+left", "go back",
        help="Go back to the note, question or screen before; in a text box, at its beginning."),
    Action("view.forward", "ctrl+right", "go forward", "Go forward again after going back; in a text box, at its end."),
    Action("view.back", "escape", "back", "Go back one level; it never quits Donna."),
)  # fmt: skip

_APP = (
    Action("draft.weekly-review", "alt+s", "weekly review now", needs="running",
        help="Draft the review of this week now; it appears in Review."),
    Action("draft.daily-reflection", "alt+t", "daily reflection now", needs="running",
        help="Draft the reflection on today now; it appears in Review."),
    Action("app.space", "ctrl+o,alt+o", "space", "Switch to another space, or add a folder."),
    Action("app.model", "f4,alt+m", "download model", needs="running no_model_to_get", footer=True, hides=True,
        help="Download the model for semantic search."),
    Action("app.switch", "ctrl+k,alt+k", "switch note", needs="running",
        help="Open a note or a heading by a part of its name, or create a note."),
    Action("app.daily", "alt+d", "daily note", needs="running",
        help="Open the note of today, as set in Obsidian or else in the folder Daily; create it if it is missing."),
    Action("app.theme", "f9,alt+y", "theme", "Choose a theme; each is previewed while it is selected."),
    Action("app.palette", "ctrl+p,:", "palette", "Find any action by its name.", footer=True),
    Action("app.keys", "?", "keys", "List the keys that work here, and run one.", footer=True),
    Action("app.help", "f1,H", "help", "Explain what this screen shows.", footer=True),
    Action("app.suspend", "ctrl+z", "suspend",
        help="Suspend Donna; `fg` in the shell resumes it. In an editor on this screen the key undoes typing."),
    Action("app.quit", "ctrl+q,Q", "quit", "Stop indexing and quit."),
)  # fmt: skip

_ALL = (
    *_SEARCH, *VAULT, *REVIEW, *MEETINGS, *MEMORY, *_ACTIVITY,
    *VAULT_DIALOGS, *MEMORY_DIALOGS, *_VIEWS, *_LISTS, *_APP,
)  # fmt: skip
ACTIONS: dict[str, Action] = {action.id: action for action in _ALL}

BEFORE_INPUTS = frozenset(("app.switch",))
"""Actions whose keys act before a text input receives them: ctrl+k would delete to the end of the line."""

TAKES_FROM: dict[str, str] = {"review.regenerate": "list.first"}
"""Actions of a screen that take precedence over a list action with the same default key."""


def actions_in(*contexts: Context) -> Iterable[Action]:
    return (action for action in ACTIONS.values() if action.context in contexts)


def active_contexts(state: ActionState) -> tuple[Context, ...]:
    """Return the contexts whose keys are active now, nearest first."""
    inside, *typing = PANES[state.pane].contexts
    return (*typing, inside, "global") if typing and state.typing else (inside, "list", "global")


_TITLES_HERE: dict[tuple[str, Pane], str] = {
    ("search.focus", "activity"): "filter",
    ("search.focus", "vault"): "filter",
    ("search.focus", "memory"): "recall",
}


def title_here(action: Action, state: ActionState) -> str:
    """Return the title of an action on the current screen, as used in the footer and the key list."""
    return _TITLES_HERE.get((action.id, state.pane), action.title)
