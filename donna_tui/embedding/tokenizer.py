"""Count and encode tokens exactly as an embedding model does, from its `tokenizer.json` alone."""

from __future__ import annotations

import hashlib
import os
from functools import cached_property, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.text.encodable import encodable
from donna_tui.types.errors import ModelError, Reason

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer


class ModelTokens:
    """A model's tokenizer: a `TokenCounter` for the chunker and the encoder for the model. Safe to share by threads.

    It is built at the first use, since that takes as long as a search, and an unchanged vault does not need it; the
    methods raise ModelError (model_invalid) if the definition is invalid. `name` changes whenever the definition does.
    Special tokens that occur in a note, such as `[SEP]`, are encoded as plain text.
    """

    def __init__(self, definition: bytes) -> None:
        """Take the content of a `tokenizer.json`."""
        self._definition = definition
        self.name = f"tokenizer-{hashlib.sha256(definition).hexdigest()[:8]}"

    @classmethod
    def load(cls, file: Path) -> ModelTokens:
        """Read a `tokenizer.json`, cached until it changes. Raises ModelError (model_invalid) if that fails."""
        try:
            status = file.stat()
            return _loaded(file, status.st_mtime_ns, status.st_size)
        except OSError as error:
            raise _unusable() from error

    @cached_property
    def _tokenizer(self) -> Tokenizer:
        os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")  # a pool of threads, for single texts
        from tokenizers import Tokenizer

        try:
            tokenizer = Tokenizer.from_buffer(self._definition)
        except Exception as error:  # the library's errors have no common base below Exception
            raise _unusable() from error
        tokenizer.no_truncation()
        tokenizer.no_padding()
        tokenizer.encode_special_tokens = True
        return tokenizer

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


def _unusable() -> ModelError:
    return ModelError(Reason.MODEL_INVALID, "the tokenizer of the model cannot be used: tokenizer.json")
