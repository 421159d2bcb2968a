"""The actions of the Memory screen, and of its windows: before something is forgotten, and for suggestions."""

from __future__ import annotations

from donna_tui.tui.lib.action import Action, checks

MEMORY = (
    Action(
        "memory.open",
        "enter",
        "open",
        "Show a memory in its source; a task opens in your editor, at its line.",
        footer=True,
        why_not=checks("memory", "no_open"),
    ),
    Action(
        "memory.remember",
        "n,alt+n",
        "remember",
        "Remember a sentence: a fact, a preference, a decision.",
        footer=True,
        why_not=checks("running"),
    ),
    Action(
        "memory.add-task",
        "a,alt+a",
        "add task",
        "Add a task: a check box in a note, with its due date.",
        footer=True,
        why_not=checks("running", "no_writing"),
    ),
    Action(
        "memory.tick",
        "space",
        "done",
        "Check the box of the selected task in its note, with today's date.",
        footer=True,
        hides=True,
        why_not=checks("memory", "no_tick", "running", "no_writing"),
    ),
    Action(
        "memory.tasks",
        "T,alt+u",
        "tasks",
        "List the tasks of your notes, or everything else again.",
        footer=True,
        why_not=checks("running"),
    ),
    Action(
        "memory.pin",
        "p",
        "pin",
        "Pin a memory: it counts as fully important. Again: unpin it.",
        footer=True,
        why_not=checks("memory", "no_forget"),
    ),
    Action("memory.correct", "w", "correct", "Correct a memory that is wrong.", footer=True, why_not=checks("memory")),
    Action(
        "memory.forget",
        "D",
        "forget",
        "Preview exactly what would be forgotten, and forget it.",
        footer=True,
        why_not=checks("memory", "no_forget"),
    ),
    Action(
        "memory.copy-prompt",
        "c,alt+c",
        "copy prompt",
        "Copy what was recalled as a block for a prompt, without what must stay on this machine.",
        footer=True,
        why_not=checks("no_prompt"),
    ),
    Action(
        "memory.less",
        "[,alt+left,left",
        "less",
        "Recall within a smaller budget of tokens.",
        footer=True,
        why_not=checks("running"),
    ),
    Action(
        "memory.more",
        "],alt+right,right",
        "more",
        "Recall within a larger budget of tokens.",
        footer=True,
        why_not=checks("running"),
    ),
    Action(
        "memory.bring-back",
        "z",
        "undo",
        "Restore what was forgotten last, unless it was erased for good; else undo the last change of a note.",
        why_not=checks("no_bring_back"),
    ),
    Action(
        "memory.suggestions",
        "o",
        "suggestions",
        "Remember or dismiss preferences that were stated in chats.",
        why_not=checks("no_suggestion"),
    ),
    Action(
        "memory.redo",
        "Z",
        "redo",
        "Preview and redo the last undone change of a note.",
        why_not=checks("running", "no_writing"),
    ),
    Action(
        "memory.source",
        "s",
        "source",
        "List only chats, only facts and preferences, only corrections, only tasks, or all but the tasks.",
        why_not=checks("running"),
    ),
    Action(
        "memory.age", "d", "time", "List only memories of the last day, week, month or year.", why_not=checks("running")
    ),
    Action(
        "memory.words", "f,alt+f", "words", "List only memories that contain some words.", why_not=checks("running")
    ),
    Action("memory.all", "x", "everything", "List everything again.", why_not=checks("filtered")),
    Action("memory.copy-citation", "y", "copy citation", "Copy the citation of the memory.", why_not=checks("memory")),
    Action(
        "memory.copy-text",
        "Y",
        "copy text",
        "Copy the text of the memory, with its citation.",
        why_not=checks("memory"),
    ),
    Action("memory.refresh", "r,f5", "refresh", "Refresh the list, and recall again.", why_not=checks("running")),
    Action("memory.next", "down", "next row", "Select the next row while you type.", context="memory.input"),
    Action("memory.previous", "up", "previous row", "Select the previous row while you type.", context="memory.input"),
)

FORGET = (
    Action("forget.apply", "enter", "forget it", "Forget it; it can be restored.", footer=True),
    Action(
        "forget.for-good",
        "X",
        "for good",
        "Erase its words, also from the backups; press the key twice to confirm.",
        footer=True,
    ),
)

SUGGESTION = (
    Action("suggestion.accept", "enter", "remember", "Remember the preference.", footer=True),
    Action("suggestion.dismiss", "x", "dismiss", "Do not remember it, and do not offer it again.", footer=True),
    Action("suggestion.skip", "n", "skip", "Skip to the next suggestion, and decide on this one later.", footer=True),
)
