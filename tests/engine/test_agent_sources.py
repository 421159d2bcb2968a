"""Of a workspace, only MEMORY.md and memory/**/*.md are read, listed, indexed and watched."""

from __future__ import annotations

import asyncio
import os
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from donna_tui.ingest.watcher import ChangedPaths, Watcher
from donna_tui.types.errors import VaultReadError, VaultWriteError
from donna_tui.types.events import EventHub, NoteDeleted
from donna_tui.types.search import SearchRequest
from donna_tui.vault.include import Include
from donna_tui.vault.open import included, indexed_client, open_writer, vault_client
from donna_tui.vault.write.changes import has_etag
from tests.engine.agent_sandboxes import AgentSandbox, agent_engine, agent_sandbox, fresh, paths_of, tree
from tests.engine.helpers import eventually, everything_below
from tests.engine.providers import FaultyModel, serve

CANARY = "quokka4711"

SOURCES = ("MEMORY.md", "memory/2026-01-01.md", "memory/deep/er/idea.md", "memory/größe.md")

OTHERS = (
    "README.md", "notes/other.md", "notes/MEMORY.md", "notes/memory/x.md", "memory.md", "MEMORY.markdown", "MEMORY.txt",
    "Memory/x.md", "memory-old/x.md", "memoryx.md", ".env", ".git/config.md", ".donna/notes.md", ".memory/x.md",
    "memory/.hidden.md", "memory/.folder/x.md", "memory/a.txt", "memory/b.markdown", "memory/c.md.bak", "memory/.md",
    "memory/d.MD", "memory/deep/.x/y.md", "memory/x.sync-conflict-20240101-120000-ABCDEFG.md", "node_modules/a/README.md",
)  # fmt: skip


@pytest.fixture
def sandbox(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> AgentSandbox:
    """Create a workspace full of unrelated files, with links that lead out of it."""
    serve(monkeypatch, FaultyModel())
    sandbox = agent_sandbox(tmp_path)
    for path in SOURCES:
        sandbox.write(path, f"# Note\n\nkestrel in {path}\n")
    for path in OTHERS:
        sandbox.write(path, f"# Note\n\nkestrel {CANARY} in {path}\n")
    outside = tmp_path / "outside"
    (outside / "folder").mkdir(parents=True)
    for file in (outside / "secret.md", outside / "folder" / "x.md"):
        file.write_text(f"kestrel {CANARY}")
    (sandbox.root / "memory/link.md").symlink_to(outside / "secret.md")
    (sandbox.root / "memory/linked").symlink_to(outside / "folder")
    (sandbox.root / "memory/up.md").symlink_to("../README.md")
    return sandbox


async def test_only_the_sources_are_indexed(sandbox: AgentSandbox) -> None:
    before = tree(sandbox.root)
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "kestrel")
        assert paths_of(outcome) == sorted(SOURCES)
        assert (outcome.stale, outcome.indexed) == (False, True)
        assert not (await fresh(running, CANARY, mode="keyword")).hits
        assert {path for path, _ in sandbox.texts()} == set(SOURCES)
        assert await running.engine.folders() == ("memory", "memory/deep", "memory/deep/er")
    assert tree(sandbox.root) == before
    assert not any(CANARY.encode() in data for data in everything_below(sandbox.home))


def test_only_the_sources_are_listed_and_read(sandbox: AgentSandbox) -> None:
    for client in (indexed_client(sandbox.config, sandbox.root), vault_client(sandbox.config, sandbox.root)):
        assert list(client.list()) == sorted(SOURCES)
        assert all(client.read(path).path == path for path in SOURCES)
        links = ("memory/link.md", "memory/linked/x.md", "memory/up.md")
        for path in (*OTHERS, *links, "memory/../README.md", "../outside/secret.md", "/etc/passwd", "", "memory"):
            with pytest.raises(VaultReadError):
                client.read(path)
            with pytest.raises(VaultReadError):
                client.stat(path)
        for folder in ("notes", "node_modules", ".git", "Memory", "memory-old", "memory/linked", "memory/.folder"):
            assert list(client.list(folder)) == []
        with pytest.raises(VaultReadError):
            list(client.scan("../outside"))
        assert list(client.list("memory/deep")) == ["memory/deep/er/idea.md"]
        assert list(client.list("MEMORY.md")) == ["MEMORY.md"]


class Opened:
    """Records the names that this process opens or lists while it is enabled."""

    def __init__(self) -> None:
        self.on, self.names = False, list[str]()
        sys.addaudithook(self._hear)

    def _hear(self, event: str, arguments: tuple[Any, ...]) -> None:
        if self.on and event in ("open", "os.listdir", "os.scandir") and isinstance(arguments[0], str):
            self.names.append(arguments[0])


async def test_files_outside_the_sources_are_never_opened(sandbox: AgentSandbox) -> None:
    opened = Opened()
    opened.on = True
    try:
        async with agent_engine(sandbox) as running:
            await fresh(running, "kestrel")
    finally:
        opened.on = False
    names = {os.path.basename(name) for name in opened.names}
    assert {"MEMORY.md", "2026-01-01.md", "idea.md"} <= names
    strange = {"README.md", "other.md", ".env", "notes", "node_modules", ".git", ".donna", ".memory", ".folder",
               ".hidden.md", "a.txt", "b.markdown", "d.MD", "memory-old", "Memory", "secret.md", "memory.yaml"}  # fmt: skip
    assert not names & (strange - {"memory.yaml"})


@pytest.mark.parametrize("what", ["link", "folder", "fifo", "link to itself", "link out"])
async def test_memory_file_that_is_not_a_regular_file_is_ignored(sandbox: AgentSandbox, what: str) -> None:
    file = sandbox.root / "MEMORY.md"
    file.unlink()
    if what == "folder":
        file.mkdir()
        (file / "x.md").write_text(CANARY)
    elif what == "fifo":
        os.mkfifo(file)
    else:
        file.symlink_to({"link": "README.md", "link to itself": "MEMORY.md", "link out": "/etc/passwd"}[what])
    async with agent_engine(sandbox) as running:
        outcome = await fresh(running, "kestrel")
        assert paths_of(outcome) == sorted(set(SOURCES) - {"MEMORY.md"})
    assert not any(CANARY.encode() in data for data in everything_below(sandbox.home))


async def test_symlinked_memory_folder_outside_the_workspace_is_not_followed(
    sandbox: AgentSandbox, tmp_path: Path
) -> None:
    (sandbox.root / "memory").rename(sandbox.root / "memory-kept")
    (sandbox.root / "memory").symlink_to(tmp_path / "outside")
    async with agent_engine(sandbox, watch=True) as running:
        assert paths_of(await fresh(running, "kestrel")) == ["MEMORY.md"]
        (tmp_path / "outside" / "new.md").write_text("kestrel")
        assert paths_of(await fresh(running, "kestrel")) == ["MEMORY.md"]


async def test_swapping_the_folder_for_a_link_removes_what_was_known(sandbox: AgentSandbox, tmp_path: Path) -> None:
    async with agent_engine(sandbox) as running:
        await fresh(running, "kestrel")
    (sandbox.root / "memory").rename(tmp_path / "taken")
    (sandbox.root / "memory").symlink_to(tmp_path / "outside")
    async with agent_engine(sandbox) as running:
        await fresh(running, "kestrel")
        assert not (await fresh(running, CANARY, mode="keyword")).hits


@pytest.mark.parametrize(
    "path",
    ["README.md", "notes/x.md", "new.md", ".x.md", "memory/.x.md", "MEMORY.md/x.md", "Inbox/x.md", "memory/x.markdown"],
)
def test_nothing_is_written_beside_the_sources(sandbox: AgentSandbox, path: str) -> None:
    for writer in (
        open_writer(sandbox.config, sandbox.space),
        open_writer(sandbox.config, sandbox.space, allowlist=("*",)),
    ):
        with pytest.raises(VaultWriteError):
            writer.planner.write(path, "text", expected=has_etag(None))


@pytest.mark.parametrize("path", ["memory/new.md", "memory/deep/new.md"])
def test_sources_may_be_written(sandbox: AgentSandbox, path: str) -> None:
    shutil.rmtree(sandbox.root / "Memory")  # some systems would take a new file for this folder
    plan = open_writer(sandbox.config, sandbox.space).planner.write(path, "text", expected=has_etag(None))
    assert [change.path for change in plan.changes] == [path]


# Watching


class Hints:
    """Records the hints of a watcher of the sources."""

    def __init__(self, sandbox: AgentSandbox, quiet_ms: int = 25) -> None:
        self.paths: set[str] = set()
        self.everything = self.times = 0
        self.watcher = Watcher(
            sandbox.root, EventHub(), self._take, include=included(sandbox.config), quiet_ms=quiet_ms
        )

    def _take(self, hint: ChangedPaths) -> None:
        self.times += 1
        self.paths |= hint.paths
        self.everything += hint.everything


@pytest.fixture
def hints(sandbox: AgentSandbox) -> Hints:
    return Hints(sandbox)


async def watched(hints: Hints, work: Callable[[], Any]) -> None:
    task = asyncio.create_task(hints.watcher.run())
    try:
        await hints.watcher.begun.wait()
        await work()
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_only_the_sources_are_watched(sandbox: AgentSandbox, hints: Hints) -> None:
    async def work() -> None:
        for path in ("README.md", "notes/other.md", ".env", "memory-old/x.md", "node_modules/a/README.md", "new.md"):
            sandbox.write(path, "changed")
        sandbox.write("memory/2026-01-01.md", "changed")
        await eventually(lambda: "memory/2026-01-01.md" in hints.paths)
        sandbox.write("MEMORY.md", "changed")
        await eventually(lambda: "MEMORY.md" in hints.paths)

    await watched(hints, work)
    assert hints.paths <= {"MEMORY.md", "memory", "memory/2026-01-01.md"}


def test_no_other_folder_is_given_to_the_system(sandbox: AgentSandbox, hints: Hints) -> None:
    folders = {folder.relative_to(sandbox.root.resolve()).as_posix() for folder in hints.watcher._folders()}
    assert folders == {".", "memory", "memory/deep", "memory/deep/er"}


@pytest.mark.slow
async def test_watcher_debounces_a_burst_of_saves_into_one_event(sandbox: AgentSandbox) -> None:
    hints = Hints(sandbox, quiet_ms=1_000)
    wanted = {f"memory/{number}.md" for number in range(20)}

    async def work() -> None:
        for path in wanted:
            sandbox.write(path, "changed")
        await eventually(lambda: hints.paths >= wanted)

    await watched(hints, work)
    assert hints.times == 1


async def test_watcher_covers_folders_created_later(sandbox: AgentSandbox, hints: Hints) -> None:
    async def work() -> None:
        sandbox.write("memory/fresh/one.md", "text")
        await eventually(lambda: hints.everything, "the folder was noticed")
        sandbox.write("memory/fresh/one.md", "changed")
        await eventually(lambda: "memory/fresh/one.md" in hints.paths)

    await watched(hints, work)


async def test_a_watched_memory_follows_its_files(sandbox: AgentSandbox, tmp_path: Path) -> None:
    quick = agent_sandbox(tmp_path, sync={"watch_debounce_ms": 50, "on_search": False})
    async with agent_engine(quick, watch=True) as running:
        await running.until_found("kestrel", "MEMORY.md")
        quick.write("memory/2026-02-02.md", "a numbat walks")
        await running.until_found("numbat", "memory/2026-02-02.md")
        quick.write("memory/made/later/x.md", "a dingo runs")
        await running.until_found("dingo", "memory/made/later/x.md")
        (quick.root / "memory/2026-02-02.md").unlink()
        await eventually(lambda: "memory/2026-02-02.md" in {event.path for event in running.events_of(NoteDeleted)})
        assert not (await running.engine.search(SearchRequest(text=CANARY, mode="keyword"))).hits


def test_include_matches_only_memory_paths() -> None:
    include = Include(("MEMORY.md",), ("memory",))
    assert all(include.holds(path) for path in SOURCES)
    assert not any(
        include.holds(path) for path in ("memory", "memoryx/a.md", "x/memory/a.md", "MEMORY.md/a.md", "memory/a.txt")
    )
    assert Include().is_everything
    assert Include().holds("anything")


async def test_the_history_of_a_workspace_is_that_of_the_memory_alone(tmp_path: Path) -> None:
    sandbox = agent_sandbox(tmp_path)
    sandbox.write("MEMORY.md", "# Memory\n")
    sandbox.write("secrets.env", "API=sk-123\n")
    sandbox.write("memory/day.md", "# Day\n")
    for arguments in (
        ("init", "-q"),
        ("add", "-A"),
        ("-c", "user.name=Me", "-c", "user.email=me@x.invalid", "commit", "-qm", "All"),
    ):
        subprocess.run(["git", *arguments], cwd=sandbox.root, check=True)
    async with agent_engine(sandbox, watch=True) as running:
        [revision] = await running.engine.notes.history()
        assert set(revision.paths) == {"MEMORY.md", "memory/day.md"}
        changes = await running.engine.notes.revision_changes(revision.commit)
        assert {change.path for change in changes} == {"MEMORY.md", "memory/day.md"}
        for refused in (
            running.engine.notes.history("secrets.env"),
            running.engine.notes.outside_change("secrets.env"),
            running.engine.notes.blame("secrets.env", 1, 1),
        ):
            with pytest.raises(VaultReadError):
                await refused
