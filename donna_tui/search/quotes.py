"""Originals before their quotes: what Donna wrote ranks behind the notes whose words it repeats."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Mapping, Sequence

from donna_tui.index.database import Database
from donna_tui.search.ranking import Ranked
from donna_tui.search.snippets import stem

LOOKED_AT = 30
"""Hits at the top of the list among which originals and quotes are looked for."""

RUN, SHORTEST = 6, 3
"""Words in a row that two passages share where one quotes the other; a shorter original is repeated as a whole."""

_WORD = re.compile(r"\w+")


def originals_first(database: Database, hits: Sequence[Ranked], stems: Collection[str]) -> list[Ranked]:
    """The hits, each original lifted to just above the first passage of a note by Donna that quotes it.

    Two passages that have a run of words in common are original and quote, unless the one by Donna holds words of the
    question that the other lacks. People who repeat themselves do not quote: among their notes, the order stays.
    """
    top = list(hits[:LOOKED_AT])
    pairs = _quoting(database, {one.document for one in top})
    if not pairs:
        return list(hits)
    texts = _texts(database, [one.id for one in top if any(one.document in pair for pair in pairs)])
    for place in range(len(top)):
        quote = top[place]
        below = [one for one in top[place + 1 :] if (quote.document, one.document) in pairs]
        original = next((one for one in below if _repeats(texts[quote.id], texts[one.id], stems)), None)
        if original is not None:
            top.remove(original)
            top.insert(place, original.scored(quote.rank_score))
    return [*top, *hits[LOOKED_AT:]]


def _quoting(database: Database, documents: Collection[str]) -> set[tuple[str, str]]:
    """Pairs of documents of which the first may quote the second: Donna may quote people, and her own earlier notes."""
    rows = database.rows(
        "SELECT id, coalesce(json_extract(metadata_json, '$.frontmatter.autowritten_by'),"
        " json_extract(metadata_json, '$.frontmatter.donna_id')) IS NOT NULL, dated_at"
        " FROM memory_documents WHERE id IN (SELECT value FROM json_each(?)) AND source_type = 'vault'",
        (json.dumps(sorted(documents)),),
    )
    by_donna = [(each, at) for each, is_donnas, at in rows if is_donnas]
    return {
        (quote, other)
        for quote, dated_at in by_donna
        for other, is_donnas, at in rows
        if other != quote and (not is_donnas or at < dated_at)
    }


def _texts(database: Database, ids: Sequence[int]) -> Mapping[int, list[str]]:
    """The words of some passages, in order."""
    rows = database.rows(
        "SELECT id, content FROM memory_chunks WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(list(ids)),)
    )
    return {each: _WORD.findall(content.casefold()) for each, content in rows}


def _repeats(quote: list[str], original: list[str], stems: Collection[str]) -> bool:
    """Whether they share a run of words, and the original holds all words of the question that the quote holds."""
    length = min(RUN, len(original))
    if length < SHORTEST or not _runs(quote, length) & _runs(original, length):
        return False
    held = set(map(stem, original))
    return all(each in held for each in set(map(stem, quote)) & set(stems))


def _runs(words: list[str], length: int) -> set[tuple[str, ...]]:
    return {tuple(words[start : start + length]) for start in range(len(words) - length + 1)}
