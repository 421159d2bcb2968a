"""Counts tokens as an embedding model does, without its tokenizer until there is something to count."""

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
    """To build the tokenizer takes as long as a search, and a vault that has not changed does not need it."""

    def __init__(self, file: Path) -> None:
        """`file` is a `tokenizer.json`. Raises ModelError (model_invalid) if it cannot be read."""
        self._file = file
        try:
            self._name = tokenizer_name(file.read_bytes())
        except OSError as error:
            raise unusable(file) from error

    @property
    def name(self) -> str:
        return self._name

    def spans(self, text: str) -> list[tuple[int, int]]:
        """As `ModelTokens` does. Raises ModelError (model_invalid) if the file is no tokenizer."""
        return self._tokens.spans(text)

    @cached_property
    def _tokens(self) -> ModelTokens:
        from donna_tui.embedding.tokenizer import ModelTokens

        return ModelTokens.load(self._file)


def tokenizer_name(definition: bytes) -> str:
    """Changes whenever the content of `tokenizer.json` does."""
    return f"tokenizer-{hashlib.sha256(definition).hexdigest()[:8]}"


def unusable(file: Path) -> ModelError:
    """The error for a tokenizer that cannot be used."""
    return ModelError(Reason.MODEL_INVALID, f"The tokenizer of the model cannot be used: {file.name}.")
