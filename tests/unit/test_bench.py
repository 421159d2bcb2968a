"""The deterministic parts of the benchmarks: vaults, questions, tables, and reading a screen."""

from __future__ import annotations

import json
from collections.abc import Callable
from itertools import islice
from pathlib import Path

import pytest

from bench.drawn import results_drawn
from bench.report import Report, Row, UnavailableError, arguments, finish, median, percentile, shown, write_json
from bench.scale import made_questions
from bench.screen import Piece, words_of
from bench.vaults import LONGEST, MadeNote, Material, made_up, material, notes, write_vault
from donna_tui.vault.client import VaultClient
from donna_tui.vault.links.spans import extract_links
from donna_tui.vault.note.read import aliases_of, parse_frontmatter, tags_of

NOTES = 600


@pytest.fixture(scope="module")
def stuff() -> Material:
    return made_up(words=600, paragraphs=400)


@pytest.fixture(scope="module")
def made(stuff: Material) -> list[MadeNote]:
    return list(notes(NOTES, stuff))


# Vaults


def test_the_same_seed_makes_the_same_vault(stuff: Material, made: list[MadeNote]) -> None:
    assert list(notes(NOTES, made_up(words=600, paragraphs=400))) == made
    assert list(notes(NOTES, stuff, seed=2)) != made


def test_a_small_vault_is_the_beginning_of_a_large_one(stuff: Material, made: list[MadeNote]) -> None:
    assert list(notes(NOTES // 3, stuff)) == made[: NOTES // 3]
    assert list(islice(notes(10**9, stuff), 5)) == made[:5]


def test_paths_and_titles_are_unique_and_nested(made: list[MadeNote]) -> None:
    assert len({note.path.casefold() for note in made}) == NOTES
    assert len({note.path.rpartition("/")[2] for note in made}) == NOTES
    assert {note.path.count("/") for note in made} == {1, 2, 3, 4}


def test_sizes_spread_like_those_of_real_notes(made: list[MadeNote]) -> None:
    sizes = [len(note.text) for note in made]
    assert 1_000 < median(sizes) < 3_000
    assert percentile(sizes, 90) > 3 * median(sizes)
    assert percentile(sizes, 5) < median(sizes) / 3
    assert 20_000 < max(sizes) < LONGEST * 1.2


def test_links_lead_to_notes_that_are_there(made: list[MadeNote]) -> None:
    titles = {note.path.rpartition("/")[2].removesuffix(".md") for note in made}
    links = [link for note in made for link in extract_links(note.text)]
    assert len(links) > NOTES / 10
    assert set(links) <= titles


def test_some_notes_have_tags_and_aliases(made: list[MadeNote]) -> None:
    parsed = [parse_frontmatter(note.text) for note in made]
    assert not [each.problem for each in parsed if each.problem]
    assert 0.3 < sum(each.present for each in parsed) / NOTES < 0.5
    assert all(tags_of(each.data, "") for each in parsed if each.present)
    assert 0.04 < sum(bool(aliases_of(each.data)) for each in parsed) / NOTES < 0.2


def test_every_note_of_a_written_vault_can_be_indexed(tmp_path: Path) -> None:
    write_vault(tmp_path, 60)
    client = VaultClient(tmp_path, ignore=(), max_bytes=2_000_000, sensitive_key="donna_sensitive")
    assert len(client.list()) == 60


def test_without_evaluation_data_the_material_is_made_up(tmp_path: Path) -> None:
    assert material(tmp_path) == made_up()


def test_material_is_taken_from_the_notes(tmp_path: Path) -> None:
    note = tmp_path / "vault_help" / "vault" / "a.md"
    note.parent.mkdir(parents=True)
    note.write_text("---\ntags: [x]\n---\n# One: [two]/three\n\nFirst.\n\nSecond\nline.\n\nFirst.\n")
    assert material(tmp_path) == Material(("One two three",), ("First.", "Second\nline."))


@pytest.mark.slow
def test_questions_are_the_same_every_time() -> None:
    questions = made_questions(20)
    assert questions == made_questions(20)
    assert all(1 <= len(question.split()) <= 6 for question in questions)


# Figures


@pytest.mark.parametrize(
    ("percent", "expected"), [(0, 1.0), (1, 1.0), (25, 1.0), (26, 2.0), (50, 2.0), (95, 4.0), (100, 4.0)]
)
def test_percentiles_are_values_that_were_measured(percent: float, expected: float) -> None:
    assert percentile([3.0, 1.0, 4.0, 2.0], percent) == expected


def test_percentile_of_no_values_raises() -> None:
    with pytest.raises(ValueError, match="no values"):
        percentile([], 50)


@pytest.mark.parametrize(
    ("figure", "text"),
    [
        (None, "–"),
        (0, "0"),
        (0.00123, "0.00123"),
        (0.516, "0.516"),
        (5.0, "5.00"),
        (12.34, "12.3"),
        (1234.5, "1,234"),
        (float("inf"), "inf"),
    ],
)
def test_figures_are_shown_with_three_digits(figure: float | None, text: str) -> None:
    assert shown(figure) == text


@pytest.mark.parametrize(
    ("row", "verdict"),
    [
        (Row("x", 0.6, "s", 0.6), "ok"),
        (Row("x", 0.61, "s", 0.6), "over"),
        (Row("x", 4.0, "×", 4.0, at_least=True), "ok"),
        (Row("x", 3.9, "×", 4.0, at_least=True), "over"),
        (Row("x", 0.0, "chunks", 0.0), "ok"),
        (Row("x", 1.0, "s"), ""),
        (Row("x", None, "s", 0.6), ""),
    ],
)
def test_a_figure_is_judged_by_its_budget(row: Row, verdict: str) -> None:
    assert row.verdict == verdict


@pytest.mark.parametrize(
    ("row", "ratio"),
    [
        (Row("x", 2.0, "s", peer=8.0), 4.0),
        (Row("x", 8.0, "chunks/s", peer=2.0), 4.0),
        (Row("x", 2.0, "s"), None),
        (Row("x", None, "s", peer=2.0), None),
    ],
)
def test_the_ratio_says_how_many_times_better_ours_is(row: Row, ratio: float | None) -> None:
    assert row.ratio == ratio


# Tables


def report() -> Report:
    made = Report("Title", peer="theirs")
    made.add("one | two", 1.5, "s", 1.0, peer=3.0)
    made.add("three", None, "MB")
    made.remarks.append("A remark.")
    return made


def test_a_table_has_a_row_a_figure_and_no_empty_columns() -> None:
    title, head, first, second, remark = report().text().splitlines()
    assert (title, remark) == ("Title", "A remark.")
    assert head.split() == ["what", "figure", "unit", "budget", "theirs", "ratio", "verdict"]
    assert first.split() == ["one", "|", "two", "1.50", "s", "≤", "1.00", "3.00", "2.00", "over"]
    assert second.split() == ["three", "–", "MB"]
    assert head.index("unit") == first.index(" s ") + 1


def test_markdown_tables_hold_any_text() -> None:
    lines = report().markdown().splitlines()
    assert lines[0] == "### Title"
    assert lines[2] == "| what | figure | unit | budget | theirs | ratio | verdict |"
    assert lines[4] == r"| one \| two | 1.50 | s | ≤ 1.00 | 3.00 | 2.00 | over |"


def test_json_has_every_figure_with_its_budget(tmp_path: Path) -> None:
    write_json(tmp_path / "deep" / "figures.json", report().fields())
    read = json.loads((tmp_path / "deep" / "figures.json").read_text(encoding="utf-8"))
    assert [(row["figure"], row["budget"], row["verdict"]) for row in read["rows"]] == [
        (1.5, 1.0, "over"),
        (None, None, ""),
    ]
    assert read["machine"]["cores"]


def not_here() -> Report:
    raise UnavailableError("the data is on another machine")


@pytest.mark.parametrize(("measure", "said"), [(report, "over"), (not_here, "not measured: the data is on another")])
def test_neither_a_missed_budget_nor_missing_data_is_a_failure(
    measure: Callable[[], Report], said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    finish(lambda **_: measure(), arguments(""), [])
    assert said in capsys.readouterr().out


# Screens


@pytest.mark.parametrize(
    ("written", "words"),
    [
        ("\x1b[1mmeaning\x1b[0m\x1b[38;2;1;2;3m 1\x1b[0m", "meaning 1"),
        ("\x1b[2;1Hwords\x1b[3;1H1", "\nwords\n1"),
        ("\x1b]0;a title\x07plain\x1b]8;;x\x1b\\link", "\nplain\nlink"),
        ("\x1b[?2026hdrawn\x1b[?2026l\x1b7", "\ndrawn\n\n"),
        ("\x1bP+q544e\x1b\\after", "\nafter"),
    ],
)
def test_words_of_removes_terminal_escape_sequences(written: str, words: str) -> None:
    assert words_of(written) == words


TITLE = "32 passages in 9 notes \u00b7 12 ms".encode()


@pytest.mark.parametrize(
    ("pieces", "drawn"),
    [
        ([(0.002, b"s"), (0.030, TITLE), (0.0305, b"rows"), (0.031, b"more"), (0.033, b"the count")], 0.031),
        ([(0.002, b"s"), (0.030, "1 passage \u00b7 1 s".encode())], 0.030),
        ([(0.002, b"s"), (0.030, b"Nothing relevant for")], 0.030),
        ([(0.002, b"s"), (0.060, b"the section")], None),
        ([], None),
    ],
)
def test_results_are_drawn_when_the_frame_of_their_title_is_out(
    pieces: list[tuple[float, bytes]], drawn: float | None
) -> None:
    assert results_drawn([Piece(*piece) for piece in pieces]) == drawn
