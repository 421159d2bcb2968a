"""`donna search`: one question or a file of them; text, JSON and exit codes."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.running import Donna
from tests.git_vaults import write


def test_hits_are_printed_with_their_citations(donna: Donna, vault: Path) -> None:
    ran = donna("search", "kestrel sessions", "--space", vault)
    assert ran.code == 0
    assert ran.out.splitlines()[1].strip() == "Projects/gateway.md › Gateway › Cache : 3–4"
    assert "kestrel sessions in Redis" in ran.out
    assert "keyword only: no embedding model" in ran.err


def test_json_is_one_object_with_everything_about_a_hit(donna: Donna, vault: Path) -> None:
    ran = donna("search", "osprey", "--json", "--space", vault)
    data = ran.json
    assert ran.code == 0
    assert (data["ok"], data["query"], data["mode"], data["count"]) == (True, "osprey", "keyword", 1)
    assert data["searched_notes"] == 4
    (hit,) = data["results"]
    assert hit["id"] == hit["chunk_id"]
    assert (hit["source_path"], hit["start_line"], hit["end_line"]) == ("private.md", 4, 4)
    assert (hit["keyword_rank"], hit["vector_rank"], hit["score"]) == (1, None, None)
    assert (hit["sensitive"], hit["uri"], hit["source_type"]) == (True, "vault:private.md", "vault")


def test_a_question_need_not_be_in_quotation_marks(donna: Donna, vault: Path) -> None:
    quoted = donna("search", "kestrel sessions", "--space", vault)
    assert donna("search", "kestrel", "--space", vault, "sessions").out == quoted.out
    assert donna("search", "--space", vault, "--json", "kestrel", "sessions").json["query"] == "kestrel sessions"
    excluded = donna("search", "--space", vault, "--json", "--", "kestrel", "-sessions").json
    assert excluded["query"] == "kestrel -sessions"
    assert "sessions" in quoted.out
    assert all("sessions" not in hit["content"] for hit in excluded["results"])
    why = donna("why-not", "Meetings/standup.md", "kestrel", "notes", "--space", vault, "--json")
    assert why.json["query"] == "kestrel notes"


def test_one_note_is_not_counted_as_several(donna: Donna, tmp_path: Path) -> None:
    write(tmp_path / "one", "only.md", "# Only\n\nplover\n")
    counted = "1 of 1 note in keyword search", "of 1 passage embedded", "0 notes are private"
    assert donna("search", "zzzunheardof", "--space", tmp_path / "one").out.strip() == "Nothing relevant in 1 note."
    assert all(words in donna("status", "--space", tmp_path / "one").out for words in counted)
    assert "1 note  " in donna("spaces").out
    assert "the index is up to date with 1 note\n" in donna("doctor", "--space", tmp_path / "one").out


def test_nothing_found_is_said_and_is_exit_code_1(donna: Donna, vault: Path) -> None:
    ran = donna("search", "zzzunheardof", "--space", vault)
    assert (ran.code, ran.out.strip()) == (1, "Nothing relevant in 4 notes.")
    as_json = donna("search", "zzzunheardof", "--json", "--space", vault)
    assert as_json.code == 1
    assert (as_json.json["ok"], as_json.json["results"]) == (True, [])


def test_every_search_looks_at_the_vault_first(donna: Donna, vault: Path) -> None:
    assert donna("search", "falcon", "--space", vault).code == 1
    note = write(vault, "new.md", "A falcon came.")
    assert donna("search", "falcon", "--space", vault).code == 0
    note.unlink()
    assert donna("search", "falcon", "--space", vault).code == 1


@pytest.mark.slow
def test_search_options_filter_and_limit_results(donna: Donna, vault: Path) -> None:
    def paths(*args: str) -> list[str]:
        ran = donna("search", *args, "--json", "--space", vault)
        return sorted(hit["source_path"] for hit in ran.json["results"])

    assert len(paths("kestrel")) == 3
    assert len(paths("kestrel", "-k", "1")) == 1
    assert paths("kestrel", "--path", "Projects") == ["Projects/gateway.md"]
    assert paths("kestrel tag:work") == ["Meetings/standup.md"]
    assert paths("kestrel type:meeting") == ["Meetings/standup.md"]
    assert paths("kestrel -rollback -redis") == ["Projects-old/gateway.md"]
    assert paths("kestrel", "--source", "chat") == []


@pytest.mark.parametrize("query", ["", "   "])
def test_a_missing_question_is_a_usage_error(donna: Donna, vault: Path, query: str) -> None:
    ran = donna("search", query, "--space", vault)
    assert ran.code == 2
    assert "no question given" in ran.err


def test_an_unknown_mode_is_named(donna: Donna, vault: Path) -> None:
    ran = donna("search", "x", "--mode", "psychic", "--json", "--space", vault)
    assert ran.code == 2
    assert ran.json["reason"] == "usage"
    assert "psychic" in ran.json["message"]


def test_a_group_without_a_command_prints_its_help(donna: Donna) -> None:
    shown = donna("config")
    assert (shown.code, shown.out) == (2, "")
    assert shown.err.startswith("Usage: donna config ")
    assert "\n  schema  Print the JSON Schema" in shown.err


def test_a_value_of_a_wrong_form_is_a_usage_error(donna: Donna) -> None:
    words = donna("get", "a.md", "--lines", "x")
    assert (words.code, words.out) == (2, "")
    assert words.err == (
        "donna: invalid value for '--lines': it must be a valid integer\n       donna get --help describes it\n"
    )
    missing = donna("conflicts", "resolve", "a.md", "--json").json["message"]
    assert missing == "missing option '--keep'. Choose from: mine, theirs, both"
    wrong = donna("conflicts", "resolve", "a.md", "--keep", "x", "--json").json["message"]
    assert wrong == "invalid value for '--keep': 'x' is not one of 'mine', 'theirs', 'both'"
    for args in (("get", "a.md", "--lines", "x"), ("recall", "x", "--budget", "-5"), ("search", "x", "--nonsense")):
        for line in ((*args, "--json"), (args[0], "--json", *args[1:])):
            ran = donna(*line)
            assert (ran.code, ran.json["reason"], ran.err) == (2, "usage", "")


@pytest.mark.parametrize(
    "query",
    ['"', "(", "AND OR NOT", "path:", "-", "a" * 5_000, "\udcff broken", "' OR 1=1 --"],
    ids=["quote", "bracket", "operators", "empty filter", "minus", "long", "not utf-8", "sql"],
)
def test_no_question_is_an_error(donna: Donna, vault: Path, query: str) -> None:
    ran = donna("search", "--json", "--space", vault, "--", query)
    assert ran.code in (0, 1)
    assert ran.json["ok"] is True


def test_search_accepts_a_folder_with_lone_surrogates(donna: Donna, vault: Path) -> None:
    ran = donna("search", "kestrel", "--path", "\udcff", "--json", "--space", vault)
    assert (ran.code, ran.json["results"]) == (1, [])


def test_search_does_not_print_control_characters_of_a_note(donna: Donna, vault: Path) -> None:
    write(vault, "evil\x1b[2J.md", "falcon \x1b]0;owned\x07 \x9b31m \u202e text")
    ran = donna("search", "falcon", "--space", vault)
    assert ran.code == 0
    assert all(line.isprintable() for line in ran.out.splitlines())


# Batches


def questions(*rows: object) -> str:
    return "".join(f"{json.dumps(row)}\n" for row in rows)


def test_a_batch_is_answered_in_order(donna: Donna, vault: Path, tmp_path: Path) -> None:
    asked = tmp_path / "questions.jsonl"
    asked.write_text(
        questions(
            {"id": "b", "query": "osprey"},
            {"id": 7, "query": "zzzunheardof"},
            {"id": "a", "query": "kestrel", "exclude": ["Projects/gateway.md"]},
            {"id": "c", "query": "kestrel", "within": "Meetings/standup.md", "unknown": 1},
            {"id": "d", "query": "kestrel osprey", "within": ["Meetings/standup.md", "private.md"]},
            {"id": "e", "query": "osprey after:soon"},
        )
        + "\n"
    )
    ran = donna("search", "--batch", asked, "--space", vault)
    assert ran.code == 0
    assert [row["id"] for row in ran.rows] == ["b", 7, "a", "c", "d", "e"]
    assert [each["text"] for each in ran.rows[-1]["filter_problems"]] == ["after:soon"]
    found = [sorted(hit["source_path"] for hit in row["results"]) for row in ran.rows]
    assert found == [
        ["private.md"],
        [],
        ["Meetings/standup.md", "Projects-old/gateway.md"],
        ["Meetings/standup.md"],
        ["Meetings/standup.md", "private.md"],
        ["private.md"],
    ]


def test_a_batch_may_come_from_stdin(donna: Donna, vault: Path) -> None:
    ran = donna("search", "--batch", "-", "-k", "1", "--space", vault, stdin=questions({"id": 1, "query": "kestrel"}))
    assert ran.code == 0
    assert [len(row["results"]) for row in ran.rows] == [1]


@pytest.mark.parametrize(
    "bad",
    [
        *("not json", "[1]", '{"id": 1}', '{"query": "x"}', '{"id": 1, "query": null}', "[" * 20_000, "\x00"),
        '{"id": 1, "query": "kestrel \\ud800"}',
    ],
    ids=["words", "list", "no query", "no id", "null", "deep", "nul", "half a surrogate pair"],
)
def test_batch_search_reports_a_malformed_line_and_continues(donna: Donna, vault: Path, bad: str) -> None:
    asked = "\n".join((questions({"id": 1, "query": "kestrel"}), bad, questions({"id": 2, "query": "kestrel"})))
    ran = donna("search", "--batch", "-", "--space", vault, stdin=asked)
    assert ran.code == 2
    first, wrong, last = ran.rows
    assert first["results"]
    assert last["results"]
    assert wrong["error"]["reason"] == "usage"
    assert f"line {wrong['line']} " in wrong["error"]["message"]


def test_an_empty_batch_has_no_answers(donna: Donna, vault: Path) -> None:
    ran = donna("search", "--batch", "-", "--space", vault, stdin="\n\n")
    assert (ran.code, ran.out) == (0, "")


def test_a_batch_that_cannot_be_read_is_a_usage_error(donna: Donna, vault: Path, tmp_path: Path) -> None:
    assert donna("search", "--batch", tmp_path / "none", "--space", vault).code == 2
    assert donna("search", "kestrel", "--batch", "-", "--space", vault, stdin="").code == 2
    (tmp_path / "latin").write_bytes(b'{"id": 1, "query": "\xff"}')
    ran = donna("search", "--batch", tmp_path / "latin", "--space", vault)
    assert (ran.code, [row["line"] for row in ran.rows]) == (2, [1])


def test_why_not_says_what_kept_a_note_out(donna: Donna, vault: Path) -> None:
    hit = donna("why-not", "Meetings/standup.md", "kestrel", "--space", vault, "--json")
    assert (hit.code, hit.json["cause"]) == (0, "it_is_a_hit")
    outside = donna("why-not", "Meetings/standup.md", "kestrel path:Projects", "--space", vault)
    assert (outside.code, outside.out) == (0, "Meetings/standup.md: it is outside the path\n")
    unknown = donna("why-not", "nowhere.md", "kestrel", "--space", vault, "--json")
    assert (unknown.code, unknown.json["reason"]) == (3, "missing")
    unnamed = donna("why-not", "", "kestrel", "--space", vault, "--json")
    assert (unnamed.code, unnamed.json["reason"], unnamed.json["message"]) == (3, "path_escape", "the path is empty")
    assert donna("why-not", "nowhere.md", " ", "--space", vault).code == 2
