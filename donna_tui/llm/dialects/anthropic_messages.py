"""Anthropic's messages. The answer comes as the input of a tool, the one place where its shape is held to a schema."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import httpx2

from donna_tui.config.routes import Route
from donna_tui.llm.dialects.dialect import Reply, part, quietly, tokens, unwrapped, written
from donna_tui.llm.failures import CallError, FailureKind, Usage
from donna_tui.llm.questions import Question

_ANSWER = "answer"
_NO_KEY = "none"
_ENDED = {
    "max_tokens": FailureKind.TRUNCATED,
    "model_context_window_exceeded": FailureKind.TRUNCATED,
    "refusal": FailureKind.REFUSED,
    "pause_turn": FailureKind.INVALID,
}


class AnthropicMessages:
    """`POST /v1/messages`."""

    def body(self, route: Route, question: Question) -> dict[str, Any]:
        """The question as the server wants it."""
        return {
            "model": route.model,
            "max_tokens": route.max_output_tokens,
            "system": question.system,
            "messages": [{"role": "user", "content": question.user}],
            "tools": [{"name": _ANSWER, "description": "Takes the answer.", "input_schema": question.schema}],
            "tool_choice": {"type": "tool", "name": _ANSWER},
        }

    def load(self) -> None:
        """Import what it is sent with. Raises CallError without the library."""
        try:
            import anthropic
        except ImportError:
            raise CallError(FailureKind.NOT_INSTALLED, charged=False) from None
        quietly(anthropic.__name__)

    async def send(self, route: Route, key: str, http: httpx2.AsyncClient, body: dict[str, Any]) -> httpx2.Response:
        """Send it once, after `load`. Raises the errors of httpx2 or DonnaError."""
        import anthropic

        client = anthropic.AsyncAnthropic(
            api_key=key or _NO_KEY,
            base_url=route.server,
            http_client=http,
            max_retries=0,
            timeout=route.deadline_seconds,
            open_telemetry=False,
        )
        try:
            return await client.post("/v1/messages", body=body, cast_to=httpx2.Response)
        except anthropic.APIStatusError as error:
            return error.response
        except anthropic.APIConnectionError as error:
            raise unwrapped(error) from None

    def reply(self, answer: Mapping[str, Any]) -> Reply:
        """Read an answer. Raises CallError."""
        stated = answer.get("usage")
        usage = Usage(tokens(stated, "input_tokens"), tokens(stated, "output_tokens"))
        ended = answer.get("stop_reason")
        if isinstance(ended, str) and ended in _ENDED:
            raise CallError(_ENDED[ended], charged=True, usage=usage)
        blocks = answer.get("content")
        if not isinstance(blocks, list):
            raise CallError(FailureKind.INVALID, charged=True, usage=usage)
        return written(_answer(blocks), usage)


def _answer(blocks: list[Any]) -> object:
    """What was given to the tool, as JSON; else the text beside it."""
    for block in blocks:
        if part(block, "type") == "tool_use" and part(block, "name") == _ANSWER:
            return json.dumps(part(block, "input"))
    texts = [part(block, "text") for block in blocks if part(block, "type") == "text"]
    return "".join(text for text in texts if isinstance(text, str))
