"""Encode requests for the API of each kind of model server, and decode the answers."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

from donna_tui.config.routes import Route
from donna_tui.llm.failures import CallError, FailureKind, Usage
from donna_tui.llm.requests import ModelRequest

MAX_TOKENS = 100_000_000
"""Token counts above this are rejected as invalid."""


@dataclass(frozen=True, slots=True)
class Reply:
    """The text of a model's answer, and its token usage."""

    text: str = field(repr=False)
    usage: Usage


class Dialect(Protocol):
    """The API of one kind of model server: the paths of its requests and of its list of models."""

    path: str
    models_path: str

    def headers(self, key: str) -> dict[str, str]:
        """Return the headers with the key, which is empty for a local server without one."""

    def body(self, route: Route, request: ModelRequest) -> dict[str, Any]:
        """Return the body of a request."""

    def reply(self, answer: Mapping[str, Any]) -> Reply:
        """Decode an answer. Raises CallError."""


def _bearer(key: str) -> dict[str, str]:
    return {"authorization": f"Bearer {key}"} if key else {}


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

_ANTHROPIC_ENDINGS = {
    "max_tokens": FailureKind.TRUNCATED,
    "model_context_window_exceeded": FailureKind.TRUNCATED,
    "refusal": FailureKind.REFUSED,
    "pause_turn": FailureKind.INVALID,
}


class AnthropicMessages:
    """Anthropic's API, https://docs.anthropic.com/en/api/messages."""

    path, models_path = "/v1/messages", "/v1/models"

    def headers(self, key: str) -> dict[str, str]:
        return {"anthropic-version": "2023-06-01", **({"x-api-key": key} if key else {})}

    def body(self, route: Route, request: ModelRequest) -> dict[str, Any]:
        return {
            "model": route.model,
            "max_tokens": route.max_output_tokens,
            "system": request.system,
            "messages": [{"role": "user", "content": request.user}],
            "tools": [{"name": _ANSWER, "description": "Takes the answer.", "input_schema": request.schema}],
            "tool_choice": {"type": "tool", "name": _ANSWER},
        }

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
    """Ollama's API, https://docs.ollama.com/api/chat."""

    path, models_path = "/api/chat", "/api/tags"

    def headers(self, key: str) -> dict[str, str]:
        return _bearer(key)

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
    """OpenAI's API, https://platform.openai.com/docs/api-reference/chat."""

    path, models_path = "/chat/completions", "/models"

    def headers(self, key: str) -> dict[str, str]:
        return _bearer(key)

    def body(self, route: Route, request: ModelRequest) -> dict[str, Any]:
        newer = f"{route.server}/".startswith(_OPENAI)
        shape = {"name": "answer", "schema": request.schema, "strict": True}
        return {
            "model": route.model,
            "messages": _messages(request),
            "max_completion_tokens" if newer else "max_tokens": route.max_output_tokens,
            "response_format": {"type": "json_schema", "json_schema": shape},
        }

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


DIALECTS: dict[str, Dialect] = {"openai": OpenAIChat(), "anthropic": AnthropicMessages(), "ollama": OllamaChat()}
