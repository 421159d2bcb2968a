"""Settings files are parsed with the line of every key, and nothing in them can hang, crash or surprise."""

from __future__ import annotations

import pytest

from donna_tui.config.document import Origin
from donna_tui.config.yaml_text import parse_document
from donna_tui.types.errors import ConfigError, Reason

FILE = Origin("user", "memory.yaml")


def test_keys_and_items_know_their_lines() -> None:
    document = parse_document("vault:\n  ignore_globs:\n    - a\n    - b\n\nui: {theme: dark}\n", FILE)
    assert document.data == {"vault": {"ignore_globs": ["a", "b"]}, "ui": {"theme": "dark"}}
    assert document.at(("vault", "ignore_globs")).line == 2
    assert document.at(("vault", "ignore_globs", 1)).line == 4
    assert document.at(("ui", "theme", "not there")).line == 6


@pytest.mark.parametrize("text", ["", "# only a comment\n", "---\n", "~"])
def test_empty_settings_file_has_no_settings(text: str) -> None:
    assert parse_document(text, FILE).data == {}


def test_keys_are_text_whatever_they_look_like() -> None:
    assert parse_document("on: 1\n12: 2\n", FILE).data == {"on": 1, "12": 2}


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("a: 1\nb: [1, 2\nc: 3\n", 3, "not valid YAML"),
        ("a: 1\n\tb: 2\n", 2, "not valid YAML"),
        ("a:\n  x: 1\n  y: 2\n  x: 3\n", 4, "x is set twice"),
        ("a: &it [1]\nb: *it\n", 2, "aliases"),
        ("a: 1\nb: !!python/object:os.system x\n", 2, "tags"),
        ("a: 1\n---\nb: 2\n", 2, "single"),
        ("? [a]\n: b\n", 1, "plain text"),
        ("x:\n  a: 2024-13-45\n", 2, "2024-13-45"),
        ("a: 1\nb: \x1b[31m\n", 2, "control character"),
        ('a: "\\ud800"\n', 1, "not valid YAML"),
    ],
)
def test_unreadable_settings_are_refused_with_their_line(text: str, line: int, words: str) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_document(text, FILE)
    assert caught.value.reason is Reason.CONFIG_INVALID
    assert caught.value.message.startswith(f"memory.yaml, line {line}: ")
    assert words in caught.value.message


@pytest.mark.parametrize("text", ["[" * 60_000, "{a: " * 20_000, "- " * 30_000, "? " * 30_000])
def test_deep_nesting_is_refused_instead_of_ending_the_process(text: str) -> None:
    with pytest.raises(ConfigError, match=r"nested too deeply|plain text"):
        parse_document(text, FILE)


@pytest.mark.parametrize("text", ["- a\n- b\n", "just words", "12"])
def test_a_file_without_blocks_is_refused(text: str) -> None:
    with pytest.raises(ConfigError, match="blocks of settings"):
        parse_document(text, FILE)
