"""The protocol of an embedding model, and the validation of its vectors before they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias

from donna_tui.platform.lazy import np
from donna_tui.text.tokens import TokenCounter
from donna_tui.types.errors import ModelError, Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
Matrix: TypeAlias = "NDArray[np.float32]"

UNIT_TOLERANCE = 1e-3

QUERY_WINDOWS = 8
"""Maximum number of windows of a long question that are embedded: about 2,000 tokens with the default model."""


class EmbeddingProvider(Protocol):
    """A model that embeds text as vectors of unit length. Its methods may be called from several threads at once.

    `max_tokens` is the model's window, special tokens included. `version_tag` changes whenever vectors are no longer
    comparable. `counter` counts tokens as the model does.
    """

    name: str
    dim: int
    max_tokens: int
    version_tag: str
    counter: TokenCounter

    @property
    def leaves(self) -> bool:
        """Return whether text to embed is sent off this machine, so that private notes must be withheld."""
        return False

    def embed(self, text: str) -> Vector:
        """Embed a question of any length: a text that exceeds the window is averaged over several windows.

        Raises ModelError if the model fails.
        """
        ...

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        """Embed passages, one row per text, in the order given.

        Raises ModelError if the model fails, or if a text exceeds the window: nothing is ever truncated.
        """
        ...

    def readable_share(self, text: str) -> float:
        """Return the share of a text, from 0 to 1, in scripts that the model was trained on; 1 if these are unknown."""
        return 1.0

    def knows(self, words: str) -> bool:
        """Return whether most of some words are in the model's vocabulary, as a whole or in a few pieces, or may be."""
        return True

    def interrupt(self) -> None:
        """Cancel running requests to a server, on any thread."""
        return

    def close(self) -> None:
        """Release the model. Nothing may be embedded afterwards."""
        ...


def version_tag(name: str, sha256: str, variant: str) -> str:
    """Build the fingerprint of a model, such as `minilm-l6-v2@53aa5117/int8`, from the hash of its weights."""
    return f"{name}@{sha256[:8]}/{variant}"


def normalised(rows: Matrix) -> Matrix:
    """Scale each row to unit length. A row of zeros is kept, so that `check_vectors` rejects it."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def check_vectors(matrix: Matrix, count: int, dim: int) -> Matrix:
    """Return `matrix` if it is `count` finite float32 vectors of `dim` numbers and unit length (±0.001).

    Raises ModelError (embedding_failed) otherwise: one NaN or zero vector would rank above every real match.
    """
    if matrix.shape != (count, dim):
        raise _refused(f"vectors of shape {matrix.shape} instead of {(count, dim)}")
    if matrix.dtype != np.float32:
        raise _refused(f"{matrix.dtype} instead of float32")
    if not np.isfinite(matrix).all():
        raise _refused("a vector that is not finite")
    if (np.abs(np.linalg.norm(matrix, axis=1) - 1) > UNIT_TOLERANCE).any():
        raise _refused("a vector that is not of unit length")
    return matrix


def too_long(tokens: int, max_tokens: int) -> ModelError:
    message = f"a passage has {tokens} tokens, but the model reads at most {max_tokens}"
    hint = "lower embedding.max_tokens so that notes are cut into shorter passages"
    return ModelError(Reason.EMBEDDING_FAILED, message, hint=hint)


def _refused(what: str) -> ModelError:
    return ModelError(Reason.EMBEDDING_FAILED, f"the embedding model returned {what}")
