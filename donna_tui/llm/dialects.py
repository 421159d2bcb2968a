"""Encode requests for the API of each kind of model server, and decode the answers."""

from __future__ import annotations

import importlib
import json
import logging
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import httpx2

from donna_tui.config.routes import Route
from donna_tui.llm.failures import CallError, FailureKind, Usage
from donna_tui.llm.requests import ModelRequest
from donna_tui.types.errors import DonnaError

MAX_TOKENS = 100_000_000
"""Token counts above this are rejected as invalid."""

_SENT = frozenset(
    {
        "host", "accept", "accept-encoding", "content-type", "content-length", "transfer-encoding", "connection",
        "authorization", "x-api-key", "anthropic-version",
    }
)  # fmt: skip
"""The request headers that are sent. The libraries would add headers about this machine and its environment."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a model's answer, and its token usage."""

    text: str = field(repr=False)
    usage: Usage


class Dialect(Protocol):
    """The API of one kind of model server, and the library that sends its requests, if any; see `load`."""

    library: str

    def body(self, route: Route, request: ModelRequest) -> dict[str, Any]:
        """Return the body of the request."""

    async def send(self, route: Route, key: str, http: httpx2.AsyncClient, body: dict[str, Any]) -> httpx2.Response:
        """Send the request once, after `load`. Raises the errors of httpx2 or DonnaError."""

    def reply(self, answer: Mapping[str, Any]) -> Reply:
        """Decode an answer. Raises CallError."""


async def only_known_headers(request: httpx2.Request) -> None:
    """Remove all request headers that are not needed; an httpx event hook."""
    for name in [header for header in request.headers if header not in _SENT]:
        del request.headers[name]


def load(library: str) -> None:
    """Import a dialect's library, on any thread: it may take a second. Raises CallError without the library.

    Its log level is raised, since at its finest level it logs the whole request.
    """
    if not library:
        return
    try:
        importlib.import_module(library)
    except ImportError:
        raise CallError(FailureKind.NOT_INSTALLED, charged=False) from None
    logging.getLogger(library).setLevel(logging.WARNING)


async def _posted(library: Any, client: Any, path: str, body: dict[str, Any]) -> httpx2.Response:
    """Send a request with the client of a library. Raises the network or egress error that it wraps in its own."""
    try:
        response: httpx2.Response = await client.post(path, body=body, cast_to=httpx2.Response)
        return response
    except library.APIStatusError as error:
        refusal: httpx2.Response = error.response
        return refusal
    except library.APIConnectionError as error:
        cause = error.__cause__
        raise cause if isinstance(cause, httpx2.HTTPError | DonnaError) else httpx2.ReadError("no answer") from None


def _messages(request: ModelRequest) -> list[dict[str, str]]:
    return [{"role": "system", "content": request.system}, {"role": "user", "content": request.user}]


def tokens(usage: object, name: str) -> int | None:
    """Return a token count, or None if it is missing or invalid."""
    value = usage.get(name) if isinstance(usage, dict) else None
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= MAX_TOKENS else None


def value_at(value: object, *path: str | int) -> Any:
    """Return the value at a path in JSON; None if there is none."""
    for step in path:
        if isinstance(step, str):
            value = value.get(step) if isinstance(value, dict) else None
        else:
            value = value[step] if isinstance(value, list) and len(value) > step else None
    return value


def checked_reply(text: object, usage: Usage) -> Reply:
    if text is not None and not isinstance(text, str):
        raise CallError(FailureKind.INVALID, charged=True, usage=usage)
    if text is None or not text.strip():
        raise CallError(FailureKind.EMPTY, charged=True, usage=usage)
    return Reply(text, usage)


_ANSWER = "answer"
_NO_KEY = "none"
"""A placeholder for local servers without a key, since the libraries require one."""

_ANTHROPIC_ENDINGS = {
    "max_tokens": FailureKind.TRUNCATED,
    "model_context_window_exceeded": FailureKind.TRUNCATED,
    "refusal": FailureKind.REFUSED,
    "pause_turn": FailureKind.INVALID,
}


class AnthropicMessages:
    """Anthropic's API, `POST /v1/messages`."""

    library = "anthropic"

    def body(self, route: Route, request: ModelRequest) -> dict[str, Any]:
        return {
            "model": route.model,
            "max_tokens": route.max_output_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": request.user}],
            "tools": [{"name": _ANSWER, "description": "Takes the answer.", "input_schema": request.schema}],
            "tool_choice": {"type": "tool", "name": _ANSWER},
        }

    async def send(self, route: Route, key: str, http: httpx2.AsyncClient, body: dict[str, Any]) -> httpx2.Response:
        import anthropic

        client = anthropic.AsyncAnthropic(
            api_key=key or _NO_KEY,
            base_url=route.server,
            http_client=http,
            max_retries=0,
            timeout=route.deadline_seconds,
            open_telemetry=False,
        )
        return await _posted(anthropic, client, "/v1/messages", body)

    def reply(self, answer: Mapping[str, Any]) -> Reply:
        stated = answer.get("usage")
        usage = Usage(tokens(stated, "input_tokens"), tokens(stated, "output_tokens"))
        ended = answer.get("stop_reason")
        if isinstance(ended, str) and ended in _ANTHROPIC_ENDINGS:
            raise CallError(_ANTHROPIC_ENDINGS[ended], charged=True, usage=usage)
        blocks = answer.get("content")
        if not isinstance(blocks, list):
            raise CallError(FailureKind.INVALID, charged=True, usage=usage)
        return checked_reply(_answer(blocks), usage)


def _answer(blocks: list[Any]) -> object:
    """Return the input of the tool call as JSON, or else the text blocks."""
    for block in blocks:
        if value_at(block, "type") == "tool_use" and value_at(block, "name") == _ANSWER:
            return json.dumps(value_at(block, "input"))
    texts = [value_at(block, "text") for block in blocks if value_at(block, "type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))


BYTES_PER_TOKEN = 2
"""Lower bound for common tokenizers, so that a request always fits into its context."""

CONTEXT_STEP = 4_096
"""Granularity of context sizes, since Ollama reloads the model for each new size."""


class OllamaChat:
    """Ollama's API, `POST /api/chat`."""

    library = ""

    def body(self, route: Route, request: ModelRequest) -> dict[str, Any]:
        context_tokens = request.bytes // BYTES_PER_TOKEN + route.max_output_tokens
        return {
            "model": route.model,
            "messages": _messages(request),
            "stream": False,
            "format": request.schema,
            "options": {
                "num_predict": route.max_output_tokens,
                "num_ctx": (context_tokens // CONTEXT_STEP + 1) * CONTEXT_STEP,
            },
        }

    async def send(self, route: Route, key: str, http: httpx2.AsyncClient, body: dict[str, Any]) -> httpx2.Response:
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return await http.post(f"{route.server}/api/chat", json=body, headers=headers)

    def reply(self, answer: Mapping[str, Any]) -> Reply:
        usage = Usage(tokens(answer, "prompt_eval_count"), tokens(answer, "eval_count"))
        if answer.get("done") is not True:
            raise CallError(FailureKind.INVALID, charged=True, usage=usage)
        if answer.get("done_reason") == "length":
            raise CallError(FailureKind.TRUNCATED, charged=True, usage=usage)
        return checked_reply(value_at(answer, "message", "content"), usage)


_OPENAI = "https://api.openai.com/"
_OPENAI_ENDINGS = {
    "length": FailureKind.TRUNCATED,
    "content_filter": FailureKind.FILTERED,
    "tool_calls": FailureKind.INVALID,
    "function_call": FailureKind.INVALID,
}


class OpenAIChat:
    """OpenAI's API, `POST /chat/completions`."""

    library = "openai"

    def body(self, route: Route, request: ModelRequest) -> dict[str, Any]:
        newer = f"{route.server}/".startswith(_OPENAI)
        shape = {"name": "answer", "schema": request.schema, "strict": True}
        return {
            "model": route.model,
            "messages": _messages(request),
            "max_completion_tokens" if newer else "max_tokens": route.max_output_tokens,
            "response_format": {"type": "json_schema", "json_schema": shape},
        }

    async def send(self, route: Route, key: str, http: httpx2.AsyncClient, body: dict[str, Any]) -> httpx2.Response:
        import openai

        client = openai.AsyncOpenAI(
            api_key=key or _NO_KEY,
            base_url=route.server,
            http_client=http,
            max_retries=0,
            timeout=route.deadline_seconds,
        )
        return await _posted(openai, client, "/chat/completions", body)

    def reply(self, answer: Mapping[str, Any]) -> Reply:
        stated = answer.get("usage")
        usage = Usage(tokens(stated, "prompt_tokens"), tokens(stated, "completion_tokens"))
        choice = value_at(answer.get("choices"), 0)
        if not isinstance(choice, dict):
            raise CallError(FailureKind.INVALID, charged=True, usage=usage)
        if value_at(choice, "message", "refusal"):
            raise CallError(FailureKind.REFUSED, charged=True, usage=usage)
        ended = choice.get("finish_reason")
        if isinstance(ended, str) and ended in _OPENAI_ENDINGS:
            raise CallError(_OPENAI_ENDINGS[ended], charged=True, usage=usage)
        return checked_reply(value_at(choice, "message", "content"), usage)
