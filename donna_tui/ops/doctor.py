"""Examine the installation, the model, the vault and the index for `donna doctor`, with a hint for each problem."""

from __future__ import annotations

import contextlib
import importlib.util
import os
import platform
import re
import stat
import sys
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from donna_tui.config.agent_settings import AgentSettings, not_indexed
from donna_tui.config.models import MemoryConfig
from donna_tui.embedding.files import MODEL_NAME
from donna_tui.index.database import Database, open_database
from donna_tui.index.generations import check_integrity, current_generation, index_path, set_aside
from donna_tui.index.migrations import has_vector_table
from donna_tui.index.vectors import vector_counts
from donna_tui.memory.tokens import CL100K, prompt_tokens
from donna_tui.ops.finding import Finding
from donna_tui.ops.models import examine_models
from donna_tui.ops.promises import examine_promises
from donna_tui.ops.status import is_model_available, maintainer_of, read_report
from donna_tui.platform.paths import AppPaths
from donna_tui.platform.spaces import Space, SpaceLock
from donna_tui.search.query import STOP_WORDS
from donna_tui.text.plural import plural
from donna_tui.text.words import segments, spaced
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.obsidian import DAILY, DAILY_SETTINGS, daily_note

MOST_IGNORED = 1_000_000
"""Most characters that are read of Syncthing's list of ignored files."""

_GIT_IGNORED = re.compile(r"(?:\(\?[id]\))*(?:\*\*/|/)?\.git(?:/\*{0,2})?")
"""Lines of `.stignore` that exclude the repository (docs.syncthing.net/users/ignoring.html)."""


def examine(space: Space | None, config: MemoryConfig | None, paths: AppPaths) -> list[Finding]:
    """Run all applicable examinations; those of the vault and the index need a space."""
    findings = [*_installation(), _model(paths), *examine_models(), _private(paths)]
    if space is None or config is None:
        hint = "open one with donna ~/notes, or try donna demo"
        return [*findings, Finding("vault", "warn", "no vault is chosen yet", hint, Reason.NO_VAULT)]
    if isinstance(config, AgentSettings) and config.not_indexed:
        refusal = not_indexed(config)
        return [*findings, Finding("vault", "warn", refusal.message, refusal.hint or "", refusal.reason)]
    vault = _vault(space)
    findings += [vault, *_sync(space, config), *_daily_notes(space.root), *_index(space, config, paths)]
    return [*findings, *examine_promises(space, config)] if vault.state == "ok" else findings


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
    "models": ("openai", "language models that answer over HTTP"),
    "tokens": ("tiktoken", "prompts counted in tokens of cl100k_base"),
    "webdav": ("wsgidav", "donna serve-webdav"),
    "sentence-transformers": ("sentence_transformers", "other embedding models, a GPU, re-ranking"),
}
"""For each extra, a module that only it installs, and its purpose."""


def _model(paths: AppPaths) -> Finding:
    state = is_model_available(paths)
    if state == "prepared":
        return Finding("model", "ok", "the embedding model is ready")
    if state == "installed":
        return Finding("model", "ok", "the model is installed; it is prepared for this machine at the first start")
    hint = "donna model install downloads it (84 MB)"
    if state == "damaged":
        return Finding("model", "fail", "the model's files are damaged", hint, Reason.MODEL_INVALID)
    return Finding("model", "warn", "there is no model: search is by keyword", hint, Reason.MODEL_MISSING)


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
    shared = next((each for each in (space.root, *space.root.parents) if (each / ".stfolder").exists()), None)
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
    if not any((each / ".git").exists() for each in (root, *root.parents) if each.is_relative_to(shared)):
        return False
    try:
        with (shared / ".stignore").open(encoding="utf-8", errors="replace") as file:
            lines = file.read(MOST_IGNORED).splitlines()
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
    yield Finding(
        "maintainer", "ok", f"index maintained by {maintainer}" if maintainer else "no process maintains the index"
    )
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
    files = [problem for problem in report.problems if problem.path]
    if files:
        yield Finding(
            "files", "warn", f"{plural(len(files), 'file needs', 'files need')} attention", "donna status lists them"
        )


def _contents(path: Path, config: MemoryConfig) -> Iterator[Finding]:
    with contextlib.closing(open_database(path, read_only=True)) as database:
        check_integrity(database)
        yield Finding("index", "ok", f"the index is sound: {path}")
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


SAMPLE = 300
"""Notes in a sample."""

FEWEST_WORDS, FEWEST_NOTES = 20, 5
ENGLISH = 0.15
"""The share of common English words above which a note counts as English: prose has 0.3 to 0.5 of them."""

_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"```.*?```|`[^`]*`|https?://\S+", re.DOTALL)


def is_mostly_not_english(database: Database) -> bool:
    """Return whether most notes of a sample, of those with enough prose to decide, are not in English."""
    rows = database.rows(
        "SELECT group_concat(content, ' ') FROM memory_chunks WHERE document_id IN"
        " (SELECT id FROM memory_documents WHERE source_type = 'vault' ORDER BY rowid % 97, rowid LIMIT ?)"
        " GROUP BY document_id",
        (SAMPLE,),
    )
    decided = [is_english for (content,) in rows if (is_english := _is_english(content)) is not None]
    return len(decided) >= FEWEST_NOTES and sum(decided) * 2 < len(decided)


def _is_english(text: str) -> bool | None:
    """Return whether the text is English; None if it is too short to decide."""
    prose = _CODE.sub(" ", text.casefold())
    words = [*_WORD.findall(spaced(prose)), *segments(prose)[::2]]
    if len(words) < FEWEST_WORDS:
        return None
    return sum(word in STOP_WORDS for word in words) / len(words) >= ENGLISH


def _mismatches(database: Database) -> Iterator[tuple[str, int, str]]:
    """Yield each invariant of an index: what it is about, the number of exceptions, and what they are."""
    yield (
        "chunks",
        database.value("SELECT count(*) FROM memory_chunks WHERE document_id NOT IN (SELECT id FROM memory_documents)"),
        "passages have no note",
    )
    yield (
        "embeddings",
        database.value(
            "SELECT count(*) FROM memory_chunks c WHERE embedding_version NOT IN ('', 'failed')"
            " AND NOT EXISTS (SELECT 1 FROM embeddings e WHERE e.embed_hash = c.embed_hash)"
        ),
        "passages have no vector",
    )
    if database.vec_available and has_vector_table(database):
        held, wanted = vector_counts(database)
        yield "vector table", abs(held - wanted), "vectors are missing or superfluous"


def repair(space: Space) -> Finding:
    """Move the index aside, so that the next start rebuilds it from the vault. Nothing else is changed."""
    lock = SpaceLock(space.state)
    if not lock.acquire("donna doctor --repair"):
        return Finding("repair", "fail", f"{lock.owner()} is using the index", "quit it first", Reason.BUSY)
    try:
        generation = current_generation(space.state)
        if generation is None:
            return Finding("repair", "ok", "there is no index to repair")
        aside = set_aside(index_path(space.state, generation))
        return Finding("repair", "ok", f"the index was set aside as {aside.name}; the next start builds a new one")
    finally:
        lock.release()
