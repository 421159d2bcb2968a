"""Composing from passages alone: their own sentences, each once, with the passage that contains it."""

from __future__ import annotations

import re
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from donna_tui.drafts.drafters import (
    Answer,
    AnswerRequest,
    CommitmentsAnswer,
    Corrected,
    DailyReflectionAnswer,
    MeetingNoteAnswer,
    PersonProfileAnswer,
    WeeklyReviewAnswer,
    corrected,
    extract,
    extracted,
    statements,
)
from donna_tui.drafts.text import words_only
from donna_tui.types.drafts import Evidence


def passage(number: int, text: str) -> Evidence:
    return Evidence(
        number=number, source_type="vault", path=f"Meetings/{number}.md", title=str(number), heading_path=(),
        start_line=1, end_line=1, text=text,
    )  # fmt: skip


LAST_TIME = passage(
    1,
    "## Notes\nThe gateway keeps its sessions in Redis since the last release. Ana will write the migration plan for "
    "the gateway. Whether the old cache can go is still unclear to everybody.\n\n- [ ] Order two new machines\n"
    "- [x] Ask the provider about prices\n",
)
CHAT = passage(
    2, "Bo agreed to test the failover of the gateway by Friday. Who pays for the second region of servers?\n"
)


def chat(number: int, text: str) -> Evidence:
    return replace(passage(number, text), source_type="chat")


def numbers(said: str) -> list[int]:
    return [int(each) for each in re.findall(r"\[(\d+)\]", said)]


def bare(said: str) -> str:
    return re.sub(r"\s*\[\d+\]", "", said)


def test_extract_finds_promises_with_their_passages() -> None:
    assert set(extracted([LAST_TIME, CHAT], "gateway", 6, promised=True)) == {
        "Order two new machines [1]",
        "Ana will write the migration plan for the gateway. [1]",
        "Bo agreed to test the failover of the gateway by Friday. [2]",
    }


def test_an_open_box_comes_first() -> None:
    assert extracted([LAST_TIME, CHAT], "gateway", 1, promised=True) == ["Order two new machines [1]"]


@pytest.mark.parametrize(
    "text",
    [
        "It will rain a lot during the weekend.",
        "The server should be faster now than before.",
        "We were in the office until the evening came.",
        "Somebody asked whether Ana will write the plan?",
        "Ana will write the plan, but it is still unclear to everybody.",
        "Remember to rest and take care of yourself during the holidays.",
        "Maybe Kim needs to look at the old cache again sometime.",
    ],
)
def test_extract_ignores_sentences_that_are_not_promises(text: str) -> None:
    assert extracted([passage(1, text)], "", 6, promised=True) == []


def test_a_done_box_is_no_promise() -> None:
    assert extracted([passage(1, "- [x] Ask the provider about new prices\n")], "", 6, promised=True) == []


def test_a_sentence_that_is_wrapped_is_one() -> None:
    text = "Ana will write the migration\nplan for the gateway.\n"
    found = extracted([passage(4, text)], "", 6, promised=True)
    assert found == ["Ana will write the migration plan for the gateway. [4]"]


@pytest.mark.parametrize(
    "schema",
    [MeetingNoteAnswer, CommitmentsAnswer, DailyReflectionAnswer, WeeklyReviewAnswer, PersonProfileAnswer],
)
def test_without_a_model_nothing_of_a_note_is_guessed(schema: type[Answer]) -> None:
    answer = extract(AnswerRequest(task_type="t", about="gateway", schema=schema, passages=(LAST_TIME, CHAT)))
    assert all(said == [] for said in answer.model_dump().values())


@pytest.mark.parametrize("schema", [CommitmentsAnswer, DailyReflectionAnswer, WeeklyReviewAnswer, MeetingNoteAnswer])
def test_nothing_of_a_chat_is_repeated(schema: type[Answer]) -> None:
    passages = (chat(1, LAST_TIME.text), chat(2, CHAT.text), chat(3, LAST_TIME.text), chat(4, CHAT.text.upper()))
    answer = extract(AnswerRequest(task_type="t", about="gateway", schema=schema, passages=passages))
    said = [each.text.casefold() for part in answer.model_dump().values() for each in statements(part, passages)]
    assert said
    assert len(said) == len(set(said))


WORDS = st.sampled_from(["Ana", "will", "write", "gateway", "plan", "Redis", "is", "unclear", "machines", "the", "Bo"])
SENTENCES = st.lists(WORDS, min_size=4, max_size=9).map(lambda words: " ".join(words).capitalize() + ".")
TEXTS = st.lists(SENTENCES, min_size=1, max_size=5).map(" ".join)


@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_a_sentence_cites_the_passage_that_contains_it(texts: list[str]) -> None:
    passages = [passage(number, text) for number, text in enumerate(texts, 1)]
    promised = extracted(passages, "gateway plan", 6, promised=True)
    for said in [*promised, *extracted(passages, "gateway plan", 5)]:
        (number,) = numbers(said)
        assert bare(said) in words_only(passages[number - 1].text)


HOSTILE = st.text(alphabet="abA .\n-*[]()#<>%`!?\u202e\x1b{}|:/1", max_size=200)


@given(st.lists(HOSTILE, max_size=4))
def test_extract_returns_an_answer_for_any_passages(texts: list[str]) -> None:
    passages = tuple(passage(number, text) for number, text in enumerate(texts, 1))
    answer = extract(AnswerRequest(task_type="t", about="a b", schema=MeetingNoteAnswer, passages=passages))
    assert isinstance(answer, MeetingNoteAnswer)


def made(*promises: str, summary: str = "") -> MeetingNoteAnswer:
    return MeetingNoteAnswer(
        summary=summary, action_item_candidates=list(promises), open_questions=[], links_suggested=[]
    )


PROMISE = "Ana will write the plan. [1]"
LINE = "- [ ] Ana will write the plan. ([[Meetings/1|1]])"


def test_a_corrected_line_replaces_the_original() -> None:
    answer = corrected(made(PROMISE), [Corrected(LINE, "- [ ] Bo will write the plan. ([[Meetings/1|1]])")])
    assert answer == made("Bo will write the plan. [1]")


def test_an_excluded_line_is_not_repeated() -> None:
    answer = corrected(made(PROMISE, summary=f"First said. [2] {PROMISE} Last said. [3]"), [Corrected(LINE, "")])
    assert answer == made(summary="First said. [2] Last said. [3]")


def test_corrected_does_not_replace_parts_of_a_statement() -> None:
    said = "Perhaps Ana will write the plan. [1]"
    assert corrected(made(said), [Corrected(LINE, "")]) == made(said)


def test_several_lines_that_were_left_out_at_once_are_each_left_out() -> None:
    other = "- [ ] Bo will test the failover. ([[Meetings/2|2]])"
    answer = corrected(
        made(PROMISE, "Bo will test the failover. [2]", "Cy stays. [2]"), [Corrected(f"{LINE}\n\n{other}", "")]
    )
    assert answer == made("Cy stays. [2]")


def test_several_lines_that_were_changed_at_once_are_each_changed() -> None:
    old = f"{LINE}\n- [ ] Bo will test the failover. ([[Meetings/2|2]])"
    new = "- [ ] Ana will write the whole plan.\n- [ ] Cy will test the failover."
    answer = corrected(made(PROMISE, "Bo will test the failover. [2]"), [Corrected(old, new)])
    assert answer == made("Ana will write the whole plan. [1]", "Cy will test the failover. [2]")


def test_the_latest_correction_counts() -> None:
    answer = corrected(
        made(PROMISE),
        [Corrected(LINE, "- [ ] Bo will write the plan."), Corrected(LINE, "- [ ] Cy will write the plan.")],
    )
    assert answer == made("Bo will write the plan. [1]")


def test_a_correction_may_be_long() -> None:
    answer = corrected(made(PROMISE), [Corrected(LINE, f"- [ ] {'word ' * 500}")])
    assert isinstance(answer, MeetingNoteAnswer)
    assert answer.action_item_candidates[0].startswith("word word")
