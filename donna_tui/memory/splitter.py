"""Split the documents of the memory into passages that fit into the window of the embedding model."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from donna_tui.index.documents import Document, embedded_title
from donna_tui.text.chunker import MAX_PIECE_TOKENS, MIN_PIECE_TOKENS, SPECIAL_TOKENS, Chunk, chunk_semantic, context_of
from donna_tui.text.tokens import TokenCounter

MIN_ROOM = 16


@dataclass(frozen=True, slots=True)
class TextSplitter:
    """Parameters of splitting into passages: the tokenizer, and the encoder's window in tokens."""

    counter: TokenCounter
    window: int

    def room(self, title: str = "", heading_path: tuple[str, ...] = ()) -> int:
        """Return the number of tokens left for a passage after its context."""
        context = context_of(title, heading_path, self.window).line
        taken = len(self.counter.spans(context)) if context else 0
        return max(MIN_ROOM, min(MAX_PIECE_TOKENS, self.window - SPECIAL_TOKENS - taken))

    def spans(self, text: str, title: str = "", heading_path: tuple[str, ...] = ()) -> list[tuple[int, int]]:
        """Split a text into passages, as half-open character offsets."""
        room = self.room(title, heading_path)
        return chunk_semantic(text, self.counter, least=min(MIN_PIECE_TOKENS, room), most=room)

    def chunks(self, document: Document, heading_path: tuple[str, ...], line_at: Callable[[int], int]) -> list[Chunk]:
        chunks: list[Chunk] = []
        for low, high in self.spans(document.text, embedded_title(document), heading_path):
            text, where = document.text[low:high], (low, high, line_at(low), line_at(high - 1))
            tokens = len(self.counter.spans(text))
            chunks.append(Chunk(len(chunks), heading_path, text, *where, token_count=tokens))
        return chunks
