"""Run any other sentence-transformers model from a local folder, on a GPU if there is one."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from donna_tui.embedding.files import INSTALL_HINT, OFFLINE, folder_sha256
from donna_tui.embedding.provider import (
    QUERY_WINDOWS,
    EmbeddingProvider,
    Matrix,
    Vector,
    check_vectors,
    normalised,
    too_long,
    version_tag,
)
from donna_tui.embedding.tokenizer import ModelTokens
from donna_tui.text.encodable import encodable
from donna_tui.types.errors import ModelError, Reason

LONGEST_WINDOW = 8192
"""Window in tokens of a model that defines no limit."""


class SentenceTransformersProvider(EmbeddingProvider):
    """A model in a sentence-transformers folder. Calls to the model are serialised.

    Creating one imports torch, which takes seconds.
    """

    counter: ModelTokens

    def __init__(self, folder: Path, tokenizer: Path) -> None:
        """Load the model and test it once. Raises ModelError if it cannot be used."""
        self.name = folder.name
        self.version_tag = version_tag(self.name, folder_sha256(folder), "sentence-transformers")
        self.counter = ModelTokens.load(tokenizer)
        self._lock = threading.Lock()
        self._model = _load(folder)
        prompts = (len(self.counter.spans(prompt)) for prompt in ("", *self._model.prompts.values()))
        window = int(min(self._model.max_seq_length or LONGEST_WINDOW, LONGEST_WINDOW))
        self.max_tokens = window - max(prompts)
        first = self._encode(self._model.encode_query, ["A first sentence"])
        self.dim = int(first.shape[1])
        check_vectors(first, 1, self.dim)

    def embed(self, text: str) -> Vector:
        rows = self._encode(self._model.encode_query, self._windows(text))
        vector: Vector = normalised(rows.mean(axis=0, keepdims=True))[0]
        return vector

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        longest = max((len(self.counter.ids(text)) for text in texts), default=0)
        if longest > self.max_tokens:
            raise too_long(longest, self.max_tokens)
        return self._encode(self._model.encode_document, texts)

    def close(self) -> None:
        self._model = None

    def _windows(self, text: str) -> list[str]:
        """Return `text` whole if it fits, else in pieces of half a window, because split words take more tokens."""
        if len(self.counter.ids(text)) <= self.max_tokens:
            return [text]
        starts = [start for start, _ in self.counter.spans(text)[:: self.max_tokens // 2]]
        return [text[start:end] for start, end in pairwise((*starts, len(text)))][:QUERY_WINDOWS]

    def _encode(self, encode: Callable[..., Any], texts: Sequence[str]) -> Matrix:
        with self._lock:
            rows = encode([encodable(text) for text in texts], convert_to_numpy=True, show_progress_bar=False)
        return normalised(np.asarray(rows, dtype=np.float32))


def _load(folder: Path) -> Any:
    os.environ |= OFFLINE
    try:
        from sentence_transformers import SentenceTransformer
        from tqdm import tqdm  # type: ignore[import-untyped]  # it has no types

        tqdm.set_lock(threading.RLock())  # the default multiprocessing lock fails inside a Textual app
        return SentenceTransformer(str(folder), local_files_only=True)
    except ModuleNotFoundError as error:
        raise ModelError(Reason.MODEL_MISSING, f"{error}, which model folders need", hint=INSTALL_HINT) from error
    except Exception as error:
        raise ModelError(Reason.MODEL_INVALID, f"the model in {folder} cannot be loaded") from error
