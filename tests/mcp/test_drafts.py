"""Drafts as an agent sees them: those of public notes are listed, those of private notes do not exist."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import pytest

from tests.engine.draft_engines import LAST_TIME, NOTE, draft_engine, meeting
from tests.mcp.serving import ToolHarness, workspace

PRIVATE = {
    "an earlier meeting": {
        "Meetings/2024-01-10-gateway-team.md": LAST_TIME.replace("type: meeting", "type: meeting\ndonna: local-only")
    },
    "a project note": {
        "Projects/gateway team.md": "---\ndonna: local-only\n---\n# Gateway team\n\n- [ ] Talk about the gateway team costs\n"
    },
}


@pytest.mark.usefixtures("alone")
async def test_a_draft_waits_in_the_list(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        row = await here.write(meeting())
        harness = ToolHarness(here.engine, here.sandbox, workspace(here.engine, here.sandbox, "Agent"))
        (draft,) = (await harness.fine("draft_list"))["drafts"]
        assert (draft["id"], draft["path"], draft["state"]) == (row.id, NOTE, "waiting")
        await here.approve(row)
        assert (await harness.fine("draft_list"))["count"] == 0
        assert (await harness.fine("draft_list", everything=True))["count"] == 1


@pytest.mark.usefixtures("alone")
@pytest.mark.parametrize("kind", PRIVATE)
async def test_what_rests_on_a_private_note_is_not_in_the_list(tmp_path: Path, kind: str) -> None:
    async with draft_engine(tmp_path, notes=PRIVATE[kind]) as here:
        row = await here.write(meeting(attendees=()))
        assert here.front(NOTE)["donna"] == "local-only"
        harness = ToolHarness(here.engine, here.sandbox, workspace(here.engine, here.sandbox, "Agent"))
        granted = harness.other(sensitive=True)
        assert (await harness.fine("draft_list")) == {"ok": True, "drafts": [], "count": 0}
        assert (await granted.fine("draft_list"))["count"] == 1
        plan = await here.engine.drafts.plan_rejection(row.id)
        await here.engine.drafts.reject(row.id, plan)
        assert (await harness.fine("draft_list", everything=True))["count"] == 0
        assert (await granted.fine("draft_list", everything=True))["count"] == 1


@pytest.mark.usefixtures("alone")
async def test_a_draft_from_a_note_that_became_private_is_gone_from_the_list(tmp_path: Path) -> None:
    source = "Meetings/2024-01-10-gateway-team.md"
    async with draft_engine(tmp_path, notes={source: LAST_TIME}) as here:
        await here.write(meeting())
        harness = ToolHarness(here.engine, here.sandbox, workspace(here.engine, here.sandbox, "Agent"))
        assert (await harness.fine("draft_list"))["count"] == 1
        here.sandbox.write(source, PRIVATE["an earlier meeting"][source])
        assert (await harness.fine("draft_list"))["count"] == 0


@pytest.mark.usefixtures("alone")
async def test_a_draft_that_became_private_by_hand_is_gone_from_the_list(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        await here.write(meeting())
        harness = ToolHarness(here.engine, here.sandbox, workspace(here.engine, here.sandbox, "Agent"))
        here.sandbox.write(NOTE, here.text(NOTE).replace("---\n", "---\ndonna: local-only\n", 1))
        assert (await harness.fine("draft_list"))["count"] == 0


@pytest.mark.usefixtures("alone")
async def test_a_draft_is_listed_while_everything_is_asked_at_once(tmp_path: Path) -> None:
    async with draft_engine(tmp_path) as here:
        await here.write(meeting())
        harness = ToolHarness(here.engine, here.sandbox, workspace(here.engine, here.sandbox, "Agent"))
        answers = await asyncio.gather(
            *(harness(name, **asked) for _ in range(10) for name, asked in (
                ("draft_list", {}), ("memory_search", {"query": "gateway"}), ("recall", {"query": "gateway"}),
            ))
        )  # fmt: skip
        assert all(answer["ok"] for answer in answers), json.dumps(answers)[:500]
