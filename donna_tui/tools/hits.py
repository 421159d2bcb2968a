"""A hit as programs and people get it outside the app."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from donna_tui.results import Hit
from donna_tui.search.citations import citation
from donna_tui.vault.dates import iso_date


def hit_fields(hit: Hit) -> dict[str, Any]:
    """A hit as a row of JSON. `id` is the chunk's; lines are 1-based, inclusive lines of the file."""
    return {
        "id": hit.chunk_id,
        "space": hit.space,
        "chunk_id": hit.chunk_id,
        "document_id": hit.document_id,
        "source_type": hit.source_type,
        "source_path": hit.path,
        "title": hit.title,
        "date": iso_date(hit.dated_at),
        "type": str(hit.metadata.get("type") or ""),
        "tags": list(hit.metadata.get("tags") or ()),
        "heading_path": list(hit.heading_path),
        "start_line": hit.start_line,
        "end_line": hit.end_line,
        "content": hit.content,
        "snippet": hit.snippet.text,
        "score": None if hit.score is None else round(hit.score, 4),
        "rank_score": round(hit.rank_score, 4),
        "vector_rank": hit.vector_rank,
        "keyword_rank": hit.keyword_rank,
        "named": hit.named,
        "uri": hit.uri,
        "sensitive": hit.sensitive,
        "draft": hit.draft,
        "metadata": hit.metadata,
    }


def hit_lines(hit: Hit) -> Iterator[str]:
    """A hit for reading: title and score, citation, snippet."""
    score = "    " if hit.score is None else f"{hit.score:.2f}"
    marks = "".join(f"  ({mark})" for mark, is_so in (("draft", hit.draft), ("local only", hit.sensitive)) if is_so)
    yield f"{score}  {hit.title}{marks}"
    yield f"      {citation(hit)}"
    if hit.snippet.text:
        yield f"      {hit.snippet.text}"
