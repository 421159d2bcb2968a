"""Count the tokens of a prompt: with cl100k_base if it is installed, else by an estimate. Nothing is downloaded."""

from __future__ import annotations

import hashlib
import importlib.util
import os
import re
import tempfile
import unicodedata
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

CL100K = "cl100k_base"
_FILE = "9b5ad71b2ce5302211f9c61530b329a4922fc6a4"
"""The SHA-1 of the vocabulary's URL, which is its file name in tiktoken's cache (tiktoken/load.py)."""

_SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
"""The SHA-256 of the vocabulary (tiktoken_ext/openai_public.py). tiktoken replaces a file with another hash."""


@dataclass(frozen=True, slots=True)
class PromptTokens:
    """A counter of tokens as the reader of a prompt sees them, or slightly more."""

    name: str
    count: Callable[[str], int]


_PIECE = re.compile(r"[A-Z]?[a-z]{1,7}|[A-Z]{1,2}|[0-9]{1,3}|([^\w\s])\1*|\n+|\S")
_LAST_LATIN, _LAST_BASIC = "\u024f", "\uffff"


def _estimated(text: str) -> int:
    """Estimate without a vocabulary: up to seven letters, two capitals, three digits, equal marks or line breaks
    count as one token; an accented letter as one, another character as one for each part of it, an emoji as three.

    Measured against cl100k_base: 9 to 15 % more in English conversations, minutes and documentation, 17 % in code, 15 %
    in notes of many languages. Of samples of ten passages, at most 4 in 100 have more tokens than estimated.
    """
    pieces = sum(1 for _ in _PIECE.finditer(text))
    return pieces if text.isascii() else pieces + sum(map(_more, text))


ESTIMATE = PromptTokens("estimate", _estimated)


def _more(character: str) -> int:
    if character <= _LAST_LATIN:
        return 0
    return 2 if character > _LAST_BASIC else len(unicodedata.normalize("NFD", character)) - 1


def prompt_tokens(environ: Mapping[str, str] = os.environ) -> PromptTokens:
    file = vocabulary(environ)
    if file is None or importlib.util.find_spec("tiktoken") is None or not _is_genuine(file, file.stat().st_mtime_ns):
        return ESTIMATE
    import tiktoken

    encoding = tiktoken.get_encoding(CL100K)
    return PromptTokens(CL100K, lambda text: len(encoding.encode(text, disallowed_special=())))


def vocabulary(environ: Mapping[str, str]) -> Path | None:
    """Return the path of the vocabulary in tiktoken's cache, or None. Folders are searched in tiktoken's order."""
    folder = environ.get("TIKTOKEN_CACHE_DIR", environ.get("DATA_GYM_CACHE_DIR"))
    if folder == "":
        return None
    place = Path(folder) if folder else Path(tempfile.gettempdir()) / "data-gym-cache"
    return place / _FILE if (place / _FILE).is_file() else None


@lru_cache(maxsize=4)
def _is_genuine(file: Path, mtime_ns: int) -> bool:
    return hashlib.sha256(file.read_bytes()).hexdigest() == _SHA256
