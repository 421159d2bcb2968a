"""Define the registry of actions, read by bindings, footer, key list, palette, `donna keys` and the key reference."""

from __future__ import annotations

from collections.abc import Iterable

from donna_tui.tui.lib.action import Action, ActionState, Context, Pane, checks
from donna_tui.tui.lib.panes import PANES
from donna_tui.tui.memory.actions import FORGET, MEMORY, SUGGESTION
from donna_tui.tui.review.actions import MEETINGS, REVIEW
from donna_tui.tui.vault.actions import CONFLICT, CONFLICT_COPY, PLAN, VAULT

_RESULT_AND_EDITOR = checks("selected", "no_editor")


def needs_editor(state: ActionState) -> str:
    """Require a line of the start page, or a selected result and an editor."""
    return "" if state.start_line else _RESULT_AND_EDITOR(state)


_SEARCH = (
    Action(
        id="search.open",
        title="open",
        help="Open the note in your editor, at the line of the passage; in the preview, follow a link.",
        group="search",
        context="search",
        keys=("enter",),
        footer=True,
        why_not=needs_editor,
    ),
    Action(
        id="search.edit",
        title="edit",
        help="Open the note in your editor, at the line of the passage.",
        group="search",
        context="search",
        keys=("e",),
        why_not=needs_editor,
    ),
    Action(
        id="search.show",
        title="show in Vault",
        help="Show the passage in its note, in the Vault.",
        group="search",
        context="search",
        keys=("v", "f7"),
        footer=True,
        why_not=checks("selected"),
    ),
    Action(
        id="search.next",
        title="next result",
        help="Select the next result, or line of the start page, while you type.",
        group="search",
        context="search.input",
        keys=("down",),
    ),
    Action(
        id="search.previous",
        title="previous result",
        help="Select the previous result while you type; above the first one, recall the previous question.",
        group="search",
        context="search.input",
        keys=("up",),
    ),
    Action(
        id="search.obsidian",
        title="Obsidian",
        help="Open the note in Obsidian.",
        group="search",
        context="search",
        keys=("o",),
        footer=True,
        why_not=checks("selected", "no_desktop"),
    ),
    Action(
        id="search.copy-link",
        title="copy link",
        help="Copy a wikilink to the section, to paste into a note.",
        group="search",
        context="search",
        keys=("y",),
        footer=True,
        why_not=checks("selected"),
    ),
    Action(
        id="search.copy-text",
        title="copy text",
        help="Copy the passage with its citation.",
        group="search",
        context="search",
        keys=("Y",),
        why_not=checks("selected"),
    ),
    Action(
        id="search.unfold",
        title="other passages",
        help="Show or hide the other passages of the selected note.",
        group="search",
        context="search",
        keys=("space", "right", "l"),
        why_not=checks("selected"),
    ),
    Action(
        id="search.fold",
        title="fold",
        help="Show only the best passage of the selected note.",
        group="search",
        context="search",
        keys=("left", "h"),
        why_not=checks("selected"),
    ),
    Action(
        id="search.more",
        title="more like this",
        help="Find passages that resemble the selected one.",
        group="search",
        context="search",
        keys=("m",),
        footer=True,
        why_not=checks("selected"),
    ),
    Action(
        id="search.correct",
        title="correct",
        help="Correct a passage that is wrong; the note itself is not changed.",
        group="search",
        context="search",
        keys=("W",),
        why_not=checks("selected"),
    ),
    Action(
        id="search.why",
        title="why",
        help="Explain why the selected passage is found, or why a note of your choice is not.",
        group="search",
        context="search",
        keys=("w", "f6"),
        why_not=checks("question"),
    ),
    Action(
        id="search.filter",
        title="filter",
        help="Search in one folder or one source only.",
        group="search",
        context="search",
        keys=("f", "ctrl+f"),
        footer=True,
        why_not=checks("running"),
    ),
    Action(
        id="search.near",
        title="near misses",
        help="Show or hide near misses.",
        group="search",
        context="search",
        keys=("n", "alt+n"),
        footer=True,
        why_not=checks("question"),
    ),
    Action(
        id="search.mode",
        title="mode",
        help="Switch between hybrid, semantic and keyword search.",
        group="search",
        context="search",
        keys=("s", "ctrl+t"),
        footer=True,
    ),
    Action(
        id="search.undo",
        title="undo",
        help="Preview and undo the last change of Donna in the vault.",
        group="search",
        context="search",
        keys=("z",),
        why_not=checks("running"),
    ),
    Action(
        id="search.redo",
        title="redo",
        help="Preview and redo the last undone change in the vault.",
        group="search",
        context="search",
        keys=("Z",),
        why_not=checks("running"),
    ),
    Action(
        id="search.refresh",
        title="refresh",
        help="Search again, with the index as it is now.",
        group="search",
        context="search",
        keys=("r", "f5"),
        why_not=checks("question"),
    ),
)

_ACTIVITY = (
    Action(
        id="activity.details",
        title="details",
        help="Show the selected problem or event in full.",
        group="activity",
        context="activity",
        keys=("enter",),
        footer=True,
    ),
    Action(
        id="activity.retry",
        title="retry",
        help="Try the selected problem again now.",
        group="activity",
        context="activity",
        keys=("r",),
        footer=True,
        why_not=checks("problem", "retryable"),
    ),
    Action(
        id="activity.retry-all",
        title="retry all",
        help="Try every failed note again now.",
        group="activity",
        context="activity",
        keys=("R",),
        footer=True,
        why_not=checks("running"),
    ),
    Action(
        id="activity.resume",
        title="resume",
        help="Resume indexing after it paused for confirmation.",
        group="activity",
        context="activity",
        keys=("c",),
        footer=True,
        why_not=checks("paused"),
    ),
    Action(
        id="activity.filter",
        title="filter",
        help="Show only events that contain some words, or of one kind.",
        group="activity",
        context="activity",
        keys=("f",),
        footer=True,
    ),
    Action(
        id="activity.pause",
        title="pause",
        help="Pause the log, or resume it.",
        group="activity",
        context="activity",
        keys=("space",),
        footer=True,
    ),
)

_LISTS = (
    Action(id="list.down", title="down", help="Next row.", group="list", context="list", keys=("j", "down")),
    Action(id="list.up", title="up", help="Previous row.", group="list", context="list", keys=("k", "up")),
    Action(
        id="list.first",
        title="first",
        help="First row; in Review g redrafts, and home is the first row.",
        group="list",
        context="list",
        keys=("g", "home"),
    ),
    Action(id="list.last", title="last", help="Last row.", group="list", context="list", keys=("G", "end")),
    Action(
        id="list.page-down", title="page down", help="A page down.", group="list", context="list", keys=("pagedown",)
    ),
    Action(id="list.page-up", title="page up", help="A page up.", group="list", context="list", keys=("pageup",)),
)

_VIEWS = (
    Action(id="search.focus", title="search", help="Go to the search box.", group="search", keys=("/",), footer=True),
    Action(
        id="view.zoom",
        title="zoom",
        help="Maximise the preview, or restore it.",
        group="view",
        keys=("+", "f3"),
        footer=True,
    ),
    *(
        Action(
            id=entry.action,
            title=entry.title,
            help=f"Go to the {entry.title} screen.",
            group="view",
            keys=entry.keys,
        )
        for entry in PANES.values()
    ),
    Action(id="view.next", title="next part", help="Go to the next part of the screen.", group="view", keys=("tab",)),
    Action(
        id="view.previous",
        title="previous part",
        help="Go to the previous part of the screen.",
        group="view",
        keys=("shift+tab",),
    ),
    Action(
        id="view.jump",
        title="jump",
        help="Label everything visible, and jump to the label you type.",
        group="view",
        keys=("ctrl+g", "'"),
    ),
    Action(
        id="view.backward",
        title="go back",
        help="Go back to the note, question or screen before; in a text box, at its beginning.",
        group="view",
        keys=("ctrl+left",),
    ),
    Action(
        id="view.forward",
        title="go forward",
        help="Go forward again after going back; in a text box, at its end.",
        group="view",
        keys=("ctrl+right",),
    ),
    Action(id="view.back", title="back", help="Back one level. It never quits.", group="view", keys=("escape",)),
)

_NOW = (
    Action(
        id="draft.weekly-review",
        title="Weekly review now",
        help="Draft the review of this week now; it appears in Review.",
        group="draft",
        keys=("alt+s",),
        why_not=checks("running"),
    ),
    Action(
        id="draft.daily-reflection",
        title="Daily reflection now",
        help="Draft the reflection on today now; it appears in Review.",
        group="draft",
        keys=("alt+t",),
        why_not=checks("running"),
    ),
)

_APP = (
    Action(
        id="app.space",
        title="space",
        help="Switch to another space, or add a folder.",
        group="app",
        keys=("ctrl+o", "alt+o"),
    ),
    Action(
        id="app.model",
        title="download model",
        help="Download the model for semantic search.",
        group="app",
        keys=("f4", "alt+m"),
        footer=True,
        hides=True,
        why_not=checks("running", "no_model_to_get"),
    ),
    Action(
        id="app.switch",
        title="switch note",
        help="Open a note or a heading by a part of its name, or create a note.",
        group="app",
        keys=("ctrl+k", "alt+k"),
        why_not=checks("running"),
    ),
    Action(
        id="app.daily",
        title="daily note",
        help="Open the note of today in the folder Daily; create it if it is missing.",
        group="app",
        keys=("alt+d",),
        why_not=checks("running"),
    ),
    Action(
        id="app.theme",
        title="theme",
        help="Choose a theme; each is previewed while it is selected.",
        group="app",
        keys=("f9", "alt+y"),
    ),
    Action(
        id="app.palette",
        title="palette",
        help="Find any action by its name.",
        group="app",
        keys=("ctrl+p", ":"),
        footer=True,
    ),
    Action(
        id="app.keys",
        title="keys",
        help="List the keys that work here, and run one.",
        group="app",
        keys=("?",),
        footer=True,
    ),
    Action(
        id="app.help", title="help", help="Explain what this screen shows.", group="app", keys=("f1", "H"), footer=True
    ),
    Action(
        id="app.suspend",
        title="suspend",
        help="Suspend Donna; `fg` in the shell resumes it. In an editor on this screen the key undoes typing.",
        group="app",
        keys=("ctrl+z",),
    ),
    Action(id="app.quit", title="quit", help="Stop indexing and quit.", group="app", keys=("ctrl+q", "Q")),
)

_ALL = (
    *_SEARCH,
    *VAULT,
    *REVIEW,
    *MEETINGS,
    *MEMORY,
    *_ACTIVITY,
    *PLAN,
    *CONFLICT,
    *CONFLICT_COPY,
    *FORGET,
    *SUGGESTION,
    *_VIEWS,
    *_LISTS,
    *_NOW,
    *_APP,
)
ACTIONS: dict[str, Action] = {action.id: action for action in _ALL}

BEFORE_INPUTS = frozenset(("app.switch",))
"""Actions whose keys act before a text input receives them: ctrl+k would delete to the end of the line."""

TAKES_FROM: dict[str, str] = {"review.regenerate": "list.first"}
"""Actions of a screen that take precedence over a list action with the same default key."""


def actions_in(*contexts: Context) -> Iterable[Action]:
    """Return the actions of some contexts, in the order of the registry."""
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
