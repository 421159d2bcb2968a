"""Sends a question until it is answered or given up. It is sent again only while nothing can have been paid for it."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable

import httpx2

from donna_tui.errors import DonnaError, Reason
from donna_tui.llm.failures import CallError, FailureKind
from donna_tui.safety.pauses import backoff, stated_pause

MOST_WAIT_SECONDS = 20.0
"""A server that asks for a longer pause is asked again by whoever wants the answer, not here."""

_AGAIN = {429: 2, 503: 2, 529: 2, 500: 1, 502: 1}
"""How often a question is sent again after an answer that costs nothing, by its status."""

_AGAIN_UNCONNECTED = 2
_NEVER_SENT = (httpx2.ConnectError, httpx2.ConnectTimeout, httpx2.PoolTimeout, httpx2.UnsupportedProtocol)

Send = Callable[[], Awaitable[httpx2.Response]]
Pause = Callable[[float], Awaitable[None]]


async def fetch(send: Send, pause: Pause, until: float) -> bytes:
    """The body of a good answer. `until` is when to give up, as `time.monotonic` counts. Raises CallError."""
    tries = 0
    while True:
        try:
            return await _once(send)
        except _UnpaidError as failed:
            wait = failed.retry_after if failed.retry_after is not None else backoff(tries)
            tries += 1
            if tries > failed.again or wait > min(MOST_WAIT_SECONDS, until - time.monotonic()):
                raise
            await pause(wait)


class _UnpaidError(CallError):
    """A failure that cost nothing: the question may be sent again so many times in all."""

    def __init__(
        self, kind: FailureKind, again: int, retry_after: float | None = None, status: int | None = None
    ) -> None:
        super().__init__(kind, charged=False, retry_after=retry_after, status=status)
        self.again = again


async def _once(send: Send) -> bytes:
    try:
        response = await send()
    except _NEVER_SENT:
        raise _UnpaidError(FailureKind.UNREACHABLE, _AGAIN_UNCONNECTED) from None
    except httpx2.TimeoutException:
        raise CallError(FailureKind.TIMEOUT, charged=True) from None
    except (httpx2.DecodingError, UnicodeError):
        raise CallError(FailureKind.INVALID, charged=True) from None
    except (httpx2.HTTPError, httpx2.InvalidURL):
        raise CallError(FailureKind.UNREACHABLE, charged=True) from None
    except DonnaError as error:
        raise _stopped(error) from None
    if response.status_code == httpx2.codes.OK:
        return response.content
    raise _not_answered(response)


def _stopped(error: DonnaError) -> CallError:
    """What the door refused: a question before it was sent, an answer that never ends, or one that leads elsewhere."""
    if error.reason is Reason.TOO_LARGE:
        return CallError(FailureKind.TOO_LARGE, charged=True, cause=error)
    return CallError(FailureKind.EGRESS_REFUSED, charged=False, cause=error)


def _not_answered(response: httpx2.Response) -> CallError:
    status = response.status_code
    retry_after = stated_pause(response.headers.get("retry-after", ""))
    return _UnpaidError(_kind(status), _AGAIN.get(status, 0), retry_after, status)


def _kind(status: int) -> FailureKind:
    match status:
        case 401 | 403:
            return FailureKind.AUTH
        case 408 | 504:
            return FailureKind.TIMEOUT
        case 413:
            return FailureKind.TOO_LARGE
        case 429:
            return FailureKind.RATE_LIMITED
        case _ if status >= 500:
            return FailureKind.UNAVAILABLE
        case _:
            return FailureKind.REJECTED
