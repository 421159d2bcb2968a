"""Private notes are in no result, count, link list and error: for an agent they are not there."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import pytest

from donna_tui.agents.tools.catalogue import TOOLS
from donna_tui.memory.facts import procedural
from donna_tui.types.memory import MemorySource
from donna_tui.types.search import Filters, SearchRequest
from tests.cli.running import write
from tests.engine.helpers import Desk
from tests.mcp.serving import CANARY, PRIVATE, PUBLIC, Bench, open_bench

PATHS = sorted(PRIVATE)
ABSENT = "Private/absent.md"


def about(answer: dict[str, Any], path: str) -> str:
    """An answer without the path that was asked for."""
    return json.dumps(answer).replace(json.dumps(path)[1:-1], "PATH")


QUESTIONS = (
    *((CANARY, f'"{CANARY}"', f"{CANARY} title", "kestrel", "the kestrel code", "title:zanzibar", "-redis kestrel")),
    *((f"path:Private {CANARY}", "path:Private/", "path:Projects/codes.md", "in:task kestrel", "in:vault code")),
)


async def calls(bench: Bench) -> list[tuple[str, dict[str, Any]]]:
    """Every tool with everything that could lead to a private note."""
    reads: list[tuple[str, dict[str, Any]]] = [
        *(("memory_search", {"query": each, "nearMisses": True, "maxResults": 50}) for each in QUESTIONS),
        *(("memory_search", {"query": CANARY, "mode": each}) for each in ("keyword", "semantic", "hybrid")),
        *(("memory_search", {"query": "kestrel", "sources": [each.value]}) for each in MemorySource),
        *(("memory_search", {"query": "kestrel", "folder": each}) for each in ("Private", "Projects/codes.md")),
        *(("recall", {"query": each, "tokenBudget": 32_000, "topK": 50}) for each in QUESTIONS),
        *(("vault_list", {"folder": each}) for each in ("", "Private", "Projects", "Inbox", "Private/deep")),
        *(("vault_links", {"path": each}) for each in PUBLIC),
        ("draft_list", {"everything": True}),
        *(("memory_list", {"text": each, "limit": 50}) for each in ("", CANARY, "kestrel")),
        *(("task_list", {"done": each, "limit": 200}) for each in (False, True)),
        *(("agenda", {"days": each}) for each in (1, 31)),
        ("chat_add", {"turns": [{"role": "user", "text": "What is the kestrel code?"}], "sessionId": "kestrels"}),
    ]
    paths = [
        (name, {"path": path, **more})
        for path in PATHS
        for name, more in (
            ("memory_get", {}),
            ("memory_get", {"from": 3, "lines": 1}),
            ("vault_read", {}),
            ("vault_links", {}),
            ("vault_write", {"content": "mine now\n"}),
            ("vault_write", {"content": "mine now\n", "etag": "0" * 64}),
            ("vault_write", {"content": "mine now\n", "etag": "0" * 64, "replace": True}),
            ("vault_section", {"content": "mine now\n", "etag": "0" * 64}),
            ("vault_section", {"content": "mine now\n", "etag": "0" * 64, "headingPath": ["x"], "mode": "replace"}),
        )
    ]
    others = [("memory_forget", {"id": f"vault:{path}"}) for path in PATHS]
    others += [("remember", {"text": "The kestrel has a code."})]
    return [*reads, *paths, *others, ("vault_undo_last", {}), ("vault_undo_last", {"everything": True})]


async def test_no_answer_of_any_tool_holds_a_word_of_a_private_note(bench: Bench) -> None:
    before = {path: (bench.desk.root / path).read_bytes() for path in PATHS}
    asked = await calls(bench)
    assert {name for name, _ in asked} == {each.name for each in TOOLS}
    for name, arguments in asked:
        answer = await bench(name, **arguments)
        told = about(answer, arguments.get("path") or arguments.get("query") or "\0").lower()
        assert CANARY not in told, (name, arguments)
        assert "private/" not in told
        assert "secret.md" not in told
        assert "codes" not in told.replace("[[codes]]", "") or name == "memory_search", (name, told)
    assert {path: (bench.desk.root / path).read_bytes() for path in PATHS} == before


@pytest.mark.parametrize("path", PATHS)
async def test_a_private_path_answers_exactly_as_one_that_is_not_there(bench: Bench, path: str) -> None:
    for name, arguments in (
        ("memory_get", {}),
        ("vault_read", {}),
        ("vault_links", {}),
        ("vault_write", {"content": "x\n", "etag": "0" * 64}),
        ("vault_write", {"content": "x\n", "etag": "0" * 64, "replace": True}),
        ("vault_section", {"content": "x\n", "etag": "0" * 64}),
        ("vault_section", {"content": "x\n", "etag": "0" * 64, "headingPath": ["x"], "mode": "replace"}),
    ):
        private = await bench(name, path=path, **arguments)
        absent = await bench(name, path=ABSENT, **arguments)
        if name == "vault_write" and not path.startswith("Private/"):
            absent = await bench(name, path="Inbox/absent.md", **arguments)
        assert not private["ok"]
        assert about(private, path) == about(absent, ABSENT), name


async def test_counts_are_those_of_a_vault_without_private_notes(bench: Bench) -> None:
    assert (await bench.fine("vault_list"))["total"] == len(PUBLIC)
    assert (await bench.fine("vault_list", folder="Private")) == {"ok": True, "notes": [], "count": 0, "total": 0}
    found = await bench.fine("memory_search", query="kestrel", maxResults=50, sources=["vault"])
    assert {each["path"] for each in found["results"]} == set(PUBLIC)
    assert found["count"] == len(found["results"])


async def test_tasks_are_those_of_a_vault_without_private_notes(bench: Bench) -> None:
    """In the list, in its total and in the agenda; a memory of a private note cannot be named to be forgotten."""
    listed = await bench.fine("task_list", done=True)
    assert ([each["path"] for each in listed["tasks"]], listed["total"]) == (["Projects/plan.md"], 1)
    granted = await bench.other(sensitive=True).fine("task_list", done=True)
    hidden = [each["id"] for each in granted["tasks"] if each["path"] in PRIVATE]
    assert granted["total"] > 1
    refusals = [await bench("memory_forget", id=each) for each in (*hidden, "vault:none")]
    assert {each["reason"] for each in refusals} == {refusals[-1]["reason"]}


async def test_links_are_those_of_a_vault_without_private_notes(bench: Bench) -> None:
    linked = await bench.fine("vault_links", path="Projects/gateway.md")
    assert linked["links"] == ["Meetings/standup.md"]
    assert linked["linkedFrom"] == ["Meetings/standup.md"]
    assert (await bench.fine("vault_links", path="Projects/plan.md"))["links"] == ["Projects/gateway.md"]


async def test_who_was_granted_them_sees_them_and_still_does_not_write_them(bench: Bench) -> None:
    granted = bench.other(sensitive=True)
    assert CANARY in (await granted.fine("memory_get", path="Projects/codes.md"))["text"]
    assert (await granted.fine("vault_list"))["total"] == len(PUBLIC) + len(PRIVATE)
    found = await granted.fine("memory_search", query=CANARY, maxResults=50)
    assert {each["path"] for each in found["results"]} >= set(PATHS)
    assert "Projects/codes.md" in (await granted.fine("vault_links", path="Projects/gateway.md"))["links"]
    for path in ("Projects/codes.md", "Inbox/Secret.md"):
        etag = (await granted.fine("vault_read", path=path))["etag"]
        for replace in (True, False):
            answer = await granted("vault_write", path=path, content="public now\n", etag=etag, replace=replace)
            assert answer["reason"] == "sensitive"


async def test_a_note_that_became_private_a_moment_ago_is_gone_before_the_index_knows(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_bench(desk) as bench:
        path, text = "Projects/plan.md", PUBLIC["Projects/plan.md"]
        monkeypatch.setattr(bench.space.host, "search_fresh", frozen(await bench.engine.search(kestrels())))
        write(desk.root, path, f"---\ndonna: local-only\n---\n{text}")
        found = await bench.fine("memory_search", query="kestrel")
        assert path not in {each["path"] for each in found["results"]}
        assert len(found["results"]) == found["count"] > 0
        assert path not in {each["path"] for each in (await bench.fine("vault_list"))["notes"]}
        assert (await bench("memory_get", path=path))["reason"] == "missing"
        assert path not in (await bench.fine("vault_links", path="Projects/gateway.md"))["linkedFrom"]
        write(desk.root, "Meetings/standup.md", f"---\ndonna: local-only\n---\n{PUBLIC['Meetings/standup.md']}")
        linked = await bench.fine("vault_links", path="Projects/gateway.md")
        assert (linked["links"], linked["linkedFrom"]) == ([], [])


WORDS = ("rollback", "redis", "sessions", "idea", "plan", "gateway")


async def test_nothing_that_an_agent_finds_depends_on_the_words_of_private_notes(desk: Desk) -> None:
    """BM25 weighs a word by how many passages hold it: of private ones an agent could read that off the order."""
    for path in PRIVATE:
        (desk.root / path).unlink()
    questions = [f"{one} {other}" for one in WORDS for other in WORDS if one < other]
    async with open_bench(desk) as bench:
        await bench.fine("remember", text="The rollback of the gateway was a bad idea.")
        before = [await found_by(bench, each) for each in questions]
        for number in range(4):
            flag = ("donna: local-only", "donna_sensitive: true")[number % 2]
            text = f"---\n{flag}\n---\n# Rollback idea\n{' '.join(WORDS[: number + 1] * 9)}\n- [ ] plan the rollback\n"
            write(desk.root, f"Private/{number}.md", text)
        granted = bench.other(sensitive=True)
        everything = (await granted.fine("memory_search", query="rollback idea", maxResults=50))["results"]
        assert sum(each["path"].startswith("Private/") for each in everything) >= 4
        assert [await found_by(bench, each) for each in questions] == before
        granted_before = [await found_by(granted, each) for each in questions]
    assert granted_before != before


async def found_by(bench: Bench, question: str) -> Any:
    """What a client finds and recalls, with the scores that decide the order, and how many notes were searched."""
    filters = Filters(sensitive=None if bench.space.access.sensitive else False)
    outcome = await bench.engine.search_fresh(SearchRequest(text=question, k=50, filters=filters, near_misses=True))
    asked = {"query": question, "nearMisses": True, "maxResults": 50}
    return (
        [(hit.path, hit.rank_score, hit.snippet.text) for hit in (*outcome.hits, *outcome.near_misses)],
        outcome.searched_notes,
        await bench.fine("memory_search", **asked),
        await bench.fine("recall", query=question, tokenBudget=400, topK=3),
    )


async def test_a_word_that_is_half_typed_becomes_none_of_a_private_note(desk: Desk) -> None:
    async with open_bench(desk) as bench:
        public, everything = [
            await bench.engine.search(SearchRequest(text=CANARY[:-3], partial=True, filters=Filters(sensitive=each)))
            for each in (False, None)
        ]
        assert not public.hits
        assert everything.hits


def kestrels() -> Any:
    return SearchRequest(text="kestrel", k=50)


def frozen(outcome: Any) -> Any:
    async def search(_: Any) -> Any:
        return outcome

    return search


async def test_what_cannot_be_read_counts_as_not_there(bench: Bench) -> None:
    root = bench.desk.root
    write(root, "Inbox/big.md", "x" * 3_000_000)
    write(root, "Inbox/zeros.md", b"\0" * 4_000)
    (root / "Inbox/folder.md").mkdir()
    (root / "Inbox/link.md").symlink_to(root / "Projects/plan.md")
    os.mkfifo(root / "Inbox/pipe.md")
    absent = about(await bench("memory_get", path=ABSENT), ABSENT)
    for name in ("big", "zeros", "folder", "link", "pipe"):
        path = f"Inbox/{name}.md"
        assert about(await bench("memory_get", path=path), path) == absent
        answer = await bench("vault_write", path=path, content="mine\n")
        assert (answer["reason"], answer["message"]) == ("conflict", "a note cannot be written to this path")


async def test_a_new_note_beside_a_private_one_of_nearly_its_name_says_nothing_of_it(bench: Bench) -> None:
    answer = await bench("vault_write", path="Inbox/secret.md", content="mine\n")
    assert answer["reason"] == "conflict"
    assert "Secret" not in json.dumps(answer)
    taken = await bench("vault_write", path="Inbox/Secret.md", content="mine\n")
    assert about(taken, "Inbox/Secret.md") == about(answer, "Inbox/secret.md")


async def test_what_was_made_of_a_private_note_answers_as_what_is_not_there(bench: Bench) -> None:
    made = bench.desk.rows("SELECT source_id, sensitive FROM memory_documents WHERE source_type = 'task'")
    private = [identity for identity, sensitive in made if sensitive]
    public = [identity for identity, sensitive in made if not sensitive]
    assert private
    for identity in private:
        absent = f"{identity[:-4]}ffff"
        assert about(await bench("memory_get", path=identity), identity) == about(
            await bench("memory_get", path=absent), absent
        )
    (task,) = public
    assert "Feed the kestrel" in (await bench.fine("memory_get", path=task))["text"]
    write(bench.desk.root, "Projects/plan.md", f"---\ndonna: local-only\n---\n{PUBLIC['Projects/plan.md']}")
    absent = f"{task[:-4]}ffff"
    assert about(await bench("memory_get", path=task), task) == about(await bench("memory_get", path=absent), absent)


async def test_what_a_granted_client_remembers_is_private(bench: Bench) -> None:
    granted = bench.other(sensitive=True)
    await granted.fine("remember", text=f"The {CANARY} code is on the blue door.")
    assert CANARY in json.dumps(await granted.fine("recall", query="blue door"))
    for name in ("recall", "memory_search"):
        assert CANARY not in json.dumps(await bench.fine(name, query=f"{CANARY} blue door"))
    again = await bench.fine("remember", text=f"The {CANARY} code is on the blue door.")
    assert CANARY not in json.dumps(again)


async def test_no_word_of_a_private_note_is_in_the_log(bench: Bench) -> None:
    for name, arguments in await calls(bench):
        await bench(name, **arguments)
    log: Path = bench.desk.paths.log
    for file in log.glob("*"):
        assert not any(f"{each}{CANARY}" in file.read_text() for each in ("kestrel ", "# ", "] ")), file


async def test_a_public_preference_neither_shows_nor_replaces_a_private_one(bench: Bench) -> None:
    granted = bench.other(sensitive=True)
    await granted.fine("remember", text=f"My favourite colour is {CANARY}.", type="procedural")
    answer = await bench.fine("remember", text="My favourite colour is red.", type="procedural")
    assert CANARY not in json.dumps(answer)
    facts = await bench.engine.memory.db.run(lambda db: procedural(db.database))
    assert {fact.content for fact in facts} == {f"My favourite colour is {CANARY}.", "My favourite colour is red."}
