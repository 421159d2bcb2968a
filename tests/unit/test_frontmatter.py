"""Frontmatter is read as people mean it, and hostile blocks are reported as problems."""

from __future__ import annotations

import json
from typing import Any

import pytest

from donna_tui.vault.note.read import (
    LARGEST_BLOCK,
    MAX_TAGS,
    aliases_of,
    note_type_of,
    parse_frontmatter,
    properties_of,
    tags_of,
    title_of,
)


def data_of(block: str) -> dict[str, Any]:
    found = parse_frontmatter(f"---\n{block}\n---\nbody")
    assert found.present
    assert not found.problem
    return found.data


@pytest.mark.parametrize(
    ("text", "body"),
    [
        ("---\ntitle: x\n---\nbody", "body"),
        ("---\r\ntitle: x\r\n---\r\nbody", "body"),
        ("---\rtitle: x\r---\rbody", "body"),
        ("---  \ntitle: x\n---\t\nbody", "body"),
        ("---\ntitle: x\n...\nbody", "body"),
        ("---\ntitle: x\n---\n---\nb: 2\n---\nbody", "---\nb: 2\n---\nbody"),
        ("---\ntitle: x\n---", ""),
    ],
)
def test_body_starts_after_the_frontmatter_block(text: str, body: str) -> None:
    found = parse_frontmatter(text)
    assert found.data == {"title": "x"}
    assert text[found.body_start :] == body


@pytest.mark.parametrize("block", ["", "# only a comment", "\n"])
def test_an_empty_block_is_present_and_says_nothing(block: str) -> None:
    assert data_of(block) == {}


@pytest.mark.parametrize(
    "text",
    [
        "",
        "# Heading",
        "---",
        "---\ntitle: x\n\nno end\n",
        "\n---\ntitle: x\n---\n",
        " ---\ntitle: x\n---\n",
        "----\ntitle: x\n----\n",
        "---\n\nA rule, then prose.\n\n---\n\nMore.\n",
        "---\n\nProse: with: colons\n\n---\n",
        "---\n\n- a list\n- between rules\n\n---\n",
        "---\njust words\n---\n",
        "+++\ntitle = 'x'\n+++\n",
    ],
)
def test_what_is_no_frontmatter_stays_in_the_body(text: str) -> None:
    found = parse_frontmatter(text)
    assert (found.data, found.body_start, found.problem, found.present) == ({}, 0, "", False)


def test_values_are_kept_as_written_where_yaml_would_change_them() -> None:
    block = "a: 2024-02-30\nb: 12:30\nc: 007\nd: no\ne: 1.10\nf: 1e400\ng: .nan\nh: 0x1F\ni: 1_000"
    assert data_of(block) == {
        "a": "2024-02-30",
        "b": "12:30",
        "c": "007",
        "d": "no",
        "e": "1.10",
        "f": "1e400",
        "g": ".nan",
        "h": "0x1F",
        "i": "1_000",
    }


def test_plain_values_have_their_types() -> None:
    assert data_of("a: 5\nb: -3\nc: true\nd: null\ne:\nf: [x, 1]\ng: {h: i}\nj: 0") == {
        "a": 5,
        "b": -3,
        "c": True,
        "d": None,
        "e": None,
        "f": ["x", 1],
        "g": {"h": "i"},
        "j": 0,
    }


def test_odd_keys_and_values_become_text() -> None:
    assert data_of("2: a\nnull: b\ntrue: c\n2024-01-01: d") == {"2": "a", "null": "b", "true": "c", "2024-01-01": "d"}
    assert data_of("a: !!binary aGVsbG8=\nb: !!set {y, x}") == {"a": "hello", "b": ["x", "y"]}
    assert data_of("a: 9223372036854775807\nb: 9223372036854775808") == {"a": 2**63 - 1, "b": "9223372036854775808"}
    assert data_of('a: "nul \\0"') == {"a": "nul �"}


def test_aliases_and_merged_keys_are_followed() -> None:
    assert data_of("base: &b {k: 1}\nitem:\n  <<: *b\n  j: 2\nsame: *b") == {
        "base": {"k": 1},
        "item": {"k": 1, "j": 2},
        "same": {"k": 1},
    }


@pytest.mark.parametrize(
    "block",
    [
        "tags: [a, b\ntitle: x",
        'title: "half',
        "meta:\n\tkey: value",
        "title: Re: plans: v2",
        "title: @home",
        "x: !!python/object/apply:os.system ['echo']",
        "x: !Ref Thing",
        "? [a, b]\n: c",
        "{a: b}: c",
        "x: *nowhere",
        "- one\n- two",
        "42",
        "a: \x07",
    ],
)
def test_a_block_that_cannot_be_read_is_a_problem_and_no_body(block: str) -> None:
    text = f"---\n{block}\n---\nbody"
    found = parse_frontmatter(text)
    assert found.data == {}
    assert found.problem.startswith("the frontmatter ")
    assert text[found.body_start :] == "body"


def test_a_problem_names_the_line_and_never_the_text() -> None:
    problem = parse_frontmatter("---\ntitle: x\nsecret: @password\n---\n").problem
    assert problem == "the frontmatter is not valid YAML (line 3)"


def test_the_same_key_twice_is_a_problem_but_is_read() -> None:
    found = parse_frontmatter("---\ndonna: local-only\ndonna: public\n---\n")
    assert found.data == {"donna": "public"}
    assert found.problem == "the frontmatter has the same key twice"
    assert not parse_frontmatter("---\na: {x: 1}\nb: {x: 1}\nc: [a, a]\n---\n").problem


NINE = "*{0},*{0},*{0},*{0},*{0},*{0},*{0},*{0},*{0}"
BOMBS = {
    "laughs": "a: &a [x]\n"
    + "\n".join(f"{n}: &{n} [{NINE.format(p)}]" for p, n in zip("abcdefgh", "bcdefghi", strict=True)),
    "merges": "a: &a {k: 1}\n"
    + "\n".join(f"{n}: &{n} {{<<: [{NINE.format(p)}]}}" for p, n in zip("abcdefgh", "bcdefghi", strict=True)),
    "long text": "a: &a " + "x" * 60_000 + "\nb: [" + "*a," * 1000 + "]",
    "itself": "a: &a [*a]",
    "itself as key": "&a ? *a\n: b",
    "deep": "x: " + "[" * 3000 + "]" * 3000,
    "unclosed": "a: " + "[ x, " * 80,
    "many": "a: [" + "x," * 30_000 + "]",
}


@pytest.mark.parametrize("block", BOMBS.values(), ids=BOMBS.keys())
def test_yaml_bombs_are_rejected(block: str) -> None:
    found = parse_frontmatter(f"---\n{block}\n---\nbody")
    assert found.data == {}
    assert found.problem


@pytest.mark.parametrize(
    "block", ["a: " + "1" * 60_000, "a: 1" + ":59" * 20_000, "? '" + "x" * 50_000, "a: &" + "b" * 60_000]
)
def test_odd_long_blocks_are_bounded(block: str) -> None:
    found = parse_frontmatter(f"---\n{block}\n---\nbody")
    assert len(json.dumps(found.data)) <= 60_100


def test_only_plain_lines_of_a_huge_block_are_read() -> None:
    filler = "\n".join(f"k{number}: {'v' * 80}" for number in range(LARGEST_BLOCK // 80))
    found = parse_frontmatter(f"---\ntitle: 'Big'\ntags: [a, b]\ndonna: local-only\n{filler}\ntype: |\n  no\n---\nbody")
    assert found.data["title"] == "Big"
    assert found.data["tags"] == ["a", "b"]
    assert found.data["donna"] == "local-only"
    assert not [key for key in found.data if key.startswith("k")]
    assert "64 KiB" in found.problem


@pytest.mark.parametrize(
    ("data", "title"),
    [
        ({"title": "Plan"}, "Plan"),
        ({"Title": "Plan"}, "Plan"),
        ({"title": " two\nrows\tone "}, "two rows one"),
        ({"title": 2024}, "2024"),
        ({"title": 0}, "0"),
        ({}, "stem"),
        ({"title": None}, "stem"),
        ({"title": "  "}, "stem"),
        ({"title": ["a"]}, "stem"),
        ({"title": True}, "stem"),
        ({"title": {"a": 1}}, "stem"),
    ],
)
def test_title_of_uses_frontmatter_or_file_name(data: dict[str, Any], title: str) -> None:
    assert title_of(data, "folder/stem.md") == title


@pytest.mark.parametrize(
    ("path", "title"), [("a/b.c.md", "b.c"), ("a/B.MD", "B"), ("a/two\nrows.md", "two rows"), ("dots..md", "dots.")]
)
def test_title_of_falls_back_to_the_file_name(path: str, title: str) -> None:
    assert title_of({}, path) == title


@pytest.mark.parametrize(
    ("data", "aliases"),
    [
        ({"aliases": ["One", "Two", "one"]}, ("One", "Two")),
        ({"aliases": "Smith, John"}, ("Smith, John",)),
        ({"alias": "A"}, ("A",)),
        ({"aliases": [1, None, True, {"a": 1}, " b \n c "]}, ("1", "b c")),
        ({"aliases": {"a": 1}}, ()),
        ({}, ()),
    ],
)
def test_aliases_of_reads_frontmatter(data: dict[str, Any], aliases: tuple[str, ...]) -> None:
    assert aliases_of(data) == aliases


@pytest.mark.parametrize(
    ("data", "words"),
    [
        ({"author": ["Ursula K. Le Guin", "[[People/Ana Lima|Ana]]"]}, "Ursula K Le Guin Ana Lima Ana"),
        ({"publisher": "Faber & Faber, London", "status": "in-progress"}, "Faber Faber London in-progress"),
        ({"著者": "村上春樹", "Ort": "Köln"}, "村上春樹 Köln"),
        (
            {"org": "AT&T", "due": "2026-03-01", "at": "10:30", "isbn": "978-3", "n": 3, "b": True, "x": {"y": "z"}},
            "AT&T due 2026-03-01",
        ),
        (
            {
                "isbn": "978-0374275631",
                "doi": "10.1/ab.123",
                "ean": 4006381333931,
                "at": "2026-03-01T10:30",
                "to": "2026-03",
                "due": "31.12.2026",
                "when": "2026/02/03",
                "source": "550e8400-e29b-41d4-a716-446655440000",
            },
            "978-0374275631 10.1/ab.123 4006381333931 to 2026-03",
        ),
        ({"birthday": "1987-04-23", "date": "2026-03-01", "created": "2026-03-01"}, "birthday 1987-04-23"),
        ({"last_modified": "2026-03-01", "updated_at": "2026-03-01", "date modified": "2026-03-01"}, ""),
        (
            {"done": [f"2026-03-{day}" for day in range(10, 30)], "author": "Jane", "season": "2019-20"},
            "Jane done 2026-03-10 2026-03-11 2026-03-12 2026-03-13",
        ),
        ({"source": "https://example.org/a", "banner": "img/cover.png", "host": "git@example.org:a/b.git"}, ""),
        ({"email": "a@example.org", "phone": "+49 176 3321 9087"}, "email a@example.org phone +49 176 3321 9087"),
        (
            {"fax": "(0171) 9043 115", "due": "02.03.2026", "pin": "0 12 34", "score": "-12 345 678"},
            "fax (0171) 9043 115",
        ),
        ({"calendar_event_id": "abc", "id": "abc", "series-key": "abc", "idea": "abc"}, "abc"),
        ({"title": "a", "Aliases": "a", "tags": "a", "type": "a", "cssclasses": "a", "permalink": "a"}, ""),
        ({"donna": "local-only", "donna_draft": "yes", "autowritten_by": "donna"}, ""),
        ({"description": "word " * 1_000, "more": ["word " * 60] * 9}, " ".join(["word"] * 120)),
    ],
)
def test_properties_of_reads_words_of_text(data: dict[str, Any], words: str) -> None:
    assert properties_of(data).rstrip() == words


@pytest.mark.parametrize(
    ("data", "body", "tags"),
    [
        ({"tags": "one, two three"}, "", ("one", "two", "three")),
        ({"tags": ["#a", "b/c", 1, None, True, {"a": "b"}]}, "", ("a", "b/c")),
        ({"tag": "x"}, "", ("x",)),
        ({"tags": ["Work"]}, "#work and #Home", ("Work", "Home")),
        ({}, "#project/alpha (#no) a#no ##no # no #2024 #y2024 #tag-1.", ("project/alpha", "y2024", "tag-1")),
        ({}, "#über #日本", ("über", "日本")),
        ({}, "http://x/#frag #a/", ("a",)),
    ],
)
def test_tags_of_reads_frontmatter_and_body(data: dict[str, Any], body: str, tags: tuple[str, ...]) -> None:
    assert tags_of(data, body) == tags


def test_tags_are_bounded() -> None:
    assert len(tags_of({}, " ".join(f"#tag{number}" for number in range(5000)))) == MAX_TAGS


@pytest.mark.parametrize(
    ("data", "note_type"), [({"type": "meeting"}, "meeting"), ({"type": ["a"]}, ""), ({"type": None}, ""), ({}, "")]
)
def test_note_type_of_reads_frontmatter(data: dict[str, Any], note_type: str) -> None:
    assert note_type_of(data) == note_type
