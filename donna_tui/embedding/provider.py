"""Define the protocol of an embedding model, and check its vectors before they are stored."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Protocol, TypeAlias, runtime_checkable

from donna_tui.platform.lazy import np
from donna_tui.text.tokens import TokenCounter
from donna_tui.types.errors import ModelError, Reason

if TYPE_CHECKING:
    from numpy.typing import NDArray

Vector: TypeAlias = "NDArray[np.float32]"
Matrix: TypeAlias = "NDArray[np.float32]"

UNIT_TOLERANCE = 1e-3

QUERY_WINDOWS = 8
"""Windows of a long question that are read: some 2,000 tokens with the default model."""


class EmbeddingProvider(Protocol):
    """A model that turns text into vectors of unit length. Its methods may be called from several threads at once.

    `max_tokens` is the model's window, its special tokens included. `version_tag` changes whenever vectors made before
    and after must not be compared. `counter` counts tokens as the model does.
    """

    @property
    def name(self) -> str: ...
    @property
    def dim(self) -> int: ...
    @property
    def max_tokens(self) -> int: ...
    @property
    def version_tag(self) -> str: ...
    @property
    def counter(self) -> TokenCounter: ...

    def embed(self, text: str) -> Vector:
        """The vector of a question of any length: what exceeds the window is averaged over several windows.

        Raises ModelError if the model fails.
        """
        ...

    def embed_batch(self, texts: Sequence[str]) -> Matrix:
        """The vectors of passages, one row a text, in the order given.

        Raises ModelError if the model fails, or if a text exceeds the window: nothing is ever truncated.
        """
        ...

    def reads(self, text: str) -> float:
        """The share of a text, from 0 to 1, that is in scripts which the model has learned."""
        ...

    def close(self) -> None:
        """Release the model. Nothing may be embedded afterwards."""
        ...


@runtime_checkable
class ServedModel(Protocol):
    """What is particular about a model that a server runs."""

    @property
    def leaves(self) -> bool:
        """Whether the text that it is given leaves this machine."""
        ...

    def interrupt(self) -> None:
        """Give up what is under way, on any thread: nobody waits for it any more."""
        ...


def leaves_machine(provider: EmbeddingProvider) -> bool:
    """Whether text that this model embeds leaves this machine, so that private notes must not be given to it."""
    return isinstance(provider, ServedModel) and provider.leaves


def version_tag(name: str, sha256: str, variant: str) -> str:
    """The fingerprint of a model, such as `minilm-l6-v2@53aa5117/int8`: name, start of the weights' hash, variant."""
    return f"{name}@{sha256[:8]}/{variant}"


def normalised(rows: Matrix) -> Matrix:
    """Each row scaled to unit length. A row of zeros stays as it is, for `check_vectors` to refuse."""
    lengths = np.linalg.norm(rows, axis=1, keepdims=True)
    return (rows / np.where(lengths > 0, lengths, 1)).astype(np.float32)


def check_vectors(matrix: Matrix, count: int, dim: int) -> Matrix:
    """Return `matrix` if it is `count` finite float32 vectors of `dim` numbers and unit length (±0.001).

    Raises ModelError (embedding_failed) otherwise: one NaN or zero vector would rank above every honest match.
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
    """The error for a passage that exceeds the model's window."""
    return ModelError(
        Reason.EMBEDDING_FAILED,
        f"A passage has {tokens} tokens, but the model reads at most {max_tokens}.",
        hint="Lower embedding.max_tokens so that notes are cut into shorter passages.",
    )


def _refused(what: str) -> ModelError:
    return ModelError(Reason.EMBEDDING_FAILED, f"The embedding model returned {what}.")
