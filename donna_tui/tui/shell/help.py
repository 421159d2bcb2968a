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
Type, and passages of your notes appear, best first. Nothing needs to be typed exactly: Donna looks for the words
and for the meaning.

## The start page
While the box is empty you see the notes that were changed last, what you asked before, what comes up, and a question
to try. `↓` moves through the lines and `↵` opens one; so does a click. `↑` in the empty box brings back the last
question, and once more the one before. Questions are kept on this machine only.

## A result
- The **title** of the note, and the headings that lead to the passage.
- The **bar and the number** say how close the passage is in meaning, from 0 to 1. A passage found by its words only
  may have none.
- **Path and lines**: the place in the file, as your editor counts.
- **Why it is here**: `#1 semantic · #2 keyword` is first by meaning and second by words. `local only` marks a note that
  must not leave this machine.
- A line of the text, with the words that matched.

At the right is the section that holds it; the bar beside the text marks the passage itself.

## The order
It stays as it is under your cursor. When notes change meanwhile, the list follows only where the selected row keeps
its place; else a line below it says so, and `{search.refresh}` shows the newer order.

## Asking more exactly
- `"two words"` side by side, `-word` without it
- `path:Projects` in a folder, `in:chat` in a source
- `tag:idea`, `type:meeting`
- `after:2026-01-01`, `before:2026-03`, `after:7d`

## When nothing is found
Donna says so, rather than show the least bad passage. `{search.near}` shows what came close,
`{search.mode}` changes between meaning and words, `{search.filter}` searches in another folder.
`{search.why}` says why a note of your choice was not found; on a result, why it is there. `{app.switch}` goes to a note
by its name.
""",
    "vault": """\
Your notes as they lie in their folders, what happened to them, and everything that Donna can change about them.

## The tree
A word behind a note says what is special about it: **edited** outside of Donna, so that git does not have it yet;
a **draft** of Donna's; **local** only; **sensitive**, so that Donna never writes to it; **left out** of the index, with
the reason above its text. `{vault.filter}` narrows the tree by letters of the path, as fzf does, or by a state.

## A note
`{vault.open}` goes into the text, `{vault.history}` shows its history, once more that of the whole vault, and
`{vault.blame}` who wrote the lines of the section. `{vault.next-section}` and `{vault.previous-section}` walk through
its sections. `{vault.diff}` shows what changed: `{vault.layout}` side by side, `{vault.unfold}` with the unchanged
lines, `{vault.wrap}` without wrapping.

## Changing something
`{vault.edit}` opens the note itself in your editor; what you save is committed when you come back, as one step of undo.
`{vault.edit-copy}` edits a copy, and `{vault.edit-here}` edits on this screen: then you see the difference before
anything is written, and an edit that you leave waits. `{vault.new}` creates a note, `{vault.move}` renames or moves one
with the links to it, `{vault.delete}` deletes one. What was edited outside is committed with `{vault.commit}`.

Every change is one step. `{vault.undo}` shows exactly what taking the last one back would do, and who made it and when;
`{vault.redo}` does it again. What you edited yourself is never undone: if a note was changed since, Donna says so and
shows what it left, what is there now and what would come back.
""",
    "review": """\
What Donna has drafted and nobody has approved yet. Nothing becomes a note of yours before you say so.

## The queue
The newest first: a draft that **waits**, with the place that it goes to, or one that **failed**, with the reason and
when it is tried again. A draft of a meeting says when the meeting is. `{review.everything}` lists also what was
decided. `{draft.weekly-review}` writes the review of this week now, `{draft.daily-reflection}` the reflection on today.

## A draft
`{review.open}` goes into it. The numbers at the end of a line are the passages that it rests on; they stand in the
evidence, with the place that each is from. `{review.open}` once more opens it, and on a passage shows the section
around it. A line without a number is the heading, or was taken from the calendar.

`{review.hunk}` leaves the part under the cursor out of the note. `{review.diff}` shows the draft as the difference that
it makes. `{review.edit}` edits it in your editor, `{review.edit-here}` on this screen.

## Deciding
The line below the draft says what approving does. `{review.approve}` shows that as a difference first; one key more
does it, as one commit. `{review.approve-all}` does it for all that wait, or for some of them, as one commit.
`{review.reject}` takes the draft away, and none is written for that occasion again. `{review.regenerate}` composes it
anew from what is known now. What you change in a draft is remembered as a correction.

`{review.undo}` shows what taking the last change back would do: an approval too.
""",
    "meetings": """\
What is in your calendars, and how far the note of each meeting is.

## The list
A week or a day: `{meetings.span}` changes between them, `{meetings.earlier}` and `{meetings.later}` go on,
`{meetings.today}` comes back. Each meeting says how far its note is: **coming**, **now**, **due** when it is over and
the draft is on the way, **drafted** while it is waiting, **written**, **rejected**, **failed** with the reason,
**cancelled**; **ended** where no note was asked for.

## The note
At the right is what the note would say if it were written now, and the passages that it would rest on; or the draft,
or the note itself. Nothing of it is on disk before it is drafted, and no model is asked for this.

`{meetings.write}` writes the draft now, whether or not the meeting has ended. `{meetings.open}` goes to the draft in
Review, or to the note in the Vault.

## Calendars
The last line says which calendars are followed and when they were read; a line above it what is wrong with one.
`{meetings.refresh}` reads them now. `{meetings.add}` follows another one: an .ics file or folder, its web address, or a
CalDAV server. One that needs a password is added by `donna calendar add`, or under `calendars:` in memory.yaml.
`donna meetings import FILE` reads an .ics file once.
""",
    "memory": """\
What Donna remembers beside your notes, why, and what of it a language model would get for a question.

## What is remembered
Chats, tasks, what you told Donna to remember, and corrections, newest first. The small bar is the **importance**. A
word says what is special: **pinned**; **hidden**, which is kept and found but not recalled; a **summary** of a session,
and what is **summed up** by one; **local only**; **forgotten** a moment ago.

`{memory.source}`, `{memory.type}` and `{memory.age}` list only one source, one type, or the last day, week, month or
year; `{memory.words}` only what has some words, `{memory.all}` everything again.

## Why
Importance is 0.6 novelty + 0.4 salience. Novelty is how far the memory is from what was known before it; salience adds
up names, numbers, preferences and rare words. Below 0.30 a memory is not recalled, unless you pin it.

`{memory.open}` reads it where it was said, and opens a task in your editor. `{memory.pin}` pins. `{memory.correct}`
says what is right; notes and chats stay as they are. `{memory.forget}` shows what would be forgotten and asks;
`{memory.bring-back}` brings the last one back, unless it was for good.

## Recall
`{search.focus}` goes to the question. The slider is the **budget** of tokens: `{memory.less}` and `{memory.more}` move
it, also the mouse. Below it is how much of that is used, what is in the prompt and in which order, and what was left
out and why. Your notes are asked too. What must stay on this machine is not even looked at, so `{memory.copy-prompt}`
copies a block that you may give to a model elsewhere.
""",
    "activity": """\
What Donna is doing with your notes: how far the index is, what happened, and what needs you.

## How far
A note can be found **by its words** as soon as its text is read, and **by meaning** when its passages have been
embedded. Both are counted here, with the time that is left.

## What happened
Each line is one event: when, what, which note, how long. A file that is left out says why. `{activity.details}` shows
one in full, `{activity.filter}` only those of a kind or with some words, `{activity.pause}` holds the list still.

## Problems
A problem says what is wrong and what helps. `{activity.retry}` tries the selected one again now; the others are tried
again by themselves.

The index is a copy of what your notes say; it can be built again at any time.
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
