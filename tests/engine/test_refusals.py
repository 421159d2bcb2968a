"""Short texts are found by paraphrases, unanswerable questions are refused, and a note's own words never are."""

from __future__ import annotations

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


def test_the_bar_is_lower_for_short_texts_but_not_for_turns_of_conversations() -> None:
    assert clear_cosine("We had lunch.", MemorySource.MEMORY) < CLEAR_COSINE
    assert clear_cosine("We had lunch.", MemorySource.VAULT) < CLEAR_COSINE
    assert clear_cosine("We had lunch.", MemorySource.CHAT) == CLEAR_COSINE
    assert clear_cosine("We had lunch. " * 50, MemorySource.VAULT) == CLEAR_COSINE
