"""Remembering and recalling with a real engine and the real model."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Callable
from pathlib import Path

import pytest

from donna_tui.config.models import MemoryConfig
from donna_tui.engine import memory_service
from donna_tui.engine.memory_service import MemoryService
from donna_tui.memory.conversations import NewTurn
from donna_tui.platform.paths import app_paths
from donna_tui.types.events import EngineEvent, NoteDeleted
from donna_tui.types.memory import MemoryFilter, MemoryType, OmittedReason, RecallResult
from donna_tui.types.memory_events import MemoryIngestFailed, MemoryRemembered
from donna_tui.types.search import Filters, MemorySource, SearchRequest
from donna_tui.vault.note.read import iso_date
from tests.engine.helpers import Sandbox, eventually, hide_model, index_once, new_sandbox, open_engine, quick_config
from tests.model_server import Behaviour, ModelServer, text
from tests.unit.memory_parts import chat_rows, jsonl

pytestmark = pytest.mark.model

TALK = chat_rows(
    "talk",
    "I want to learn how kestrels hover above the motorway near Leeds.",
    "Kestrels fly into the wind at the speed of the wind, so they stay above one place.",
    "And what do they eat, mostly? I saw one with a vole in April.",
    "Voles, mice and large insects; they see the ultraviolet traces of voles.",
    timestamp="2024-04-02T10:00:00",
)


@pytest.fixture
def sandbox(tmp_path: Path, model_cache: Path) -> Sandbox:
    return new_sandbox(tmp_path, model_cache)


@pytest.fixture
async def memory(sandbox: Sandbox) -> AsyncIterator[MemoryService]:
    """Return the memory of an engine that does not watch its vault, which is empty."""
    async with open_engine(sandbox, watch=False) as running:
        yield running.engine.memory


async def import_talk(memory: MemoryService, folder: Path, rows: list[dict[str, object]] = TALK) -> None:
    await memory.import_chat(jsonl(folder / "talk.jsonl", rows))
    assert await memory.wait_until_indexed()


def contents(result: RecallResult) -> list[str]:
    return [memory.content for memory in result.memories]


def why(result: RecallResult) -> dict[str, OmittedReason]:
    return {cut.memory.id: cut.why for cut in result.cut}


async def test_what_is_remembered_is_found_recalled_and_explained(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.write("Birds/falcons.md", "# Falcons\n\nPeregrine falcons dive at 300 km/h.\n")
    async with open_engine(sandbox, watch=False) as running:
        memory = running.engine.memory
        await running.engine.sync()
        (preference,) = await memory.remember("I prefer short answers with numbers in them.")
        assert preference.memory_type is MemoryType.PROCEDURAL
        assert preference.importance is not None
        assert preference.importance.novelty == 1.0
        assert preference.importance.value == pytest.approx(0.6 + 0.4 * preference.importance.salience)
        await import_talk(memory, tmp_path)
        hits = await running.engine.search(
            SearchRequest(text="flying into the wind", filters=Filters(sources=("chat",)))
        )
        assert (hits.hits[0].path, hits.hits[0].uri) == ("talk:2-2", "chat:talk:2-2")
        assert (hits.hits[0].start_line, hits.hits[0].end_line) == (2, 2)
        assert {
            hit.source_type
            for hit in (
                await running.engine.search(SearchRequest(text="how fast do falcons dive and kestrels hover"))
            ).hits
        } >= {"chat", "vault"}
        result = await memory.recall("how fast do falcons dive, and how do kestrels hover")
        assert contents(result)[0] == "I prefer short answers with numbers in them."
        assert any(each.startswith("Birds/falcons.md: ") for each in contents(result))
        assert any(each.startswith("2024-04-02 assistant: Kestrels fly into the wind") for each in contents(result))
        assert result.total_tokens <= result.token_budget
        assert result.budget_used == result.total_tokens / 2_000


async def test_a_hit_that_is_not_a_note_can_be_read_with_its_context(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.write("todo.md", "# Plan\n\n- [ ] Feed the kestrel\n")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        await import_talk(running.engine.memory, tmp_path)
        turns = await running.engine.passage("talk:2-2", 2, 2)
        lines = turns.text.split("\n")
        assert lines[turns.mark_start - 1].startswith("assistant: Kestrels fly into the wind")
        assert (turns.mark_start, turns.mark_end) == (3, 3)
        assert lines[0].startswith("2024-04-02 user: I want to learn")
        (task,) = await running.engine.memory.tasks()
        note = await running.engine.passage(task.id.removeprefix("task:"), 1, 1)
        assert (note.path, note.mark_start) == ("todo.md", 3)


async def test_recall_respects_limits_and_gives_omission_reasons(memory: MemoryService, tmp_path: Path) -> None:
    await import_talk(memory, tmp_path)
    one = await memory.recall("kestrels hover and eat voles", top_k=1)
    assert len(one.memories) == 1
    assert set(why(one).values()) == {OmittedReason.COUNT}
    small = await memory.recall("kestrels hover and eat voles", token_budget=45)
    assert 0 < small.total_tokens <= 45
    assert OmittedReason.BUDGET in why(small).values()
    assert (await memory.recall("kestrels hover", token_budget=0)).memories == ()
    typed = await memory.recall("kestrels hover", memory_types=(MemoryType.SEMANTIC,))
    assert typed.memories == ()


async def test_where_not_all_preferences_fit_those_of_the_question_come_first(memory: MemoryService) -> None:
    for preference in ("I prefer tea with milk.", "I always fly kestrels on Sundays.", "I hate long meetings."):
        await memory.remember(preference)
    everything = await memory.recall("kestrels")
    assert contents(everything)[:3] == [
        "I hate long meetings.", "I always fly kestrels on Sundays.", "I prefer tea with milk.",
    ]  # fmt: skip
    small = await memory.recall("which day is for kestrels", token_budget=30)
    assert contents(small) == ["I always fly kestrels on Sundays."]


async def test_a_copy_of_a_note_is_recalled_once(sandbox: Sandbox) -> None:
    for name in ("tank", "tank copy"):
        sandbox.write(f"{name}.md", "The zebrafish tank is cleaned by Nora on Mondays.\n")
    await index_once(sandbox)
    async with open_engine(sandbox, watch=False) as running:
        result = await running.engine.memory.recall("who cleans the zebrafish tank")
        assert len([each for each in contents(result) if "zebrafish" in each]) == 1
        assert [each.why for each in result.cut if "zebrafish" in each.memory.content] == [OmittedReason.DUPLICATE]
        assert "1 with the same text as another" in result.note


async def test_a_note_is_recalled_with_its_day_and_the_property_that_was_asked_for(sandbox: Sandbox) -> None:
    sandbox.write(
        "Cars/Octavia.md",
        "---\ndate: 2026-07-05\nplate: HH-MB 2048\nmodel: Combi\n---\nWe keep it.\n\n# Two\n\nThe car.\n",
    )
    sandbox.write("2026-07-06 Cars.md", "The plate of the car is dirty.\n")
    await index_once(sandbox)
    async with open_engine(sandbox, watch=False) as running:
        result = await running.engine.memory.recall("what is the plate of the Octavia")
    octavia = "Cars/Octavia.md (2026-07-05): "
    assert sorted(contents(result)) == [
        "2026-07-06 Cars.md: The plate of the car is dirty.",
        f"{octavia}# Two\n\nThe car.",
        f"{octavia}plate: HH-MB 2048\nWe keep it.",
    ]


async def test_low_importance_memories_are_recalled_if_the_budget_allows(memory: MemoryService) -> None:
    for number in ("one", "two", "three"):
        await memory.remember(f"the lamp in the hall went out again, {number}", memory_type_hint=MemoryType.EPISODIC)
    listed = await memory.memories()
    low = [each for each in listed if each.importance and (each.importance.value or 0) < 0.3]
    assert len(low) == 2
    result = await memory.recall("lamp in the hall")
    assert {each.id for each in result.memories} == {each.id for each in listed}
    assert (result.cut, result.note) == ((), "")
    filtered = await memory.memories(MemoryFilter(most_importance=0.3))
    assert {each.id for each in filtered} == {each.id for each in low}


FACTS = {
    "where did we eat": "We had lunch at the harbour.",
    "who repairs the bicycle": "Tom fixes my bike every spring.",
    "when is the flat inspected": "The landlord looks at the apartment in June.",
    "what can my sister not eat": "Nora is allergic to peanuts.",
    "how do I get into the shed": "The key of the shed hangs behind the boiler.",
    "what did the doctor say about my knee": "The physician told me to rest my leg for two weeks.",
}


async def test_a_paraphrased_fact_is_recalled_even_if_a_search_would_refuse(memory: MemoryService) -> None:
    for fact in FACTS.values():
        await memory.remember(fact)
    for question, fact in FACTS.items():
        small = await memory.recall(question, token_budget=50)
        assert any(fact in each for each in contents(small)), question
        assert all(each.content.startswith(f"{iso_date(each.at)}: ") for each in small.memories), "a fact has its day"
    refused = await memory.recall("where did we eat")
    lunch = refused.memories[0]
    assert lunch.content == f"{iso_date(lunch.at)}: {FACTS['where did we eat']}", "an event has its day"


async def test_a_note_without_text_that_is_found_by_its_name_is_not_recalled(sandbox: Sandbox) -> None:
    sandbox.write("Kestrel.md", "")
    sandbox.write("Birds.md", "A kestrel hovers above the motorway.\n")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        assert [hit.path for hit in (await running.search("kestrel", mode="hybrid")).hits] == ["Kestrel.md", "Birds.md"]
        recalled = await running.engine.memory.recall("kestrel")
        assert [memory.source_id for memory in recalled.memories] == ["Birds.md"]


async def test_an_empty_recall_says_why(memory: MemoryService) -> None:
    await memory.remember("We had lunch at the harbour.")
    none = await memory.recall("derivative of a polynomial xqzv")
    assert none.memories == ()
    assert "min_score" in none.note


async def test_a_recall_fills_its_budget_and_says_what_it_left_out(sandbox: Sandbox, tmp_path: Path) -> None:
    texts = [f"The kestrel of box {number} hovered above the motorway this morning." for number in range(40)]
    rows = [row for number, text in enumerate(texts) for row in chat_rows(f"s{number}", text)]
    async with open_engine(sandbox, watch=False) as running:
        memory = running.engine.memory
        await import_talk(memory, tmp_path, rows)
        full = await memory.recall("where do kestrels hover", token_budget=500)
        assert full.budget_used > 0.9
        assert len(full.memories) > 8
        left = [cut for cut in full.cut if cut.why is OmittedReason.BUDGET]
        assert f"{len(left)} that did not fit into 500 tokens" in full.note
        everything = await memory.recall("where do kestrels hover", token_budget=5_000)
        assert len(everything.memories) == 40
        assert everything.note == ""


async def test_titles_that_donna_generates_are_not_embedded(sandbox: Sandbox) -> None:
    """The same words as a fact and as the question are the same vector."""
    async with open_engine(sandbox, watch=False) as running:
        memory = running.engine.memory
        await memory.remember("The harbour office opens at nine.")
        await memory.wait_until_indexed()
        (hit,) = (await running.engine.search(SearchRequest(text="The harbour office opens at nine."))).hits
        assert hit.score == pytest.approx(1.0, abs=0.01)


async def test_nothing_sensitive_goes_into_a_prompt_for_another_machine(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.write(
        "secret.md", "---\ndonna: local-only\n---\nThe kestrel vault opens with 4711.\n- [ ] feed the kestrel vault\n"
    )
    async with open_engine(sandbox, watch=False) as running:
        memory = running.engine.memory
        await running.engine.sync()
        await memory.remember("I always keep the kestrel vault closed.", sensitive=True)
        await memory.remember("The kestrel vault is in Leeds.", sensitive=True, pinned=True)
        await memory.import_chat(
            jsonl(tmp_path / "t.jsonl", chat_rows("s", "The kestrel vault is next to the old station.")), sensitive=True
        )
        await memory.wait_until_indexed()
        local = await memory.recall("where is the kestrel vault", top_k=9)
        assert {each.source for each in local.memories} == {
            MemorySource.VAULT, MemorySource.MEMORY, MemorySource.CHAT,
        }  # fmt: skip
        for types in (None, tuple(MemoryType)):
            remote = await memory.recall("where is the kestrel vault", top_k=9, memory_types=types, remote=True)
            assert (remote.memories, remote.cut) == ((), ())


async def test_a_summary_replaces_its_session_and_the_archive_stays(sandbox: Sandbox, tmp_path: Path) -> None:
    config = quick_config(recall={"compression_threshold": 2})
    rows = [
        row
        for day in (1, 2, 3)
        for row in chat_rows(f"s{day}", *(each["text"] for each in TALK), timestamp=f"2024-04-0{day}T10:00:00")
    ]
    async with open_engine(sandbox, watch=False, config=config) as running:
        memory = running.engine.memory
        await import_talk(memory, tmp_path, rows)
        (summary,) = await memory.compress()
        assert await memory.compress() == ()
        await memory.wait_until_indexed()
        result = await memory.recall("how do kestrels hover", top_k=20)
        assert summary.id in {each.id for each in result.memories}
        assert not any(each.session_id == "s1" for each in result.memories if each.source is MemorySource.CHAT)
        assert OmittedReason.COMPRESSED in why(result).values()
        archive = await memory.recall("how do kestrels hover", top_k=20, include_compressed=True)
        assert any(each.compressed and each.session_id == "s1" for each in archive.memories)
        assert await memory.expand("s1")
        await memory.wait_until_indexed()
        undone = await memory.recall("how do kestrels hover", top_k=20)
        assert summary.id not in {each.id for each in undone.memories}


@pytest.mark.slow
@pytest.mark.parametrize(
    ("behaviour", "told"), [(text(json.dumps({"summary": "Ana flies kestrels."})), True), (text("no JSON"), False)]
)
async def test_a_session_is_summed_up_by_the_configured_model(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, behaviour: Behaviour, told: bool
) -> None:
    config = quick_config(recall={"compression_threshold": 2})
    monkeypatch.setenv("DONNA_HOME", str(tmp_path / "own"))
    settings = app_paths({"DONNA_HOME": str(tmp_path / "own")}).make().config / "models.yaml"
    rows = [
        row for day in (1, 2, 3) for row in chat_rows(f"s{day}", TALK[0]["text"], timestamp=f"2024-04-0{day}T10:00:00")
    ]
    server = ModelServer("ollama", behaviour)
    async with server.running() as port, open_engine(sandbox, watch=False, config=config) as running:
        route = {"dialect": "ollama", "model": "small", "base_url": f"http://127.0.0.1:{port}"}
        settings.write_text(json.dumps({"summarizer": route}), encoding="utf-8")
        memory = running.engine.memory
        await import_talk(memory, tmp_path, rows)
        (summary,) = await memory.compress()
    assert server.billed == 1
    assert TALK[0]["text"] in json.loads(server.requests[0][1])["messages"][1]["content"]
    assert ("Ana flies kestrels." in summary.content) is told
    assert summary.is_summary


async def test_memory_can_be_corrected_and_forgotten(sandbox: Sandbox) -> None:
    async with open_engine(sandbox, watch=False) as running:
        memory = running.engine.memory
        (port,) = await memory.remember("The gateway runs on port 8080.")
        correction = await memory.correct(port.id, "The gateway runs on port 9090.", query="which port")
        await memory.wait_until_indexed()
        found = {each.source: each.content for each in await memory.memories()}
        assert found[MemorySource.MEMORY] == "The gateway runs on port 9090."
        assert found[MemorySource.CORRECTION] == (
            "In the answer to “which port”, “The gateway runs on port 8080.” was changed to"
            " “The gateway runs on port 9090.”."
        )
        hits = (await running.engine.search(SearchRequest(text="gateway port 9090 in:memory"))).hits
        assert await memory.forget(hits[0].chunk_id)
        assert await memory.forget(f"correction:{correction.id}", for_good=True)
        await memory.wait_until_indexed()
        assert await memory.count() == 0


async def test_a_correction_of_a_passage_is_of_that_passage_and_leaves_the_note_alone(sandbox: Sandbox) -> None:
    text = "# Ports\n\nFirst passage.\n\n## Gateway\n\nThe gateway runs on port 8080.\n"
    sandbox.write("Ports.md", text)
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed()
        wrong = "The gateway runs on port 8080."
        correction = await running.engine.memory.correct("vault:Ports.md", "It runs on port 9090.", original=wrong)
        assert (correction.original, correction.corrected) == (wrong, "It runs on port 9090.")
        await running.engine.memory.wait_until_indexed()
        found = {each.source: each.content for each in await running.engine.memory.memories()}
        assert "9090" in found[MemorySource.CORRECTION]
    assert (sandbox.root / "Ports.md").read_text(encoding="utf-8") == text


async def test_a_later_correction_replaces_an_earlier_one(sandbox: Sandbox) -> None:
    wrong = "The gate code is 4711."
    sandbox.write("Gate.md", f"# Gate\n\n{wrong}\n")
    sandbox.write("Shed.md", f"# Shed\n\n{wrong}\n")
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed()
        memory = running.engine.memory

        async def corrections() -> list[str]:
            await memory.wait_until_indexed()
            return [each.content for each in await memory.memories()]

        for right in ("The gate code is 9020.", "The gate code is 1234."):
            last = await memory.correct("vault:Gate.md", right, query="gate code", original=wrong)
        changed = f"In the answer to “gate code”, “{wrong}” was changed to “The gate code is"
        assert await corrections() == [f"{changed} 1234.”."]
        identity = f"correction:{last.id}"
        shown = [await memory.text_to_correct(each, f"Gate.md: {wrong}") for each in (identity, "vault:Gate.md")]
        assert shown == ["The gate code is 1234.", wrong]
        await memory.correct(identity, "The gate code is 5555.", original=last.corrected)
        assert await corrections() == [f"{changed} 5555.”."]
        await memory.correct("vault:Shed.md", "The gate code is 6666.", query="gate code", original=wrong)
        assert await corrections() == [f"{changed} 6666.”.", f"{changed} 5555.”."]
        await memory.correct("vault:Gate.md", "The gate code is 7777.", query="gate code", original=wrong)
        assert await corrections() == [f"{changed} 7777.”.", f"{changed} 6666.”."]


async def test_correcting_a_recalled_event_replaces_it(memory: MemoryService) -> None:
    await memory.remember("Yesterday we ate at Luigi's.")
    (recalled,) = (await memory.recall("Where did we eat?")).memories
    assert recalled.content.endswith(": Yesterday we ate at Luigi's.")
    await memory.correct(recalled.id, "Yesterday we ate at Mario's.", original=recalled.content)
    await memory.wait_until_indexed()
    assert sorted(each.content for each in await memory.memories()) == [
        "Yesterday we ate at Mario's.",
        "“Yesterday we ate at Luigi's.” was changed to “Yesterday we ate at Mario's.”.",
    ]


@pytest.mark.slow
async def test_maintaining_engine_indexes_memories_of_another_process(
    sandbox: Sandbox, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(memory_service, "OTHER_SECONDS", 60.0)
    async with open_engine(sandbox) as maintainer, open_engine(sandbox, watch=False) as guest:
        await maintainer.wait_until_indexed()
        assert guest.engine.read_only
        (said_here,) = await guest.engine.memory.remember("The gateway runs on port 8080.")
        assert await guest.engine.memory.wait_until_indexed()
        assert [each.id for each in await guest.engine.memory.memories()] == [said_here.id]
        await eventually(lambda: maintainer.events_of(MemoryRemembered), "the memory is indexed")
        await maintainer.until_found("gateway port in:memory", said_here.source_id, mode="hybrid")
        await guest.engine.memory.forget(said_here.id)
        await maintainer.until_lost("gateway port in:memory", said_here.source_id)


async def test_rebuilt_index_contains_memories_before_it_becomes_current(sandbox: Sandbox, tmp_path: Path) -> None:
    async with open_engine(sandbox, watch=False) as running:
        await import_talk(running.engine.memory, tmp_path)
        await running.engine.memory.remember("The gateway runs in Lisbon.")
        before = sandbox.rows("SELECT source_type, source_id FROM memory_documents ORDER BY 1, 2")
    smaller = quick_config(embedding={"max_tokens": 64, "chunk_overlap": 8})
    async with open_engine(sandbox, watch=False, config=smaller) as running:
        await running.engine.sync()
    assert sandbox.database.name == "index-2.db"
    assert sandbox.rows("SELECT source_type, source_id FROM memory_documents ORDER BY 1, 2") == before
    assert sandbox.rows("SELECT count(*) FROM memory_scores WHERE novelty IS NULL") == [(0,)]


@pytest.mark.slow
async def test_notes_that_go_take_their_tasks_and_nothing_else_with_them(sandbox: Sandbox, tmp_path: Path) -> None:
    for number in range(4):
        sandbox.write(f"n{number}.md", f"- [ ] Task number {number}\n")
    async with open_engine(sandbox) as running:
        await running.wait_until_indexed()
        await import_talk(running.engine.memory, tmp_path)
        assert len(await running.engine.memory.tasks()) == 4
        (sandbox.root / "n0.md").rename(sandbox.root / "moved.md")
        await running.until_renamed("n0.md", "moved.md")
        (sandbox.root / "n1.md").unlink()
        await eventually(lambda: [each.path for each in running.events_of(NoteDeleted)] == ["n1.md"], "n1.md removed")
        await running.until_lost("Task number", "n1.md")
        notes = [task.note for task in await running.engine.memory.tasks()]
        assert sorted(notes) == ["moved.md", "n2.md", "n3.md"]
        assert await running.engine.memory.count(MemoryFilter(sources=(MemorySource.CHAT,))) == 4
        await eventually(lambda: running.engine.status().coverage.notes == 3, "three notes counted")


async def test_backfilling_twice_changes_no_row(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.write("a.md", "- [ ] One\n- [x] Two\n")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        await import_talk(running.engine.memory, tmp_path)
        before = sandbox.rows("SELECT id, source_id, content_hash FROM memory_documents ORDER BY id")
        for _ in range(2):
            rows = [await running.engine.memory.backfill(source) for source in MemorySource]
            assert {(row.source, row.state) for row in rows} == {(source.value, "ok") for source in MemorySource}
        assert sandbox.rows("SELECT id, source_id, content_hash FROM memory_documents ORDER BY id") == before


async def test_one_source_that_fails_does_not_stop_the_others(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with open_engine(sandbox, watch=False) as running:
        await import_talk(running.engine.memory, tmp_path)

        def broken(*args: object) -> object:
            raise RuntimeError("a fault")

        monkeypatch.setattr("donna_tui.memory.deriver.title_of", broken)
        rows = {source: (await running.engine.memory.backfill(source)).state for source in MemorySource}
        assert rows == {**dict.fromkeys(MemorySource, "ok"), MemorySource.CHAT: "failed"}


async def test_without_a_model_recall_matches_words(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hide_model(monkeypatch)
    sandbox = new_sandbox(tmp_path)
    async with open_engine(sandbox, watch=False) as running:
        memory = running.engine.memory
        await import_talk(memory, tmp_path)
        (told,) = await memory.remember("I prefer short answers.")
        assert told.importance is not None
        assert told.importance.value is None
        result = await memory.recall("kestrels motorway")
        assert len(result.memories) > 1
        assert "keyword only" in result.note


async def test_a_reranker_that_is_missing_is_reported(sandbox: Sandbox, tmp_path: Path) -> None:
    config = quick_config(recall={"reranker_enabled": True, "reranker_model": str(tmp_path / "none")})
    async with open_engine(sandbox, watch=False, config=config) as running:
        await import_talk(running.engine.memory, tmp_path)
        result = await running.engine.memory.recall("how do kestrels hover")
        assert result.memories
        assert "ranked by relevance, importance and age: there is no cross-encoder" in result.note


async def test_memory_events_contain_no_text(sandbox: Sandbox, tmp_path: Path) -> None:
    sandbox.write("a.md", "- [ ] One\n")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        await import_talk(running.engine.memory, tmp_path)
        await running.engine.memory.remember("The gateway runs in Lisbon.")
        await running.engine.memory.backfill(MemorySource.CHAT)
    names = {event.name for event in running.events}
    assert {"memory_ingest_chat_turn", "memory_ingest_task", "memory_ingest_memory", "memory_backfill_done"} <= names
    assert not any(_holds(event, "kestrel") or _holds(event, "Lisbon") for event in running.events)
    assert not running.events_of(MemoryIngestFailed)


def _holds(event: EngineEvent, text: str) -> bool:
    return text in str(event).lower()


def test_recall_defaults_match_the_specification() -> None:
    recall = MemoryConfig().recall
    assert (recall.memories, recall.token_budget, recall.reranker_enabled) == (0, 2_000, False)


async def test_open_session_is_indexed_turn_by_turn(sandbox: Sandbox) -> None:
    async with open_engine(sandbox) as running:
        memory = running.engine.memory
        await running.wait_until_indexed()
        for role in ("user", "assistant"):
            text = f"The {role} says something about kestrels and their prey."
            await memory.add_turns([NewTurn(conversation="live", role=role, speaker=role, text=text, at=1.7e9)])
        await eventually_listed(memory, "chat:live:1-1")
        assert [each.closed for each in await memory.conversations()] == [False]


async def test_the_day_of_a_message_is_the_local_day(sandbox: Sandbox, set_zone: Callable[[str], None]) -> None:
    text = "The kestrels have laid four eggs in the church tower."
    turn = NewTurn(conversation="talk", role="user", speaker="user", text=text, at=1_700_000_000)
    set_zone("Asia/Tokyo")  # where it is 07:13 on the next day
    async with open_engine(sandbox, watch=False) as running:
        memory = running.engine.memory
        await memory.add_turns([turn], closed=True)
        assert await memory.wait_until_indexed()
        (listed,) = await memory.memories()
        assert listed.title == "Chat, 15 November 2023"
        prompt = memory.prompt(await memory.recall("where did the kestrels lay eggs"))
        assert f"[EPISODIC] 2023-11-15 user: {text}" in prompt


async def eventually_listed(memory: MemoryService, identity: str) -> None:
    for _ in range(400):
        if any(each.id == identity for each in await memory.memories()):
            return
        await asyncio.sleep(0.02)
    pytest.fail(f"{identity} was not listed")
