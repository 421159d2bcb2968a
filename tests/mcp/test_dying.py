"""Clients that crash, servers that are terminated, and malformed lines leave nothing half-written."""

from __future__ import annotations

import json
import signal
import subprocess
import time
from typing import Any

import pytest

from tests.engine.helpers import Sandbox
from tests.git_vaults import tree_of
from tests.mcp.serving import Server, started

ENDS_WITHIN = 60


def hello(process: Server) -> None:
    """Perform the handshake by hand."""
    params = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "By Hand", "version": "1"}}
    send(process, {"id": 0, "method": "initialize", "params": params})
    assert process.stdout
    assert json.loads(process.stdout.readline())["result"]["serverInfo"]["name"] == "donna"
    send(process, {"method": "notifications/initialized"})


def send(process: Server, message: dict[str, Any]) -> None:
    assert process.stdin
    process.stdin.write(json.dumps({"jsonrpc": "2.0", **message}).encode() + b"\n")
    process.stdin.flush()


def writes(process: Server, count: int) -> None:
    for number in range(count):
        arguments = {"path": f"Inbox/w{number}.md", "content": f"note {number}\n" * 2_000}
        send(
            process,
            {"id": number + 1, "method": "tools/call", "params": {"name": "vault_write", "arguments": arguments}},
        )


def check_whole(sandbox: Sandbox) -> None:
    """Check that each note is missing, or has all its lines and is in git, and that nothing is left half-written."""
    for file in (sandbox.root / "Inbox").glob("w*.md"):
        assert file.read_text() == f"note {file.stem[1:]}\n" * 2_000
    assert not [name for name in tree_of(sandbox.root) if "donna" in name.lower()]
    status = subprocess.run(
        ["git", "status", "--porcelain"], cwd=sandbox.root, check=True, capture_output=True, text=True
    )
    assert not [line for line in status.stdout.splitlines() if "Inbox/w" in line]
    subprocess.run(["git", "fsck", "--strict"], cwd=sandbox.root, check=True, capture_output=True)
    assert not list((sandbox.root / ".git").rglob("*.lock"))
    journal = sandbox.paths.space_state(sandbox.root) / "writes"
    left = [file for file in journal.rglob("*") if file.is_file() and file.stat().st_size]
    assert [file.name for file in left] == ["home"]  # the id of this installation, for the names of its refs


@pytest.mark.cases(1)
@pytest.mark.parametrize("delay", [0.0, 0.3])
def test_a_client_that_dies_in_the_middle_leaves_nothing_half_written(sandbox: Sandbox, delay: float) -> None:
    with started(sandbox, "--write") as process:
        hello(process)
        writes(process, 30)
        time.sleep(delay)
        assert process.stdin
        assert process.stdout
        process.stdin.close()
        process.stdout.close()
        process.wait(ENDS_WITHIN)
        check_whole(sandbox)


@pytest.mark.slow
def test_a_server_that_is_ended_finishes_what_it_writes(sandbox: Sandbox) -> None:
    with started(sandbox, "--write") as process:
        hello(process)
        writes(process, 30)
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        process.wait(ENDS_WITHIN)
        assert process.stderr
        assert b"Traceback" not in process.stderr.read()
        check_whole(sandbox)


NO_MESSAGES = (
    b"", b"{", b"[]", b"null", b'"x"', b"\xff\xfe", b"{}" * 50_000, b'{"jsonrpc":"2.0","id":1}', b"[" * 5_000,
    b'{"jsonrpc":"2.0","id":"\\ud800","method":"tools/call","params":{"name":"memory_search"}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"\\u001b[2J","arguments":{"\\u0000":1}}}',
)  # fmt: skip


@pytest.mark.slow
def test_invalid_messages_do_not_stop_the_server(sandbox: Sandbox) -> None:
    with started(sandbox) as process:
        hello(process)
        assert process.stdin
        assert process.stdout
        for number, line in enumerate(NO_MESSAGES, 100):
            process.stdin.write(line + b"\n")
            process.stdin.flush()
            send(process, {"id": number, "method": "tools/call", "params": {"name": "vault_list", "arguments": {}}})
            while (answer := json.loads(process.stdout.readline())).get("id") != number:
                assert answer["jsonrpc"] == "2.0"
            assert answer["result"]["structuredContent"]["ok"]
        process.stdin.close()
        assert process.wait(ENDS_WITHIN) == 0
        assert process.stderr
        errors = process.stderr.read()
        assert b"Traceback" not in errors
        assert b"\x1b" not in errors
