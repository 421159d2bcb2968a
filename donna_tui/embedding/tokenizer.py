"""Count and encode tokens exactly as an embedding model does, from its `tokenizer.json` alone."""

from __future__ import annotations

import hashlib
import os
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.types.errors import ModelError, Reason

if TYPE_CHECKING:
    from tokenizers import Encoding


class ModelTokens:
    """A model's tokenizer: a `TokenCounter` for the chunker and the encoder for the model. Safe to share by threads.

    Special tokens that occur in a note, such as `[SEP]`, are encoded as plain text.
    """

    def __init__(self, definition: bytes) -> None:
        """Load the content of a `tokenizer.json`. Raises ValueError if it is invalid."""
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # a pool of threads, for single texts
        from tokenizers import Tokenizer

        try:
            self._tokenizer = Tokenizer.from_buffer(definition)
        except Exception as error:
            raise ValueError("not a tokenizer definition") from error
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        self._tokenizer.encode_special_tokens = True
        self.name = tokenizer_name(definition)

    @classmethod
    def load(cls, file: Path) -> ModelTokens:
        """Load a `tokenizer.json`, cached until it changes. Raises ModelError (model_invalid) if that fails."""
        try:
            status = file.stat()
            return _loaded(file, status.st_mtime_ns, status.st_size)
        except (OSError, ValueError) as error:
            raise unusable(file) from error

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return half-open character offsets of the tokens of `text`, in order, without the model's special tokens."""
        return list(self._encoding(text, special_tokens=False).offsets)

    def ids(self, text: str) -> list[int]:
        """Encode `text` to token ids, special tokens included, without a limit on its length."""
        return list(self._encoding(text).ids)

    def windows(self, text: str, size: int) -> list[list[int]]:
        """Encode `text` in windows of at most `size` token ids, special tokens included."""
        encoding = self._encoding(text, special_tokens=False)
        encoding.truncate(size - self._tokenizer.num_special_tokens_to_add(is_pair=False))
        first = self._tokenizer.post_process(encoding)
        return [list(window.ids) for window in (first, *first.overflowing)]

    def _encoding(self, text: str, *, special_tokens: bool = True) -> Encoding:
        """Encode as a batch of one: `encode` holds the GIL, for a long note half the time that a key press may take."""
        return self._tokenizer.encode_batch([encodable(text)], add_special_tokens=special_tokens)[0]


@lru_cache(maxsize=2)
def _loaded(file: Path, changed_ns: int, size: int) -> ModelTokens:
    return ModelTokens(file.read_bytes())


class ModelCounter:
    """A `TokenCounter` that loads the tokenizer on first use: that takes as long as a search, and an unchanged vault
    does not need it.
    """

    def __init__(self, file: Path) -> None:
        """Open `file`, a `tokenizer.json`. Raises ModelError (model_invalid) if it cannot be read."""
        self._file = file
        try:
            self.name = tokenizer_name(file.read_bytes())
        except OSError as error:
            raise unusable(file) from error

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Return the spans of the tokens. Raises ModelError (model_invalid) if the file is no tokenizer."""
        return self._tokens.spans(text)

    @cached_property
    def _tokens(self) -> ModelTokens:
        return ModelTokens.load(self._file)


def tokenizer_name(definition: bytes) -> str:
    """Return a name that changes whenever the content of `tokenizer.json` does."""
    return f"tokenizer-{hashlib.sha256(definition).hexdigest()[:8]}"


def unusable(file: Path) -> ModelError:
    return ModelError(Reason.MODEL_INVALID, f"The tokenizer of the model cannot be used: {file.name}.")


def encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot represent, by `?`; offsets stay the same."""
    return text.encode("utf-8", "replace").decode("utf-8")
