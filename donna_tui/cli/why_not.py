"""`donna why-not`: what kept a note out of the hits."""

from __future__ import annotations

from donna_tui.cli.output import emit
from donna_tui.cli.search import Asked, bring_up_to_date, question_of
from donna_tui.cli.session import Session, engine_for, open_session, run
from donna_tui.results import SearchRequest
from donna_tui.search.why_not import WhyNot
from donna_tui.tools.why_not import why_not_fields, why_not_lines


def run_why_not(path: str, query: str, asked: Asked, space: str | None, *, as_json: bool) -> None:
    """Print the reason. Raises DonnaError without a question."""
    session = open_session(space)
    request = question_of(query, asked, session)
    found = run(_explain(session, path, request))
    emit(why_not_fields(found, query), as_json=as_json, human=lambda: why_not_lines(found))


async def _explain(session: Session, path: str, request: SearchRequest) -> WhyNot:
    async with engine_for(session, "donna why-not") as engine:
        await bring_up_to_date(engine)
        return await engine.why_not(path, request)
