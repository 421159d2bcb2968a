"""Cache which passages are in a scope until a document changes, because the same filter is repeated while typing."""

from __future__ import annotations

import json
from array import array
from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import islice

from donna_tui.index.database import Database, RunParallel
from donna_tui.index.documents import last_chunk
from donna_tui.index.filters import Scope, all_in_scope, document_conditions, share_in_scope
from donna_tui.index.sampling import Range, around, span
from donna_tui.platform.lazy import np
from donna_tui.types.search import Filters

LISTED_AT_ONCE = 20_000
"""Maximum number of passages of a scope that are listed while the search waits, in about 5 ms."""

LISTED_SHARE = 0.3
"""Largest share of an index for which a longer scope is listed in parallel. In wider ones the best matches suffice."""

MAX_RANGES = 8
"""Maximum number of ranges per scope. A folder is indexed together; later changes are scattered at the end."""


class ScopeMembership:
    """The passages of a scope: their sorted integer keys, and ranges that contain all of them."""

    def __init__(self, keys: Sequence[int]) -> None:
        self.keys = array("q", sorted(keys))

    def first(self, ids: Sequence[int], wanted: int) -> list[int]:
        return list(islice(filter(self._holds, ids), wanted))

    def _holds(self, key: int) -> bool:
        place = bisect_left(self.keys, key)
        return place < len(self.keys) and self.keys[place] == key

    @cached_property
    def ranges(self) -> list[Range]:
        return around(np.frombuffer(self.keys, dtype=np.int64), MAX_RANGES)

    @cached_property
    def density(self) -> float:
        return len(self.keys) / max(1, span(self.ranges))

    @cached_property
    def listed(self) -> str:
        return json.dumps(self.keys.tolist())


@dataclass(frozen=True, slots=True)
class ScopeEstimate:
    """The estimated share of an index that is in a scope, and its passages if they are known."""

    share: float
    members: ScopeMembership | None = None
    is_listed: bool = False


def is_one_note(database: Database, filters: Filters) -> bool:
    """Return whether the paths of some filters select a single document."""
    has_path = bool(filters.path_prefix or filters.path_parts or filters.within)
    return has_path and database.cached_by_id("is_one_note", [filters], _are_one_note)[filters]


def _are_one_note(database: Database, asked: Sequence[Filters]) -> dict[Filters, bool]:
    are_one_note = {}
    for filters in asked:
        where, parameters = document_conditions(filters)
        two = f"SELECT 1 FROM memory_documents d WHERE {where} LIMIT 2"  # noqa: S608
        are_one_note[filters] = len(database.rows(two, parameters)) == 1
    return are_one_note


def estimate_scope(database: Database, scope: Scope, run_parallel: RunParallel | None = None) -> ScopeEstimate:
    """Estimate a scope. A short one is listed now, a longer one in parallel when it is requested again.

    Until it is listed, and if that fails, searches test whether the best matches are in it.
    """
    if scope.phrases:  # they narrow the search
        return ScopeEstimate(0.0)
    cache = database.cache
    if cache is None or scope.without:
        return ScopeEstimate(share_in_scope(database, scope))
    revision = database.revision()
    known: ScopeEstimate | None = cache.get(scope, revision)
    if known is None:
        share = share_in_scope(database, scope)
        is_short = share * last_chunk(database) <= LISTED_AT_ONCE
        known = _listed(database, scope) if is_short else ScopeEstimate(share)
        cache.put(scope, revision, known)
    elif run_parallel and not known.is_listed and known.share <= LISTED_SHARE:
        cache.put(scope, revision, replace(known, is_listed=True))
        run_parallel(lambda other: cache.put(scope, other.revision(), _listed(other, scope)))
    return known


def known_members(database: Database, scope: Scope) -> ScopeMembership | None:
    if database.cache is None:
        return None
    known: ScopeEstimate | None = database.cache.get(scope, database.revision())
    return known.members if known else None


def _listed(database: Database, scope: Scope) -> ScopeEstimate:
    members = ScopeMembership(all_in_scope(database, scope))
    return ScopeEstimate(len(members.keys) / max(1, last_chunk(database)), members, is_listed=True)
