"""How notes are cut into passages, and the recipe that an index made so is stamped with."""

from __future__ import annotations

from donna_tui.index.documents import Document
from donna_tui.index.generations import Recipe
from donna_tui.records import dataclass
from donna_tui.text.chunker import CHUNKER_VERSION, Chunk, chunk_markdown
from donna_tui.text.tokens import TokenCounter


@dataclass(frozen=True, slots=True)
class NoteCutter:
    """Cuts notes for a model that reads `window` tokens; neighbours have `overlap` tokens in common."""

    counter: TokenCounter
    window: int
    overlap: int

    @property
    def recipe(self) -> Recipe:
        """Changes whenever a note would be cut in another way."""
        return Recipe(f"{CHUNKER_VERSION}:{self.counter.name}:{self.window}:{self.overlap}")

    def __call__(self, document: Document) -> list[Chunk]:
        """The passages of a note."""
        return chunk_markdown(
            document.text,
            start=document.body_start,
            title=document.title,
            counter=self.counter,
            max_tokens=self.window,
            overlap=self.overlap,
        )
