"""Probe whether a configured language model is available by listing the server's models, without calling it."""

from __future__ import annotations

import json

import httpx2

from donna_tui.config.routes import Route
from donna_tui.llm.dialects import DIALECTS, value_at
from donna_tui.llm.failures import FailureKind, ModelCallError, address_of, kind_of
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.egress import open_client
from donna_tui.safety.payload import carrying
from donna_tui.types.errors import DonnaError

SECONDS = 5.0
MAX_BYTES = 4_000_000


async def probe(route: Route, key: str) -> None:
    """Request the server's list of models, which is free of charge.

    Raises ModelCallError if the server cannot be reached, refuses the key, fails, or does not list the model. A server
    that answers without such a list passes, since only a call could show more.
    """
    dialect = DIALECTS[route.dialect]
    try:
        with carrying(Sensitivity.PUBLIC):
            async with open_client(timeout_seconds=SECONDS, max_bytes=MAX_BYTES) as client:
                response = await client.get(f"{route.server}{dialect.models_path}", headers=dialect.headers(key))
    except httpx2.TimeoutException as error:
        raise _failed(route, FailureKind.TIMEOUT) from error
    except (httpx2.HTTPError, httpx2.InvalidURL) as error:
        raise _failed(route, FailureKind.UNREACHABLE) from error
    except DonnaError as error:
        raise ModelCallError(kind_of(error), address_of(route), cause=error) from error
    if response.status_code in (401, 403):
        raise _failed(route, FailureKind.AUTH, response.status_code)
    if response.status_code >= 500:
        raise _failed(route, FailureKind.UNAVAILABLE, response.status_code)
    names = _names(response)
    if names and not names & {route.model, f"{route.model}:latest"}:
        message = f"the model server at {address_of(route)} has no model “{route.model}”"
        hint = f"it has {', '.join(sorted(names)[:5])}{' …' if len(names) > 5 else ''}; change model in models.yaml"
        raise ModelCallError(FailureKind.REJECTED, message=message, hint=hint)


def _failed(route: Route, kind: FailureKind, status: int | None = None) -> ModelCallError:
    return ModelCallError(kind, address_of(route), model=route.model, status=status)


def _names(response: httpx2.Response) -> set[str]:
    """Return the names in either form of list: `models[].name` or `data[].id`."""
    try:
        listed = json.loads(response.content)
    except (ValueError, RecursionError):
        return set()
    lists = (value_at(listed, name) for name in ("models", "data"))
    rows = (row for items in lists if isinstance(items, list) for row in items)
    names = (value_at(row, field) for row in rows for field in ("name", "model", "id"))
    return {name for name in names if isinstance(name, str)}
