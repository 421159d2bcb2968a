"""Which session a call belongs to: what one client does, for its quota and for taking it back."""

from __future__ import annotations

import time
from collections import OrderedDict
from collections.abc import Callable
from dataclasses import field

from donna_tui.records import dataclass
from donna_tui.tools.agent.workspace import ClientSession, actor_of

IDLE_SECONDS = 1_800.0
"""Without a call for so long, a session is over, and the next call begins another."""

MOST_SESSIONS = 64


@dataclass(slots=True)
class _Open:
    session: ClientSession
    last: float


@dataclass(slots=True)
class Sessions:
    """The sessions of one server. Over standard streams there is one for as long as the process runs.

    Newer clients send each request by itself, without a session of the transport: they are told apart by their names.
    """

    quota: int
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
