"""Search the other spaces of this installation, without starting an engine for each."""

from __future__ import annotations

import asyncio
import contextlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from itertools import count
from operator import attrgetter
from pathlib import Path

from donna_tui.config.agent_settings import settings_of
from donna_tui.config.load import load_config, load_trusted
from donna_tui.config.models import MemoryConfig
from donna_tui.engine.passages import Passage, passage_in
from donna_tui.index.generations import current_generation, index_path
from donna_tui.index.readers import Readers
from donna_tui.platform.paths import AppPaths
from donna_tui.platform.spaces import Space, agent_space, known_spaces
from donna_tui.search.service import SearchService
from donna_tui.types.errors import ConfigError, DatabaseError, Reason, VaultReadError
from donna_tui.types.search import Hit, SearchOutcome, SearchRequest
from donna_tui.vault.client import VaultClient
from donna_tui.vault.open import indexed_client

MAX_SPACES = 20
"""Maximum number of other spaces that are searched with the open one, most recently opened first."""


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another space, opened for reading. `name` is unique among the searched spaces."""

    name: str
    space: Space
    client: VaultClient
    readers: Readers
    file: tuple[int, int]
    """Device and inode of the index file: a rebuilt index has the same name."""


class Neighbours:
    def __init__(self, here: Space, paths: AppPaths) -> None:
        self._here, self._paths = here, paths
        self._open: dict[Path, Neighbour] = {}
        self._replaced: list[Readers] = []
        self._finding = asyncio.Lock()

    async def search(self, searcher: SearchService, request: SearchRequest, own: SearchOutcome) -> SearchOutcome:
        """Merge the outcome of the open space with those of the others, best first."""
        async with self._finding:
            neighbours = await asyncio.to_thread(self._find)
        answers = await asyncio.gather(*(self._answer(searcher, request, neighbour) for neighbour in neighbours))
        unreadable = [each.name for each, answer in zip(neighbours, answers, strict=True) if answer is None]
        outcomes = [_in_space(self._here.name, own), *(answer for answer in answers if answer is not None)]
        return _merged(own, outcomes, unreadable)

    async def passage(self, space: str, path: str, lines: tuple[int, int]) -> Passage:
        neighbour = self._neighbour(space)
        return await passage_in(neighbour.readers, neighbour.client, path, lines)

    async def more_like(self, searcher: SearchService, hit: Hit, request: SearchRequest) -> SearchOutcome:
        """Find passages of a hit's own space that are similar to it. Raises DatabaseError and VaultReadError."""
        neighbour = self._neighbour(hit.space)
        return _in_space(neighbour.name, await searcher.more_like(hit, request, neighbour.readers))

    def root_of(self, space: str) -> Path:
        return self._neighbour(space).space.root

    async def close(self) -> None:
        readers = [*(neighbour.readers for neighbour in self._open.values()), *self._replaced]
        self._open, self._replaced = {}, []
        for reader in readers:
            await asyncio.to_thread(reader.close)

    def _neighbour(self, space: str) -> Neighbour:
        found = next((neighbour for neighbour in self._open.values() if neighbour.name == space), None)
        if found is None:
            raise VaultReadError(Reason.MISSING, "this space was not searched; ask again")
        return found

    def _find(self) -> list[Neighbour]:
        """Open the spaces that have an index, replacing the readers of an index that was rebuilt."""
        others = [each for each in _known(self._paths) if each[0].state != self._here.state][:MAX_SPACES]
        names = _unique([self._here.name, *(space.name for space, _ in others)])[1:]
        return [
            each
            for (space, config), name in zip(others, names, strict=True)
            if (each := self._opened(space, config, name))
        ]

    def _opened(self, space: Space, config: MemoryConfig, name: str) -> Neighbour | None:
        """Open a space; None without an index. Readers of a replaced index may be in use, and are closed at the end."""
        generation, known = current_generation(space.state), self._open.pop(space.state, None)
        path = index_path(space.state, generation or 1)
        file = _file(path)
        if known is not None and known.file == file and file is not None:
            made = replace(known, name=name)
        else:
            self._replaced += [known.readers] if known is not None else []
            if file is None:
                return None
            made = Neighbour(name, space, indexed_client(config, space.root), Readers(path, long_running=False), file)
        self._open[space.state] = made
        return made

    async def _answer(
        self, searcher: SearchService, request: SearchRequest, neighbour: Neighbour
    ) -> SearchOutcome | None:
        """Search a space; return None if its index cannot be read now."""
        try:
            return _in_space(neighbour.name, await searcher.search_in(neighbour.readers, request))
        except DatabaseError:
            return None


def _known(paths: AppPaths) -> Iterator[tuple[Space, MemoryConfig]]:
    """Yield known vaults, last opened first, then the agents whose memory is indexed, with their settings."""
    trusted = load_trusted().config
    for space in known_spaces(paths)[:MAX_SPACES]:
        with contextlib.suppress(ConfigError):
            yield space, load_config(root=space.root).config
    for agent in trusted.agents.resolved():
        settings = settings_of(agent, trusted)
        if not settings.not_indexed:
            yield agent_space(agent.id, agent.workspace, agent.store, paths), settings


def _file(path: Path) -> tuple[int, int] | None:
    """Return device and inode of the file at a path; None if there is none."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _unique(names: Iterable[str]) -> list[str]:
    """Number repeated names, so that each space has a unique one."""
    unique: list[str] = []
    for name in names:
        candidates = (name if number == 1 else f"{name} ({number})" for number in count(1))
        unique.append(next(candidate for candidate in candidates if candidate not in unique))
    return unique


def _in_space(space: str, outcome: SearchOutcome) -> SearchOutcome:
    hits, near = (tuple(replace(hit, space=space) for hit in each) for each in (outcome.hits, outcome.near_misses))
    return replace(outcome, hits=hits, near_misses=near)


def _merged(own: SearchOutcome, outcomes: list[SearchOutcome], unreadable: list[str]) -> SearchOutcome:
    """Merge outcomes by rank score, scaled by the similarity of each space's best hit, which always ranks near 1."""
    most = max((_best_score(each) for each in outcomes), default=0.0)
    hits: list[Hit] = []
    near: list[Hit] = []
    for outcome in outcomes:
        share = _best_score(outcome) / most if most else 1.0
        hits += (replace(hit, rank_score=hit.rank_score * share) for hit in outcome.hits)
        near += (replace(hit, rank_score=hit.rank_score * share) for hit in outcome.near_misses)
    hits.sort(key=attrgetter("rank_score"), reverse=True)
    near.sort(key=attrgetter("rank_score"), reverse=True)
    return replace(
        own,
        hits=tuple(hits[: own.request.k]),
        near_misses=tuple(near[: own.request.k]),
        searched_notes=sum(each.searched_notes for each in outcomes),
        total=sum(each.total for each in outcomes),
        total_notes=sum(each.total_notes for each in outcomes),
        at_least=any(each.at_least for each in outcomes),
        note="; ".join(filter(None, (own.note, *_remarks(own, outcomes, unreadable)))),
    )


def _best_score(outcome: SearchOutcome) -> float:
    return max((hit.score or 0.0 for hit in outcome.hits), default=0.0)


def _remarks(own: SearchOutcome, outcomes: list[SearchOutcome], unreadable: list[str]) -> Iterator[str]:
    if len(outcomes) > 1:
        yield f"{len(outcomes)} spaces; the others as of their last update"
    if any(outcome.mode != own.mode for outcome in outcomes):
        yield "some keyword only: their index was built with another model"
    if unreadable:
        yield f"{', '.join(unreadable)} cannot be read now"
