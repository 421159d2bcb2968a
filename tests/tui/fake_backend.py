"""An engine for tests of the screens: scripted answers, calls that a test holds back, and a record of every call."""

from __future__ import annotations

import asyncio
import shutil
import weakref
from collections.abc import Callable, Coroutine, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import date
from functools import partial
from pathlib import Path
from typing import Any

from donna_tui.engine.passages import Passage
from donna_tui.search.why_not import Cause, WhyNot
from donna_tui.text.fuzzy import fuzzy_match
from donna_tui.types.errors import DonnaError, Reason, VaultReadError
from donna_tui.types.events import EngineEvent, Listener
from donna_tui.types.memory import MemoryChunk, TaskRow
from donna_tui.types.notes import Destination, Edit, NoteLinks, NoteRow, NoteText
from donna_tui.types.search import Hit, NameMatch, SearchOutcome, SearchRequest
from donna_tui.types.status import Status
from donna_tui.vault.edit_drafts import EditDrafts, edited_text
from donna_tui.vault.obsidian import DailyNote
from donna_tui.vault.write.changes import Change, Operation, OperationKind, Outcome, Plan, Revision
from tests.git_vaults import new_folder
from tests.tui.fake_drafts import FakeDrafts
from tests.tui.fake_memory import FakeMemory
from tests.tui.fake_vault import FakeVault

Answer = Callable[[SearchRequest], SearchOutcome]


new_passage = partial(Passage, mark_start=0, mark_end=0, truncated=False, linked_from=(), sensitive=False)
"""Makes a section of a note, as the preview gets it."""


@dataclass(frozen=True, slots=True)
class Call:
    """A call by a screen: method name and arguments."""

    name: str
    args: tuple[Any, ...] = ()


@dataclass
class Gates:
    """Gates that calls wait at, by method or, for a single query or path, by key. All are open at first."""

    doors: dict[tuple[str, str], asyncio.Event] = field(default_factory=dict)

    def hold(self, method: str, key: str = "") -> None:
        """Make calls of `method` wait: all of them, or those for `key`."""
        self.doors[method, key] = asyncio.Event()

    def release(self, method: str, key: str = "") -> None:
        """Release the calls that `hold` stopped, and later ones."""
        self.doors[method, key].set()

    async def passed(self, method: str, key: str) -> None:
        """Wait until this call is not held."""
        for door in (method, ""), (method, key):
            if door in self.doors:
                await self.doors[door].wait()


def no_hits(request: SearchRequest) -> SearchOutcome:
    """Return the answer of a vault in which nothing matches."""
    return SearchOutcome(request=request, mode=request.mode, hits=())


def in_vault(method: str) -> Callable[..., Coroutine[None, None, Any]]:
    """Return a method that records its call, and passes it on to the vault."""

    async def call(backend: FakeBackend, *args: Any, **options: Any) -> Any:
        await backend._enter(method, *args, key=args[0] if isinstance(args[0], str) else "")
        return getattr(backend.vault, method)(*args, **options)

    return call


class FakeBackend:
    """The part of `Engine` that the screens use, without disk or clock.

    `answers` maps a query to its outcome, or is a function of the request. `script` is posted once the backend has been
    started and has a listener. `gates` holds calls back, `failures` makes a method (or one key of it) raise.
    """

    def __init__(
        self,
        status: Status,
        *,
        answers: Mapping[str, SearchOutcome] | Answer = no_hits,
        passages: Iterable[Passage] = (),
        folders: tuple[str, ...] = (),
        sources: tuple[str, ...] = ("vault",),
        script: Iterable[EngineEvent] = (),
        vault: FakeVault | None = None,
        memories: Iterable[MemoryChunk] = (),
    ) -> None:
        self.current = status
        self.answers = answers
        self.passages = tuple(passages)
        self.folder_names = folders
        self.source_names = sources
        self.script = tuple(script)
        self.vault = vault or FakeVault()
        folder = new_folder(None)
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self.unsaved = EditDrafts(folder)
        self.memory = FakeMemory(self._enter, list(memories))
        self.drafts = self.calendar = FakeDrafts(self._enter, self.vault)
        self.tasks: tuple[TaskRow, ...] = ()
        self.example = ""
        self.daily = DailyNote(f"Daily/{date.today().isoformat()}.md")
        self.asked: tuple[str, ...] = ()
        self.gates = Gates()
        self.failures: dict[tuple[str, str], DonnaError] = {}
        self.calls: list[Call] = []
        self.listeners: list[Listener] = []
        self._started = False

    @property
    def notes(self) -> FakeBackend:
        """Return this object as the vault service too."""
        return self

    def fail(self, method: str, error: DonnaError, key: str = "") -> None:
        """Make `method` raise `error`: always, or for `key` only."""
        self.failures[method, key] = error

    def post(self, *events: EngineEvent) -> None:
        """Notify every listener. Unlike in the real hub, an exception of a listener reaches the test."""
        for event in events:
            for listener in tuple(self.listeners):
                listener(event)

    def change(self, **fields: Any) -> None:
        """Replace fields of the status that the next `status()` returns."""
        self.current = replace(self.current, **fields)

    def called(self, name: str) -> list[tuple[Any, ...]]:
        """Return the arguments of each call of `name`, in order."""
        return [call.args for call in self.calls if call.name == name]

    blame = in_vault("blame")
    clashes = in_vault("clashes")
    commit_version = in_vault("commit_version")
    conflict = in_vault("conflict")
    plan_delete = in_vault("plan_delete")
    plan_delete_all = in_vault("plan_delete_all")
    plan_move = in_vault("plan_move")
    plan_outside = in_vault("plan_outside")
    plan_resolution = in_vault("plan_resolution")
    plan_since = in_vault("plan_since")
    plan_undo_one = in_vault("plan_undo_one")
    plan_write = in_vault("plan_write")

    async def wait_for_first_search(self) -> None:
        """Return at once, since search is always at its best."""

    def warm_up(self) -> None:
        """Do nothing, since nothing is slow here."""

    async def start(self) -> None:
        await self._enter("start")
        self._started = True
        self._play()

    async def stop(self) -> None:
        await self._enter("stop")

    def subscribe(self, listener: Listener) -> Callable[[], None]:
        self.listeners.append(listener)
        self._play()
        return lambda: self.listeners.remove(listener)

    def status(self) -> Status:
        return self.current

    async def search(self, request: SearchRequest) -> SearchOutcome:
        await self._enter("search", request, key=request.text)
        if callable(self.answers):
            return self.answers(request)
        return self.answers.get(request.text) or no_hits(request)

    async def more_like(self, hit: Hit, request: SearchRequest) -> SearchOutcome:
        await self._enter("more_like", hit, request, key=hit.path)
        outcome = self.answers(request) if callable(self.answers) else self.answers.get(request.text, no_hits(request))
        others = tuple(each for each in outcome.hits if each.chunk_id != hit.chunk_id)
        return replace(outcome, hits=others, request=request)

    async def passage(self, path: str, start_line: int, end_line: int, space: str = "") -> Passage:
        await self._enter("passage", path, start_line, end_line, space, key=path)
        for passage in self.passages:
            if passage.path == path and passage.start_line <= start_line <= passage.end_line:
                return passage
        raise VaultReadError(Reason.MISSING, "This note is no longer there.")

    async def why_not(self, path: str, request: SearchRequest) -> WhyNot:
        await self._enter("why_not", path, request, key=path)
        hits = [each.path for each in (await self.search(request)).hits]
        if path in hits:
            return WhyNot(
                path=path, cause=Cause.NOTHING, detail="", rank=1 + hits.index(path), keyword_rank=1, cosine=0.5
            )
        return WhyNot(path=path, cause=Cause.NOTHING_RELEVANT, detail="far", rank=7, vector_rank=9, cosine=0.12)

    async def names(self, query: str, limit: int = 50) -> tuple[NameMatch, ...]:
        await self._enter("names", query, limit, key=query)
        return self._named(query, limit)

    def _named(self, query: str, limit: int) -> tuple[NameMatch, ...]:
        found = []
        for path, text in self.vault.files.items():
            named = [(path.rpartition("/")[2].removesuffix(".md"), "file", 1)]
            for number, line in enumerate(text.decode("utf-8", "replace").splitlines(), 1):
                if line.startswith("#") and query:
                    named.append((line.strip("# "), "heading", number))
            for name, kind, line_number in named:
                match = fuzzy_match(query, name)
                if match is not None:
                    found.append(
                        NameMatch(
                            path=path,
                            title=name,
                            name=name,
                            kind=kind,
                            line=line_number,
                            places=match.places,
                            score=match.score,
                            modified_at=0.0,
                            sensitive=False,
                        )
                    )
        return tuple(sorted(found, key=lambda each: -each.score)[:limit])

    async def recent_notes(self, limit: int) -> tuple[NameMatch, ...]:
        await self._enter("recent_notes", limit)
        return self._named("", limit)

    async def tasks_due(self, limit: int) -> tuple[TaskRow, ...]:
        await self._enter("tasks_due", limit)
        return self.tasks[:limit]

    async def example_question(self) -> str:
        await self._enter("example_question")
        return self.example

    async def questions(self) -> tuple[str, ...]:
        await self._enter("questions")
        return self.asked

    async def save_question(self, text: str) -> tuple[str, ...]:
        await self._enter("save_question", text, key=text)
        self.asked = (text, *(each for each in self.asked if each != text))
        return self.asked

    async def folders(self) -> tuple[str, ...]:
        await self._enter("folders")
        return self.folder_names

    async def sources(self) -> tuple[str, ...]:
        await self._enter("sources")
        return self.source_names

    def absolute_path(self, path: str, space: str = "") -> Path:
        self.calls.append(Call("absolute_path", (path,)))
        return self.root_of(space) / path

    def root_of(self, space: str) -> Path:
        here = space in ("", self.current.space)
        return Path(self.current.root) if here else Path(self.current.root).parent / space

    async def retry(self, path: str = "") -> None:
        await self._enter("retry", path, key=path)

    async def resume(self) -> None:
        await self._enter("resume")

    async def install_model(self) -> None:
        await self._enter("install_model")

    async def vault_rows(self) -> tuple[NoteRow, ...]:
        await self._enter("vault_rows")
        return self.vault.rows()

    async def read_note(self, path: str) -> NoteText:
        await self._enter("read_note", path, key=path)
        return self.vault.read(path)

    async def follow(self, note: str, written: str, *, is_wiki: bool) -> Destination:
        await self._enter("follow", note, written, key=note)
        return self.vault.links.follow(note, written, is_wiki=is_wiki)

    async def links(self, path: str) -> NoteLinks:
        await self._enter("links", path, key=path)
        return self.vault.links.links(path)

    async def history(self, path: str = "", limit: int = 200) -> tuple[Revision, ...]:
        await self._enter("history", path, limit, key=path)
        found = [each for each in self.vault.revisions if not path or path in each.paths]
        return tuple(found[:limit])

    async def revision_changes(self, commit: str) -> tuple[Change, ...]:
        await self._enter("revision_changes", commit, key=commit)
        return self.vault.changes.get(commit, ())

    async def outside_change(self, path: str) -> Change | None:
        await self._enter("outside_change", path, key=path)
        before, after = self.vault.recorded.get(path), self.vault.files.get(path)
        return None if before == after else Change(path=path, before=before, after=after)

    async def plan_move_folder(self, src: str, dst: str) -> Plan:
        await self._enter("plan_move_folder", src, dst)
        return self.vault.plan_moves({path: f"{dst}{path.removeprefix(src)}" for path in self.vault.inside(src)})

    async def plan_move_into(self, paths: Sequence[str], folder: str) -> Plan:
        await self._enter("plan_move_into", tuple(paths), folder)
        moves = {
            path: f"{folder}/{each.rpartition('/')[2]}{path.removeprefix(each)}"
            for each in paths
            for path in self.vault.inside(each)
        }
        return self.vault.plan_moves(moves)

    async def daily_note(self) -> DailyNote:
        return self.daily

    async def why_not_new(self, path: str, besides: str = "") -> str:
        await self._enter("why_not_new", path, besides)
        return "a new name must not contain “?”: Windows cannot open it" if "?" in path else ""

    async def empty_folders(self) -> tuple[str, ...]:
        return tuple(self.vault.empty)

    async def create_folder(self, path: str) -> None:
        await self._enter("create_folder", path)
        self.vault.empty.append(path)

    async def rename_folder(self, path: str, new: str) -> None:
        await self._enter("rename_folder", path, new)
        self.vault.empty[self.vault.empty.index(path)] = new

    async def remove_folder(self, path: str) -> bool:
        await self._enter("remove_folder", path)
        self.vault.empty.remove(path)
        return True

    async def plan_undo(self, n: int = 1) -> Plan:
        await self._enter("plan_undo", n)
        return self.vault.plan_steps(OperationKind.UNDO, n)

    async def plan_redo(self, n: int = 1) -> Plan:
        await self._enter("plan_redo", n)
        return self.vault.plan_steps(OperationKind.REDO, n)

    async def apply_plan(self, plan: Plan) -> Outcome:
        await self._enter("apply_plan", plan, key=plan.kind.value)
        return self.vault.apply(plan)

    async def undoable(self) -> tuple[Operation, ...]:
        await self._enter("undoable")
        return tuple(self.vault.undo_stack)

    async def redoable(self) -> tuple[Operation, ...]:
        await self._enter("redoable")
        return tuple(self.vault.redo_stack)

    async def create_repository(self) -> None:
        await self._enter("create_repository")
        self.vault.has_repository = True
        self.vault.recorded = dict(self.vault.files)

    async def unsaved_edits(self) -> tuple[Edit, ...]:
        await self._enter("unsaved_edits")
        return tuple(self.vault.edits.values())

    async def save_edit(self, edit: Edit) -> None:
        await self._enter("save_edit", edit, key=edit.path)
        self.vault.edits[edit.path] = edit
        self.unsaved.store(edit)

    async def begin_edit(self, edit: Edit) -> Path:
        await self._enter("begin_edit", edit, key=edit.path)
        return self.unsaved.begin(edit)

    async def edited_text(self, copy: Path) -> str:
        await self._enter("edited_text", copy)
        return edited_text(copy)

    async def whereabouts(self, path: str) -> str:
        await self._enter("whereabouts", path)
        return "It was moved to Archive/here.md."

    async def drop_edit(self, path: str) -> None:
        await self._enter("drop_edit", path, key=path)
        self.vault.edits.pop(path, None)
        self.unsaved.drop(path)

    def _play(self) -> None:
        if self._started and self.listeners:
            script, self.script = self.script, ()
            self.post(*script)

    async def _enter(self, method: str, *args: Any, key: str = "") -> None:
        self.calls.append(Call(method, args))
        await self.gates.passed(method, key)
        error = self.failures.get((method, key)) or self.failures.get((method, ""))
        if error is not None:
            raise error
