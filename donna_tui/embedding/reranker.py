"""A cross-encoder from a local folder that scores how well a text answers a question."""

from __future__ import annotations

import importlib.util
import threading
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from donna_tui.config.models import RecallConfig, RetrievalConfig
from donna_tui.platform.lazy import np
from donna_tui.types.errors import ModelError, Reason

PAIRS_AT_ONCE = 16


def configured_reranker(settings: RetrievalConfig | RecallConfig) -> CrossEncoderReranker | None:
    """Return the cross-encoder of these settings if it is turned on."""
    folder = settings.reranker_model if settings.reranker_enabled else None
    return CrossEncoderReranker(folder) if folder else None


class CrossEncoderReranker:
    """A lazily loaded cross-encoder. It may be called from several threads; calls are serialised."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._lock = threading.Lock()
        self._model: Any = None

    def __call__(self, query: str, texts: Sequence[str]) -> list[float]:
        """Return the relevance of each text to the query, from 0 to 1. Raises ModelError."""
        with self._lock:
            model = self._loaded()
            try:
                scores = model.predict([(query, text) for text in texts], batch_size=PAIRS_AT_ONCE)
            except Exception as error:
                raise ModelError(
                    Reason.EMBEDDING_FAILED, f"the cross-encoder failed ({type(error).__name__})"
                ) from error
        return _from_0_to_1(np.asarray(scores, dtype=np.float64).reshape(len(texts), -1)[:, -1])

    def _loaded(self) -> Any:
        if self._model is None:
            if not self._folder.is_dir() or importlib.util.find_spec("sentence_transformers") is None:
                raise ModelError(Reason.MODEL_MISSING, f"there is no cross-encoder in {self._folder}")
            from sentence_transformers import CrossEncoder

            try:
                self._model = CrossEncoder(str(self._folder), local_files_only=True)
            except Exception as error:
                message = f"the cross-encoder in {self._folder} cannot be loaded ({type(error).__name__})"
                raise ModelError(Reason.MODEL_INVALID, message) from error
        return self._model


def _from_0_to_1(scores: Any) -> list[float]:
    """Return scores from 0 to 1 unchanged; apply the logistic function, which preserves their order, to others.

    Raises ModelError for a score that is not a number.
    """
    if not np.isfinite(scores).all():
        raise ModelError(Reason.EMBEDDING_FAILED, "the cross-encoder returned a score that is not a number")
    if len(scores) and (scores.min() < 0.0 or scores.max() > 1.0):
        scores = 1.0 / (1.0 + np.exp(-np.clip(scores, -60.0, 60.0)))
    return [float(score) for score in scores]
