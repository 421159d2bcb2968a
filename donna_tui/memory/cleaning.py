"""The first step of remembering: one form for what looks the same (seed 002 §1.2)."""

from __future__ import annotations

import re
import unicodedata

_LINE_END = re.compile(r"\r\n?")
_BLANK_LINES = re.compile(r"\n(?:[ \t]*\n)+")


def clean_text(text: str) -> str:
    """The text in NFC, without white space around it, and with one blank line at the most between its lines.

    Marks of formatting and code blocks stay. Halves of surrogate pairs and NUL, which cannot be stored, become `�`.
    """
    storable = text.encode("utf-8", "replace").decode().replace("\0", "�")
    lines = _LINE_END.sub("\n", unicodedata.normalize("NFC", storable))
    return _BLANK_LINES.sub("\n\n", lines).strip()
