"""Define what the screens need from the engine, as protocols."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from donna_tui.types.errors import DonnaError
from donna_tui.types.events import Listener
from donna_tui.types.memory import (
    ME,
    Correction,
    MemoryChunk,
    MemoryFilter,
    MemoryType,
    RecallResult,
    Suggestion,
    TaskRow,
)
from donna_tui.types.search import Hit, NameMatch, SearchOutcome, SearchRequest
from donna_tui.types.status import Status

if TYPE_CHECKING:  # not before the first frame: only the panes after it need them
    from donna_tui.types.drafts import CalendarRow, Draft, DraftRow, MeetingRow, Preview
    from donna_tui.types.notes import BlameLine, Destination, Edit, NoteLinks, NoteRow, NoteText
    from donna_tui.vault.conflicts import Conflict, Keep
    from donna_tui.vault.write.changes import Change, Clash, Operation, OperationKind, Outcome, Plan, Revision, Version


class Explanation(Protocol):
    """What became of a note in a search; see `donna_tui.search.why_not.WhyNot`. `cause` is a stable code."""

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
    """What the Vault screen needs. What is refused raises `VaultReadError` or `VaultWriteError` with a reason."""

    async def vault_rows(self) -> tuple[NoteRow, ...]:
        """Every file of the vault that is a note or looks like one, with its states."""

    async def read_note(self, path: str) -> NoteText:
        """The text of a note as it is on disk now."""

    async def follow(self, note: str, written: str, *, is_wiki: bool) -> Destination:
        """Where a link leads that is written in a note."""

    async def links(self, path: str) -> NoteLinks:
        """The links of a note, and the lines of other notes that link to it."""

    async def history(self, path: str = "", limit: int = 200, skip: int = 0) -> tuple[Revision, ...]:
        """Commits that changed a note, or anything in the vault; newest first."""

    async def revision_changes(self, commit: str) -> tuple[Change, ...]:
        """What a commit changed in the vault."""

    async def outside_change(self, path: str) -> Change | None:
        """Git's version of a note against the one on disk; None if they are the same."""

    async def blame(self, path: str, first_line: int, last_line: int) -> tuple[BlameLine, ...]:
        """Where lines of a note (1-based, inclusive) are from. Lines that are not in git yet have no commit."""

    async def plan_write(self, path: str, text: str, etag: str | None, *, replace: bool = True) -> Plan:
        """What writing a note would do. Without an etag it must not exist yet."""

    async def plan_delete(self, path: str, etag: str, *, unlinks: bool = False) -> Plan:
        """What deleting a note would do; with `unlinks` also to the links to it, whose words stay."""

    async def plan_move(self, src: str, dst: str, etag: str) -> Plan:
        """What moving a note would do, rewritten links included."""

    async def plan_delete_all(self, paths: Sequence[str], *, unlinks: bool = False) -> Plan:
        """What deleting several notes and folders would do."""

    async def plan_move_folder(self, src: str, dst: str) -> Plan:
        """What giving a folder another path would do to all notes in it and to the links to them."""

    async def plan_move_into(self, paths: Sequence[str], folder: str) -> Plan:
        """What moving several notes and folders into a folder would do; empty is the top of the vault."""

    async def why_not_new(self, path: str, besides: str = "") -> str:
        """Why a note cannot be created at a path, or `besides` moved there; empty if it can."""

    async def empty_folders(self) -> tuple[str, ...]:
        """The folders that nothing is in."""

    async def create_folder(self, path: str) -> None:
        """Create an empty folder."""

    async def remove_folder(self, path: str) -> bool:
        """Remove a folder that nothing is in. Whether it is gone."""

    async def plan_undo(self, n: int = 1) -> Plan:
        """What taking back the last `n` operations would do."""

    async def plan_undo_one(self, operation: str) -> Plan:
        """What taking back one operation would do, whatever was done since to other notes."""

    async def plan_redo(self, n: int = 1) -> Plan:
        """What doing again what was taken back last would do."""

    async def conflict(self, path: str) -> Conflict:
        """A conflict copy and its note, both as they are now."""

    async def plan_resolution(self, conflict: Conflict, keep: Keep) -> Plan:
        """What keeping one version, or both, and dropping the copy would do."""

    async def apply_plan(self, plan: Plan) -> Outcome:
        """Carry out a plan that was looked at."""

    async def keep_version(self, path: str) -> Version:
        """A note as it is now, put into git before another program may change it."""

    async def plan_since(self, version: Version) -> Plan:
        """What another program made of a note since that version, to be committed as it is on disk."""

    async def plan_outside(self, paths: Sequence[str]) -> Plan:
        """What was edited outside in these notes, to be committed as it is on disk."""

    async def undoable(self) -> tuple[Operation, ...]:
        """What can be taken back, newest first."""

    async def redoable(self) -> tuple[Operation, ...]:
        """What can be done again; what was taken back last comes first."""

    async def clashes(self, kind: OperationKind, n: int = 1) -> tuple[Clash, ...]:
        """What stands in the way of an undo or redo, after it was refused with `undo_conflict`."""

    async def create_repository(self) -> None:
        """Begin a history, after the user agreed."""

    async def waiting_edits(self) -> tuple[Edit, ...]:
        """Edits that were begun and not written, also by a program that was stopped."""

    async def keep_edit(self, edit: Edit) -> None:
        """Keep an edit that is not written yet."""

    async def begin_edit(self, edit: Edit) -> Path:
        """A copy of an edit for an editor, which outlives the program until the edit is kept, written or dropped."""

    async def edited_text(self, copy: Path) -> str:
        """What the editor left in that copy."""

    async def whereabouts(self, path: str) -> str:
        """What became of a note that is gone, as a sentence; empty if nobody knows."""

    async def drop_edit(self, path: str) -> None:
        """Forget the edit of a note."""


class MemoryBackend(Protocol):
    """What the Memory screen needs. Every method raises only `DonnaError`."""

    @property
    def token_budget(self) -> int:
        """The tokens that a recall may take at the most unless it says otherwise."""

    async def memories(
        self, wanted: MemoryFilter | None = None, *, limit: int = 200, skip: int = 0
    ) -> tuple[MemoryChunk, ...]:
        """What is remembered, the latest first."""

    async def count(self, wanted: MemoryFilter | None = None) -> int:
        """How many memories there are."""

    async def memory(self, identity: str) -> MemoryChunk | None:
        """One memory by its id."""

    async def remember(self, text: str) -> tuple[MemoryChunk, ...]:
        """Remember a text; its memories."""

    async def replaced_by_text(self, text: str) -> tuple[str, ...]:
        """The preferences that remembering this text would replace."""

    async def correct(
        self, identity: str, corrected: str, *, query: str = "", field_name: str = "content", original: str = ""
    ) -> Correction:
        """Say that a memory or a hit is wrong, and what is right."""

    async def forget(self, identity: str, *, for_good: bool = False) -> bool:
        """Forget a memory. Whether anything changed."""

    async def bring_back(self, identity: str) -> bool:
        """Undo a `forget` that was not for good."""

    async def pin(self, identity: str, *, pinned: bool = True) -> bool:
        """Pin a memory, so that it counts as fully important, or unpin it."""

    async def suggestions(self, *, limit: int = 50) -> tuple[Suggestion, ...]:
        """The preferences that were stated in chats and wait for an answer, the latest first."""

    async def replaced_by(self, suggestion: Suggestion) -> tuple[str, ...]:
        """The preferences that remembering a suggestion would replace."""

    async def answer_suggestion(self, identity: str, *, accepted: bool) -> Suggestion:
        """Remember a preference that was offered, or never offer it again."""

    async def recall(
        self,
        query: str,
        user_id: str = ME,
        top_k: int | None = None,
        token_budget: int | None = None,
        memory_types: tuple[MemoryType, ...] | None = None,
        *,
        include_compressed: bool = False,
        remote: bool = False,
    ) -> RecallResult:
        """The memories for a prompt, with what was cut and why."""

    def prompt(self, result: RecallResult) -> str:
        """The `<memory>` block of a recall."""


class DraftBackend(Protocol):
    """What the Review and Meetings screens need. Every method raises only `DonnaError`."""

    async def drafts(self, *, everything: bool = False) -> tuple[DraftRow, ...]:
        """What waits or has failed, the newest first; with `everything` also what was decided, at most 200 of it."""

    async def draft(self, identity: str) -> Draft:
        """A draft with its text as it is on disk now and the passages that it rests on."""

    async def plan_approval(self, identity: str, *, without: frozenset[int] = frozenset()) -> Plan:
        """What approving a draft would do, without the hunks of these numbers. It can be carried out by `approve`."""

    async def approve(self, identity: str, plan: Plan) -> Outcome:
        """Carry out an approval that was looked at. What the person changed is remembered as a correction."""

    async def plan_approvals(self, without: Mapping[str, frozenset[int]]) -> dict[str, Plan | DonnaError]:
        """What approving drafts together would do, each without its hunks of these numbers, or why one cannot be."""

    async def approve_all(self, plans: Mapping[str, Plan]) -> Outcome:
        """Carry out approvals that were planned together, as one operation; any of the plans may be left out."""

    async def plan_rejection(self, identity: str) -> Plan:
        """What rejecting a draft would do: its note goes, and none is written for this occasion again."""

    async def reject(self, identity: str, plan: Plan) -> Outcome:
        """Carry out a rejection that was looked at."""

    async def regenerate(self, identity: str) -> DraftRow:
        """Compose a draft anew from what is known now, in the place of the old text; also tries a failed one again."""

    async def meetings(self, start: float, end: float) -> tuple[MeetingRow, ...]:
        """The meetings that begin between two Unix times, in order, with the state of their notes."""

    async def preview(self, event_id: str) -> Preview:
        """The note of a meeting as it would be written now. Nothing is written, and no model is asked."""

    async def write_today(self, skill: str) -> DraftRow | None:
        """Write the draft of a skill for today, or for the week that it is in; None if there is nothing to write about.

        One that was written before is given as it is now.
        """

    async def write_now(self, event_id: str) -> DraftRow:
        """Write the draft of a meeting now, whether or not it has ended."""

    async def want_notes(self, event_id: str, *, wanted: bool) -> None:
        """Keep whether drafts of the series of a meeting are written by themselves."""

    async def calendars(self) -> tuple[CalendarRow, ...]:
        """The calendars that are followed."""

    async def add_calendar(self, where: str, name: str = "", *, username: str = "", password: str = "") -> CalendarRow:
        """Read the calendar in a file, a folder or at a web address, and follow it from now on, also after a restart.

        A password is kept in a file of its own that only the user can read. Raises DonnaError if the calendar cannot be
        read (`calendar_failed`, `login_refused`, `usage`) or its name is taken (`conflict`).
        """

    async def refresh(self) -> None:
        """Read all calendars now."""


class Backend(Protocol):
    """The engine as the screens see it. Every method raises only `DonnaError`."""

    @property
    def notes(self) -> VaultBackend:
        """Where notes are read, changed and undone; there once `start` has returned."""

    @property
    def memory(self) -> MemoryBackend:
        """Where memories are listed, recalled and forgotten. The first time it takes a moment."""

    @property
    def drafts(self) -> DraftBackend:
        """Where drafts wait and meetings are listed. The first time it takes a moment, unless it was warmed up."""

    def warm_up(self) -> None:
        """Import and open on this thread what `notes` and `drafts` need."""

    async def at_best(self) -> None:
        """Wait until searches are as good as they get for now; never long."""

    async def start(self) -> None: ...
    async def stop(self) -> None: ...
    def subscribe(self, listener: Listener) -> Callable[[], None]: ...
    def status(self) -> Status: ...
    async def search(self, request: SearchRequest) -> SearchOutcome: ...
    async def more_like(self, hit: Hit, request: SearchRequest) -> SearchOutcome: ...
    async def passage(self, path: str, start_line: int, end_line: int, space: str = "") -> Passage: ...
    async def why_not(self, path: str, request: SearchRequest) -> Explanation:
        """Why a note is not among the hits of a question, or that it is."""

    async def names(self, query: str, limit: int = 50) -> tuple[NameMatch, ...]:
        """Notes and headings whose name holds the letters of a query, the best first; without a query the notes that
        were changed last.
        """

    async def recent_notes(self, limit: int) -> tuple[NameMatch, ...]:
        """The notes that were changed last, also while they are not in the index yet."""

    async def tasks_due(self, limit: int) -> tuple[TaskRow, ...]:
        """Open tasks that are due within a week, the earliest first, then those that are overdue."""

    async def example_question(self) -> str:
        """A question that a note of this vault answers; empty without one."""

    async def questions(self) -> tuple[str, ...]:
        """The questions that were asked here before, the latest first."""

    async def keep_question(self, text: str) -> tuple[str, ...]:
        """Keep a question for later starts, and return all of them."""

    async def folders(self) -> tuple[str, ...]: ...
    async def sources(self) -> tuple[str, ...]: ...
    def absolute_path(self, path: str, space: str = "") -> Path: ...
    def root_of(self, space: str) -> Path: ...
    async def retry(self, path: str = "") -> None: ...
    async def resume(self) -> None: ...

    async def install_model(self) -> None:
        """Download and prepare the default embedding model, and search by meaning from then on."""


@dataclass(frozen=True, slots=True)
class KnownVault:
    """A vault to choose. `source` says how Donna knows of it; `space` is the name that opens it, if it has one."""

    name: str
    root: Path
    source: str
    space: str = ""
