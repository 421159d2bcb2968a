"""Serves the metrics to a Prometheus on this machine. It is off unless `metrics.port` names a port."""

from __future__ import annotations

import asyncio

from donna_tui.errors import DonnaError, Reason
from donna_tui.events import EventHub
from donna_tui.http.guard import Head, Limits, SmallServer, page
from donna_tui.tools.metrics import Metrics

PATH = "/metrics"
CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"
LIMITS = Limits(connections=16, untrusted=16, per_address=16, head_seconds=5.0)


async def serve_metrics(hub: EventHub, port: int) -> None:
    """Count events and answer scrapes until cancelled. Raises DonnaError if the port cannot be had."""
    metrics = Metrics()
    unsubscribe = hub.subscribe(metrics)
    try:
        async with SmallServer(lambda head: _answer(metrics, head), LIMITS, port).listening():
            await asyncio.Event().wait()
    except OSError as error:
        message = f"metrics cannot be served on port {port} ({error.strerror or 'no such port'})"
        raise DonnaError(Reason.IO_ERROR, message, hint="set metrics.port to another one, or to 0") from error
    finally:
        unsubscribe()


def _answer(metrics: Metrics, head: Head) -> bytes:
    if head.target.partition("?")[0] != PATH:
        return page(404)
    if head.method not in ("GET", "HEAD"):
        return page(405)
    return page(200, metrics.page(), kind=CONTENT_TYPE, with_body=head.method == "GET")
