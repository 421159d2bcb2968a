"""The query syntax: words, phrases, exclusions and filters. No input is an error."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta, timezone

import pytest

from donna_tui.index.filters import Scope
from donna_tui.search.query import date_phrases, latest_of, parse_day, parse_query
from donna_tui.types.search import Filters

NOW = datetime(2026, 3, 12, 15, 30, tzinfo=timezone(timedelta(hours=1)))


def day(text: str) -> float:
    return datetime.fromisoformat(text).replace(tzinfo=NOW.tzinfo).timestamp()


def test_words_phrases_and_what_to_avoid() -> None:
    query = parse_query('why "cache stampede" redis -draft -"not this"')
    assert query.words == ("why", "redis")
    assert query.phrases == ("cache stampede",)
    assert query.without == ("draft", "not this")
    assert query.text == "why redis cache stampede"
    assert query.scope == Scope(Filters(), ("cache stampede",), ("draft", "not this"))
    assert query.scope.forbidden == '"draft" OR "not this"'


def test_stop_words_count_only_where_there_is_nothing_else() -> None:
    assert parse_query("why did we move").terms == ("move",)
    assert parse_query("what is it?").terms == ("what", "is", "it?")
    assert parse_query('who "are you"').terms == ("who", "are you")


def test_unclosed_quote_is_parsed_as_a_phrase() -> None:
    assert parse_query('redis "cache st').phrases == ("cache st",)
    assert parse_query('redis "').phrases == ()


def test_a_hyphen_inside_a_word_avoids_nothing() -> None:
    query = parse_query("follow-up well-known")
    assert query.words == ("follow-up", "well-known")
    assert query.without == ()


@pytest.mark.parametrize("text", ["", " ", "-", "--", '"', '""', "- -", "\x00", "…", "()", "*", ":", '-"'])
def test_a_text_without_words_asks_nothing(text: str) -> None:
    query = parse_query(text)
    assert query.literals == ()
    assert query.text == ""
    assert query.filters == Filters()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("path:", "path: add a value"), ("path: Tag:", "path: Tag: add a value"), ('""', '"": there is no word to search for'),
        ("?", "?: there is no word to search for"),
    ],
)  # fmt: skip
def test_a_text_that_asks_nothing_says_what_is_missing(text: str, sentence: str) -> None:
    assert [problem.sentence for problem in parse_query(text).problems] == [sentence]
    for unfinished in ("", "-", '"', '-"', "kestrel path:"):
        assert parse_query(unfinished).problems == ()


@pytest.mark.parametrize(
    ("text", "days"),
    [("13/3/2026", {"2026 03 13"}), ("03/13/2026", {"2026 03 13"}), ("3/12/2026", {"2026 12 03", "2026 03 12"})],
)
def test_a_date_with_slashes_is_read_in_both_orders(text: str, days: set[str]) -> None:
    assert {phrase for phrase in date_phrases(text) if phrase.startswith("2026")} == days
    assert f'"{text}"' in parse_query(text).literals


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("the last TC39 meeting", ["TC39", "meeting"]), ("im letzten Team-Weekly", ["Team-Weekly"]),
        ("unsere letzte Teamsitzung", ["Teamsitzung"]), ("last minutes of ops", ["minutes", "ops"]), ("newest contract", ["contract"]),
        ("letztes Treffen mit Ana", ["Treffen", "Ana"]), ("last meeting with MIT", ["meeting", "MIT"]), ("the latest 3 retros", []),
        ("the latest day off", []), ("the last 3 retros", []), ("die letzten 30 Tage", []), ("the last N months", []),
        ("the last minute", []), ("the last minute notes", []), ("my last name", []), ("das letzte Wort", []),
        ("the last page of notes", []), ("the last page of the contract", []), ("when did they last call", []),
        ("the latest report on 1/1/2026", []), ("the latest 1:1 with Ana", ["1-1", "Ana"]),
        ("last steering group", ["steering", "group"]), ("letzter Jour fixe", ["Jour", "fixe"]),
    ],
)  # fmt: skip
def test_the_last_names_a_series_only_before_a_kind_of_note(text: str, words: list[str]) -> None:
    assert latest_of(parse_query(text))[1] == words


def test_query_filters_are_parsed() -> None:
    query = parse_query("redis path:Projects/gateway tag:#work tag:urgent type:meeting in:Vault IN:chat")
    assert query.words == ("redis",)
    assert query.filters == Filters(
        path_parts=("Projects/gateway",), tags=("#work", "urgent"), note_type="meeting", sources=("vault", "chat")
    )


def test_filter_values_may_be_quoted() -> None:
    assert parse_query('path:"My Projects/a b" x').filters.path_parts == ("My Projects/a b",)
    assert parse_query('tag:"two words"').filters.tags == ("two words",)


def test_filters_narrow_those_of_the_request() -> None:
    base = Filters(user_id="other", tags=("a",), sensitive=False, path_prefix="Old")
    narrowed = parse_query("tag:b path:/New/", base).filters
    assert narrowed == Filters(
        user_id="other", tags=("a", "b"), sensitive=False, path_prefix="Old", path_parts=("/New/",)
    )


@pytest.mark.parametrize(
    ("text", "problem", "nearest"),
    [
        ("tags:work x", "tags:work", "tag:work"),
        ("pth:Work", "pth:Work", "path:Work"),
        ("is:open x", "is:open", ""),
        ("status:open x", "status:open", ""),
        ("before:yesterdy", "before:yesterdy", "before:2026-11-25"),
    ],
)
def test_an_invalid_filter_is_named(text: str, problem: str, nearest: str) -> None:
    (found,) = parse_query(text, now=datetime(2026, 11, 25)).problems
    assert (found.text, found.nearest) == (problem, nearest)


@pytest.mark.parametrize(
    "text", ["https://example.org", "10:30", "TODO:fix", "a path: x", "path:x tag:y", "localhost:80"]
)
def test_other_words_with_a_colon_are_words(text: str) -> None:
    assert parse_query(text).problems == ()


def test_emoji_are_words_and_what_is_pasted_in_lines_is_one_question() -> None:
    assert parse_query("🚀").literals == ('"emoji1f680"',)
    assert parse_query("-🚀").without == ("🚀",)
    assert parse_query("why did\nwe move\r\nto Redis?").words == ("why", "did", "we", "move", "to", "Redis?")


@pytest.mark.parametrize("text", ["path:", "tag:", "before:", "path: x", 'tag:"" x', "type:\t"])
def test_a_filter_without_a_value_is_left_out(text: str) -> None:
    query = parse_query(text)
    assert query.filters == Filters()
    assert query.words in ((), ("x",))


def test_an_unknown_filter_is_a_word() -> None:
    assert parse_query("http://example.com note:this").words == ("http://example.com", "note:this")
    assert parse_query("mypath:x").words == ("mypath:x",)


@pytest.mark.parametrize("text", ["-path:Archive", "-tag:work", "-type:meeting"])
def test_negated_filter_is_not_applied_as_a_filter(text: str) -> None:
    assert parse_query(text).filters == Filters()


@pytest.mark.parametrize(
    ("value", "expected"),
    [
        ("2026-03-12", "2026-03-12"),
        ("2026-03", "2026-03-01"),
        ("2026", "2026-01-01"),
        ("today", "2026-03-12"),
        ("YESTERDAY", "2026-03-11"),
        ("7d", "2026-03-05"),
        ("0d", "2026-03-12"),
    ],
)
def test_parse_day_resolves_date_expressions(value: str, expected: str) -> None:
    assert parse_day(value, NOW) == day(expected)


@pytest.mark.parametrize("value", ["", "soon", "2026-13", "2026-02-30", "12.03.2026", "99999d", "-1d", "0000"])
def test_invalid_dates_are_ignored(value: str) -> None:
    assert parse_day(value, NOW) is None
    assert parse_query(f'before:"{value}"', now=NOW).filters == Filters()


def test_before_and_after_filters_are_parsed() -> None:
    filters = parse_query("after:2026-01-01 before:2026-02-01", now=NOW).filters
    assert (filters.after, filters.before) == (day("2026-01-01"), day("2026-02-01"))


@pytest.mark.parametrize("text", ["before:9999d", "after:0001", "before:9999-12-31", "after:0001-01-01"])
def test_extreme_dates_in_a_query_do_not_raise(text: str) -> None:
    parse_query(text)


def test_date_filters_use_local_midnight_across_dst(set_zone: Callable[[str], None]) -> None:
    set_zone("Europe/Berlin")
    filters = parse_query("after:2026-01-15 before:2026-07-15").filters
    assert filters.after == datetime(2026, 1, 14, 23, tzinfo=UTC).timestamp()
    assert filters.before == datetime(2026, 7, 14, 22, tzinfo=UTC).timestamp()


def test_last_query_word_is_treated_as_a_prefix() -> None:
    query = parse_query("redis sess")
    assert query.literals == ('"redis"', '"sess"')
    assert query.last_word == "sess"


def test_phrase_is_not_treated_as_a_prefix() -> None:
    assert parse_query('redis "a b"').last_word == ""


def test_quotes_in_fts_literals_are_escaped() -> None:
    query = parse_query('say"hi')
    assert all(literal.count('"') % 2 == 0 for literal in query.literals)


def test_quoted_phrase_is_required_except_in_a_sentence() -> None:
    assert parse_query('"cache stampede" draft').required_phrases == ("cache stampede",)
    sentence = parse_query('when did we first talk about the "cache stampede"')
    assert sentence.required_phrases == ()
    assert '"stampede"' in sentence.literals
    assert '"cache stampede"' in sentence.literals


def test_a_minus_is_an_operator_only_in_front_of_a_word() -> None:
    assert parse_query("redis -draft").without == ("draft",)
    for text in ("run --strip-types", "gives -0 here", "well-known", "git log -L"):
        assert parse_query(text).without == ()


def test_question_words_are_not_search_terms() -> None:
    assert parse_query("summarize the discussion about redis").terms == ("redis",)
    assert parse_query("summarize discussion").terms == ("summarize", "discussion")
    assert parse_query("how much is octavia").terms == ("octavia",)
    assert parse_query("what papers are still unread").terms == ("papers", "unread")
    assert parse_query("is it still").terms == ("still",)


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Treffen mit Ana im Oktober", ("Treffen", "Ana", "Oktober")),
        ("was habe ich gestern gemacht", ("gestern",)),
        ("Wer hat die Küche renoviert?", ("Küche", "renoviert?")),
        ("wer ist das", ("wer", "ist", "das")),
        ("muss ich noch viel zahlen", ("zahlen",)),
        ("die hard", ("die", "hard")),
        ("MIT license of the man", ("MIT", "license", "man")),
    ],
)
def test_the_stop_words_of_german_count_in_a_german_question(text: str, terms: tuple[str, ...]) -> None:
    assert parse_query(text).terms == terms


def test_dates_and_unspaced_words_are_looked_for_in_every_form() -> None:
    assert '"05 02"' in parse_query("on May 2nd").literals
    assert '"設定"' in parse_query("設定の変更").literals


@pytest.mark.parametrize("text", ["19. November 2026", "19.11.2026", "2026/11/19"])
def test_the_day_of_a_date_may_have_a_point_and_a_month_may_be_a_number(text: str) -> None:
    literals = parse_query(text).literals
    assert {'"2026 11 19"', '"november 19"', '"2026y11m19d"'} <= set(literals)
    assert ('"19.11.2026"' in literals) == (text == "19.11.2026")
    assert '"19."' not in literals


def test_a_quoted_expression_is_no_relative_date_and_a_typed_one_is_no_prefix() -> None:
    assert parse_query('"last week" meeting').days == ""
    assert parse_query("meeting last week").last_word == ""
    assert parse_query("meeting of last weeks").last_word == "weeks"


@pytest.mark.parametrize(
    ("text", "terms"),
    [
        ("Priya's birthday", ("Priya", "birthday")), ("what’s Marta’s role?", ("Marta", "role?")),
        ("what isn't load-bearing", ("load-bearing",)), ("I can’t sleep", ("sleep",)), ("o'clock", ("o'clock",)),
    ],
)  # fmt: skip
def test_possessive_endings_and_contractions_are_no_terms(text: str, terms: tuple[str, ...]) -> None:
    assert parse_query(text).terms == terms


def test_a_possessive_form_is_searched_for_without_its_ending() -> None:
    assert parse_query("what's Priya's role").literals == ('"Priya"', '"role"')
