"""Snippets: the part of a passage that shows why it matched, on one line, with the matched words marked."""

from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from donna_tui.search.query import parse_query
from donna_tui.search.snippets import WIDTH, LazySnippet, best_line, words_to_mark
from donna_tui.text.words import stem
from donna_tui.types.search import Snippet

LONG = "filler words that nobody asked for " * 20


def make_snippet(content: str, terms: Sequence[str], prefix: str = "", *, width: int = WIDTH) -> Snippet:
    return LazySnippet(content, tuple(terms), prefix).fitted(width)


def marked(snippet: Snippet) -> list[str]:
    return [snippet.text[low:high] for low, high in snippet.marks]


def test_words_are_marked_by_their_stem() -> None:
    snippet = make_snippet("We migrated. The migration was decided in March.", ["migrations", "migrates", "decides"])
    assert marked(snippet) == ["migrated", "migration", "decided"]


def test_case_and_accents_do_not_count() -> None:
    assert marked(make_snippet("Her RÉSUMÉ and a re\u0301sume", ["résumé"]))[0] == "RÉSUMÉ"
    assert marked(make_snippet("Café", ["cafe"])) == ["Café"]


@pytest.mark.parametrize(
    ("content", "shown"),
    [
        ("Text %% ask Carney %%", "Text %% ask Carney %%"),
        ("# Carney\n\nSee [[Carney 2016|the letter]]", "See [[Carney 2016|the letter]]"),
        ("**Carney** %% Carney %%", "Carney"),
        ("# Carney\n\n**Text**", "Text"),
    ],
)
def test_a_word_that_only_the_markdown_has_is_shown_in_it(content: str, shown: str) -> None:
    assert make_snippet(content, ["Carney"]).text == shown


@pytest.mark.parametrize(
    ("terms", "shown"),
    [
        (["Chidi", "budget"], "with: Chidi • the budget of Ana"),
        (["plate", "Ana"], "plate: HH 2048 • the budget of Ana"),
        (["Ana", "Octavia", "Service"], "• the budget of Ana"),
        (["date", "Ana"], "• the budget of Ana"),
    ],
)
def test_a_property_is_shown_if_only_it_has_a_word(terms: Sequence[str], shown: str) -> None:
    properties = {"date": "2026-05-02", "with": ["Ana", "Chidi"], "plate": "HH 2048", "model": "Octavia"}
    metadata = json.dumps({"frontmatter": properties})
    lazy = LazySnippet("- the budget of Ana", tuple(terms), metadata=metadata, place="Octavia › Service")
    assert lazy.text == shown


def test_whole_words_are_marked_only() -> None:
    assert marked(make_snippet("cat catalogue concat", ["cat"])) == ["cat"]


def test_the_word_that_is_being_typed_is_marked_as_a_beginning() -> None:
    assert marked(make_snippet("redis sessions", ["redis", "sess"], "sess")) == ["redis", "sessions"]
    for prefix in ("sore", "Søre", "söre"):
        assert marked(make_snippet("with Søren", [prefix], prefix)) == ["Søren"]
    assert marked(make_snippet("redis sessions", ["redis", "sess"])) == ["redis"]


def test_the_words_of_a_phrase_are_marked() -> None:
    assert marked(make_snippet("the cache stampede began", ["cache stampede"])) == ["cache", "stampede"]


def test_the_numbers_of_a_date_are_marked_as_a_date_only() -> None:
    terms = parse_query("12 march budget").marked
    text = "47:12 the march of 12 budgets, agreed on March 12th, 12 March and 2026-03-12"
    assert marked(make_snippet(text, terms)) == ["march", "budgets", "March", "12th", "12", "March"]
    assert marked(make_snippet("Jan came 12th on Jan 12", parse_query("12 January").marked)) == ["Jan", "12"]
    assert marked(make_snippet("47:12 and 12 🎉", parse_query('"47 12" 🎉').marked)) == ["47", "12", "🎉"]


@pytest.mark.parametrize(
    ("terms", "text", "expected"),
    [
        (["日本語のノートを検索する"], "これで日本語のノートを全文検索できます。", ["日本語のノートを", "検索"]),
        (["会议", "记录"], "昨天的会议记录在这里，Redis的会议。", ["会议记录", "会议"]),
        (["ありがとう"], "本当にありがとうございます", ["ありがとう"]),
        (["Redis"], "Redisのフェイルオーバー訓練", ["Redis"]),
        (["회의록"], "지난 회의록을 보세요", ["회의록"]),
        (["🎉", "party"], "A 🎉party🎉 today", ["🎉", "party", "🎉"]),
        (["日本語"], "にほんごと日記", []),
    ],
)
def test_scripts_without_spaces_are_marked_by_pairs(terms: list[str], text: str, expected: list[str]) -> None:
    assert marked(make_snippet(text, terms)) == expected


def test_the_window_holds_what_is_marked_without_spaces() -> None:
    text = f"{'あ' * 300}日本語のノート{'い' * 300}日本"
    assert marked(make_snippet(text, ["日本語のノート"], width=40)) == ["日本語のノート"]
    assert best_line("日本\n日本語のノート", words_to_mark(("日本語",))) == 1


def test_the_heading_line_is_left_out_where_there_is_text() -> None:
    assert make_snippet("## Cache\n\nWe use Redis.", ["redis"]).text == "We use Redis."
    assert make_snippet("## Cache", ["cache"]).text == "Cache"


def test_snippet_joins_lines() -> None:
    assert make_snippet("one\n\n- two\n\tthree", []).text == "one • two three"


def test_a_short_text_is_shown_whole() -> None:
    snippet = make_snippet("short", ["none"])
    assert snippet == Snippet("short", ())


def test_a_long_text_is_cut_where_the_most_different_words_are() -> None:
    snippet = make_snippet(f"redis here. {LONG} redis sessions expire. {LONG}", ["redis", "sessions", "expire"])
    assert marked(snippet) == ["redis", "sessions", "expire"]
    assert snippet.text.startswith("…")
    assert snippet.text.endswith("…")
    assert len(snippet.text) <= WIDTH + 2


def test_a_long_table_is_cut_at_the_row_with_a_word_and_not_at_the_names_of_its_columns() -> None:
    rows = "\n".join(f"| shop {number} | lamp | 2 years |" for number in range(20))
    table = f"Receipts\n\n| shop | what | guarantee |\n|---|:-:|---|\n{rows}\n| mill | drill | 3 years |"
    assert "mill · drill · 3 years" in make_snippet(table, ["drill", "guarantee"]).text
    assert make_snippet(table, ["guarantee"]).text.startswith("Receipts shop · what · guarantee")


def test_the_text_before_the_match_begins_at_a_word() -> None:
    snippet = make_snippet(f"{LONG} target", ["target"])
    assert snippet.text.removeprefix("…").split()[0] in LONG.split()


def test_a_match_at_the_end_is_shown_with_as_much_text_before_it_as_fits() -> None:
    assert WIDTH - len("filler") < len(make_snippet(f"{LONG} target", ["target"]).text) <= WIDTH + 1


def test_the_text_after_the_last_match_ends_at_a_word() -> None:
    snippet = make_snippet(
        "the cache was moved here and later the redis sessionsweremoved", ["cache", "redis"], width=45
    )
    assert snippet.text == "the cache was moved here and later the redis…"


def test_a_text_without_spaces_is_cut_all_the_same() -> None:
    snippet = make_snippet("x" * 5_000, ["y"])
    assert snippet.text == f"{'x' * WIDTH}…"


@pytest.mark.parametrize(
    ("one", "other"),
    [("decisions", "decision"), ("Ärger", "arger"), ("cities", "city"), ("MIGRATED", "migrates"), ("walks", "walking")],
)
def test_forms_of_a_word_have_one_stem(one: str, other: str) -> None:
    assert stem(one) == stem(other)


def test_short_words_keep_their_endings() -> None:
    assert stem("is") == "is"
    assert stem("red") == "red"


def test_a_hit_has_the_widest_snippet() -> None:
    content, terms = f"# Cache\n{LONG} redis sessions", ("redis", "sess")
    lazy, made = LazySnippet(content, terms, terms[-1]), make_snippet(content, terms, terms[-1])
    assert marked(made) == ["redis", "sessions"]
    assert (lazy.text, lazy.marks) == (made.text, made.marks)


def test_a_phrase_is_shown_whole_even_if_its_words_also_occur_separately() -> None:
    text = f"A walrus is big. {'filler words here ' * 12}the walrus certificate was renewed. {'more filler ' * 12}"
    for width in (40, 60, 120):
        snippet = LazySnippet(text, ("walrus certificate",)).fitted(width)
        assert "walrus certificate" in snippet.text
        assert len(snippet.text) <= width + 2
        assert [snippet.text[low:high] for low, high in snippet.marks][-2:] == ["walrus", "certificate"]


def test_a_snippet_is_plain_text() -> None:
    snippet = make_snippet("> [!note] Use **[[Redis|the cache]]** `now` ^b1", ["cache"])
    assert snippet.text == "Use the cache now"
    assert [snippet.text[low:high] for low, high in snippet.marks] == ["cache"]


def test_the_best_line_says_most_of_what_is_asked() -> None:
    text = "The cache is old.\nNothing here.\nWe moved the cache off Redis. Yes.\nRedis, the cache and more about Redis and it."
    assert best_line(text, words_to_mark(("cache", "redis"))) == 2
    assert best_line(f"# Redis cache\n{text}", words_to_mark(("cache", "redis"))) == 3
    assert best_line("# Redis\nNothing here.", words_to_mark(("redis",))) == 0
    assert best_line("#redis cache\nThe cache is old.", words_to_mark(("cache", "redis"))) == 0
    assert best_line(text, words_to_mark(("walrus",))) is None
    assert best_line(text, words_to_mark(())) is None
