"""Format hits and the explanations of missing ones as JSON fields and lines."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from donna_tui.search.citations import citation, line_range
from donna_tui.types.search import Hit
from donna_tui.vault.note.read import iso_date

if TYPE_CHECKING:
    from donna_tui.search.why_not import WhyNot


def hit_fields(hit: Hit) -> dict[str, Any]:
    """Return a hit as a row of JSON. `id` is that of the chunk; lines are 1-based and inclusive."""
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


def grouped_lines(hits: Sequence[Hit], *, near: bool = False) -> Iterator[str]:
    """Format hits for reading, grouped by note: rank score, title or headings, citation and excerpt.

    Near misses have no score: theirs are relative to each other, and would look like those of hits.
    """
    notes: dict[tuple[str, str], list[Hit]] = {}
    for hit in hits:
        notes.setdefault((hit.space, hit.document_id), []).append(hit)
    for first, *others in notes.values():
        marks = [first.dated_at and iso_date(first.dated_at), first.draft and "draft", first.sensitive and "private"]
        labels = ", ".join(str(mark) for mark in marks if mark)
        yield f"{_score(first, near=near)}  {first.title}{f'  ({labels})' if labels else ''}"
        yield f"      {citation(first)}"
        if first.snippet.text:
            yield f"      {first.snippet.text}"
        for hit in others:
            yield f"      {_score(hit, near=near)}  {' › '.join(hit.heading_path) or hit.title} : {line_range(hit)}"
            yield f"            {hit.snippet.text}"
        hidden = first.in_note - 1 - len(others)
        if hidden > 0:
            yield f"      … {hidden} more in this note"


def _score(hit: Hit, *, near: bool) -> str:
    return "near" if near else f"{hit.rank_score:.2f}"


def why_not_fields(explanation: WhyNot, question: str) -> dict[str, Any]:
    """Return the explanation as JSON. `cause` is a stable code; ranks are 1-based, and null if the note has none."""
    return {
        "path": explanation.path,
        "query": question,
        "cause": explanation.cause.value,
        "detail": explanation.detail,
        "rank": explanation.rank,
        "keyword_rank": explanation.keyword_rank,
        "vector_rank": explanation.vector_rank,
        "score": None if explanation.cosine is None else round(explanation.cosine, 4),
    }


def why_not_lines(explanation: WhyNot) -> Iterator[str]:
    """Format the explanation for reading: the reason, and the ranks of the best passages in each leg."""
    yield f"{explanation.path}: {explanation.detail}"
    if explanation.keyword_rank or explanation.vector_rank or explanation.cosine is not None:
        cosine = "" if explanation.cosine is None else f", cosine {explanation.cosine:.2f}"
        yield f"rank: keyword {explanation.keyword_rank or '–'}, semantic {explanation.vector_rank or '–'}{cosine}"
