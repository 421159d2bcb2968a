"""Examines which language models are configured, where they are and whether their keys are at hand. Calls none."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from donna_tui.config.routes import Alias, Route, Routes, load_routes
from donna_tui.errors import ConfigError
from donna_tui.tools.finding import Finding

_PURPOSES: dict[Alias, str] = {"reasoner": "drafts", "summarizer": "summaries"}


def examine_models(environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    """What models.yaml says, in plain words."""
    try:
        routes = load_routes(environ)
    except ConfigError as error:
        yield Finding("language models", "fail", error.message, error.hint or "", error.reason)
        return
    found = list(_each(routes, environ))
    yield from found or [Finding("language models", "ok", "none is configured: drafts are made from your notes alone")]


def _each(routes: Routes, environ: Mapping[str, str]) -> Iterator[Finding]:
    for alias, purpose in _PURPOSES.items():
        route = routes.route(alias)
        if route:
            yield _examined(alias, purpose, route, environ)


def _examined(alias: Alias, purpose: str, route: Route, environ: Mapping[str, str]) -> Finding:
    variable = route.api_key_env
    if variable and not environ.get(variable, "").strip():
        return Finding(alias, "warn", f"the key for {purpose} is missing", f"set the environment variable {variable}")
    if route.is_local:
        return Finding(alias, "ok", f"{purpose} are made by {route.model}, on this machine")
    host = urlsplit(route.server).hostname
    return Finding(alias, "ok", f"{purpose} are made by {route.model} at {host}; private notes are not shown to it")
