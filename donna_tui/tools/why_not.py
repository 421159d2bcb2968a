"""Why a note is not among the hits, as programs and people get it outside the app."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from donna_tui.search.why_not import WhyNot


def why_not_fields(found: WhyNot, question: str) -> dict[str, Any]:
    """As JSON. `cause` is a stable code; ranks are 1-based, and null where the note has none."""
    return {
        "path": found.path,
        "query": question,
        "cause": found.cause.value,
        "detail": found.detail,
        "rank": found.rank,
        "keyword_rank": found.keyword_rank,
        "vector_rank": found.vector_rank,
        "score": None if found.cosine is None else round(found.cosine, 4),
    }


def why_not_lines(found: WhyNot) -> Iterator[str]:
    """For reading: the reason, and where its best passages are in each leg."""
    yield f"{found.path}: {found.detail}"
    if found.keyword_rank or found.vector_rank or found.cosine is not None:
        cosine = "" if found.cosine is None else f", cosine {found.cosine:.2f}"
        yield f"rank by words {found.keyword_rank or '–'}, by meaning {found.vector_rank or '–'}{cosine}"
