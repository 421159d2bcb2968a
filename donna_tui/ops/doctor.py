"""Examine the installation, the models, the vault and the index for `donna doctor`, with a hint for each problem.

A language model on another machine is not contacted here; `donna model test` does that.
"""

from __future__ import annotations

import asyncio
import contextlib
import importlib.util
import os
import platform
import re
import stat
import sys
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import BaseModel

from donna_tui.config.agent_settings import AgentSettings, not_indexed
from donna_tui.config.models import MemoryConfig
from donna_tui.config.routes import Alias, Route, load_routes
from donna_tui.embedding.files import MODEL_NAME
from donna_tui.index.database import Database, check_integrity, open_database
from donna_tui.index.files import file_states
from donna_tui.index.generations import current_generation, index_path, set_aside
from donna_tui.index.migrations import has_vector_table
from donna_tui.index.vectors import HAS_VECTOR, vector_counts
from donna_tui.llm.failures import CompletionMetadata, ModelCallError, address_of
from donna_tui.llm.probe import probe
from donna_tui.memory.database import db_path, erasure_mark, read_db
from donna_tui.memory.tokens import CL100K, prompt_tokens
from donna_tui.ops.status import maintainer_of, model_files_state, read_report
from donna_tui.platform.paths import AppPaths
from donna_tui.platform.spaces import Space, SpaceLock
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.egress import key_in
from donna_tui.safety.payload import Payload
from donna_tui.text.plural import plural
from donna_tui.text.words import STOP_WORDS, segments, spaced
from donna_tui.types.errors import ConfigError, DatabaseError, DonnaError, Reason, VaultReadError, VaultWriteError
from donna_tui.vault.client import VaultClient
from donna_tui.vault.edit_drafts import EditDrafts
from donna_tui.vault.git.index import wait_for_index
from donna_tui.vault.git.operations import each_operation
from donna_tui.vault.git.repository import GitRepo, RepoLocation
from donna_tui.vault.git.tracked import OWN_REPOSITORY
from donna_tui.vault.obsidian import DAILY, DAILY_SETTINGS, daily_note
from donna_tui.vault.open import indexed_client, open_writer
from donna_tui.vault.write.changes import OperationKind
from donna_tui.vault.write.orphans import Fate, Restored, find_orphans

if TYPE_CHECKING:
    from donna_tui.llm.router import ModelRouter

MAX_IGNORED = 1_000_000
"""Maximum number of characters that are read of Syncthing's list of ignored files."""

_GIT_IGNORED = re.compile(r"(?:\(\?[id]\))*(?:\*\*/|/)?\.git(?:/\*{0,2})?")
"""Lines of `.stignore` that exclude the repository (docs.syncthing.net/users/ignoring.html)."""


@dataclass(frozen=True, slots=True)
class Finding:
    """The result of one check. `reason` is a reason code, or empty."""

    id: str
    state: Literal["ok", "warn", "fail"]
    message: str
    hint: str = ""
    reason: str = ""


def examine(space: Space | None, config: MemoryConfig | None, paths: AppPaths) -> list[Finding]:
    """Run all checks; those of the vault and the index need a space."""
    findings = [*_installation(), _model(paths), *examine_models(), _private(paths)]
    if space is None or config is None:
        hint = "open one with donna ~/notes, or try donna demo"
        return [*findings, Finding("vault", "warn", "no vault is chosen yet", hint, Reason.NO_VAULT)]
    if isinstance(config, AgentSettings) and config.not_indexed:
        refusal = not_indexed(config)
        return [*findings, Finding("vault", "warn", refusal.message, refusal.hint or "", refusal.reason)]
    vault = _vault(space)
    if vault.state != "ok":
        return [*findings, vault, *_index(space, config, paths)]
    findings += [vault, *_sync(space, config), *_daily_notes(space.root), *_index(space, config, paths)]
    return [*findings, *examine_data(space, config)]


def _installation() -> Iterator[Finding]:
    """Report the libraries in use, the optional ones that are missing, and how prompts are counted."""
    import apsw
    import onnxruntime

    yield Finding("python", "ok", f"Python {platform.python_version()} on {sys.platform}")
    yield Finding("sqlite", "ok", f"SQLite {apsw.sqlite_lib_version()}, bundled")
    yield Finding("onnxruntime", "ok", f"ONNX Runtime {onnxruntime.__version__}")
    with contextlib.closing(open_database(Path(":memory:"))) as database:
        if database.vec_available:
            yield Finding("vectors", "ok", f"sqlite-vec {database.value('SELECT vec_version()')}")
        else:
            yield Finding("vectors", "warn", "sqlite-vec cannot be loaded; semantic search uses an exact scan instead")
    if prompt_tokens().name == CL100K:
        yield Finding("tokens", "ok", f"prompts are counted in tokens of {CL100K}")
    else:
        installed = importlib.util.find_spec("tiktoken") is not None
        why = "its vocabulary is not cached" if installed else "tiktoken is not installed"
        yield Finding("tokens", "ok", f"prompts are counted by an estimate, 9 to 15 % too high for English ({why})")
    missing = {extra: use for extra, (module, use) in EXTRAS.items() if importlib.util.find_spec(module) is None}
    if missing:
        listed = "; ".join(f"[{extra}] for {use}" for extra, use in missing.items())
        yield Finding("extras", "ok", f"not installed: {listed}", f"pip install 'donna-tui[{','.join(missing)}]'")
    else:
        yield Finding("extras", "ok", "every extra is installed")


EXTRAS = {
    "calendars": ("icalendar", "calendars"),
    "mcp": ("mcp", "tools for agents"),
    "tokens": ("tiktoken", "prompts counted in tokens of cl100k_base"),
    "webdav": ("wsgidav", "donna serve-webdav"),
    "sentence-transformers": ("sentence_transformers", "other embedding models, a GPU, re-ranking"),
}
"""For each extra, a module that only it installs, and its purpose."""


def _model(paths: AppPaths) -> Finding:
    state = model_files_state(paths)
    if state == "prepared":
        return Finding("model", "ok", "the embedding model is ready")
    if state == "installed":
        return Finding("model", "ok", "the model is installed; it is prepared for this machine at the first start")
    hint = "donna model install downloads it (84 MB)"
    if state == "damaged":
        return Finding("model", "fail", "the model's files are damaged", hint, Reason.MODEL_INVALID)
    return Finding("model", "warn", "there is no model: search is by keyword", hint, Reason.MODEL_MISSING)


PURPOSES: dict[Alias, str] = {"reasoner": "drafts", "summarizer": "summaries"}


class Word(BaseModel):
    """The answer that a model test expects."""

    word: str


async def request_one_word(router: ModelRouter, alias: Alias) -> CompletionMetadata:
    """Call the model of a purpose with a prompt of a few words. Raises ModelCallError."""
    prompt = Payload(system="Answer with the word ready.", segments=())
    return (await router.complete(prompt, task_type="model_test", schema=Word, alias=alias)).metadata


def examine_models(environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """Check the key and, for servers on this machine, whether they have the model."""
    try:
        routes = load_routes(environ)
    except ConfigError as error:
        yield Finding("language models", "fail", error.message, error.hint or "", error.reason)
        return
    for alias, purpose in PURPOSES.items():
        if route := routes.route(alias):
            yield _examined(alias, purpose, route, environ)
    if not (routes.reasoner or routes.summarizer):
        yield Finding("language models", "ok", "none is configured: drafts are made from your notes alone")


def _examined(alias: Alias, purpose: str, route: Route, environ: Mapping[str, str]) -> Finding:
    try:
        key = key_in(environ, route.api_key_env)
    except ValueError as error:
        return Finding(alias, "warn", f"{purpose}: {error}", f"set {route.api_key_env} to the key of the server")
    made = f"{purpose} are made by {route.model} at {address_of(route)}"
    if not route.is_local:
        return Finding(alias, "ok", f"{made}; private notes are not sent to it", "donna model test asks it")
    try:
        asyncio.run(probe(route, key))
    except ModelCallError as error:
        return Finding(alias, "warn", f"{purpose}: {error.message}", error.hint or "", error.reason)
    return Finding(alias, "ok", f"{made}, on this machine")


def _private(paths: AppPaths) -> Finding:
    for folder in (paths.config, paths.state):
        if folder.exists() and stat.S_IMODE(folder.stat().st_mode) & 0o077:
            return Finding("folders", "warn", f"{folder} is accessible to others", f"chmod 700 {folder}")
    return Finding("folders", "ok", f"Donna's own files are in {paths.state}")


def _vault(space: Space) -> Finding:
    if not space.root.is_dir():
        hint = "mount the disk, or name another vault; the index stays searchable"
        return Finding("vault", "fail", f"the vault {space.root} does not exist", hint, Reason.ROOT_MISSING)
    if not os.access(space.root, os.R_OK | os.X_OK):
        return Finding("vault", "fail", f"the vault {space.root} cannot be read", "", Reason.UNREADABLE)
    return Finding("vault", "ok", f"the vault is {space.root}")


def _sync(space: Space, config: MemoryConfig) -> Iterator[Finding]:
    """Report what syncs the vault with other devices; a repository that Syncthing syncs is a warning."""
    shared = next((folder for folder in (space.root, *space.root.parents) if (folder / ".stfolder").exists()), None)
    if shared is not None and _syncs_git(space.root, shared):
        message = f"Syncthing syncs {shared} with its git repository, which breaks when two machines write at once"
        yield Finding("sync", "warn", message, f"add the line .git to {shared / '.stignore'}")
    elif shared is not None:
        yield Finding("sync", "ok", f"Syncthing syncs {shared}")
    elif config.vault.sync_method == "syncthing":
        hint = "share the folder in Syncthing, or set vault.sync_method to webdav or manual"
        yield Finding("sync", "warn", "vault.sync_method is syncthing, but Syncthing does not share this folder", hint)
    elif config.vault.sync_method == "webdav":
        yield Finding("sync", "ok", "other devices can sync over WebDAV while donna serve-webdav runs")


def _syncs_git(root: Path, shared: Path) -> bool:
    if not any((folder / ".git").exists() for folder in (root, *root.parents) if folder.is_relative_to(shared)):
        return False
    try:
        with (shared / ".stignore").open(encoding="utf-8", errors="replace") as file:
            lines = file.read(MAX_IGNORED).splitlines()
    except OSError:
        return True
    return not any(_GIT_IGNORED.fullmatch(line.strip()) for line in lines)


def _daily_notes(root: Path) -> Iterator[Finding]:
    daily = daily_note(root, datetime.now())
    if daily.problem:
        hint = f"until it is changed in Obsidian, daily notes are created in {DAILY}"
        yield Finding("daily notes", "warn", f"{DAILY_SETTINGS} is not used: {daily.problem}", hint)


def _index(space: Space, config: MemoryConfig, paths: AppPaths) -> Iterator[Finding]:
    maintainer = maintainer_of(space)
    message = f"index maintained by {maintainer}" if maintainer else "no process maintains the index"
    yield Finding("maintainer", "ok", message)
    generation = current_generation(space.state)
    if generation is None:
        yield Finding("index", "warn", "there is no index yet", "donna index")
        return
    try:
        report = read_report(space, paths)
        yield from _contents(index_path(space.state, generation), config)
    except DonnaError as error:
        yield Finding("index", "fail", error.message, error.hint or "", error.reason)
        return
    if files := sum(bool(problem.path) for problem in report.problems):
        need = plural(files, "file needs", "files need")
        yield Finding("files", "warn", f"{need} attention", "donna status lists them")


def _contents(path: Path, config: MemoryConfig) -> Iterator[Finding]:
    with contextlib.closing(open_database(path, read_only=True)) as database:
        check_integrity(database)
        yield Finding("index", "ok", f"the index is intact: {path}")
        if config.embedding.provider == MODEL_NAME and is_mostly_not_english(database):
            yield Finding(
                "language",
                "warn",
                "most notes are not in English, the only language that the default model supports",
                "pip install 'donna-tui[sentence-transformers]' and name the folder of a multilingual model, such as"
                " paraphrase-multilingual-MiniLM-L12-v2, in embedding.provider",
            )
        for name, count, what in _mismatches(database):
            if count:
                yield Finding(name, "fail", f"{count} {what}", "donna doctor --repair", Reason.DATABASE_CORRUPT)


def _mismatches(database: Database) -> Iterator[tuple[str, int, str]]:
    """Yield the name of each invariant of an index, the number of violations, and a description of them."""
    yield "chunks", database.value(_WITHOUT_NOTE), "passages without a note"
    yield "embeddings", database.value(_WITHOUT_VECTOR), "passages without a vector"
    if database.vec_available and has_vector_table(database):
        actual, expected = vector_counts(database)
        yield "vector table", abs(actual - expected), "missing or superfluous vectors"


_WITHOUT_NOTE = "SELECT count(*) FROM memory_chunks WHERE document_id NOT IN (SELECT id FROM memory_documents)"
_WITHOUT_VECTOR = (
    f"SELECT count(*) FROM memory_chunks c WHERE {HAS_VECTOR}"  # noqa: S608
    " AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.embed_hash = c.embed_hash)"
)


SAMPLE = 300
"""Notes in a sample."""

MIN_WORDS, MIN_NOTES = 20, 5
ENGLISH = 0.15
"""The share of common English words above which a note counts as English: prose has 0.3 to 0.5 of them."""

_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"```.*?```|`[^`]*`|https?://\S+", re.DOTALL)


def is_mostly_not_english(database: Database) -> bool:
    """Return whether most notes of a sample, of those with enough prose to decide, are not in English."""
    texts = database.column(
        "SELECT group_concat(content, ' ') FROM memory_chunks WHERE document_id IN"
        " (SELECT id FROM memory_documents WHERE source_type = 'vault' ORDER BY rowid % 97, rowid LIMIT ?)"
        " GROUP BY document_id",
        (SAMPLE,),
    )
    decided = [is_english for text in texts if (is_english := _is_english(text)) is not None]
    return len(decided) >= MIN_NOTES and sum(decided) * 2 < len(decided)


def _is_english(text: str) -> bool | None:
    """Return whether the text is English; None if it is too short to decide."""
    prose = _CODE.sub(" ", text.casefold())
    words = [*_WORD.findall(spaced(prose)), *segments(prose)[::2]]
    if len(words) < MIN_WORDS:
        return None
    return sum(word in STOP_WORDS for word in words) / len(words) >= ENGLISH


def repair(space: Space) -> Finding:
    """Move the index aside, so that the next start rebuilds it from the vault. Nothing else is changed."""
    lock = SpaceLock(space.state)
    if not lock.acquire("donna doctor --repair"):
        return Finding("repair", "fail", f"{lock.owner()} is using the index", "quit it first", Reason.BUSY)
    with lock:
        generation = current_generation(space.state)
        if generation is None:
            return Finding("repair", "ok", "there is no index to repair")
        aside = set_aside(index_path(space.state, generation))
        return Finding("repair", "ok", f"the index was set aside as {aside.name}; the next start builds a new one")


def examine_data(space: Space, config: MemoryConfig) -> Iterator[Finding]:
    """Check the history, leftovers of interrupted writes and edits, and whether the index matches the vault."""
    yield from _history(space, config)
    for path in find_orphans(space.root):
        message = f"{path} is from an unfinished write, and may contain the only copy of a text"
        yield Finding("leftovers", "warn", message, "donna doctor --repair restores it")
    yield from _unsaved_edits(space)
    yield from _memory(space)
    generation = current_generation(space.state)
    index = None if generation is None else index_path(space.state, generation)
    for file in filter(None, (db_path(space.state), index)):
        if erasure_mark(file).exists():
            message = f"erased text may still be in {file.name}-wal: another program is reading it"
            yield Finding("erasure", "warn", message, "quit the other Donna process; the next start completes it")
    if index is not None:  # an unreadable one is reported elsewhere
        with (
            contextlib.suppress(DatabaseError, VaultReadError),
            contextlib.closing(open_database(index, read_only=True)) as database,
        ):
            yield from _index_matches(indexed_client(config, space.root), database)


def _history(space: Space, config: MemoryConfig) -> Iterator[Finding]:
    writer = open_writer(config, space)
    try:
        location = writer.repo.find()
        if location is None:
            yield Finding("history", "ok", "the vault has no git repository; Donna asks before creating one")
            return
        if trouble := writer.recover() or _refusal(writer.repo, location):
            message = f"{trouble.path}: {trouble.message}" if trouble.path else trouble.message
            yield Finding("writes", "warn", message, trouble.hint or "", trouble.reason)
        else:
            yield Finding("writes", "ok", "there are no interrupted writes")
        yield from _operations(writer.repo)
        if any(location.git_dir.glob("*.sync-conflict-*")) or any(location.git_dir.glob("refs/**/*.sync-conflict-*")):
            # which copies the repository file by file, and so corrupts it sooner or later
            hint = "exclude .git from the sync program"
            yield Finding("sync", "warn", "a sync program writes into the .git folder", hint)
    except DonnaError as error:
        yield Finding("history", "fail", error.message, error.hint or "", error.reason)


def _refusal(repo: GitRepo, location: RepoLocation) -> VaultWriteError | None:
    """Return why every write would be refused now, such as a rebase in progress, or a lock; None if none would be."""
    try:
        repo.check_at_rest(location)
        wait_for_index(location)
        if repo.ignores_vault(location):
            return VaultWriteError(Reason.IGNORED_BY_GIT, "git ignores every note", hint=OWN_REPOSITORY)
    except VaultWriteError as error:
        return error
    return None


def _operations(repo: GitRepo) -> Iterator[Finding]:
    """Check that git has the bytes before and after every operation, and count the texts that it keeps besides."""
    records = list(each_operation(repo, repo.record()))
    records_kept = [record for record in records if record.kind is OperationKind.KEPT]
    operations = [record for record in records if record.kind is not OperationKind.KEPT]
    blobs = [{b for change in op.changes for b in (change.before, change.after) if b} for op in operations]
    existing = repo.existing(sorted(set().union(*blobs)))
    lost = sum(not needed <= existing for needed in blobs)
    if lost:
        hint = "their notes are not affected, but these operations cannot be undone"
        message = f"git lost data of {plural(lost, 'operation')}"
        yield Finding("operations", "fail", message, hint, Reason.UNDO_CONFLICT)
    else:
        yield Finding("operations", "ok", f"{plural(len(operations), 'operation')}, all complete in git")
    if records_kept:
        newest = records_kept[0]
        many = f"git keeps {plural(len(records_kept), 'earlier text')} besides those of operations"
        yield Finding("saved text", "ok", f"{many}; the newest is of {newest.paths[0]}", f"donna diff {newest.id}")


def restore_orphans(space: Space, config: MemoryConfig) -> Iterator[Finding]:
    """Restore the text of interrupted writes to the name of its note if that is free, or else to a copy next to it."""
    try:
        for orphan in open_writer(config, space).restore_orphans():
            yield _restored(orphan)
    except DonnaError as error:
        yield Finding("repair", "fail", error.message, error.hint or "", error.reason)


def _restored(what: Restored | VaultWriteError) -> Finding:
    if isinstance(what, VaultWriteError):
        return Finding("repair", "fail", f"{what.path}: {what.message}", what.hint or "", what.reason)
    if what.fate is Fate.REMOVED:
        return Finding("repair", "ok", f"{what.path} was removed: its text is in the note or in git")
    if what.fate is Fate.RESTORED:
        return Finding("repair", "ok", f"{what.note} is restored from {what.path}")
    hint = "compare it with the note beside it, then delete the one that you do not need"
    return Finding("repair", "ok", f"the text of {what.path} is in {what.note} now", hint)


def _unsaved_edits(space: Space) -> Iterator[Finding]:
    """Report edits, in an editor or in the app, that are not in the vault yet."""
    unsaved = EditDrafts(space.state / "edits")
    for edit in unsaved.edits():
        hint = "select the note in the Vault screen, which names the keys that continue and discard the edit"
        yield Finding("edits", "warn", f"unsaved edit of {edit.path}", hint)
    for copy in unsaved.copies():
        if not copy.is_open and (copy.text is None or copy.other_files):
            others = f", with {', '.join(copy.other_files)}" if copy.other_files else ""
            message = f"an editor left a copy of {copy.begun.path} that it did not finish{others}"
            yield Finding("edits", "warn", message, f"open it in the same editor: {copy.file}")


def _memory(space: Space) -> Iterator[Finding]:
    try:
        if memory := read_db(space.state):
            with contextlib.closing(memory):
                check_integrity(memory.database)
    except DatabaseError as error:
        yield Finding("memory", "fail", error.message, error.hint or "", error.reason)


def _index_matches(client: VaultClient, database: Database) -> Iterator[Finding]:
    """Check that the index matches the notes of the vault, and marks the private ones."""
    states = file_states(database)
    private = set(database.column("SELECT source_id FROM memory_documents WHERE sensitive"))
    indexed = {path for path, state in states.items() if state.state == "indexed"}
    outdated, private_now = set(indexed), set[str]()
    for path in client.list():
        outdated.discard(path)
        with contextlib.suppress(VaultReadError):
            note = client.read(path)
            if path not in indexed or states[path].etag != note.etag:
                outdated.add(path)
            if note.sensitivity is not Sensitivity.PUBLIC:
                private_now.add(path)
    if outdated:
        differ = plural(len(outdated), "note differs", "notes differ")
        yield Finding("notes", "warn", f"{differ} from the index", "donna index")
    else:
        yield Finding("notes", "ok", f"the index is up to date with {plural(len(indexed), 'note')}")
    unknown = (private_now & indexed) - private - outdated
    if unknown:
        are = plural(len(unknown), "private note is", "private notes are")
        yield Finding("private", "fail", f"{are} not marked as private in the index", "donna index --full")
    else:
        are = plural(len(private_now), "note is", "notes are")
        yield Finding("private", "ok", f"{are} private, and marked as private in the index")
