"""When the best passages answer a question, and when nothing is relevant."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime

import pytest

from donna_tui.search.query import parse_query
from donna_tui.search.ranking import answers, query_content


def coverage(question: str, text: str, *, prefix: str = "") -> float:
    return query_content(replace(parse_query(question), prefix=prefix)).coverage(text)


def test_coverage_counts_the_words_that_a_passage_contains_in_any_form() -> None:
    assert coverage("why do redis sessions expire", "A session in Redis never expired.") == 1.0
    assert coverage("redis sessions", "sessions of the parliament") == 0.5
    assert coverage("redis sessions", "the weather") == 0.0
    assert coverage("Ann's piano", "It's the weather") == 0.0


def test_a_prefix_counts_if_it_may_become_one_of_the_passage() -> None:
    assert coverage("redis sess", "sessions in redis", prefix="sess") == 1.0
    assert coverage("redis sess", "sessions in redis") == 0.5


def test_a_date_counts_however_the_note_writes_it() -> None:
    assert coverage("lunch on May 2nd", "2026-05-02 lunch") == 1.0
    assert coverage("lunch on May 2nd", "2026-05-20 lunch") == 0.5


def test_the_day_of_a_relative_date_counts_as_its_words() -> None:
    content = query_content(parse_query("meeting last week", now=datetime(2026, 11, 27)))
    assert content.coverage("2026-11-19 meeting") == content.coverage("a meeting in the last week") == 1.0
    assert content.coverage("2026-11-12 meeting") == 1 / 3
    assert not answers(content, 0.0, "2026-11-19 dinner")


def test_characters_without_spaces_are_covered_by_pairs() -> None:
    assert coverage("設定", "設定フォルダ") > 0.0


@pytest.mark.parametrize(
    ("question", "cosine", "text", "answered"),
    [
        ("vacation", 0.5, "a trip to the sea", True),
        ("vacation", 0.3, "a trip to the sea", False),
        ("vacation in Norway with friends", 0.3, "friends came for dinner", False),
        ("vacation in Norway", None, "Norway vacation", True),
        ("what happened on May 2nd", 0.1, "2026-05-02 a walk", True),
    ],
)
def test_answers_considers_words_and_cosine_together(
    question: str, cosine: float | None, text: str, answered: bool
) -> None:
    assert answers(query_content(parse_query(question)), cosine, text) is answered
