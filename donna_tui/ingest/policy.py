"""When an index is brought up to date: at the start, as files change, before a search, and every so often."""

from __future__ import annotations

from donna_tui.config.agentsettings import AgentSettings
from donna_tui.config.models import MemoryConfig
from donna_tui.records import dataclass

QUIET_MS = 25
"""How long the files of a vault must be quiet before a change is taken up."""

FULL_COMPARISON_SECONDS = 600.0
DEADLINE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPolicy:
    """`interval_seconds` is None where nothing is compared as a routine; `deadline_seconds` is for a search."""

    on_start: bool = True
    on_search: bool = True
    watch: bool = True
    quiet_ms: int = QUIET_MS
    interval_seconds: float | None = FULL_COMPARISON_SECONDS
    deadline_seconds: float = DEADLINE_SECONDS


ALWAYS = SyncPolicy()
"""The policy for a vault."""


def policy_of(config: MemoryConfig) -> SyncPolicy:
    """The policy for a space: an agent's settings say it, a vault is always watched."""
    if not isinstance(config, AgentSettings):
        return ALWAYS
    sync = config.agent.search.sync
    return SyncPolicy(
        on_start=sync.on_session_start,
        on_search=sync.on_search,
        watch=sync.watch,
        quiet_ms=max(QUIET_MS, sync.watch_debounce_ms),
        interval_seconds=sync.interval_minutes * 60 or None,
        deadline_seconds=sync.search_deadline_ms / 1000,
    )
