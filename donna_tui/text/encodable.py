"""Make any text of Python storable: JSON and file names may contain lone surrogates, which UTF-8 has no form for."""

from __future__ import annotations


def encodable(text: str) -> str:
    """Replace lone surrogates, which UTF-8 cannot represent, by `?`; offsets stay the same."""
    return text.encode("utf-8", "replace").decode()
