"""The tools for agents on a temporary vault: called as functions, over stdio, and over HTTP."""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

from donna_tui.agents.tools.catalogue import call
from donna_tui.agents.tools.context import Access, ClientSession, Quota, ToolContext, actor_of
from donna_tui.config.models import MemoryConfig
from donna_tui.engine.engine import Engine
from donna_tui.engine.vault_service import announce
from donna_tui.vault.open import indexed_client, open_writer
from donna_tui.vault.write.writer import VaultWriter
from tests.engine.helpers import Sandbox, open_engine, quick_config
from tests.forks import Run, start_with_pipes

Server = subprocess.Popen[bytes] | Run

REPOSITORY = Path(__file__).parents[2]
CANARY = "zanzibarosprey"

PUBLIC = {
    "Projects/gateway.md": "# Gateway\n\n## Cache\nWe keep the kestrel sessions in Redis.\n\nSee [[standup]] and [[codes]].\n",
    "Projects/plan.md": "---\ntags: [work]\n---\nThe kestrel plan leads to [the gateway](gateway.md).\n- [ ] Feed the kestrel\n",
    "Meetings/standup.md": "---\ntype: meeting\n---\nTalked about the kestrel rollback. [[gateway]]\n",
    "Inbox/idea.md": "A kestrel idea.\n",
}
FLAGS = (
    "---\ndonna: local-only\n---\n",
    "---\ndonna_sensitive: true\n---\n",
    "---\nDonna-Sensitive: perhaps\n---\n",
    "---\ndonna: [work, local-only]\n---\n",
    "---\n\tbroken: : yaml\n---\n",
    "+++\ndonna = 'local-only'\n+++\n",
    "donna: local-only\n\n",
)
PRIVATE = {
    f"Private/codes{number}-{CANARY}.md": f"{flag}# {CANARY} title\nThe kestrel {CANARY} code. [[gateway]]\n- [ ] {CANARY} task\n"
    for number, flag in enumerate(FLAGS)
} | {
    "Projects/codes.md": f"{FLAGS[0]}# {CANARY}\nThe kestrel {CANARY}. [[gateway]] [plan](plan.md)\n",
    "Inbox/Secret.md": f"{FLAGS[1]}{CANARY} [[gateway]]\n",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class ToolHarness:
    """The tools as functions, called as one client."""

    engine: Engine
    sandbox: Sandbox
    space: ToolContext

    async def __call__(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool and return its answer."""
        return await call(self.space, name, arguments)

    async def fine(self, name: str, **arguments: Any) -> dict[str, Any]:
        """Call a tool that must not refuse, and return its answer."""
        answer = await self(name, **arguments)
        assert answer["ok"], answer
        return answer

    def other(self, client: str = "another", quota: int = 50, *, sensitive: bool = False) -> ToolHarness:
        """Return the tools of the same engine for another client."""
        return ToolHarness(
            self.engine, self.sandbox, workspace(self.engine, self.sandbox, client, quota, sensitive=sensitive)
        )

    @property
    def writer(self) -> VaultWriter:
        """Return a writer as a person uses it."""
        return open_writer(quick_config(), self.sandbox.space, allowlist=("*",))


def workspace(
    engine: Engine,
    sandbox: Sandbox,
    client: str,
    quota: int = 50,
    *,
    sensitive: bool = False,
    config: MemoryConfig | None = None,
) -> ToolContext:
    config = config or quick_config()
    return ToolContext(
        engine=engine,
        access=Access(indexed_client(config, sandbox.root), sensitive),
        session=ClientSession(actor_of(client), Quota(quota)),
        writer=open_writer(config, sandbox.space, announce(engine.hub)),
    )


@contextlib.asynccontextmanager
async def open_harness(
    sandbox: Sandbox, *, client: str = "Test Agent", config: MemoryConfig | None = None
) -> AsyncIterator[ToolHarness]:
    """Open the tools of a vault whose index is complete."""
    async with open_engine(sandbox, config=config) as running:
        await running.wait_until_indexed(vectors=False)
        yield ToolHarness(running.engine, sandbox, workspace(running.engine, sandbox, client, config=config))


def command(sandbox: Sandbox, *options: str, module: str = "tests.cli.without_model") -> StdioServerParameters:
    """Return the command with which a client starts the server."""
    return StdioServerParameters(
        command=sys.executable,
        args=["-m", module, "mcp", "--space", str(sandbox.root), *options],
        env=environment(sandbox),
        cwd=str(REPOSITORY),
    )


def environment(sandbox: Sandbox) -> dict[str, str]:
    ours = {name: value for name, value in os.environ.items() if not name.startswith(("DONNA_", "COV_"))}
    return {**ours, "DONNA_HOME": str(sandbox.paths.state.parent), "PYTHONPATH": str(REPOSITORY)}


@contextlib.asynccontextmanager
async def over_stdio(
    sandbox: Sandbox, *options: str, mode: str = "auto", errors: Path | None = None
) -> AsyncIterator[Client]:
    """Connect the official client to the server in a separate process."""
    with (errors or Path(os.devnull)).open("w") as log:
        async with Client(stdio_client(command(sandbox, *options), errlog=log), mode=mode) as client:
            yield client


@contextlib.contextmanager
def started(sandbox: Sandbox, *options: str) -> Iterator[Server]:
    """Start the server in a separate process, with pipes that a test uses directly."""
    module, *arguments = command(sandbox, *options).args[1:]
    process = start_with_pipes(module, arguments, cwd=REPOSITORY, env=environment(sandbox))
    try:
        yield process
    finally:
        process.kill()
        process.wait()
        for stream in (process.stdin, process.stdout, process.stderr):
            with contextlib.suppress(OSError, ValueError):
                stream.close()  # type: ignore[union-attr]


def payload_of(answer: Any) -> dict[str, Any]:
    """Return the structured answer of a tool. Check that its text is the same."""
    content: dict[str, Any] = answer.structured_content
    assert json.loads(answer.content[0].text) == content
    assert answer.is_error is not content["ok"]
    return content


async def refused_over(client: Client, name: str, arguments: dict[str, Any]) -> dict[str, Any]:
    content = payload_of(await client.call_tool(name, arguments))
    assert not content["ok"]
    return content
