"""For any text, the model's tokens have offsets that the chunker can rely on."""

from __future__ import annotations

from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from donna_tui.embedding.tokenizer import ModelTokens
from tests.unit.embedding_files import WORDS, tokenizer_json

TOKENS = ModelTokens(tokenizer_json())
TEXTS = st.text(st.characters()) | st.lists(
    st.sampled_from((*WORDS, "한", "e\u0301", "İ", "\ud800", "\x00", "\r\n"))
).map("".join)


@given(TEXTS)
def test_spans_lie_in_the_text_and_never_go_back(text: str) -> None:
    spans = TOKENS.spans(text)
    assert all(0 <= start <= end <= len(text) for start, end in spans)
    assert all(before[0] <= after[0] for before, after in pairwise(spans))


@given(TEXTS, st.integers(3, 9))
def test_windows_are_the_tokens_cut_and_nothing_else(text: str, size: int) -> None:
    windows = TOKENS.windows(text, size)
    assert all(len(window) <= size for window in windows)
    assert [token for window in windows for token in window[1:-1]] == TOKENS.ids(text)[1:-1]
    assert len(TOKENS.spans(text)) == len(TOKENS.ids(text)) - 2
