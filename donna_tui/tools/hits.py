"""A hit as programs and people get it outside the app."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from donna_tui.results import Hit
from donna_tui.search.citations import citation, line_range
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
        "note_passages": hit.in_note,
        "sensitive": hit.sensitive,
        "draft": hit.draft,
        "metadata": hit.metadata,
    }


def grouped_lines(hits: Sequence[Hit]) -> Iterator[str]:
    """Hits for reading, grouped by note: what each was ranked by, its title or headings, its citation, its excerpt."""
    notes: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        notes.setdefault((hit.space, hit.document_id), []).append(hit)
    for first, *others in notes.values():
        marks = [first.dated_at and iso_date(first.dated_at), first.draft and "draft", first.sensitive and "local only"]
        told = ", ".join(str(mark) for mark in marks if mark)
        yield f"{first.rank_score:.2f}  {first.title}{f'  ({told})' if told else ''}"
        yield f"      {citation(first)}"
        if first.snippet.text:
            yield f"      {first.snippet.text}"
        for hit in others:
            yield f"      {hit.rank_score:.2f}  {' › '.join(hit.heading_path) or hit.title} : {line_range(hit)}"
            yield f"            {hit.snippet.text}"
        hidden = first.in_note - 1 - len(others)
        if hidden > 0:
            yield f"      … {hidden} more in this note"
