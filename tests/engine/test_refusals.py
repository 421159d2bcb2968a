"""Short texts are found by paraphrases, unanswerable questions are refused, and a note's own words never are."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from donna_tui.search.ranking import CLEAR_COSINE, clear_cosine
from donna_tui.types.search import MemorySource
from tests.engine.helpers import Sandbox, new_sandbox, open_engine

pytestmark = pytest.mark.model

FACTS = {
    "how much does the laundry machine weigh": "Our washing machine is 70 kilos.",
    "who repairs our pipes": "The plumber's name is Hakan and he only takes cash.",
    "where is the owner of our flat when it is cold": "The landlord lives in Portugal during winter.",
    "what became of the instrument": "The old piano was given to the kindergarten.",
    "how was my mother's operation": "Mum's hip surgery went well.",
}
PADDING = "Nothing else has to be thought of here, and whoever stays in the flat may well leave it as it is. " * 4
NOTE = f"""\
# Watering

Once a week, with rain from the barrel. {PADDING}

# Light

The kitchen is too dark in December. {PADDING}

# Repotting

Every second spring, into clay. {PADDING}
"""


@pytest.fixture
def sandbox(tmp_path: Path, model_cache: Path) -> Sandbox:
    return new_sandbox(tmp_path, model_cache)


async def test_short_facts_are_found_in_other_words_and_what_nothing_answers_is_refused(sandbox: Sandbox) -> None:
    async with open_engine(sandbox, watch=False) as running:
        for fact in FACTS.values():
            await running.engine.memory.remember(fact)
        await running.engine.memory.wait_until_indexed()
        for question, fact in FACTS.items():
            found = await running.search(question, mode="hybrid")
            assert fact in [hit.content for hit in found.hits], question
        for question in ("derivative of a polynomial", "how do penguins breed", "what is the capital of Mongolia"):
            assert (await running.search(question, mode="hybrid")).hits == (), question


async def test_words_that_the_model_does_not_know_are_not_answered_by_what_only_looks_like_them(
    sandbox: Sandbox,
) -> None:
    sandbox.write("Rouladen.md", "Oma nahm immer Löwensenf. Dazu Rotkohl und Klöße.\n")
    sandbox.write("Wifi.md", "SSID: Zauberberg\nRouter: FRITZ!Box 7590, admin at http://192.168.178.1\n")
    sandbox.write("Kitchen.md", "The coffee maker is repaired by Ada.\n")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        for question in ("Zahnarzt", "Vergessenskurve", "Wann war der Ölwechsel", "TMBJG7NE5J0123456"):
            assert (await running.search(question, mode="hybrid")).hits == (), question
        for question in ("who fixes the espresso machine", "Klöße"):
            assert (await running.search(question, mode="hybrid")).hits, question


async def test_speaker_names_alone_do_not_make_a_chat_turn_relevant(sandbox: Sandbox, tmp_path: Path) -> None:
    said = [
        ("Caroline", "I painted a sunset for the exhibition in the library."),
        ("Melanie", "It looked wonderful! We camped at the lake with the kids."),
        ("Caroline", "The counselling workshop was good, I learned a lot there."),
    ]
    turns = [
        {"session_id": "s", "turn": number, "speaker": speaker, "text": text}
        for number, (speaker, text) in enumerate(said, 1)
    ]
    file = tmp_path / "turns.jsonl"
    file.write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.memory.import_chat(file)
        await running.engine.memory.wait_until_indexed()
        painted = await running.search("What did Caroline paint?", mode="hybrid")
        assert painted.hits[0].content == said[0][1]
        for question in ("Which passport does Melanie have?", "Which bank does Caroline use?"):
            assert (await running.search(question, mode="hybrid")).hits == (), question


async def test_a_question_that_the_model_cannot_read_needs_a_word_in_common(sandbox: Sandbox) -> None:
    sandbox.write("Credits.md", "Thanks to translators of Arabic, Hebrew and Persian.\n")
    sandbox.write("Canvas.md", "A canvas is a board.\n")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        for question in (
            "مكونات حساء العدس",
            "ما هو الطقس اليوم",
            "ワークスペースの設定方法",
            "Какая группа крови у кошки?",
        ):
            assert (await running.search(question, mode="hybrid")).hits == (), question
        assert (await running.search("Canvas とは何ですか", mode="hybrid")).hits[0].path == "Canvas.md"


async def test_first_person_question_prefers_turns_of_the_user(sandbox: Sandbox, tmp_path: Path) -> None:
    said = [
        ("user", "She eats kibble with salmon, and I ate a pizza at Luigi's yesterday."),
        ("assistant", "I recommend where to eat. You did eat well where I told you to eat, I hope, at Luigi's."),
    ]
    turns = [{"session_id": "s", "turn": at, "role": role, "text": text} for at, (role, text) in enumerate(said, 1)]
    file = tmp_path / "turns.jsonl"
    file.write_text("\n".join(map(json.dumps, turns)), encoding="utf-8")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.memory.import_chat(file)
        await running.engine.memory.wait_until_indexed()
        recalled = await running.engine.memory.recall("Where did I eat?")
        by_score = sorted(recalled.memories, key=lambda memory: -memory.score)
        assert [said[0][1] in memory.content for memory in by_score] == [True, False]
        recommended = await running.engine.memory.recall("Where did you recommend that I eat?")
        assert said[1][1] in max(recommended.memories, key=lambda memory: memory.score).content


async def test_the_words_of_one_note_are_never_refused_wherever_they_are_in_it(sandbox: Sandbox) -> None:
    sandbox.write("Plants/Ficus.md", NOTE)
    sandbox.write("Bread.md", "Let it rise overnight.\n")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        for question in (
            "barrel december clay", "ficus barrel kitchen", "plants clay week dark", "repotting rain december kitchen",
        ):  # fmt: skip
            found = await running.search(question, mode="hybrid")
            assert found.hits, question
            assert found.hits[0].path == "Plants/Ficus.md", question


def test_cosine_threshold_is_lower_for_short_texts_except_chat_turns() -> None:
    assert clear_cosine("We had lunch.", MemorySource.MEMORY) < CLEAR_COSINE
    assert clear_cosine("We had lunch.", MemorySource.VAULT) < CLEAR_COSINE
    assert clear_cosine("We had lunch.", MemorySource.CHAT) == CLEAR_COSINE
    assert clear_cosine("We had lunch. " * 50, MemorySource.VAULT) == CLEAR_COSINE


async def test_a_vault_of_one_note_refuses_words_without_meaning(sandbox: Sandbox) -> None:
    sandbox.write("a.md", "x\n")
    async with open_engine(sandbox, watch=False) as running:
        await running.engine.sync()
        for word in ("asdf", "foo", "zebra"):
            assert (await running.search(word, mode="hybrid")).hits == (), word
        sandbox.write("a.md", "We had lunch at the harbour.\n")
        await running.engine.sync()
        assert (await running.search("zebra", mode="hybrid")).hits == ()
        assert (await running.search("where did we eat", mode="hybrid")).hits[0].path == "a.md"
