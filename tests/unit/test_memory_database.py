"""`memory.db` is the source of truth of what has no file: it survives damage, is backed up, and forgets on request."""

from __future__ import annotations

import time
from collections.abc import Collection, Iterator
from pathlib import Path

import pytest

from donna_tui.drafts import queue
from donna_tui.drafts.queue import DraftSources, Entry
from donna_tui.index.database import open_database
from donna_tui.memory import database as memory_database
from donna_tui.memory.chat import TurnRules
from donna_tui.memory.compression import SummaryMaterial, compress, due, expand, material, summary_of
from donna_tui.memory.conversations import NewTurn, Recorder, expire_conversations, list_conversations, read_turns
from donna_tui.memory.database import (
    APART_SECONDS,
    ERASED_TITLES,
    MIGRATIONS,
    PRIVATE_SESSIONS,
    WEEK,
    MemoryDb,
    back_up,
    back_up_if_due,
    backups,
    db_path,
    drop_backups,
    open_db,
    read_db,
    superseded_by_schedule,
    taken_at,
)
from donna_tui.memory.facts import (
    Fact,
    RememberRequest,
    add_correction,
    add_facts,
    procedural,
    remember,
    replace_correction,
    replace_fact,
    would_replace,
)
from donna_tui.memory.forgetting import find_target, forget, forget_for_good, pin, redo_session, undo_session
from donna_tui.text.tokens import EstimatedTokens
from donna_tui.types.drafts import DraftState, Evidence
from donna_tui.types.errors import DatabaseError, DonnaError, Reason
from donna_tui.types.memory import Correction, MemoryType
from donna_tui.types.memory_events import ChatIngested
from tests.unit.index_parts import bytes_on_disk, embed_all
from tests.unit.memory_parts import (
    CUT,
    DAY,
    START,
    Sandbox,
    chat_config,
    chat_rows,
    import_file,
    jsonl,
    sandboxes,
    turn,
)

LONG = "kestrels hover above the motorway at dusk"
HOUR = 3_600.0


@pytest.fixture
def sandbox(tmp_path: Path) -> Iterator[Sandbox]:
    yield from sandboxes(tmp_path)


def fact(identity: str, content: str, **others: object) -> Fact:
    return Fact(id=identity, type=MemoryType.SEMANTIC, content=content, created_at=START, **others)  # type: ignore[arg-type]


def store_facts(sandbox: Sandbox, *facts: Fact) -> None:
    with sandbox.db.change():
        add_facts(sandbox.db, facts)
    sandbox.follow()


def correction(identity: str = "c1", **others: str) -> Correction:
    values = {"field": "priority", "original": "low", "corrected": "high", "input": "call the bank", **others}
    return Correction(id=identity, task_type="parse_task", created_at=START, **values)


# Indexing


def test_a_stored_fact_is_found_in_the_index(sandbox: Sandbox, tmp_path: Path) -> None:
    store_facts(sandbox, fact("m1", "The gateway runs on port 8080"))
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", f"{LONG} as well")))
    with sandbox.db.change():
        assert add_correction(sandbox.db, correction())
        assert not add_correction(sandbox.db, correction())
    assert sandbox.follow() == 4
    assert sandbox.sources() == [
        ("chat", "s1:1-1"), ("chat", "s1:2-2"), ("chat", "s1:3-3"), ("correction", "c1"), ("memory", "m1"),
    ]  # fmt: skip
    (content,) = (
        each
        for (each,) in sandbox.store.database.rows(
            "SELECT content FROM memory_chunks c JOIN memory_documents d ON d.id = c.document_id"
            " WHERE d.source_type = 'correction'"
        )
    )
    assert content == "In “priority” of “call the bank”, “low” was changed to “high”."


def test_following_the_memory_database_twice_changes_nothing(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too")))
    sandbox.follow()
    rows = sandbox.store.database.rows("SELECT * FROM memory_documents")
    assert sandbox.follow() == 0
    for source in ("chat", "memory", "correction", "task"):
        for _ in sandbox.follower.backfill(source):
            continue
    again = sandbox.store.database.rows("SELECT id, source_id FROM memory_documents")
    assert [row[:1] + row[3:4] for row in rows] == [tuple(row) for row in again]


def test_a_correction_is_one_passage_however_long_its_values_are(sandbox: Sandbox) -> None:
    with sandbox.db.change():
        add_correction(sandbox.db, correction(input="word " * 5_000, original="other " * 300))
    sandbox.follow()
    ((count, tokens),) = sandbox.store.database.rows("SELECT count(*), max(token_count) FROM memory_chunks")
    assert count == 1
    assert tokens <= 254


def test_new_turns_replace_the_run_that_they_belong_to(sandbox: Sandbox) -> None:
    recorder = Recorder(sandbox.db)

    def say(text: str, role: str, number: int) -> NewTurn:
        return NewTurn(conversation="s", role=role, speaker=role, text=text, turn=number, at=time.time())

    recorder.add([say(LONG, "user", 1)])
    sandbox.follow()
    assert sandbox.ids("chat") == []
    recorder.add([say(f"{LONG} again", "user", 2), say(LONG, "assistant", 3)])
    sandbox.follow()
    assert sandbox.ids("chat") == ["s:1-2"]
    assert expire_conversations(sandbox.db, time.time() - HOUR) == 0
    assert expire_conversations(sandbox.db, time.time() + HOUR) == 1
    sandbox.follow()
    assert sandbox.ids("chat") == ["s:1-2", "s:3-3"]


def test_new_index_is_filled_from_the_memory_database(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too")))
    store_facts(sandbox, fact("m1", "The gateway runs on port 8080"))
    (tmp_path / "other").mkdir()
    other = Sandbox(tmp_path / "other")
    other.follower.close()
    other.follower._context = sandbox.follower._context
    assert other.follow() == 3
    assert other.sources() == sandbox.sources()
    other.close()


def test_other_settings_rebuild_the_documents(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, "short", f"{LONG} too")))
    sandbox.follow()
    assert sandbox.ids("chat") == ["s1:1-3"]
    eager = Sandbox(tmp_path, chat={"min_chars": 1})
    assert eager.follow() == 3
    assert eager.ids("chat") == ["s1:1-1", "s1:2-2", "s1:3-3"]
    eager.close()
    deaf = Sandbox(tmp_path, chat=False)
    deaf.follow()
    assert deaf.ids("chat") == []
    deaf.close()


def test_one_session_that_cannot_be_read_costs_only_itself(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", [*chat_rows("a", LONG), *chat_rows("b", LONG)]))
    sandbox.db.database.run("UPDATE turns SET at = 'soon' WHERE session = 1")
    sandbox.follow()
    assert sandbox.ids("chat") == ["b:1-1"]
    assert [event.name for event in sandbox.events if "fail" in event.name] == ["memory_ingest_failed"]


# Preferences


def test_a_later_preference_of_the_same_name_takes_the_place_of_the_first(sandbox: Sandbox) -> None:
    for text in ("My favorite colour is blue", "I prefer tea", "My favourite colour is green"):
        remember(sandbox.db, RememberRequest(text), CUT, START)
    assert {each.content for each in procedural(sandbox.db.database)} == {
        "I prefer tea",
        "My favourite colour is green",
    }
    sandbox.follow()
    assert len(sandbox.ids("memory")) == 2


def test_the_same_is_not_remembered_twice(sandbox: Sandbox) -> None:
    first = remember(sandbox.db, RememberRequest("The gateway runs on port 8080"), CUT, START)
    assert remember(sandbox.db, RememberRequest("  The gateway runs on port 8080\n"), CUT, START) == first
    with pytest.raises(DonnaError, match="nothing to remember"):
        remember(sandbox.db, RememberRequest(" \n "), CUT, START)


def test_remembering_again_can_make_a_memory_private_or_pin_it(sandbox: Sandbox) -> None:
    (public,) = remember(sandbox.db, RememberRequest("I prefer short answers"), CUT, START)
    (private,) = remember(sandbox.db, RememberRequest("I prefer short answers", sensitive=True), CUT, START)
    (pinned,) = remember(sandbox.db, RememberRequest("I prefer short answers", pinned=True), CUT, START)
    assert (pinned.id, pinned.sensitive, pinned.pinned) == (public.id, True, True) == (private.id, True, True)
    assert [(held.sensitive, held.pinned) for held in procedural(sandbox.db.database)] == [(True, True)]
    agent = RememberRequest("I prefer short answers", session_id="mcp:1")
    assert remember(sandbox.db, agent, CUT, START)[0].id != public.id, "an agent finds out what is private"
    assert len(procedural(sandbox.db.database)) == 2


def test_the_kind_of_apostrophe_makes_no_difference(sandbox: Sandbox) -> None:
    (first,) = remember(sandbox.db, RememberRequest("I can’t stand loud music"), CUT, START)
    assert first.type is MemoryType.PROCEDURAL
    assert remember(sandbox.db, RememberRequest("I can't stand loud music"), CUT, START) == [first]
    assert would_replace(sandbox.db, RememberRequest("I can't stand loud music"), CUT) == []


def test_a_corrected_fact_says_what_is_right(sandbox: Sandbox) -> None:
    (wrong,) = remember(sandbox.db, RememberRequest("The gateway runs on port 8080"), CUT, START)
    (right,) = replace_fact(sandbox.db, wrong.id, "", "The gateway runs on port 9090", CUT, START)
    sandbox.follow()
    assert sandbox.ids("memory") == [right.id]


def test_a_correction_of_one_passage_of_a_fact_leaves_the_others(sandbox: Sandbox) -> None:
    (told,) = remember(sandbox.db, RememberRequest("The gateway runs on port 8080. It restarts at night."), CUT, START)
    assert replace_fact(sandbox.db, told.id, "port 7070", "port 9090", CUT, START) == [told]
    (right,) = replace_fact(sandbox.db, told.id, "port 8080", "port 9090", CUT, START)
    assert right.content == "The gateway runs on port 9090. It restarts at night."


# Forgetting


def told(sandbox: Sandbox, text: str) -> str:
    return remember(sandbox.db, RememberRequest(text), CUT, START)[0].id


def corrected(sandbox: Sandbox, identity: str, before: str, after: str) -> str:
    """Correct a fact as the service does; return the id of the new one."""
    values = {"field": "content", "original": before, "corrected": after, "input": "", "task_type": "memory_search"}
    made = Correction(id=f"c-{identity}", created_at=START, item=f"memory:{identity}", **values)
    replace_correction(sandbox.db, made)
    return replace_fact(sandbox.db, identity, before, after, CUT, START)[0].id


def test_a_memory_is_forgotten_restored_and_erased_with_the_corrections_that_quote_it(sandbox: Sandbox) -> None:
    old = told(sandbox, "The osprey code is 4711")
    new = corrected(sandbox, old, "The osprey code is 4711", "The osprey code is 9922")
    target = find_target(sandbox.db.database, f"memory:{new}")
    sandbox.follow()
    assert (sandbox.ids("memory"), sandbox.ids("correction")) == ([new], [f"c-{old}"])
    forget(sandbox.db, target, START)
    sandbox.follow()
    assert (sandbox.ids("memory"), sandbox.ids("correction")) == ([], [])
    forget(sandbox.db, target, None)
    sandbox.follow()
    assert (sandbox.ids("memory"), sandbox.ids("correction")) == ([new], [f"c-{old}"])
    forget_for_good(sandbox.db, target, START)
    sandbox.follow()
    sandbox.store.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"osprey" not in bytes_on_disk(sandbox.folder)


def test_turns_are_forgotten_with_the_corrections_of_their_passages(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", f"{LONG} again")))
    values = {"field": "content", "original": LONG, "corrected": "at dawn", "input": "", "task_type": "memory_search"}
    for number in (1, 3):
        made = Correction(id=f"c{number}", created_at=START, item=f"chat:s1:{number}-{number}", **values)
        replace_correction(sandbox.db, made)
    target = find_target(sandbox.db.database, "chat:s1:1-2")
    for at, left in ((START, ["c3"]), (None, ["c1", "c3"])):
        forget(sandbox.db, target, at)
        sandbox.follow()
        assert sandbox.ids("correction") == left


def test_a_fact_that_is_corrected_again_keeps_the_last_correction(sandbox: Sandbox) -> None:
    first = told(sandbox, "Zoe works at Siemens in Ulm.")
    second = corrected(sandbox, first, "Siemens", "Bosch")
    third = corrected(sandbox, second, "Ulm", "Bonn")
    corrected(sandbox, third, "Bosch", "Zeiss")
    sandbox.follow()
    assert sandbox.ids("correction") == sorted([f"c-{second}", f"c-{third}"])


def test_a_memory_that_was_replaced_or_remembered_again_is_not_restored(sandbox: Sandbox) -> None:
    green = told(sandbox, "My favourite colour is green")
    forget(sandbox.db, find_target(sandbox.db.database, green), START)
    blue = told(sandbox, "My favourite colour is blue")
    with pytest.raises(DonnaError, match=f"memory:{blue} has replaced it") as refused:
        forget(sandbox.db, find_target(sandbox.db.database, green), None)
    assert refused.value.reason is Reason.CONFLICT
    port = told(sandbox, "The gateway runs on port 8080")
    forget(sandbox.db, find_target(sandbox.db.database, port), START)
    again = told(sandbox, "The gateway runs on port 8080")
    assert not forget(sandbox.db, find_target(sandbox.db.database, port), None)
    sandbox.follow()
    assert sandbox.ids("memory") == sorted([blue, again])


def test_a_conversation_of_several_others_is_named_with_its_user(sandbox: Sandbox, tmp_path: Path) -> None:
    rows = [*chat_rows("standup", LONG, user_id="anna"), *chat_rows("standup", LONG, user_id="ben")]
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", rows))
    with pytest.raises(DonnaError, match="several people") as refused:
        find_target(sandbox.db.database, "chat:standup")
    assert refused.value.hint == "say whose: --user anna or --user ben"
    assert find_target(sandbox.db.database, "chat:standup", "ben").conversation


def test_what_is_forgotten_leaves_the_index_and_can_be_brought_back(sandbox: Sandbox, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", f"{LONG} again"))
    import_file(sandbox.db, file)
    store_facts(sandbox, fact("m1", "The gateway runs on port 8080"))
    for identity in ("chat:s1:2-2", "memory:m1"):
        assert forget(sandbox.db, find_target(sandbox.db.database, identity), START)
    sandbox.follow()
    assert sandbox.sources() == [("chat", "s1:1-1"), ("chat", "s1:3-3")]
    import_file(sandbox.db, file)
    sandbox.follow()
    assert sandbox.sources() == [("chat", "s1:1-1"), ("chat", "s1:3-3")]
    for identity in ("s1:2-2", "m1"):
        assert forget(sandbox.db, find_target(sandbox.db.database, identity), None)
    sandbox.follow()
    assert sandbox.sources() == [("chat", "s1:1-1"), ("chat", "s1:2-2"), ("chat", "s1:3-3"), ("memory", "m1")]


@pytest.mark.parametrize("named", ["memory:f1", "chat:s1:1-1"])
def test_forgetting_or_restoring_twice_changes_nothing(sandbox: Sandbox, tmp_path: Path, named: str) -> None:
    store_facts(sandbox, fact("f1", LONG))
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, timestamp=START)))
    target = find_target(sandbox.db.database, named)
    assert [forget(sandbox.db, target, at) for at in (START, START + 1, None, None)] == [True, False, True, False]


def drafted(
    sandbox: Sandbox, identity: str, source: str, path: str, text: str, state: DraftState = DraftState.REJECTED
) -> None:
    """Store a draft that quotes a passage."""
    lines = {"heading_path": (), "start_line": 1, "end_line": 1}
    passage = Evidence(number=1, source_type=source, path=path, title="", text=text, **lines)
    sources = DraftSources((passage,), ((text, (1,)),)).dumped()
    queue.save(sandbox.db, Entry(
        id=identity, skill="commitment_log", key=identity, title="t", state=state, target="a.md", created_at=START,
        original=text, answer=text, evidence=sources,
    ))  # fmt: skip


def test_permanently_forgotten_memory_is_erased_and_not_reimported(sandbox: Sandbox, tmp_path: Path) -> None:
    secret = "the osprey code is 4711 and nobody else may know"
    file = jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, secret, f"{LONG} again"))
    import_file(sandbox.db, file)
    store_facts(sandbox, fact("m1", f"remember {secret}"))
    embed_all(sandbox.store)
    drafted(sandbox, "turn", "chat", "s1:1-2", secret)
    drafted(sandbox, "fact", "memory", "m1", secret)
    drafted(sandbox, "unwritten", "memory", "m1", secret, DraftState.FAILED)
    drafted(sandbox, "other", "chat", "s1:3-3", LONG)
    for identity in ("chat:s1:2-2", "memory:m1"):
        assert forget_for_good(sandbox.db, find_target(sandbox.db.database, identity), START)
    sandbox.follow()
    sandbox.store.database.rows("PRAGMA wal_checkpoint(TRUNCATE)")
    assert b"osprey" not in bytes_on_disk(sandbox.folder)
    kept = dict(sandbox.db.database.rows("SELECT id, original FROM drafts"))
    assert kept == {"turn": "\n", "fact": "\n", "unwritten": "", "other": LONG}
    file.unlink()
    file = jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, secret, f"{LONG} again"))
    assert import_file(sandbox.db, file).turns == 0
    sandbox.follow()
    assert sandbox.ids("chat") == ["s1:1-1", "s1:3-3"]
    assert not forget(sandbox.db, find_target(sandbox.db.database, "chat:s1:2-2"), None)


def test_the_title_of_an_erased_conversation_is_erased_and_not_reimported(sandbox: Sandbox, tmp_path: Path) -> None:
    file = jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} again", title="The osprey code"))
    import_file(sandbox.db, file)
    for identity, title in (("chat:s1:1-1", "The osprey code"), ("chat:s1", "")):
        forget_for_good(sandbox.db, find_target(sandbox.db.database, identity), START)
        import_file(sandbox.db, file)
        assert [each.title for each in list_conversations(sandbox.db.database)] == [title]
    file.unlink()
    assert b"osprey" not in bytes_on_disk(sandbox.folder)


def test_a_session_that_is_continued_as_private_is_private(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG)))
    sandbox.follow()
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too")), sensitive=True)
    sandbox.follow()
    assert sandbox.store.database.rows("SELECT sensitive FROM memory_documents") == [(1,), (1,)]


def test_a_whole_session_is_forgotten_by_its_name(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", [*chat_rows("a", LONG, LONG), *chat_rows("a:1-1", LONG)]))
    forget(sandbox.db, find_target(sandbox.db.database, "chat:a"), START)
    sandbox.follow()
    assert sandbox.ids("chat") == ["a:1-1:1-1"]


@pytest.mark.parametrize(
    ("identity", "reason"),
    [
        ("vault:a.md", Reason.IGNORED),
        ("task:a.md#1", Reason.IGNORED),
        ("memory:none", Reason.MISSING),
        ("chat:none:1-2", Reason.MISSING),
        ("none", Reason.MISSING),
        ("", Reason.MISSING),
    ],
)
def test_what_cannot_be_forgotten_is_reported(sandbox: Sandbox, identity: str, reason: Reason) -> None:
    with pytest.raises(DonnaError) as refused:
        find_target(sandbox.db.database, identity)
    assert refused.value.reason is reason


def test_pinning_reaches_the_index_without_embedding(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG)))
    sandbox.follow()
    embed_all(sandbox.store)
    pin(sandbox.db, find_target(sandbox.db.database, "chat:s1:1-1"), pinned=True)
    sandbox.follow()
    assert sandbox.store.pending(5) == []
    assert '"pinned": true' in sandbox.store.database.value("SELECT metadata_json FROM memory_documents")


# Summaries


def test_a_summary_is_made_of_the_sentences_that_say_most() -> None:
    turns = [
        turn(1, "Hello there. How are you doing today?", speaker="Ann"),
        turn(2, "We move the Postgres database to Frankfurt in March. It rains.", speaker="Bo"),
        turn(3, "The Postgres database in Frankfurt needs 64 gigabytes.", speaker="Ann"),
        turn(4, "Nice weather for walking around lakes.", speaker="Bo"),
        turn(5, "Bo orders the Postgres database machine for Frankfurt on Friday.", speaker="Bo"),
    ]
    assert summary_of("Ann and Bo, 1 March 2024", turns, EstimatedTokens()) == (
        "Ann and Bo, 1 March 2024. Bo: We move the Postgres database to Frankfurt in March."
        " Ann: The Postgres database in Frankfurt needs 64 gigabytes."
        " Bo: Bo orders the Postgres database machine for Frankfurt on Friday."
    )
    assert summary_of("Chat", [], EstimatedTokens()) == "Chat"


def test_the_oldest_sessions_are_due_beyond_the_threshold(sandbox: Sandbox, tmp_path: Path) -> None:
    rows = [
        row
        for number in (3, 1, 2, 5, 4)
        for row in chat_rows(f"s{number}", LONG, f"{LONG} too", timestamp=START + number * DAY)
    ]
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", rows))
    assert [each.name for each in due(sandbox.db.database, 4)] == ["s1", "s2"]
    assert due(sandbox.db.database, 5) == []


def to_summarise(db: MemoryDb, name: str = "s1") -> SummaryMaterial:
    (session,) = (each for each in list_conversations(db.database) if each.name == name)
    return material(db, session, TurnRules(chat_config()))


def summed_up(db: MemoryDb, name: str = "s1") -> Fact:
    """Summarise a session by quoting sentences from it."""
    found = to_summarise(db, name)
    summary = compress(db, found, summary_of(found.title, found.turns, CUT.counter))
    assert summary is not None
    return summary


def test_compression_marks_and_keeps_the_turns_and_can_be_undone(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    summary = summed_up(sandbox.db)
    assert (summary.type, summary.source_session_id, summary.compression_source) == (MemoryType.SEMANTIC, "s1", True)
    sandbox.follow()
    assert sandbox.sources() == [("chat", "s1:1-1"), ("chat", "s1:2-2"), ("memory", summary.id)]
    flags = "SELECT json_extract(metadata_json, '$.compressed') FROM memory_documents WHERE source_type = 'chat'"
    assert sandbox.store.database.rows(flags) == [(1,), (1,)]
    assert expand(sandbox.db, "s1", START)
    assert not expand(sandbox.db, "s1", START)
    sandbox.follow()
    assert sandbox.sources() == [("chat", "s1:1-1"), ("chat", "s1:2-2")]
    assert sandbox.store.database.rows(flags) == [(0,), (0,)]


def test_screens_learn_of_a_memory_that_another_process_forgot(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, timestamp=START)))
    sandbox.follow()
    sandbox.events.clear()
    forget(sandbox.db, find_target(sandbox.db.database, "chat:s1:1-1"), START)
    sandbox.follow()
    assert sandbox.sources() == []
    assert [type(event) for event in sandbox.events] == [ChatIngested]


@pytest.mark.parametrize("named", ["summary", "chat:s1", "chat:s1:2-2"])
def test_a_summary_that_is_restored_replaces_its_session_again(sandbox: Sandbox, tmp_path: Path, named: str) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    summary = summed_up(sandbox.db)
    target = find_target(sandbox.db.database, f"memory:{summary.id}" if named == "summary" else named)
    assert forget(sandbox.db, target, START)
    sandbox.follow()
    assert sandbox.ids("memory") == []
    assert list_conversations(sandbox.db.database)[0].summary == ""
    assert forget(sandbox.db, target, None)
    sandbox.follow()
    assert sandbox.ids("memory") == [summary.id]
    assert list_conversations(sandbox.db.database)[0].summary == summary.id


def test_a_summary_stays_forgotten_while_other_turns_of_its_session_are(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    summed_up(sandbox.db)
    first, second = (find_target(sandbox.db.database, f"chat:s1:{number}-{number}") for number in (1, 2))
    forget(sandbox.db, first, START)
    forget(sandbox.db, second, START + 1)
    forget(sandbox.db, first, None)
    sandbox.follow()
    assert (sandbox.ids("memory"), sandbox.ids("chat")) == ([], ["s1:1-1"])


@pytest.mark.parametrize("again", [False, True])
def test_no_summary_is_left_that_quotes_what_a_redone_session_forgot(
    sandbox: Sandbox, tmp_path: Path, *, again: bool
) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    summed_up(sandbox.db)
    Recorder(sandbox.db, added_by="agent").add(
        [NewTurn(conversation="s1", role="user", speaker="user", text="Yes", turn=3)]
    )
    forget(sandbox.db, find_target(sandbox.db.database, "chat:s1:1-1"), START, by="agent")
    undo_session(sandbox.db, "agent", START + 1)
    if again:
        summed_up(sandbox.db)
    redo_session(sandbox.db, "agent", START + 2)
    sandbox.follow()
    assert sandbox.ids("memory") == []
    assert list_conversations(sandbox.db.database)[0].summary == ""


def test_no_summary_is_stored_that_may_quote_a_turn_forgotten_meanwhile(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    found = to_summarise(sandbox.db)
    forget(sandbox.db, find_target(sandbox.db.database, "chat:s1:1-1"), START)
    assert compress(sandbox.db, found, f"They said that {LONG}.") is None
    sandbox.follow()
    assert (sandbox.ids("memory"), list_conversations(sandbox.db.database)[0].summary) == ([], "")


def test_a_session_that_grows_has_no_summary(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    found = to_summarise(sandbox.db)
    summed_up(sandbox.db)
    file = jsonl(tmp_path / "u.jsonl", chat_rows("s1", LONG, f"{LONG} too", f"{LONG} again", timestamp=START))
    import_file(sandbox.db, file)
    sandbox.follow()
    assert (sandbox.ids("memory"), list_conversations(sandbox.db.database)[0].summary) == ([], "")
    assert compress(sandbox.db, found, "A summary without the last turn.") is None
    summed_up(sandbox.db)
    import_file(sandbox.db, file)
    assert list_conversations(sandbox.db.database)[0].summary


def test_a_session_never_has_two_summaries(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    old = summed_up(sandbox.db)
    first = find_target(sandbox.db.database, "chat:s1:1-1")
    forget(sandbox.db, first, START, by="agent")
    new = summed_up(sandbox.db)
    undo_session(sandbox.db, "agent", START + 1)
    assert not forget(sandbox.db, find_target(sandbox.db.database, f"memory:{old.id}"), None)
    for restored in (None, START + 2, None):
        forget(sandbox.db, first, restored)
        sandbox.follow()
        assert sandbox.ids("memory") == ([] if restored else [new.id])


def test_a_second_summary_is_forgotten_with_the_turns_too(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    for _ in range(2):
        summed_up(sandbox.db)
    forget(sandbox.db, find_target(sandbox.db.database, "chat:s1:1-1"), START)
    sandbox.follow()
    assert sandbox.ids("memory") == []


@pytest.mark.parametrize("restored", [(1, 2), (2, 1)])
def test_a_summary_returns_with_the_last_of_the_turns(
    sandbox: Sandbox, tmp_path: Path, restored: tuple[int, int]
) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    summary = summed_up(sandbox.db)
    for at, name in enumerate(("chat:s1:1-1", "chat:s1:2-2", "chat:s1")):
        forget(sandbox.db, find_target(sandbox.db.database, name), START + at)
    found = []
    for number in restored:
        forget(sandbox.db, find_target(sandbox.db.database, f"chat:s1:{number}-{number}"), None)
        sandbox.follow()
        found.append(sandbox.ids("memory"))
    assert found == [[], [summary.id]]


def test_the_summaries_of_a_session_that_becomes_private_are_private(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, f"{LONG} too", timestamp=START)))
    summed_up(sandbox.db)
    expand(sandbox.db, "s1", START)
    summed_up(sandbox.db)
    found = to_summarise(sandbox.db)
    sandbox.follow()
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", LONG, timestamp=START)), sensitive=True)
    sandbox.follow()
    assert sandbox.db.database.rows("SELECT sensitive FROM memories") == [(1,), (1,)]
    assert sandbox.store.database.rows("SELECT DISTINCT sensitive FROM memory_documents") == [(1,)]
    summary = compress(sandbox.db, found, "Summarised while it became private.")
    assert summary is not None
    assert summary.sensitive


def test_a_summary_is_erased_with_its_turns(sandbox: Sandbox, tmp_path: Path) -> None:
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s1", "The osprey code is the number 4711", LONG)))
    summed_up(sandbox.db)
    expand(sandbox.db, "s1", START)
    summed_up(sandbox.db)
    forget_for_good(sandbox.db, find_target(sandbox.db.database, "chat:s1:1-1"), START)
    assert b"4711" not in bytes_on_disk(sandbox.folder)


# Damage and backups


def test_an_error_of_the_memory_does_not_offer_to_rebuild_it(tmp_path: Path) -> None:
    db = open_db(tmp_path)
    with pytest.raises(DatabaseError, match=r"^the memory memory\.db is incomplete") as refused:
        db.database.rows("SELECT * FROM missing")
    assert refused.value.hint == f"it is in {tmp_path}, with its backups"
    db.close()


def test_a_damaged_memory_is_replaced_by_its_backup_and_kept_beside_it(tmp_path: Path) -> None:
    db = open_db(tmp_path)
    with db.change():
        add_facts(db, [fact("m1", "kept")])
    back_up(db.database, START)
    with db.change():
        add_facts(db, [fact("m2", "lost")])
    db.close()
    db_path(tmp_path).write_bytes(b"garbage" * 1_000)
    for suffix in ("-wal", "-shm"):
        db_path(tmp_path).with_name(f"memory.db{suffix}").unlink(missing_ok=True)
    reopened = open_db(tmp_path)
    assert reopened.restored.startswith("memory-")
    assert reopened.id != db.id
    assert reopened.database.rows("SELECT id FROM memories") == [("m1",)]
    reopened.close()
    assert any("damaged" in path.name for path in tmp_path.iterdir())


def test_the_index_follows_a_memory_that_was_replaced(sandbox: Sandbox) -> None:
    store_facts(sandbox, fact("m1", "kept for ever"))
    back_up(sandbox.db.database, START)
    store_facts(sandbox, fact("m2", "lost with the damage"))
    assert sandbox.ids("memory") == ["m1", "m2"]
    sandbox.follower.close()
    sandbox.db.close()
    for suffix in ("", "-wal", "-shm"):
        db_path(sandbox.folder).with_name(f"memory.db{suffix}").unlink(missing_ok=True)
    db_path(sandbox.folder).write_bytes(b"garbage" * 1_000)
    sandbox.db = open_db(sandbox.folder)
    sandbox.follow()
    assert sandbox.ids("memory") == ["m1"]


def test_without_a_backup_damage_is_reported_and_nothing_is_changed(tmp_path: Path) -> None:
    db_path(tmp_path).write_bytes(b"garbage" * 1_000)
    with pytest.raises(DatabaseError, match=r"memory\.db is damaged") as refused:
        open_db(tmp_path)
    assert refused.value.reason is Reason.DATABASE_CORRUPT
    assert "rebuil" not in f"{refused.value.message} {refused.value.hint}"
    assert db_path(tmp_path).read_bytes() == b"garbage" * 1_000


def test_a_memory_of_a_newer_donna_is_left_alone(tmp_path: Path) -> None:
    db = open_db(tmp_path)
    db.database.run("INSERT INTO migrations VALUES ('9999_future')")
    db.close()
    with pytest.raises(DatabaseError, match="newer Donna"):
        open_db(tmp_path)


def test_private_conversations_of_agents_are_renamed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(memory_database, "MIGRATIONS", MIGRATIONS[:4])
    old = Sandbox(tmp_path)
    for name, sensitive in (("agent/a", True), ("agent/b", True), ("private/b", True), ("agent/c", False)):
        import_file(old.db, jsonl(tmp_path / "t.jsonl", chat_rows(name, LONG, timestamp=START)), sensitive=sensitive)
    summaries = {name: summed_up(old.db, name) for name in ("agent/a", "agent/c")}
    old.db.database.run("UPDATE memories SET sensitive = 0")
    old.follow()
    old.close()
    monkeypatch.setattr(memory_database, "MIGRATIONS", MIGRATIONS)
    new = Sandbox(tmp_path)
    new.follow()
    assert new.ids("chat") == ["agent/b:1-1", "agent/c:1-1", "private/a:1-1", "private/b:1-1"]
    assert new.db.database.rows("SELECT id, session_id, source_session_id, sensitive FROM memories ORDER BY 2") == [
        (summaries["agent/c"].id, "agent/c", "agent/c", 0),
        (summaries["agent/a"].id, "private/a", "private/a", 1),
    ]
    assert new.store.database.rows("SELECT source_id FROM memory_documents WHERE NOT sensitive ORDER BY 1") == sorted(
        [("agent/c:1-1",), (summaries["agent/c"].id,)]
    )
    new.close()


def test_conversations_erased_by_an_earlier_version_lose_their_titles(sandbox: Sandbox, tmp_path: Path) -> None:
    db = sandbox.db
    for name in ("erased", "kept"):
        import_file(db, jsonl(tmp_path / "t.jsonl", chat_rows(name, LONG, timestamp=START, title=f"About {name}")))
    db.database.run("UPDATE turns SET text = '' WHERE session IN (SELECT id FROM sessions WHERE name = 'erased')")
    db.database.run(ERASED_TITLES)
    assert {each.name: each.title for each in list_conversations(db.database)} == {"erased": "", "kept": "About kept"}


def test_a_renamed_conversation_is_not_imported_again_but_no_agent_adds_to_it(tmp_path: Path) -> None:
    sandbox = Sandbox(tmp_path)
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("agent/a", LONG, timestamp=START)), sensitive=True)
    sandbox.db.database.run(PRIVATE_SESSIONS)
    for sensitive in (True, False):
        again = import_file(sandbox.db, tmp_path / "t.jsonl", sensitive=sensitive)
        assert (again.turns, again.known) == (0, 1)
    Recorder(sandbox.db, added_by="x").add([NewTurn(conversation="agent/a", role="user", speaker="user", text=LONG)])
    turn = NewTurn(conversation="private/b", role="user", speaker="user", text=LONG)
    Recorder(sandbox.db, sensitive=True, added_by="x").add([turn])
    assert import_file(sandbox.db, jsonl(tmp_path / "b.jsonl", chat_rows("agent/b", LONG, timestamp=START))).turns == 1
    assert [(each.name, each.turns) for each in list_conversations(sandbox.db.database)] == [
        ("agent/a", 1), ("private/b", 1), ("private/a", 1), ("agent/b", 1),
    ]  # fmt: skip
    sandbox.close()


def test_there_is_nothing_to_read_before_the_first_memory(tmp_path: Path) -> None:
    assert read_db(tmp_path) is None
    open_database(db_path(tmp_path)).close()
    assert read_db(tmp_path) is None


def test_backups_are_made_when_something_changed_and_an_hour_has_passed(sandbox: Sandbox) -> None:
    store_facts(sandbox, fact("m1", "one"))
    assert back_up_if_due(sandbox.db.database, START)
    store_facts(sandbox, fact("m2", "two"))
    assert back_up_if_due(sandbox.db.database, START + APART_SECONDS / 2) is None
    assert back_up_if_due(sandbox.db.database, START + APART_SECONDS)
    assert back_up_if_due(sandbox.db.database, START + 9 * APART_SECONDS) is None
    assert len(backups(sandbox.folder)) == 2
    # The clock was wrong, and is set back.
    assert back_up_if_due(sandbox.db.database, START - 9 * APART_SECONDS) is None
    store_facts(sandbox, fact("m3", "three"))
    newest = back_up_if_due(sandbox.db.database, START - 7 * APART_SECONDS)
    assert newest == backups(sandbox.folder)[0]
    assert len(backups(sandbox.folder)) == 3
    drop_backups(sandbox.folder)
    assert backups(sandbox.folder) == []


@pytest.mark.parametrize("hours", [range(24), range(9, 18), (9, 17), (8,)], ids=["all day", "office", "twice", "once"])
def test_backups_are_kept_for_some_hours_days_and_weeks(tmp_path: Path, hours: Collection[int]) -> None:
    """Remove superseded backups after each one, for sixty days."""
    made = [START + (day * 24 + hour) * HOUR for day in range(60) for hour in hours]
    kept: list[Path] = []
    for at in made:
        kept.append(tmp_path / time.strftime("memory-%Y%m%d-%H%M%S.db", time.gmtime(at)))
        superseded = superseded_by_schedule(kept)
        kept = [backup for backup in kept if backup not in superseded]
    times = {taken_at(backup) for backup in kept}
    assert times.issuperset(made[-4:])
    for period, count in ((DAY, 7), (WEEK, 5)):
        latest = sorted({at // period for at in made})[-count:]
        assert {at // period for at in times}.issuperset(latest)
    assert len(times) <= 4 + 7 + 5 + 1


def test_turns_are_read_in_order_however_many(
    sandbox: Sandbox, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("donna_tui.memory.conversations.PAGE", 3)
    import_file(sandbox.db, jsonl(tmp_path / "t.jsonl", chat_rows("s", *(f"text {n}" for n in range(1, 11)))))
    assert [each.number for each in read_turns(sandbox.db.database, 1)] == list(range(1, 11))
