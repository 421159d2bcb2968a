"""Notes are filtered and listed by their own date, whatever the times of their files."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

import apsw
import pytest

from donna_tui.platform.paths import resource
from donna_tui.vault.note.read import iso_date
from tests.engine.helpers import index_once, new_sandbox, open_engine

pytestmark = pytest.mark.usefixtures("alone")


async def test_a_fresh_clone_is_filtered_by_the_dates_of_its_notes(tmp_path: Path) -> None:
    """Every file of a clone has the time of the clone."""
    sandbox = new_sandbox(tmp_path)
    shutil.copytree(resource("vault_templates", "demo"), sandbox.root, dirs_exist_ok=True)
    for file in sandbox.root.rglob("*.md"):
        os.utime(file)
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        await running.engine.sync()
        hits = (await running.search("standup before:2026-03-10 type:meeting")).hits
        standups = sorted({(hit.path, iso_date(hit.dated_at)) for hit in hits if "standup" in hit.path})
        assert standups == [
            ("Meetings/2026-02-26-standup.md", "2026-02-26"),
            ("Meetings/2026-03-05-standup.md", "2026-03-05"),
        ]
        listed = (await running.search("after:2026-03-05 type:meeting")).hits
        assert [iso_date(hit.dated_at) for hit in listed] == ["2026-03-12", "2026-03-10", "2026-03-05"]


async def test_a_changed_time_alone_is_stored_and_nothing_is_embedded(tmp_path: Path) -> None:
    sandbox = new_sandbox(tmp_path)
    file = sandbox.write("plain.md", "A note without any date.\n\n- [ ] a task in it\n")
    os.utime(file, (1_000_000_000, 1_000_000_000))
    await index_once(sandbox)
    chunks = sandbox.rows("SELECT id, chunk_id, embed_hash FROM memory_chunks ORDER BY id")
    os.utime(file, (1_100_000_000, 1_100_000_000))
    await index_once(sandbox)
    assert sandbox.rows("SELECT DISTINCT modified_at, dated_at FROM memory_documents") == [(1.1e9, 1.1e9)]
    assert sandbox.rows("SELECT id, chunk_id, embed_hash FROM memory_chunks ORDER BY id") == chunks
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        assert not (await running.search("note before:2002-01-01")).hits
        assert (await running.search("note after:2004-01-01")).hits


async def test_a_note_is_found_by_the_date_in_its_frontmatter(tmp_path: Path) -> None:
    sandbox = new_sandbox(tmp_path)
    sandbox.write("Budget.md", "---\ndate: 2023-10-13\n---\nWe cut travel by ten percent.\n")
    sandbox.write("River.md", "---\ncreated: 2023-10-20\n---\nThe heron stood under the bridge.\n")
    sandbox.write("Roses.md", "---\ndate: 2022-10-13\n---\nPrune them at 10:13.\n")
    sandbox.write("Pears.md", "Buy 13 of them in October.\n")
    file = sandbox.write("Undated.md", "A file of that day without a date of its own.\n")
    os.utime(file, (1_697_191_200, 1_697_191_200))  # 13 October 2023
    async with open_engine(sandbox, watch=False, semantic=False) as running:
        await running.engine.sync()

        async def found(question: str) -> list[str]:
            return [hit.path for hit in (await running.search(question)).hits]

        assert (await found("What was decided on 13 October 2023?"))[0] == "Budget.md"
        assert await found("2023-10-13") == ["Budget.md"]
        assert sorted(await found("What happened in October 2023?")) == ["Budget.md", "Pears.md", "River.md"]
        assert sorted(await found("on October 13th")) == ["Budget.md", "Pears.md", "Roses.md"]


MINUTES = """---
date: 2024-01-10
---
# Committee 2024-01-10

## Present

* Antoine Martin (voting member)
* Benita Gruber (voting member)
* Chengzhong Wu (voting member)
* Deirdre Walsh (voting member)
* Emil Andersen (voting member)
* Fatima Haddad (voting member)
* Gireesh Pillai (voting member)
* Hannah Novak (observer)
* Ibrahim Yilmaz (observer)

## Initiatives

* skipped this week

## Website

Antoine: if we move the site to the new host, the old links have to work for a year, and that is what we should do. The
others think so too, because most of them are in books that have been printed. We do it when the contract ends.

## Upcoming meetings

* Calendar: <https://example.org/calendar>
"""


async def test_date_in_a_query_selects_the_note_and_other_words_the_passage(tmp_path: Path, model_cache: Path) -> None:
    sandbox = new_sandbox(tmp_path, model_cache)
    sandbox.write("Committee/2024-01-10.md", MINUTES)
    sandbox.write("Committee/2024-02-14.md", MINUTES.replace("2024-01-10", "2024-02-14"))
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        for question, heading in (
            ("what was decided in January 2024", "Website"),
            ("what did we talk about on 10 January 2024", "Website"),
            ("meeting of 2024-01-10", "Website"),
            ("who was there on January 10, 2024", "Present"),
            ("attendees 2024-01-10", "Present"),
            ("who attended the committee on 2024-01-10", "Present"),
        ):
            first = (await running.search(question, mode="hybrid")).hits[0]
            assert (first.path, first.heading_path[-1]) == ("Committee/2024-01-10.md", heading), question


async def test_a_note_of_the_year_in_question_is_before_those_of_another_year(
    tmp_path: Path, model_cache: Path
) -> None:
    sandbox = new_sandbox(tmp_path, model_cache)
    shed = "We decided on the bicycle shed: the bicycle shed is green, and that decision is final."
    sandbox.write("Board.md", f"---\ndate: 2023-04-11\n---\n# Board meeting of 11 April 2023\n\n{shed}\n")
    sandbox.write("Review.md", "---\ndate: 2023-04-20\n---\nIn the meeting of April 11 we decided on the shed.\n")
    sandbox.write("Plenary.md", "---\ndate: 2024-04-11\n---\n# Plenary\n\nSignals reached the next stage.\n")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        for question in ("meeting of 11 April 2024", "bicycle shed decision 2024-04-11"):
            assert (await running.search(question, mode="hybrid")).hits[0].path == "Plenary.md", question


async def test_migration_adds_dates_to_an_old_index_without_reembedding(tmp_path: Path) -> None:
    sandbox = new_sandbox(tmp_path)
    sandbox.write("2026-03-12.md", "A day.")
    await index_once(sandbox)
    chunks = sandbox.rows("SELECT id, chunk_id, embedding_version FROM memory_chunks")
    connection = apsw.Connection(str(sandbox.database))
    connection.execute("ALTER TABLE memory_documents DROP COLUMN dated_at")
    connection.execute("DELETE FROM migrations WHERE name = '0006_dates'")
    connection.close()
    await index_once(sandbox)
    assert [iso_date(at) for (at,) in sandbox.rows("SELECT dated_at FROM memory_documents")] == ["2026-03-12"]
    assert sandbox.rows("SELECT id, chunk_id, embedding_version FROM memory_chunks") == chunks
