"""The tool `memory_search`: find the passages that answer a question."""

from __future__ import annotations

from collections.abc import Sequence

from donna_tui.agents.tools import schemas
from donna_tui.agents.tools.context import ToolContext
from donna_tui.safety.terminal import clean_line
from donna_tui.search.citations import citation
from donna_tui.search.query import readable
from donna_tui.types.search import Filters, Hit, MemorySource, SearchRequest
from donna_tui.vault.note.read import iso_date


async def memory_search(space: ToolContext, args: schemas.SearchArgs) -> schemas.SearchOutput:
    """Return passages of notes, chats and memories, best first."""
    filters = Filters(
        sources=args.sources,
        path_prefix=readable(args.folder),
        sensitive=None if space.access.sensitive else False,
    )
    request = SearchRequest(
        text=readable(args.query),
        k=args.max_results or space.results,
        mode=args.mode,
        filters=filters,
        near_misses=args.near_misses,
    )
    outcome = await space.engine.search_fresh(request)
    hits = [hit for hit in await _seen(space, outcome.hits) if _is_near_enough(hit, args.min_score)]
    near = await _seen(space, outcome.near_misses) if args.near_misses else []
    return schemas.SearchOutput(
        results=tuple(map(_row, hits)),
        count=len(hits),
        near_misses=tuple(map(_row, near)),
        mode=outcome.mode,
        note=outcome.note,
        filter_problems=tuple(clean_line(each.sentence) for each in outcome.filter_problems),
        stale=outcome.stale,
        indexed=outcome.indexed,
    )


async def _seen(space: ToolContext, hits: Sequence[Hit]) -> Sequence[Hit]:
    """Return the hits whose notes are not private by now, as the index may be outdated."""
    if space.access.sensitive:
        return hits
    seen = await space.visible({note for hit in hits if (note := _note_of(hit))})
    return [hit for hit in hits if not hit.sensitive and (not (note := _note_of(hit)) or note in seen)]


def _note_of(hit: Hit) -> str:
    """Return the note that contains a passage, or an empty string."""
    return hit.path if hit.source_type == MemorySource.VAULT else str(hit.metadata.get("note", ""))


def _is_near_enough(hit: Hit, least: float | None) -> bool:
    return (
        least is None
        or bool(hit.named)
        or hit.keyword_rank is not None
        or (hit.score is not None and hit.score >= least)
    )


def _row(hit: Hit) -> schemas.Hit:
    return schemas.Hit(
        path=hit.path,
        start_line=hit.start_line,
        end_line=hit.end_line,
        snippet=clean_line(hit.snippet.text),
        score=None if hit.score is None else round(hit.score, 4),
        title=clean_line(hit.title),
        date=iso_date(hit.dated_at),
        type=clean_line(str(hit.metadata.get("type") or "")),
        tags=tuple(clean_line(str(each)) for each in hit.metadata.get("tags") or ()),
        draft=hit.draft,
        sensitive=hit.sensitive,
        heading_path=tuple(map(clean_line, hit.heading_path)),
        source=hit.source_type,
        citation=clean_line(citation(hit)),
    )
