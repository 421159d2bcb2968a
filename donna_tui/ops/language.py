"""Detect whether the notes of a vault are mostly in another language than the default model was trained on."""

from __future__ import annotations

import re

from donna_tui.index.database import Database
from donna_tui.search.query import STOP_WORDS
from donna_tui.text.words import segments, spaced

SAMPLE = 300
"""Notes in a sample."""

FEWEST_WORDS, FEWEST_NOTES = 20, 5
ENGLISH = 0.15
"""The share of common English words above which a note counts as English: prose has 0.3 to 0.5 of them."""

_WORD = re.compile(r"[^\W\d_]+")
_CODE = re.compile(r"```.*?```|`[^`]*`|https?://\S+", re.DOTALL)


def is_mostly_not_english(database: Database) -> bool:
    """Return whether most notes of a sample, of those with enough prose to decide, are not in English."""
    rows = database.rows(
        "SELECT group_concat(content, ' ') FROM memory_chunks WHERE document_id IN"
        " (SELECT id FROM memory_documents WHERE source_type = 'vault' ORDER BY rowid % 97, rowid LIMIT ?)"
        " GROUP BY document_id",
        (SAMPLE,),
    )
    decided = [is_english for (content,) in rows if (is_english := _is_english(content)) is not None]
    return len(decided) >= FEWEST_NOTES and sum(decided) * 2 < len(decided)


def _is_english(text: str) -> bool | None:
    """Return whether the text is English; None if it is too short to decide."""
    prose = _CODE.sub(" ", text.casefold())
    words = [*_WORD.findall(spaced(prose)), *segments(prose)[::2]]
    if len(words) < FEWEST_WORDS:
        return None
    return sum(word in STOP_WORDS for word in words) / len(words) >= ENGLISH
