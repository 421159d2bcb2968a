"""`draft_list`: the drafts that wait for the person at the keyboard."""

from __future__ import annotations

import asyncio

from donna_tui.drafting import Draft as Whole
from donna_tui.drafting import DraftRow
from donna_tui.errors import DonnaError
from donna_tui.memories import MemorySource
from donna_tui.safety.classify import Sensitivity, classify
from donna_tui.safety.terminal import clean_line
from donna_tui.tools.agent.access import Access
from donna_tui.tools.agent.noteshapes import Draft, DraftsAsked, DraftsGiven
from donna_tui.tools.agent.shapes import iso_time
from donna_tui.tools.agent.workspace import Workspace
from donna_tui.vault.frontmatter import parse_frontmatter


async def draft_list(space: Workspace, asked: DraftsAsked) -> DraftsGiven:
    """The drafts that this client may see: neither they nor what they rest on is private."""
    desk = space.host.drafts
    rows = await desk.drafts(everything=asked.everything)
    if not space.access.sensitive:
        rows = tuple([row for row in rows if await _is_public(space, row)])
    return DraftsGiven(drafts=tuple(map(_row, rows)), count=len(rows))


async def _is_public(space: Workspace, row: DraftRow) -> bool:
    try:
        draft = await space.host.drafts.draft(row.id)
    except DonnaError:
        return False  # whether it is private cannot be told
    return await asyncio.to_thread(_all_public, space.access, row, draft)


def _all_public(access: Access, row: DraftRow, draft: Whole) -> bool:
    front = parse_frontmatter(draft.text)
    metadata = front.data if front.present else None
    key = access.client.sensitive_key
    if classify(metadata, draft.text, key=key, broken=bool(front.problem)) is not Sensitivity.PUBLIC:
        return False
    there = [path for path in {row.path, row.target} if path and _exists(access, path)]
    notes = {each.path for each in draft.evidence if each.source_type == MemorySource.VAULT}
    return all(access.sees(path) for path in (*there, *notes))


def _exists(access: Access, path: str) -> bool:
    """Whether anything is there, readable or not."""
    try:
        access.client.stat(path)
    except DonnaError:
        return False
    return True


def _row(row: DraftRow) -> Draft:
    return Draft(
        id=row.id,
        skill=row.skill,
        title=clean_line(row.title),
        state=row.state.value,
        path=row.path,
        target=row.target,
        created_at=iso_time(row.created_at),
    )
