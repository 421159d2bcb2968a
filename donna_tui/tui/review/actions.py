"""The actions of the Review screen and of the Meetings screen."""

from __future__ import annotations

from donna_tui.tui.lib.action import Action, ActionState, needs_redoable, needs_space, needs_undoable


def needs_draft(state: ActionState) -> str:
    """Require a selected draft."""
    return "" if state.draft else "No draft is selected."


def needs_draft_or_question(state: ActionState) -> str:
    """Require a selected draft, or a question that Enter answers."""
    return "" if state.has_question else needs_draft(state)


def needs_approvable(state: ActionState) -> str:
    """Require a waiting draft."""
    return needs_draft(state) or state.no_approve


def needs_hunk(state: ActionState) -> str:
    """Require a part of a draft that can be left out."""
    return needs_draft(state) or state.no_hunk


def needs_editable(state: ActionState) -> str:
    """Require a draft with a note, or a passage in a note, and an editor."""
    return needs_draft(state) or state.no_edit


def needs_editable_here(state: ActionState) -> str:
    """Require a draft with a note."""
    return needs_draft(state) or state.no_edit_here


def needs_rejectable(state: ActionState) -> str:
    """Require a draft that is waiting or has failed."""
    return needs_draft(state) or state.no_reject


def needs_composable(state: ActionState) -> str:
    """Require a draft that is waiting or has failed, and is not being composed."""
    return needs_draft(state) or state.no_again


def needs_waiting_drafts(state: ActionState) -> str:
    """Require at least one waiting draft."""
    return "" if state.to_approve else "No draft is waiting."


def needs_meeting(state: ActionState) -> str:
    """Require a selected meeting."""
    return "" if state.meeting else "No meeting is selected."


def needs_note_of_meeting(state: ActionState) -> str:
    """Require a meeting with a draft or a note."""
    return needs_meeting(state) or state.no_note


def needs_meeting_to_write(state: ActionState) -> str:
    """Require a meeting whose draft can be written now."""
    return needs_meeting(state) or state.no_draft_now


def needs_calendar(state: ActionState) -> str:
    """Require at least one followed calendar."""
    return needs_space(state) or ("" if state.calendar else "No calendar is followed yet.")


REVIEW = (
    Action(
        id="review.approve",
        title="approve",
        help="Preview the approval, and approve: one commit.",
        group="review",
        context="review",
        keys=("a",),
        footer=True,
        why_not=needs_approvable,
    ),
    Action(
        id="review.hunk",
        title="exclude",
        help="Exclude the part under the cursor from the note, or include it again.",
        group="review",
        context="review",
        keys=("space",),
        footer=True,
        why_not=needs_hunk,
    ),
    Action(
        id="review.edit",
        title="edit",
        help="Edit a copy of the draft in your editor; beside the evidence, open the note that contains the passage.",
        group="review",
        context="review",
        keys=("e",),
        footer=True,
        why_not=needs_editable,
    ),
    Action(
        id="review.reject",
        title="reject",
        help="Preview the rejection, and reject; no draft is written for this occasion again.",
        group="review",
        context="review",
        keys=("r",),
        footer=True,
        why_not=needs_rejectable,
    ),
    Action(
        id="review.regenerate",
        title="redraft",
        help="Redraft from your current notes, or retry a failed draft.",
        group="review",
        context="review",
        keys=("g",),
        footer=True,
        why_not=needs_composable,
    ),
    Action(
        id="review.diff",
        title="diff",
        help="Show the draft as a diff, or as a note.",
        group="review",
        context="review",
        keys=("d",),
        footer=True,
        why_not=needs_draft,
    ),
    Action(
        id="review.approve-all",
        title="all",
        help="Preview all waiting drafts, exclude some, and approve the others in one commit.",
        group="review",
        context="review",
        keys=("A",),
        footer=True,
        why_not=needs_waiting_drafts,
    ),
    Action(
        id="review.open",
        title="continue",
        help="From the list to the draft, from the draft to its evidence, from a passage to the section around it.",
        group="review",
        context="review",
        keys=("enter",),
        why_not=needs_draft_or_question,
    ),
    Action(
        id="review.follow",
        title="follow link",
        help="Follow the link in the line under the cursor, to its note.",
        group="review",
        context="review",
        keys=("v",),
        why_not=needs_draft,
    ),
    Action(
        id="review.edit-here",
        title="edit here",
        help="Edit the draft on this screen.",
        group="review",
        context="review",
        keys=("i",),
        why_not=needs_editable_here,
    ),
    Action(
        id="review.undo",
        title="undo",
        help="Preview and undo the last change of the vault, approvals included.",
        group="review",
        context="review",
        keys=("z",),
        why_not=needs_undoable,
    ),
    Action(
        id="review.redo",
        title="redo",
        help="Preview and redo the last undone change of the vault.",
        group="review",
        context="review",
        keys=("Z",),
        why_not=needs_redoable,
    ),
    Action(
        id="review.everything",
        title="decided too",
        help="List approved and rejected drafts too, or only waiting ones.",
        group="review",
        context="review",
        keys=("x",),
        why_not=needs_space,
    ),
    Action(
        id="review.copy-citation",
        title="copy citation",
        help="Copy the citation of the selected source, or a link to the draft.",
        group="review",
        context="review",
        keys=("y",),
        why_not=needs_draft,
    ),
    Action(
        id="review.copy-text",
        title="copy text",
        help="Copy the selected passage, or the draft.",
        group="review",
        context="review",
        keys=("Y",),
        why_not=needs_draft,
    ),
    Action(
        id="review.layout",
        title="side by side",
        help="Show the diff side by side, or inline.",
        group="review",
        context="review",
        keys=("s",),
        why_not=needs_draft,
    ),
    Action(
        id="review.refresh",
        title="refresh",
        help="Refresh the list.",
        group="review",
        context="review",
        keys=("f5",),
        why_not=needs_space,
    ),
)

MEETINGS = (
    Action(
        id="meetings.open",
        title="open",
        help="Go to the draft in Review, or to the note in the Vault.",
        group="meetings",
        context="meetings",
        keys=("enter",),
        footer=True,
        why_not=needs_note_of_meeting,
    ),
    Action(
        id="meetings.write",
        title="write now",
        help="Write the draft of the meeting now, whether or not it has ended; it appears in Review.",
        group="meetings",
        context="meetings",
        keys=("n",),
        footer=True,
        why_not=needs_meeting_to_write,
    ),
    Action(
        id="meetings.never",
        title="never for this series",
        help="Stop drafting this series automatically, or start again.",
        group="meetings",
        context="meetings",
        keys=("N",),
        why_not=needs_meeting,
    ),
    Action(
        id="meetings.earlier",
        title="earlier",
        help="The day or the week before.",
        group="meetings",
        context="meetings",
        keys=("[", "left"),
        footer=True,
        why_not=needs_calendar,
    ),
    Action(
        id="meetings.later",
        title="later",
        help="The next day or week.",
        group="meetings",
        context="meetings",
        keys=("]", "right"),
        footer=True,
        why_not=needs_calendar,
    ),
    Action(
        id="meetings.today",
        title="today",
        help="Go to today.",
        group="meetings",
        context="meetings",
        keys=("t",),
        footer=True,
        why_not=needs_calendar,
    ),
    Action(
        id="meetings.span",
        title="day or week",
        help="Show one day, or a whole week.",
        group="meetings",
        context="meetings",
        keys=("w",),
        footer=True,
        why_not=needs_calendar,
    ),
    Action(
        id="meetings.refresh",
        title="read calendars",
        help="Read all calendars now.",
        group="meetings",
        context="meetings",
        keys=("u", "f5"),
        footer=True,
        why_not=needs_space,
    ),
    Action(
        id="meetings.add",
        title="add calendar",
        help="Follow a calendar: an .ics file or folder, its web address, or a CalDAV server.",
        group="meetings",
        context="meetings",
        keys=("c",),
        footer=True,
        why_not=needs_space,
    ),
)
