"""The MCP server: lists the tools for agents and calls them, a few at a time, each within a deadline."""

from __future__ import annotations

import asyncio
import json
import logging
from collections.abc import Callable
from dataclasses import field
from typing import Any

import mcp_types as types
from mcp.server import Server
from mcp.server.context import ServerRequestContext
from mcp.shared.exceptions import MCPError
from mcp_types.version import HANDSHAKE_PROTOCOL_VERSIONS

from donna_tui import __version__
from donna_tui.errors import DonnaError, Reason
from donna_tui.mcp.sessions import Sessions
from donna_tui.mcp.setup import skill_text
from donna_tui.records import dataclass
from donna_tui.tools.agent.catalogue import Tool, call, refusal, tools_for
from donna_tui.tools.agent.workspace import NAMELESS, ClientSession, Workspace

AT_ONCE = 8
"""Calls that are worked on at the same time; the others wait."""

MOST_WAITING = 4_000
DEADLINE_SECONDS = 60.0
"""How long a call may take that changes nothing. A write is never broken off."""

SESSION_HEADER = "mcp-session-id"

log = logging.getLogger(__name__)


@dataclass(slots=True)
class Desk:
    """Answers the calls of all clients of one server. `workspace` is the space as a session sees it."""

    workspace: Callable[[ClientSession], Workspace]
    sessions: Sessions
    write: bool
    _turns: asyncio.Semaphore = field(default_factory=lambda: asyncio.Semaphore(AT_ONCE))
    _waiting: int = 0

    async def call(self, session: ClientSession, name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
        """What a tool answers. It raises nothing: what Donna does not understand is told without its text."""
        if self._waiting >= MOST_WAITING:
            return refusal(DonnaError(Reason.BUSY, "too many calls at once", hint="try again in a moment"))
        self._waiting += 1
        try:
            async with self._turns:
                return await self._answer(session, name, arguments)
        except TimeoutError:
            return refusal(DonnaError(Reason.BUSY, "this took too long", hint="ask for less, or try again"))
        except Exception as error:  # the server goes on for the other calls
            log.error("%s failed: %s", name if self.tool(name) else "a tool", type(error).__name__)
            return refusal(DonnaError(Reason.INTERNAL, f"this failed ({type(error).__name__})"))
        finally:
            self._waiting -= 1

    async def _answer(self, session: ClientSession, name: str, arguments: dict[str, Any] | None) -> dict[str, Any]:
        tool, space = self.tool(name), self.workspace(session)
        async with asyncio.timeout(None if tool and tool.writes else DEADLINE_SECONDS):
            return await call(space, name, arguments)

    def tool(self, name: str) -> Tool | None:
        """A tool that clients have."""
        return next((tool for tool in self.tools if tool.name == name), None)

    @property
    def tools(self) -> tuple[Tool, ...]:
        """The tools that clients have."""
        return tools_for(write=self.write)


def build_server(desk: Desk) -> Server[Any]:
    """The server of the official SDK over a desk."""

    async def list_tools(_: ServerRequestContext[Any], __: object) -> types.ListToolsResult:
        return types.ListToolsResult(tools=[published(tool) for tool in desk.tools])

    async def call_tool(
        context: ServerRequestContext[Any], params: types.CallToolRequestParams
    ) -> types.CallToolResult:
        if desk.tool(params.name) is None:
            raise MCPError(code=types.INVALID_PARAMS, message="there is no such tool")
        session = desk.sessions.of(_client_of(context), _transport_of(context))
        return _result(await desk.call(session, params.name, params.arguments))

    return Server(
        "donna",
        version=__version__,
        title="Donna",
        instructions=skill_text(),
        on_list_tools=list_tools,
        on_call_tool=call_tool,
    )


def published(tool: Tool) -> types.Tool:
    """A tool as clients see it. All four hints are said, since what is left out counts as dangerous."""
    return types.Tool(
        name=tool.name,
        title=tool.title,
        description=tool.description,
        input_schema=tool.takes.model_json_schema(),
        output_schema=tool.gives.model_json_schema(mode="serialization"),
        annotations=types.ToolAnnotations(
            title=tool.title,
            read_only_hint=not tool.writes,
            destructive_hint=tool.destroys,
            idempotent_hint=tool.repeats,
            open_world_hint=False,
        ),
    )


def _result(answer: dict[str, Any]) -> types.CallToolResult:
    text = json.dumps(answer, ensure_ascii=False).encode("utf-8", "replace").decode()
    return types.CallToolResult(
        content=[types.TextContent(type="text", text=text)], structured_content=answer, is_error=not answer["ok"]
    )


def _client_of(context: ServerRequestContext[Any]) -> str:
    """What a client calls itself."""
    params = context.session.client_params
    return params.client_info.name if params else NAMELESS


def _transport_of(context: ServerRequestContext[Any]) -> str:
    """The session of the transport; a header counts only where the transport itself has checked it."""
    if context.request is None or context.protocol_version not in HANDSHAKE_PROTOCOL_VERSIONS:
        return ""
    return str(context.request.headers.get(SESSION_HEADER, ""))
