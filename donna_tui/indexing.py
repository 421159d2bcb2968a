"""How the notes of a space are cut and indexed: what an engine gives to its pipelines."""

from __future__ import annotations

from donna_tui.config.models import MemoryConfig
from donna_tui.events import EventHub
from donna_tui.index.documents import Document
from donna_tui.index.generations import Recipe
from donna_tui.ingest.pipeline import Parts
from donna_tui.ingest.policy import policy_of
from donna_tui.memoryhost import MemoryHost
from donna_tui.space import Space
from donna_tui.text.chunker import CHUNKER_VERSION, Chunk, chunk_markdown
from donna_tui.vault.client import VaultClient
from donna_tui.vault.open import included


def pipeline_parts(
    space: Space, config: MemoryConfig, host: MemoryHost, client: VaultClient, hub: EventHub, *, stays: bool
) -> Parts:
    """The parts of the pipelines of a space. The first time the tokenizer is read from disk."""
    overlap, cut = config.embedding.chunk_overlap, host.cut

    def chunk(document: Document) -> list[Chunk]:
        return chunk_markdown(
            document.text,
            start=document.body_start,
            title=document.title,
            counter=cut.counter,
            max_tokens=cut.window,
            overlap=overlap,
        )

    return Parts(
        root=space.root,
        folder=space.state,
        recipe=Recipe(f"{CHUNKER_VERSION}:{cut.counter.name}:{cut.window}:{overlap}"),
        client=client,
        chunk=chunk,
        window=cut.window,
        hub=hub,
        rename_window=config.sources.vault.rename_window_seconds if stays else 0.0,
        stays=stays,
        beside=host.feed(client),
        include=included(config),
        policy=policy_of(config),
    )
