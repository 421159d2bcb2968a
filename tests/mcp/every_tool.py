"""One walk through every tool, over any transport."""

from __future__ import annotations

from mcp.client.client import Client

from donna_tui.agents.tools.catalogue import TOOLS
from tests.engine.helpers import Sandbox
from tests.mcp.serving import CANARY, PUBLIC, payload_of, refused_over


async def through_every_tool(client: Client, sandbox: Sandbox) -> None:
    """Call each tool and check its effect; the client itself validates each answer against the schema."""
    tools = {tool.name: tool for tool in (await client.list_tools()).tools}
    assert list(tools) == [tool.name for tool in TOOLS]
    for tool in TOOLS:
        hints = tools[tool.name].annotations
        assert hints is not None
        assert (hints.read_only_hint, hints.destructive_hint) == (not tool.writes, tool.destroys)
        assert (hints.idempotent_hint, hints.open_world_hint) == (tool.repeats, False)
    found = payload_of(await client.call_tool("memory_search", {"query": "kestrel sessions redis", "maxResults": 3}))
    best = found["results"][0]
    assert (best["path"], best["startLine"], found["stale"]) == ("Projects/gateway.md", 3, False)
    lines = {"path": best["path"], "from": best["startLine"], "lines": 2}
    got = payload_of(await client.call_tool("memory_get", lines))
    assert (got["text"], got["startLine"], got["endLine"]) == ("## Cache\nWe keep the kestrel sessions in Redis.", 3, 4)
    recalled = payload_of(await client.call_tool("recall", {"query": "kestrel"}))
    assert (recalled["prompt"], recalled["count"]) == ("", len(recalled["memories"]))
    block = payload_of(await client.call_tool("recall", {"query": "kestrel", "asBlock": True}))
    assert block["prompt"].startswith("<memory>")
    assert block["memories"] == []
    assert payload_of(await client.call_tool("memory_list", {}))["total"] == 0
    (task,) = payload_of(await client.call_tool("task_list", {}))["tasks"]
    assert (task["title"], task["parent"], task["path"]) == ("Feed the kestrel", "", "Projects/plan.md")
    assert payload_of(await client.call_tool("agenda", {}))["meetings"] == []
    assert payload_of(await client.call_tool("vault_list", {"folder": "Projects"}))["count"] == 2
    linked = payload_of(await client.call_tool("vault_links", {"path": "Projects/gateway.md"}))
    assert linked["links"] == ["Meetings/standup.md"]
    assert payload_of(await client.call_tool("draft_list", {}))["drafts"] == []
    await _write(client, sandbox)
    for name in ("memory_get", "vault_read", "vault_links"):
        assert (await refused_over(client, name, {"path": "Projects/codes.md"}))["reason"] == "missing"
    assert CANARY not in str(await client.call_tool("memory_search", {"query": CANARY, "nearMisses": True}))
    assert (await refused_over(client, "memory_search", {"query": "x", "magic": 1}))["reason"] == "usage"


async def _write(client: Client, sandbox: Sandbox) -> None:
    path = "Projects/plan.md"
    note = payload_of(await client.call_tool("vault_read", {"path": path}))
    assert note["text"] == PUBLIC[path]
    changed = {"path": path, "content": "Changed.\n", "etag": note["etag"]}
    first = payload_of(await client.call_tool("vault_write", changed))
    assert (await refused_over(client, "vault_write", changed))["reason"] == "conflict"
    assert payload_of(await client.call_tool("remember", {"text": "I prefer kestrels to ospreys."}))["remembered"] == 1
    assert "kestrels to ospreys" in str(payload_of(await client.call_tool("recall", {"query": "birds"}))["memories"])
    (memory,) = payload_of(await client.call_tool("memory_list", {"types": ["procedural"]}))["memories"]
    assert payload_of(await client.call_tool("memory_forget", {"id": memory["id"]}))["changed"]
    assert payload_of(await client.call_tool("memory_list", {}))["total"] == 0
    payload_of(await client.call_tool("remember", {"text": "My favourite bird is the heron.", "type": "procedural"}))
    other = {"text": "My favourite bird is the owl.", "type": "procedural"}
    assert "bird is the heron" in (await refused_over(client, "remember", other))["message"]
    assert payload_of(await client.call_tool("remember", {**other, "replace": True}))["remembered"] == 1
    wrong = payload_of(await client.call_tool("memory_search", {"query": "tag:kestrol bird"}))
    assert any("tag:kestrol" in each for each in wrong["filterProblems"])
    nowhere = payload_of(await client.call_tool("memory_search", {"query": "kestrel", "folder": "Project"}))
    assert any("did you mean path:Projects" in each for each in nowhere["filterProblems"]), nowhere
    assert "sources" in (await refused_over(client, "memory_search", {"query": "x", "sources": ["notes"]}))["message"]
    section = {"path": "Projects/gateway.md", "headingPath": ["Gateway", "Cache"], "content": "One more line."}
    etag = payload_of(await client.call_tool("vault_read", {"path": section["path"]}))["etag"]
    assert payload_of(await client.call_tool("vault_section", {**section, "etag": etag}))["changed"]
    assert payload_of(await client.call_tool("vault_undo_last", {}))["paths"] == [section["path"]]
    turns = [{"role": "user", "text": "I prefer dark roast in the morning.", "timestamp": "2026-03-02T08:00:00Z"}]
    chat = {"sessionId": "one", "turns": turns, "closed": True}
    added = payload_of(await client.call_tool("chat_add", chat))
    assert (added["added"], added["suggestions"]) == (1, ["I prefer dark roast in the morning."])
    assert payload_of(await client.call_tool("chat_add", chat))["known"] == 1
    other_chat = {"sessionId": "two", "turns": [{"role": "user", "text": "The gazebo will be teal."}]}
    assert payload_of(await client.call_tool("chat_add", other_chat))["suggestions"] == []
    assert payload_of(await client.call_tool("vault_undo_last", {}))["undone"] == [first["operation"]]
    undone = payload_of(await client.call_tool("vault_undo_last", {"everything": True}))
    assert (undone["forgotten"], undone["restored"], undone["messages"]) == (2, 0, 2), undone
    assert (sandbox.root / path).read_text() == PUBLIC[path]
