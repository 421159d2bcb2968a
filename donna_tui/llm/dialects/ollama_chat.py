"""Ollama's own chat. Its OpenAI-like one cannot set the length of the context, and cuts a long question silently."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import httpx2

from donna_tui.config.routes import Route
from donna_tui.llm.dialects.dialect import Reply, part, tokens, written
from donna_tui.llm.failures import CallError, FailureKind, Usage
from donna_tui.llm.questions import Question

BYTES_PER_TOKEN = 2
"""Fewer than text has in any common tokenizer, so that a question always fits into its context."""

CONTEXT_STEP = 4_096
"""Contexts come in few sizes: for each new one, Ollama loads the model again."""


class OllamaChat:
    """`POST /api/chat`."""

    def body(self, route: Route, question: Question) -> dict[str, Any]:
        """The question as the server wants it."""
        needed = question.bytes // BYTES_PER_TOKEN + route.max_output_tokens
        return {
            "model": route.model,
            "messages": [
                {"role": "system", "content": question.system},
                {"role": "user", "content": question.user},
            ],
            "stream": False,
            "format": question.schema,
            "options": {
                "num_predict": route.max_output_tokens,
                "num_ctx": (needed // CONTEXT_STEP + 1) * CONTEXT_STEP,
            },
        }

    def load(self) -> None:
        """Nothing to do."""

    async def send(self, route: Route, key: str, http: httpx2.AsyncClient, body: dict[str, Any]) -> httpx2.Response:
        """Send it once. Raises the errors of httpx2 or DonnaError."""
        headers = {"authorization": f"Bearer {key}"} if key else {}
        return await http.post(f"{route.server}/api/chat", json=body, headers=headers)

    def reply(self, answer: Mapping[str, Any]) -> Reply:
        """Read an answer. Raises CallError."""
        usage = Usage(tokens(answer, "prompt_eval_count"), tokens(answer, "eval_count"))
        if answer.get("done") is not True:
            raise CallError(FailureKind.INVALID, charged=True, usage=usage)
        if answer.get("done_reason") == "length":
            raise CallError(FailureKind.TRUNCATED, charged=True, usage=usage)
        return written(part(answer, "message", "content"), usage)
