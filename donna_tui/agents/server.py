"""Serve the tools for agents over MCP: list them, and call a few at a time."""

from __future__ import annotations

import asyncio
import json
import logging
import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from donna_tui import __version__
from donna_tui.agents.setup import skill_text
from donna_tui.agents.tools.catalogue import Tool, call, find_tool, refusal, tools_for
from donna_tui.agents.tools.context import NAMELESS, ClientSession, Quota, ToolContext, actor_of
from donna_tui.config.schema import without_titles
from donna_tui.text.encodable import encodable
from donna_tui.types.errors import DonnaError, Reason

IDLE_SECONDS = 1_800.0
"""Seconds without a call after which a session ends; the next call begins another."""

MAX_SESSIONS = 64


@dataclass(slots=True)
class Sessions:
    """The sessions of one server. Over standard streams there is one for the lifetime of the process.

    `quota` is shared by all of them: a client over HTTP gains no writes by opening another session. Newer clients send
    each request separately, without a session of the transport: they are distinguished by their names.
    """

    quota: Quota
    alone: bool
    clock: Callable[[], float] = time.monotonic
    _open: OrderedDict[str, tuple[ClientSession, float]] = field(default_factory=OrderedDict)
    """Each session with the time of its last call."""

    def of(self, client: str, transport: str = "") -> ClientSession:
        """Return the session of a call by a client, identified by the transport's session if there is one."""
        actor = actor_of(client)
        key = "" if self.alone else f"{transport}\0{actor}"
        now = self.clock()
        session, last = self._open.pop(key, (None, now))
        if session is None or (not self.alone and now - last > IDLE_SECONDS):
            session = ClientSession(actor, self.quota)
        self._open[key] = session, now
        while len(self._open) > MAX_SESSIONS:
            self._open.popitem(last=False)
        return session


AT_ONCE = 8
"""Number of calls processed concurrently; the others wait."""

MAX_WAITING = 4_000
DEADLINE_SECONDS = 60.0
"""Maximum seconds for a call that changes nothing. A write is never interrupted."""

SESSION_HEADER = "mcp-session-id"

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Dispatcher:
    """Answer the calls of all clients of one server. `context_of` returns the space as seen by a session."""

    context_of: Callable[[ClientSession], ToolContext]
    sessions: Sessions
    write: bool
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    _waiting: int = 0

    async def call(self, session: ClientSession, tool: Tool, arguments: dict[str, Any] | None) -> dict[str, Any]:
        """Call a tool and return its answer. Never raises: unexpected errors are reported without their text."""
        if self._waiting >= MAX_WAITING:
            return refusal(DonnaError(Reason.BUSY, "too many calls at once", hint="try again in a moment"))
        self._waiting += 1
        try:
            async with self._turns:
                context = self.context_of(session)
                async with asyncio.timeout(None if tool.writes else DEADLINE_SECONDS):
                    return await call(context, tool.name, arguments)
        except TimeoutError:
            return refusal(DonnaError(Reason.BUSY, "timed out", hint="ask for less, or try again"))
        except Exception as error:  # the server continues with the other calls
            log.error("%s failed: %s", tool.name, type(error).__name__)
            return refusal(DonnaError(Reason.INTERNAL, f"this failed ({type(error).__name__})"))
        finally:
            self._waiting -= 1


def build_server(service: Dispatcher) -> Server[Any]:

    async def list_tools(_: ServerRequestContext[Any], __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[published(tool) for tool in tools_for(write=service.write)])

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        try:
            tool = find_tool(params.name, write=service.write)
        except DonnaError as error:
            refused = refusal(error)
            raise MCPError(code=types.INVALID_PARAMS, message=f"{refused['message']}; {refused['hint']}") from None
        client = context.session.client_params
        session = service.sessions.of(client.client_info.name if client else NAMELESS, _transport_of(context))
        return _result(await service.call(session, tool, params.arguments))

    return Server(
        "donna",
        version=__version__,
        title="Donna",
        instructions=skill_text(write=service.write),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def published(tool: Tool) -> types.Tool:
    """Convert a tool to the SDK's type. All four hints are set, as a missing one counts as dangerous."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=without_titles(tool.takes.model_json_schema()),
        output_schema=without_titles(tool.gives.model_json_schema(mode="serialization")),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeats,
            open_world_hint=False,
        ),
    )


def _result(answer: dict[str, Any]) -> types.CallToolResult:
    text = encodable(json.dumps(answer, ensure_ascii=False))
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=answer, is_error=not answer["ok"]
    )


def _transport_of(context: ServerRequestContext[Any]) -> str:
    """Return the session of the transport; the header is trusted only if the transport itself has checked it."""
    if context.request is None or context.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return ""
    return str(context.request.headers.get(SESSION_HEADER, ""))
