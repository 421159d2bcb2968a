"""Private notes are in no result, count, list of links or error: for an agent they do not exist."""

from __future__ import annotations

import datetime
import json
import os
from pathlib import Path
from typing import Any

import pytest

from donna_tui.agents.tools.catalogue import TOOLS
from donna_tui.memory.facts import procedural
from donna_tui.types.search import Filters, MemorySource, SearchRequest
from tests.engine.helpers import Sandbox
from tests.git_vaults import write
from tests.mcp.serving import CANARY, PRIVATE, PUBLIC, ToolHarness, open_harness

PATHS = sorted(PRIVATE)
ABSENT = "Private/absent.md"


def about(answer: dict[str, Any], path: str) -> str:
    """Return an answer without the requested path."""
    return json.dumps(answer).replace(json.dumps(path)[1:-1], "PATH")


QUESTIONS = (
    *((CANARY, f'"{CANARY}"', f"{CANARY} title", "kestrel", "the kestrel code", "title:zanzibar", "-redis kestrel")),
    *((f"path:Private {CANARY}", "path:Private/", "path:Projects/codes.md", "in:task kestrel", "in:vault code")),
)


async def calls(harness: ToolHarness) -> list[tuple[str, dict[str, Any]]]:
    """Return calls of every tool with everything that could lead to a private note."""
    reads: list[tuple[str, dict[str, Any]]] = [
        *(("memory_search", {"query": each, "nearMisses": True, "maxResults": 50}) for each in QUESTIONS),
        *(("memory_search", {"query": CANARY, "mode": each}) for each in ("keyword", "semantic", "hybrid")),
        *(("memory_search", {"query": "kestrel", "sources": [each.value]}) for each in MemorySource),
        *(("memory_search", {"query": "kestrel", "folder": each}) for each in ("Private", "Projects/codes.md")),
        *(("recall", {"query": each, "tokenBudget": 32_000, "topK": 50}) for each in QUESTIONS),
        *(
            ("vault_list", {"folder": each, "recursive": deep})
            for deep in (True, False)
            for each in ("", "Private", "Projects", "Inbox", "Private/deep")
        ),
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


async def test_no_answer_of_any_tool_contains_a_word_of_a_private_note(harness: ToolHarness) -> None:
    before = {path: (harness.sandbox.root / path).read_bytes() for path in PATHS}
    asked = await calls(harness)
    assert {name for name, _ in asked} == {each.name for each in TOOLS}
    for name, arguments in asked:
        answer = await harness(name, **arguments)
        told = about(answer, arguments.get("path") or arguments.get("query") or "\0").lower()
        assert CANARY not in told, (name, arguments)
        assert "private/" not in told
        assert "secret.md" not in told
        assert "codes" not in told.replace("[[codes]]", "") or name == "memory_search", (name, told)
    assert {path: (harness.sandbox.root / path).read_bytes() for path in PATHS} == before


@pytest.mark.cases(6)
@pytest.mark.parametrize("path", PATHS)
async def test_a_private_path_is_answered_exactly_like_a_missing_one(harness: ToolHarness, path: str) -> None:
    for name, arguments in (
        ("memory_get", {}),
        ("vault_read", {}),
        ("vault_links", {}),
        ("vault_write", {"content": "x\n", "etag": "0" * 64}),
        ("vault_write", {"content": "x\n", "etag": "0" * 64, "replace": True}),
        ("vault_section", {"content": "x\n", "etag": "0" * 64}),
        ("vault_section", {"content": "x\n", "etag": "0" * 64, "headingPath": ["x"], "mode": "replace"}),
    ):
        private = await harness(name, path=path, **arguments)
        absent = await harness(name, path=ABSENT, **arguments)
        if name == "vault_write" and not path.startswith("Private/"):
            absent = await harness(name, path="Inbox/absent.md", **arguments)
        assert not private["ok"]
        assert about(private, path) == about(absent, ABSENT), name


async def test_counts_are_those_of_a_vault_without_private_notes(harness: ToolHarness) -> None:
    assert (await harness.fine("vault_list"))["total"] == len(PUBLIC)
    nothing = {"ok": True, "notes": [], "count": 0, "total": 0, "folders": []}
    assert (await harness.fine("vault_list", folder="Private")) == nothing
    found = await harness.fine("memory_search", query="kestrel", maxResults=50, sources=["vault"])
    assert {each["path"] for each in found["results"]} == set(PUBLIC)
    assert found["count"] == len(found["results"])


async def test_tasks_are_those_of_a_vault_without_private_notes(harness: ToolHarness) -> None:
    """This includes the list, its total and the agenda; a memory of a private note cannot be forgotten by its id."""
    listed = await harness.fine("task_list", done=True)
    assert ([each["path"] for each in listed["tasks"]], listed["total"]) == (["Projects/plan.md"], 1)
    granted = await harness.other(sensitive=True).fine("task_list", done=True)
    hidden = [each["id"] for each in granted["tasks"] if each["path"] in PRIVATE]
    assert granted["total"] > 1
    refusals = [await harness("memory_forget", id=each) for each in (*hidden, "vault:none")]
    assert {each["reason"] for each in refusals} == {refusals[-1]["reason"]}


async def test_a_private_note_closes_no_task_of_another_note(harness: ToolHarness, sandbox: Sandbox) -> None:
    today = datetime.date.today()
    text = f"---\ndonna_sensitive: true\n---\n- [x] Feed the kestrel ✅ {today}\n"
    write(sandbox.root, f"Private/{today}.md", text)
    await harness.engine.sync()
    assert (await harness.fine("task_list"))["total"] == 1
    assert [each for each in await harness.engine.memory.tasks() if each.title == "Feed the kestrel"] == []


async def test_links_are_those_of_a_vault_without_private_notes(harness: ToolHarness) -> None:
    linked = await harness.fine("vault_links", path="Projects/gateway.md")
    assert linked["links"] == ["Meetings/standup.md"]
    assert linked["linkedFrom"] == ["Meetings/standup.md"]
    assert (await harness.fine("vault_links", path="Projects/plan.md"))["links"] == ["Projects/gateway.md"]


async def test_client_with_private_access_can_read_but_not_write_private_notes(harness: ToolHarness) -> None:
    granted = harness.other(sensitive=True)
    assert CANARY in (await granted.fine("memory_get", path="Projects/codes.md"))["text"]
    assert (await granted.fine("vault_list"))["total"] == len(PUBLIC) + len(PRIVATE)
    found = await granted.fine("memory_search", query=CANARY, maxResults=50)
    assert {each["path"] for each in found["results"]} >= set(PATHS)
    assert "Projects/codes.md" in (await granted.fine("vault_links", path="Projects/gateway.md"))["links"]
    for path in ("Projects/codes.md", "Inbox/Secret.md"):
        etag = (await granted.fine("vault_read", path=path))["etag"]
        for replace in (True, False):
            answer = await granted("vault_write", path=path, content="public now\n", etag=etag, replace=replace)
            assert (answer["reason"], answer["hint"]) == ("sensitive", "the owner has to change it")


async def test_a_note_that_became_private_a_moment_ago_is_gone_before_the_index_knows(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_harness(sandbox) as harness:
        path, text = "Projects/plan.md", PUBLIC["Projects/plan.md"]
        monkeypatch.setattr(harness.space.engine, "search_fresh", frozen(await harness.engine.search(kestrels())))
        write(sandbox.root, path, f"---\ndonna: local-only\n---\n{text}")
        found = await harness.fine("memory_search", query="kestrel")
        assert path not in {each["path"] for each in found["results"]}
        assert len(found["results"]) == found["count"] > 0
        assert path not in {each["path"] for each in (await harness.fine("vault_list"))["notes"]}
        assert (await harness("memory_get", path=path))["reason"] == "missing"
        assert path not in (await harness.fine("vault_links", path="Projects/gateway.md"))["linkedFrom"]
        write(sandbox.root, "Meetings/standup.md", f"---\ndonna: local-only\n---\n{PUBLIC['Meetings/standup.md']}")
        linked = await harness.fine("vault_links", path="Projects/gateway.md")
        assert (linked["links"], linked["linkedFrom"]) == ([], [])


WORDS = ("rollback", "redis", "sessions", "idea", "plan", "gateway")


@pytest.mark.slow
async def test_nothing_that_an_agent_finds_depends_on_the_words_of_private_notes(sandbox: Sandbox) -> None:
    """BM25 weighs a word by the number of passages that contain it, which could reveal the words of private ones."""
    for path in PRIVATE:
        (sandbox.root / path).unlink()
    questions = [f"{one} {other}" for one in WORDS for other in WORDS if one < other]
    questions += ["rollback", "https://example.org/10.1/redis.7"]  # a name and a URL of which a private note has a part
    async with open_harness(sandbox) as harness:
        await harness.fine("remember", text="The rollback of the gateway was a bad idea.")
        before = [await found_by(harness, each) for each in questions]
        for number in range(4):
            flag = ("donna: local-only", "donna_sensitive: true")[number % 2]
            text = f"---\n{flag}\n---\n# Rollback idea\n{' '.join(WORDS[: number + 1] * 9)}\n- [ ] plan the rollback of 10.1/redis.7\n"
            write(sandbox.root, f"Private/{number}.md", text)
        granted = harness.other(sensitive=True)
        everything = (await granted.fine("memory_search", query="rollback idea", maxResults=50))["results"]
        assert sum(each["path"].startswith("Private/") for each in everything) >= 4
        assert [await found_by(harness, each) for each in questions] == before
        granted_before = [await found_by(granted, each) for each in questions]
    assert granted_before != before


async def found_by(harness: ToolHarness, question: str) -> Any:
    """Return what a client finds and recalls, with the scores, and the number of notes searched."""
    filters = Filters(sensitive=None if harness.space.access.sensitive else False)
    outcome = await harness.engine.search_fresh(SearchRequest(text=question, k=50, filters=filters, near_misses=True))
    asked = {"query": question, "nearMisses": True, "maxResults": 50}
    return (
        [(hit.path, hit.rank_score, hit.snippet.text) for hit in (*outcome.hits, *outcome.near_misses)],
        outcome.searched_notes,
        await harness.fine("memory_search", **asked),
        await harness.fine("recall", query=question, tokenBudget=400, topK=3),
    )


async def test_a_half_typed_word_is_not_completed_from_a_private_note(sandbox: Sandbox) -> None:
    async with open_harness(sandbox) as harness:
        public, everything = [
            await harness.engine.search(SearchRequest(text=CANARY[:-3], typing=True, filters=Filters(sensitive=each)))
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


async def test_unreadable_files_are_reported_as_missing(harness: ToolHarness) -> None:
    root = harness.sandbox.root
    write(root, "Inbox/big.md", "x" * 3_000_000)
    write(root, "Inbox/zeros.md", b"\0" * 4_000)
    (root / "Inbox/folder.md").mkdir()
    (root / "Inbox/link.md").symlink_to(root / "Projects/plan.md")
    os.mkfifo(root / "Inbox/pipe.md")
    absent = about(await harness("memory_get", path=ABSENT), ABSENT)
    for name in ("big", "zeros", "folder", "link", "pipe"):
        path = f"Inbox/{name}.md"
        assert about(await harness("memory_get", path=path), path) == absent
        answer = await harness("vault_write", path=path, content="mine\n")
        assert (answer["reason"], answer["message"]) == ("conflict", "a note cannot be written to this path")


async def test_a_new_note_beside_a_private_one_of_nearly_its_name_does_not_reveal_it(harness: ToolHarness) -> None:
    answer = await harness("vault_write", path="Inbox/secret.md", content="mine\n")
    assert answer["reason"] == "conflict"
    assert "Secret" not in json.dumps(answer)
    taken = await harness("vault_write", path="Inbox/Secret.md", content="mine\n")
    assert about(taken, "Inbox/Secret.md") == about(answer, "Inbox/secret.md")


async def test_task_of_a_private_note_is_reported_as_missing(harness: ToolHarness) -> None:
    made = harness.sandbox.rows("SELECT source_id, sensitive FROM memory_documents WHERE source_type = 'task'")
    private = [identity for identity, sensitive in made if sensitive]
    public = [identity for identity, sensitive in made if not sensitive]
    assert private
    for identity in private:
        absent = f"{identity[:-4]}ffff"
        assert about(await harness("memory_get", path=identity), identity) == about(
            await harness("memory_get", path=absent), absent
        )
    (task,) = public
    assert "Feed the kestrel" in (await harness.fine("memory_get", path=task))["text"]
    write(harness.sandbox.root, "Projects/plan.md", f"---\ndonna: local-only\n---\n{PUBLIC['Projects/plan.md']}")
    absent = f"{task[:-4]}ffff"
    assert about(await harness("memory_get", path=task), task) == about(
        await harness("memory_get", path=absent), absent
    )


async def test_what_a_granted_client_remembers_is_private(harness: ToolHarness) -> None:
    granted = harness.other(sensitive=True)
    await granted.fine("remember", text=f"The {CANARY} code is on the blue door.")
    assert CANARY in json.dumps(await granted.fine("recall", query="blue door"))
    for name in ("recall", "memory_search"):
        assert CANARY not in json.dumps(await harness.fine(name, query=f"{CANARY} blue door"))
    again = await harness.fine("remember", text=f"The {CANARY} code is on the blue door.")
    assert CANARY not in json.dumps(again)


@pytest.mark.slow
async def test_no_word_of_a_private_note_is_in_the_log(harness: ToolHarness) -> None:
    for name, arguments in await calls(harness):
        await harness(name, **arguments)
    log: Path = harness.sandbox.paths.log
    for file in log.glob("*"):
        assert not any(f"{each}{CANARY}" in file.read_text() for each in ("kestrel ", "# ", "] ")), file


async def test_a_public_preference_neither_shows_nor_replaces_a_private_one(harness: ToolHarness) -> None:
    granted = harness.other(sensitive=True)
    await granted.fine("remember", text=f"My favourite colour is {CANARY}.", type="procedural")
    answer = await harness.fine("remember", text="My favourite colour is red.", type="procedural")
    assert CANARY not in json.dumps(answer)
    facts = await harness.engine.memory.db.run(lambda db: procedural(db.database))
    assert {fact.content for fact in facts} == {f"My favourite colour is {CANARY}.", "My favourite colour is red."}


async def test_remembering_a_text_does_not_reveal_that_it_is_remembered_privately(harness: ToolHarness) -> None:
    texts = "The kestrel code is 4711.", "I prefer ospreys to kestrels."
    for text in texts:
        await harness.other(sensitive=True).fine("remember", text=text)
    chat = await harness.fine("chat_add", sessionId="s", turns=[{"role": "user", "text": texts[1]}])
    assert chat["suggestions"] == [texts[1]]
    for text in texts:
        await harness.fine("remember", text=text)
    assert {each["content"] for each in (await harness.fine("memory_list", sources=["memory"]))["memories"]} == {*texts}


async def test_a_conversation_of_a_granted_client_is_private_whatever_its_name(harness: ToolHarness) -> None:
    granted = harness.other(sensitive=True)
    public = {"role": "user", "text": "The kestrels nest on the gateway roof."}
    private = {"role": "user", "text": f"The {CANARY} nests on the gateway roof."}
    await harness.fine("chat_add", sessionId="s", turns=[public], closed=True)
    await granted.fine("chat_add", sessionId="s", turns=[private], closed=True)
    await harness.engine.memory.wait_until_indexed()
    assert CANARY not in json.dumps(await harness.fine("memory_list"))
    assert (await granted.fine("memory_list"))["total"] == 2
