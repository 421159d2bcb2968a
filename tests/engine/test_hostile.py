"""A vault of hostile and odd notes is indexed, searched and shown: nothing fails, leaks or is lost."""

from __future__ import annotations

import asyncio
import json
import os
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from donna_tui.types.search import SearchRequest
from tests.engine.helpers import Running, Sandbox, everything_below, new_sandbox, open_engine
from tests.forks import run_module
from tests.hostile import make_hostile_vault

pytestmark = [pytest.mark.model, pytest.mark.slow]

RAW = re.compile(rb"[\x00-\x08\x0b-\x1f\x7f]|\xc2[\x80-\x9f]")
"""Control bytes that a terminal would obey: C0 except for tab and newline, DEL, and C1 as UTF-8."""

MANY_PASSAGES = [
    "structure/300kb base64.md", "structure/big table.md", "structure/min json.md", "structure/star bomb.md",
    "structure/excalidraw.md", "structure/deep list.md",
]  # fmt: skip
"""Of 1,900 passages that the model would read, 1,700 are in these notes."""

KEPT_CHARACTERS = 4_000


@dataclass(frozen=True, slots=True)
class Hostile:
    """The indexed vault and its manifest."""

    sandbox: Sandbox
    cases: list[dict[str, Any]]
    found: dict[str, list[str]]
    running: Running

    def wanted(self, expect: str) -> list[dict[str, Any]]:
        return [case for case in self.cases if case["expect"] == expect and case["sentinel"]]

    def checks(self, name: str) -> list[tuple[str, Any]]:
        found = [(case["path"], case["checks"][name]) for case in self.cases if name in case.get("checks", {})]
        assert found, name
        return found

    def run(self, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        environment = {
            **os.environ,
            "DONNA_HOME": str(self.sandbox.paths.state.parent),
            "DONNA_VAULT": str(self.sandbox.root),
        }
        return run_module("donna_tui", arguments, cwd=Path.cwd(), env=environment, timeout=120)


@pytest.fixture(scope="module", params=["shortened", pytest.param("whole", marks=pytest.mark.stress)])
def hostile(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, model_cache: Path) -> Hostile:
    folder = tmp_path_factory.mktemp("hostile")
    root, manifest = make_hostile_vault(folder)
    if request.param == "shortened":
        shorten(root)
    sandbox = new_sandbox(folder, model_cache)
    assert sandbox.root == root
    cases = [case for case in manifest["cases"] if "not_created" not in case]
    return asyncio.run(index_and_ask(sandbox, cases))


def shorten(root: Path) -> None:
    """Retain only the beginning and the end of each note that consists of many passages of one kind."""
    for path in MANY_PASSAGES:
        text = (root / path).read_text(encoding="utf-8")
        assert len(text) > 4 * KEPT_CHARACTERS, path
        (root / path).write_text(text[:KEPT_CHARACTERS] + text[-KEPT_CHARACTERS:], encoding="utf-8")


async def index_and_ask(sandbox: Sandbox, cases: list[dict[str, Any]]) -> Hostile:
    """Index everything, then search for the word of every note."""
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        words = [case["sentinel"] for case in cases if case["sentinel"]]
        found = {word: await running.found(word) for word in words}
        await running.search("secret \x1b[31m qzx", "hybrid")
    return Hostile(sandbox, cases, found, running)


def test_indexed_files_are_found_by_their_word(hostile: Hostile) -> None:
    lost = [
        case["path"]
        for case in (*hostile.wanted("index"), *hostile.wanted("lossy"))
        if case["path"] not in hostile.found[case["sentinel"]]
    ]
    assert not lost


def test_skipped_files_are_not_found(hostile: Hostile) -> None:
    skipped = [case for case in hostile.wanted("skip") if not (os.geteuid() == 0 and "unreadable" in case["path"])]
    assert skipped
    assert not [case["path"] for case in skipped if hostile.found[case["sentinel"]]]


def test_everything_readable_has_text_and_vectors(hostile: Hostile) -> None:
    coverage = hostile.running.engine.status().coverage
    assert coverage.text == coverage.notes == coverage.vectors > 100
    assert coverage.failed == 0
    assert coverage.chunks == coverage.chunks_embedded


def test_nothing_from_outside_the_vault_is_in_the_index(hostile: Hostile) -> None:
    for data in everything_below(hostile.sandbox.paths.state):
        assert b"qzxoutsidefile" not in data
        assert b"qzxoutsidedir" not in data


def test_heading_paths_match_the_manifest(hostile: Hostile) -> None:
    for path, wanted in hostile.checks("heading_paths"):
        stored = {
            tuple(json.loads(heading))
            for (heading,) in hostile.sandbox.rows(
                "SELECT c.heading_path FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
                " WHERE d.source_id = ?",
                path,
            )
        }
        assert stored <= {(), *(tuple(each) for each in wanted)}, path


def test_sensitivity_is_stored(hostile: Hostile) -> None:
    stored = dict(hostile.sandbox.rows("SELECT source_id, sensitive FROM memory_documents"))
    for path, wanted in hostile.checks("sensitive"):
        assert bool(stored[path]) is wanted, path


def test_the_log_contains_no_text_of_a_note(hostile: Hostile) -> None:
    logged = b"".join(everything_below(hostile.sandbox.paths.log))
    assert logged
    paths = "\n".join(case["path"] for case in hostile.cases)
    for case in hostile.cases:
        if case["sentinel"] and case["sentinel"] not in paths:
            assert case["sentinel"].encode() not in logged, case["path"]


def test_the_invocation_log_contains_hashes_only(hostile: Hostile) -> None:
    rows = hostile.sandbox.rows("SELECT task_type, model_alias, input_hash FROM invocation_log")
    assert {task for task, _, _ in rows} >= {"embed_vault_chunk", "embed_memory_query"}
    assert {model for _, model, _ in rows} == {hostile.running.engine.status().model.partition("@")[0]}
    assert all(re.fullmatch(r"[0-9a-f]{64}", hashed) for _, _, hashed in rows)


async def test_a_second_start_reads_nothing_again(hostile: Hostile) -> None:
    async with open_engine(hostile.sandbox, watch=False) as running:
        await running.engine.sync()
        assert running.engine.status().embedded_this_run == 0
        hits = (await running.engine.search(SearchRequest(text="qzx017nasty", mode="keyword"))).hits
        assert hits


SAMPLE = 6
"""The number of notes that are read through the program itself; each process takes a third of a second."""


def readable(hostile: Hostile) -> list[str]:
    paths = [path for (path,) in hostile.sandbox.rows("SELECT source_id FROM memory_documents ORDER BY source_id")]
    literal = [case["path"] for case in hostile.cases if case.get("checks", {}).get("literal")]
    odd = [path for path in paths if path in literal or not path.isascii() or not path.isprintable()]
    assert odd
    return odd[:: max(1, len(odd) // SAMPLE)]


def test_get_prints_no_control_bytes(hostile: Hostile) -> None:
    for path in readable(hostile):
        for options in ([], ["--json"]):
            done = hostile.run("get", *options, "--", path)
            assert done.returncode == 0, (path, done.stderr)
            assert not RAW.search(done.stdout), path
            assert not RAW.search(done.stderr), path


def test_search_and_status_print_no_control_bytes(hostile: Hostile) -> None:
    for arguments in (
        ["search", "-k", "32", "body"],
        ["search", "-k", "32", "--json", "escape colour title markup"],
        ["search", "-k", "32", "--near", "escape colour title markup"],
        ["status"],
        ["status", "--json"],
    ):
        done = hostile.run(*arguments)
        assert done.returncode in (0, 1), done.stderr
        assert done.stdout
        assert not RAW.search(done.stdout + done.stderr), arguments


def test_indexing_hostile_notes_executes_nothing(hostile: Hostile) -> None:
    for folder in (Path.cwd(), hostile.sandbox.root, hostile.sandbox.root.parent):
        assert not list(folder.glob("*pwned*"))
