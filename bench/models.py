"""Replace the embedding model for benchmarks in which the real one would cost too much: by none, or by random vectors.

`python -m bench.models VERB …` runs `donna` without a model. Notes are still chunked with the real model's tokenizer.
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
"""The length of the noise added to a real vector, which leaves a cosine of about 0.86."""


class BuildService(Protocol):
    """The type of the function that an engine calls to get its model."""

    def __call__(
        self, config: EmbeddingConfig, cache: Path, on_phase: OnPhase, cancel: Event | None = None
    ) -> EmbeddingService: ...


def no_model(config: EmbeddingConfig, cache: Path, on_phase: OnPhase, cancel: Event | None = None) -> EmbeddingService:
    """Raise ModelError, as if no model were installed."""
    raise ModelError(Reason.MODEL_MISSING, "this benchmark measures search by words")


class AroundReal(OnnxProvider):
    """A model that embeds questions as the real one does, and each passage as a random real vector with noise.

    Searches then find as much as among real vectors, with scores as far apart.
    """

    def __init__(self, files: ModelFiles, texts: Sequence[str]) -> None:
        """Embed `texts`, one after the other, as the real vectors."""
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
    """Return a function that gives an engine this provider."""

    def build(config: EmbeddingConfig, cache: Path, on_phase: OnPhase, cancel: Event | None = None) -> EmbeddingService:
        on_phase(ModelPhase.READY, provider.version_tag)
        return EmbeddingService(provider, stamp=config.version_tag)

    return build


def engines_get(build: BuildService) -> contextlib.AbstractContextManager[object]:
    """Replace the model of every engine that starts in this process within the block."""
    return patch("donna_tui.embedding.build.build_embedding_service", build)


if __name__ == "__main__":
    from donna_tui.__main__ import main

    with engines_get(no_model):
        main()
