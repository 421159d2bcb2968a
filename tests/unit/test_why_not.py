"""Why a note is not among the hits: the step of a search that excludes it is named."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from donna_tui.index.files import FileState, save_state
from donna_tui.index.store import MemoryStore
from donna_tui.ops.hits import why_not_fields, why_not_lines
from donna_tui.search.hybrid import Settings
from donna_tui.search.legs import Question, ask
from donna_tui.search.why_not import Cause, WhyNot, why_not
from donna_tui.tui.search.dialogs import facts_of
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.types.search import Mode, SearchRequest
from tests.unit.index_parts import QUESTION, add, leaning, note, open_store

SETTINGS = Settings(min_score=0.25, max_k=20)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[MemoryStore]:
    made = open_store(tmp_path / "index.db")
    add(made, "Projects/near.md", "the kestrel outage", leaning(0.9))
    add(made, "Projects/word.md", "kestrel nest", leaning(0.1))
    add(made, "Meetings/far.md", "nothing in common", leaning(0.2))
    yield made
    made.database.close()


def explained(
    store: MemoryStore, path: str, text: str, *, k: int = 8, mode: Mode = "hybrid", readable_share: float = 1.0
) -> WhyNot:
    question = ask(SearchRequest(text=text, k=k, mode=mode))
    asked = Question(question.request, question.query, QUESTION, readable_share, mode)
    return why_not(store.database, store.vectors, asked, SETTINGS, path)


def test_why_not_for_a_hit_reports_no_cause(store: MemoryStore) -> None:
    found = explained(store, "Projects/near.md", "kestrel")
    assert (found.cause, found.rank, found.keyword_rank, found.vector_rank) == (Cause.NOTHING, 1, 2, 1)
    assert found.cosine == pytest.approx(0.9, abs=1e-3)


def test_a_note_that_the_index_does_not_know(store: MemoryStore) -> None:
    with pytest.raises(DonnaError, match=r"^nowhere\.md: there is no such note in the index$") as caught:
        explained(store, "nowhere.md", "kestrel")
    assert caught.value.reason is Reason.MISSING


def test_a_note_that_was_skipped_says_why(store: MemoryStore) -> None:
    state = FileState(path="big.md", state="skipped", reason="too_large", message="larger than 2 MB")
    save_state(store.database, state)
    found = explained(store, "big.md", "kestrel")
    assert (found.cause, found.detail) == (Cause.NOT_INDEXED, "it is not indexed: larger than 2 MB")


def test_a_note_without_text_is_a_hit_by_its_name(store: MemoryStore) -> None:
    store.upsert(note("People/Xavier Unknown.md", ""))
    found = explained(store, "People/Xavier Unknown.md", "xavier unknown")
    assert (found.cause, found.rank) == (Cause.NOTHING, 1)
    assert explained(store, "People/Xavier Unknown.md", "kestrel").cause is Cause.TOO_FAR


def test_every_filter_that_keeps_it_out_is_named(store: MemoryStore) -> None:
    found = explained(store, "Meetings/far.md", "kestrel path:Projects tag:work in:vault")
    assert found.cause is Cause.OUTSIDE_FILTERS
    assert found.detail == "it is outside the path, the tags"


def test_a_required_phrase_that_it_lacks_is_named(store: MemoryStore) -> None:
    found = explained(store, "Projects/word.md", 'kestrel "kestrel outage"')
    assert (found.cause, found.detail) == (Cause.LACKS_WORDS, 'no passage of it contains "kestrel outage"')


def test_a_forbidden_word_keeps_it_out(store: MemoryStore) -> None:
    assert explained(store, "Projects/near.md", "kestrel -outage").cause is Cause.LACKS_WORDS


def test_a_far_passage_without_a_shared_word_is_below_the_threshold(store: MemoryStore) -> None:
    found = explained(store, "Meetings/far.md", "kestrel")
    assert found.cause is Cause.BELOW_THRESHOLD
    assert (found.keyword_rank, found.vector_rank, found.rank) == (None, 2, None)


def test_a_near_passage_without_a_shared_word_is_excluded_if_the_model_cannot_read_the_question(
    store: MemoryStore,
) -> None:
    found = explained(store, "Projects/near.md", "503", readable_share=0.0)
    assert found.detail == "it shares no word with the question, and the model cannot read the question"


def test_a_note_behind_those_that_are_shown_says_its_place(store: MemoryStore) -> None:
    found = explained(store, "Projects/word.md", "kestrel", k=1)
    assert (found.cause, found.rank, found.detail) == (Cause.BEHIND_OTHERS, 2, "it would be hit 2; the search shows 1")


def test_where_nothing_is_relevant_it_says_so(store: MemoryStore) -> None:
    store.delete("vault", "Projects/near.md")
    add(store, "Projects/dim.md", "dull text " * 30, leaning(0.3))
    found = explained(store, "Projects/dim.md", "albatross")
    assert (found.cause, found.rank) == (Cause.NOTHING_RELEVANT, 1)


def test_its_number_among_the_near_misses_is_the_one_that_the_search_shows(store: MemoryStore) -> None:
    filler = " It says nothing else that anybody could ask for, and goes on like this for quite a while." * 3
    add(store, "Projects/similar.md", f"Recruitment started.{filler}", leaning(0.28))
    add(store, "Projects/word.md", f"Kept at OSF.{filler}", leaning(0.05, 2))
    for path in ("Projects/near.md", "Meetings/far.md"):
        store.delete("vault", path)
    found = explained(store, "Projects/word.md", "OSF preregistration")
    assert (found.cause, found.rank) == (Cause.NOTHING_RELEVANT, 1)


def test_a_note_that_others_push_out_of_the_candidates_keeps_its_ranks(store: MemoryStore) -> None:
    for number in range(120):
        add(store, f"crowd/{number}.md", f"kestrel kestrel {number}", leaning(0.8 - number / 1000))
    found = explained(store, "Meetings/far.md", "kestrel")
    assert (found.cause, found.vector_rank, found.keyword_rank) == (Cause.TOO_FAR, 122, None)


def test_by_words_alone_there_is_no_cosine(store: MemoryStore) -> None:
    found = explained(store, "Projects/near.md", "kestrel", mode="keyword")
    assert (found.keyword_rank, found.vector_rank, found.cosine) == (2, None, None)


def test_by_words_alone_a_note_without_a_shared_word_is_not_said_to_rank_lower(store: MemoryStore) -> None:
    found = explained(store, "Meetings/far.md", "kestrel", mode="keyword")
    first = "it shares no word with the question, and semantic search was not used"
    assert (found.cause, found.detail) == (Cause.BELOW_THRESHOLD, first)
    assert dict(facts_of(found, "kestrel"))[""] == f"I{first[1:]}."


def test_it_is_reported_to_people_and_to_programs(store: MemoryStore) -> None:
    found = explained(store, "Meetings/far.md", "kestrel")
    fields = why_not_fields(found, "kestrel")
    assert (fields["cause"], fields["score"], fields["vector_rank"]) == ("below_threshold", 0.2, 2)
    first, second = why_not_lines(found)
    assert first == "Meetings/far.md: it shares no word with the question, and its cosine is below 0.25"
    assert second == "rank: keyword –, semantic 2, cosine 0.20"
