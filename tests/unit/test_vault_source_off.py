"""Notes are not indexed if their source is disabled."""

from __future__ import annotations

from pathlib import Path

from donna_tui.config.models import MemoryConfig
from donna_tui.vault.open import indexed_client, vault_client


def test_a_vault_that_is_no_source_has_no_notes_to_index_and_can_be_read(tmp_path: Path) -> None:
    (tmp_path / "deep" / "er").mkdir(parents=True)
    for path in ("a.md", "deep/b.md", "deep/er/c.md"):
        (tmp_path / path).write_text("A note.\n")
    off = MemoryConfig.model_validate({"sources": {"vault": False}})
    assert list(indexed_client(off, tmp_path).list()) == []
    assert len(list(indexed_client(MemoryConfig(), tmp_path).list())) == 3
    assert vault_client(off, tmp_path).read("deep/b.md").text == "A note.\n"
