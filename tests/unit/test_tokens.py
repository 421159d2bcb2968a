"""The estimate of tokens is higher than a model's count, and its spans are within the text."""

from __future__ import annotations

import pytest

from donna_tui.text.tokens import EstimatedTokens

TOKENS = EstimatedTokens()


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("", []),
        (" \n\t", []),
        ("a cat", ["a", "cat"]),
        ("memory", ["memo", "ry"]),
        ("2024-05", ["20", "24", "-", "05"]),
        ("déjà vu", ["déjà", "vu"]),
        ("会議", ["会", "議"]),
        ("한", ["한", "한", "한"]),
        ("a›b", ["a", "›", "b"]),
    ],
)
def test_estimated_token_spans_split_text(text: str, pieces: list[str]) -> None:
    assert [text[start:end] for start, end in TOKENS.spans(text)] == pieces


def test_the_name_is_stable_because_the_index_remembers_it() -> None:
    assert TOKENS.name == "estimate-1"
