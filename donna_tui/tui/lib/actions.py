"""Define the registry of actions, read by bindings, footer, key list, palette, `donna keys` and the key reference."""

from __future__ import annotations

from collections.abc import Iterable

from donna_tui.tui.lib.action import Action, ActionState, Context, Pane
from donna_tui.tui.lib.panes import PANES

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

_VAULT = (
    Action("vault.open", "enter", "open", needs="row", footer=True,
        help="Read the note, or fold the folder; in the note, follow a link; in the history, show the change."),
    Action("vault.resolve", "c", "resolve", needs="conflict", footer=True, hides=True,
        help="Compare a conflict copy with its note, and resolve it: keep one of them or both."),
    Action("vault.edit", "e", "edit", needs="note no_editor", footer=True,
        help="Open the note itself in your editor; what you save is one step of undo."),
    Action("vault.edit-copy", "E", "edit a copy", needs="note no_write no_editor",
        help="Edit a copy in your editor; the diff is shown before anything is written."),
    Action("vault.commit", "C", "commit", needs="outside_edit", footer=True, hides=True,
        help="Commit what was edited outside, in the note or in the folder, so that undo can restore what was there "
            "before; without a git repository, create one."),
    Action("vault.edit-here", "i", "edit here", needs="note no_write no_write_here",
        help="Edit the note on this screen; the diff is shown before anything is written."),
    Action("vault.new", "n", "new", "Create a note, empty or from a template.", needs="running", footer=True),
    Action("vault.move", "m", "move", needs="note no_move", unless="several", footer=True,
        help="Rename or move the note, the folder or what is selected; links are rewritten with it."),
    Action("vault.delete", "D", "delete", needs="note no_move", unless="several", footer=True,
        help="Delete the note, the folder or what is selected; undo restores it."),
    Action("vault.mark", "space", "select", needs="row",
        help="Select or deselect the note or folder; moving and deleting act on all selected ones."),
    Action("vault.new-folder", "N", "new folder", "Create a folder at the cursor.", needs="running"),
    Action("vault.undo", "z", "undo", needs="running no_undo", footer=True,
        help="Preview and undo Donna's last change; in the history, the selected one."),
    Action("vault.redo", "Z", "redo", "Preview and redo the last undone change.", needs="running no_redo"),
    Action("vault.diff", "d", "diff", needs="row", footer=True,
        help="Show what was edited outside, or what the selected change did."),
    Action("vault.history", "h", "history", needs="running", footer=True,
        help="Show the history of the note; pressed again, that of the whole vault."),
    Action("vault.blame", "b", "blame", "Show who wrote each line of the section, and when.", needs="note"),
    Action("vault.links", "L", "links", needs="note",
        help="Show the links to the note, and those in it, each with the line around it."),
    Action("vault.note", "v", "note", "Show the text of the note.", needs="note"),
    Action("vault.copy-link", "y", "copy link", needs="note",
        help="Copy a wikilink to the note, to paste into another one."),
    Action("vault.copy-text", "Y", "copy text", "Copy the text of the note, or of the selected change.", needs="note"),
    Action("vault.obsidian", "o", "Obsidian", "Open the note in Obsidian.", needs="note no_desktop"),
    Action("vault.filter", "f", "filter", "Filter the tree by letters of a path, or by a state.", needs="running"),
    Action("vault.left", "left", "left", "Fold the folder, or go one tab or part to the left."),
    Action("vault.right", "right", "right", "Unfold the folder, or go one tab or part to the right."),
    Action("vault.next-section", "]", "next section", "Go to the next heading of the note.", needs="note"),
    Action("vault.previous-section", "[", "previous section", "Go to the previous heading of the note.", needs="note"),
    Action("vault.layout", "s", "side by side", "Show a diff side by side, or inline."),
    Action("vault.unfold", "x", "unchanged lines", "Show or fold the lines of a diff that did not change."),
    Action("vault.wrap", "w", "wrap", "Wrap long lines of a diff, or cut them."),
    Action("vault.discard", "X", "discard edit", "Discard the unsaved edit of this note.", needs="unsaved_edit"),
    Action("vault.refresh", "r,f5", "refresh", "Refresh the tree and the history.", needs="running"),
    Action("vault.next", "down", "next row", "Select the next row while you type.", context="vault.input"),
    Action("vault.previous", "up", "previous row", "Select the previous row while you type.", context="vault.input"),
)  # fmt: skip

_REVIEW = (
    Action("review.approve", "a", "approve", needs="draft no_approve", footer=True,
        help="Preview the approval, and approve: one commit."),
    Action("review.hunk", "space", "exclude", needs="draft no_hunk", footer=True,
        help="Exclude the part under the cursor from the note, or include it again."),
    Action("review.edit", "e", "edit", needs="draft no_edit", footer=True,
        help="Edit a copy of the draft in your editor; on a source, open the note that contains it."),
    Action("review.reject", "r", "reject", needs="draft no_reject", footer=True,
        help="Preview the rejection, and reject; no draft is written for this occasion again."),
    Action("review.regenerate", "g", "redraft", needs="draft no_again", footer=True,
        help="Redraft from your current notes, or retry a failed draft."),
    Action("review.diff", "d", "diff", "Show the draft as a diff, or as a note.", needs="draft", footer=True),
    Action("review.approve-all", "A", "approve all", needs="to_approve", footer=True,
        help="Preview all waiting drafts, exclude some, and approve the others in one commit."),
    Action("review.open", "enter", "continue", needs="draft", unless="has_question",
        help="Go from the list to the draft, to its sources, to the section around a source."),
    Action("review.follow", "v", "follow link", needs="draft",
        help="Follow the link in the line under the cursor, to its note."),
    Action("review.edit-here", "i", "edit here", "Edit the draft on this screen.", needs="draft no_edit_here"),
    Action("review.undo", "z", "undo", needs="running no_undo",
        help="Preview and undo the last change to the vault, approvals included."),
    Action("review.redo", "Z", "redo", needs="running no_redo",
        help="Preview and redo the last undone change to the vault."),
    Action("review.everything", "x", "show all", needs="running",
        help="List approved and rejected drafts too, or only waiting ones."),
    Action("review.copy-citation", "y", "copy citation", needs="draft",
        help="Copy the citation of the selected source, or a link to the draft."),
    Action("review.copy-text", "Y", "copy text", "Copy the selected passage, or the draft.", needs="draft"),
    Action("review.layout", "s", "side by side", "Show the diff side by side, or inline.", needs="draft"),
    Action("review.refresh", "f5", "refresh", "Refresh the list.", needs="running"),
)  # fmt: skip

_MEETINGS = (
    Action("meetings.open", "enter", "open", needs="meeting no_note", footer=True,
        help="Go to the draft in Review, or to the note in the Vault."),
    Action("meetings.write", "n", "write now", needs="meeting no_draft_now", footer=True,
        help="Write the draft of the meeting now, whether or not it has ended; it appears in Review."),
    Action("meetings.never", "N", "never for this series", needs="meeting",
        help="Stop drafting this series automatically, or start again."),
    Action("meetings.earlier", "[,left", "earlier", needs="running calendar", footer=True,
        help="Go to the previous day or week."),
    Action("meetings.later", "],right", "later", "Go to the next day or week.", needs="running calendar", footer=True),
    Action("meetings.today", "t", "today", "Go to today.", needs="running calendar", footer=True),
    Action("meetings.span", "w", "day or week", needs="running calendar", footer=True,
        help="Show one day, or a whole week."),
    Action("meetings.refresh", "u,f5", "read calendars", "Read all calendars now.", needs="running", footer=True),
    Action("meetings.add", "c", "add calendar", needs="running", footer=True,
        help="Follow a calendar: an .ics file or folder, its web address, or a CalDAV server."),
)  # fmt: skip

_MEMORY = (
    Action("memory.open", "enter", "open", needs="memory no_open", footer=True,
        help="Show a memory in its source; a task opens in your editor, at its line."),
    Action("memory.remember", "n,alt+n", "remember", needs="running", footer=True,
        help="Remember a sentence: a fact, a preference, a decision."),
    Action("memory.add-task", "a,alt+a", "add task", needs="running no_writing", footer=True,
        help="Add a task: a check box in a note, with its due date."),
    Action("memory.tick", "space", "done", needs="memory no_tick running no_writing", footer=True, hides=True,
        help="Check the box of the selected task in its note, with today's date."),
    Action("memory.tasks", "T,alt+u", "tasks", needs="running", footer=True,
        help="List the tasks of your notes, or everything else again."),
    Action("memory.pin", "p", "pin", needs="memory no_forget", footer=True,
        help="Pin a memory, so that it has the highest importance; press again to unpin it."),
    Action("memory.correct", "w", "correct", "Correct a memory that is wrong.", needs="memory", footer=True),
    Action("memory.forget", "D", "forget", needs="memory no_forget", footer=True,
        help="Preview exactly what would be forgotten, and forget it."),
    Action("memory.copy-prompt", "c,alt+c", "copy prompt", needs="no_prompt", footer=True,
        help="Copy what was recalled as a block for a prompt, without what must stay on this machine."),
    Action("memory.less", "[,alt+left,left", "smaller budget", needs="running", footer=True,
        help="Recall within a smaller budget of tokens."),
    Action("memory.more", "],alt+right,right", "larger budget", needs="running", footer=True,
        help="Recall within a larger budget of tokens."),
    Action("memory.bring-back", "z", "undo", needs="no_bring_back",
        help="Restore what was forgotten last, unless it was erased for good; else undo the last change to a note."),
    Action("memory.suggestions", "o", "suggestions", needs="no_suggestion",
        help="Remember or dismiss preferences that were stated in chats."),
    Action("memory.redo", "Z", "redo", needs="running no_writing",
        help="Preview and redo the last undone change to a note."),
    Action("memory.source", "s", "source", needs="running",
        help="List only chats, only facts and preferences, only corrections, only tasks, or all but the tasks."),
    Action("memory.age", "d", "time", "List only memories of the last day, week, month or year.", needs="running"),
    Action("memory.words", "f,alt+f", "filter", "List only memories that contain some words.", needs="running"),
    Action("memory.all", "x", "clear filters", "List everything except tasks.", needs="filtered"),
    Action("memory.copy-citation", "y", "copy citation", "Copy the citation of the memory.", needs="memory"),
    Action("memory.copy-text", "Y", "copy text", "Copy the text of the memory, with its citation.", needs="memory"),
    Action("memory.refresh", "r,f5", "refresh", "Refresh the list, and recall again.", needs="running"),
    Action("memory.next", "down", "next row", "Select the next row while you type.", context="memory.input"),
    Action("memory.previous", "up", "previous row", "Select the previous row while you type.", context="memory.input"),
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

_VAULT_DIALOGS = (
    Action("plan.apply", "enter", "apply", "Apply the change that is shown.", footer=True),
    Action("plan.more", "z", "undo one more", "In an undo, undo one more step; in a redo, redo one fewer."),
    Action("plan.fewer", "Z", "redo one more", "In a redo, redo one more step; in an undo, undo one fewer."),
    Action("plan.layout", "s", "side by side", "Show the diff side by side, or inline.", footer=True),
    Action("plan.unfold", "x", "unchanged lines", "Show or fold the lines that did not change.", footer=True),
    Action("plan.wrap", "w", "wrap", "Wrap long lines, or cut them."),
    Action("plan.unlink", "u", "unlink",
        help="Before a deletion: replace the links that would break with their text, and preview that too."),
    Action("plan.discard", "X", "discard", "Discard the edit for good; press the key twice to confirm."),
    Action("conflict.mine", "o", "overwrite", footer=True,
        help="Write your version, or the restored one, over the note as it is now; the diff is shown first."),
    Action("conflict.reload", "t,r", "discard mine", footer=True,
        help="Discard your edit and keep the note as it is on disk; press the key twice to confirm."),
    Action("conflict.both", "e", "edit both", footer=True,
        help="Edit both versions in one text, with conflict markers around the lines that both changed."),
    Action("conflict.merge", "m", "merge", footer=True,
        help="Merge both edits where they do not overlap, and preview the result."),
    Action("conflict.copy", "c", "save as a copy", "Save your text as a new note.", footer=True),
    Action("resolve.mine", "m", "keep the note", footer=True,
        help="Keep the note as it is and delete the conflict copy; the change is shown first."),
    Action("resolve.theirs", "t", "keep the copy", footer=True,
        help="Replace the text of the note with the conflict copy; the change is shown first."),
    Action("resolve.both", "b", "keep both", footer=True,
        help="Merge both versions into the note; the result is shown first."),
)  # fmt: skip

_MEMORY_DIALOGS = (
    Action("forget.apply", "enter", "forget it", "Forget it; it can be restored.", footer=True),
    Action("forget.for-good", "X", "for good", footer=True,
        help="Erase its words, from the backups too; press the key twice to confirm."),
    Action("suggestion.accept", "enter", "remember", "Remember the preference.", footer=True),
    Action("suggestion.dismiss", "x", "dismiss", "Dismiss the preference, and do not offer it again.", footer=True),
    Action("suggestion.skip", "n", "skip", "Skip to the next suggestion, and decide on this one later.", footer=True),
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
    *_SEARCH, *_VAULT, *_REVIEW, *_MEETINGS, *_MEMORY, *_ACTIVITY,
    *_VAULT_DIALOGS, *_MEMORY_DIALOGS, *_VIEWS, *_LISTS, *_APP,
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
