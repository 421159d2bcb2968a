"""Tokens are counted as the model counts them, and no text of a note is taken for a special token."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from donna_tui.embedding.tokenizer import ModelTokens
from donna_tui.types.errors import ModelError, Reason
from tests.unit.embedding_files import tokenizer_json

CLS, SEP, ONE = 2, 3, 4


@pytest.fixture
def tokens() -> ModelTokens:
    return ModelTokens(tokenizer_json())


def test_spans_are_character_offsets_without_special_tokens(tokens: ModelTokens) -> None:
    text = "é ones\ntwo"
    assert [text[start:end] for start, end in tokens.spans(text)] == ["é", "one", "s", "two"]


def test_nothing_is_truncated_or_padded(tokens: ModelTokens) -> None:
    assert tokens.ids("one") == [CLS, ONE, SEP]
    assert tokens.ids("one " * 50) == [CLS, *[ONE] * 50, SEP]
    assert len(tokens.spans("one " * 50)) == 50


def test_special_tokens_in_a_note_are_plain_text(tokens: ModelTokens) -> None:
    assert tokens.ids("[SEP]").count(SEP) == 1
    assert len(tokens.spans("[SEP]")) == 3


@pytest.mark.parametrize("text", ["", " \n", "\ud800", "a\x00b", "\u202e\u200b"])
def test_odd_text_is_no_error(tokens: ModelTokens, text: str) -> None:
    assert all(0 <= start <= end <= len(text) for start, end in tokens.spans(text))
    assert tokens.ids(text)[0] == CLS
    assert len(tokens.windows(text, 8)) == 1


def test_a_lone_surrogate_moves_no_offset(tokens: ModelTokens) -> None:
    assert tokens.spans("\ud800 one")[-1] == (2, 5)


def test_windows_hold_all_tokens_in_order(tokens: ModelTokens) -> None:
    text = "one two three " * 7
    windows = tokens.windows(text, 8)
    assert [len(window) for window in windows] == [8, 8, 8, 5]
    assert all(window[0] == CLS and window[-1] == SEP for window in windows)
    assert [token for window in windows for token in window[1:-1]] == tokens.ids(text)[1:-1]


def test_a_text_that_fits_is_one_window(tokens: ModelTokens) -> None:
    assert tokens.windows("one two", 4) == [tokens.ids("one two")]


def test_several_threads_may_share_a_tokenizer(tokens: ModelTokens) -> None:
    texts = ["one " * number for number in range(1, 200)]
    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(lambda text: len(tokens.spans(text)), texts)) == list(range(1, 200))
        assert [len(windows) for windows in pool.map(lambda text: tokens.windows(text, 12), texts)] == [
            -(-number // 10) for number in range(1, 200)
        ]


@pytest.fixture
def kept_interpreter() -> Iterator[None]:
    """Let a thread run until it releases the interpreter itself."""
    usual = sys.getswitchinterval()
    sys.setswitchinterval(60)
    yield
    sys.setswitchinterval(usual)


@pytest.mark.usefixtures("kept_interpreter")
def test_others_run_while_a_long_text_is_encoded(tokens: ModelTokens) -> None:
    text, rounds = "one " * 100_000, 0

    def rounds_meanwhile() -> int:
        before = rounds
        tokens.spans(text)
        return rounds - before

    with ThreadPoolExecutor(1) as pool:
        encoding = pool.submit(rounds_meanwhile)
        while not encoding.done():
            time.sleep(0)
            rounds += 1
    assert encoding.result() > 0


@pytest.mark.parametrize("content", [b"", b"{}", b"not json", b'{"model": 1}'])
def test_a_damaged_tokenizer_is_a_plain_error(tmp_path: Path, content: bytes) -> None:
    file = tmp_path / "tokenizer.json"
    file.write_bytes(content)
    tokens = ModelTokens.load(file)
    with pytest.raises(ModelError) as refusal:
        tokens.spans("one")
    assert refusal.value.reason is Reason.MODEL_INVALID


def test_a_missing_tokenizer_is_a_plain_error(tmp_path: Path) -> None:
    with pytest.raises(ModelError):
        ModelTokens.load(tmp_path / "tokenizer.json")
