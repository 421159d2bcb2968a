"""Models for benchmarks that must not pay for the real one: none at all, or vectors around a few real ones.

`python -m bench.models VERB …` runs `donna` without a model. Notes are still cut by the real model's tokens.
"""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Sequence
from pathlib import Path
from threading import Event
from typing import Protocol
from unittest.mock import patch

import numpy as np

from donna_tui.config.models import EmbeddingConfig
from donna_tui.embedding.files import ModelFiles
from donna_tui.embedding.onnx import OnnxProvider
from donna_tui.embedding.prepare import OnPhase
from donna_tui.embedding.provider import EmbeddingProvider, Matrix, Vector, normalised
from donna_tui.embedding.service import EmbeddingService
from donna_tui.types.errors import ModelError, Reason
from donna_tui.types.status import ModelPhase

NOISE = 0.6
"""Length of the noise around a real vector: cosines of about 0.86 to it."""


class BuildService(Protocol):
    """What an engine calls to get its model."""

    def __call__(
        self, config: EmbeddingConfig, cache: Path, on_phase: OnPhase, cancel: Event | None = None
    ) -> EmbeddingService: ...


def no_model(config: EmbeddingConfig, cache: Path, on_phase: OnPhase, cancel: Event | None = None) -> EmbeddingService:
    """Raises ModelError: there is none."""
    raise ModelError(Reason.MODEL_MISSING, "this benchmark measures search by words")


class AroundReal(OnnxProvider):
    """Embeds questions as the real model does; a passage's vector is a real one of another text, with noise of its own.
    Searches then find as much, and rank it as far apart, as among real vectors.
    """

    def __init__(self, files: ModelFiles, texts: Sequence[str]) -> None:
        """`texts` are what is really embedded, one after the other."""
        super().__init__(files)
        self._anchors = np.concatenate([super(AroundReal, self).embed_batch([text]) for text in texts])

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        return normalised(np.stack([self._row(text) for text in texts]))

    def _row(self, text: str) -> Vector:
        random = np.random.default_rng(int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big"))
        noise = random.standard_normal(self.dim, dtype=np.float32) * (NOISE / np.sqrt(self.dim))
        vector: Vector = self._anchors[random.integers(len(self._anchors))] + noise
        return vector


def serving(provider: EmbeddingProvider) -> BuildService:
    """Lets an engine have this model."""

    def build(config: EmbeddingConfig, cache: Path, on_phase: OnPhase, cancel: Event | None = None) -> EmbeddingService:
        on_phase(ModelPhase.READY, provider.version_tag)
        return EmbeddingService(provider, stamp=config.version_tag)

    return build


def engines_get(build: BuildService) -> contextlib.AbstractContextManager[object]:
    """Every engine that starts in this process within the block gets its model from `build`."""
    return patch("donna_tui.engine.model_manager.build_embedding_service", build)


if __name__ == "__main__":
    from donna_tui.__main__ import main

    with engines_get(no_model):
        main()
