"""The actions of the Review screen and of the Meetings screen."""

from __future__ import annotations

from donna_tui.tui.lib.action import Action, ActionState, checks

_DRAFT = checks("draft")


def needs_draft_or_question(state: ActionState) -> str:
    """Require a selected draft, or a question that Enter answers."""
    return "" if state.has_question else _DRAFT(state)


REVIEW = (
    Action(
        "review.approve",
        "a",
        "approve",
        "Preview the approval, and approve: one commit.",
        footer=True,
        why_not=checks("draft", "no_approve"),
    ),
    Action(
        "review.hunk",
        "space",
        "exclude",
        "Exclude the part under the cursor from the note, or include it again.",
        footer=True,
        why_not=checks("draft", "no_hunk"),
    ),
    Action(
        "review.edit",
        "e",
        "edit",
        "Edit a copy of the draft in your editor; beside the evidence, open the note that contains the passage.",
        footer=True,
        why_not=checks("draft", "no_edit"),
    ),
    Action(
        "review.reject",
        "r",
        "reject",
        "Preview the rejection, and reject; no draft is written for this occasion again.",
        footer=True,
        why_not=checks("draft", "no_reject"),
    ),
    Action(
        "review.regenerate",
        "g",
        "redraft",
        "Redraft from your current notes, or retry a failed draft.",
        footer=True,
        why_not=checks("draft", "no_again"),
    ),
    Action("review.diff", "d", "diff", "Show the draft as a diff, or as a note.", footer=True, why_not=checks("draft")),
    Action(
        "review.approve-all",
        "A",
        "all",
        "Preview all waiting drafts, exclude some, and approve the others in one commit.",
        footer=True,
        why_not=checks("to_approve"),
    ),
    Action(
        "review.open",
        "enter",
        "continue",
        "From the list to the draft, from the draft to its evidence, from a passage to the section around it.",
        why_not=needs_draft_or_question,
    ),
    Action(
        "review.follow",
        "v",
        "follow link",
        "Follow the link in the line under the cursor, to its note.",
        why_not=checks("draft"),
    ),
    Action(
        "review.edit-here", "i", "edit here", "Edit the draft on this screen.", why_not=checks("draft", "no_edit_here")
    ),
    Action(
        "review.undo",
        "z",
        "undo",
        "Preview and undo the last change of the vault, approvals included.",
        why_not=checks("running", "no_undo"),
    ),
    Action(
        "review.redo",
        "Z",
        "redo",
        "Preview and redo the last undone change of the vault.",
        why_not=checks("running", "no_redo"),
    ),
    Action(
        "review.everything",
        "x",
        "decided too",
        "List approved and rejected drafts too, or only waiting ones.",
        why_not=checks("running"),
    ),
    Action(
        "review.copy-citation",
        "y",
        "copy citation",
        "Copy the citation of the selected source, or a link to the draft.",
        why_not=checks("draft"),
    ),
    Action("review.copy-text", "Y", "copy text", "Copy the selected passage, or the draft.", why_not=checks("draft")),
    Action("review.layout", "s", "side by side", "Show the diff side by side, or inline.", why_not=checks("draft")),
    Action("review.refresh", "f5", "refresh", "Refresh the list.", why_not=checks("running")),
)

MEETINGS = (
    Action(
        "meetings.open",
        "enter",
        "open",
        "Go to the draft in Review, or to the note in the Vault.",
        footer=True,
        why_not=checks("meeting", "no_note"),
    ),
    Action(
        "meetings.write",
        "n",
        "write now",
        "Write the draft of the meeting now, whether or not it has ended; it appears in Review.",
        footer=True,
        why_not=checks("meeting", "no_draft_now"),
    ),
    Action(
        "meetings.never",
        "N",
        "never for this series",
        "Stop drafting this series automatically, or start again.",
        why_not=checks("meeting"),
    ),
    Action(
        "meetings.earlier",
        "[,left",
        "earlier",
        "The day or the week before.",
        footer=True,
        why_not=checks("running", "calendar"),
    ),
    Action(
        "meetings.later",
        "],right",
        "later",
        "The next day or week.",
        footer=True,
        why_not=checks("running", "calendar"),
    ),
    Action("meetings.today", "t", "today", "Go to today.", footer=True, why_not=checks("running", "calendar")),
    Action(
        "meetings.span",
        "w",
        "day or week",
        "Show one day, or a whole week.",
        footer=True,
        why_not=checks("running", "calendar"),
    ),
    Action(
        "meetings.refresh", "u,f5", "read calendars", "Read all calendars now.", footer=True, why_not=checks("running")
    ),
    Action(
        "meetings.add",
        "c",
        "add calendar",
        "Follow a calendar: an .ics file or folder, its web address, or a CalDAV server.",
        footer=True,
        why_not=checks("running"),
    ),
)
