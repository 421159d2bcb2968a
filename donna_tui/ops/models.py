"""Examine the configured language models: library, key and, for servers on this machine, whether they have the model.

A remote server is not contacted here; `donna model test` does that.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from pydantic import BaseModel

from donna_tui.config.routes import Alias, Route, load_routes
from donna_tui.llm.failures import CallError, CompletionMetadata, ModelCallError, address_of
from donna_tui.llm.probe import probe
from donna_tui.ops.finding import Finding
from donna_tui.safety.payload import Payload
from donna_tui.types.errors import ConfigError

if TYPE_CHECKING:
    from donna_tui.llm.router import ModelRouter

PURPOSES: dict[Alias, str] = {"reasoner": "drafts", "summarizer": "summaries"}


class Word(BaseModel):
    """The answer that a model test expects."""

    word: str


async def request_one_word(router: ModelRouter, alias: Alias) -> CompletionMetadata:
    """Call the model of a purpose with a prompt of a few words. Raises ModelCallError."""
    prompt = Payload(system="Answer with the word ready.", segments=())
    return (await router.complete(prompt, task_type="model_test", schema=Word, alias=alias)).metadata


def examine_models(environ: Mapping[str, str] = os.environ) -> Iterator[Finding]:
    try:
        routes = load_routes(environ)
    except ConfigError as error:
        yield Finding("language models", "fail", error.message, error.hint or "", error.reason)
        return
    for alias, purpose in PURPOSES.items():
        if route := routes.route(alias):
            yield _examined(alias, purpose, route, environ)
    if not (routes.reasoner or routes.summarizer):
        yield Finding("language models", "ok", "none is configured: drafts are made from your notes alone")


def _examined(alias: Alias, purpose: str, route: Route, environ: Mapping[str, str]) -> Finding:
    variable = route.api_key_env
    if variable and not environ.get(variable, "").strip():
        return Finding(alias, "warn", f"the key for {purpose} is missing", f"set the environment variable {variable}")
    try:
        library_of(route)
        if route.is_local:
            asyncio.run(probe(route, environ.get(variable, "").strip() if variable else ""))
    except ModelCallError as error:
        return Finding(alias, "warn", f"{purpose}: {error.message}", error.hint or "", error.reason)
    if route.is_local:
        return Finding(alias, "ok", f"{purpose} are made by {route.model} at {address_of(route)}, on this machine")
    message = f"{purpose} are made by {route.model} at {address_of(route)}; private notes are not sent to it"
    return Finding(alias, "ok", message, "donna model test asks it")


def library_of(route: Route) -> None:
    """Import the library of a model. Raises ModelCallError (`not_installed`) without it."""
    from donna_tui.llm.dialects import load
    from donna_tui.llm.router import DIALECTS

    try:
        load(DIALECTS[route.dialect].library)
    except CallError as error:
        raise ModelCallError(error.kind) from error
