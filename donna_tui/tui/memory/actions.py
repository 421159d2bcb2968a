"""The actions of the Memory screen and of its dialogs."""

from __future__ import annotations

from donna_tui.tui.lib.action import Action

MEMORY = (
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

MEMORY_DIALOGS = (
    Action("forget.apply", "enter", "forget it", "Forget it; it can be restored.", footer=True),
    Action("forget.for-good", "X", "for good", footer=True,
        help="Erase its words, from the backups too; press the key twice to confirm."),
    Action("suggestion.accept", "enter", "remember", "Remember the preference.", footer=True),
    Action("suggestion.dismiss", "x", "dismiss", "Dismiss the preference, and do not offer it again.", footer=True),
    Action("suggestion.skip", "n", "skip", "Skip to the next suggestion, and decide on this one later.", footer=True),
)  # fmt: skip
