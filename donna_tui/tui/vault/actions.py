"""The actions of the Vault screen and of its dialogs."""

from __future__ import annotations

from donna_tui.tui.lib.action import Action, ActionState, checks

_RUNNING, _WRITABLE = checks("running"), checks("note", "no_write")


def needs_movable(state: ActionState) -> str:
    """Require a folder, several selected rows, or a note that Donna may write to."""
    return _RUNNING(state) if state.several else _WRITABLE(state)


CONFLICT_COPY = (
    Action(
        "resolve.mine",
        "m",
        "keep the note",
        "Keep the note as it is and delete the conflict copy; the change is shown first.",
        footer=True,
    ),
    Action(
        "resolve.theirs",
        "t",
        "keep the copy",
        "Replace the text of the note with the conflict copy; the change is shown first.",
        footer=True,
    ),
    Action(
        "resolve.both", "b", "keep both", "Merge both versions into the note; the result is shown first.", footer=True
    ),
)


VAULT = (
    Action(
        "vault.open",
        "enter",
        "open",
        "Read the note, or fold the folder; in the note, follow a link; in the history, show the change.",
        footer=True,
        why_not=checks("row"),
    ),
    Action(
        "vault.resolve",
        "c",
        "resolve",
        "Compare a conflict copy with its note, and resolve it: keep one of them or both.",
        footer=True,
        hides=True,
        why_not=checks("conflict"),
    ),
    Action(
        "vault.edit",
        "e",
        "edit",
        "Open the note itself in your editor; what you save is one step of undo.",
        footer=True,
        why_not=checks("note", "no_editor"),
    ),
    Action(
        "vault.edit-copy",
        "E",
        "edit a copy",
        "Edit a copy in your editor; the diff is shown before anything is written.",
        why_not=checks("note", "no_write", "no_editor"),
    ),
    Action(
        "vault.commit",
        "C",
        "commit",
        "Commit what was edited outside, in the note or in the folder; undo can restore what was there before.",
        footer=True,
        hides=True,
        why_not=checks("outside_edit"),
    ),
    Action(
        "vault.edit-here",
        "i",
        "edit here",
        "Edit the note on this screen; the diff is shown before anything is written.",
        why_not=checks("note", "no_write", "no_write_here"),
    ),
    Action("vault.new", "n", "new", "Create a note, empty or from a template.", footer=True, why_not=checks("running")),
    Action(
        "vault.move",
        "m",
        "move",
        "Rename or move the note, the folder or what is selected; links are rewritten with it.",
        footer=True,
        why_not=needs_movable,
    ),
    Action(
        "vault.delete",
        "D",
        "delete",
        "Delete the note, the folder or what is selected; undo restores it.",
        footer=True,
        why_not=needs_movable,
    ),
    Action(
        "vault.mark",
        "space",
        "select",
        "Select or deselect the note or folder; moving and deleting act on all selected ones.",
        why_not=checks("row"),
    ),
    Action("vault.new-folder", "N", "new folder", "Create a folder at the cursor.", why_not=checks("running")),
    Action(
        "vault.undo",
        "z",
        "undo",
        "Preview and undo the last change of Donna; in the history, the selected one.",
        footer=True,
        why_not=checks("running", "no_undo"),
    ),
    Action("vault.redo", "Z", "redo", "Preview and redo the last undone change.", why_not=checks("running", "no_redo")),
    Action(
        "vault.diff",
        "d",
        "difference",
        "Show what was edited outside, or what the selected change did.",
        footer=True,
        why_not=checks("row"),
    ),
    Action(
        "vault.history",
        "h",
        "history",
        "Show the history of the note; once more, that of the whole vault.",
        footer=True,
        why_not=checks("running"),
    ),
    Action("vault.blame", "b", "blame", "Show who wrote each line of the section, and when.", why_not=checks("note")),
    Action(
        "vault.links",
        "L",
        "links",
        "Show the links to the note, and those in it, each with the line around it.",
        why_not=checks("note"),
    ),
    Action("vault.note", "v", "note", "Show the text of the note.", why_not=checks("note")),
    Action(
        "vault.copy-link",
        "y",
        "copy link",
        "Copy a wikilink to the note, to paste into another one.",
        why_not=checks("note"),
    ),
    Action(
        "vault.copy-text",
        "Y",
        "copy text",
        "Copy the text of the note, or of the selected change.",
        why_not=checks("note"),
    ),
    Action("vault.obsidian", "o", "Obsidian", "Open the note in Obsidian.", why_not=checks("note", "no_desktop")),
    Action(
        "vault.filter", "f", "filter", "Filter the tree by letters of a path, or by a state.", why_not=checks("running")
    ),
    Action("vault.left", "left", "left", "Fold the folder, or go one tab or part to the left."),
    Action("vault.right", "right", "right", "Unfold the folder, or go one tab or part to the right."),
    Action("vault.next-section", "]", "next section", "Go to the next heading of the note.", why_not=checks("note")),
    Action(
        "vault.previous-section",
        "[",
        "previous section",
        "Go to the previous heading of the note.",
        why_not=checks("note"),
    ),
    Action("vault.layout", "s", "side by side", "Show a diff side by side, or inline."),
    Action("vault.unfold", "x", "unchanged lines", "Show or fold the lines of a diff that did not change."),
    Action("vault.wrap", "w", "wrap", "Wrap long lines of a diff, or cut them."),
    Action(
        "vault.discard", "X", "discard edit", "Discard the unsaved edit of this note.", why_not=checks("waiting_edit")
    ),
    Action("vault.refresh", "r,f5", "refresh", "Refresh the tree and the history.", why_not=checks("running")),
    Action("vault.next", "down", "next row", "Select the next row while you type.", context="vault.input"),
    Action("vault.previous", "up", "previous row", "Select the previous row while you type.", context="vault.input"),
)

PLAN = (
    Action("plan.apply", "enter", "apply", "Apply the change that is shown.", footer=True),
    Action("plan.more", "z", "undo one more", "In an undo, undo one step more; in a redo, redo one less."),
    Action("plan.fewer", "Z", "redo one more", "In a redo, redo one step more; in an undo, undo one less."),
    Action("plan.layout", "s", "side by side", "Show the diff side by side, or inline.", footer=True),
    Action("plan.unfold", "x", "unchanged lines", "Show or fold the lines that did not change.", footer=True),
    Action("plan.wrap", "w", "wrap", "Wrap long lines, or cut them."),
    Action(
        "plan.unlink",
        "u",
        "unlink",
        "Before a deletion: replace the links that would break with their text, and preview that too.",
    ),
    Action("plan.discard", "X", "discard", "Discard the edit for good; press the key twice to confirm."),
)

CONFLICT = (
    Action(
        "conflict.mine",
        "o",
        "overwrite",
        "Write your version, or the restored one, over the note as it is now; the diff is shown first.",
        footer=True,
    ),
    Action(
        "conflict.reload",
        "t,r",
        "take theirs",
        "Discard your edit and keep the note as it is now; press the key twice to confirm.",
        footer=True,
    ),
    Action(
        "conflict.both",
        "e",
        "edit both",
        "Edit both versions in one text, with conflict markers around the lines that both changed.",
        footer=True,
    ),
    Action(
        "conflict.merge",
        "m",
        "merge",
        "Merge both edits where they do not overlap, and preview the result.",
        footer=True,
    ),
    Action("conflict.copy", "c", "save as a copy", "Save your text as a new note.", footer=True),
)
