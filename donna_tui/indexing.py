"""How the notes of a space are indexed: what an engine gives to its pipelines."""

from __future__ import annotations

from donna_tui.config.models import MemoryConfig
from donna_tui.events import EventHub
from donna_tui.ingest.cutting import NoteCutter
from donna_tui.ingest.pipeline import Parts
from donna_tui.ingest.policy import policy_of
from donna_tui.memoryhost import MemoryHost
from donna_tui.space import Space
from donna_tui.vault.client import VaultClient
from donna_tui.vault.open import included


def pipeline_parts(
    space: Space, config: MemoryConfig, host: MemoryHost, client: VaultClient, hub: EventHub, *, stays: bool
) -> Parts:
    """The parts of the pipelines of a space. Raises ModelError if the model's tokenizer cannot be read."""
    cutter = NoteCutter(host.cut.counter, host.cut.window, config.embedding.chunk_overlap)
    return Parts(
        root=space.root,
        folder=space.state,
        recipe=cutter.recipe,
        client=client,
        chunk=cutter,
        window=cutter.window,
        hub=hub,
        rename_window=config.sources.vault.rename_window_seconds if stays else 0.0,
        stays=stays,
        beside=host.feed(client),
        include=included(config),
        policy=policy_of(config),
    )
