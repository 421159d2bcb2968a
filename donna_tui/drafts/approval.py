"""Plan the changes of approving or rejecting a draft, and extract the person's edits as corrections."""

from __future__ import annotations

import datetime
import difflib
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from typing import Any

from donna_tui.drafts.hunks import without_hunks
from donna_tui.drafts.people import FOLDER, ensure_person_stubs, is_stub, text_of_page
from donna_tui.drafts.queue import ID_KEY, MACHINE_KEYS, Entry, is_of
from donna_tui.drafts.text import frontmatter_block, numbered
from donna_tui.memory.facts import WHOLE_NOTE
from donna_tui.text.markdown import headings
from donna_tui.text.merge import merge_texts
from donna_tui.text.plural import first_of, plural
from donna_tui.types.drafts import DraftState
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.types.memory import Correction
from donna_tui.vault.client import VaultClient, VaultNote
from donna_tui.vault.note.merge import merge_frontmatter
from donna_tui.vault.note.read import DRAFT_KEY, is_by_donna, parse_frontmatter
from donna_tui.vault.write.changes import Change, OperationKind, Outcome, Plan, has_etag
from donna_tui.vault.write.writer import VaultWriter

MAX_CORRECTIONS = 20
MAX_SUBJECT = 500
NAMED_STUBS = 5
"""Maximum number of people whose new page is named before an approval."""

_REMOVED = {DRAFT_KEY: None, **dict.fromkeys(MACHINE_KEYS)}


class Approver:
    """Plan approvals and rejections in one vault. Every method blocks and raises DonnaError."""

    def __init__(
        self,
        client: VaultClient,
        writer: VaultWriter,
        allowlist: Collection[str],
        *,
        makes_pages: bool = True,
        me: Collection[str] = (),
    ) -> None:
        """Create the approver. With `makes_pages`, people without a page get an empty one, but not the user (`me`)."""
        self._client, self._writer, self._me = client, writer, me
        self._allowlist = allowlist if makes_pages else ()

    def note_of(self, entry: Entry) -> VaultNote:
        """Read the note of a draft from disk. Raises DonnaError if it is missing or unreadable, or is another note."""
        if entry.state != DraftState.WAITING:
            raise DonnaError(Reason.NOT_A_DRAFT, "this draft is no longer waiting")
        try:
            note = self._client.read(entry.path)
        except VaultReadError as error:
            if error.reason is not Reason.MISSING:
                raise
            message = f"the draft {entry.path} is missing: it was undone, deleted or moved"
            raise DonnaError(Reason.MISSING, message, hint="restore its note, or draft it again") from error
        if not is_of(note.frontmatter.data, entry.skill, entry.key):
            if problem := note.frontmatter.problem:
                message = f"{entry.path} cannot be recognised as the draft: {problem}"
                raise DonnaError(Reason.INVALID_FRONTMATTER, message, hint="correct its frontmatter in an editor")
            raise DonnaError(
                Reason.NOT_A_DRAFT, f"{entry.path} is another note now", hint="draft it again, or delete that note"
            )
        return note

    def plan_approval(
        self,
        entry: Entry,
        left_out: frozenset[int] = frozenset(),
        taken: Collection[str] = (),
        *,
        etag: str | None = None,
    ) -> Plan:
        """Plan the move of a draft to its target, without its draft mark and without the hunks that are left out.

        `taken` are paths that other approvals create, which are applied together with this one. Raises DonnaError
        (`conflict`) if the hunks are those of a version `etag` that has changed since.
        """
        note = self.note_of(entry)
        if etag not in (None, note.etag):
            raise DonnaError(Reason.CONFLICT, f"{entry.path} was edited meanwhile", hint="read it again")
        keys = frontmatter_block({**_REMOVED, ID_KEY: entry.key}) + _body(without_hunks(note.text, left_out))
        approved = merge_frontmatter(note.text, keys)
        target = self.target_now(entry, taken)
        plan = self._placed(entry.path, target, note.etag, approved)
        stubs = ensure_person_stubs(_body(approved), self._client, self._writer.planner, self._allowlist, self._me)
        remarks = (*plan.remarks, *_stub_remarks(stubs))
        return replace(plan, subject=f"Approve {target}", changes=(*plan.changes, *stubs), remarks=remarks)

    def carry_out(self, plan: Plan) -> Outcome:
        """Apply a reviewed plan. If the page of a person cannot be created, the note is approved without it."""
        try:
            return self._writer.apply(plan)
        except DonnaError:
            rest = tuple(
                change
                for change in plan.changes
                if change.before is not None or not change.path.startswith(f"{FOLDER}/") or not is_stub(change.after)
            )
            if not rest or len(rest) == len(plan.changes):
                raise
            return self._writer.apply(replace(plan, changes=rest))

    def plan_rejection(self, entry: Entry) -> Plan:
        """Plan the deletion of a draft, which remains in git's history."""
        note = self.note_of(entry)
        plan = self._writer.planner.delete(entry.path, expected=has_etag(note.etag))
        return replace(plan, subject=f"Reject {entry.path}")

    def plan_redraft(self, entry: Entry, fresh: str) -> Plan:
        """Plan a new text for a draft, with a three-way merge (diff3) of the person's changes.

        Raises DonnaError (`conflict`) if the person and the new draft changed the same lines.
        """
        note = self.note_of(entry)
        merged = merge_texts(entry.original, note.text, fresh)
        if merged.collisions:
            raise DonnaError(
                Reason.CONFLICT,
                "Your edits conflict with the new draft: nothing was changed",
                hint="approve or reject the draft, or move your lines under Notes",
            )
        plan = self._writer.planner.write(entry.path, merged.text, expected=has_etag(note.etag), replace=True)
        return replace(plan, subject=f"Redraft {entry.path}")

    def plan_realign(self, entry: Entry, times: Mapping[str, Any], lines: Mapping[str, str], target: str) -> Plan:
        """Plan the update of a meeting's draft after the meeting moved or was renamed: times, head lines and path."""
        note = self.note_of(entry)
        text = with_lines(note.text, lines)
        text = merge_frontmatter(text, frontmatter_block(times) + _body(text))
        plan = self._placed(entry.path, self.target_now(replace(entry, target=target)), note.etag, text)
        return replace(plan, subject=f"Update {entry.path} from the calendar")

    def before(self, entry: Entry) -> str | None:
        """Return the text that an approval would replace, which is a person's page; None for a new note."""
        note = self._client.try_read(entry.target) if entry.target != entry.path else None
        return note.text if note and _may_be_replaced(note, entry) else None

    def target_now(self, entry: Entry, taken: Collection[str] = ()) -> str:
        """Return the target if it is free or may be replaced, else the next numbered name."""
        folded = {path.casefold() for path in taken}
        for name in numbered(entry.target):
            if name.casefold() in folded:
                continue
            if name == entry.path:
                return name
            try:
                note = self._client.read(name)
            except VaultReadError as error:
                if error.reason is Reason.MISSING:
                    return name
                continue
            if _may_be_replaced(note, entry):
                return name
        raise DonnaError(Reason.CONFLICT, f"there are too many notes named {entry.target}")

    def _placed(self, path: str, target: str, etag: str, text: str) -> Plan:
        """Plan to write the text of the draft at `path` to `target`, which may be the same path."""
        if target == path:
            return self._writer.planner.write(path, text, expected=has_etag(etag), replace=True)
        known = self._client.try_read(target)
        if known is not None:
            written = self._writer.planner.write(target, text, expected=has_etag(known.etag))
            deleted = self._writer.planner.delete(path, expected=has_etag(etag))
            return Plan(kind=OperationKind.WRITE, subject=written.subject, changes=(*written.changes, *deleted.changes))
        plan = self._writer.planner.move(path, target, expected=has_etag(etag))
        changes = (replace(change, after=text.encode()) if change.path == target else change for change in plan.changes)
        return replace(plan, changes=tuple(changes))


def combined(plans: Sequence[Plan]) -> Plan:
    """Combine approvals that were planned on the same state of the vault into one operation.

    A file that several of them create identically, such as the page of a person, is created once; edits of one note,
    such as links that follow a moved draft, are merged (diff3). Raises DonnaError (`conflict`) if that is not possible.
    """
    if len(plans) == 1:
        return plans[0]
    by_path: dict[str, list[Change]] = {}
    for change in dict.fromkeys(change for plan in plans for change in plan.changes):
        by_path.setdefault(change.path, []).append(change)
    changes = {path: _one_change(each) for path, each in by_path.items()}
    moves = ((change.path, target_of(plan)) for plan in plans for change in plan.changes if change.after is None)
    for path, target in moves:
        edits = [change.after for change in by_path[path] if change.after is not None]
        arriving = changes[target]
        changes[target] = replace(arriving, after=_merged(target, by_path[path][0].before, arriving.after, *edits))
    return Plan(
        kind=OperationKind.WRITE,
        subject=f"Approve {plural(len(plans), 'draft')}: {', '.join(target_of(plan) for plan in plans)}"[:MAX_SUBJECT],
        changes=tuple(changes.values()),
        remarks=tuple(dict.fromkeys(remark for plan in plans for remark in plan.remarks)),
        unread=tuple(dict.fromkeys(path for plan in plans for path in plan.unread)),
    )


def target_of(plan: Plan) -> str:
    return next((change.path for change in plan.changes if change.after is not None), "")


def _one_change(changes: Sequence[Change]) -> Change:
    """Combine the changes of several plans to one file. A draft that is moved is deleted in any case."""
    first = changes[0]
    if len(changes) == 1:
        return first
    if any(change.before != first.before for change in changes):
        raise _collides(first.path)
    deletion = next((change for change in changes if change.after is None), None)
    if deletion is not None:
        return deletion
    return replace(first, after=_merged(first.path, first.before, *(change.after for change in changes)))


def _merged(path: str, before: bytes | None, *versions: bytes | None) -> bytes | None:
    merged, *others = versions
    for other in others:
        if before is None or merged is None or other is None:
            raise _collides(path)
        try:
            merge = merge_texts(*(text.decode() for text in (before, other, merged)))
        except UnicodeDecodeError:
            raise _collides(path) from None
        if not merge.is_clean:
            raise _collides(path)
        merged = merge.text.encode()
    return merged


def _collides(path: str) -> DonnaError:
    message = f"Another of these drafts changes the same lines of {path}"
    return DonnaError(Reason.CONFLICT, message, hint="approve the others first, and then this one")


def head_of(text: str) -> tuple[str, str]:
    """Return the head lines of a meeting's note: its first heading, and the line with its time."""
    lines = [line for line in _body(text).splitlines() if line.strip()]
    return (lines[0], lines[1]) if len(lines) > 1 else ("", "")


def start_in(text: str) -> float | None:
    """Read the start of the meeting (Unix time) from the frontmatter of a draft."""
    start = parse_frontmatter(text).data.get("event_start")
    try:
        return datetime.datetime.fromisoformat(str(start)).timestamp()
    except (ValueError, OverflowError, OSError):
        return None


def with_lines(text: str, lines: Mapping[str, str]) -> str:
    """Replace whole lines in `text`, each at its first occurrence."""
    for old, new in lines.items():
        if old:
            text = text.replace(f"\n{old}\n", f"\n{new}\n", 1)
    return text


def corrections_of(entry: Entry, approved: str, now: float) -> list[Correction]:
    """Return the changes that the person made to a draft before its approval, one correction for each place."""
    before, after = _body(entry.original), _body(approved)
    changes = list(_changes(before, after))[:MAX_CORRECTIONS]
    task_type = "extract_commitments" if entry.skill == "commitment_log" else f"draft_{entry.skill}"
    return [
        Correction(
            id=f"{entry.id}-{number}",
            field=field,
            original=old,
            corrected=new,
            input=entry.title,
            task_type=task_type,
            created_at=now,
            sensitive=entry.sensitive,
        )
        for number, (field, old, new) in enumerate(changes, 1)
    ]


def _changes(before: str, after: str) -> Iterator[tuple[str, str, str]]:
    """Yield heading, old lines and new lines of each replacement or deletion.

    Insertions are not corrections, since the draft leaves room for them.
    """
    old, new = before.splitlines(), after.splitlines()
    for tag, low, high, start, end in difflib.SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        was, now = "\n".join(old[low:high]).strip(), "\n".join(new[start:end]).strip()
        if tag != "equal" and was != now and any(char.isalnum() for char in was):
            above = headings("\n".join(old[:low]) + "\n")
            yield above[-1].text if above else WHOLE_NOTE, was, now


def _stub_remarks(stubs: Sequence[Change]) -> list[str]:
    """Name the people for whom an empty page is created."""
    names = [change.path.removeprefix(f"{FOLDER}/").removesuffix(".md") for change in stubs]
    pages = "empty pages" if len(names) > 1 else "an empty page"
    return [f"Creates {pages} in {FOLDER}: {first_of(names, NAMED_STUBS)}."] if names else []


def _body(text: str) -> str:
    return text[parse_frontmatter(text).body_start :]


def _may_be_replaced(note: VaultNote, entry: Entry) -> bool:
    """Check whether a draft replaces a note: a person's page written by Donna, or an empty one with the profile."""
    front = note.frontmatter.data
    if is_by_donna(front) and front.get("type") == "person":
        return True
    return entry.skill == "person_profile" and note.path == entry.target and not text_of_page(note.content)
