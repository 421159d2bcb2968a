"""The actions of the Review screen and of the Meetings screen."""

from __future__ import annotations

from donna_tui.tui.lib.action import Action

REVIEW = (
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

MEETINGS = (
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
