"""The invocation log: one row per embedded text and per model call, without any text."""

from __future__ import annotations

import contextlib
import hashlib
import hmac
import secrets
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from donna_tui.index.database import Database

KEPT_ROWS = 20_000
KEY_BYTES = 32

TaskType = Literal[
    "embed_vault_chunk", "embed_chat_turn", "embed_task", "embed_correction", "embed_memory", "embed_memory_query"
]

EMBEDS: dict[str, TaskType] = {
    "vault": "embed_vault_chunk",
    "chat": "embed_chat_turn",
    "task": "embed_task",
    "correction": "embed_correction",
    "memory": "embed_memory",
}
"""Task types of embedding a chunk, by the source type of its document."""


@dataclass(frozen=True, slots=True)
class Invocation:
    """An embedded text: its task, the version of its vector, the milliseconds that it took, and its hash."""

    task_type: TaskType
    model: str
    latency_ms: float
    input_hash: str

    @property
    def alias(self) -> str:
        """Return the model's name, as in `embedding.provider`: `minilm-l6-v2`."""
        return self.model.split()[-1].partition("@")[0] if self.model.split() else ""


def record(database: Database, invocations: Sequence[Invocation]) -> None:
    """Append rows, and delete all but the latest 20,000."""
    now = time.time()
    database.run_many(
        "INSERT INTO invocation_log (at, task_type, model_alias, latency_ms, input_hash) VALUES (?, ?, ?, ?, ?)",
        [
            (now, invocation.task_type, invocation.alias, invocation.latency_ms, invocation.input_hash)
            for invocation in invocations
        ],
    )
    database.run("DELETE FROM invocation_log WHERE id <= (SELECT max(id) FROM invocation_log) - ?", (KEPT_ROWS,))


class InputHash:
    """Hash texts for the log; sensitive ones with a key, because a plain hash of a short secret can be guessed."""

    def __init__(self, key: bytes) -> None:
        self._key = key

    def __call__(self, text: str, *, sensitive: bool) -> str:
        data = text.encode()
        if sensitive:
            return hmac.new(self._key, data, hashlib.sha256).hexdigest()
        return hashlib.sha256(data).hexdigest()


def load_key(folder: Path) -> bytes:
    """Load this space's secret key, created on first use. If it cannot be stored, it is valid for this run."""
    path = folder / "log.key"
    fresh = secrets.token_bytes(KEY_BYTES)
    with contextlib.suppress(OSError):
        key = path.read_bytes() if path.exists() else b""
        if len(key) == KEY_BYTES:
            return key
        path.unlink(missing_ok=True)
        path.touch(mode=0o600)
        path.write_bytes(fresh)
    return fresh
