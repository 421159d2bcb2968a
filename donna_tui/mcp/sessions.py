"""Sessions of clients: which one a call belongs to, and the end of those that were abandoned."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import field

from donna_tui.mcp.guard import App, Message, Receive, Scope, Send
from donna_tui.records import dataclass
from donna_tui.tools.agent.workspace import ClientSession, Quota, actor_of

IDLE_SECONDS = 1_800.0
"""Without a call for so long, a session is over, and the next call begins another."""

MOST_SESSIONS = 64
SESSION_HEADER = b"mcp-session-id"


@dataclass(slots=True)
class _Open:
    session: ClientSession
    last: float


@dataclass(slots=True)
class Sessions:
    """The sessions of one server. Over standard streams there is one for as long as the process runs.

    `quota` is that of all of them: a client over HTTP that opens another session gets no further writes by it.
    Newer clients send each request by itself, without a session of the transport: they are told apart by their names.
    """

    quota: Quota
    alone: bool
    clock: Callable[[], float] = time.monotonic
    _open: OrderedDict[str, _Open] = field(default_factory=OrderedDict)

    def of(self, client: str, transport: str = "") -> ClientSession:
        """The session of a call from a client, by the transport's own session if there is one."""
        actor = actor_of(client)
        key = "" if self.alone else f"{transport}\0{actor}"
        now = self.clock()
        known = self._open.pop(key, None)
        if known is None or (not self.alone and now - known.last > IDLE_SECONDS):
            known = _Open(ClientSession(actor, self.quota), now)
        known.last = now
        self._open[key] = known
        while len(self._open) > MOST_SESSIONS:
            self._open.popitem(last=False)
        return known.session


class OpenSessions:
    """An ASGI application around the SDK's, which refuses everybody once it has too many sessions.

    Before it comes to that, the session that was idle longest is ended, with the request by which a client ends one.
    """

    def __init__(self, app: App) -> None:
        self._app = app
        self._open: OrderedDict[bytes, int] = OrderedDict()
        self._opening = 0

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, and note which session it opens, uses or ends."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        session = next((value for name, value in scope["headers"] if name.lower() == SESSION_HEADER), b"")
        if session in self._open:
            await self._use(session, scope, receive, send)
        elif session or scope["method"] != "POST":
            await self._app(scope, receive, send)
        else:
            await self._begin(scope, receive, send)

    async def _use(self, session: bytes, scope: Scope, receive: Receive, send: Send) -> None:
        self._open[session] += 1
        self._open.move_to_end(session)
        try:
            await self._app(scope, receive, send)
        finally:
            if session in self._open:
                self._open[session] -= 1
                self._open.move_to_end(session)
        if scope["method"] == "DELETE":
            self._open.pop(session, None)

    async def _begin(self, scope: Scope, receive: Receive, send: Send) -> None:
        while self._open and len(self._open) + self._opening >= MOST_SESSIONS:
            await self._end_idlest(scope)

        async def noting(message: Message) -> None:
            if message["type"] == "http.response.start" and message["status"] < 400:
                for name, value in message["headers"]:
                    if name.lower() == SESSION_HEADER:
                        self._open[value] = 0
            await send(message)

        self._opening += 1
        try:
            await self._app(scope, receive, noting)
        finally:
            self._opening -= 1

    async def _end_idlest(self, scope: Scope) -> None:
        """End the session that was not used for longest, rather one on which no request is being answered."""
        idlest = next((each for each, requests in self._open.items() if not requests), next(iter(self._open)))
        del self._open[idlest]
        kept = [(name, value) for name, value in scope["headers"] if name.lower() in (b"host", b"mcp-protocol-version")]

        async def nothing() -> Message:
            return {"type": "http.request", "body": b"", "more_body": False}

        async def nowhere(_: Message) -> None:
            return None

        await self._app({**scope, "method": "DELETE", "headers": [*kept, (SESSION_HEADER, idlest)]}, nothing, nowhere)
