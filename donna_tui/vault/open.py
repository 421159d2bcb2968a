"""Open the reader and the writer of a vault according to its configuration."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from donna_tui.config.agent_settings import SOURCE_FILE, SOURCE_FOLDER, AgentSettings, not_indexed
from donna_tui.config.models import MemoryConfig
from donna_tui.platform.spaces import Space
from donna_tui.types.errors import VaultWriteError
from donna_tui.vault.client import VaultClient
from donna_tui.vault.include import EVERYTHING, GlobSet, Include

if TYPE_CHECKING:
    from donna_tui.vault.write.writer import OnWritten, VaultWriter


def indexed_client(config: MemoryConfig, root: Path) -> VaultClient:
    """Return a client of the notes that are indexed: none if `sources.vault.enabled` is false."""
    off = () if config.sources.vault.enabled else ("**",)
    return _client(config, root, (*config.vault.ignore_globs, *config.sources.vault.ignore_globs, *off))


def vault_client(config: MemoryConfig, root: Path) -> VaultClient:
    """Return a client of every note of the vault, including those that are not indexed."""
    return _client(config, root, config.vault.ignore_globs)


def open_writer(
    config: MemoryConfig,
    space: Space,
    on_written: OnWritten = lambda *_: None,
    *,
    on_recovered: Callable[[VaultWriteError], None] = lambda _: None,
    allowlist: Sequence[str] | None = None,
) -> VaultWriter:
    """Open the writer. It sees every note, including those not indexed, as any note may link to a moved one.

    `allowlist` replaces the configured one, which limits programs: a person who has reviewed the change may make it
    anywhere. In an agent's space nobody writes outside its sources. Raises SpaceError (`not_indexed`).
    """
    from donna_tui.vault.git.objects import Author
    from donna_tui.vault.write.rules import WriteRules
    from donna_tui.vault.write.writer import VaultWriter

    if isinstance(config, AgentSettings):
        config.require_indexed()
        allowlist = config.safety.path_allowlist
    safety, vault = config.safety, config.vault
    return VaultWriter(
        space.root,
        client=vault_client(config, space.root),
        rules=WriteRules(
            allowlist=safety.path_allowlist if allowlist is None else allowlist,
            ignore=GlobSet(vault.ignore_globs),
            max_note_bytes=safety.max_note_bytes,
            sensitive_key=safety.sensitive_frontmatter_key,
        ),
        author=Author(vault.git_author_name, vault.git_author_email),
        state=space.state,
        on_written=on_written,
        on_recovered=on_recovered,
    )


def included(config: MemoryConfig) -> Include:
    """Return the part of a root that is a source: of an agent's workspace only its memory."""
    return Include((SOURCE_FILE,), (SOURCE_FOLDER,)) if isinstance(config, AgentSettings) else EVERYTHING


def _client(config: MemoryConfig, root: Path, ignore: tuple[str, ...]) -> VaultClient:
    if isinstance(config, AgentSettings) and config.agent.access == "none":
        raise not_indexed(config)
    return VaultClient(
        root,
        ignore=ignore,
        max_bytes=config.safety.max_read_bytes,
        sensitive_key=config.safety.sensitive_frontmatter_key,
        include=included(config),
    )
