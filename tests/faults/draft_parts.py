"""A writer of drafts on real files, whose drafter counts its paid answers on disk.

Run as a program with the folder of a test, it writes one draft, reports each step after it and waits to be released.
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Callable
from pathlib import Path

from donna_tui.config.models import MemoryConfig
from donna_tui.drafts.drafters import AnswerRequest, CommitmentsAnswer, Composed
from donna_tui.drafts.page import Context, DraftJob
from donna_tui.drafts.renderer import VaultTemplateRenderer
from donna_tui.drafts.writer import MemoryInformedWriter, WriteResult
from donna_tui.engine.skill_runner import templates_dir
from donna_tui.memory.db_thread import DbThread
from donna_tui.types.drafts import Evidence
from donna_tui.types.events import EventHub
from tests.git_vaults import new_client, new_writer

STEPS = ("begun", "gathered", "composed", "answered", "rendered", "written")
PAID = STEPS[STEPS.index("answered") :]
"""The steps from which the answer is stored."""

PATH, KEY = "Commitments/2024-01-17.md", "2024-01-17"


class PaidDrafter:
    """A drafter whose every answer is a numbered line in a file."""

    remote = True

    def __init__(self, bill: Path) -> None:
        self._bill = bill

    @property
    def asked(self) -> int:
        return len(self._bill.read_text().splitlines()) if self._bill.exists() else 0

    async def compose(self, task: AnswerRequest) -> Composed:
        with self._bill.open("a") as bill:
            bill.write("answer\n")
        return Composed(CommitmentsAnswer(commitments=[f"Promise of answer {self.asked}. [1]"]), "paid", 0.5)


async def gather() -> Context:
    passage = Evidence(
        number=1, source_type="chat", path="chat", title="Chat", heading_path=(), start_line=1, end_line=1, text="words"
    )
    task = AnswerRequest(task_type="extract_commitments", about="day", schema=CommitmentsAnswer, passages=(passage,))
    return Context(task=task, data={"title": "Day", "promised": [], "tasks": []}, frontmatter={"type": "commitments"})


async def draft(base: Path, reached: Callable[[str], None] = lambda _: None) -> WriteResult:
    """Write a draft with everything reopened, as after a restart."""
    vault, hub = base / "vault", EventHub()
    writer = new_writer(vault, base / "state")
    writer.recover()
    db = DbThread(base / "memory", hub, lambda: None)

    async def find(key: str) -> list[str]:
        return []

    drafting = MemoryInformedWriter(
        renderer=VaultTemplateRenderer(templates_dir(MemoryConfig())),
        vault_client=new_client(vault),
        vault_writer=writer,
        drafter=PaidDrafter(base / "bill"),
        db=db,
        hub=hub,
        find=find,
        reached=reached,
    )
    try:
        job = DraftJob(
            template="commitment_log", gather=gather, target_path=PATH, key=KEY, title=KEY, autonomy="medium"
        )
        return await drafting.run(job)
    finally:
        await db.close()


def _wait(step: str) -> None:
    print(step, flush=True)
    if sys.stdin.readline() == "":
        sys.exit()


if __name__ == "__main__":
    asyncio.run(draft(Path(sys.argv[1]), _wait))
