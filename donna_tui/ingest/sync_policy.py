"""The policy of when an index is updated."""

from __future__ import annotations

from dataclasses import dataclass

from donna_tui.config.agent_settings import AgentSettings
from donna_tui.config.models import MemoryConfig

QUIET_MS = 25
"""Milliseconds without file events before changes are processed."""

FULL_COMPARISON_SECONDS = 600.0
DEADLINE_SECONDS = 5.0


@dataclass(frozen=True, slots=True, kw_only=True)
class SyncPolicy:
    """The policy of updating an index: `interval_seconds` between routine comparisons, or None for no such comparisons,
    and `deadline_seconds` for an update before a search.
    """

    on_start: bool = True
    on_search: bool = True
    watch: bool = True
    quiet_ms: int = QUIET_MS
    interval_seconds: float | None = FULL_COMPARISON_SECONDS
    deadline_seconds: float = DEADLINE_SECONDS


def policy_of(config: MemoryConfig) -> SyncPolicy:
    """Return the policy for a space: an agent's settings define it, and a vault is always watched."""
    if not isinstance(config, AgentSettings):
        return SyncPolicy()
    sync = config.agent.search.sync
    return SyncPolicy(
        on_start=sync.on_session_start,
        on_search=sync.on_search,
        watch=sync.watch,
        quiet_ms=max(QUIET_MS, sync.watch_debounce_ms),
        interval_seconds=sync.interval_minutes * 60 or None,
        deadline_seconds=sync.search_deadline_ms / 1000,
    )
