"""An embedding model that misbehaves on demand; its vectors are otherwise valid."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Sequence
from pathlib import Path
from threading import Event

import numpy as np
import pytest

from donna_tui.config.models import EmbeddingConfig
from donna_tui.embedding.prepare import OnPhase
from donna_tui.embedding.provider import EmbeddingProvider, Matrix, Vector
from donna_tui.embedding.service import EmbeddingService
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.errors import ModelError, Reason
from donna_tui.types.status import ModelPhase

DIM = 16

Fault = Callable[[Matrix], Matrix]


def refuse(rows: Matrix) -> Matrix:
    raise ModelError(Reason.EMBEDDING_FAILED, "the model refused a passage")


def crash(rows: Matrix) -> Matrix:
    raise RuntimeError("a fault deep inside a library")


def not_a_number(rows: Matrix) -> Matrix:
    return np.full_like(rows, np.nan)


class FaultyModel(EmbeddingProvider):
    """A model with vectors from hashes. `fault` spoils every batch in which a text contains `poison`."""

    name = "faulty"
    dim = DIM
    max_tokens = 256
    counter = EstimatedTokens()

    def __init__(self, version: str = "faulty@1", poison: str = "", fault: Fault = refuse) -> None:
        self.version_tag, self.poison, self._fault = version, poison, fault

    def embed(self, text: str) -> Vector:
        return self.embed_batch([text])[0]

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        rows = np.stack([self._row(text) for text in texts])
        return self._fault(rows) if self.poison and any(self.poison in text for text in texts) else rows

    def _row(self, text: str) -> Vector:
        seed = int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")
        row = np.random.default_rng(seed).standard_normal(DIM).astype(np.float32)
        unit: Vector = row / np.linalg.norm(row)
        return unit

    def close(self) -> None:
        pass


def serve(monkeypatch: pytest.MonkeyPatch, model: FaultyModel) -> None:
    """Use this model in every engine that starts from now on."""

    def build(config: EmbeddingConfig, cache: Path, on_phase: OnPhase, cancel: Event | None = None) -> EmbeddingService:
        on_phase(ModelPhase.READY, model.version_tag)
        return EmbeddingService(model)

    monkeypatch.setattr("donna_tui.embedding.build.build_embedding_service", build)
