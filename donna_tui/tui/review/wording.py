"""The texts of the Review screen about drafts and their sources, without widgets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator

from textual.content import Content

from donna_tui.drafts.hunks import without_hunks
from donna_tui.text.lines import split_lines
from donna_tui.tui.lib.error_messages import lowered, sentence
from donna_tui.tui.lib.humanize import age, moment, one_line, plural, short_line, short_root
from donna_tui.tui.lib.inputs import NoticeText
from donna_tui.tui.lib.keymap import shown_key
from donna_tui.tui.review.lists import kind_of, title_of, when_of
from donna_tui.types.drafts import OTHER_DEVICE, Draft, DraftRow, DraftState, Evidence
from donna_tui.types.errors import Reason
from donna_tui.types.events import EngineEvent
from donna_tui.types.memory_events import VaultWritten
from donna_tui.vault.write.changes import Change, Plan

LOADING = NoticeText("Loading drafts …", is_loading=True)
NOTHING_WAITS = NoticeText(
    "No draft is waiting.",
    "What Donna writes appears here first: you approve it, change it or reject it.",
    examples=(("donna meetings list", "what is in your calendar"), ("donna calendar add PLACE", "follow a calendar")),
    actions=(
        ("view.meetings", "go to Meetings, to draft one now"),
        ("draft.weekly-review", "weekly review now"),
        ("draft.daily-reflection", "daily reflection now"),
        ("review.everything", "show approved and rejected drafts"),
    ),
)
NOTHING_AT_ALL = NoticeText(
    "Donna has drafted nothing yet.",
    NOTHING_WAITS.text,
    examples=NOTHING_WAITS.examples,
    actions=NOTHING_WAITS.actions[:-1],
)

_MAX_REMARKS = 3
_WHY_DECIDED = {
    DraftState.APPROVED: "It has already been approved.",
    DraftState.REJECTED: "It has already been rejected.",
    DraftState.GONE: "Its note is missing: it was undone, deleted or moved, or rejected on another device.",
}
_TONES = {DraftState.FAILED: "$text-error", DraftState.GONE: "$text-warning", DraftState.APPROVED: "$text-success"}


def may_change_drafts(event: EngineEvent) -> bool:
    """Return whether the drafts and the meetings may have changed after an event."""
    return isinstance(event, VaultWritten) or event.name.startswith(
        ("vault_autowrite", "calendar", "changed_elsewhere")
    )


def why_no_text(row: DraftRow) -> str:
    """Return the notice in place of a missing text of a draft; empty if it may have one."""
    if row.state is DraftState.FAILED and not row.path:
        if lacks_repository(row):
            create = shown_key("review.open")
            return f"It could not be written: {sentence(row.detail)} {create} asks whether to create one."
        return f"It could not be written: {sentence(row.detail)} {shown_key('review.regenerate')} tries again."
    if row.state in (DraftState.GONE, DraftState.REJECTED) or not row.path:
        return sentence(row.detail) or _WHY_DECIDED.get(row.state, "It has no text.")
    return ""


def lacks_repository(row: DraftRow) -> bool:
    """Return whether a draft could not be written because the vault is not in a git repository."""
    return row.state is DraftState.FAILED and row.reason == Reason.NO_REPOSITORY


def repository_prompt(root: str, drafts: int) -> NoticeText:
    """Return the question whether to create a repository, in the place of drafts that all failed without one."""
    many = f"{plural(drafts, 'draft')} could not be written"
    return NoticeText(
        f"Create a repository in {short_root(root)}?",
        f"This vault is not in a git repository yet, and without one nothing could be undone: {many}. Your notes stay "
        "as they are; they become the first commit.",
        actions=(("review.open", "create"), ("view.back", "not now")),
    )


CREATING = NoticeText("Creating a repository …", "Your notes become its first commit; then the drafts are written.")


def why_none_today(skill: str, row: DraftRow | None) -> str:
    """Return why there is no draft of today, or of this week, to review."""
    if row is None:
        span = "this week" if skill == "weekly_review" else "today"
        return f"There is nothing to write about yet: no notes, meetings or finished tasks of {span} were found."
    why = _WHY_DECIDED.get(row.state, "It has no text.")
    note = f" Its note is {one_line(row.path)}." if row.state is DraftState.APPROVED else ""
    return f"{title_of(row)}: {lowered(why)}{note}"


def why_no_approval(row: DraftRow | None) -> str:
    if row is None or row.state is DraftState.WAITING:
        return ""
    if row.state is DraftState.FAILED:
        return f"It could not be written. {shown_key('review.regenerate')} tries again."
    return _WHY_DECIDED[row.state]


def why_decided(row: DraftRow | None) -> str:
    """Return why nothing can be decided about a draft any more; empty if it is waiting or has failed."""
    return _WHY_DECIDED.get(row.state, "") if row is not None else ""


def why_no_redraft(row: DraftRow | None) -> str:
    if row is not None and row.state is DraftState.WAITING and row.drafter == OTHER_DEVICE:
        return "It was written on another device, which alone can redraft it."
    return why_decided(row)


def why_no_rejection(row: DraftRow | None) -> str:
    return "" if row is not None and row.state is DraftState.GONE else why_decided(row)


def head_lines(row: DraftRow, now: float, remarks: tuple[str, ...], *, unsaved_edit: bool) -> Iterator[Content]:
    """Yield the head of a draft: title; kind, author and age; its path and target; and remarks."""
    yield Content.styled(title_of(row), "bold")
    kind = " of ".join(filter(None, (kind_of(row), when_of(row, now))))
    who = "drafted from your notes only" if row.drafter == "extractive" else f"drafted by {short_line(row.drafter, 60)}"
    cost = f" for ${row.cost:.4f}" if row.cost > 0 else ""
    passed = age(row.created_at, now)
    when = "just now" if passed == "now" else f"{passed} ago" if passed[-1] in "nhd" else passed
    yield Content.styled(f"{kind} · {who}{cost} · {when}", "$text-muted")
    yield _place(row)
    if row.state is DraftState.WAITING and row.detail:
        yield Content.styled(sentence(one_line(row.detail)), "$text-warning")
    if unsaved_edit:
        yield Content.styled("Your edit of it is unsaved: approving does not include it.", "$text-warning")
    for remark in remarks[:_MAX_REMARKS]:
        yield Content.styled(sentence(remark), "$text-warning")
    if len(remarks) > _MAX_REMARKS:
        yield Content.styled(f"and {plural(len(remarks) - _MAX_REMARKS, 'remark')} more", "$text-warning")


def _place(row: DraftRow) -> Content:
    target, path = one_line(row.target), one_line(row.path)
    if row.state is DraftState.WAITING and row.path != row.target:
        folder, _, name = row.target.rpartition("/")
        destination = f"{one_line(folder)}/" if folder and name == row.path.rpartition("/")[2] else target
        return Content.assemble(
            ("draft in ", "$text-disabled"), (path, "$text-muted"), (" → moves to ", "$text-disabled"), destination
        )
    if row.state is DraftState.WAITING:
        return Content.assemble(("saved as a draft in ", "$text-disabled"), target)
    words = {DraftState.FAILED: "not written: ", DraftState.GONE: "missing: "}.get(row.state, f"{row.state.value}: ")
    tries = f" · next try {moment(row.next_try)}" if row.state is DraftState.FAILED and row.next_try else ""
    return Content.assemble(
        (words, _TONES.get(row.state, "$text-muted")), (path or target, "$text-muted"), (tries, "$text-disabled")
    )


def approval_words(plan: Plan, row: DraftRow) -> str:
    """Summarise an approval in one line: `new note Meetings/a.md, one commit`. Leaving the Inbox is implied."""
    if not plan.changes:
        return "no changes in the vault"
    main = next((change for change in plan.changes if change.path == row.target), None)
    others = [change for change in plan.changes if change is not main]
    made = [change for change in others if change.before is None]
    removed = [change for change in others if change.after is None and change.path != row.path]
    changed = sum(change.before is not None and change.after is not None for change in others)
    parts = (
        _main_words(main) if main is not None else "",
        f"{one_line(removed[0].path)} is deleted"
        if len(removed) == 1
        else f"{plural(len(removed), 'note')} are deleted"
        if removed
        else "",
        plural(len(made), "more new note") if made else "",
        f"{plural(changed, 'other note')} changed" if changed else "",
    )
    return f"{', '.join(filter(None, parts))}, one commit"


def _main_words(change: Change) -> str:
    if change.before is None:
        return f"new note {one_line(change.path)}"
    return f"{one_line(change.path)} is {'deleted' if change.after is None else 'changed'}"


HunkText = tuple[str, int]
"""A hunk of a draft: its text, and the number of hunks before it that have the same text."""


def hunk_texts(draft: Draft) -> dict[HunkText, int]:
    """Return the hunks of a draft, which are the same in another version of it, with their numbers in this one."""
    lines = split_lines(draft.text, keep_ends=True)
    texts = {hunk.number: "".join(lines[hunk.start_line - 1 : hunk.end_line]).strip() for hunk in draft.hunks}
    equal: Counter[str] = Counter()
    found: dict[HunkText, int] = {}
    for number, text in texts.items():
        found[text, equal[text]] = number
        equal[text] += 1
    return found


def numbers_of(draft: Draft, excluded: Collection[HunkText]) -> frozenset[int]:
    """Return the numbers of the excluded hunks that this version of a draft still has."""
    return (
        frozenset(number for text, number in hunk_texts(draft).items() if text in excluded) if excluded else frozenset()
    )


def hunks_changed(number: int) -> tuple[str, ...]:
    return (f"{plural(number, 'excluded hunk')} changed since, and will be included",) if number else ()


def hunks_excluded(number: int) -> tuple[str, ...]:
    return (f"without {plural(number, 'hunk')} that you excluded",) if number else ()


def change_of(draft: Draft, left_out: frozenset[int], plan: Plan | None = None) -> Change:
    """Return the change from the existing note to the approved draft; with a plan, as planned."""
    before = draft.before.encode("utf-8", "surrogatepass") if draft.before is not None else None
    target = draft.row.target or draft.row.path
    changes = plan.changes if plan is not None else ()
    planned = next((change.after for change in changes if change.path == target), None)
    after = planned if planned is not None else without_hunks(draft.text, left_out).encode("utf-8", "surrogatepass")
    return Change(path=target, before=before, after=after)


def evidence_of(draft: Draft, line: int) -> tuple[Evidence, ...]:
    numbers = {
        number for claim in draft.claims if claim.start_line <= line <= claim.end_line for number in claim.evidence
    }
    return tuple(passage for passage in draft.evidence if passage.number in numbers)


def evidence_head(cited: int, total: int) -> str:
    if cited:
        return f"This line has {plural(cited, 'source')}"
    return f"No source for this line · all {total} below" if total else "No sources"
