"""Measures of retrieval, questions from files and from a vault, and the plain search to compare with."""

from __future__ import annotations

import json
import math
from pathlib import Path

import pytest

from donna_tui.ops.evaluation import Grep, own_questions, read_set, read_turn_set, with_turns_around
from donna_tui.search.evaluation import Gold, GoldQuestion, ResultRange, mean, score
from donna_tui.types.errors import DonnaError, Reason
from donna_tui.vault.client import VaultClient


def place(path: str, *headings: str, lines: tuple[int, int] = (1, 5)) -> ResultRange:
    return ResultRange(path, headings, *lines)


def test_the_first_place_counts_most() -> None:
    question = GoldQuestion("q", "text", (Gold("a.md"),))
    first, second = score(question, [place("a.md")]), score(question, [place("b.md"), place("b.md"), place("a.md")])
    assert (first.ndcg, first.mrr, first.recall, first.place_1) == (1.0, 1.0, 1.0, 1.0)
    assert (second.ndcg, second.mrr) == (pytest.approx(1 / math.log2(3)), 0.5)
    assert (second.place_1, second.place_5) == (0.0, 1.0)
    assert score(question, []).answered == 0.0
    assert mean([first, second]).mrr == 0.75


def test_a_place_is_a_heading_path_or_lines() -> None:
    heading = GoldQuestion("q", "text", (Gold("a.md", ("Part", "Detail")),))
    assert score(heading, [place("a.md", "Title", "Part", "Detail", "Deeper")]).place_1 == 1.0
    assert score(heading, [place("a.md", "Part", "Other")]).place_1 == 0.0
    lines = GoldQuestion("q", "text", (Gold("a.md", ("Anything",), (10, 12)),))
    assert score(lines, [place("a.md", lines=(12, 20))]).place_1 == 1.0
    assert score(lines, [place("a.md", lines=(13, 20))]).place_1 == 0.0


def test_a_set_is_read_from_its_folder(tmp_path: Path) -> None:
    rows = [
        {"id": "1", "query": "who", "gold": [{"path": "a.md", "lines": [1, 2]}], "kind": "easy", "more": 1},
        {"id": "2", "query": "what", "gold": [{"path": "b.md"}], "answerable": False, "vault": "other"},
    ]
    (tmp_path / "queries.dev.jsonl").write_text("\n".join(map(json.dumps, rows)) + "\n")
    found = read_set(tmp_path).vaults
    assert list(found) == [tmp_path / "vault", tmp_path / "vaults" / "other"]
    [[easy], [unanswerable]] = found.values()
    assert (easy.gold, easy.kind) == ((Gold("a.md", (), (1, 2)),), "easy")
    assert unanswerable.gold == ()


def test_a_line_that_is_no_question_is_named(tmp_path: Path) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "1", "query": "who"}\n{"id": 2}\n')
    with pytest.raises(DonnaError, match="line 2") as refused:
        read_set(tmp_path)
    assert refused.value.reason is Reason.USAGE


@pytest.fixture
def vault(tmp_path: Path) -> VaultClient:
    (tmp_path / "cache.md").write_text(
        "---\naliases: [the fast store]\n---\n# Cache\n\n## Moving off Redis\n\nIt was slow.\n"
    )
    (tmp_path / "log.md").write_text("# Log\n\nSee [[cache|why it was moved]] and [[gone|nothing]].\n")
    return VaultClient(tmp_path)


def test_own_questions_are_made_from_aliases_headings_and_links(vault: VaultClient) -> None:
    made = {(each.kind, each.text, each.gold[0].path, each.exclude) for each in own_questions(vault)}
    assert made == {
        ("alias", "the fast store", "cache.md", ()),
        ("heading", "Moving off Redis", "cache.md", ()),
        ("link", "why it was moved", "cache.md", ("log.md",)),
    }


def test_grep_baseline_ranks_by_matching_words(vault: VaultClient) -> None:
    found = Grep(vault).search(GoldQuestion("q", "redis slow", ()), 5)
    assert [(each.path, each.heading_path[-1:]) for each in found] == [("cache.md", ("Moving off Redis",))]
    assert Grep(vault).search(GoldQuestion("q", "redis", (), exclude=("cache.md",)), 5) == []


def test_a_hit_with_the_turns_around_it_covers_the_hits_beside_it() -> None:
    places = [
        ResultRange("a", (), 10, 11),
        ResultRange("a", (), 13, 13),
        ResultRange("b", (), 2, 2),
        ResultRange("a", (), 16, 16),
    ]
    assert with_turns_around(places, 3) == [
        ResultRange("a", (), 7, 14),
        ResultRange("b", (), 1, 5),
        ResultRange("a", (), 13, 19),
    ]
    assert with_turns_around(places, 0) == places


@pytest.mark.parametrize(
    ("name", "line", "message"),
    [
        ("queries.jsonl", b"\xff", "queries.jsonl, line 1: no question with id, query, vault and gold"),
        ("turns.jsonl", b"{", "turns.jsonl, line 1: no turn with user_id, session_id and turn"),
        ("turns.jsonl", b'{"dia_id": "D1"}', "turns.jsonl, line 1: no turn with user_id, session_id and turn"),
    ],
)
def test_a_line_of_a_turn_set_that_cannot_be_read_is_named(
    tmp_path: Path, name: str, line: bytes, message: str
) -> None:
    (tmp_path / "queries.jsonl").write_text('{"id": "1", "query": "q", "vault": "v"}\n')
    (tmp_path / "turns.jsonl").write_text("")
    (tmp_path / name).write_bytes(line)
    with pytest.raises(DonnaError) as refusal:
        read_turn_set(tmp_path)
    assert (refusal.value.reason, refusal.value.message) == (Reason.USAGE, message)
