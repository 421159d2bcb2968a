"""Record model calls in `memory.db`: one row each, without any text, and the amount spent today."""

from __future__ import annotations

import datetime

from donna_tui.index.invocations import InputHash
from donna_tui.llm.failures import CompletionMetadata
from donna_tui.memory.database import MemoryDb
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.payload import Payload


def record_call(db: MemoryDb, task_type: str, prompt: Payload, metadata: CompletionMetadata, at: float) -> None:
    """Add a row; it is durable when this returns. Raises DatabaseError.

    The prompt is stored only as a hash, keyed with this memory's key if it is private.
    """
    text = (
        "\n".join((prompt.system, *(segment.text for segment in prompt.segments))).encode("utf-8", "replace").decode()
    )
    digest = InputHash(db.key)(text, sensitive=prompt.sensitivity is not Sensitivity.PUBLIC)
    with db.change():
        db.database.run(
            "INSERT INTO model_calls (at, task_type, alias, model, latency_ms, tokens_in, tokens_out, cost_usd,"
            " input_hash, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (at, task_type, metadata.alias, metadata.model, metadata.latency_ms, metadata.tokens_in,
             metadata.tokens_out, metadata.cost_usd, digest, metadata.outcome),
        )  # fmt: skip


def spent_since(db: MemoryDb, at: float) -> float:
    """Return the cost in US dollars of all calls since a time (Unix time)."""
    return float(db.database.value("SELECT coalesce(sum(cost_usd), 0) FROM model_calls WHERE at >= ?", (at,)))


def spent_today(db: MemoryDb) -> float:
    """Return the cost in US dollars of all calls since midnight, local time."""
    return spent_since(db, datetime.datetime.combine(datetime.date.today(), datetime.time()).timestamp())
