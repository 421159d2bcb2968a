"""Define the interface between the screens and the engine, as protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from donna_tui.types.errors import DonnaError
from donna_tui.types.search import Hit, NameMatch, SearchOutcome, SearchRequest
from donna_tui.types.status import Status

if TYPE_CHECKING:  # deferred: only panes after the first frame need these
    from donna_tui.types.drafts import CalendarRow, Draft, DraftRow, MeetingRow, Preview
    from donna_tui.types.events import Listener
    from donna_tui.types.memory import (
        Correction,
        MemoryChunk,
        MemoryFilter,
        RecallResult,
        Suggestion,
        TaskRow,
    )
    from donna_tui.types.notes import BlameLine, Destination, Edit, NoteLinks, NoteRow, NoteText
    from donna_tui.vault.conflicts import Conflict, Keep
    from donna_tui.vault.write.changes import Change, Clash, Operation, OperationKind, Outcome, Plan, Revision, Version


class Explanation(Protocol):
    """The reason why a search found a note or not; see `donna_tui.search.why_not.WhyNot`. `cause` is a stable code."""

    @property
    def path(self) -> str: ...
    @property
    def cause(self) -> str: ...
    @property
    def detail(self) -> str: ...
    @property
    def rank(self) -> int | None: ...
    @property
    def keyword_rank(self) -> int | None: ...
    @property
    def vector_rank(self) -> int | None: ...
    @property
    def cosine(self) -> float | None: ...


class Passage(Protocol):
    """A section of a note for the preview; see `donna_tui.engine.passages.Passage`."""

    @property
    def path(self) -> str: ...
    @property
    def title(self) -> str: ...
    @property
    def heading_path(self) -> tuple[str, ...]: ...
    @property
    def text(self) -> str: ...
    @property
    def start_line(self) -> int: ...
    @property
    def end_line(self) -> int: ...
    @property
    def mark_start(self) -> int: ...
    @property
    def mark_end(self) -> int: ...
    @property
    def truncated(self) -> bool: ...
    @property
    def linked_from(self) -> tuple[str, ...]: ...
    @property
    def sensitive(self) -> bool: ...


class VaultBackend(Protocol):
    """The operations of the Vault screen. A refusal raises `VaultReadError` or `VaultWriteError` with a reason."""

    async def vault_rows(self) -> tuple[NoteRow, ...]:
        """Return every file of the vault that is a note or looks like one, with its states."""

    async def read_note(self, path: str) -> NoteText:
        """Return the current text of a note on disk."""

    async def follow(self, note: str, written: str, *, is_wiki: bool) -> Destination:
        """Resolve a link that is written in a note."""

    async def links(self, path: str) -> NoteLinks:
        """Return the links of a note, and the lines of other notes that link to it."""

    async def history(self, path: str = "", limit: int = 200) -> tuple[Revision, ...]:
        """List the commits that changed a note, or anything in the vault, newest first."""

    async def revision_changes(self, commit: str) -> tuple[Change, ...]:
        """Return the changes of a commit in the vault."""

    async def outside_change(self, path: str) -> Change | None:
        """Compare a note on disk with its version in git; return None if they are equal."""

    async def blame(self, path: str, first_line: int, last_line: int) -> tuple[BlameLine, ...]:
        """Return the commit of each line in a range (1-based, inclusive); a line that is not in git yet has none."""

    async def plan_write(self, path: str, text: str, etag: str | None, *, replace: bool = True) -> Plan:
        """Plan writing a note. Without an etag it must not exist yet."""

    async def plan_delete(self, path: str, etag: str, *, unlinks: bool = False) -> Plan:
        """Plan deleting a note; with `unlinks` the links to it are replaced by their text."""

    async def plan_move(self, src: str, dst: str, etag: str) -> Plan:
        """Plan moving a note, including the links to rewrite."""

    async def plan_delete_all(self, paths: Sequence[str], *, unlinks: bool = False) -> Plan:
        """Plan the deletion of several notes and folders."""

    async def plan_move_folder(self, src: str, dst: str) -> Plan:
        """Plan to move a folder with all its notes, and to update the links to them."""

    async def plan_move_into(self, paths: Sequence[str], folder: str) -> Plan:
        """Plan to move several notes and folders into a folder; empty is the top of the vault."""

    async def why_not_new(self, path: str, besides: str = "") -> str:
        """Return why a note cannot be created at a path, or `besides` moved there; empty if it can."""

    async def empty_folders(self) -> tuple[str, ...]:
        """List the folders without any file."""

    async def create_folder(self, path: str) -> None:
        """Create an empty folder."""

    async def remove_folder(self, path: str) -> bool:
        """Remove an empty folder. Return whether it was removed."""

    async def plan_undo(self, n: int = 1) -> Plan:
        """Plan an undo of the last `n` operations."""

    async def plan_undo_one(self, operation: str) -> Plan:
        """Plan to revert one operation, whatever was done to other notes since."""

    async def plan_redo(self, n: int = 1) -> Plan:
        """Plan a redo of the last `n` undone operations."""

    async def conflict(self, path: str) -> Conflict:
        """Return the current versions of a conflict copy and its note."""

    async def plan_resolution(self, conflict: Conflict, keep: Keep) -> Plan:
        """Plan keeping one version of a conflict, or both, and deleting the copy."""

    async def apply_plan(self, plan: Plan) -> Outcome:
        """Apply a plan that the user has reviewed."""

    async def commit_version(self, path: str) -> Version:
        """Commit the current version of a note before another program may change it."""

    async def plan_since(self, version: Version) -> Plan:
        """Plan a commit of the changes that another program made to a note since that version."""

    async def plan_outside(self, paths: Sequence[str]) -> Plan:
        """Plan a commit of the changes made to these notes outside Donna."""

    async def undoable(self) -> tuple[Operation, ...]:
        """List the operations that can be undone, newest first."""

    async def redoable(self) -> tuple[Operation, ...]:
        """List the operations that can be redone, most recently undone first."""

    async def clashes(self, kind: OperationKind, n: int = 1) -> tuple[Clash, ...]:
        """Return the clashes that block an undo or redo which was refused with `undo_conflict`."""

    async def create_repository(self) -> None:
        """Create the git repository, after the user has agreed."""

    async def waiting_edits(self) -> tuple[Edit, ...]:
        """List the edits that were started but not written, including those of a program that was killed."""

    async def save_edit(self, edit: Edit) -> None:
        """Save an edit that is not written yet."""

    async def begin_edit(self, edit: Edit) -> Path:
        """Create a copy of an edit for an editor. It persists until the edit is saved, written or dropped."""

    async def edited_text(self, copy: Path) -> str:
        """Read the text of an edited copy."""

    async def whereabouts(self, path: str) -> str:
        """Explain in a sentence what happened to a missing note; return an empty string if this is unknown."""

    async def drop_edit(self, path: str) -> None:
        """Drop the edit of a note."""


class MemoryBackend(Protocol):
    """The operations of the Memory screen. Every method raises only `DonnaError`."""

    @property
    def token_budget(self) -> int:
        """Return the default limit on the tokens of a recall."""

    async def memories(
        self, wanted: MemoryFilter | None = None, *, limit: int = 200, skip: int = 0
    ) -> tuple[MemoryChunk, ...]:
        """List the memories, newest first."""

    async def count(self, wanted: MemoryFilter | None = None) -> int:
        """Count the memories."""

    async def memory(self, identity: str) -> MemoryChunk | None:
        """Return a memory by its id."""

    async def remember(self, text: str) -> tuple[MemoryChunk, ...]:
        """Remember a text, and return its memories."""

    async def replaced_by_text(self, text: str) -> tuple[str, ...]:
        """Return the preferences that remembering this text would replace."""

    async def correct(self, identity: str, corrected: str, *, query: str = "", original: str = "") -> Correction:
        """Correct a memory or a hit."""

    async def forget(self, identity: str, *, for_good: bool = False) -> bool:
        """Forget a memory. Return whether anything changed."""

    async def restore(self, identity: str) -> bool:
        """Undo a `forget` that was not permanent."""

    async def pin(self, identity: str, *, pinned: bool = True) -> bool:
        """Pin a memory, so that it has full importance, or unpin it."""

    async def suggestions(self, *, limit: int = 50) -> tuple[Suggestion, ...]:
        """List the preferences that were stated in chats and not answered yet, the latest first."""

    async def replaced_by(self, suggestion: Suggestion) -> tuple[str, ...]:
        """Return the preferences that remembering a suggestion would replace."""

    async def answer_suggestion(self, identity: str, *, accepted: bool) -> Suggestion:
        """Remember a preference that was offered, or never offer it again."""

    async def recall(self, query: str, *, token_budget: int | None = None, remote: bool = False) -> RecallResult:
        """Return the memories for a prompt, with the ones that were cut and why."""

    def prompt(self, result: RecallResult) -> str:
        """Return the `<memory>` block of a recall."""


class DraftBackend(Protocol):
    """The operations of the Review screen, and of the drafts of meetings. Every method raises only `DonnaError`."""

    async def drafts(self, *, everything: bool = False) -> tuple[DraftRow, ...]:
        """List pending and failed drafts, newest first; with `everything` also up to 200 decided ones."""

    async def draft(self, identity: str) -> Draft:
        """Return a draft with its current text on disk and its source passages."""

    async def plan_approval(self, identity: str, *, without: frozenset[int] = frozenset()) -> Plan:
        """Plan the approval of a draft without the hunks of these numbers. `approve` applies the plan."""

    async def approve(self, identity: str, plan: Plan) -> Outcome:
        """Apply an approval that the user has reviewed, and store the user's changes as a correction."""

    async def plan_approvals(self, without: Mapping[str, frozenset[int]]) -> dict[str, Plan | DonnaError]:
        """Plan the approval of several drafts, each without its hunks of these numbers; return an error for each
        refusal.
        """

    async def approve_all(self, plans: Mapping[str, Plan]) -> Outcome:
        """Apply approvals that were planned together, as one operation; any of the plans may be omitted."""

    async def plan_rejection(self, identity: str) -> Plan:
        """Plan the rejection of a draft: its note is deleted, and none is written for this occasion again."""

    async def reject(self, identity: str, plan: Plan) -> Outcome:
        """Apply a rejection that the user has reviewed."""

    async def regenerate(self, identity: str) -> DraftRow:
        """Compose a draft again from the current sources and replace its text; also retries a failed draft."""

    async def preview(self, event_id: str) -> Preview:
        """Render the note of a meeting as it would be written now, without writing it and without a model."""

    async def write_today(self, skill: str) -> DraftRow | None:
        """Write the draft of a skill for today or the current week; return None if there is nothing to write about.

        An existing draft is returned as it is.
        """

    async def write_now(self, event_id: str) -> DraftRow:
        """Write the draft of a meeting now, even if it has not ended."""


class CalendarBackend(Protocol):
    """The operations of the Meetings screen. Every method raises only `DonnaError`."""

    async def meetings(self, start: float, end: float) -> tuple[MeetingRow, ...]:
        """List the meetings that begin between two Unix times, in order, with the state of their notes."""

    async def want_notes(self, event_id: str, *, wanted: bool) -> None:
        """Set whether drafts are written automatically for the series of a meeting."""

    async def calendars(self) -> tuple[CalendarRow, ...]:
        """List the subscribed calendars."""

    async def add_calendar(self, where: str, name: str = "", *, username: str = "", password: str = "") -> CalendarRow:
        """Read the calendar in a file, a folder or at a web address, and subscribe to it, also after a restart.

        A password is stored in a separate file that only the user can read. Raises DonnaError if the calendar cannot be
        read (`calendar_failed`, `login_refused`, `usage`) or its name is taken (`conflict`).
        """

    async def refresh(self) -> None:
        """Read all calendars now."""


class Backend(Protocol):
    """The engine as the screens see it. Every method raises only `DonnaError`."""

    @property
    def notes(self) -> VaultBackend:
        """Return the service that reads, changes and undoes notes; available once `start` has returned."""

    @property
    def memory(self) -> MemoryBackend:
        """Return the service that lists, recalls and forgets memories. The first access takes a moment."""

    @property
    def drafts(self) -> DraftBackend:
        """Return the service for drafts. The first access takes a moment, unless `warm_up` has run."""

    @property
    def calendar(self) -> CalendarBackend:
        """Return the service for meetings and calendars. The first access takes a moment, as that of `drafts`."""

    def warm_up(self) -> None:
        """Import and open the dependencies of `notes` and `drafts` on this thread."""

    async def at_best(self) -> None:
        """Wait until searches have the best quality available for now; never long."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    def subscribe(self, listener: Listener) -> Callable[[], None]: ...
    def status(self) -> Status: ...
    async def search(self, request: SearchRequest) -> SearchOutcome: ...
    async def more_like(self, hit: Hit, request: SearchRequest) -> SearchOutcome: ...
    async def passage(self, path: str, start_line: int, end_line: int, space: str = "") -> Passage: ...
    async def why_not(self, path: str, request: SearchRequest) -> Explanation:
        """Explain why a note is not among the hits of a question, or that it is."""

    async def names(self, query: str, limit: int = 50) -> tuple[NameMatch, ...]:
        """Find notes and headings whose name contains the letters of a query, best first; without a query return the
        most recently changed notes.
        """

    async def recent_notes(self, limit: int) -> tuple[NameMatch, ...]:
        """Return the most recently changed notes, including those that are not indexed yet."""

    async def tasks_due(self, limit: int) -> tuple[TaskRow, ...]:
        """List open tasks that are due within a week, earliest first, then overdue ones."""

    async def example_question(self) -> str:
        """Return a question that a note of this vault answers; an empty string if there is none."""

    async def questions(self) -> tuple[str, ...]:
        """List the previous questions, newest first."""

    async def save_question(self, text: str) -> tuple[str, ...]:
        """Save a question for later sessions, and return all of them."""

    async def folders(self) -> tuple[str, ...]: ...
    async def sources(self) -> tuple[str, ...]: ...
    def absolute_path(self, path: str, space: str = "") -> Path: ...
    def root_of(self, space: str) -> Path: ...
    async def retry(self, path: str = "") -> None: ...
    async def resume(self) -> None: ...

    async def install_model(self) -> None:
        """Download and prepare the default embedding model, and use semantic search from then on."""


@dataclass(frozen=True, slots=True)
class KnownVault:
    """A vault to choose. `source` is the place where Donna found it; `space` is its name, if it has one."""

    name: str
    root: Path
    source: str
    space: str = ""
