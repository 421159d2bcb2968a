"""A write of an agent is one operation under its name, within its quota, and the agent can undo only its own."""

from __future__ import annotations

import asyncio
import json
import shutil
from dataclasses import replace
from typing import Any

import pytest

from donna_tui.agents.tools.catalogue import TOOLS, call
from donna_tui.agents.tools.context import actor_of
from donna_tui.memory.facts import procedural
from donna_tui.types.errors import Reason
from donna_tui.types.memory import MemoryType, SessionChange
from donna_tui.vault.write.changes import any_version
from tests.engine.helpers import Sandbox
from tests.git_vaults import tree_of, write
from tests.mcp.serving import ToolHarness

NOTE = "Projects/plan.md"


async def etag(harness: ToolHarness, path: str = NOTE) -> str:
    found: str = (await harness.fine("vault_read", path=path))["etag"]
    return found


async def test_a_write_is_an_operation_in_the_name_of_the_client(harness: ToolHarness) -> None:
    answer = await harness.fine("vault_write", path="Inbox/new.md", content="# New\n")
    (newest,) = harness.writer.undoable()
    assert (newest.id, newest.actor, newest.session) == (
        answer["operation"],
        "mcp:Test Agent",
        harness.space.session.id,
    )
    assert (answer["session"], answer["writesLeft"], answer["changed"]) == (newest.session, 49, True)
    changed = await harness.fine("vault_write", path="Inbox/new.md", content="# Newer\n", etag=answer["etag"])
    assert await etag(harness, "Inbox/new.md") == changed["etag"] != answer["etag"]


async def test_frontmatter_is_kept_unless_the_content_is_the_whole_note(harness: ToolHarness) -> None:
    kept = await harness.fine("vault_write", path=NOTE, content="new\n", etag=await etag(harness))
    assert (harness.sandbox.root / NOTE).read_text() == "---\ntags: [work]\n---\nnew\n"
    await harness.fine("vault_write", path=NOTE, content="new\n", etag=kept["etag"], replace=True)
    assert (harness.sandbox.root / NOTE).read_text() == "new\n"


async def test_frontmatter_that_cannot_be_read_is_no_private_note(harness: ToolHarness) -> None:
    answer = await harness("vault_write", path="Inbox/new.md", content="---\na: [b\n---\nnew\n")
    assert (answer["ok"], answer["reason"]) == (False, "invalid_frontmatter")
    assert not (harness.sandbox.root / "Inbox/new.md").exists()


async def test_vault_write_requires_the_current_etag(harness: ToolHarness) -> None:
    expected = await etag(harness)
    write(harness.sandbox.root, NOTE, "edited elsewhere\n")
    for given in (None, expected, "0" * 64, ""):
        answer = await harness("vault_write", path=NOTE, content="mine\n", etag=given)
        assert (answer["ok"], answer["reason"]) == (False, "conflict")
    assert (harness.sandbox.root / NOTE).read_text() == "edited elsewhere\n"
    answer = await harness("vault_write", path="Inbox/none.md", content="mine\n", etag=expected)
    assert (answer["reason"], answer["hint"].partition(";")[0]) == ("missing", "omit the etag to write a new note")
    await harness.fine("vault_write", path="Inbox/none.md", content="mine\n", etag="")


async def test_a_note_whose_bytes_are_not_all_shown_is_not_overwritten(harness: ToolHarness) -> None:
    file = harness.sandbox.root / "Inbox/latin.md"
    file.write_bytes("# Café\n\nold\n".encode("latin-1"))
    note = await harness.fine("vault_read", path="Inbox/latin.md")
    assert "\ufffd" in note["text"]
    assert "cannot change" in note["note"]
    changed = note["text"].replace("old", "new")
    for name, arguments in (
        ("vault_write", {"content": changed}),
        ("vault_write", {"content": changed, "replace": True}),
        ("vault_section", {"headingPath": ["Caf\ufffd"], "content": "more"}),
    ):
        refused = await harness(name, path="Inbox/latin.md", etag=note["etag"], **arguments)
        assert refused["reason"] == "encoding"
    assert file.read_bytes() == "# Café\n\nold\n".encode("latin-1")


async def test_the_same_text_is_no_operation_and_costs_nothing(harness: ToolHarness) -> None:
    text = (harness.sandbox.root / NOTE).read_text()
    answer = await harness.fine("vault_write", path=NOTE, content=text, etag=await etag(harness))
    assert (answer["changed"], answer["operation"], answer["writesLeft"]) == (False, "", 50)
    assert harness.writer.undoable() == ()


@pytest.mark.parametrize("mark", ["donna: local-only", "donna_sensitive: true", "Donna: whatever"])
async def test_an_agent_makes_no_note_private(harness: ToolHarness, mark: str) -> None:
    content = f"---\n{mark}\n---\nhidden\n"
    for path, version in (("Inbox/new.md", None), (NOTE, await etag(harness))):
        answer = await harness("vault_write", path=path, content=content, etag=version)
        assert (answer["reason"], answer["hint"]) == ("sensitive", "omit the mark from its frontmatter")


async def test_the_quota_applies_however_many_calls_are_made_at_once(harness: ToolHarness) -> None:
    small = harness.other("Eager", quota=3)
    answers = await asyncio.gather(
        *(small("vault_write", path=f"Inbox/{number}.md", content="x\n") for number in range(8)),
        *(small("remember", text=f"I like the number {number} most.") for number in range(4)),
    )
    assert sum(answer["ok"] for answer in answers) == 3
    assert {answer["reason"] for answer in answers if not answer["ok"]} == {Reason.QUOTA}
    assert (await harness.fine("vault_write", path="Inbox/other.md", content="x\n"))["ok"]
    assert (await small.fine("vault_undo_last", everything=True))["undone"]
    assert (await small("vault_write", path="Inbox/late.md", content="x\n"))["reason"] == "quota"


@pytest.mark.slow
async def test_a_call_that_is_cancelled_writes_all_or_nothing_and_counts(harness: ToolHarness) -> None:
    for number in range(6):
        task = asyncio.ensure_future(harness("vault_write", path=f"Inbox/{number}.md", content="x\n"))
        await asyncio.sleep(0.004 * number)
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)
    await harness.fine("vault_write", path="Inbox/last.md", content="x\n")
    written = {each.paths for each in harness.writer.undoable()}
    on_disk = {(f"Inbox/{file.name}",) for file in (harness.sandbox.root / "Inbox").glob("[0-9l]*.md")}
    assert written == on_disk
    quota = harness.space.session.quota
    assert quota.most - quota.left >= len(written)


async def test_undo_takes_back_only_what_this_session_did(harness: ToolHarness) -> None:
    other = harness.other()
    await other.fine("vault_write", path="Inbox/theirs.md", content="x\n")
    await harness.fine("vault_write", path="Inbox/mine.md", content="x\n")
    writer = harness.writer
    writer.apply(writer.planner.write("Projects/owner.md", "x\n", expected=any_version))
    await other.fine("vault_write", path="Inbox/theirs-too.md", content="x\n")
    answer = await harness.fine("vault_undo_last")
    assert (len(answer["undone"]), answer["paths"], answer["forgotten"]) == (1, ["Inbox/mine.md"], 0)
    assert (await harness("vault_undo_last"))["reason"] == "nothing_to_undo"
    left = [each.paths for each in harness.writer.undoable()]
    assert left == [("Inbox/theirs-too.md",), ("Projects/owner.md",), ("Inbox/theirs.md",)]
    assert not (harness.sandbox.root / "Inbox/mine.md").exists()
    assert [each.paths for each in harness.writer.redoable()] == [("Inbox/mine.md",)]


@pytest.mark.slow
async def test_a_whole_session_is_undone_to_the_byte(harness: ToolHarness) -> None:
    write(harness.sandbox.root, NOTE, "not in git yet\n")
    before = tree_of(harness.sandbox.root)
    for number in range(4):
        await harness.fine("vault_write", path=f"Inbox/{number}.md", content=f"{number}\n")
        await harness.fine("vault_write", path=NOTE, content=f"{number}\n", etag=await etag(harness))
    await harness.fine("remember", text="We always deploy on Mondays.")
    await harness.fine("vault_undo_last", n=2)
    answer = await harness.fine("vault_undo_last", everything=True)
    assert (len(answer["undone"]), answer["forgotten"]) == (6, 1)
    assert tree_of(harness.sandbox.root) == before
    assert "Mondays" not in json.dumps(await harness.fine("recall", query="when do we deploy"))
    writer = harness.writer
    while writer.redoable():
        writer.redo()
    assert (harness.sandbox.root / NOTE).read_text() == "3\n"


async def test_what_an_agent_replaced_is_remembered_again(harness: ToolHarness) -> None:
    sandbox = harness.engine.memory
    await sandbox.remember("My favourite colour is blue.", memory_type_hint=MemoryType.PROCEDURAL)
    red = {"text": "My favourite colour is red.", "type": "procedural"}
    refused = await harness("remember", **red)
    assert (refused["reason"], "favourite colour is blue" in refused["message"]) == ("conflict", True)
    await harness.fine("remember", **red, replace=True)
    assert await preferences(harness) == {"My favourite colour is red."}
    assert (await harness.fine("vault_undo_last", everything=True))["forgotten"] == 1
    assert await preferences(harness) == {"My favourite colour is blue."}


async def test_what_an_agent_forgot_and_stored_is_undone_with_its_session(harness: ToolHarness) -> None:
    memory = harness.engine.memory
    (blue,) = await memory.remember("My favourite colour is blue.", memory_type_hint=MemoryType.PROCEDURAL)
    (hers,) = await memory.remember("The kestrel pager is carried by Ruth.")
    await harness.fine("memory_forget", id=blue.id)
    await memory.forget(hers.id)  # by the person
    await harness.fine("remember", text="My favourite colour is red.", type="procedural")
    said = [{"role": "user", "text": "The ospreys nest on the gateway roof this year.", "timestamp": "2026-03-12"}]
    await harness.fine("chat_add", sessionId="s", turns=said, closed=True)
    await memory.wait_until_indexed()
    assert (await harness.fine("memory_list", sources=["chat"]))["total"] == 1
    answer = await harness.fine("vault_undo_last", everything=True)
    assert (answer["forgotten"], answer["restored"], answer["messages"]) == (1, 1, 1)
    assert {each["content"] for each in (await harness.fine("memory_list"))["memories"]} == {blue.content}
    assert await preferences(harness) == {blue.content}
    assert (await harness("vault_undo_last", everything=True))["reason"] == "nothing_to_undo"


async def test_a_message_after_a_new_one_is_new_although_its_words_were_said_before(harness: ToolHarness) -> None:
    def said(*texts: str) -> list[dict[str, Any]]:
        return [{"role": ("assistant", "user")[text.endswith("?")], "text": text} for text in texts]

    async def added(*texts: str) -> tuple[int, int]:
        answer = await harness.fine("chat_add", sessionId="s", turns=said(*texts), closed=True)
        return answer["added"], answer["known"]

    first = ("Are all fourteen tests green now?", "Yes, all fourteen tests are green now.")
    assert await added(*first) == (2, 0)
    assert await added(*first) == (0, 2)
    later = ("I changed the module, and two tests are red.", *first)
    assert await added(*later) == (3, 0)
    assert await added(*first, *later) == (0, 5)
    await harness.engine.memory.wait_until_indexed()
    memories = (await harness.fine("memory_list", sources=["chat"]))["memories"]
    assert sum(first[1] in each["content"] for each in memories) == 2


async def test_an_unknown_memory_is_missing_and_no_note(harness: ToolHarness) -> None:
    assert (await harness("memory_get", path="memory:4f1c0a"))["reason"] == "missing"
    assert (await harness("memory_get", path="Inbox/memory.txt"))["reason"] == "not_markdown"


async def test_only_what_changes_the_memory_costs_a_write(harness: ToolHarness) -> None:
    async def left(tool: str, **arguments: Any) -> int:
        await harness.fine(tool, **arguments)
        return harness.space.session.quota.left

    first, said = harness.space.session.quota.left, "The kestrel pager is carried by Ruth."
    assert await left("remember", text=said) == first - 1
    assert await left("remember", text=said) == first - 1
    (held,) = (await harness.fine("memory_list"))["memories"]
    assert await left("memory_forget", id=held["id"]) == first - 2


async def test_every_change_of_the_memory_returns_the_session_that_undoes_it(harness: ToolHarness) -> None:
    chat = {"sessionId": "s", "turns": [{"role": "user", "text": "The ospreys nest on the gateway roof."}]}
    await harness.fine("remember", text="The gateway is behind the barn.")
    (barn,) = (await harness.fine("memory_list", text="barn"))["memories"]
    calls: dict[str, dict[str, Any]] = {
        "remember": {"text": "Ruth has the pager."},
        "chat_add": chat,
        "memory_forget": {"id": barn["id"]},
    }
    answers = [await harness.fine(name, **arguments) for name, arguments in calls.items()]
    assert {each["session"] for each in answers} == {harness.space.session.id}


async def test_an_undone_session_is_redone(harness: ToolHarness) -> None:
    memory, session = harness.engine.memory, harness.space.session.id
    (blue,) = await memory.remember("My favourite colour is blue.", memory_type_hint=MemoryType.PROCEDURAL)
    (pager,) = await memory.remember("The kestrel pager is carried by Ruth.")
    said = [{"role": "user", "text": "The ospreys nest on the gateway roof this year.", "timestamp": "2026-03-12"}]
    await harness.fine("chat_add", sessionId="s", turns=said, closed=True)
    for text in ("My favourite colour is red.", "I prefer short answers."):
        await harness.fine("remember", text=text, type="procedural", replace=True)
    await harness.fine("remember", text="The gateway is behind the barn.")
    (barn,) = (await harness.fine("memory_list", text="barn"))["memories"]
    for forgotten in (pager.id, barn["id"]):
        await harness.fine("memory_forget", id=forgotten)
    await memory.wait_until_indexed()
    after = await contents(harness)
    assert after == {"My favourite colour is red.", "I prefer short answers.", said[0]["text"]}
    for _ in range(2):
        undone = await memory.undo_session(session)
        await memory.wait_until_indexed()
        assert (undone, await contents(harness)) == (SessionChange(2, 1, 1), {blue.content, pager.content})
        redone = await memory.redo_session(session)
        await memory.wait_until_indexed()
        assert (redone, await contents(harness)) == (SessionChange(1, 2, 1), after)
        assert await preferences(harness) == {"My favourite colour is red.", "I prefer short answers."}
    assert await memory.redo_session(session) == SessionChange()
    assert not await memory.undo_redone(["a write"]), "these redos were of no write"
    await memory.undo_session(session)
    for _ in range(2):
        await memory.redo_session(session, ["a write", "another"])
        assert not await memory.undo_redone(["a third"])
        assert await memory.undo_redone(["another"])
        assert not await memory.undo_redone(["another"])
    await memory.wait_until_indexed()
    assert await contents(harness) == {blue.content, pager.content}


async def test_redoing_a_session_leaves_what_a_person_changed_since(harness: ToolHarness) -> None:
    memory, session = harness.engine.memory, harness.space.session.id
    (pager,) = await memory.remember("The kestrel pager is carried by Ruth.")
    await harness.fine("remember", text="My favourite colour is red.", type="procedural")
    await harness.fine("memory_forget", id=pager.id)
    await memory.undo_session(session)
    await memory.remember("My favourite colour is green.", memory_type_hint=MemoryType.PROCEDURAL)
    await memory.forget(pager.id)
    await memory.restore(pager.id)
    assert await memory.redo_session(session) == SessionChange()
    await memory.wait_until_indexed()
    assert await contents(harness) == {"My favourite colour is green.", pager.content}


async def contents(harness: ToolHarness) -> set[str]:
    return {each["content"] for each in (await harness.fine("memory_list"))["memories"]}


async def test_what_a_person_forgot_after_an_agent_stays_forgotten(harness: ToolHarness) -> None:
    (fact,) = await harness.engine.memory.remember("The kestrel pager is carried by Ruth.")
    await harness.fine("memory_forget", id=fact.id)
    await harness.engine.memory.forget(fact.id)
    assert (await harness("vault_undo_last", everything=True))["reason"] == "nothing_to_undo"


async def test_session_undo_keeps_corrections_made_by_the_user(harness: ToolHarness) -> None:
    sandbox = harness.engine.memory
    await harness.fine("remember", text="My favourite colour is red.", type="procedural")
    (fact,) = await sandbox.db.run(lambda db: procedural(db.database))
    await sandbox.correct(f"memory:{fact.id}", "My favourite colour is green.")
    await harness.fine("vault_undo_last", everything=True)
    assert await preferences(harness) == {"My favourite colour is green."}


async def preferences(harness: ToolHarness) -> set[str]:
    facts = await harness.engine.memory.db.run(lambda db: procedural(db.database))
    return {fact.content for fact in facts}


async def test_an_edit_that_came_after_is_not_lost_by_undoing(harness: ToolHarness) -> None:
    await harness.fine("vault_write", path="Inbox/mine.md", content="x\n")
    write(harness.sandbox.root, "Inbox/mine.md", "the owner's\n")
    answer = await harness("vault_undo_last")
    assert (answer["reason"], (harness.sandbox.root / "Inbox/mine.md").read_text()) == (
        "undo_conflict",
        "the owner's\n",
    )
    assert answer["hint"].startswith("tell the owner")


async def test_an_owners_operation_on_the_same_note_prevents_the_undo(harness: ToolHarness) -> None:
    await harness.fine("vault_write", path="Inbox/mine.md", content="1\n")
    writer = harness.writer
    writer.apply(writer.planner.write("Inbox/mine.md", "2\n", expected=any_version))
    await harness.fine("vault_write", path="Inbox/mine.md", content="3\n", etag=await etag(harness, "Inbox/mine.md"))
    assert (await harness("vault_undo_last", everything=True))["reason"] == "undo_conflict"
    assert (await harness.fine("vault_undo_last"))["paths"] == ["Inbox/mine.md"]
    assert (harness.sandbox.root / "Inbox/mine.md").read_text() == "2\n"


async def test_what_is_remembered_is_found_and_read_like_a_note(harness: ToolHarness) -> None:
    answer = await harness.fine("remember", text="The kestrel pager is carried by Ruth.", type="semantic")
    assert (answer["remembered"], answer["session"], answer["writesLeft"]) == (1, harness.space.session.id, 49)
    (hit,) = (await harness.fine("memory_search", query="who carries the pager", sources=["memory"]))["results"]
    assert (await harness.fine("memory_get", path=hit["path"]))["text"] == "The kestrel pager is carried by Ruth."
    again = await harness.other().fine("remember", text="The kestrel pager is carried by Ruth.", type="semantic")
    assert (again["remembered"], again["ids"]) == (1, answer["ids"])
    assert answer["ids"] == [each["id"] for each in (await harness.fine("memory_list", text="pager"))["memories"]]
    await harness.other().fine("remember", text="Another session remembers this.")
    assert (await harness.fine("vault_undo_last", everything=True)) == {
        "ok": True, "undone": [], "paths": [], "forgotten": 1, "restored": 0, "messages": 0,
    }  # fmt: skip
    assert (await harness.fine("memory_search", query="who carries the pager", sources=["memory"]))["count"] == 0
    assert (await harness.fine("memory_search", query="another session", sources=["memory"]))["count"] == 1


async def test_writing_tools_are_unknown_in_read_only_mode(harness: ToolHarness, sandbox: Sandbox) -> None:
    reading = replace(harness.space, writer=None)
    for name in ("no_such_tool", *(tool.name for tool in TOOLS if tool.writes)):
        refused = await call(reading, name, {"path": NOTE, "content": "x"})
        assert (refused["reason"], refused["message"]) == ("usage", f"there is no tool {name}")
        assert refused["hint"].endswith("task_list, agenda; donna mcp --write adds those that write")


@pytest.mark.parametrize(
    ("name", "actor"),
    [
        ("Claude Code", "mcp:Claude Code"),
        ("", "mcp:unknown client"),
        ("  \n ", "mcp:⏎"),
        ("a\nDonna-Op: 0", "mcp:a⏎Donna-Op: 0"),
        ("\x1b[31mred\u202e", "mcp:␛[31mred⇠"),
        ("x" * 500, "mcp:" + "x" * 60),
        ("bad\ud800", "mcp:bad?"),
    ],
)
def test_a_client_is_named_in_one_plain_line(name: str, actor: str) -> None:
    assert actor_of(name) == actor


@pytest.mark.cases(5)
@pytest.mark.parametrize(
    ("name", "arguments", "told"),
    [
        ("memory_search", {}, "query is missing"),
        ("memory_search", {"query": ""}, "query must have at least 1 character"),
        ("memory_search", {"query": "x", "maxResults": 10_000}, "maxResults must be less than or equal to 50"),
        ("memory_search", {"query": "x", "minScore": float("nan")}, "minScore"),
        ("memory_search", {"query": "x", "mode": "magic"}, "mode must be 'hybrid'"),
        ("memory_search", {"query": "x", "secret-zanzibarosprey": 1}, "there is no argument secret-zanzibarosprey"),
        ("memory_search", {"query": "x", "maxResult": 1}, "there is no argument maxResult; did you mean maxResults?"),
        ("memory_get", {"path": "a.md", "from": 0}, "from must be greater than or equal to 1"),
        ("vault_write", {"path": "Inbox/a.md"}, "content is missing"),
        ("recall", {"query": ["x"]}, "query must be a valid string"),
    ],
)
async def test_an_invalid_request_is_reported_without_its_values(
    harness: ToolHarness, name: str, arguments: dict[str, Any], told: str
) -> None:
    answer = await harness(name, **arguments)
    assert answer["reason"] == "usage"
    assert told in answer["message"]
    assert "magic" not in answer["message"]


RUN_BY_PLUGINS = (
    "<% tp.user.steal() %>", "<%* await fetch('x') %>", "text <%\ntp.file.title\n%> text", "```\n<% in code %>\n```", "<% no end",
    "```dataviewjs\ndv.pages()\n```", "> ~~~ DataviewJS\n> x\n> ~~~", "- ```dataviewjs\n  x\n  ```", "````js-engine\nx\n````",
    "`$= dv.current().file`", "`` $=x ``", "```{dataviewjs}\nx\n```", "```datacorejsx\nx\n```",
)  # fmt: skip
INERT = (
    "```dataview\nLIST\n```",
    "```js\nx\n```",
    "`= this.file.name`",
    "dataviewjs",
    "`$HOME=x`",
    "```dataviewjson\n```",
)


@pytest.mark.cases(5)
@pytest.mark.parametrize("code", RUN_BY_PLUGINS)
async def test_vault_write_rejects_code_that_plugins_execute(harness: ToolHarness, code: str) -> None:
    answer = await harness("vault_write", path="Inbox/new.md", content=f"# New\n\n{code}\n")
    assert (answer["ok"], answer["reason"]) == (False, "executable")
    answer = await harness("vault_write", path=NOTE, content=f"new\n\n{code}\n", etag=await etag(harness))
    assert (answer["ok"], answer["reason"]) == (False, "executable")
    assert not (harness.sandbox.root / "Inbox/new.md").exists()
    assert harness.writer.undoable() == ()
    assert harness.space.session.quota.left == harness.space.session.quota.most


@pytest.mark.slow
async def test_vault_write_accepts_text_that_plugins_do_not_execute(harness: ToolHarness) -> None:
    for number, text in enumerate(INERT):
        await harness.fine("vault_write", path=f"Inbox/{number}.md", content=f"{text}\n")


async def test_vault_write_keeps_existing_plugin_code_but_rejects_changed_code(harness: ToolHarness) -> None:
    mine = "# Mine\n\n<% tp.date.now() %>\n\n```dataviewjs\ndv.pages()\n```\n"
    write(harness.sandbox.root, "Inbox/mine.md", mine)
    written = await harness.fine(
        "vault_write", path="Inbox/mine.md", content=f"{mine}\nmore\n", etag=await etag(harness, "Inbox/mine.md")
    )
    for spoiled in (mine.replace("dv.pages()", "fetch()"), mine.replace("now()", "steal()"), mine + mine):
        answer = await harness("vault_write", path="Inbox/mine.md", content=spoiled, etag=written["etag"])
        assert answer["reason"] == "executable"
    await harness.fine("vault_write", path="Inbox/mine.md", content="nothing left\n", etag=written["etag"])
    await harness.fine("vault_undo_last", everything=True)
    assert (harness.sandbox.root / "Inbox/mine.md").read_text() == mine


async def test_client_with_executable_access_may_write_plugin_code(harness: ToolHarness) -> None:
    granted = replace(harness, space=replace(harness.space, access=replace(harness.space.access, executable=True)))
    await granted.fine("vault_write", path="Inbox/new.md", content="<% tp.date.now() %>\n")


async def test_vault_write_without_a_repository_tells_the_agent_to_ask_the_owner(
    harness: ToolHarness, sandbox: Sandbox
) -> None:
    shutil.rmtree(sandbox.root / ".git")
    answer = await harness("vault_write", path="Inbox/new.md", content="# New\n")
    assert answer["reason"] == Reason.NO_REPOSITORY.value
    assert "ask the owner to run git init in the workspace" in answer["hint"]
    assert not (sandbox.root / "Inbox/new.md").exists()
    await harness.fine("remember", text="The kestrel pager is carried by Ruth.")
    answer = await harness("vault_undo_last")
    assert (answer["reason"], answer["hint"]) == (
        "nothing_to_undo",
        "everything: true also undoes its changes to the memory",
    )
    assert (await harness.fine("vault_undo_last", everything=True))["forgotten"] == 1


@pytest.mark.parametrize(
    ("turns", "told"),
    [
        ([], "turns must have at least 1 item, not 0"),
        ("hello", "turns must be a list"),
        (["hello"], "turns.0 must be an object"),
    ],
)
async def test_an_invalid_request_is_reported_in_the_words_of_json(harness: ToolHarness, turns: Any, told: str) -> None:
    assert (await harness("chat_add", sessionId="s", turns=turns))["message"] == told


async def test_the_agenda_ends_with_the_calendar(harness: ToolHarness) -> None:
    for day in ("9999-12-31", "0001-01-01"):
        assert (await harness.fine("agenda", day=day))["day"] == day


async def test_equal_messages_of_one_call_are_all_stored(harness: ToolHarness) -> None:
    said = [{"role": role, "text": text} for role, text in (("user", "yes"), ("assistant", "Sure?"), ("user", "yes"))]
    assert (await harness.fine("chat_add", sessionId="s", turns=said))["added"] == 3
    again = await harness.fine("chat_add", sessionId="s", turns=said)
    assert (again["added"], again["known"]) == (0, 3)


async def test_an_invalid_request_returns_each_error_once_and_the_names_of_the_arguments(harness: ToolHarness) -> None:
    answer = await harness("chat_add", sessionId="s", turns=[{"role": "tool", "text": "a"}])
    assert (answer["message"], answer["hint"]) == (
        "turns.0.role must be 'user', 'assistant' or 'system'",
        "the arguments are turns, sessionId, title, closed",
    )
