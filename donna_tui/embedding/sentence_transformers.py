"""Serves any other sentence-transformers model from a local folder, on a GPU where there is one."""

from __future__ import annotations

import hashlib
import os
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from donna_tui.embedding.files import INSTALL_HINT, OFFLINE, sha256_of
from donna_tui.embedding.provider import QUERY_WINDOWS, Matrix, Vector, check_vectors, normalised, too_long, version_tag
from donna_tui.embedding.tokenizer import ModelTokens
from donna_tui.errors import ModelError, Reason

_DEFINING_FILES = frozenset({".safetensors", ".bin", ".json"})


class SentenceTransformersProvider:
    """An `EmbeddingProvider` over a sentence-transformers folder. One thread at a time uses the model.

    Making one imports torch, which takes seconds.
    """

    def __init__(self, folder: Path, tokenizer: Path) -> None:
        """Load the model and try it once. Raises ModelError if it cannot be used."""
        self.name = folder.name
        self.version_tag = version_tag(self.name, _fingerprint(folder), "sentence-transformers")
        self.counter = ModelTokens.load(tokenizer)
        self._lock = threading.Lock()
        self._model = _load(folder)
        prompts = (len(self.counter.spans(prompt)) for prompt in self._model.prompts.values())
        self.max_tokens = int(self._model.max_seq_length) - max(prompts, default=0)
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
        """`text` whole if it fits, else in pieces of half a window, since a cut word may take more tokens."""
        if len(self.counter.ids(text)) <= self.max_tokens:
            return [text]
        starts = [start for start, _ in self.counter.spans(text)[:: self.max_tokens // 2]]
        return [text[start:end] for start, end in pairwise((*starts, len(text)))][:QUERY_WINDOWS]

    def _encode(self, encode: Callable[..., Any], texts: Sequence[str]) -> Matrix:
        with self._lock:
            rows = encode(list(texts), convert_to_numpy=True, show_progress_bar=False)
        return normalised(np.asarray(rows, dtype=np.float32))


def _load(folder: Path) -> Any:
    os.environ |= OFFLINE
    try:
        from sentence_transformers import SentenceTransformer
        from tqdm import tqdm  # type: ignore[import-untyped]  # it has no types

        tqdm.set_lock(threading.RLock())  # its own lock is shared by processes: impossible inside a Textual app
        return SentenceTransformer(str(folder), local_files_only=True)
    except ModuleNotFoundError as error:
        raise ModelError(Reason.MODEL_MISSING, f"{error}, which model folders need.", hint=INSTALL_HINT) from error
    except Exception as error:
        raise ModelError(Reason.MODEL_INVALID, f"The model in {folder} cannot be loaded.") from error


def _fingerprint(folder: Path) -> str:
    """One hash of every file that decides what the vectors are."""
    files = sorted(file for file in folder.rglob("*") if file.suffix in _DEFINING_FILES)
    lines = (f"{file.relative_to(folder)} {sha256_of(file)}\n" for file in files)
    return hashlib.sha256("".join(lines).encode()).hexdigest()
