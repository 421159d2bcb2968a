"""Record model calls in `memory.db`: one row each, without any text, and the amount spent today."""

from __future__ import annotations

import datetime
import time
from dataclasses import dataclass

from donna_tui.index.invocations import InputHash
from donna_tui.llm.failures import CompletionMetadata
from donna_tui.memory.database import MemoryDb
from donna_tui.memory.db_thread import DbThread
from donna_tui.safety.classify import Sensitivity
from donna_tui.safety.payload import Payload


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCall:
    """One call. Its prompt is stored only as a hash, keyed with this memory's key if it is private."""

    task_type: str
    metadata: CompletionMetadata
    prompt: Payload


class CallLedger:
    """Record and total the calls of a space. Raises DatabaseError."""

    def __init__(self, db: DbThread) -> None:
        self._db = db

    async def record(self, call: ModelCall) -> None:
        """Add a row."""
        await self._db.run(lambda db: record_call(db, call, time.time()))

    async def spent_today(self) -> float:
        """Return the cost in US dollars of all calls since midnight, local time."""
        since = _midnight()
        return await self._db.run(lambda db: spent_since(db, since))


def record_call(db: MemoryDb, call: ModelCall, at: float) -> None:
    """Add a row; it is durable when this returns."""
    each = call.metadata
    private = call.prompt.sensitivity is not Sensitivity.PUBLIC
    digest = InputHash(db.key)(_text(call.prompt), sensitive=private)
    with db.change():
        db.database.run(
            "INSERT INTO model_calls (at, task_type, alias, model, latency_ms, tokens_in, tokens_out, cost_usd,"
            " input_hash, outcome) VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)",
            (at, call.task_type, each.alias, each.model, each.latency_ms, each.tokens_in, each.tokens_out,
             each.cost_usd, digest, each.outcome),
        )  # fmt: skip


def spent_since(db: MemoryDb, at: float) -> float:
    """Return the cost in US dollars of all calls since a time (Unix time)."""
    return float(db.database.value("SELECT coalesce(sum(cost_usd), 0) FROM model_calls WHERE at >= ?", (at,)))


def _text(prompt: Payload) -> str:
    whole = "\n".join((prompt.system, *(segment.text for segment in prompt.segments)))
    return whole.encode("utf-8", "replace").decode()


def _midnight() -> float:
    now = datetime.datetime.now().astimezone()
    return now.replace(hour=0, minute=0, second=0, microsecond=0).timestamp()
