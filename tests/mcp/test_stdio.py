"""`donna mcp` over standard streams, driven by the official client."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

from donna_tui.agents import stdio
from donna_tui.agents.stdio import Unreadable, readable_message
from donna_tui.agents.tools.catalogue import TOOLS
from tests.engine.helpers import Sandbox
from tests.mcp.every_tool import through_every_tool
from tests.mcp.serving import CANARY, PUBLIC, command, over_stdio, payload_of, refused_over, started

READING = [tool.name for tool in TOOLS if not tool.writes]


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_official_client_can_call_every_tool_over_stdio(sandbox: Sandbox, mode: str) -> None:
    async with over_stdio(sandbox, "--write", mode=mode) as client:
        await through_every_tool(client, sandbox)


@pytest.mark.slow
async def test_without_leave_to_write_only_reading_is_listed(sandbox: Sandbox) -> None:
    async with over_stdio(sandbox) as client:
        tools = (await client.list_tools()).tools
        assert [tool.name for tool in tools] == READING
        assert all(tool.annotations and tool.annotations.read_only_hint for tool in tools)
        for name in ("vault_write", "remember", "vault_undo_last", "no_such_tool"):
            with pytest.raises(
                MCPError, match=f"there is no tool {name}; .*tools are memory_search, memory_get, recall,"
            ):
                await client.call_tool(name, {"path": "Inbox/x.md", "content": "x"})
        assert "Search" in (client.instructions or "")
    assert not (sandbox.root / "Inbox/x.md").exists()


@pytest.mark.slow
async def test_private_notes_are_seen_where_they_are_granted(sandbox: Sandbox) -> None:
    async with over_stdio(sandbox, "--allow-sensitive") as client:
        assert CANARY in payload_of(await client.call_tool("memory_get", {"path": "Projects/codes.md"}))["text"]


@pytest.mark.slow
@pytest.mark.parametrize("calls", [60, pytest.param(1_000, marks=pytest.mark.stress)])
async def test_many_concurrent_calls_are_answered(sandbox: Sandbox, calls: int) -> None:
    async with over_stdio(sandbox, "--write", "--quota", "5") as client:
        kinds: list[tuple[str, dict[str, Any]]] = [
            ("memory_search", {"query": "kestrel sessions"}),
            ("memory_get", {"path": "Projects/gateway.md"}),
            ("vault_read", {"path": "Projects/codes.md"}),
            ("vault_write", {"path": "Inbox/many.md", "content": "x\n"}),
        ]
        answers = await asyncio.gather(*(client.call_tool(*kinds[number % 4]) for number in range(calls)))
        told = [payload_of(answer) for answer in answers]
        assert all(answer["ok"] and answer["count"] for answer in told[0::4])
        assert all(answer["ok"] for answer in told[1::4])
        assert {answer["reason"] for answer in told[2::4]} == {"missing"}
        assert [answer["ok"] for answer in told[3::4]].count(True) == 1
        assert {answer["reason"] for answer in told[3::4] if not answer["ok"]} == {"conflict"}


@pytest.mark.slow
async def test_stdout_carries_only_the_protocol(sandbox: Sandbox, tmp_path: Path) -> None:
    heard, errors = tmp_path / "stdout", tmp_path / "stderr"
    noisy = command(sandbox, module="tests.mcp.noisy_server")
    tee = ["-c", f"'{noisy.command}' {' '.join(noisy.args)} | tee '{heard}'"]
    parameters = noisy.model_copy(update={"command": "sh", "args": tee})
    with errors.open("w") as log:
        async with Client(stdio_client(parameters, errlog=log)) as client:
            assert payload_of(await client.call_tool("memory_search", {"query": "kestrel"}))["count"]
            broken = await refused_over(client, "draft_list", {})
            assert (broken["reason"], broken["message"]) == ("internal", "this failed (RuntimeError)")
            assert payload_of(await client.call_tool("vault_list", {}))["total"] == len(PUBLIC)
    lines = heard.read_text().splitlines()
    assert lines
    assert all(json.loads(line)["jsonrpc"] == "2.0" for line in lines)
    assert errors.read_text().count("THIS IS NO PROTOCOL") > 10


HELLO = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "raw", "version": "1"}}
ODD_LINES = (
    (rb'{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"kestrel \ud83d"}}}', 2, None),
    (b'{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"memory_search","arguments":{"query":"kestrel \xff"}}}', 3, None),
    (rb'{"jsonrpc":"2.0","id":"\udc00","method":"tools/list","params":{}}', "\ufffd", None),
    (b"no JSON at all", None, -32700),
    (b'{"jsonrpc":"2.0","id":4,"method":"tools/list"', None, -32700),
    (b"[" * 100_000, None, -32700),
    (b'[{"jsonrpc":"2.0","id":5,"method":"tools/list"}]', None, -32600),
    (b'{"jsonrpc":"2.0","id":6,"method":"tools/call","params":[]}', 6, -32600),
    (b'{"jsonrpc":"1.0","id":"seven","method":"tools/list"}', "seven", -32600),
    (b'{"id":8,"method":"tools/list"}', 8, -32600),
    (b'{"jsonrpc":"2.0","id":true,"method":"tools/list"}', None, -32600),
    (b"17", None, -32600),
)  # fmt: skip


@pytest.mark.slow
def test_every_input_line_gets_a_response(sandbox: Sandbox) -> None:
    with started(sandbox) as process:
        assert process.stdin
        assert process.stdout

        def heard(line: bytes) -> dict[str, Any]:
            assert process.stdin
            assert process.stdout
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            return dict(json.loads(process.stdout.readline()))

        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": HELLO}
        assert "result" in heard(json.dumps(hello).encode())
        process.stdin.write(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n\n \n')
        for line, identity, code in ODD_LINES:
            answer = heard(line)
            assert answer["id"] == identity, line[:80]
            assert answer.get("error", {}).get("code") == code, (line[:80], answer)
            assert code or "result" in answer
        process.stdin.close()
        assert process.wait(60) == 0


async def test_a_message_that_is_too_long_costs_only_itself(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(stdio, "LONGEST_MESSAGE", 200_000)
    listing = b'{"jsonrpc":"2.0","id":1,"method":"tools/list"}'
    incoming, to_us = os.pipe()
    from_us, outgoing = os.pipe()
    lines = stdio._Lines(incoming, stdio._Replies(outgoing))
    sent = asyncio.create_task(asyncio.to_thread(_send, to_us, b"x" * 500_000 + b"\n" + listing + b"\n" + listing))
    assert [json.loads(line)["id"] async for line in lines] == [1, 1]
    await sent
    answer = json.loads(os.read(from_us, 10_000))
    assert (answer["id"], answer["error"]["code"]) == (None, -32600)
    for each in (incoming, from_us, outgoing):
        os.close(each)


def _send(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]
    os.close(descriptor)


def test_surrogate_pairs_are_decoded_and_lone_surrogates_replaced() -> None:
    line = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "x", "params": {"a": "\U0001f427", "b": "\ud83d!"}})
    fixed = readable_message(line)
    assert not isinstance(fixed, Unreadable)
    assert json.loads(fixed)["params"] == {"a": "\U0001f427", "b": "\ufffd!"}
