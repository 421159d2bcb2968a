"""Servers that speak as OpenAI's does: chat completions with a schema for the answer."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

from donna_tui.config.routes import Route
from donna_tui.llm.dialects.dialect import Reply, part, quietly, tokens, unwrapped, written
from donna_tui.llm.failures import CallError, FailureKind, Usage
from donna_tui.llm.questions import Question

_NO_KEY = "none"
"""A server on this machine asks for no key, and the library insists on one."""

_OPENAI = "https://api.openai.com/"
_ENDED = {
    "length": FailureKind.TRUNCATED,
    "content_filter": FailureKind.FILTERED,
    "tool_calls": FailureKind.INVALID,
    "function_call": FailureKind.INVALID,
}


class OpenAIChat:
    """`POST /chat/completions`."""

    def body(self, route: Route, question: Question) -> dict[str, Any]:
        """The question as the server wants it."""
        newer = f"{route.server}/".startswith(_OPENAI)
        shape = {"name": "answer", "schema": question.schema, "strict": True}
        return {
            "model": route.model,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.user},
            ],
            "max_completion_tokens" if newer else "max_tokens": route.max_output_tokens,
            "response_format": {"type": "json_schema", "json_schema": shape},
        }

    def load(self) -> None:
        """Import what it is sent with. Raises CallError without the library."""
        try:
            import openai
        except ImportError:
            raise CallError(FailureKind.NOT_INSTALLED, charged=False) from None
        quietly(openai.__name__)

    async def send(self, route: Route, key: str, http: httpx2.AsyncClient, body: dict[str, Any]) -> httpx2.Response:
        """Send it once, after `load`. Raises the errors of httpx2 or DonnaError."""
        import openai

        client = openai.AsyncOpenAI(
            api_key=key or _NO_KEY,
            base_url=route.server,
            http_client=http,
            max_retries=0,
            timeout=route.deadline_seconds,
        )
        try:
            return await client.post("/chat/completions", body=body, cast_to=httpx2.Response)
        except openai.APIStatusError as error:
            return error.response
        except openai.APIConnectionError as error:
            raise unwrapped(error) from None

    def reply(self, answer: Mapping[str, Any]) -> Reply:
        """Read an answer. Raises CallError."""
        stated = answer.get("usage")
        usage = Usage(tokens(stated, "prompt_tokens"), tokens(stated, "completion_tokens"))
        choice = part(answer.get("choices"), 0)
        if not isinstance(choice, dict):
            raise CallError(FailureKind.INVALID, charged=True, usage=usage)
        if part(choice, "message", "refusal"):
            raise CallError(FailureKind.REFUSED, charged=True, usage=usage)
        ended = choice.get("finish_reason")
        if isinstance(ended, str) and ended in _ENDED:
            raise CallError(_ENDED[ended], charged=True, usage=usage)
        return written(part(choice, "message", "content"), usage)
