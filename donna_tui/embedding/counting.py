"""Count tokens as an embedding model does, building its tokenizer on first use."""

from __future__ import annotations

import hashlib
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.text.tokens import TokenCounter
from donna_tui.types.errors import ModelError, Reason

if TYPE_CHECKING:
    from donna_tui.embedding.tokenizer import ModelTokens


class ModelCounter(TokenCounter):
    """Count tokens with a lazily loaded tokenizer.

    Building it takes as long as a search, and an unchanged vault does not need it.
    """

    def __init__(self, file: Path) -> None:
        """Open `file`, a `tokenizer.json`. Raises ModelError (model_invalid) if it cannot be read."""
        self._file = file
        try:
            self._name = tokenizer_name(file.read_bytes())
        except OSError as error:
            raise unusable(file) from error

    @property
    def name(self) -> str:
        return self._name

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of the tokens. Raises ModelError (model_invalid) if the file is no tokenizer."""
        return self._tokens.spans(text)

    @cached_property
    def _tokens(self) -> ModelTokens:
        from donna_tui.embedding.tokenizer import ModelTokens

        return ModelTokens.load(self._file)


def tokenizer_name(definition: bytes) -> str:
    """Return a name that changes whenever the content of `tokenizer.json` does."""
    return f"tokenizer-{hashlib.sha256(definition).hexdigest()[:8]}"


def unusable(file: Path) -> ModelError:
    """Return the error for a tokenizer that cannot be used."""
    return ModelError(Reason.MODEL_INVALID, f"The tokenizer of the model cannot be used: {file.name}.")
