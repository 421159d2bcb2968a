"""Two agents in their workspaces, the screens on one of them, and searches from a shell, all at the same time."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from tests.cli.running import REPOSITORY, Donna
from tests.git_vaults import write
from tests.mcp.serving import payload_of
from tests.terminal import python_in_terminal

OWN = {"peter": "kestrelpeter", "paula": "ospreypaula"}
"""A word that is in every note of one agent, and nowhere else."""

SPANS = [4.0, pytest.param(300.0, marks=pytest.mark.stress)]
TROUBLE = ("locked", "Traceback", "internal")


@dataclass(frozen=True)
class Installation:
    """Two agents of one installation."""

    root: Path
    home: Path

    @property
    def environ(self) -> dict[str, str]:
        return {"DONNA_HOME": str(self.home), "HOME": str(self.root.parent), "PYTHONPATH": str(REPOSITORY)}

    def client(self, agent: str) -> Client:
        """Run the official client of one agent."""
        arguments = ["-m", "tests.cli.without_model", "mcp", "--space", agent, "--write", "--quota", "100000"]
        environ = {**os.environ, **self.environ}
        return Client(
            stdio_client(
                StdioServerParameters(command=sys.executable, args=arguments, env=environ, cwd=str(REPOSITORY))
            )
        )


@pytest.fixture
def installation(tmp_path: Path) -> Installation:
    root, home = tmp_path / "agents", tmp_path / "home"
    for agent, word in OWN.items():
        write(root, f"{agent}/MEMORY.md", f"# Memory\n\nThe meadow of {word}.\n")
        write(root, f"{agent}/memory/2026-01-01.md", f"# Day\n\nA meadow was mown, says {word}.\n")
        subprocess.run(["git", "init", "-q", str(root / agent)], check=True)
    settings = {"agents": {"defaults": {"workspace": f"{root}/{{agentId}}"}, "list": [{"id": each} for each in OWN]}}
    write(home, "config/memory.yaml", json.dumps(settings))
    return Installation(root, home)


def other_than(agent: str) -> str:
    return next(word for name, word in OWN.items() if name != agent)


async def work(installation: Installation, agent: str, until: float) -> list[str]:
    """Search and write as an agent does. Return the paths that were written."""
    written: list[str] = []
    async with installation.client(agent) as client:
        while time.monotonic() < until or not written:
            await ask(client, agent, "meadow")
            path = f"memory/{agent}-{len(written)}.md"
            content = f"# Note {len(written)}\n\nThe meadow, says {OWN[agent]} for the {word_of(len(written))} time.\n"
            answer = payload_of(await client.call_tool("vault_write", {"path": path, "content": content}))
            assert answer["ok"], answer
            written.append(path)
            found = await ask(client, agent, word_of(len(written) - 1))
            assert path in {hit["path"] for hit in found["results"]}, found
    return written


async def ask(client: Client, agent: str, query: str) -> dict[str, Any]:
    answer: dict[str, Any] = payload_of(await client.call_tool("memory_search", {"query": query, "maxResults": 50}))
    assert answer["ok"], answer
    assert (answer["indexed"], answer["stale"]) == (True, False), answer
    assert other_than(agent) not in json.dumps(answer)
    return answer


def word_of(number: int) -> str:
    """Return a distinct word for each number."""
    letters = "".join("bcdfghjklm"[int(digit)] + "a" for digit in f"{number:04}")
    return f"zz{letters}"


def search_from_a_shell(donna: Donna, done: threading.Event) -> Iterator[str]:
    """Search the agents alternately until told to stop. Yield what goes wrong."""
    while not done.is_set():
        for agent in OWN:
            ran = donna("search", "meadow", "--space", agent, "--json")
            if ran.code or ran.json["stale"] or other_than(agent) in ran.out:
                yield f"{agent}: {ran}"


def search_in_the_app(installation: Installation, done: threading.Event) -> str:
    """Type questions on the screens of peter. Return everything that was drawn."""
    with python_in_terminal("-m", "tests.cli.without_model", "peter", **installation.environ) as terminal:
        terminal.wait_for("Search")
        terminal.press(b"meadow", until=OWN["peter"])
        while not done.is_set():
            terminal.rest(0.5)
            terminal.press(b"\x15meadow", until=OWN["peter"])
        terminal.quit()
        return terminal.written.decode("utf-8", "replace")


@pytest.mark.slow
@pytest.mark.parametrize("seconds", SPANS)
async def test_agents_app_and_shell_work_concurrently(installation: Installation, seconds: float) -> None:
    donna, done = (
        Donna(installation.home, installation.root, environ={"HOME": str(installation.root.parent)}),
        threading.Event(),
    )
    screens = asyncio.create_task(asyncio.to_thread(search_in_the_app, installation, done))
    shell = asyncio.create_task(asyncio.to_thread(lambda: list(search_from_a_shell(donna, done))))
    until = time.monotonic() + seconds
    try:
        written = await asyncio.gather(*(work(installation, agent, until) for agent in OWN))
    finally:
        done.set()
    drawn, wrong = await screens, await shell
    assert wrong == []
    assert not [word for word in TROUBLE if word in drawn]
    assert OWN["paula"] not in drawn
    for agent, paths in zip(OWN, written, strict=True):
        assert paths
        found = donna("search", OWN[agent], "-k", "32", "--space", agent, "--json").json["results"]
        assert len({hit["source_path"] for hit in found}) == min(32, len(paths) + 2)
        log = subprocess.run(
            ["git", "-C", str(installation.root / agent), "log", "--format=%s"],
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        assert len(log.splitlines()) == len(paths)
