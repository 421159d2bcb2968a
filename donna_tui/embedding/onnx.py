"""Run a sentence-embedding model with ONNX Runtime, one text at a time."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import onnxruntime

from donna_tui.embedding.files import ModelFiles
from donna_tui.embedding.provider import (
    QUERY_WINDOWS,
    EmbeddingProvider,
    Matrix,
    Vector,
    check_vectors,
    normalised,
    too_long,
)
from donna_tui.embedding.tokenizer import ModelTokens
from donna_tui.types.errors import ModelError, Reason

_ERRORS_ONLY = 3


class OnnxGraph:
    """A loaded graph that uses one CPU thread per call. Threads may run it concurrently.

    It takes token ids and returns either sentence vectors or token vectors, which are mean-pooled.
    """

    def __init__(self, file: Path) -> None:
        """Load a graph. Raises ModelError (model_invalid) if ONNX Runtime cannot run the file."""
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.inter_op_num_threads = 1
        options.enable_mem_pattern = False  # patterns are cached per shape, and nearly every text differs
        options.log_severity_level = _ERRORS_ONLY
        try:
            self._session = onnxruntime.InferenceSession(
                file,
                options,
                providers=["CPUExecutionProvider"],
                # The fused kernel takes a fifth more time for a whole text than the operations it replaces.
                disabled_optimizers=["SkipLayerNormFusion"],
            )
        except Exception as error:  # ONNX Runtime's errors have no common base below Exception
            raise ModelError(Reason.MODEL_INVALID, f"the embedding model {file.name} cannot be loaded") from error
        self._inputs = tuple(node.name for node in self._session.get_inputs())

    def run(self, ids: Sequence[int]) -> Vector:
        """Return the unit vector of a text. Raises ModelError (embedding_failed) if the graph fails."""
        row = np.array([ids], dtype=np.int64)
        values = {"attention_mask": np.ones_like(row), "token_type_ids": np.zeros_like(row)}
        feeds = {name: values.get(name, row) for name in self._inputs}
        try:
            output: Matrix = self._session.run(None, feeds)[0]
        except Exception as error:
            raise ModelError(Reason.EMBEDDING_FAILED, "the embedding model failed on a passage") from error
        vector: Vector = normalised(output.mean(axis=1) if output.ndim == 3 else output)[0]
        return vector


LAST_LATIN = "\u0250"
"""The first code point after the Latin letters."""


SHORT_TOKEN = 3
"""Letters of a token, on average, up to which a word of three tokens or more is unknown to the model."""

_WORD = re.compile(r"[^\W_]+")


class OnnxProvider(EmbeddingProvider):
    """A model in an ONNX file, with its tokenizer.

    Texts are never padded or batched: on a CPU that is fastest, and because the 8-bit graph scales its numbers per
    batch, a text's vector would otherwise depend on the other texts.
    """

    counter: ModelTokens

    def __init__(self, files: ModelFiles) -> None:
        """Load the model and test it once. Raises ModelError if it cannot be used."""
        self.name = files.name
        self.dim = files.dim
        self.max_tokens = files.max_tokens
        self.version_tag = files.version_tag
        self.counter = ModelTokens.load(files.tokenizer)
        self._graph: OnnxGraph | None = OnnxGraph(files.graph)
        check_vectors(self.embed("A first sentence")[None], 1, self.dim)

    def embed(self, text: str) -> Vector:
        windows = self.counter.windows(text, self.max_tokens)[:QUERY_WINDOWS]
        graph = self._open_graph()
        rows = np.stack([graph.run(ids) for ids in windows])
        vector: Vector = normalised(rows.mean(axis=0, keepdims=True))[0]
        return vector

    def readable_share(self, text: str) -> float:
        """Return the share of Latin letters, because the model was trained on English; 0 for numbers and symbols."""
        letters = [character for character in text if character.isalpha()]
        return sum(letter < LAST_LATIN for letter in letters) / max(1, len(letters))

    def knows(self, words: str) -> bool:
        """Return whether half of the letters or more are in words that are tokens, or split into few. Foreign words are
        split into many; the vectors of such texts, and those of numbers, are close to those of any others.
        """
        found = [match.span() for match in _WORD.finditer(words)]
        starts = [start for start, _ in self.counter.spans(words)]  # one call for all words: each takes 20 µs

        def is_split(start: int, end: int) -> bool:
            tokens = bisect_left(starts, end) - bisect_left(starts, start)
            return words[start:end].isdecimal() or tokens >= max(3, (end - start) / SHORT_TOKEN)

        split = sum(end - start for start, end in found if is_split(start, end))
        return 2 * split <= sum(end - start for start, end in found)

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        rows = np.empty((len(texts), self.dim), dtype=np.float32)
        graph = self._open_graph()
        for row, text in enumerate(texts):
            ids = self.counter.ids(text)
            if len(ids) > self.max_tokens:
                raise too_long(len(ids), self.max_tokens)
            rows[row] = graph.run(ids)
        return rows

    def close(self) -> None:
        self._graph = None

    def _open_graph(self) -> OnnxGraph:
        if self._graph is None:
            raise ModelError(Reason.EMBEDDING_FAILED, "the embedding model is closed")
        return self._graph
