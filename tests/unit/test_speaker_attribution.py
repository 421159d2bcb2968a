"""Whether a conversation is about the other person, rather than the one in question."""

from __future__ import annotations

import time
from timeit import repeat

import pytest

from donna_tui.search.query import parse_query
from donna_tui.search.ranking import query_content
from donna_tui.search.speaker_attribution import Compared, Share, SpokenTurn, compare, turns_of

TALK = """\
# Anna and Ben, 3 May 2024

**Anna:** Hey Ben! I started pottery lessons at the community centre. My teacher fires the bowls twice.

**Ben:** That is great, Anna! How did you get into pottery? I spent the week repairing my old sailing boat.

**Anna:** My grandmother gave me her potter's wheel. Is your sailing boat ready for the regatta?

**Ben:** Almost. I still paint the hull, and my brother sews the sails.
"""


def compared(question: str, *passages: str) -> Compared:
    return compare(question, query_content(parse_query(question)).stems, passages or (TALK,))


def of_another(question: str, *passages: str) -> bool:
    return compared(question, *passages).is_of_another


@pytest.mark.parametrize(
    "question",
    [
        "Where does Ben take pottery lessons?",
        "What does Ben's pottery teacher do with the bowls?",
        "When will Anna paint the hull of the sailing boat?",
        "Who sews the sails of Anna's boat?",
    ],
)
def test_of_another_detects_actions_of_the_other_speaker(question: str) -> None:
    assert of_another(question)


@pytest.mark.parametrize(
    "question",
    [
        "Where does Anna take pottery lessons?",
        "What does Anna's pottery teacher do with the bowls?",
        "When will Ben paint the hull of the sailing boat?",
        "Who sews the sails of Ben's boat?",
    ],
)
def test_of_another_rejects_actions_of_the_named_speaker(question: str) -> None:
    assert not of_another(question)


def test_second_person_refers_to_the_listener() -> None:
    talk = "Anna: How was your trip to the glacier in Norway?\nBen: Wonderful! Did you stay at home?\nAnna: I did."
    assert not of_another("When was Ben at the glacier in Norway?", talk)
    assert of_another("When was Anna at the glacier in Norway?", talk)


@pytest.mark.parametrize(
    "question",
    [
        "Where are pottery lessons given at the community centre?",
        "Did Anna or Ben take pottery lessons at the community centre?",
        "Did Ben tell me about pottery lessons at the community centre?",
        "Does Carla take pottery lessons at the community centre?",
        "Ben",
        "",
    ],
)
def test_a_question_that_names_neither_person_is_not_judged(question: str) -> None:
    assert not of_another(question)


def test_any_other_passage_counts_for_the_person_in_question() -> None:
    question = "Where does Ben take pottery lessons?"
    assert of_another(question, TALK, TALK, "The weather was fine.")
    assert not of_another(question, *["Ben takes pottery lessons."] * 2, *[TALK] * 3)
    assert not of_another(question, "Anna takes pottery lessons.")


def test_most_of_the_passages_must_be_of_the_conversation() -> None:
    question = "Where does Ben take pottery lessons?"
    assert of_another(question, TALK, TALK, "The weather was fine.")
    assert compared(question, TALK, "The weather was fine.") == Compared()


def test_the_farther_down_a_passage_is_the_less_its_turns_count() -> None:
    barely = [Share(about_named=0.0, other=0.5)]
    assert Compared([barely], words=10).is_of_another
    assert not Compared([[], [], barely], words=10).is_of_another


def test_a_passage_leads_by_what_it_tells_more_of_whom_the_question_names() -> None:
    anna = "Anna: I started pottery lessons.\nBen: How do you like them?"
    ben = "Ben: I started pottery lessons.\nAnna: How do you like them?"
    margins = compared("When did Ben start pottery lessons?", anna, ben, anna, "", "A pottery.").margins
    assert margins[0] == margins[2] == margins[3] == 0.0
    assert 0.9 < margins[1] <= 1.0
    assert 0.0 < margins[4] < margins[1]
    assert compared("When were pottery lessons started?", anna, ben).margins == []


def test_only_people_in_a_conversation_of_two_are_compared() -> None:
    question = "Where does Ben take pottery lessons?"
    assert not of_another(question, f"{TALK}\n**Carla:** Lovely!\n")
    assert not of_another(question, TALK.replace("Anna", "Assistant"))
    assert not of_another(question, TALK.replace("**Ben:**", "**Anna:**"))


def test_speaker_attribution_is_skipped_for_other_languages() -> None:
    talk = "Anna: Ich lerne Töpfern im Gemeindehaus.\nBen: Wie schön! Ich repariere mein Segelboot.\n"
    assert not of_another("Wo lernt Ben Töpfern im Gemeindehaus?", talk)


@pytest.mark.parametrize(
    "line",
    ["Anna: hello", "**Anna:** hello", "**Anna**: hello", "- Anna: hello", "> Anna: hello", "[10:32] Anna: hello"],
)
def test_a_turn_begins_with_a_name_in_any_usual_way(line: str) -> None:
    assert [(turn.speaker, turn.text.strip()) for turn in turns_of(line)] == [("Anna", "hello")]


def test_lines_without_a_name_go_on_with_the_turn() -> None:
    passage = "# Chat\n\nand so on\n\nAnna Smith: hello\n*(photo: a bowl)*\n\nBen: at 10:30 or http://localhost"
    assert turns_of(passage) == [
        SpokenTurn("", "and so on"),
        SpokenTurn("Anna Smith", " hello *(photo: a bowl)*"),
        SpokenTurn("Ben", " at 10:30 or http://localhost"),
    ]


def test_a_full_name_is_named_by_either_part() -> None:
    talk = TALK.replace("**Ben:**", "**Ben Smith:**")
    assert of_another("Where does Ben take pottery lessons?", talk)
    assert of_another("Where does Smith take pottery lessons?", talk)


@pytest.mark.parametrize("part", ["\n", "a", "Ab ", "*", "* ", "Ab: you ", "Ab: you\n", "[", ". "])
def test_any_passage_is_read_quickly(part: str) -> None:
    def read() -> None:
        assert not of_another("What did Ab do?", part * 3_000, TALK)

    # CPU seconds of this thread alone, so that a busy machine does not matter: 0.004 at most, on a slow one.
    assert min(repeat(read, number=1, repeat=3, timer=time.thread_time)) < 0.1
