"""Explain the current screen on a help page."""

from __future__ import annotations

import re
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical
from textual.content import Content

from donna_tui.tui.lib.action import Pane
from donna_tui.tui.lib.dialogs import Dialogue
from donna_tui.tui.lib.keymap import Keys, shown_key
from donna_tui.tui.lib.passage_view import PassageView

HELP: dict[Pane, str] = {
    "search": """\
Type, and passages of your notes appear, best first. The wording need not be exact: Donna searches by keyword and by
meaning.

## The start page
While the box is empty you see the notes that were changed last, your earlier questions, upcoming meetings and tasks,
and a question to try. `↓` moves through the lines and `↵` opens one; so does a click. `↑` in the empty box restores the
last question, and again the one before. Questions are stored on this machine only.

## A result
- The **title** of the note, and the headings that lead to the passage.
- The **bar and the number** say how close the passage is in meaning, from 0 to 1. A passage found by keyword only may
  have none.
- **Path and lines**: the place in the file, as your editor counts.
- **Why it is here**: `#1 semantic · #2 keyword` is first by meaning and second by keyword. `local only` marks a note
  that must not leave this machine.
- A line of the text, with the words that matched.

On the right is the section that contains it; the bar beside the text marks the passage itself.

## The order
The list does not move under your cursor. When notes change meanwhile, it is updated only if the selected row stays
where it is; otherwise a line below the list says so, and `{search.refresh}` shows the new order.

## Narrowing a search
- `"two words"` exactly so, `-word` without this word
- `path:Projects` in a folder, `in:chat` in a source
- `tag:idea`, `type:meeting`
- `after:2026-01-01`, `before:2026-03`, `after:7d`

## When nothing is found
Donna says so, rather than show passages that do not answer. `{search.near}` shows the near misses, `{search.mode}`
switches between hybrid, semantic and keyword search, `{search.filter}` searches in another folder. `{search.why}`
explains why a note of your choice was not found; on a result, why it was. `{app.switch}` opens a note by its name.
""",
    "vault": """\
Your notes in their folders, their history, and everything you can change about them.

## The tree
A word after a note shows its state: **edited** outside Donna and not committed yet; a **draft** by Donna; **local**
only; **sensitive**, which Donna never writes to; **left out** of the index, with the reason above its text.
`{vault.filter}` narrows the tree by letters of the path, as fzf does, or by a state.

## A note
`{vault.open}` moves into the text, `{vault.history}` shows its history, pressed again that of the whole vault, and
`{vault.blame}` shows who wrote the lines of the section. `{vault.next-section}` and `{vault.previous-section}` move
from section to section. `{vault.diff}` shows what changed: `{vault.layout}` side by side, `{vault.unfold}` with the
unchanged lines, `{vault.wrap}` without wrapping.

## Changing something
`{vault.edit}` opens the note itself in your editor; what you save is committed when you close the editor, as one step
of undo. `{vault.edit-copy}` edits a copy, and `{vault.edit-here}` edits on this screen: then you see the diff before
anything is written, and if you cancel, your text stays as an unsaved edit. `{vault.new}` creates a note, `{vault.move}`
renames or moves one and updates the links to it, `{vault.delete}` deletes one. `{vault.commit}` commits what was edited
outside.

Every change is one step. `{vault.undo}` shows exactly what undoing the last one would change, who made it and when;
`{vault.redo}` redoes it. Your own edits are never undone: if a note was changed since, Donna says so and shows the text
after that step, the current text and the text that undo would restore.
""",
    "review": """\
Drafts that you have not approved yet. None becomes a note of yours before you approve it.

## The queue
Newest first: a draft that **waits**, with the folder of its future note, or one that **failed**, with the reason and
the time of the next try. A draft of a meeting says when the meeting is. `{review.everything}` also lists drafts that
were approved or rejected. `{draft.weekly-review}` writes the review of this week now, `{draft.daily-reflection}` the
reflection on today.

## A draft
`{review.open}` moves into it. The numbers at the end of a line are its sources, which are listed beside the draft with
the note and lines of each. `{review.open}` from the draft moves to the sources, and on a source shows the section
around it. A line without a number is a heading, or is from the calendar.

`{review.hunk}` leaves the part under the cursor out of the note. `{review.diff}` shows the draft as a diff.
`{review.edit}` edits it in your editor, `{review.edit-here}` on this screen.

## Deciding
The line below the draft says what approving does. `{review.approve}` shows that as a diff first; one more key approves
it, as one commit. `{review.approve-all}` approves all drafts that wait, or some of them, as one commit.
`{review.reject}` deletes the draft, and no other is written for that occasion. `{review.regenerate}` writes it again
from your notes of now. What you change in a draft is remembered as a correction.

`{review.undo}` undoes the last change, an approval too, and shows what that changes first.
""",
    "meetings": """\
The meetings in your calendars, and the state of each note.

## The list
A week or a day: `{meetings.span}` switches between them, `{meetings.earlier}` and `{meetings.later}` show the one
before or after, `{meetings.today}` returns to today. Each meeting shows the state of its note: **coming**, **now**,
**due** when it is over and the draft is about to be written, **drafted** while the draft waits, **written**,
**rejected**, **failed** with the reason, **cancelled**; **ended** if it is over and gets no note.

## The note
On the right is what the note would say if it were written now, with its sources; or the draft, or the note itself. This
preview is not on disk, and no language model is asked for it.

`{meetings.write}` writes the draft now, whether or not the meeting has ended. `{meetings.open}` opens the draft in
Review, or the note in the Vault.

## Calendars
The last line says which calendars are followed and when they were read; the line above it reports what is wrong with
one. `{meetings.refresh}` reads them now. `{meetings.add}` adds another one: an .ics file or folder, a web address, or a
CalDAV server. `donna calendar add` does the same in a terminal. `donna meetings import FILE` reads an .ics file once.
""",
    "memory": """\
What Donna remembers besides your notes, why, and which of it would be in a language model's prompt.

## What is remembered
Chats, tasks, facts, preferences and corrections, newest first. The small bar is the **importance**. A word shows the
state: **pinned**; a **summary** of a session, and what is **summed up** by one; **local only**; **forgotten** a moment
ago.

`{memory.source}`, `{memory.type}` and `{memory.age}` list only one source, one type, or the last day, week, month or
year; `{memory.words}` only what contains some words, `{memory.all}` everything again.

## Why
Importance is 0.6 novelty + 0.4 salience. Novelty is how much the memory differs from earlier ones; salience adds up
names, numbers, preferences and rare words. Importance decides the order of memories that match a question about equally
well; what you pin counts as 1.

`{memory.open}` shows it in its conversation, and opens a task in your editor. `{memory.pin}` pins it.
`{memory.correct}` adds a correction; notes and chats stay as they are. `{memory.forget}` shows what would be forgotten
and asks; `{memory.bring-back}` restores the last one, unless it was forgotten for good.

## Recall
`{search.focus}` focuses the question. The slider is the **budget** of tokens: `{memory.less}`, `{memory.more}` or the
mouse move it. Below it you see how much of the budget is used, what is in the prompt and in which order, and what was
left out and why. Your notes are searched too. What must stay on this machine is never read for this, so
`{memory.copy-prompt}` copies a block that is safe for a model elsewhere.
""",
    "activity": """\
The progress of the index, what happened, and the problems that need you.

## Progress
A note can be found **by keyword** as soon as its text is read, and **by meaning** once its passages are embedded. Both
are counted here, with the time left.

## What happened
Each line is one event: when, what, which note, how long. A file that was left out has its reason. `{activity.details}`
shows an event in full, `{activity.filter}` only those of a kind or with some words, `{activity.pause}` pauses the list.

## Problems
A problem says what is wrong and what to do. `{activity.retry}` retries the selected one now; the others are retried
automatically.

The index is derived from your notes and can be rebuilt at any time.
""",
}


_KEY = re.compile(r"\{([a-z_.-]+)\}")


def help_text(pane: Pane, keys: Keys) -> str:
    """Return the help page of a pane, with the current keys."""
    return _KEY.sub(lambda found: shown_key(keys[found[1]], typing=False) or "no key", HELP[pane])


class HelpScreen(Dialogue[None]):
    """The help of one pane; escape or a click outside closes it."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,f1,q,enter", "dismiss", show=False),
    ]

    def __init__(self, pane: Pane, keys: Keys) -> None:
        super().__init__(keys)
        self._pane = pane

    def compose(self) -> ComposeResult:
        with Vertical(classes="help-box") as box:
            box.border_title = Content(self._pane.capitalize())
            box.border_subtitle = Content("esc close")
            yield PassageView()

    @property
    def footer_keys(self) -> tuple[tuple[str, str], ...]:
        return ("↑↓", "scroll"), ("pgup pgdn", "a page"), ("g G", "beginning, end"), ("esc", "close")

    def on_mount(self) -> None:
        view = self.query_one(PassageView)
        view.show(help_text(self._pane, self._keys))
        view.focus()
