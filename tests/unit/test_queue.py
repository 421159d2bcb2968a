"""`MemoryIngestQueue`: one job for each path, edits before imports, sixteen at a time, with a limit."""

from __future__ import annotations

import asyncio

from hypothesis import given
from hypothesis import strategies as st

from donna_tui.ingest.queue import FLUSH, Job, MemoryIngestQueue


def paths(jobs: list[Job]) -> list[str]:
    return [job.path for job in jobs]


async def test_jobs_come_in_the_order_they_were_put() -> None:
    queue = MemoryIngestQueue()
    queue.put(Job(path, "new") for path in ("b", "a", "c"))
    assert paths(await queue.take()) == ["b", "a", "c"]
    assert len(queue) == 0


async def test_a_path_waits_once_with_the_newest_reason() -> None:
    queue = MemoryIngestQueue()
    queue.put([Job("a", "new"), Job("b", "new"), Job("a", "changed")])
    assert await queue.take() == [Job("a", "changed"), Job("b", "new")]


async def test_edited_note_is_queued_before_imported_notes() -> None:
    queue = MemoryIngestQueue()
    queue.put(Job(str(number), "new") for number in range(100))
    queue.put([Job("edited", "changed", 5.0), Job("50", "changed", 6.0)])
    assert paths(await queue.take())[:3] == ["edited", "50", "0"]
    assert len(queue) == 101 - FLUSH


async def test_queued_edit_keeps_its_priority_when_reconciled() -> None:
    queue = MemoryIngestQueue()
    queue.put([Job("import", "new"), Job("edited", "changed", 5.0)])
    queue.put([Job("edited", "changed")])
    assert paths(await queue.take()) == ["edited", "import"]


async def test_queue_take_returns_at_most_sixteen_jobs() -> None:
    queue = MemoryIngestQueue()
    queue.put(Job(str(number), "new") for number in range(40))
    assert [len(await queue.take()) for _ in range(3)] == [16, 16, 8]


async def test_taking_waits_for_work() -> None:
    queue = MemoryIngestQueue()
    taker = asyncio.create_task(queue.take())
    await asyncio.sleep(0)
    await asyncio.sleep(0)
    assert not taker.done()
    queue.put([Job("a", "new")])
    assert paths(await taker) == ["a"]


async def test_empty_put_does_not_wake_the_queue_consumer() -> None:
    queue = MemoryIngestQueue()
    queue.put([])
    taker = asyncio.create_task(queue.take())
    for _ in range(5):
        await asyncio.sleep(0)
    assert not taker.done()
    taker.cancel()


async def test_full_queue_drops_new_paths() -> None:
    queue = MemoryIngestQueue(bound=3)
    queue.put(Job(str(number), "new") for number in range(5))
    assert len(queue) == 3
    queue.put([Job("1", "changed")])
    assert await queue.take() == [Job("0", "new"), Job("1", "changed"), Job("2", "new")]


def test_notes_that_the_index_lacks_are_listed() -> None:
    queue = MemoryIngestQueue()
    queue.put([Job("a", "new"), Job("b", "changed"), Job("c", "new"), Job("c", "changed", 1.0)])
    assert queue.new_notes == {"a"}


jobs = st.lists(
    st.builds(
        Job,
        path=st.sampled_from("abcdefgh"),
        why=st.sampled_from(["new", "changed", "retry", "rebuild"]),
        noticed_at=st.sampled_from([None, None, 1.0]),
    ),
    max_size=60,
)


@given(jobs)
def test_every_path_is_taken_exactly_once_with_its_last_job(given_jobs: list[Job]) -> None:
    async def drain() -> list[Job]:
        queue = MemoryIngestQueue()
        queue.put(given_jobs)
        taken: list[Job] = []
        while len(queue):
            taken += await queue.take()
        return taken

    taken = asyncio.run(drain())
    assert {job.path: job for job in taken} == {job.path: job for job in given_jobs}
    assert len(taken) == len({job.path for job in given_jobs})
